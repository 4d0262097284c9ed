# SPDX-License-Identifier: Apache-2.0
"""Jobs of random options, run by fio 3.33 and by us: the same I/Os, totals and rows of the logs.

fio draws other random numbers, so what depends on a draw is compared by what every draw obeys: sums, sizes that are allowed,
and each block once. SSDTLM_FIO_RANDOM = "first count" chooses the seeds.
"""
import json
import os
import random
import subprocess
import unittest

from support import SystemTest

FIRST, COUNT = (int(n) for n in os.environ.get("SSDTLM_FIO_RANDOM", "1 40").split())
DEVICE = "tiny-test"
DIRECTIONS = ("read", "write", "trim")
K = 1 << 10


class Job:
    """What was drawn, and what may be compared for it."""

    def __init__(self, seed):
        r = self.r = random.Random(seed)
        self.rw = r.choice(["read", "write", "trim", "randread", "randwrite", "randtrim", "rw", "randrw", "trimwrite", "randtrimwrite"])
        self.random = self.rw.startswith("rand")
        self.mixed = self.rw in ("rw", "randrw")
        self.trimwrite = self.rw.endswith("trimwrite")
        self.options = {"rw": self.rw, "size": f"{r.choice([256, 384, 1024, 2048])}k", "iodepth": r.choice([1, 1, 2, 8])}
        if self.trimwrite:
            self.options["iodepth"] = 1  # fio loses pairs with more: a write is chosen before its trim is known
        self.sizes = self.block_sizes()
        self.suffix()
        self.amounts()
        self.order()
        self.clones()
        self.flushes()
        self.reporting()

    def maybe(self, percent, name, *values):
        if self.r.randrange(100) < percent:
            self.options[name] = self.r.choice(values)
        return name in self.options

    def block_sizes(self):
        kind = self.r.choice(["bs", "bs", "bsrange", "bssplit"])
        if kind == "bs":
            size = self.r.choice([4, 4, 8, 16, 32])
            self.options["bs"] = f"{size}k"
            return {size * K}
        if kind == "bsrange":
            low, times = self.r.choice([4, 8]), self.r.choice([2, 4, 8])
            self.options["bsrange"] = f"{low}k-{low * times}k"
            return {low * K * n for n in range(1, times + 1)}
        split = self.r.choice(["4k/60:8k/10:16k/5:32k/5:64k/20", "4k/50:12k/50", "8k/90:32k/10"])
        self.options["bssplit"] = split
        return {int(part.split("k")[0]) * K for part in split.split(":")}

    @property
    def one_size(self):
        return len(self.sizes) == 1

    def suffix(self):
        if self.trimwrite or self.r.randrange(100) >= 15:
            return
        if self.random:
            self.options["rw"] += f":{self.r.choice([2, 8])}"
            self.maybe(50, "rw_sequencer", "sequential", "identical")
        elif not self.mixed:
            self.options["rw"] += f":{self.r.choice([4, 16])}k"

    def amounts(self):
        if self.r.randrange(100) < 25:
            self.options["io_size"] = f"{self.r.choice([128, 256, 512, 1024])}k"
        elif self.r.randrange(100) < 25:
            self.options["number_ios"] = self.r.choice([1, 7, 30])
        elif self.r.randrange(100) < 25:
            self.options["loops"] = self.r.choice([2, 3])
        self.maybe(25, "offset", "64k", "512k")

    def order(self):
        r = self.r
        if self.mixed:
            self.maybe(60, "rwmixread", 0, 30, 70, 100)
        if self.random:
            if self.trimwrite or self.maybe(20, "norandommap", 1):
                pass  # fio takes a trim of the place that it trimmed last for its write, and ends early
            elif self.maybe(15, "random_distribution", "zipf:1.2", "pareto:0.2", "normal:20"):
                pass
            elif self.one_size:
                self.maybe(15, "percentage_random", 100, 50)
        if r.randrange(100) < 20 and ":" not in self.options["rw"] and not self.trimwrite and not self.mixed:
            self.options.update(zonemode="strided", zonesize=f"{r.choice([64, 128, 192])}k", zoneskip=f"{r.choice([0, 64, 256])}k")
            self.maybe(50, "zonerange", "64k", "128k")

    def clones(self):
        if self.r.randrange(100) < 20:
            self.options["numjobs"] = self.r.choice([2, 3])
            self.maybe(50, "offset_increment", "256k")
            self.maybe(50, "group_reporting", 1)

    def flushes(self):
        if self.rw in ("write", "randwrite", "rw", "randrw"):
            self.maybe(25, "fsync", 1, 5, 32)
            self.maybe(15, "fdatasync", 3)
            self.maybe(15, "end_fsync", 1)

    def reporting(self):
        self.maybe(20, "unified_rw_reporting", "none", "mixed", "both", 0, 1, 2)

    @property
    def ends_by_chance(self):
        """A sequence that began at a random place ends the job at the end of its region: fio with a null engine has no drive behind that end."""
        return self.random and ":" in self.options["rw"]

    @property
    def once_each(self):
        """Every block once a pass, in an order that the sizes do not change."""
        return self.one_size and (not self.random or not {"norandommap", "random_distribution", "percentage_random"} & set(self.options) and ":" not in self.options["rw"])

    def text(self, engine, filename=None):
        lines = ["[x]", f"ioengine={engine}", "write_lat_log=x", "log_offset=1"]
        lines += [f"filename={filename}"] if filename else []
        return "\n".join(lines + [f"{name}={value}" for name, value in self.options.items()]) + "\n"


