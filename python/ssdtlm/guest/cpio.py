# SPDX-License-Identifier: Apache-2.0
"""Archives of the kind that Linux unpacks as its first root (cpio, format "newc", see the kernel's
Documentation/driver-api/early-userspace/buffer-format.rst). The same entries give the same bytes."""

import stat


class Archive:
    def __init__(self, file):
        self.file = file
        self.number = 0

    def folder(self, name):
        self._entry(name, stat.S_IFDIR | 0o755, b"")

    def link(self, name, target):
        self._entry(name, stat.S_IFLNK | 0o777, target.encode())

    def regular(self, name, data, executable=False):
        self._entry(name, stat.S_IFREG | (0o755 if executable else 0o644), data)

    def console(self):
        """The kernel opens /dev/console for /init before /init can mount anything."""
        self._entry("dev/console", stat.S_IFCHR | 0o600, b"", device=(5, 1))

    def end(self):
        self._entry("TRAILER!!!", 0, b"")
        # Archives that follow one another begin at multiples of four bytes; 512 is what other tools write.
        self.file.write(b"\0" * (-self.file.tell() % 512))

    def _entry(self, name, mode, data, device=(0, 0)):
        self.number += 1
        path = name.encode() + b"\0"
        fields = (self.number, mode, 0, 0, 1, 0, len(data), 0, 0, *device, len(path), 0)
        head = b"070701" + b"".join(b"%08X" % field for field in fields) + path
        self.file.write(head + b"\0" * (-len(head) % 4) + data + b"\0" * (-len(data) % 4))
