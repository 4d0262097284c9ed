# SPDX-License-Identifier: Apache-2.0
"""Workloads that come with the program, by their names: job files, and those that it makes itself."""
import json
import os
import re
import subprocess
import unittest

from support import BINARY, JOBS, OK, TRACES, USER_ERROR, Result, SystemTest, fio_job_total

DEVICE = "hexa-16g"  # quick to start
SMALL = ("--set", "workload.tpcc.warehouses=2", "--set", "workload.tpcc.log_size=16MiB", "--set", "workload.tpcc.transactions=3000")


class Names(SystemTest):
    def test_listed(self):
        done = self.ssdtlm("config", "workloads", "--json")
        self.assertEqual((done.returncode, done.stderr), (OK, ""))
        rows = {row["name"]: row for row in json.loads(done.stdout)}
        self.assertEqual({name for name, row in rows.items() if row["kind"] == "fio"}, {p.stem for p in JOBS.glob("*.fio")})
        self.assertEqual({name for name, row in rows.items() if row["kind"] == "generated"}, {"tpcc"})
        for row in rows.values():
            self.assertGreater(len(row["description"]), 20, row)
            self.assertEqual(row["path"], str(JOBS / f"{row['name']}.fio") if row["kind"] == "fio" else "")
        text = self.ssdtlm("config", "workloads").stdout
        self.assertEqual([line.split()[0] for line in text.splitlines()], list(rows))

    def test_a_name_is_the_file(self):
        named = self.simulate(DEVICE, "qd1_4k_randread", output="named").files()
        path = self.simulate(DEVICE, JOBS / "qd1_4k_randread.fio", output="path").files()
        for name in ("fio.json", "latency.csv", "timeseries.csv", "slowest.json"):
            self.assertEqual(named[name], path[name])
        digests = {json.loads(files["result.json"])["workload_digest"] for files in (named, path)}
        self.assertEqual(len(digests), 1)

    def test_options_beside_a_name_replace_those_of_the_file(self):
        options = ("--number_ios=500", "--iodepth=8", "--size=1g", "--numjobs=2")
        jobs = self.simulate(DEVICE, "jesd219-enterprise", *options).json("fio.json")["jobs"]
        self.assertEqual(fio_job_total(jobs[0])[0], 2 * 500)
        self.assertEqual({name: jobs[0]["job options"][name] for name in ("number_ios", "iodepth", "size", "numjobs")},
                         {"number_ios": "500", "iodepth": "8", "size": "1g", "numjobs": "2"})
        # Beside a path they are defaults, as in fio.
        jobs = self.simulate(DEVICE, JOBS / "jesd219-enterprise.fio", *options).json("fio.json")["jobs"]
        self.assertEqual(fio_job_total(jobs[0])[0], 4 * 25 * 1024)

    def test_a_file_of_that_name_goes_first(self):
        self.write("tpcc", "[mine]\nrw=randread\nnumber_ios=10\n")
        self.assertEqual(self.simulate("tiny-test", "tpcc").json()["commands"], 10)


