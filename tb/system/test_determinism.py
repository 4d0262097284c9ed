# SPDX-License-Identifier: Apache-2.0
"""Equal input, equal bytes: in every file of the result directory but the wall clock's."""
import unittest

from support import JOBS, SystemTest

# Random choices of every kind: sizes, places, directions, arrival times, and collection.
MIX = ("rw=randrw", "bssplit=4k/60:8k/30:16k/10", "iodepth=8", "rate_iops=20k,20k", "rate_process=poisson",
       "random_distribution=zipf:1.1", "norandommap", "io_size=200m", "number_ios=12k", "write_lat_log=lat", "log_avg_msec=10")


def without(key, files):
    """The configuration's echo says how it ran; nothing else may."""
    out = dict(files)
    lines = files["result.json"].decode().split("\\n")  # config_toml is one JSON string
    out["result.json"] = [line for line in lines if not line.startswith(f"{key} = ")]
    assert len(out["result.json"]) == len(lines) - 1
    return out


class Determinism(SystemTest):
    def setUp(self):
        super().setUp()
        self.mix = self.job("mix", *MIX)

    def tiny(self, *args, output):
        return self.simulate("tiny-test", self.mix, "--set", "precondition.state=random", *args, output=output)

    def assert_equal_files(self, a, b):
        self.assertEqual(sorted(a), sorted(b))
        for name in a:
            self.assertEqual(a[name], b[name], name)

    def test_same_seed(self):
        first = self.tiny("--seed", 7, output="a")
        self.assertGreater(self.assert_right(first)["ftl"]["blocks_erased"], 0)
        self.assertGreater(len(first.files()), 4)
        self.assert_equal_files(first.files(), self.tiny("--seed", 7, output="b").files())

    def test_seed_as_parameter(self):
        # Only the place that config_toml names for the seed may differ.
        a = self.tiny("--seed", 7, output="a").json()
        b = self.tiny("--set", "run.seed=7", output="b").json()
        a.pop("config_toml"), b.pop("config_toml")
        self.assertEqual(a, b)

    def test_other_seed(self):
        a = self.tiny("--seed", 7, output="a").json()
        b = self.tiny("--seed", 8, output="b").json()
        self.assertNotEqual(a["latency_us"], b["latency_us"])
        self.assertNotEqual(a["simulated_s"], b["simulated_s"])

    def test_lockstep(self):
        for device, job in (("tiny-test", self.mix), ("hexa-16g", self.job("deep", "rw=randrw", "bs=4k", "iodepth=64",
                                                                           "number_ios=20k"))):
            run = [
                without("agenda", self.simulate(device, job, "--set", f"run.agenda={agenda}", output=f"{device}-{agenda}").files())
                for agenda in ("run_ahead", "lockstep")
            ]
            self.assert_equal_files(*run)

    def test_through_guards(self):
        for device in ("tiny-test", "wd-sn730-512g"):
            run = [without("through_guards", self.simulate(device, self.mix, "--set", f"run.through_guards={way}", output=f"{device}-{way}").files())
                   for way in ("false", "true")]
            self.assert_equal_files(*run)

    def test_room_for_metadata(self):
        # The driver formats nothing, so all that differs is the length of what the flash keeps of a unit.
        for setting in (("ftl.parity=die", "ftl.superblock=drive", "ftl.user_capacity=6MiB"), ("ftl.mapping=dftl", "map.cache=8KiB", "nvme.max_transfer=64KiB", "map.entry_size=64B"),
                        ('host.power_cut_at=["20ms"]', "read_cache.size=256KiB")):
            settings = [x for s in (*setting, "run.data=bytes", "run.integrity=true", "buffer.size=128KiB") for x in ("--set", s)]
            run = [without("metadata", self.tiny(*settings, "--set", f"nvme.metadata={offered}", output=f"{setting[0][:8]}-{offered}").files())
                   for offered in ("false", "true")]
            self.assert_equal_files(*run)

    def test_shipped_job(self):
        job = JOBS / "ramp_rate.fio"
        self.assert_equal_files(
            *[self.simulate("femu-4g", job, output=output).files() for output in ("a", "b")]
        )


if __name__ == "__main__":
    unittest.main()
