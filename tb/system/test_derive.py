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
