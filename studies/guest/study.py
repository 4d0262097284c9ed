# SPDX-License-Identifier: Apache-2.0
"""Applications that share a drive, in a real Linux: MQSim's Fig. 9 by operations a second in place of instructions. README.md says what
was published and what stands for what here."""

import itertools
import json

from ssdtlm.errors import UserError
from ssdtlm.guest import place
from ssdtlm.studying import Figure, Point, Study, Trend, check

# As filebench's personalities have them: share of reads, size of an operation, threads. IOzone writes a large file in records of 1 MiB.
APPLICATIONS = {
    "fileserver": "rw=randrw\nrwmixread=33\nbs=128k\niodepth=50\n",
    "mailserver": "rw=randrw\nrwmixread=50\nbs=16k\niodepth=16\nfsync=8\n",
    "webserver": "rw=randrw\nrwmixread=91\nbs=16k\niodepth=100\n",
    "iozone": "rw=write\nbs=1m\niodepth=16\n",
}
PAIRS = tuple(itertools.combinations(APPLICATIONS, 2))
WINDOWS = (16, 1024)
# Guest time, in ms: ramp and what is measured.
TIMES = {False: (100, 400), True: (30, 100)}
CLOCK = "0.1"
ARGUMENTS = ("--processors", "2", "--clock", CLOCK, "--timeout", "3000")
# A 32nd of the paper's drive with the same channels, chips and shares, so that buffer and flash are in their steady state within such times. MQSim's
# applications force nothing to flash, so the buffer is one that capacitors protect: with one that is flushed, a flush waits for what the other
# application has written, too.
DRIVE = {"nand.geometry.blocks_per_plane": 64, "ftl.user_capacity": "14GB", "buffer.size": "8MiB", "buffer.mode": "protected"}
WHY = ("Applications of fio keep up to 128 commands in their queues, those of the paper under gem5 presumably a few. A window of 16 is then full of writes that wait for "
       "room in the buffer, and reads are not fetched: the third line")
# sysbench fileio rndrw, as in studies/femu-benchmarks: 128 files that all threads share, 1.5 reads a write, each write forced. Files are smaller here.
# On ext4 of the guest's Linux, and on the file layer of `ssdtlm run`.
FILES_DRIVE, THREADS = "femu-4g", (4, 32)
FILES = ("filename_format=test_file.$filenum\nnrfiles=128\nfilesize=1m\nsize=128m\ndirect=1\nrw=randrw\nrwmixread=60\nbs=16k\nsync=1\nioengine=psync\n"
         "file_service_type=random\ntime_based\ngroup_reporting\nnorandommap\n")
FILES_TIMES = {False: (200, 1000), True: (50, 200)}
# What the host takes of an I/O in the guest: docs/full-system.md, the means of fio less the drive's.
FILES_HOST = {"host.cores": 2, "host.submit_time": "13us", "host.completion_time": "13us", "precondition.state": "fresh", "files.system": "ext4"}
FILES_WHY = ("On a busy host: of a write's 2.2 ms in Linux the drive takes 0.4 ms. The rest is the host's: threads wait for each other's commit of the journal, and two virtual processors run "
             "them. The file layer has the waits, but no time of a processor for a commit")
LIGHT = ("mailserver", "webserver")
HEAVY = ("fileserver", "iozone")


def job_file(names, quick):
    """Each application has a processor, so a queue pair, and a half of the drive."""
    ramp, runtime = TIMES[quick]
    text = (f"[global]\nfilename=/dev/nvme0n1\nioengine=io_uring\ndirect=1\ntime_based\nramp_time={ramp}ms\nruntime={runtime}ms\n"
            "norandommap\nrandrepeat=1\n")
    for name in names:
        half = list(APPLICATIONS).index(name) % 2 if len(names) == 1 else names.index(name)
        text += f"[{name}]\ncpus_allowed={half}\noffset={half * 50}%\nsize=50%\n{APPLICATIONS[name]}"
    return text


def script(quick):
    """All applications alone and in pairs, one after the other."""
    lines = []
    for names in (*((name,) for name in APPLICATIONS), *PAIRS):
        label = "-".join(names)
        lines.append(f"cat > /tmp/{label}.fio <<'END'\n{job_file(names, quick)}END\n"
                     f"fio /tmp/{label}.fio --output-format=json --output={label}.json --lat_percentiles=1 || exit 1\n")
    return "".join(lines)


def files_job(directory, threads, quick):
    ramp, runtime = FILES_TIMES[quick]
    # A section each, and no numjobs: clones that share files by filename_format end at once in fio (axboe/fio, issue 1878).
    return f"[global]\ndirectory={directory}\n{FILES}ramp_time={ramp}ms\nruntime={runtime}ms\n" + "".join(f"[thread{i}]\n" for i in range(threads))


def files_script(quick):
    lines = ["mkfs.ext4 -q -F /dev/nvme0n1 && mount -t ext4 /dev/nvme0n1 /mnt || exit 1\n"]
    for threads in THREADS:
        lines.append(f"cat > /tmp/files.fio <<'END'\n{files_job('/mnt', threads, quick)}END\n"
                     f"fio /tmp/files.fio --output-format=json --output=files-{threads}.json || exit 1\n")
    return "".join(lines)


def jobs(result, names):
    """The applications of one run of fio."""
    text = (result.path.parent / "guest" / "files" / f"{'-'.join(names)}.json").read_text()
    found = json.loads(text[text.index("{"):])
    return {job["jobname"]: job for job in found["jobs"]}


def rates(result, names):
    """Operations a second of each of them."""
    return {name: job["read"]["iops"] + job["write"]["iops"] for name, job in jobs(result, names).items()}


def read_ms(result, names, name):
    """How long a read of that one takes in the mean."""
    return jobs(result, names)[name]["read"]["lat_ns"]["mean"] / 1e6