class Mistakes(SystemTest):
    def refused(self, *args):
        done = self.ssdtlm("run", *args, "-o", "out")
        self.assertEqual((done.returncode, done.stdout), (USER_ERROR, ""), done.stderr)
        self.assertFalse((self.dir / "out").exists())
        return done.stderr.splitlines()

    def test_names(self):
        line, = self.refused("tiny-test", "-w", "jesd219-enterprize")
        self.assertRegex(line, r"^command line: no workload 'jesd219-enterprize'; a file, or one of .*jesd219-enterprise.*tpcc; "
                               r"did you mean 'jesd219-enterprise'\? One of your own must be linked into the program: ")
        line, = self.refused("tiny-test", "-w", "nothing-alike")
        self.assertRegex(line, r"no workload 'nothing-alike'.*check the path; one of your own must be linked into the program: ")
        line, = self.refused("tiny-test", "-w", "nothing.csv")
        self.assertRegex(line, r"^nothing\.csv: cannot open: ")

    def test_options_of_other_kinds(self):
        line, = self.refused("tiny-test", "-w", "jesd219-enterprise", "--name=x", "--rw=read")
        self.assertRegex(line, r"^command line: --name with the workload jesd219-enterprise; ")
        trace, fio = self.refused(DEVICE, "-w", "tpcc", "--replay", "closed", "--iodepth=4")
        self.assertRegex(trace, r"^command line: --replay with the workload tpcc; options of block traces; remove$")
        self.assertRegex(fio, r"^command line: --iodepth with the workload tpcc; .*--set workload\.tpcc\.KEY=VALUE$")

    def test_parameters(self):
        lines = self.refused(DEVICE, "-w", "tpcc", "--set", "workload.tpcc.warehouse=3", "--set", "workload.tpcc.connections=0",
                             "--set", "workload.tpcc.page_size=32KiB", "--set", "workload.tpc.warehouses=1")
        self.assertRegex(lines[0], r"workload\.tpcc\.warehouse'.*did you mean 'workload\.tpcc\.warehouses'\?$")
        self.assertRegex(lines[1], r"workload\.tpcc\.connections: '?0'?.*1\.\.1024")
        self.assertRegex(lines[2], r"workload\.tpcc\.page_size: .*32KiB.*4KiB, 8KiB or 16KiB")
        self.assertEqual(len(lines), 4, lines)

    def test_what_does_not_fit(self):
        line, = self.refused("tiny-test", "-w", "tpcc")
        self.assertRegex(line, r"^workload\.tpcc\.warehouses: 10 take \d+ MiB .*; the device has 12 MiB, one takes \d+ MiB; use a larger device")
        line, = self.refused("femu-4g", "-w", "tpcc", "--set", "workload.tpcc.warehouses=100")
        most = int(re.search(r"set it to (\d+) or less$", line)[1])
        done = self.ssdtlm("run", "femu-4g", "-w", "tpcc", "--set", f"workload.tpcc.warehouses={most}", "--stop-after-commands", 100, "-q")
        self.assertEqual((done.returncode, done.stderr), (OK, ""))
        self.assertTrue(self.refused("femu-4g", "-w", "tpcc", "--set", f"workload.tpcc.warehouses={most + 1}"))
        lines = self.refused("femu-4g", "-w", "tpcc", "--set", "workload.tpcc.warehouses=100", "--set", "workload.tpcc.connections=1024",
                             "--set", "workload.tpcc.buffer_pool=1%")
        self.assertEqual([line.split(":")[0] for line in lines], [f"workload.tpcc.{key}" for key in ("warehouses", "log_size", "buffer_pool")])


class InThePlaceOfADevice(SystemTest):
    def test_a_workload_without_its_option(self):
        job = self.job("mine", "rw=read", "number_ios=1")
        for word in (job, "tpcc", "qd1_4k_randread"):
            done = self.ssdtlm("run", "tiny-test", word)
            self.assertEqual((done.returncode, done.stdout), (USER_ERROR, ""))
            self.assertEqual(done.stderr, f"command line: '{word}' is a workload, and stands where devices do; a device file or a preset; write -w {word}\n")

    def test_options_beside_a_job_file(self):
        """As in fio the file counts: what it says itself is named, and by which line."""
        self.write("iv.fio", "[global]\nioengine=libaio\nrw=randread\nnumber_ios=20\n[a]\nnumjobs=2\n[b]\nnumjobs=4\nbs=8k\n")
        notes = self.simulate("tiny-test", "iv.fio", "--numjobs=32", "--bs=16k", "--iodepth=4").json()["notes"]
        self.assertIn("--numjobs=32 has no effect: iv.fio:6:1 says numjobs=2, and the job file counts, as in fio", notes)
        self.assertIn("--bs=16k has no effect in job b: iv.fio:9:1 says bs=8k, and the job file counts, as in fio", notes)
        self.assertEqual([note for note in notes if "iodepth" in note], [])
        self.write("twice.fio", "[a]\nrw=randread\nbs=4k\nnumber_ios=5\nbs=8k\n")
        self.assertIn("twice.fio:3:1: bs=4k has no effect: twice.fio:5:1 says bs=8k, which comes after it", self.simulate("tiny-test", "twice.fio", output="t").json()["notes"])


