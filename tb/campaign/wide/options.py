# SPDX-License-Identifier: Apache-2.0
"""fio's options as the program lists them (`config fio --json`), and values for them.

What an option allows is asked of the program itself: a value that cannot be right brings a message that lists words or a range. An option that is
new in the table is drawn without a change here.
"""
import concurrent.futures
import json
import re
import subprocess
import tempfile

from table import log_uniform

AMOUNTS = ("0", "1", "7", "512", "1000", "4096", "4k", "16k", "128k", "1m", "10%", "50%", "100%")
TIMES = ("0", "1us", "50us", "500us", "1ms", "3ms", "20ms")
MOST = 1 << 16
# Grammars that no range describes. {amount}, {time}, ... are replaced by draws.
FORMS = {
    "rw": ("read", "write", "randread", "randwrite", "rw", "randrw", "trim", "randtrim", "trimwrite", "randtrimwrite", "randread:{small}", "rw:{block}", "write:-{block}"),
    "bs": ("{block}", "{block}", "{block}", "{block},{block}", "{block},{block},{block}", ",{block}"),
    "bsrange": ("{block}-{block}", "{block}-{block},{block}-{block}"),
    "bssplit": ("{block}/{percent}:{block}/", "{block}/50:{block}/50", "{block}/30:{block}/70,{block}/10:{block}/"),
    "ba": ("{block}",),
    "filesize": ("{size}", "{size}-{size}"),
    "size": ("{size}", "{percent}%", "100%"), "io_size": ("{size}", "{percent}%"), "offset": ("{size}", "{percent}%"), "offset_increment": ("{size}", "{percent}%"),
    "random_distribution": ("zipf:1.1", "zipf:0.5", "pareto:0.2", "normal:20", "normal:10:0.3", "zoned:60/10:40/90", "zoned_abs:60/64k:40/1m", "random"),
    "percentile_list": ("50:99:99.9", "0:100", "99"),
    "steadystate": ("iops:{percent}%", "iops_slope:{percent}%", "bw:{percent}%", "bw_slope:{percent}%", "iops:{small}", "bw:{size}"),
    "steadystate_duration": ("1", "2", "3"), "steadystate_ramp_time": ("0", "1", "2"),
    "file_service_type": ("roundrobin", "random:{small}", "sequential", "random"),
    "startdelay": ("{time}", "{time}-{time}"), "max_latency": ("{time}", "{time},{time}"), "latency_percentile": ("50", "99", "99.9", "100"),
    "rate": ("{rate}", "{rate},{rate}", ",{rate}"), "rate_iops": ("{iops}", "{iops},{iops}"), "rate_min": ("{rate}",), "rate_iops_min": ("{iops}",),
    "filename": ("/dev/nvme0n1", "a", "a:b"), "directory": ("/mnt", "d"), "filename_format": ("$jobname.$jobnum.$filenum", "f.$filenum"), "wait_for": ("job0",),
    "name": ("j",), "description": ("text",), "write_bw_log": ("b",), "write_iops_log": ("i",), "write_lat_log": ("l",),
    "ioengine": ("libaio", "libaio", "io_uring", "psync", "sync", "posixaio", "pvsync2", "null"),
    "verify": ("crc32c", "md5", "meta", "pattern"), "iodepth": ("1", "2", "7", "32", "256", "1024"), "numjobs": ("1", "2", "3", "8", "17"),
    "kb_base": ("1000", "1024"), "loops": ("0", "1", "2", "3"), "percentage_random": ("0", "50,10", "100", "{percent}"),
    "nrfiles": ("1", "2", "5", "17"), "openfiles": ("1", "2", "5"), "number_ios": ("1", "5", "40", "300"),
    "log_avg_msec": ("0", "1", "10"), "runtime": ("{time}", "{time}", "1"), "ramp_time": ("{time}",), "thinktime": ("{time}",),
}


class Option:
    def __init__(self, listed):
        self.name, self.alias, self.here, self.flag = listed["name"], listed["alias"], listed["here"], listed["flag"]
        self.words, self.low, self.high = None, None, None
        self.accepted = re.findall(r"^accepted with (.*?);", listed["remark"])

    def learn(self, message):
        """From "...; allowed: 0 to 100" or "...; allowed: a, b, c"."""
        found = re.search(r"allowed: (.*?)(?:; did you mean|$)", message.strip().splitlines()[-1] if message.strip() else "")
        allowed = found[1] if found else ""
        if numbers := re.fullmatch(r"(\d+) (?:to (\d+)|or more)", allowed):
            self.low, self.high = int(numbers[1]), int(numbers[2] or MOST)
        elif allowed == "0 or 1":
            self.words = ["0", "1"]
        elif re.fullmatch(r"[\w-]+(?:, [\w-]+)+", allowed):
            self.words = allowed.split(", ")

    def draw(self, r, device_bytes, lba):
        form = r.choice(FORMS[self.name]) if self.name in FORMS and r.random() < 0.97 else None
        if form is None:
            if self.words:
                return r.choice(self.words)
            if self.low is not None:
                return str(r.choice((self.low, log_uniform(r, self.low, min(self.high, MOST)), self.low + 1)))
            return r.choice(AMOUNTS + TIMES)
        blocks = [lba * n for n in (1, 1, 2, 3, 4, 8, 8, 16, 32, 64, 100)]
        draws = {
            "block": lambda: str(r.choice(blocks) if r.random() < 0.95 else r.choice((1, 100, 1000, 6144, 12288))), "small": lambda: str(r.choice((1, 2, 5, 16))),
            "percent": lambda: str(r.choice((0, 1, 5, 10, 33, 50, 90, 100))), "time": lambda: r.choice(TIMES[1:]), "iops": lambda: str(r.choice((1, 100, 10_000, 1_000_000))),
            "rate": lambda: r.choice(("1k", "1m", "20m", "1g")),
            "size": lambda: str(max(lba, log_uniform(r, lba, device_bytes) // lba * lba)) if r.random() < 0.9 else r.choice(("1", "1g", "0", "777")),
        }
        return re.sub(r"\{(\w+)\}", lambda found: draws[found[1]](), form)


class Options:
    def __init__(self, listed, binary):
        self.all = {o.name: o for o in map(Option, listed)}
        self.names = set(self.all) | {o.alias for o in self.all.values() if o.alias}
        self.handled = [o for o in self.all.values() if o.here == "handled"]
        asked = [o for o in self.handled if o.name not in FORMS]
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for option, message in zip(asked, pool.map(lambda o: refused(binary, o.name), asked)):
                option.learn(message)

    @classmethod
    def of(cls, binary, listing=None):
        if listing is None:
            listing = subprocess.run([binary, "config", "fio", "--json"], capture_output=True, text=True, check=True).stdout
        return cls(json.loads(listing), binary)


def refused(binary, name):
    """What the program says to values that cannot be right: one that is no number, and if that does not tell a range, one that is too large."""
    with tempfile.TemporaryDirectory(prefix="options-") as folder:
        return ask(binary, name, folder)


def ask(binary, name, folder):
    message = ""
    for value in ("!?", "99999999999999999999", "9999999999999999999"):
        done = subprocess.run([binary, "run", "tiny-test", "-q", "-o", folder, "--ioengine=libaio", f"--{name}={value}"], capture_output=True, text=True, check=False)
        message = done.stderr
        if re.search(r"allowed: (\d+ (to|or)|0 or 1|\w+, )", message):
            break
    return message