class Guest(Study):
    title = "Applications that share a drive, in a real Linux (MQSim, FAST '18, Fig. 9)"
    source = "Tavakkol et al.: MQSim, FAST '18, Fig. 9: file server, mail server, web server and IOzone in pairs, fetch windows of 16 and 1024, by gem5."

    def lacks(self):
        try:
            place.folder()
            place.shim()
        except UserError as error:
            return str(error)
        return ""

    def points(self, quick):
        return [Point({"window": window}, "mqsim-table3", (), {**DRIVE, "nvme.fetch_window": window},
                      ARGUMENTS, guest=script(quick)) for window in WINDOWS] + [
            Point({"files": "Linux"}, FILES_DRIVE, (), {"precondition.state": "fresh"}, ARGUMENTS, guest=files_script(quick)),
            *(Point({"files": threads}, FILES_DRIVE, (("files", files_job("/mnt", threads, quick)),), FILES_HOST) for threads in THREADS)]

    def rows(self, ended):
        return self._pairs([(point, result) for point, result in ended if "window" in point.axes]) + self._files({p.axes["files"]: r for p, r in ended if "files" in p.axes})

    @staticmethod
    def _files(results):
        rows = []
        for threads in THREADS:
            (linux,) = jobs(results["Linux"], ("files", str(threads))).values()
            (ours,) = results[threads].fio["jobs"]
            for where, job in (("Linux", linux), ("file layer", ours)):
                rows.append({"threads": threads, "files on": where, **{f"{op} {name}": value for op in ("read", "write") for name, value in
                                                                     (("IOPS", job[op]["iops"]), ("ms", job[op]["lat_ns"]["mean"] / 1e6))}})
        return rows

    @staticmethod
    def _pairs(ended):
        rows = []
        for point, result in ended:
            alone = {name: rates(result, (name,))[name] for name in APPLICATIONS}
            for first, second in PAIRS:
                shared = rates(result, (first, second))
                slow = {name: alone[name] / shared[name] for name in (first, second)}
                rows.append({"window": point.axes["window"], "pair": f"{first} + {second}", "first": first, "second": second,
                             "alone_1": round(alone[first]), "alone_2": round(alone[second]), "shared_1": round(shared[first]),
                             "shared_2": round(shared[second]), "S_1": slow[first], "S_2": slow[second],
                             "read_ms_1": read_ms(result, (first, second), first), "F": min(slow.values()) / max(slow.values()), "WS": sum(1 / s for s in slow.values())})
        return rows

    def figures(self, rows):
        files = [{"threads": str(r["threads"]), "IOPS": r["read IOPS"] + r["write IOPS"], "files on": r["files on"]} for r in rows if "threads" in r]
        rows = [r for r in rows if "window" in r]
        bars = [{"pair": r["pair"], "window": str(r["window"]), "F": r["F"]} for r in rows]
        slow = [{"pair": r["pair"], "of": f"{r[which]}, {r['window']}", "S": r[number]} for r in rows if r["first"] in HEAVY and r["second"] in HEAVY
                for which, number in (("first", "S_1"), ("second", "S_2"))]
        return [Figure("fairness", "Fairness of two applications, by fetch window", "bars", bars, "pair", "F", by="window", top=1.0, digits=2),
                Figure("slowdown", "Slow-down of file server and IOzone beside each other", "bars", slow, "pair", "S", by="of", digits=2),
                Figure("files", "sysbench fileio on ext4 of Linux and on our file layer", "bars", files, "threads", "IOPS", by="files on")]

    def trends(self, rows):
        files = {(r["files on"], r["threads"]): r["read IOPS"] + r["write IOPS"] for r in rows if "threads" in r}
        rows = [r for r in rows if "window" in r]
        fairness = {(r["first"], r["second"], r["window"]): r["F"] for r in rows}
        small, large = WINDOWS
        heavy = {w: fairness[(*HEAVY, w)] for w in WINDOWS}
        light = {pair: fairness[(*pair, large)] / fairness[(*pair, small)] for pair in PAIRS if set(pair) & set(LIGHT)}
        reads = {r["window"]: r["read_ms_1"] for r in rows if (r["first"], r["second"]) == HEAVY}
        apart = [f"{a} + {b} {ratio:.2f}" for (a, b), ratio in light.items()]
        return [Trend("A wide fetch window makes file server and IOzone less fair to each other (published: by 60 %)", heavy[large] < heavy[small],
                      f"F {heavy[small]:.2f} with {small}, {heavy[large]:.2f} with {large}", expected=False, why=WHY),
                Trend("Pairs with mail or web server are as fair with either window (within 20 %)", all(0.8 <= ratio <= 1.25 for ratio in light.values()),
                      ", ".join(apart), expected=False, why=WHY),
                check("With a narrow window the file server's reads wait for writes in front of them that want room in the buffer: at least four times as long",
                      reads[small] > 4 * reads[large], f"{reads[small]:.1f} ms with {small}, {reads[large]:.1f} ms with {large}"),
                Trend("Beside IOzone everybody is slower than IOzone is", all(r["S_1"] > r["S_2"] for r in rows if r["second"] == "iozone"),
                      ", ".join(f"{r['first']} {r['S_1']:.1f} : {r['S_2']:.1f}" for r in rows if r["second"] == "iozone")),
                *(check(f"sysbench fileio, {n} threads: our file layer has as many operations a second as ext4, within a third", 0.67 <= files["file layer", n] / files["Linux", n] <= 1.5,
                        f"{files['file layer', n]:.0f} against {files['Linux', n]:.0f}", **({} if n == THREADS[0] else {"expected": False, "why": FILES_WHY})) for n in THREADS)]


STUDY = Guest()
