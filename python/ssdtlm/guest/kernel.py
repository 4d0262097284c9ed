# SPDX-License-Identifier: Apache-2.0
"""The kernel as Debian built it, unpacked: an emulated processor takes seconds to unpack it, the host a third of one.

The layout of the packed file is Linux's x86 boot protocol (Documentation/arch/x86/boot.rst)."""

import ctypes
import os
import struct

SETUP_SECTORS, MAGIC, PAYLOAD_OFFSET, PAYLOAD_LENGTH = 0x1F1, 0x202, 0x248, 0x24C
SECTOR = 512
ZSTD = 0xFD2FB528 .to_bytes(4, "little")
ELF = b"\x7fELF"


def payload(data):
    """(packed kernel within a vmlinuz, its unpacked size in bytes); None for another kind of file."""
    if len(data) < PAYLOAD_LENGTH + 4 or data[MAGIC:MAGIC + 4] != b"HdrS":
        return None
    begin = (1 + (data[SETUP_SECTORS] or 4)) * SECTOR + struct.unpack_from("<I", data, PAYLOAD_OFFSET)[0]
    packed = data[begin:begin + struct.unpack_from("<I", data, PAYLOAD_LENGTH)[0]]
    return (packed[:-4], struct.unpack("<I", packed[-4:])[0]) if packed[:4] == ZSTD else None


def unpacked(data):
    """The kernel as an ELF file. None when it is packed in another way, or when this machine has no libzstd (dpkg needs it)."""
    found = payload(data)
    if found is None:
        return None
    packed, size = found
    try:
        zstd = ctypes.CDLL("libzstd.so.1")
    except OSError:
        return None
    zstd.ZSTD_decompress.restype = ctypes.c_size_t
    zstd.ZSTD_decompress.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
    room = ctypes.create_string_buffer(size)
    made = zstd.ZSTD_decompress(room, size, packed, len(packed))
    return room.raw if made == size and room.raw[:4] == ELF else None


def image(folder):
    """The path of the kernel for QEMU, in a folder that tools/guest.sh filled. It is unpacked once, or used as it is when that cannot be
    done."""
    packed = max((folder / "root/boot").glob("vmlinuz-*"))
    path = folder / "vmlinux"
    if path.exists() and path.stat().st_mtime >= (folder / "complete").stat().st_mtime:
        return path
    data = unpacked(packed.read_bytes())
    if data is None:
        return packed
    part = path.with_name(f"{path.name}.{os.getpid()}")
    part.write_bytes(data)
    part.replace(path)
    return path
