# SPDX-License-Identifier: Apache-2.0
"""Guests for the tests of a real Linux: the parts of tools/guest.sh, or the reason why there are none, and drives to serve."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from support import BINARY, SOURCE

sys.path.insert(0, str(SOURCE / "python"))
os.environ["SSDTLM_BINARY"] = BINARY
from ssdtlm.guest import machine, place, serving

MIB = 1 << 20
SKIPPED = 77
PARTS = pathlib.Path(os.environ.get("SSDTLM_GUEST", SOURCE / "build" / "guest"))
# A drive that keeps what is written, large enough for a file system, with flash that is quick to simulate.
DRIVE = {"run.data": "bytes"}
DEVICES = ["hexa-16g"]


class GuestTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        done = subprocess.run([SOURCE / "tools" / "guest.sh", "get", PARTS], capture_output=True, text=True, check=False)
        if done.returncode == SKIPPED:
            raise unittest.SkipTest(done.stderr.strip())
        if done.returncode != 0:
            raise RuntimeError(done.stderr)

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="ssdtlm-guest-")
        self.addCleanup(folder.cleanup)
        self.dir = pathlib.Path(folder.name)

    def serve(self, *, rate=None, once=False, words=(), **settings):
        """Starts a drive. With a rate the clock of its guest is the model's; `once`: it ends with its first guest."""
        clock = self.dir / "clock" if rate is not None else None
        server = serving.Server(serving.Drive(devices=DEVICES, output=self.dir / "drive", socket=self.dir / "vfio-user",
                                              set={**DRIVE, **{key.replace("__", "."): value for key, value in settings.items()}},
                                              rate=rate, clock=clock, once=once, words=tuple(words)))
        self.addCleanup(server.kill)
        return server

    def plan(self, script, drive, *, name="guest", timeout_s=600, **more):
        clock = drive.drive.clock if isinstance(drive, serving.Server) else None
        return machine.Plan(folder=PARTS, output=self.dir / name, script=script.encode(), timeout_s=timeout_s,
                            drives=[drive.drive.socket if isinstance(drive, serving.Server) else drive], clock=clock,
                            shim=place.shim() if clock else None, **more)

    def boot(self, script, drive, **more):
        """Boots, and fails with what the guest said unless its script ended well."""
        outcome = machine.boot(self.plan(script, drive, **more))
        said = f"{outcome.reason}\n{outcome.output}"
        if isinstance(drive, serving.Server):
            said += drive.said()
        self.assertEqual(outcome.code, 0, said)
        return outcome
