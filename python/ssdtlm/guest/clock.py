# SPDX-License-Identifier: Apache-2.0
"""The page that a guest's clock is read from (tools/guest_clock/clock_page.h). `ssdtlm serve` writes it for a drive of ours;
this writes one for a guest that has QEMU's own drive, so that both guests are equally fast."""

import mmap
import struct
import time

BYTES = 4096
VERSION = 2
LINE = struct.Struct("<qqd")
COUNT = struct.Struct("<Q")
# (limit_ns, taken) of the page: guest time has no limit, and messages of the guest are not counted.
BOUNDS = struct.Struct("<qQ")
NO_BOUNDS = (2**63 - 1, 2**64 - 1)
LINE_AT, VERSION_AT, BOUNDS_AT, SOCKET_AT = 8, 32, 40, 128


def is_page(path):
    """Whether the file is a page that its maker has completed."""
    data = path.read_bytes() if path.exists() else b""
    return len(data) == BYTES and COUNT.unpack_from(data, VERSION_AT)[0] == VERSION


class Page:
    def __init__(self, path, rate, base_ns=0):
        with open(path, "wb") as file:
            file.truncate(BYTES)
        with open(path, "r+b") as file:
            self.memory = mmap.mmap(file.fileno(), BYTES)
        COUNT.pack_into(self.memory, VERSION_AT, VERSION)
        BOUNDS.pack_into(self.memory, BOUNDS_AT, *NO_BOUNDS)
        self.base_ns, self.wall0_ns, self.rate = base_ns, time.monotonic_ns(), rate
        self._write()

    def now(self):
        return self.base_ns + round((time.monotonic_ns() - self.wall0_ns) * self.rate)

    def set_rate(self, rate):
        """Changes the rate from now on. The time itself does not jump."""
        wall = time.monotonic_ns()
        self.base_ns += round((wall - self.wall0_ns) * self.rate)
        self.wall0_ns, self.rate = wall, rate
        self._write()

    def _write(self):
        count = COUNT.unpack_from(self.memory, 0)[0]
        COUNT.pack_into(self.memory, 0, count + 1)
        LINE.pack_into(self.memory, LINE_AT, self.base_ns, self.wall0_ns, self.rate)
        COUNT.pack_into(self.memory, 0, count + 2)