class ReadOnce(SystemTest):
    """What a shell makes of <(...), and a fifo: read once, as a device, a job file or a trace."""

    def shell(self, line):
        done = subprocess.run(["bash", "-c", line], cwd=self.dir, capture_output=True, text=True, timeout=120, env={**os.environ, "B": BINARY, "TRACES": str(TRACES)}, check=False)
        self.assertEqual((done.returncode, done.stderr), (OK, ""), line)
        return done.stdout

    def test_process_substitution(self):
        job = self.job("reads", "rw=randread", "bs=4k", "number_ios=50", "size=1m")
        known = self.simulate("tiny-test", job, "--set", "nand.t_read=60us", output="known").json()
        self.write("slow.toml", 'based_on = "tiny-test"\n[nand]\nt_read = "60us"\n')
        self.shell('$B run <(cat slow.toml) -w <(cat reads.fio) -q -o once')
        once = Result(self.dir / "once").json()
        self.assertEqual(once["latency_us"], known["latency_us"])
        self.shell('$B run tiny-test -w <(cat $TRACES/msr.csv) --trace-beyond fold -q -o trace && $B run tiny-test -w $TRACES/msr.csv --trace-beyond fold -q -o file')
        self.assertEqual(Result(self.dir / "trace").json()["latency_us"], Result(self.dir / "file").json()["latency_us"])
        self.shell('$B run tiny-test -w <(cat $TRACES/msr.csv.gz) --trace-beyond fold -q -o zipped')
        self.assertEqual(Result(self.dir / "zipped").json()["latency_us"], Result(self.dir / "file").json()["latency_us"])

    def test_fifo(self):
        text = self.shell('mkfifo pipe && (cat $TRACES/msr.csv > pipe &) && $B trace info pipe --json')
        self.assertEqual(json.loads(text)["records"], json.loads(self.shell('$B trace info $TRACES/msr.csv --json'))["records"])


class Timeline(SystemTest):
    def test_a_word_before_gigabytes(self):
        """The estimate, against what a short run of the same job writes a command."""
        words = ("run", "tiny-test", "--rw=randread", "--bs=4k", "--iodepth=8", "--ioengine=libaio", "--norandommap", "--size=8m", "--timeline")
        self.ssdtlm(*words, "--number_ios=1000", "-o", "short", "-q")
        written = (self.dir / "short" / "trace.json").stat().st_size / 1000
        done = self.ssdtlm(*words, "--io_size=40g", "--stop-after-commands", "2000000", "--stop-after-time", "1ms", "-o", "long", "-q")
        said = re.fullmatch(r"warning: --timeline writes about (\d+) GB for 2000000 commands; --timeline-from and --timeline-to record a part of the run\n", done.stderr)
        self.assertTrue(said, done.stderr)
        self.assertLess(abs(int(said[1]) / (2e6 * written * 1e-9) - 1), 0.5)
        self.assertEqual(self.ssdtlm(*words, "--io_size=40g", "--timeline-to", "1ms", "--stop-after-time", "1ms", "-o", "part", "-q").stderr, "")


