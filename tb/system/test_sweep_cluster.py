# SPDX-License-Identifier: Apache-2.0
"""A sweep on workers that are not its own: those of a Dask scheduler, by TCP, and jobs of a Slurm of two nodes, one of which is
cancelled in the middle. SSDTLM_SWEEP_POINTS is the size of the sweeps, SSDTLM_SWEEP_IOS that of a run on Slurm."""
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

import slurm
import sweeps
from support import OK, SystemTest

POINTS = int(os.environ.get("SSDTLM_SWEEP_POINTS", "60"))
SLURM_IOS = int(os.environ.get("SSDTLM_SWEEP_IOS", "120000"))
WORKERS = 2
DASK = sweeps.PYTHON.parent / "dask"


@unittest.skipUnless(sweeps.can_sweep(), "make python")
class Elsewhere(SystemTest):
    def setUp(self):
        super().setUp()
        self.output = self.dir / "out"

    def specification(self, ios, cluster=""):
        self.job("mix", *sweeps.JOB, f"number_ios={ios}")
        self.write("s.toml", 'device = "tiny-test"\nworkload = "mix.fio"\noutput = "out"\n'
                             f"[random]\npoints = {POINTS}\n[random.values]\nnand.t_read = {{ from = \"20us\", to = \"90us\" }}\nhost.submit_time = {{ from = \"0.1us\", to = \"2us\" }}\n{cluster}")

    def check(self, out, repeated):
        self.assertIn(f"{POINTS} done, 0 failed", out)
        records, attempts = sweeps.records(self.output), sweeps.attempts(self.output)
        self.assertEqual((len(records), set(attempts)), (POINTS, set(records)))
        again = [key for key, lines in attempts.items() if sum(line["event"] == "start" for line in lines) > 1]
        self.assertLessEqual(len(again), repeated)
        for key, lines in attempts.items():
            self.assertEqual([line["attempt"] for line in lines if line["event"] == "end"], [records[key]["attempt"]])
        self.assertTrue(sweeps.no_orphans(self.output))
        return len(again), len({(line["host"], line["pid"]) for lines in attempts.values() for line in lines})

    def test_scheduler(self):
        """Workers without a package of ours, one killed: none of them restarts it."""
        self.specification(20_000)
        address = f"tcp://127.0.0.1:{slurm.free_port()}"
        # Their own folder and environment: nothing of ssdtlm is on their path.
        quiet = {"cwd": self.dir, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "env": {"PATH": os.environ["PATH"], "HOME": str(self.dir)}}
        started = [subprocess.Popen([DASK, "scheduler", "--host", address, "--no-dashboard", "--no-jupyter"], **quiet)]
        started += [subprocess.Popen([DASK, "worker", address, "--nthreads", "1", "--no-nanny", "--no-dashboard", "--memory-limit", "0"], **quiet) for _ in range(WORKERS + 1)]
        try:
            driver = sweeps.start(self.dir, "run", "s.toml", "--scheduler", address, "-q")
            sweeps.wait_for(lambda: sweeps.count_ended(self.output) >= POINTS / 2, driver)
            sweeps.kill_a_worker(self.output, driver)
            out, err = driver.communicate(timeout=600)
            self.assertEqual(driver.returncode, OK, out + err)
        finally:
            for process in started:
                process.kill()
                process.wait()
        again, workers = self.check(out, 1)
        print(f"Dask scheduler by TCP: {POINTS} results by {workers} workers, one killed in the middle, {again} started again", file=sys.stderr)

    def test_no_scheduler(self):
        self.specification(20_000)
        driver = sweeps.start(self.dir, "run", "s.toml", "--scheduler", "nowhere:1", "-q")
        _, err = driver.communicate(timeout=120)
        self.assertEqual(driver.returncode, 2)
        self.assertTrue(err.startswith("--scheduler: nowhere:1"), err)

    def refused(self, path):
        self.specification(20_000)
        driver = subprocess.run([sweeps.BINARY, "sweep", "run", "s.toml", "--cluster", "slurm", "-q"], cwd=self.dir, env={**sweeps.ENVIRONMENT, "PATH": str(path)},
                                capture_output=True, text=True, timeout=120)
        self.assertEqual((driver.returncode, driver.stdout), (2, ""), driver.stderr)
        self.assertNotIn("Traceback", driver.stderr)
        self.assertEqual(sweeps.count_ended(self.output), 0)
        return driver.stderr

    def test_no_slurm(self):
        self.assertRegex(self.refused(self.dir), r"^--cluster slurm: sbatch cannot be started: No such file or directory; [^\n]+\n$")

    def test_slurm_that_refuses(self):
        sbatch = self.dir / "sbatch"
        sbatch.write_text("#!/bin/sh\necho 'sbatch: error: invalid partition specified: fast' >&2\nexit 1\n")
        sbatch.chmod(0o755)
        self.assertRegex(self.refused(self.dir), r"^--cluster slurm: Slurm refuses the workers' job: sbatch: error: invalid partition specified: fast; [^\n]+\n$")

    @unittest.skipIf(slurm.missing(), slurm.missing())
    @unittest.skipUnless(os.environ.get("SSDTLM_SWEEP_SLURM"), "nightly")
    def test_slurm(self):
        self.specification(SLURM_IOS, '[cluster]\ninterface = "lo"\nmemory = "1GiB"\nwalltime = "00:30:00"\n')
        # munged wants a folder that none but root and itself can write to, all the way up.
        folder = tempfile.mkdtemp(prefix="ssdtlm-slurm-", dir="/run")
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        os.chmod(folder, 0o755)
        cluster = slurm.Slurm(os.path.join(folder, "slurm"))
        self.addCleanup(cluster.close)
        cluster.start()
        began = time.monotonic()
        driver = subprocess.Popen([sweeps.BINARY, "sweep", "run", "s.toml", "--cluster", "slurm", "--workers", str(WORKERS), "-q"], cwd=self.dir,
                                  env={**sweeps.ENVIRONMENT, "SLURM_CONF": cluster.environment["SLURM_CONF"]}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        sweeps.wait_for(lambda: sweeps.count_ended(self.output) >= POINTS / 2, driver, 600)
        sweeps.wait_for(lambda: sweeps.simulators(self.output), driver)
        jobs = cluster.jobs()
        self.assertEqual(len(jobs), WORKERS)
        cluster.command("scancel", jobs[0])
        out, err = driver.communicate(timeout=1800)
        self.assertEqual(driver.returncode, OK, out + err)
        wall = time.monotonic() - began
        again, workers = self.check(out, 2)
        self.assertGreater(workers, WORKERS, "the cancelled job was replaced")
        sweeps.wait_for(lambda: not cluster.jobs(), None, 60)
        print(f"Slurm of {len(slurm.NODES)} nodes: {POINTS} results in {wall:.1f} s by {workers} workers, job {jobs[0]} cancelled in the middle, {again} started again",
              file=sys.stderr)


if __name__ == "__main__":
    unittest.main()
