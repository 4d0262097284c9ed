# SPDX-License-Identifier: Apache-2.0
"""Sequential reads of 4 KiB are no slower than random ones, on every preset and at each depth; only an MQSim drive is, as MQSim itself.

MQSim has the array read for each request: nothing in it merges reads of a page, or reads ahead. So two neighbours want the same die at the same time. Its released
simulator shows what that costs: of two sequential flows of 4 KiB on 64 dies, the first at depth 8 takes 1.45 times as long as alone when the second has depth 16, and 1.92
times at 32, although the drive could serve more. The preset keeps that; this test looks at it with scheduler.merge_reads as well."""
import unittest

from support import PRESETS, SystemTest

AS_MQSIM = {"mqsim-table3"}
# The same with another flash, or with more of MQSim's mechanisms: one of a kind is enough.
LIKE_IT = {"mqsim-table3-released", "mqsim-drive-a", "mqsim-drive-b", "mqsim-drive-c", "mqsim-drive-d"}
MERGED = ("--set", "scheduler.merge_reads=true")
DEPTHS = (1, 8, 32)
NOISE = 0.005  # of random places


class SequentialReads(SystemTest):
    def thousands(self, preset, rw, depth, *more):
        done = self.simulate(preset, self.job(f"{rw}{depth}", "ioengine=libaio", f"rw={rw}", "bs=4k", f"iodepth={depth}", "number_ios=12000", "size=100%", "io_size=1g", "norandommap=1"),
                             "--set", "run.slowest=0", *more, output=f"{preset}-{rw}-{depth}-{len(more)}")
        return done.json()["read"]["iops"] / 1000

    def test_no_slower_than_random_ones(self):
        self.assertGreaterEqual(len(PRESETS), 6)
        for preset in sorted(set(PRESETS) - LIKE_IT):
            for more in ((), MERGED) if preset in AS_MQSIM else ((),):
                for depth in DEPTHS:
                    with self.subTest(preset=preset, depth=depth, more=more):
                        in_order, random = self.thousands(preset, "read", depth, *more), self.thousands(preset, "randread", depth, *more)
                        print(f"{preset}{' with merged reads' if more else ''}, depth {depth}: {in_order:.1f} kIOPS in sequence, {random:.1f} at random")
                        if preset in AS_MQSIM and not more:
                            # One at a time there is nothing to collide with.
                            self.assertLess(in_order, random * (1 + NOISE))
                        else:
                            self.assertGreater(in_order, random * (1 - NOISE))


if __name__ == "__main__":
    unittest.main()
