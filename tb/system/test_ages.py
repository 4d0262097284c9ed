# SPDX-License-Identifier: Apache-2.0
"""Times beyond 106 days, where picoseconds in 64 bits end: ages of data, and pauses of traces."""
import unittest

from support import USER_ERROR, SystemTest

DAY = 86_400
MICROSECONDS = ("--trace-columns", "time:us,op,offset,size")


class Ages(SystemTest):
    def trace(self, name, days):
        """A write and a read of the same 4 KiB at each of these days."""
        rows = [f"{int(day * DAY * 1_000_000) + i * 1000},{op},{4096 * n},4096" for n, day in enumerate(days) for i, op in enumerate("WR")]
        return self.write(name, "\n".join(rows) + "\n")

    def test_data_that_grow_old_in_a_pause_are_moved(self):
        # Held at the start: written at an even rate in the last 30 days, so all of it is due within 40.
        job = self.trace("pause.csv", (0, 40))
        drive = ("--set", "precondition.fill=60%", "--set", "refresh.interval=2d")
        j = self.simulate("tiny-test", job, *MICROSECONDS, *drive, "--set", "refresh.age=30d", output="old").json()
        self.assertAlmostEqual(j["simulated_s"], 40 * DAY, delta=1)
        held = 12 * 1024 // 4 * 60 // 100 // 32  # full blocks of 32 pages of 4 KiB
        self.assertGreaterEqual(j["ftl"]["refresh_superblocks_aged"], held - 2)
        for age, interval in (("2y", "1y"), ("100y", "0s")):
            j = self.simulate("tiny-test", job, *MICROSECONDS, "--set", "precondition.fill=60%", "--set", f"refresh.age={age}", "--set", f"refresh.interval={interval}", output=age).json()
            self.assertEqual(j["ftl"].get("refresh_superblocks_aged", 0), 0, age)

    def test_pauses_of_years_are_made_shorter_and_a_note_says_so(self):
        job = self.trace("years.csv", (0, 10, 400, 1200))
        j = self.simulate("tiny-test", job, *MICROSECONDS, output="fits").json()
        self.assertAlmostEqual(j["simulated_s"], 100 * DAY, delta=1)
        note = next(n for n in j["notes"] if "pauses" in n)
        # 10 days stay; the two others share what is left of the 100.
        self.assertRegex(note, r"^2 pauses of up to [\d.]+\w+ last [\d.]+\w+ each, .* because a replay lasts 100d at most .*earliest time is in line 1, the latest in line 8$")
        j = self.simulate("tiny-test", job, *MICROSECONDS, "--replay-gap", "2h", output="asked").json()
        self.assertAlmostEqual(j["simulated_s"], 3 * 7200, delta=1)
        self.assertTrue(any(n.startswith("3 pauses of up to") and n.endswith("are left out") for n in j["notes"]), j["notes"])
        self.assertEqual(j["integrity"]["blocks_checked"] if "integrity" in j else 32, 32)

    def test_what_is_no_age_is_refused(self):
        job = self.trace("one.csv", (0,))
        for option, said in (("0s", "above 0"), ("5", "has no unit"), ("300y", "too large"), ("1ps", "unknown unit")):
            done = self.ssdtlm("run", "tiny-test", "-w", job, *MICROSECONDS, "--replay-gap", option, "-o", "out")
            self.assertEqual(done.returncode, USER_ERROR, option)
            self.assertIn(said, done.stderr)
        done = self.ssdtlm("config", "check", "tiny-test", "--set", "refresh.age=101y")
        self.assertEqual(done.returncode, USER_ERROR)
        self.assertIn("100y", done.stderr)


if __name__ == "__main__":
    unittest.main()
