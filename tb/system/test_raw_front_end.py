# SPDX-License-Identifier: Apache-2.0
"""The front end "raw" as users run it: a read takes what the drive takes, without the stages of NVMe and the link; a million commands whose bytes are
compared; losses of power; a sweep over front ends; what raw cannot do is refused."""
import json
import unittest

import sweeps
from support import OK, USER_ERROR, SystemTest

RAW = ("--set", "frontend.kind=raw")
# What a command does in the drive; the other stages are those of the host, NVMe and the link.
OF_THE_DRIVE = ("firmware_wait", "firmware", "mapping", "buffer", "scheduler", "channel_wait", "channel", "array", "ecc")
MIX = """[global]
ioengine=libaio
[small]
rw=randrw
bs=4k
iodepth=16
{small}
[large]
rw=randwrite
bs=16k
iodepth=8
fsync=500
{large}
"""


class RawFrontEnd(SystemTest):
    def mean_us(self, result, op):
        return {row["stage"]: float(row["mean_us"]) for row in result.rows("latency.csv") if row["op"] == op}

    def test_a_read_takes_what_the_drive_takes(self):
        """One at a time: firmware, array and bus are those of NVMe, and there is nothing beside them."""
        job = self.job("one", "rw=randread", "bs=4k", "iodepth=1", "number_ios=500")
        nvme = self.mean_us(self.simulate("mqsim-table3", job, output="nvme"), "read")
        raw = self.mean_us(self.simulate("mqsim-table3", job, *RAW, output="raw"), "read")
        drive = sum(nvme.get(stage, 0) for stage in OF_THE_DRIVE)
        print(f"[   FIGURE ] a read of 4 KiB: {raw['total']:.6f} us; of NVMe's {nvme['total']:.6f} us {drive:.6f} us are the drive's")
        self.assertAlmostEqual(raw["total"], drive, delta=2e-6)
        self.assertLess(raw["total"], nvme["total"])
        self.assertEqual(set(raw) - set(OF_THE_DRIVE), {"total"})

    def test_a_million_commands(self):
        """All bytes are compared and the stages of each command add up: the program checks both, and ends with 1 otherwise."""
        job = self.write("mix.fio", MIX.format(small="number_ios=900000\nsize=6m\nio_size=100g", large="number_ios=100000\noffset=6m\nsize=6m\nio_size=100g"))
        j = self.assert_right(self.simulate("tiny-test", job, *RAW, "--set", "run.data=bytes", "--set", "nand.t_program=50us", "--set", "nand.t_read=20us"))
        print(f"[   FIGURE ] {j['commands_including_ramp']} commands, {j['integrity_checked_blocks']} logical blocks compared")
        self.assertGreaterEqual(j["commands_including_ramp"], 1_000_000)
        self.assertGreater(j["integrity_checked_blocks"], 1_000_000)

    def test_losses_of_power(self):
        job = self.write("mix.fio", MIX.format(small="number_ios=20000\nsize=6m\nio_size=1g", large="number_ios=3000\noffset=6m\nsize=6m\nio_size=1g"))
        cuts = [f"{at}ms" for at in range(50, 1000, 100)]
        for mode, shutdown in (("write_back", "false"), ("write_back", "true"), ("protected", "false"), ("write_through", "false")):
            with self.subTest(mode=mode, shutdown=shutdown):
                result = self.simulate("tiny-test", job, *RAW, "--set", f"host.power_cut_at={json.dumps(cuts)}", "--set", "host.power_off_time=10ms", "--set", "run.data=bytes",
                                       "--set", f"buffer.mode={mode}", "--set", f"host.power_cut_shutdown={shutdown}", output=mode + shutdown)
                j = self.assert_right(result)
                self.assertEqual(len(j["power_cuts"]), len(cuts))
                torn = sum(cut["pages_torn"] for cut in j["power_cuts"])
                self.assertTrue(torn != 0 or mode == "protected" or shutdown == "true", "no loss of power met a program")
                self.assertEqual([cut["after_shutdown"] for cut in j["power_cuts"]], [shutdown == "true"] * len(cuts))

    @unittest.skipUnless(sweeps.can_sweep(), "the Python packages of sweeps are missing")
    def test_a_sweep_over_front_ends(self):
        self.job("job", "rw=randread", "bs=4k", "iodepth=4", "number_ios=300")
        self.write("sweep.toml", 'device = "tiny-test"\nworkload = "job.fio"\n[grid]\nfrontend.kind = ["nvme", "raw"]\n')
        program = sweeps.start(self.dir, "run", "sweep.toml", "-o", "out")
        _, err = program.communicate(timeout=300)
        self.assertEqual(program.returncode, OK, err)
        self.assertEqual(len(sweeps.records(self.dir / "out")), 2)

    def test_its_own_limit_is_named(self):
        """One command in the drive at a time limits; the parameter that says so is named, and twice as many bring more."""
        job = self.job("job", "rw=randread", "bs=4k", "iodepth=32", "number_ios=3000")
        one = self.simulate("tiny-test", job, *RAW, "--set", "frontend.raw.commands=1", output="one").json()
        self.assertEqual(one["limit"]["parameters"], ["frontend.raw.commands"])
        two = self.simulate("tiny-test", job, *RAW, "--set", "frontend.raw.commands=2", output="two").json()
        self.assertGreater(two["read"]["iops"], 1.02 * one["read"]["iops"])

    def test_what_raw_cannot_do(self):
        job = self.job("job", "rw=randread", "bs=4k", "number_ios=10")
        done = self.ssdtlm("run", "tiny-test", "-w", job, *RAW, "--set", 'host.reset_at=["1ms"]')
        self.assertEqual(done.returncode, USER_ERROR)
        self.assertIn('host.reset_at: resets with frontend.kind = "raw"; no resets', done.stderr)
        done = self.ssdtlm("run", "tiny-test", "-w", job, *RAW, "--set", "link.lanes=2", "-o", "out")
        self.assertEqual(done.returncode, OK)
        self.assertIn('link.lanes=2 has no effect: frontend.kind = "raw" has neither a link nor queues of NVMe', done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
