# SPDX-License-Identifier: Apache-2.0
"""`ssdtlm run --report`: what it needs is looked for before the run, and the report is that of `ssdtlm report`."""
import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest

from support import BINARY, INTERRUPTED, NOT_WRITTEN, OK, PROGRESS, SOURCE, USER_ERROR, Result, SystemTest

PYTHON = SOURCE / "build" / "python" / "bin" / "python3"
LONG = ("rw=randrw", "bs=4k", "iodepth=8", "runtime=1000", "time_based")


class RunReport(SystemTest):
    def setUp(self):
        super().setUp()
        self.mix = self.job("mix", "rw=randrw", "bs=4k", "iodepth=8", "number_ios=2000", "norandommap", "io_size=100m")

    def python(self, name, body):
        """An interpreter of the test's making."""
        path = self.dir / name
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)
        return str(path)

    def test_the_waits_of_flows(self):
        """The longest of them, with the causes of result.json; how many are left out."""
        text = "[global]\nioengine=libaio\nrw=randrw\nbs=4k\niodepth=2\nnumber_ios=40\n" + "".join(f"[j{i}]\n" for i in range(16))
        program = self.start("--report", "-q", "--set", "host.tenants=by_job", "--set", "host.queue_pairs=16", job=self.write("many.fio", text))
        _, err = program.communicate(timeout=300)
        self.assertEqual((program.returncode, err), (OK, ""))
        waits = Result(self.dir / "out").json()["flow_waits"]
        page = (self.dir / "out" / "report.html").read_text()
        self.assertGreater(len(waits), 100)
        self.assertIn(f"The longest; {len(waits) - 25} more are in result.json.", page)
        self.assertIn("".join(f"<th>{cause}</th>" for cause in waits[0]["causes_ps"]), page)

    def start(self, *args, python=PYTHON, device="tiny-test", job=None):
        return subprocess.Popen([BINARY, "run", device, "-w", job or self.mix, "-o", "out", *args], cwd=self.dir, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, env={**os.environ, "SSDTLM_PYTHON": str(python)})

    def run_it(self, *args, **more):
        program = self.start(*args, **more)
        out, err = program.communicate(timeout=120)
        return program.returncode, out, PROGRESS.sub("", err)


class Before(RunReport):
    """Refused before anything is simulated."""

    def refused(self, *args, patterns, python):
        code, out, err = self.run_it(*args, python=python)
        self.assertEqual((code, out), (USER_ERROR, ""), err)
        self.assertEqual(len(err.splitlines()), len(patterns), err)
        for line, pattern in zip(err.splitlines(), patterns):
            self.assertRegex(line, pattern)
        self.assertFalse((self.dir / "out").exists(), "it was refused too late")

    def test_no_python(self):
        self.refused("--report", python="/nowhere/python3",
                     patterns=[r"^--report: is written in Python, and /nowhere/python3 cannot be started: No such file.*; Python 3.11 or later; apt-get"])

    def test_no_extra(self):
        bare = self.python("bare", f'exec "{sys.executable}" -S "$@"')
        self.refused("--report", python=bare, patterns=[r"^ssdtlm report: needs altair and vl_convert, which .* does not have; "
                                                        r"unset SSDTLM_PYTHON and run `ssdtlm python setup`, or run `.* -m pip install 'altair"])

    def test_python_that_does_not_answer(self):
        self.refused("--report", python=self.python("broken", "echo 'half a line' >&2; exit 7"),
                     patterns=[r"^--report: Python cannot say whether it has what is needed \(exit code 7\): half a line; try `ssdtlm python check`$"])

    def test_all_mistakes_at_once(self):
        (self.dir / "folder").mkdir()
        ready = self.python("ready", "exit 0")
        self.refused("--report=folder", "--set", "nand.t_raed=1us", python=ready,
                     patterns=["^--report=folder: is a folder; a file; name one in it$", "nand.t_raed"])
        self.refused("--report=mix.fio/x.html", python=ready, patterns=[r"^--report mix.fio: is not a folder; a folder that can be written"])


