# SPDX-License-Identifier: Apache-2.0
"""Commands of up to 32 MiB: as many as there are requests, with all of their data; larger requests and smaller limits are split."""
import unittest

from support import SystemTest

MIB = 1 << 20
# Room for one request of 32 MiB and another place for it.
LARGE = ("nand.geometry.ways=2", "nand.geometry.planes_per_die=2", "ftl.user_capacity=48MiB", "gc.soft_free_blocks=6", "run.data=bytes",
         "nvme.lba_size=512B", "precondition.state=sequential")


class LargeTransfers(SystemTest):
    def commands(self, job, most):
        settings = [word for setting in (*LARGE, f"nvme.max_transfer={most}") for word in ("--set", setting)]
        result = self.assert_right(self.simulate("tiny-test", job, *settings, output=f"out-{most}"))
        self.assertEqual(result["error_status"], 0)
        return result

    def test_one_command(self):
        # A write and a read of 32 MiB: 65,536 blocks of 512 bytes each, the most that NVMe's 16-bit count can say.
        job = self.job("large", "rw=rw", "rwmixread=50", "bs=32m", "size=32m", "io_size=256m", "iodepth=1", "number_ios=8")
        whole = self.commands(job, "32MiB")
        ios = whole["read"]["ios"] + whole["write"]["ios"]
        self.assertGreater(whole["read"]["ios"], 0)
        self.assertGreater(whole["write"]["ios"], 0)
        self.assertEqual(whole["integrity_checked_blocks"], whole["read"]["ios"] * 65536)
        self.assertEqual(whole["counters"]["host_commands"], ios)
        self.assertEqual(self.commands(job, "0B")["counters"]["host_commands"], ios)
        for mib in (16, 1):
            split = self.commands(job, f"{mib}MiB")
            self.assertEqual(split["read"]["ios"] + split["write"]["ios"], ios)
            self.assertEqual(split["counters"]["host_commands"], ios * 32 // mib)

    def test_two_commands(self):
        # The driver's own limit.
        job = self.job("larger", "rw=write", "bs=48m", "size=48m", "number_ios=2")
        result = self.commands(job, "64MiB")
        self.assertEqual(result["counters"]["host_commands"], 2 * result["write"]["ios"])
        self.assertIn("nvme.max_transfer=64MiB acts as 32MiB: the driver sends no larger command", " ".join(result["notes"]))


if __name__ == "__main__":
    unittest.main()
