# SPDX-License-Identifier: Apache-2.0
"""Every device that comes with the program works, and the small ones collect garbage."""
import json
import unittest

from support import OK, PRESETS, SETTINGS, USER_ERROR, SystemTest

# More dies on a channel than the Verilated scheduler has queues for, as it is built by default.
TOO_MANY_FOR_RTL = {"intel-750-400"}


class Presets(SystemTest):
    def test_listed(self):
        done = self.ssdtlm("config", "presets", "--json")
        self.assertEqual((done.returncode, done.stderr), (OK, ""))
        self.assertEqual(sorted(p["name"] for p in json.loads(done.stdout)), PRESETS)

    def test_checked(self):
        for name in PRESETS:
            done = self.ssdtlm("config", "check", name)
            self.assertEqual((done.returncode, done.stderr), (OK, ""), name)

    def test_mixed_load(self):
        job = self.job("mix", "rw=randrw", "bs=4k", "iodepth=32", "norandommap", "io_size=100m", "number_ios=20000")
        for name in PRESETS:
            with self.subTest(name):
                if name in TOO_MANY_FOR_RTL and "scheduler.implementation=rtl" in SETTINGS:
                    done = self.ssdtlm("run", name, "-w", job, "-o", name)
                    self.assertEqual(done.returncode, USER_ERROR)
                    self.assertIn("too many for the Verilated transaction_scheduler", done.stderr)
                    continue
                j = self.assert_right(self.simulate(name, job, output=name))
                self.assertEqual((j["device"], j["commands"]), (name, 20000))
                self.assertEqual(j["read"]["ios"] + j["write"]["ios"], 20000)
                self.assertGreater(j["read"]["ios"], 9000)
                self.assertGreater(j["write"]["ios"], 9000)
                self.assertGreaterEqual(j["integrity_checked_blocks"], j["read"]["bytes"] // 512)

    def collected(self, preset, count, *settings):
        job = self.job("over", "rw=randrw", "rwmixread=20", "bs=8k", "iodepth=64", "norandommap", f"number_ios={count}")
        sets = [w for s in ("precondition.state=random", *settings) for w in ("--set", s)]
        result = self.simulate(preset, job, *sets)
        j = self.assert_right(result)
        ftl = j["ftl"]
        self.assertGreater(ftl["blocks_erased"], 100)
        self.assertGreater(ftl["gc_units_moved"], 0)
        self.assertGreater(ftl["waf"], 1.1)
        self.assertEqual(ftl["flash_units"], (ftl["host_pages_allocated"] + ftl["gc_pages"]) * ftl["units_per_page"])
        self.assertAlmostEqual(ftl["unit_write_amplification"], ftl["flash_units"] / ftl["host_units"], places=6)
        self.assertGreaterEqual(j["integrity_checked_blocks"], j["read"]["bytes"] // 512)
        rows = result.rows("timeseries.csv")
        self.assertEqual(sum(int(r["erased_blocks"]) for r in rows), ftl["blocks_erased"])
        self.assertEqual(sum(int(r["moved_pages"]) for r in rows), ftl["gc_pages"])

    def test_collection_femu(self):
        self.collected("femu-4g", 100000)

    def test_collection_hexa(self):
        self.collected("hexa-16g", 250000, "buffer.size=64MiB")

    def test_shutdown_of_a_full_buffer(self):
        # 1 GiB of buffered writes take seconds to reach the flash while collection runs: the host has to wait.
        job = self.job("fill", "rw=randwrite", "bs=64k", "iodepth=16", "io_size=1g")
        j = self.assert_right(self.simulate("hexa-16g", job, "--set", "precondition.state=random"))
        self.assertEqual(j["write"]["bytes"], 1 << 30)


if __name__ == "__main__":
    unittest.main()
