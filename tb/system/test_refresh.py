# SPDX-License-Identifier: Apache-2.0
"""A drive that is only read moves what has been read too often, whatever the pace of its collection."""
import unittest

from support import SystemTest

READS, MOST, PAGES = 80000, 500, 32  # of a block


class Refresh(SystemTest):
    def test_reads_alone_refresh_blocks_at_any_pace(self):
        moved = set()
        for pace in ("full", "yield", "tokens"):
            with self.subTest(pace=pace):
                job = self.job("read.fio", "ioengine=libaio", "rw=randread", "norandommap=1", "bs=4k", "iodepth=4", f"number_ios={READS}", "io_size=1g")
                result = self.simulate("tiny-test", job, "--set", f"refresh.reads={MOST}", "--set", f"gc.pace={pace}", "--set", "run.gc_log=true", output=pace)
                ftl, counters = result.json()["ftl"], result.json()["counters"]
                chosen = [row for row in result.rows("gc.csv") if row["event"] == "chosen"]
                print(f"{pace}: {counters['flash_host_page_reads']} pages read, {ftl['refresh_blocks_collected']} blocks refreshed")
                self.assertEqual(counters["flash_host_page_reads"], READS)
                # 96 blocks are in use: each is read some 833 times, give or take 29, so that it is moved at least once.
                blocks = ftl["refresh_blocks_collected"]
                self.assertGreaterEqual(blocks, 96)
                self.assertLessEqual(blocks, READS // MOST)
                self.assertEqual(ftl["refresh_units_collected"], blocks * PAGES)
                # At the end of the run one may be under way on each plane.
                self.assertIn(blocks - ftl["blocks_erased"], (0, 1, 2))
                self.assertEqual({row["reason"] for row in chosen}, {"refresh"})
                moved.add(blocks)
        self.assertEqual(len(moved), 1, "what has been read too often is not paced")


if __name__ == "__main__":
    unittest.main()
