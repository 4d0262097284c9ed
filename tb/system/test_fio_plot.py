# SPDX-License-Identifier: Apache-2.0
"""fio-plot, as PyPI has it, draws charts of our output."""
import os
import struct
import subprocess
import sys
import unittest

from support import SystemTest

VERSION = "1.1.21"
DEPTHS = (1, 4, 16)


class FioPlot(SystemTest):
    def setUp(self):
        super().setUp()
        self.venv = self.dir / "venv"
        self.tool([sys.executable, "-m", "venv", self.venv])
        self.tool([self.venv / "bin" / "pip", "install", "-q", "--disable-pip-version-check", f"fio-plot=={VERSION}"])

    def tool(self, command):
        done = subprocess.run(
            [str(c) for c in command], cwd=self.dir, capture_output=True, text=True, env={**os.environ, "MPLBACKEND": "Agg"}
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def chart(self, directory, *args):
        """One new PNG of a size at which something is drawn."""
        before = set(self.dir.glob("*.png"))
        self.tool([self.venv / "bin" / "fio-plot", "-i", directory, "--source", "ssdtlm", "-T", "randread", *args])
        new = set(self.dir.glob("*.png")) - before
        self.assertEqual(len(new), 1)
        image = new.pop().read_bytes()
        self.assertEqual(image[:8], b"\x89PNG\r\n\x1a\n")
        width, height = struct.unpack(">II", image[16:24])
        self.assertGreater(width * height, 100000)
        self.assertGreater(len(image), 10000)

    def test_charts(self):
        sweep = self.dir / "sweep"
        sweep.mkdir()
        for depth in DEPTHS:
            name = f"randread-iodepth-{depth}-numjobs-1"
            job = self.job(f"qd{depth}", "rw=randread", "bs=4k", f"iodepth={depth}", "numjobs=1", "number_ios=20k",
                           f"write_iops_log={name}", f"write_lat_log={name}", f"write_bw_log={name}", "log_avg_msec=10")
            result = self.simulate("hexa-16g", job, output=f"out{depth}")
            (sweep / f"{name}.json").write_bytes((result.path / "fio.json").read_bytes())
            for log in result.path.glob("*.log"):
                (sweep / log.name).write_bytes(log.read_bytes())
        depths = [str(d) for d in DEPTHS]
        self.chart(sweep, "-l", "-r", "randread", "-d", *depths, "-n", "1")
        self.chart(sweep, "-L", "-r", "randread", "-t", "iops", "-d", *depths, "-n", "1")
        self.chart(sweep, "-H", "-r", "randread", "-d", "16", "-n", "1")
        self.chart(sweep, "-g", "-r", "randread", "-t", "iops", "-d", "16", "-n", "1")


if __name__ == "__main__":
    unittest.main()