class Repeated(unittest.TestCase):
    def test_a_repetition_writes_no_report(self):
        sys.path.insert(0, str(SOURCE / "python"))
        self.addCleanup(sys.path.remove, str(SOURCE / "python"))
        from ssdtlm.explanation import again  # pylint: disable=import-outside-toplevel
        words = again._words(["ssdtlm", "run", "a", "--report", "b", "--report=c.html", "--watch", "-w", "j", "-o", "out"])  # pylint: disable=protected-access
        self.assertEqual(words, ["a", "b", "-w", "j"])


class After(RunReport):
    def test_a_report_that_cannot_be_written(self):
        """The run is whole, and it is said how to try again."""
        log = self.dir / "log"
        fails = self.python("fails", f'echo "$@" >> {log}\n[ "$3" = python ]')
        code, out, err = self.run_it("--report=new folder/r.html", "-q", python=fails)
        self.assertEqual((code, out), (NOT_WRITTEN, ""))
        self.assertEqual(err, "ssdtlm: the results are complete, but the report was not written; `ssdtlm report out` tries again\n")
        self.assertEqual(Result(self.dir / "out").json()["commands"], 2000)
        self.assertEqual(log.read_text().splitlines(), ["-m ssdtlm python check report", "-m ssdtlm report --output=new folder/r.html -- out"])
        self.assertTrue((self.dir / "new folder").is_dir())

    def test_interrupt_while_the_report_is_written(self):
        marks = self.dir / "begun"
        slow = self.python("slow", f'[ "$3" = python ] && exit 0\ntouch "{marks}"; exec sleep 100')
        program = subprocess.Popen([BINARY, "run", "tiny-test", "-w", self.mix, "-o", "out", "-q", "--report"], cwd=self.dir, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, env={**os.environ, "SSDTLM_PYTHON": slow}, start_new_session=True)
        begin = time.monotonic()
        while not marks.exists() and time.monotonic() < begin + 60:
            time.sleep(0.02)
        os.killpg(program.pid, signal.SIGINT)  # as a terminal does
        self.assertEqual(program.communicate(timeout=30), ("", ""))
        self.assertEqual(program.returncode, INTERRUPTED)
        self.assertEqual(Result(self.dir / "out").json()["ended_by"], "workload")


@unittest.skipUnless(PYTHON.exists(), "make python")
class Real(RunReport):
    def again(self):
        """The same, as the command writes it."""
        done = subprocess.run([BINARY, "report", "out", "-o", "again.html"], cwd=self.dir, capture_output=True, text=True,
                              env={**os.environ, "SSDTLM_PYTHON": str(PYTHON)})
        self.assertEqual((done.returncode, done.stderr), (OK, ""))
        return (self.dir / "again.html").read_text()

    def test_as_the_command_writes_it(self):
        code, out, err = self.run_it("--report")
        self.assertEqual((code, err), (OK, ""))
        self.assertEqual(out.splitlines()[-2:], ["results in out", "report in out/report.html"])
        text = (self.dir / "out" / "report.html").read_text()
        self.assertEqual(text, self.again())
        self.assertIn("2,000", text)  # measured commands
        for more, said in (("-q", ""), ("--json", None)):
            code, out, err = self.run_it("--report=r.html", more)
            self.assertEqual((code, err), (OK, ""))
            self.assertEqual(out, (self.dir / "out" / "result.json").read_text() if said is None else said)
            self.assertEqual((self.dir / "r.html").read_text(), self.again())

    def test_interrupted(self):
        program = self.start("--report", "-q", job=self.job("long", *LONG), device="femu-4g")
        begin = time.monotonic()
        while not (self.dir / "out" / "timeseries.csv.part").exists() and time.monotonic() < begin + 60:
            time.sleep(0.05)
        self.let_run(program)
        program.send_signal(signal.SIGINT)
        out, err = program.communicate(timeout=120)
        self.assertEqual((program.returncode, out, err), (INTERRUPTED, "", ""))
        self.assertEqual(Result(self.dir / "out").json()["ended_by"], "interrupt")
        text = pathlib.Path(self.dir / "out" / "report.html").read_text()
        self.assertEqual(text, self.again())
        print(f"report of an interrupted run: {len(text)} characters", flush=True)


if __name__ == "__main__":
    unittest.main()
