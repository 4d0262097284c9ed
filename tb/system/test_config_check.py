# SPDX-License-Identifier: Apache-2.0
"""`config check` refuses what `run` refuses and nothing else, on random devices over the whole table of parameters; no device makes the program
crash; and messages name keys that there are."""
import json
import os
import random
import re
import subprocess
import unittest

from support import BINARY, INTERNAL, OK, SOURCE, USER_ERROR, SystemTest

DEVICES = int(os.environ.get("SSDTLM_DEVICES", "40"))
UNITS = {"B": 1, "kB": 10**3, "KiB": 2**10, "MB": 10**6, "MiB": 2**20, "GB": 10**9, "GiB": 2**30, "TB": 10**12, "TiB": 2**40,
         "ps": 1, "ns": 10**3, "us": 10**6, "ms": 10**9, "s": 10**12, "min": 60 * 10**12, "h": 3600 * 10**12, "d": 86400 * 10**12, "y": 365 * 86400 * 10**12, "Hz": 1, "kHz": 10**3, "MHz": 10**6, "GHz": 10**9}
# Files and texts are not drawn; what takes minutes or all memory in some of its range has values of its own.
NOT_DRAWN = ("name", "description", "based_on", "precondition.from", "precondition.workload", "run.explain", "scheduler.implementation", "scheduler.rtl_module", "channel.rtl_sequencer")
OWN = {
    "nand.geometry.channels": (1, 2, 3, 8), "nand.geometry.ways": (1, 2, 5), "nand.geometry.dies_per_chip": (1, 2, 3), "nand.geometry.planes_per_die": (1, 2, 3, 6),
    "nand.geometry.blocks_per_plane": (4, 8, 12, 33, 64), "nand.geometry.pages_per_block": (1, 2, 5, 32, 96), "nand.geometry.page_size": ("512B", "1KiB", "4KiB", "16KiB", "128KiB"),
    "nand.geometry.unit_size": ("512B", "1KiB", "4KiB", "16KiB", "128KiB"), "ftl.user_capacity": ("512B", "100KiB", "2MiB", "12MiB", "16MiB", "1GiB"),
    "precondition.overwrite": ("0%", "100%"), "run.watchdog": ("1s",), "map.entry_size": ("4B", "8B", "512B", "2KiB"), "nand.geometry.spare_size": ("0B", "64B", "256B", "1000B"),
}


def keys_of(schema, prefix=""):
    for key, value in schema.get("properties", {}).items():
        if "properties" in value:
            yield from keys_of(value, prefix + key + ".")
        else:
            yield prefix + key, value


def drawn(draw, key, p):
    """A value of its range, seldom one beyond."""
    if key in OWN:
        return draw.choice(OWN[key])
    if "enum" in p:
        return draw.choice(p["enum"])
    if p.get("type") == "boolean":
        return draw.choice((True, False))
    if p.get("type") == "integer" or "oneOf" in p:
        one = p if "oneOf" not in p else p["oneOf"][0]
        if "minimum" not in one:
            return p["default"]
        low, high = one["minimum"], min(one["maximum"], one["minimum"] + 4096)
        value = draw.choice((low, high, draw.randint(low, high), draw.randint(low, min(high, low + 8))))
        return value if "oneOf" not in p else [value] * draw.choice((1, 1, 2))
    limits = re.search(r"\((-?[\d.]+) ?([A-Za-z%]*)\.\.(-?[\d.]+) ?([A-Za-z%/]*)", p["description"])
    if not limits or p.get("type") != "string":
        return p["default"]
    low, unit, high, high_unit = limits.groups()
    return draw.choice((f"{low}{unit or high_unit}", f"{high}{high_unit}", p["default"], p["default"]))


