# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C in the commands that are written in Python: at whatever moment it comes, the command says so in one line and ends with 130, or
it has ended in order before. (Sweeps that are under way: test_sweep_kills.py.)"""
import os
import signal
import subprocess
import sys
import time
import unittest

from reports import PYTHON
from support import BINARY, INTERRUPTED, OK, SOURCE, SystemTest

MESSAGE = "ssdtlm: interrupted\n"
ENVIRONMENT = {**os.environ, "SSDTLM_PYTHON": str(PYTHON)}
SWEEP = 'output = "swept"\ndevice = "tiny-test"\n[fio]\nrw = "randread"\nbs = "4k"\nnumber_ios = 100\n[grid]\nfio.iodepth = [1, 2]\n'
MOMENTS = 12


def hold_back():
    """In the child: the signal waits until the command takes it, as it would if the interpreter itself had no time of its own to start."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})


@unittest.skipUnless(PYTHON.exists(), "make python")
class Interrupt(SystemTest):
    def start(self, *words, command=(BINARY,), **options):
        program = subprocess.Popen([*map(str, command), *words], cwd=self.dir, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT, **options)
        self.addCleanup(program.kill)
        return program

    def test_at_any_moment(self):
        """Moments from the first instruction to the command's own end."""
        job = self.job("mix", "rw=randrw", "bs=4k", "number_ios=1000")
        self.simulate("tiny-test", job, output="a")
        self.simulate("tiny-test", job, "--seed", "2", output="b")
        self.write("sweep.toml", SWEEP)
        for words in (("report", "a"), ("compare", "a", "b"), ("explain", "a"), ("explain", "a", "--command", "3"), ("study", "list"),
                      ("sweep", "status", "sweep.toml"), ("config", "import", "mqsim", "absent.xml"), ("python", "check")):
            with self.subTest(command=words):
                began = time.monotonic()
                whole = self.start(*words)
                text, errors = whole.communicate(timeout=120)
                took, ends = time.monotonic() - began, {INTERRUPTED: 0, whole.returncode: 0}
                for moment in range(MOMENTS):
                    program = self.start(*words, preexec_fn=hold_back)
                    time.sleep(moment * took / MOMENTS)
                    program.send_signal(signal.SIGINT)
                    out, err = program.communicate(timeout=120)
                    self.assertIn((program.returncode, err), ((INTERRUPTED, MESSAGE), (whole.returncode, errors)))
                    self.assertIn(out, ("", text))
                    ends[program.returncode] += 1
                self.assertGreater(ends[INTERRUPTED], 1)
                self.assertEqual([path.name for path in self.dir.rglob("*.part")], [])

    def test_an_interrupt_that_a_library_swallows(self):
        """It counts all the same; and a second one ends the command at once."""
        code = "import os, signal, sys, time\nfrom ssdtlm import interrupts\ninterrupts.leave_at_once()\ndef command():\n" \
               "    try:\n        os.kill(os.getpid(), signal.SIGINT); time.sleep(10)\n    except BaseException:\n        {}\n    return 0\nsys.exit(interrupts.run(command))\n"
        for more in ("pass", "os.kill(os.getpid(), signal.SIGINT); time.sleep(100)"):
            program = subprocess.run([sys.executable, "-c", code.format(more)], capture_output=True, text=True, timeout=50, env={**os.environ, "PYTHONPATH": str(SOURCE / "python")})
            self.assertEqual((program.returncode, program.stdout, program.stderr), (INTERRUPTED, "", MESSAGE))

    def test_the_end_of_the_interpreter(self):
        """What has ended in order stays so."""
        code = "import atexit, os, signal, sys, time\nfrom ssdtlm import interrupts\natexit.register(lambda: (os.kill(os.getpid(), signal.SIGINT), time.sleep(0.1)))\n" \
               "sys.exit(interrupts.run(lambda: 0))\n"
        program = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=50, env={**os.environ, "PYTHONPATH": str(SOURCE / "python")})
        self.assertEqual((program.returncode, program.stdout, program.stderr), (OK, "", ""))

    def test_the_package_leaves_signals_alone(self):
        """A program that imports it keeps its own way with Ctrl-C."""
        code = "import signal\nbefore = signal.getsignal(signal.SIGINT)\nimport ssdtlm\n[getattr(ssdtlm, name) for name in ssdtlm.__all__]\nassert signal.getsignal(signal.SIGINT) is before\n"
        program = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=50, env={**os.environ, "PYTHONPATH": str(SOURCE / "python")})
        self.assertEqual((program.returncode, program.stderr), (OK, ""))


if __name__ == "__main__":
    unittest.main()
