# SPDX-License-Identifier: Apache-2.0
"""Flash that fails: the run goes on, ends in order, and says what went wrong. What the drive then does: docs/failures.md."""
import unittest

from support import OK, USER_ERROR, SystemTest

ERRORS = ("commands_unrecovered_read", "commands_write_fault", "commands_refused_read_only")


def faults(**shares):
    return [word for key, share in shares.items() for word in ("--set", f"nand.faults.{key}={share}")]


class FailingFlash(SystemTest):
    def mix(self, *lines):
        return self.job("mix", "rw=randrw", "bssplit=512/20:4k/80", "iodepth=16", "number_ios=20000", "norandommap", "io_size=100m", *lines)

    def run_failing(self, *settings, output="out", job=None):
        """The results; the errors are those that the counters explain."""
        result = self.simulate("tiny-test", job or self.mix(), "--set", "run.check_waiters=true", *settings, output=output)
        j = result.json()
        self.assertEqual(j["ended_by"], "workload")
        self.assertEqual(j["error_status"], sum(j["counters_whole_run"][name] for name in ERRORS))
        for line in j["books"]:
            self.assertEqual(line["left"], line["right"], line["line"])
        return result, j

    def test_nothing_fails_by_default(self):
        j = self.assert_right(self.simulate("tiny-test", self.mix()))
        self.assertFalse([name for name in j["counters_whole_run"] if "fail" in name or "lost" in name or "smart" in name])

    def test_retries_take_time_and_nothing_else(self):
        result, j = self.run_failing(*faults(read_retry="10%"), job=self.job("reads", "rw=randread", "bs=4k", "number_ios=3000", "norandommap", "io_size=100m"))
        c = j["counters_whole_run"]
        self.assertEqual(j["error_status"], 0)
        self.assertAlmostEqual(c["flash_read_retries"] / 3000, 0.1, delta=0.03)
        # A retry: array and bus once more, in stage ecc.
        ecc = j["latency_us"]["read"]["ecc"]
        array, channel = (j["latency_us"]["read"][s]["mean"] for s in ("array", "channel"))
        self.assertAlmostEqual(ecc["mean"] * 3000 / c["flash_read_retries"], array + channel, delta=0.2 * (array + channel))

    def test_lost_pages(self):
        result, j = self.run_failing(*faults(page_lost="1%"))
        c = j["counters_whole_run"]
        self.assertGreater(c["commands_unrecovered_read"], 0)
        self.assertEqual(c["smart_media_errors"], c["commands_unrecovered_read"])
        self.assertEqual(c["smart_critical_warning"], 0)
        self.assertGreater(c["units_lost"], 0)
        self.assertGreater(j["integrity_checked_blocks"], 0)
        fio = result.json("fio.json")["jobs"][0]
        self.assertEqual(fio["error"], 5)  # EIO

    def test_parity_over_the_dies(self):
        """Four dies, of which one has the parity: a page is lost where one of three others is lost as well, and full rows cost a quarter of the programs."""
        drive = ["--set", "ftl.superblock=drive", "--set", "nand.geometry.channels=4", "--set", "ftl.user_capacity=10MiB"]
        lost = {}
        for parity in ("none", "die"):
            _, j = self.run_failing(*faults(page_lost="0.5%"), *drive, "--set", f"ftl.parity={parity}", output=parity)
            lost[parity] = j["counters_whole_run"]["units_lost"]
        c, ftl = j["counters_whole_run"], j["ftl"]
        self.assertGreater(c["parity_pages_rebuilt"], 50)
        self.assertGreaterEqual(c["parity_pages_read"], 3 * c["parity_pages_rebuilt"])
        self.assertLess(c["parity_pages_not_rebuilt"], 0.1 * c["parity_pages_rebuilt"])
        self.assertLess(lost["die"], 0.1 * lost["none"])
        rows = (ftl["host_pages"] + ftl["gc_pages"] + ftl["journal_pages"]) / 3
        self.assertAlmostEqual(ftl["parity_pages"], rows, delta=4)

    def test_parity_costs_a_die(self):
        """Sequential writes that the programs limit: three of four dies are left for them."""
        writes = self.job("writes", "rw=write", "bs=128k", "iodepth=8", "size=8m", "io_size=64m")
        drive = ["--set", "ftl.superblock=drive", "--set", "nand.geometry.channels=4", "--set", "ftl.user_capacity=8MiB", "--set", "precondition.state=fresh"]
        bytes_per_s = {}
        for parity in ("none", "die"):
            j = self.assert_right(self.simulate("tiny-test", writes, *drive, "--set", f"ftl.parity={parity}", output=parity))
            bytes_per_s[parity] = j["write"]["MB_per_s"]
        self.assertAlmostEqual(bytes_per_s["die"] / bytes_per_s["none"], 3 / 4, delta=0.02)

    def test_parity_where_it_is_not_made_for(self):
        done = self.ssdtlm("run", "tiny-test", "-o", "out", "--rw=write", "--bs=4k", "--number_ios=1", "--set", "ftl.parity=die")
        self.assertEqual(done.returncode, USER_ERROR, done.stderr)
        self.assertIn('ftl.superblock: "die" with ftl.parity = "die"', done.stderr)

    def test_blocks_that_fail(self):
        _, j = self.run_failing(*faults(program_fail="0.01%", erase_fail="0.1%"), "--set", "ftl.spare_blocks=6", "--set", "ftl.user_capacity=10MiB")
        c = j["counters_whole_run"]
        self.assertGreater(c["flash_program_failures"] + c["flash_erase_failures"], 0)
        self.assertLessEqual(c["flash_blocks_retired"], c["flash_program_failures"] + c["flash_erase_failures"])
        self.assertEqual(j["error_status"], 0)
        self.assertLess(c["smart_available_spare_percent"], 100)

    def test_blocks_that_were_bad_from_the_factory(self):
        bad = [*faults(factory_bad="2%"), "--set", "ftl.spare_blocks=6", "--set", "ftl.user_capacity=8MiB"]
        for state in ("fresh", "sequential", "random", "analytic"):
            writes = self.job("writes", "rw=randwrite", "bs=4k", "number_ios=20000", "norandommap", "io_size=80m", "size=8m")
            j = self.assert_right(self.simulate("tiny-test", writes, *bad, "--set", f"precondition.state={state}", output=state))
            marked = j["counters_whole_run"]["flash_blocks_bad_at_factory"]
            self.assertGreater(marked, 0)
            self.assertEqual(sum(entry["blocks"] for entry in j["wear"]["blocks_by_erases"]), 128 - marked)
            self.assertGreater(j["wear"]["erases_mean"][0], 1)

    def test_more_of_them_than_spare_ones(self):
        done = self.ssdtlm("run", "tiny-test", "-o", "out", "--rw=write", "--bs=4k", "--number_ios=1", *faults(factory_bad="5%"))
        self.assertEqual(done.returncode, USER_ERROR, done.stderr)
        self.assertRegex(done.stderr, r"ftl\.spare_blocks: 0 with nand\.faults\.factory_bad = 5%, which gives the planes of a die up to \d superblocks with a bad block; \d or more")

    def test_read_only(self):
        _, j = self.run_failing(*faults(program_fail="1%"))
        c = j["counters_whole_run"]
        self.assertGreater(c["commands_refused_read_only"], 1000)
        self.assertEqual((c["smart_available_spare_percent"], c["smart_critical_warning"]), (0, 9))

    def test_blocks_that_wear_out(self):
        """A block is erased pe_limit times and no more. Then it leaves, a spare one takes its place, and after the last of them the drive is read-only."""
        limit, spare, blocks = 5, 2, 64
        writes = self.job("writes", "rw=randwrite", "bs=4k", "iodepth=8", "number_ios=60000", "norandommap", "io_size=1g", "size=8m")
        drive = ["--set", "ftl.user_capacity=8MiB", "--set", "precondition.state=fresh", "--set", f"ftl.spare_blocks={spare}"]
        j = self.assert_right(self.simulate("tiny-test", writes, *drive, output="unworn"))
        self.assertGreater(min(j["wear"]["erases_mean"]), 2 * limit)
        _, j = self.run_failing(*drive, *faults(pe_limit=limit), output="worn", job=writes)
        c, wear = j["counters_whole_run"], j["wear"]
        # Every erase that ended well is counted at its block; each that failed took a block away.
        self.assertEqual(wear["erases_max"], [limit, limit])
        self.assertEqual(sum(e["erases"] * e["blocks"] for e in wear["blocks_by_erases"]) + c["flash_erase_failures"], j["ftl"]["blocks_erased"])
        self.assertEqual(c["flash_blocks_retired"], c["flash_erase_failures"])
        # The die that lost one more than it has spare ones ends it.
        self.assertTrue(spare < c["flash_blocks_retired"] <= 2 * spare + 1, c)
        self.assertEqual((c["smart_available_spare_percent"], c["smart_critical_warning"]), (0, 9))
        self.assertGreater(c["commands_refused_read_only"], 1000)
        self.assertEqual(c["smart_percentage_used"], int(100 * sum(wear["erases_mean"]) / (2 * limit)))
        # Until then as many pages as all blocks bear, and no more: those of the last erases included.
        self.assertLessEqual(j["ftl"]["host_pages"] + j["ftl"]["gc_pages"], (limit + 1) * 2 * blocks * 32)

    def test_the_seed_decides(self):
        everything = faults(program_fail="0.1%", erase_fail="0.1%", read_retry="1%", page_lost="0.1%") + ["--set", "ftl.spare_blocks=6"]
        first, j = self.run_failing(*everything, output="first")
        again, _ = self.run_failing(*everything, output="again")
        self.assertEqual(first.files(), again.files())
        _, other = self.run_failing(*everything, "--set", "run.seed=2", output="other")
        self.assertNotEqual(j["counters_whole_run"], other["counters_whole_run"])

    def test_shares_are_checked(self):
        done = self.ssdtlm("config", "check", "tiny-test", *faults(program_fail="101%"))
        self.assertEqual(done.returncode, USER_ERROR)
        self.assertIn("nand.faults.program_fail", done.stderr)
        self.assertIn("0%..100%", done.stderr)
        # Spare blocks leave less for data.
        self.assertEqual(self.ssdtlm("config", "check", "tiny-test", "--set", "ftl.spare_blocks=5").returncode, OK)
        done = self.ssdtlm("config", "check", "tiny-test", "--set", "ftl.spare_blocks=30")
        self.assertEqual(done.returncode, USER_ERROR)
        self.assertIn("ftl.spare_blocks", done.stderr)


if __name__ == "__main__":
    unittest.main()