class ConfigCheck(SystemTest):
    def result(self, *words):
        done = subprocess.run([BINARY, *words], cwd=self.dir, capture_output=True, text=True, errors="replace", timeout=120)
        self.assertGreaterEqual(done.returncode, 0, (words, done.stderr[-500:]))
        self.assertNotEqual(done.returncode, INTERNAL, (words, done.stderr[:800]))
        return done

    def test_what_check_says_is_what_run_does(self):
        schema = dict(keys_of(json.loads(self.ssdtlm("config", "schema").stdout)))
        keys = [k for k in schema if k not in NOT_DRAWN]
        draw = random.Random(os.environ.get("SSDTLM_SEED", "check"))
        accepted = refused = 0
        for n in range(DEVICES):
            chosen = draw.sample(keys, draw.randint(1, 4)) + draw.sample(list(OWN), draw.choice((0, 0, 1, 2)))
            section = chosen[0].rpartition(".")[0]
            if draw.random() < 0.5:  # what acts together
                chosen += [k for k in keys if k.rpartition(".")[0] == section and draw.random() < 0.4]
            settings = {k: drawn(draw, k, schema[k]) for k in chosen}
            words = [w for k, v in settings.items() for w in ("--set", f"{k}={v if isinstance(v, str) else json.dumps(v)}")]
            job = ["--ioengine=libaio", f"--rw={draw.choice(('read', 'randwrite', 'randrw'))}", "--bs=128k", "--number_ios=5", "--norandommap=1", "--io_size=1g"]
            with self.subTest(number=n, settings=settings):
                check = self.result("config", "check", "tiny-test", *words, *job)
                try:
                    run = self.result("run", "tiny-test", "-q", "-o", "out", "--stop-after-time", "100ms", *words, *job)
                except subprocess.TimeoutExpired:
                    continue  # a device that needs more time than this test has
                self.assertEqual(check.returncode == USER_ERROR, run.returncode == USER_ERROR, (check.stderr, run.stderr))
                accepted += check.returncode == OK
                refused += check.returncode == USER_ERROR
                if check.returncode == USER_ERROR:
                    lines = [line for line in run.stderr.splitlines() if "failed.json" not in line]
                    self.assertEqual(check.stderr.splitlines(), lines)
                    for key in re.findall(r"\b(?:nand|ftl|map|gc|host|nvme|buffer|link|dram|firmware|slc|read_cache|scheduler|ecc|run|wear|refresh|precondition)(?:\.[a-z_]+)+\b(?!\.)", check.stderr):
                        self.assertTrue(key in schema or any(k.startswith(key + ".") for k in schema), f"no key {key}: {check.stderr}")
        print(f"{accepted} devices accepted, {refused} refused by both", flush=True)
        self.assertGreater(min(accepted, refused), DEVICES // 10)

    def test_states_of_the_drive(self):
        """What a state allows, the check allows: it does not make the state, which takes long."""
        for state in ("fresh", "sequential", "random", "analytic"):
            for more in ("precondition.until=steady", "precondition.fill_caches=true", "precondition.fill=50%", "precondition.overwrite=50%", "gc.policy=cost_benefit"):
                words = ("tiny-test", "--set", f"precondition.state={state}", "--set", more, "--ioengine=libaio", "--rw=read", "--bs=4k", "--number_ios=1")
                check, run = self.result("config", "check", *words), self.result("run", *words, "-q", "-o", "out")
                self.assertEqual((check.returncode, check.stderr), (run.returncode, run.stderr.replace("ssdtlm: the results so far are in out/failed.json\n", "")), words)

    def test_with_a_workload(self):
        self.write("large.fio", "[j]\nrw=read\nsize=1t\n")
        self.write("small.fio", "[j]\nrw=read\nsize=1m\n")
        for job in (("-w", "large.fio"), ("--rw=raed",), ("-w", "nothing.fio"), ("--rw=read", "--bs=4k", "--section=x"), ("-w", "tpcc", "--rw=read")):
            check, run = self.result("config", "check", "tiny-test", *job), self.result("run", "tiny-test", "-o", "out", *job)
            self.assertEqual((check.returncode, check.stderr), (USER_ERROR, run.stderr), job)
        for job in (("--rw=read", "--bs=4k"), ("-w", "small.fio"), ("--rw=randwrite", "--bs=4k", "--numjobs=3")):
            check = self.result("config", "check", "tiny-test", *job)
            self.assertEqual((check.returncode, check.stderr, check.stdout), (OK, "", "tiny-test: no problems\n"), job)
        self.assertFalse((self.dir / "out").exists())

    def test_messages_name_keys_that_exist(self):
        keys = dict(keys_of(json.loads(self.ssdtlm("config", "schema").stdout)))
        tables = {key.rsplit(".", n)[0] for key in keys for n in (1, 2) if key.count(".") >= n}
        first = {key.split(".")[0] for key in keys if "." in key}
        others = ("nvme.h", "gc.csv", "block.csv", "workload.xml", "ftl.waf", "scheduler.rtl", "firmware.table_", "scheduler.channel_")  # files, metrics, parts of a waveform, beginnings
        unknown = []
        for source in sorted(p for folder in ("model", "rtl") for p in (SOURCE / folder).rglob("*") if p.suffix in (".h", ".cpp")):
            for text in re.findall(r'"((?:[^"\\\n]|\\.)*)"', source.read_text()):
                for word in re.findall(r"\b([a-z_]+(?:\.[a-z_0-9]+)+)\b", text):
                    if not text.endswith(".h") and word.split(".")[0] in first and word not in keys and word not in tables and word not in others:
                        unknown.append(f"{source}: {word}")
        self.assertEqual(unknown, [])

    def test_entries_larger_than_a_unit(self):
        for more in ((), ("--set", 'host.power_cut_at=["1ms"]'), ("--set", "nand.geometry.blocks_per_plane=128")):
            check = self.result("config", "check", "tiny-test", "--set", "nand.geometry.unit_size=1KiB", "--set", "map.entry_size=2KiB", "--set", "ftl.mapping=dftl", *more)
            self.assertEqual(check.returncode, USER_ERROR)
            self.assertEqual(check.stderr, "--set map.entry_size=2KiB: map.entry_size: 2KiB in a translation page of nand.geometry.unit_size = 1KiB; "
                                           "whole entries in a page, for example 8B; change one of the two\n")
        self.assertEqual(self.result("config", "check", "tiny-test", "--set", "nand.geometry.unit_size=1KiB", "--set", "map.entry_size=8B", "--set", "ftl.mapping=dftl",
                                     "--set", "nvme.max_transfer=16KiB").returncode, OK)


if __name__ == "__main__":
    unittest.main()
