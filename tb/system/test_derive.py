# SPDX-License-Identifier: Apache-2.0
"""`config derive`: text and JSON of presets, settings, what is left out, and mistakes; `config check` says what is implausible."""
import json
import re

from support import OK, SOURCE, USER_ERROR, SystemTest

KINDS = ["sequential 128 KiB reads", "sequential 128 KiB writes", "random 4 KiB reads", "random 4 KiB writes"]


class Derive(SystemTest):
    def derived(self, *words):
        done = self.ssdtlm("config", "derive", *words, "--json")
        self.assertEqual((done.returncode, done.stderr), (OK, ""))
        return json.loads(done.stdout)

    def test_all_presets(self):
        for preset in sorted(path.stem for path in (SOURCE / "configs" / "device").glob("*.toml")):
            with self.subTest(preset):
                all_of_it = self.derived(preset)
                self.assertEqual(list(all_of_it["ceilings"]), KINDS)
                for ceilings in all_of_it["ceilings"].values():
                    rates = {c["resource"]: c["iops"] for c in ceilings["resources"]}
                    self.assertEqual(ceilings["least"], min(rates, key=rates.get))
                text = self.ssdtlm("config", "derive", preset).stdout
                self.assertEqual(len(re.findall(r"^\* ", text, re.M)), len(KINDS))
                for group in all_of_it["figures"].values():
                    for name, figure in group["values"].items():
                        self.assertIn(name, text)
                        self.assertIn(figure["formula"], text)
                    for sentence in group["left_out"]:
                        self.assertIn(sentence, text)

    def test_settings_count(self):
        capacity = lambda *words: self.derived("tiny-test", *words)["figures"]["capacity"]["values"]
        self.assertEqual(capacity()["raw_capacity"]["value"], 2 * 64 * 32 * 4096)
        self.assertAlmostEqual(capacity()["over_provisioning"]["value"], 100 / 3)
        self.assertAlmostEqual(capacity("--set", "ftl.user_capacity=8MiB")["over_provisioning"]["value"], 100)

    def test_spare_as_a_share(self):
        values = self.derived("tiny-test", "--set", "ftl.over_provisioning=28%")["figures"]["capacity"]["values"]
        self.assertEqual(values["user_capacity"]["value"], int(2 * 64 * 32 * 4096 / 1.28) // 4096 * 4096)
        self.assertAlmostEqual(values["over_provisioning"]["value"], 28, places=1)
        self.assertIn("ftl.over_provisioning 28 %", values["user_capacity"]["formula"])
        # What `config show` prints is a device that says both, which agree.
        shown = self.ssdtlm("config", "show", "tiny-test", "--set", "ftl.over_provisioning=28%").stdout
        again = self.derived(self.write("shown.toml", shown))["figures"]["capacity"]["values"]
        self.assertEqual(again["user_capacity"]["value"], values["user_capacity"]["value"])

    def test_a_run_says_what_the_spare_is(self):
        for words, share in ((["--set", "ftl.over_provisioning=60%"], 60), ([], 100 / 3)):
            done = self.ssdtlm("run", "tiny-test", *words, "--rw=read", "--bs=4k", "--number_ios=10", "-o", "out")
            capacity = json.loads((self.dir / "out" / "result.json").read_text())["capacity"]
            self.assertAlmostEqual(capacity["over_provisioning_percent"], 100 * (capacity["raw_bytes"] / capacity["user_bytes"] - 1))
            self.assertAlmostEqual(capacity["over_provisioning_percent"], share, delta=0.1)
            self.assertIn(f"capacity: {capacity['user_bytes']} of {capacity['raw_bytes']} bytes of flash, over-provisioning {capacity['over_provisioning_percent']:.2f} %", done.stdout)

    def run_of(self, device, *words):
        done = self.ssdtlm("run", device, *words, "--iodepth=1", "-o", "out")
        self.assertEqual(done.returncode, OK, done.stderr)
        return json.loads((self.dir / "out" / "result.json").read_text()) | {"said": done.stdout}

    def test_a_large_read_of_a_drive_written_in_sequence(self):
        """Dies begin beside each other, cells are those that hold the data, and nothing is read ahead."""
        for preset, tolerance, more in (("femu-4g", 0.01, ()), ("hexa-16g", 0.02, ()), ("mqsim-table3", 0.02, ()), ("samsung-970pro-512", 0.02, ("--set", "read_ahead.depth=0B")), ("wd-sn730-512g", 0.05, ())):
            with self.subTest(preset):
                figure = self.derived(preset)["figures"]["unloaded latency"]["values"]["read_128k"]
                run = self.run_of(preset, *more, "--rw=read", "--bs=128k", "--number_ios=100")["latency_us"]["read"]["total"]["mean"]
                self.assertAlmostEqual(1e6 * figure["value"] / run, 1, delta=tolerance)
                self.assertIn("data were written in ascending order", figure["formula"])
                self.assertEqual("nothing is read ahead" in figure["formula"], "970pro" in preset)

    def test_writes_that_the_buffer_takes(self):
        """Dies that drain it behind the host do not limit: twice as fast, they change nothing. Ceilings of writes are those of a full buffer."""
        words = ("--rw=randwrite", "--bs=4k", "--number_ios=3000")
        before = self.run_of("mqsim-table3", *words)
        faster = self.run_of("mqsim-table3", *words, "--set", "nand.t_program=100us")
        self.assertAlmostEqual(before["write"]["iops"] / faster["write"]["iops"], 1, delta=0.01)
        self.assertEqual(before["limit"]["kind"], "load")
        self.assertIn("drains the write buffer, for whose room no command waits", before["said"])
        full = self.run_of("mqsim-table3", "--rw=randwrite", "--bs=4k", "--number_ios=3000", "--set", "buffer.mode=write_through")
        self.assertNotIn("drains the write buffer", full["said"])
        ceilings = self.derived("mqsim-table3")["ceilings"]
        self.assertEqual([ceilings[kind]["holds"] for kind in KINDS[:2]], ["always", "sustained, once the write buffer is full"])
        self.assertEqual(self.derived("femu-4g")["ceilings"][KINDS[1]]["holds"], "always")
        self.assertRegex(self.ssdtlm("config", "derive", "mqsim-table3").stdout, "(?m)^sequential 128 KiB writes, sustained, once the write buffer is full$")

    def test_large_units_and_no_buffer(self):
        steady = self.derived("tiny-test", "--set", "nand.geometry.page_size=8KiB", "--set", "nand.geometry.unit_size=8KiB")["figures"]["steady state of random writes"]
        self.assertEqual((sorted(steady["values"]), steady["left_out"]), (["steady_random_write_iops", "write_amplification"], []))
        self.assertIn("units of 8KiB", steady["values"]["write_amplification"]["formula"])
        self.assertNotIn("buffer_fills_in", self.derived("femu-4g")["figures"]["write buffer"]["values"])

    def test_steps_that_no_drive_has(self):
        said = lambda *settings: self.ssdtlm("config", "check", "mqsim-table3", *(word for one in settings for word in ("--set", one))).stdout
        self.assertIn("firmware.read_command=999999 is implausible", said("firmware.read_command=999999"))
        self.assertIn("ecc.decode_time=1ms is implausible", said("ecc.decode_time=1ms"))
        self.assertIn("the over-provisioning is 3623.6 % of it", self.ssdtlm("config", "check", "tiny-test", "--set", "ftl.over_provisioning=3600%", "--set", "buffer.size=64KiB").stdout)
        self.assertIn('3 has no unit; a percentage (%); write "3%"', self.ssdtlm("config", "check", "tiny-test", "--set", "ftl.over_provisioning=3").stderr)

    def test_a_wrong_device(self):
        done = self.ssdtlm("config", "derive", "tiny-test", "--set", "ftl.user_capacity=1TB")
        self.assertEqual((done.returncode, done.stdout), (USER_ERROR, ""))
        self.assertIn("ftl.user_capacity", done.stderr)

    def test_check_says_what_is_implausible(self):
        notes = lambda *words: self.ssdtlm("config", "check", "tiny-test", *words).stdout.splitlines()[1:]
        self.assertEqual(notes(), [])
        self.assertRegex(notes("--set", "nand.t_read=50ms")[0], r"^note: --set nand.t_read=50ms is implausible: tR of MLC is 20us to 150us")
        one_shot = notes("--set", "nand.bits_per_cell=3", "--set", "nand.t_program=1500us", "--set", "nand.t_read=60us")
        self.assertTrue(any("one-shot program of all 3 pages" in note for note in one_shot), one_shot)

    def test_a_run_says_it_too(self):
        said = lambda *words: self.run_of("tiny-test", "--rw=randread", "--bs=4k", "--number_ios=10", *words)["said"]
        self.assertNotIn("implausible", said())
        self.assertRegex(said("--set", "nand.t_read=50ms"), r"(?m)^note: --set nand.t_read=50ms is implausible: tR of MLC is 20us to 150us")
