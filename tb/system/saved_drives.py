# SPDX-License-Identifier: Apache-2.0
"""Saved drives from outside: unpacked, changed, and packed again, with the digest of their content or without it."""
import struct
import subprocess

DIGEST = 8
MASK = (1 << 64) - 1
PRIME = 0x9E3779B97F4A7C15
# As they follow each other; not each drive has all.
ORGANS = (
    "faults", "ftl", "flash", "bytes", "map", "blocks", "journal", "checkpoints", "counters", "read cache", "caches of the cores", "firmware", "choice of streams",
    "cached map", "limit of dirty translation pages", "nvme", "what the host has written",
)


def unpacked(data):
    return bytearray(subprocess.run(["zstd", "-dc"], input=data, capture_output=True, check=True).stdout)


def packed(data):
    return subprocess.run(["zstd", "-qc", "--check"], input=bytes(data), capture_output=True, check=True).stdout


def digest(data):
    """What the program writes behind the content."""
    value = 0xCBF29CE484222325
    whole = len(data) // 8 * 8
    for (word,) in struct.iter_unpack("<Q", bytes(data[:whole])):
        value = (value ^ word) * PRIME & MASK
        value ^= value >> 29
    rest = len(data) - whole
    last = int.from_bytes(data[whole:], "little")
    return (value ^ last ^ rest << 60) * PRIME & MASK


def with_digest(content):
    """The content with a digest that is right in place of its last bytes."""
    body = bytes(content[:-DIGEST])
    return body + struct.pack("<Q", digest(body))


def pieces(content):
    """(organ, begin, end) of each; the first is the text."""
    begin = content.index(b"\0") + 1
    found = [("text", 0, begin)]
    for organ in ORGANS:
        at = content.find(organ.encode() + b"\0", begin)
        if at >= 0 and (not found or at >= found[-1][1]):
            found[-1] = (found[-1][0], found[-1][1], at)
            found.append((organ, at + len(organ) + 1, len(content) - DIGEST))
            begin = at + len(organ) + 1
    return found


def place(draw, begin, end):
    """A place in a piece: its first and last fields are as likely as its tables."""
    kind, near = draw.random(), min(end - begin, 80)
    if kind < 0.2:
        return begin + draw.randrange(near)
    if kind < 0.4:
        return end - 1 - draw.randrange(near)
    return draw.randrange(begin, end)


def change_number(draw, content, begin, end):
    """One field, or what takes part in several: a number near, far, of elsewhere, or changed for another."""
    size = draw.choice((1, 4, 4, 8))
    size = min(size, end - begin)
    at = min(place(draw, begin, end), end - size)
    old = int.from_bytes(content[at:at + size], "little")
    there = draw.randrange(begin, end - size + 1)
    kind = draw.randrange(7)
    if kind == 0:
        new = old ^ 1 << draw.randrange(8 * size)
    elif kind == 1:
        new = draw.choice((0, 1, 2, (1 << 8 * size) - 1, (1 << 8 * size - 1), 1 << 36))
    elif kind == 2:
        new = old + draw.choice((-2, -1, 1, 2))
    elif kind == 3:
        new = draw.randrange(1 << draw.choice((2, 6, 11, 20)))
    elif kind == 4:
        new = int.from_bytes(content[there:there + size], "little")
    elif kind == 5:
        content[at:at + size], content[there:there + size] = content[there:there + size], content[at:at + size]
        return
    else:
        new = draw.randrange(1 << 64)
    content[at:at + size] = (new & (1 << 8 * size) - 1).to_bytes(size, "little")


def changed_inside(draw, content):
    """(what was changed, the content with a right digest): one to four fields of one organ, now and then a piece more or less."""
    content = bytearray(content)
    organ, begin, end = draw.choice([p for p in pieces(content) if p[2] > p[1]])
    for _ in range(draw.choice((1, 1, 1, 2, 4))):
        change_number(draw, content, begin, end)
    if draw.random() < 0.05:
        at = place(draw, begin, end)
        more = draw.randrange(1, 64)
        if draw.random() < 0.5:
            del content[at:min(at + more, end)]
        else:
            content[at:at] = content[at:at + more]
    return organ, with_digest(content)
