# SPDX-License-Identifier: Apache-2.0
"""A run that is ended early on request is an ordinary run, and says what ended it."""
import json
import unittest

from support import OK, USER_ERROR, SystemTest

MIX = ("rw=randrw", "bs=4k", "iodepth=16", "norandommap", "io_size=1g")


class StopAfter(SystemTest):
    def test_commands(self):
        job = self.job("mix", *MIX, "number_ios=100000")
        for count, commands in (("1", 1), ("777", 777), ("10k", 10_000), ("4Ki", 4096)):
            result = self.simulate("tiny-test", job, "--stop-after-commands", count)
            j = self.assert_right(result)
            self.assertEqual((j["commands"], j["ended_by"], j["interrupted"]), (commands, f"--stop-after-commands {count}", False))
        # As if the job itself had been that long.
        cut = self.simulate("tiny-test", job, "--stop-after-commands", "5k", output="cut").files()
        self.job("mix", *MIX, "number_ios=5000")
        whole = self.simulate("tiny-test", job, output="whole").files()
        for name in ("latency.csv", "timeseries.csv"):
            self.assertEqual(cut[name], whole[name], name)

    def test_time(self):
        job = self.job("mix", *MIX, "number_ios=100000")
        for time, seconds in (("200ms", 0.2), ("1s", 1.0)):
            result = self.simulate("tiny-test", job, "--stop-after-time", time)
            j = self.assert_right(result)
            self.assertEqual(j["ended_by"], f"--stop-after-time {time}")
            # What was submitted by then completes.
            self.assertTrue(seconds <= j["simulated_s"] < seconds + 0.2, j["simulated_s"])
            self.assertLess(j["commands"], 100_000)
        # An idle gap is not waited for.
        job = self.job("think", "rw=read", "bs=4k", "thinktime=3600s", "number_ios=100")
        j = self.simulate("tiny-test", job, "--stop-after-time", "2s").json()
        self.assertEqual((j["commands"], j["simulated_s"]), (1, 2.0))

    def test_files_are_laid_out_before(self):
        # Laying out 6 MiB takes 48 commands of 128 KiB at least, and longer than the limit.
        job = self.job("files", "rw=randread", "bs=4k", "directory=/mnt", "size=2m", "numjobs=3", "io_size=1g", "norandommap")
        for more in ((), ("--set", "files.system=ext4")):
            with self.subTest(more=more):
                j = self.simulate("tiny-test", job, *more, "--stop-after-commands", "50").json()
                self.assertEqual(j["ended_by"], "--stop-after-commands 50")
                self.assertEqual(j["commands"], 50) if not more else self.assertGreaterEqual(j["commands"], 50)
                j = self.simulate("tiny-test", job, *more, "--stop-after-time", "20ms").json()
                self.assertEqual(j["ended_by"], "--stop-after-time 20ms")
                self.assertGreater(j["commands"], 50)
                self.assertGreater(j["simulated_s"], 0.04)

    def test_what_ends_before_is_the_same_run(self):
        job = self.job("mix", *MIX, "number_ios=2000")
        plain = self.simulate("tiny-test", job, output="plain").files()
        for limits in (["--stop-after-commands", "2000"], ["--stop-after-commands", "1M", "--stop-after-time", "1000s"]):
            files = self.simulate("tiny-test", job, *limits).files()
            result = json.loads(files["result.json"])
            # But for a note on each limit that never came.
            own, flags = result["notes"][-len(limits) // 2:], limits[::2]
            self.assertEqual([[flag in note for note in own].count(True) for flag in flags], [1] * len(flags), result["notes"])
            result["notes"] = result["notes"][:-len(limits) // 2]
            files["result.json"] = plain["result.json"] if result == json.loads(plain["result.json"]) else files["result.json"]
            self.assertEqual(files, plain)

    def test_said_in_the_summary(self):
        job = self.job("mix", *MIX, "number_ios=2000")
        done = self.ssdtlm("run", "tiny-test", "-w", job, "-o", "out", "--stop-after-commands", "1k", "--stop-after-time", "100s")
        self.assertEqual(done.returncode, OK)
        self.assertRegex(done.stdout, r"^mix\.fio on tiny-test, seed 1: 1000 commands .* \(ended by --stop-after-commands 1k\)\n")

    def test_mistakes(self):
        job = self.job("mix", *MIX)
        done = self.ssdtlm("run", "tiny-test", "-w", job, "-o", "out", "--stop-after-commands", "ten", "--stop-after-time", "5")
        self.assertEqual((done.returncode, done.stdout), (USER_ERROR, ""))
        lines = done.stderr.splitlines()
        self.assertEqual(len(lines), 2, done.stderr)
        self.assertRegex(lines[0], r"--stop-after-time '5': .*unit; a time \(.*\) above 0")
        self.assertRegex(lines[1], r"--stop-after-commands 'ten' is no count; a whole number")


if __name__ == "__main__":
    unittest.main()
