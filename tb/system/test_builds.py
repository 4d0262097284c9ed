# SPDX-License-Identifier: Apache-2.0
"""Optimisation and compiler change no byte of a result."""
import os
import subprocess
import unittest

from support import SOURCE, SystemTest


class Builds(SystemTest):
    def built(self, *settings):
        tree = self.dir / "build"
        for command in (
            ["cmake", "-S", SOURCE, "-B", tree, "-G", "Ninja", "-DSSDTLM_BUILD_TESTS=OFF", *settings],
            ["cmake", "--build", tree, "--target", "ssdtlm_app", "-j", str(os.cpu_count())],
        ):
            done = subprocess.run(command, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout[-4000:] + done.stderr[-4000:])
        return tree / "ssdtlm"

    def assert_same_results(self, binary):
        text = ["rw=randrw", "bssplit=4k/60:8k/30:16k/10", "iodepth=16", "rate_iops=15k,15k", "rate_process=poisson",
                "random_distribution=zipf:1.1", "norandommap", "io_size=300m", "write_lat_log=lat", "log_avg_msec=10"]
        job = self.job("mix", *text, "number_ios=20k")
        for device in ("tiny-test", "femu-4g", "wd-sn730-512g"):
            args = (device, job, "--set", "precondition.state=" + ("sequential" if device.startswith("wd") else "random"))
            a = self.simulate(*args, output=f"{device}-a").files()
            b = self.simulate(*args, output=f"{device}-b", binary=str(binary)).files()
            self.assertEqual(sorted(a), sorted(b))
            for name in a:
                self.assertEqual(a[name], b[name], f"{device}: {name}")

    def test_debug(self):
        self.assert_same_results(self.built("-DCMAKE_BUILD_TYPE=Debug"))

    def test_clang(self):
        self.assert_same_results(self.built("-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_CXX_COMPILER=clang++"))


if __name__ == "__main__":
    unittest.main()
