# SPDX-License-Identifier: Apache-2.0
"""`ssdtlm fit` on presets whose parameters are hidden: each is found within 5 % or twice its standard error, and cells it has not seen agree. SSDTLM_FIT names
the presets (default: all three)."""
import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

import fits
import sweeps
from support import BINARY, OK, SOURCE, SystemTest
from test_fit import PROGRESS, can_fit

sys.path.insert(0, str(SOURCE / "python"))
from ssdtlm.sweeping.expressions import in_base_units  # pylint: disable=wrong-import-position

WRITES = "size=5%\n"
CELLS = (("r4k-1", "randread", "4k", 1, ""), ("r4k-4", "randread", "4k", 4, ""), ("r4k-32", "randread", "4k", 32, ""), ("r4k-24", "randread", "4k", 24, ""), ("r4k-64", "randread", "4k", 64, ""), ("r16k-2", "randread", "16k", 2, ""),
         ("r128k-1", "randread", "128k", 1, ""), ("r128k-8", "randread", "128k", 8, ""), ("mix-4", "randrw", "8k", 4, "rwmixread=70\n"), ("w4k-1", "randwrite", "4k", 1, WRITES),
         ("mix-16", "randrw", "16k", 16, "rwmixread=50\n"), ("mix-32", "randrw", "32k", 32, "rwmixread=30\n"))
# Of each preset: hidden values, and the ranges that are searched.
HIDDEN = {
    "s4500": ({"nand.t_read": "63us", "nand.t_program": "540us", "nand.onfi.rate": "400MT/s", "firmware.read_command": 5200},
              ("nand.t_read=40us..100us", "nand.t_program=300us..1ms", "nand.onfi.rate=200MT/s..533MT/s", "firmware.read_command=3000..9000")),
    "wd-sn730-512g": ({"nand.t_read": "57us", "nand.t_program": "500us", "ecc.decode_time": "7us"},
                      ("nand.t_read=30us..90us", "nand.t_program=250us..900us", "ecc.decode_time=1us..20us")),
    "mqsim-table3": ({"nand.t_read": "88us", "nand.t_program": "610us", "nand.onfi.rate": "266MT/s"},
                     ("nand.t_read=40us..120us", "nand.t_program=300us..1ms", "nand.onfi.rate=166MT/s..333MT/s")),
}
# Writes end in the SLC cache there.
UNSEEN = {"wd-sn730-512g": {"nand.t_program"}}
# Standard error over the value: a larger one would make the test of the value void.
MOST_ERROR = 0.15
PRESETS = os.environ.get("SSDTLM_FIT", " ".join(HIDDEN)).split()
SETTINGS = {"buffer.mode": "write_through"}  # else short runs of writes end in the buffer, and see no program


@unittest.skipUnless(can_fit(), "make python")
class Hidden(SystemTest):
    def test_parameters_are_found(self):
        for preset in PRESETS:
            with self.subTest(preset):
                hidden, ranges = HIDDEN[preset]
                drive = fits.measure(self, preset, {**SETTINGS, **hidden}, CELLS, output=preset)
                settings = [word for key, value in SETTINGS.items() for word in ("--set", f"{key}={value}")]
                done = subprocess.run([BINARY, "fit", preset, "--measured", drive, "--free", *ranges, *settings, "--trials", "40", "-o", f"fit-{preset}"], cwd=self.dir,
                                      env=sweeps.ENVIRONMENT, capture_output=True, text=True, timeout=3600, check=False)
                self.assertEqual((done.returncode, PROGRESS.sub("", done.stderr)), (OK, ""))
                print(preset, hidden, done.stdout, sep="\n")
                found = json.loads((pathlib.Path(self.dir) / f"fit-{preset}" / "fit.json").read_text())
                unseen = {row["key"] for row in found["parameters"] if row["value"] is None}
                self.assertEqual(unseen, UNSEEN.get(preset, set()))
                for row in found["parameters"]:
                    if row["key"] in unseen:
                        continue
                    true, value = (in_base_units(row["key"], int(text) if str(text).isdigit() else text) for text in (hidden[row["key"]], row["value"]))
                    # Both have the unit of the row.
                    error = row["standard_error"] / float(re.match(r"[0-9.]+", str(row["value"]))[0])
                    self.assertAlmostEqual(float(value / true), 1, delta=max(0.05, 2 * error), msg=row["key"])
                    self.assertLess(error, MOST_ERROR, row["key"])
                self.assertLess(found["mean_error"]["held_out_after"], 0.02)
                self.assertLess(found["mean_error"]["held_out_after"], 0.5 * found["mean_error"]["held_out_before"])


if __name__ == "__main__":
    unittest.main()
