# SPDX-License-Identifier: Apache-2.0
"""`make wave`: GTKWave opens the save file on a virtual display, and the picture shows its waves."""
import shutil
import subprocess
import unittest

from support import BINARY, SOURCE, SystemTest


class Picture(SystemTest):
    @unittest.skipUnless(all(map(shutil.which, ("gtkwave", "xvfb-run", "import"))), "no GTKWave, Xvfb or ImageMagick")
    def test_gtkwave_shows_the_recording(self):
        done = subprocess.run([SOURCE / "tools" / "wave-picture.sh", BINARY, self.dir / "run", self.dir / "wave.png"],
                              capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

        def pixels(color, fuzz="3%"):
            """How many pixels have this colour, nearly."""
            got = subprocess.run(["convert", self.dir / "wave.png", "-fuzz", fuzz, "-fill", "white", "-opaque", color, "-fill", "black",
                                  "+opaque", "white", "-format", "%[fx:mean*w*h]", "info:"], capture_output=True, text=True, check=True)
            return float(got.stdout)

        # The colours of host_read, gc_program and host_program: the translation files were found and used.
        for color in ("#008b00", "#8b4513", "#3a5fcd"):
            self.assertGreater(pixels(color), 2000, color)
