# SPDX-License-Identifier: Apache-2.0
"""Base of tests in which a program serves a drive over vfio-user."""
import os
import pathlib
import signal
import subprocess
import tempfile
import time
import unittest

import support
from vfio_client import Client, Drive


class Served(unittest.TestCase):
    """A server of its own for each test."""

    def serve(self, *arguments, pace="free"):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.path = str(self.folder / "s")
        self.results = self.folder / "results"
        self.server = subprocess.Popen(
            [support.BINARY, "serve", "tiny-test", "--socket", self.path, "--pace", pace, "-o", str(self.results), "-q",
             *arguments], cwd=self.folder,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.addCleanup(self.end)
        deadline = time.monotonic() + 60
        while not os.path.exists(self.path):
            if self.server.poll() is not None:
                self.fail("the server has ended: " + self.server.communicate()[0])
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)

    def client(self):
        client = Client(self.path)
        self.addCleanup(client.close)
        return client

    def drive(self, sealed=True):
        drive = Drive(self.client(), sealed)
        drive.enable()
        for q in (1, 2):
            drive.create(q)
        return drive

    def power_cut(self, drive):
        """The power goes, and comes back. With --pace free it may be back before the first look: then CSTS.RDY is 0."""
        ready = drive.client.read32(0x1C)
        self.assertEqual(ready & 1, 1)
        self.server.send_signal(signal.SIGUSR1)
        while drive.client.read32(0x1C) == ready:
            pass
        while drive.client.read32(0x1C) == 0xFFFFFFFF:
            pass

    def end(self):
        if self.server.poll() is None:
            self.server.kill()
            self.server.communicate()

    def result(self, how=signal.SIGTERM):
        """result.json of a server that is told to end."""
        if how is not None:
            self.server.send_signal(how)
        out, _ = self.server.communicate(timeout=60)
        self.assertEqual(self.server.returncode, support.OK, out)
        return support.Result(self.results).json()