class Tpcc(SystemTest):
    def test_results(self):
        result = self.simulate(DEVICE, "tpcc", *SMALL, "--set", "run.check_waiters=true")
        j = self.assert_right(result)
        self.assertEqual((j["workload"], j["ended_by"]), ("tpcc", "workload"))
        jobs = {job["jobname"]: job for job in result.json("fio.json")["jobs"]}
        self.assertEqual(list(jobs), ["connections", "redo-log", "page-cleaner"])
        for direction in ("read", "write"):
            self.assertEqual(sum(job[direction]["total_ios"] for job in jobs.values()), j[direction]["ios"])
            self.assertEqual(sum(job[direction]["io_bytes"] for job in jobs.values()), j[direction]["bytes"])
        self.assertEqual(jobs["connections"]["read"]["io_bytes"], j["read"]["bytes"])
        self.assertEqual(jobs["connections"]["job options"], {"rw": "randread", "bs": "16k", "iodepth": "1", "numjobs": "10"})
        # Pages are written twice, and what the notes say is what the drive saw.
        notes = "\n".join(j["notes"])
        self.assertRegex(notes, r"tpcc: 3000 transactions in \d+\.\d+ s, \d+\.\d per second, \d+\.\d % of them new orders; ")
        self.assertEqual(int(re.search(r"tpcc: (\d+) pages read", notes)[1]) * 16384, j["read"]["bytes"])
        self.assertEqual(int(re.search(r"tpcc: (\d+) pages written", notes)[1]) * 2 * 16384, jobs["page-cleaner"]["write"]["io_bytes"])
        log = re.search(r"redo log of (\d+) KiB in (\d+) writes and (\d+) flushes", notes)
        self.assertEqual((int(log[1]), int(log[2])), (jobs["redo-log"]["write"]["io_bytes"] >> 10, jobs["redo-log"]["write"]["total_ios"]))
        rows = {(row["number"], row["name"], row["op"]) for row in result.rows("latency_by_job.csv") if row["of"] == "job"}
        self.assertEqual(rows, {(str(n), "connections", "read") for n in range(10)} |
                         {(str(n), name, op) for n, name in ((10, "redo-log"), (11, "page-cleaner")) for op in ("write", "flush")})

    def test_what_it_is(self):
        """Equal runs are equal; the digest is of the parameters alone."""
        files = self.simulate(DEVICE, "tpcc", *SMALL, output="a").files()
        self.assertEqual(self.simulate(DEVICE, "tpcc", *SMALL, output="b").files(), files)
        digest = json.loads(files["result.json"])["workload_digest"]
        other_seed = self.simulate(DEVICE, "tpcc", *SMALL, "--seed", 2, output="c")
        self.assertEqual(other_seed.json()["workload_digest"], digest)
        self.assertNotEqual(other_seed.files()["latency.csv"], files["latency.csv"])
        self.assertEqual(self.simulate("femu-4g", "tpcc", *SMALL, output="d").json()["workload_digest"], digest)
        other = self.simulate(DEVICE, "tpcc", *SMALL, "--set", "workload.tpcc.doublewrite=false", output="e").json()
        self.assertNotEqual(other["workload_digest"], digest)

    def test_it_can_be_ended(self):
        j = self.assert_right(self.simulate(DEVICE, "tpcc", *SMALL, "--stop-after-commands", 1000, output="commands"))
        self.assertEqual(j["commands"], 1000)
        j = self.assert_right(self.simulate(DEVICE, "tpcc", *SMALL, "--stop-after-time", "50ms", output="time"))
        self.assertLess(j["commands"], 10000)
        self.assertEqual(j["ended_by"], "--stop-after-time 50ms")

    def test_loss_of_power(self):
        """What was flushed is there, with real bytes."""
        settings = ('host.power_cut_at=["30ms", "900s"]', "host.power_off_time=1ms", "run.data=bytes", "buffer.size=16MiB")
        j = self.assert_right(self.simulate(DEVICE, "tpcc", *SMALL, *(word for s in settings for word in ("--set", s))))
        self.assertEqual([cut["at_s"] for cut in j["power_cuts"]], [0.03])
        self.assertIn("host.power_cut_at: 1 of 2 losses of power did not happen, because the run ended before them", j["notes"])


if __name__ == "__main__":
    unittest.main()
