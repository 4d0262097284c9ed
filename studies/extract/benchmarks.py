# SPDX-License-Identifier: Apache-2.0
"""The micro-benchmarks: job files that need nothing of a drive but its capacity, which each drive tells its host."""

KIB, MIB, GIB = 2**10, 2**20, 2**30
LOGICAL = 4 * KIB
# Chen, Lee, Zhang (HPCA 2011) read at a fixed stride with many requests under way; strides are 4 KiB times these.
FAMILIES = (1, 3)
DEPTH = 64
BLOCKS = tuple(2**k for k in range(2, 9))  # KiB
# At this stride, or a power of two below, all reads are in one parallel unit, if the stripe is 1 or 3 times a power of two.
FAR = 48 * MIB
RANGES = (64 * MIB, 6 * GIB)
# Pairs of reads of a stride.
PAIRS = 24
# Reads that judge a range: the share of those that miss has a standard error of 2.4 % at most.
JUDGED = 400
HEAD = "[global]\nioengine=libaio\ndirect=1\nrandrepeat=0\n"


def far(capacity):
    """The largest stride that has 8 places in the drive."""
    stride = FAR
    while 8 * stride > capacity and stride > LOGICAL:
        stride //= 2
    return stride


def strides(capacity):
    found = [m * LOGICAL * 2**k for m in FAMILIES for k in range(15)]
    return sorted(s for s in found if s <= max(16 * MIB, far(capacity)) and 4 * s <= capacity)


def section(name, **options):
    return f"[{name}]\nstonewall\n" + "".join(f"{key}={value}\n" for key, value in options.items())


def strided(stride, size):
    gap = stride - size
    return "read" + (f":{gap // KIB}k" if gap else "")


class Places:
    """A beginning of its own for each section: what an earlier one has read may be in a cache."""

    def __init__(self, capacity):
        self._step = max(capacity // 64 // MIB, 1) * MIB if capacity > 256 * MIB else LOGICAL
        self._most = capacity // 2
        self._next = 0

    def take(self):
        self._next += 1
        return f"{self._next * self._step % self._most // KIB}k"


def reads(capacity, quick):
    """Random reads one at a time by block size; strided reads; reads at the far stride by block size."""
    ms, places = (1 if quick else 4), Places(capacity)
    times = {"time_based": 1, "ramp_time": "1ms"}
    text = HEAD + "".join(section(f"block{kb}", rw="randread", bs=f"{kb}k", iodepth=1, norandommap=1, runtime=f"{(24 if kb == 4 else 6) * ms}ms", **times) for kb in BLOCKS if 4 * kb * KIB <= capacity)
    text += "".join(section(f"stride{s // KIB}", rw=strided(s, LOGICAL), bs="4k", iodepth=DEPTH, offset=places.take(), runtime=f"{4 * ms}ms", **times) for s in strides(capacity))
    return text + "".join(section(f"far{kb}", rw=strided(far(capacity), kb * KIB), bs=f"{kb}k", iodepth=8, offset=places.take(), runtime=f"{6 * ms}ms", **times) for kb in (4, 8, 16, 32, 64))


def pairs(capacity):
    """Two reads at a time, a stride apart, the next two when both have ended; each is noted. They begin where the stride counts in the address and nothing
    is carried, so that the two differ in that bit alone."""
    text, places = HEAD, Places(capacity)
    for stride in strides(capacity):
        if 2 * PAIRS * stride > capacity // 2:
            continue
        offset = -(-int(places.take()[:-1]) * KIB // (2 * stride)) * 2 * stride
        text += section(f"pair{stride // KIB}", rw=strided(stride, LOGICAL), bs="4k", iodepth=2, iodepth_batch=2, iodepth_batch_complete_min=2, offset=f"{offset // KIB}k", number_ios=2 * PAIRS,
                        io_size="1g", write_lat_log=f"pair{stride // KIB}", log_offset=1)
    return text


def synced(capacity):
    """Commands without data; then writes one at a time, each with a flush behind it, so many that each kind of page has its share. What they
    write is read before: its map entries are at hand then."""
    count = min(768, capacity // (128 * KIB))
    return (HEAD + section("empty", rw="randtrim", bs="4k", iodepth=1, number_ios=20, norandommap=1, offset="50%", size="1m")
            + section("touch", rw="read", bs="128k", iodepth=1, size=f"{16 * count}k", io_size=f"{16 * count}k")
            + section("synced", rw="write", bs="16k", iodepth=1, fsync=1, number_ios=count, io_size="1g", write_lat_log="synced", log_offset=1))


def burst(capacity, quick):
    """Writes as fast as they are taken, from an empty buffer on. Each is noted. No more than a quarter of the drive: collection slows what follows."""
    most = (1536 if quick else 6144) * MIB
    return HEAD + section("burst", rw="write", bs="256k" if capacity > GIB else "16k", iodepth=32, io_size=f"{min(most, capacity // 4) // MIB}m", write_lat_log="burst", log_offset=1)


def ranges(capacity, quick):
    """Each range is read once in sequence, then at random places one at a time. The share of reads that miss is counted, so the more the surer."""
    text = HEAD
    for size in sorted({min(size, capacity * 9 // 10 // MIB * MIB) for size in RANGES}):
        text += section(f"touch{size // MIB}", rw="read", bs="1m", iodepth=16, size=f"{size // MIB}m", io_size=f"{size // MIB}m")
        text += section(f"range{size // MIB}", rw="randread", bs="4k", iodepth=1, size=f"{size // MIB}m", number_ios=JUDGED * (1 if quick else 10), norandommap=1,
                        write_lat_log=f"range{size // MIB}")
    return text