def direction_totals(jobs, field):
    """Of all jobs, by direction; of those that report them together, the sum alone."""
    if all("read" in job for job in jobs):
        return {d: sum(job[d][field] for job in jobs) for d in DIRECTIONS}
    return {"mixed": sum(job["mixed"][field] for job in jobs)}


def ios(folder, clones):
    """(direction, bytes, offset) of each I/O by clone, in the order of the log."""
    result = []
    for clone in range(1, clones + 1):
        rows = []
        path = folder / f"x_lat.{clone}.log"
        for line in path.read_text().splitlines() if path.exists() else []:
            _, _, direction, size, offset = [int(word, 0) for word in line.split(",")[:5]]
            rows.append((direction, size, offset))
        result.append(rows)
    return result


class RandomJobs(SystemTest):
    def both(self, job):
        """What fio and we report, and each one's I/Os."""
        fio_dir = self.dir / "fio"
        fio_dir.mkdir()
        (fio_dir / "x.fio").write_text(job.text("null"))
        done = subprocess.run(["fio", "--output-format=json", "--output=fio.json", "x.fio"], cwd=fio_dir, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        clones = job.options.get("numjobs", 1)
        theirs = json.loads((fio_dir / "fio.json").read_text())["jobs"]
        result = self.simulate(DEVICE, self.write("x.fio", job.text("libaio")))
        return (theirs, ios(fio_dir, clones)), (result.json("fio.json")["jobs"], ios(result.path, clones))

    def compare(self, job):
        (theirs, their_ios), (ours, our_ios) = self.both(job)
        self.assertEqual([[k for k in t if k not in ("desc",)] for t in theirs], [list(o) for o in ours], "the fields of a job")
        total = [direction_totals(jobs, "total_ios") for jobs in (theirs, ours)]
        size = [direction_totals(jobs, "io_bytes") for jobs in (theirs, ours)]
        self.assertEqual(total[0].keys(), total[1].keys())
        for clone in our_ios:
            self.check_rules(job, clone)
        if job.ends_by_chance or (job.trimwrite and job.random):  # fio loses pairs of random places
            return
        largest = max(job.sizes)
        clones = job.options.get("numjobs", 1)
        if job.one_size:
            self.assertEqual(sum(total[0].values()), sum(total[1].values()), "I/Os")
            if not job.mixed:
                self.assertEqual(total[0], total[1])
                # With more than one I/O under way, and at the beginning of each later loop, fio 3.33 flushes twice in a row.
                if all("sync" in j for j in theirs) and job.options["iodepth"] == 1 and "loops" not in job.options:
                    self.assertEqual([j["sync"]["total_ios"] for j in theirs], [j["sync"]["total_ios"] for j in ours], "sync.total_ios")
        elif "number_ios" in job.options:
            asked = job.options["number_ios"] * clones
            for ios_of, bytes_of in zip(total, size):  # the size may end it first
                self.assertLessEqual(sum(ios_of.values()), asked)
                self.assertTrue(sum(ios_of.values()) == asked or sum(bytes_of.values()) >= clones * (int(job.options["size"][:-1]) * K - 2 * largest), "I/Os")
        else:
            slack = largest * clones * (2 if job.trimwrite else 1) * (job.options.get("loops", 1) + 1) * 2
            self.assertAlmostEqual(sum(size[0].values()), sum(size[1].values()), delta=slack, msg="bytes")
        if not job.mixed and job.once_each:
            for theirs_, ours_ in zip(their_ios, our_ios):
                if job.random and {"io_size", "number_ios"} & set(job.options):
                    self.assertEqual(len(theirs_), len(ours_))
                else:
                    self.assertEqual(sorted(theirs_), sorted(ours_), "offsets")
                if not job.random and job.options["iodepth"] == 1:
                    self.assertEqual(theirs_, ours_, "offsets in order")

    def check_rules(self, job, rows):
        if job.trimwrite and job.options["iodepth"] == 1:
            for trim, write in zip(rows[::2], rows[1::2]):
                self.assertEqual((trim[0], write[0]), (2, 1), "a write follows its trim")
                self.assertEqual(trim[1:], write[1:], "offset and length of the trim")

    def test_random_jobs(self):
        for seed in range(FIRST, FIRST + COUNT):
            job = Job(seed)
            with self.subTest(seed=seed, job=job.text("null")):
                self.setUp()
                self.compare(job)


if __name__ == "__main__":
    unittest.main()
