# SPDX-License-Identifier: Apache-2.0
"""Where a workload may come from: a job file under any name, standard input, one section, fio's options themselves."""
import json
import re
import subprocess
import unittest

from support import BINARY, OK, SETTINGS, SOURCE, TRACES, USER_ERROR, SystemTest

DEVICE = "tiny-test"
JOB = "# a comment\n\n[one]\nrw=read\nbs=4k\nsize=1m\n[two]\nrw=write\nbs=4k\nsize=512k\n"


class Sources(SystemTest):
    def fio_jobs(self, *args, text=None):
        done = subprocess.run([BINARY, "run", DEVICE, *SETTINGS, *args, "-o", "out", "-q"], cwd=self.dir, input=text,
                              capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (OK, ""))
        jobs = json.loads((self.dir / "out" / "fio.json").read_text())["jobs"]
        return {j["jobname"]: (j["read"]["total_ios"], j["write"]["total_ios"]) for j in jobs}

    def test_content_decides(self):
        for name in ("job", "job.txt", "job.csv", "x.fio"):
            self.assertEqual(self.fio_jobs("-w", self.write(name, JOB)), {"one": (256, 0), "two": (0, 128)})
        trace = self.write("trace.jobs", (TRACES / "msr.csv").read_text())
        self.assertEqual(list(self.fio_jobs("-w", trace, "--trace-beyond", "fold")), ["trace.jobs"])

    def test_standard_input(self):
        self.assertEqual(self.fio_jobs("-w", "-", text=JOB), {"one": (256, 0), "two": (0, 128)})
        jobs = self.fio_jobs("-w", "-", "--trace-beyond", "fold", text=(TRACES / "msr.csv").read_text())
        (reads, writes), = jobs.values()
        self.assertEqual(reads + writes, len((TRACES / "msr.csv").read_text().splitlines()))

    def test_section(self):
        job = self.write("job", JOB)
        self.assertEqual(self.fio_jobs("-w", job, "--section", "two"), {"two": (0, 128)})
        self.assertEqual(self.fio_jobs("-w", job, "--section=two", "--section=one"), {"one": (256, 0), "two": (0, 128)})
        done = self.ssdtlm("run", DEVICE, "-w", job, "--section", "tow")
        self.assertEqual(done.returncode, USER_ERROR)
        self.assertIn("--section 'tow'; one, two; did you mean 'two'?", done.stderr)

    def test_options_of_fio(self):
        self.assertEqual(self.fio_jobs("--rw=randread", "--bs=4k", "--size=1m"), {"job": (256, 0)})
        self.assertEqual(self.fio_jobs("--bs", "8k", "--size=1m", "--thread", "--name=a", "--rw=read", "--name=b", "--rw", "write"),
                         {"a": (128, 0), "b": (0, 128)})
        # As in fio: defaults of the jobs of the file.
        self.assertEqual(self.fio_jobs("-w", self.write("job", JOB), "--number_ios=10"), {"one": (10, 0), "two": (0, 10)})

    def test_mistakes_in_options(self):
        for args, part in ((("--rw=raed", "--bs=4q"), "command line: --rw: 'rw=raed'"),
                           (("--ioengine=null", "--size=1m"), "ioengine=null does no I/O at all"),
                           (("--readwrit=read", "--bs=4k"), "unknown option '--readwrit'; did you mean '--readwrite'?"),
                           ((), "no workload")):
            done = self.ssdtlm("run", DEVICE, *args)
            self.assertEqual(done.returncode, USER_ERROR, args)
            self.assertIn(part, done.stderr)

    def test_options_of_the_other_kind_are_refused(self):
        job = self.write("job", JOB)
        for option in (("--replay", "closed"), ("--time-scale", "2"), ("--trace-overlay",), ("--replay-depth=4",)):
            done = self.ssdtlm("run", DEVICE, "-w", job, *option)
            self.assertEqual(done.returncode, USER_ERROR)
            self.assertIn(option[0].split("=")[0] + " with a fio job", done.stderr)
        for option, said in (("--section=a", "--section a"), ("--bs=4k", "--bs")):
            done = self.ssdtlm("run", DEVICE, "-w", TRACES / "msr.csv", option)
            self.assertEqual(done.returncode, USER_ERROR)
            self.assertIn(said + " with a block trace", done.stderr)

    def test_what_is_probably_not_meant_is_said_first(self):
        done = self.ssdtlm("run", DEVICE, "--rw=read", "--bs=4k", "--size=1m", "--iodepth=32", "-o", "out")
        self.assertIn("warning: job 'job': ioengine=psync is synchronous: iodepth=32 acts as 1", done.stderr)
        done = self.ssdtlm("run", "mqsim-table3", "--rw=read", "--bs=64KiB", "--size=1m", "-o", "out")
        self.assertIn("warning: job 'job': bs=64KiB: with fio's default kb_base=1024 a KiB has 1000 bytes", done.stderr)
        done = self.ssdtlm("run", DEVICE, "--rw=read", "--bs=4KiB", "--size=1m", "-o", "out")
        self.assertEqual(done.returncode, USER_ERROR)
        self.assertIn("a block size of 4000 bytes", done.stderr)
        self.assertIn("a KiB has 1000 bytes with fio's default kb_base=1024: write 4k for 4096", done.stderr)


class OptionNames(unittest.TestCase):
    def test_every_option_of_the_installed_fio_is_known(self):
        said = subprocess.run(["fio", "--cmdhelp=all"], capture_output=True, text=True, check=True).stdout
        names = set(re.findall(r"(?m)^\s*([\w-]+)\s*:", said))
        self.assertGreater(len(names), 200)
        engines = subprocess.run(["fio", "--enghelp"], capture_output=True, text=True, check=True).stdout.split()[3:]
        for engine in engines:
            help_ = subprocess.run(["fio", f"--enghelp={engine}"], capture_output=True, text=True).stdout
            names |= {line.split(":")[0].strip() for line in help_.splitlines() if ":" in line and "has no options" not in line}
        table = "".join(p.read_text() for p in (SOURCE / "model/host_pcie/workload/fio").glob("fio_options_*.cpp"))
        self.assertEqual([n for n in sorted(names) if f'"{n}"' not in table], [])


if __name__ == "__main__":
    unittest.main()
