# SPDX-License-Identifier: Apache-2.0
"""A drive that is only read moves what has been read too often, and what is old, whatever the pace of its collection."""
import unittest

from support import USER_ERROR, SystemTest

READS, MOST, PAGES = 80000, 500, 32  # of a block
HELD = 96  # blocks of tiny-test that are in use
CYCLE = 2  # ns, of a core


class Refresh(SystemTest):
    def test_reads_alone_refresh_blocks_at_any_pace(self):
        moved = set()
        for pace in ("full", "yield", "tokens"):
            with self.subTest(pace=pace):
                job = self.job("read.fio", "ioengine=libaio", "rw=randread", "norandommap=1", "bs=4k", "iodepth=4", f"number_ios={READS}", "io_size=1g")
                result = self.simulate("tiny-test", job, "--set", f"refresh.reads={MOST}", "--set", f"gc.pace={pace}", "--set", "run.gc_log=true", output=pace)
                ftl, counters = result.json()["ftl"], result.json()["counters_whole_run"]
                chosen = [row for row in result.rows("gc.csv") if row["event"] == "chosen"]
                print(f"{pace}: {counters['flash_host_page_reads']} pages read, {ftl['refresh_blocks_collected']} blocks refreshed")
                self.assertEqual(counters["flash_host_page_reads"], READS)
                # Each block in use is read some 833 times, give or take 29, so that it is moved at least once.
                blocks = ftl["refresh_blocks_collected"]
                self.assertGreaterEqual(blocks, HELD)
                self.assertLessEqual(blocks, READS // MOST)
                self.assertEqual(ftl["refresh_units_collected"], blocks * PAGES)
                # At the end of the run one may be under way on each plane.
                self.assertIn(blocks - ftl["blocks_erased"], (0, 1, 2))
                self.assertEqual({row["reason"] for row in chosen}, {"refresh"})
                moved.add(blocks)
        self.assertEqual(len(moved), 1, "what has been read too often is not paced")

    def test_a_drive_at_rest_moves_all_of_it_once_an_age(self):
        """Looks come each 0.4 s from the start on; each takes so many cycles of an idle core, finds a tenth of what is held, and the choice follows at once."""
        age, looks = 4_000_000, 10  # us
        job = self.job("rest.fio", "ioengine=libaio", "rw=randread", "bs=4k", "thinktime=37ms", "number_ios=190")
        for cycles in (500, 80_000):
            with self.subTest(cycles=cycles):
                result = self.simulate("tiny-test", job, "--set", "refresh.age=4s", "--set", "refresh.interval=400ms", "--set", f"firmware.refresh_look={cycles}",
                                       "--set", "run.gc_log=true", output=f"rest{cycles}")
                j = self.assert_right(result)
                rows = [row for row in result.rows("gc.csv") if row["event"] == "chosen"]
                self.assertEqual({row["reason"] for row in rows}, {"refresh"})
                chosen = [(float(row["time_us"]), row["group"], row["superblock"]) for row in rows]
                up, end = j["bring_up_s"] * 1e6, chosen[-1][0]
                self.assertGreater(end, 1.5 * age)
                in_look = {}
                for at, group, block in chosen:
                    in_look.setdefault(int((at + up) * looks // age), []).append((at, group, block))
                self.assertEqual(min(in_look), 1)
                for look, found in in_look.items():
                    # The first of each plane at the instant that the core is done.
                    due = look * age / looks + cycles * CYCLE / 1000 - up
                    for group in "01":
                        first = next(at for at, g, _ in found if g == group)
                        self.assertAlmostEqual(first, due, delta=2e-6)  # both are rounded to the picosecond
                    self.assertIn(len(found), (HELD // looks, HELD // looks + 1) if look != max(in_look) else range(HELD // looks + 2))
                once = [block for at, _, block in chosen if at + up < age + age / looks]
                self.assertEqual((len(once), len(set(once))), (HELD, HELD))
                self.assertEqual(j["ftl"]["refresh_units_collected"], j["ftl"]["refresh_blocks_collected"] * PAGES)
                print(f"{cycles} cycles: {j['ftl']['refresh_superblocks_aged']} blocks found in {max(in_look)} looks, each at its time")

    def test_what_cannot_be(self):
        for settings, said in ((("refresh.interval=1s",), r"refresh\.interval.*refresh\.age = 0s"), (("refresh.age=10us",), r"refresh\.interval.*1us to refresh\.age"),
                               (("refresh.age=1s", "refresh.interval=2s"), r"refresh\.interval.*1us to refresh\.age"),
                               (("refresh.age=10s", "refresh.interval=10us"), r"refresh\.interval.*1 / 65536"),
                               (("refresh.age=10s", "ftl.mapping=fast", "ftl.user_capacity=8MiB"), r"refresh\.age.*refreshing would move data blocks")):
            with self.subTest(settings=settings):
                done = self.ssdtlm("run", "tiny-test", "-o", "out", "--rw=read", "--bs=4k", "--number_ios=1", *(w for s in settings for w in ("--set", s)))
                self.assertEqual(done.returncode, USER_ERROR, done.stderr)
                self.assertRegex(done.stderr, said)


if __name__ == "__main__":
    unittest.main()
