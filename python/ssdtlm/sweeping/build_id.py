# SPDX-License-Identifier: Apache-2.0
"""Which build a program is: results of two builds are not mixed."""

import hashlib
import struct

NOTE, GNU_BUILD_ID = 4, 3


def _notes(file):
    """(type, owner, content) of the notes of a 64-bit ELF file (System V ABI, chapters 4 and 5)."""
    head = file.read(64)
    program_headers, = struct.unpack_from("<Q", head, 32)
    size, count = struct.unpack_from("<HH", head, 54)
    file.seek(program_headers)
    table = file.read(size * count)
    for i in range(count):
        kind, _, begin, _, _, length = struct.unpack_from("<IIQQQQ", table, i * size)
        if kind != NOTE:
            continue
        file.seek(begin)
        notes, at = file.read(length), 0
        while at + 12 <= len(notes):
            owner_size, content_size, what = struct.unpack_from("<III", notes, at)
            content = at + 12 + -(-owner_size // 4) * 4
            yield what, notes[at + 12:at + 12 + owner_size].rstrip(b"\0"), notes[content:content + content_size]
            at = content + -(-content_size // 4) * 4


def build_identifier(path):
    """The identifier of a build as hexadecimal digits: the one that the linker wrote, which strip and packaging leave as it is. A file
    without one has its SHA-256."""
    with open(path, "rb") as file:
        elf = file.read(6) == b"\x7fELF\x02\x01"
        file.seek(0)
        for what, owner, content in _notes(file) if elf else ():
            if what == GNU_BUILD_ID and owner == b"GNU":
                return content.hex()
        file.seek(0)
        return hashlib.file_digest(file, "sha256").hexdigest()
