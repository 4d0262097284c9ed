# SPDX-License-Identifier: Apache-2.0
"""What a host makes of the micro-benchmarks. Nothing here knows the drive: only fio's results and logs go in. None: it cannot be seen."""

import dataclasses
import statistics

KIB = 2**10
# Rates within this part are the same.
SAME = 0.15
# A block that takes no longer than this part more than half of it has its second half elsewhere.
NO_LONGER = 1.05
# Two reads that share a channel end so much further apart than two that do not: a part of the latter, and us.
APART, APART_US = 1.05, 0.1
# A plateau: half as many parallel units, the same rate.
FLAT = 0.06


def by_prefix(jobs, prefix):
    """{KiB: that operation's part of fio's job} of the sections of a kind."""
    return {int(job["jobname"].removeprefix(prefix)): job["read"] for job in jobs if job["jobname"].startswith(prefix) and job["read"]["total_ios"]}


@dataclasses.dataclass
class Reads:
    """From benchmarks.reads() and pairs(). latency: us by KiB, of the fastest; rate: reads/s by KiB of stride; far: us between reads by KiB; apart: (us between
    the ends of two reads that began together, their addresses in KiB) by KiB of stride."""

    latency: dict
    rate: dict
    far: dict
    apart: dict

    @classmethod
    def of(cls, jobs, logs):
        """`logs`: {KiB of stride: rows of the lat log of that pair}."""
        apart = {k: [(abs(a[1] - b[1]) / 1e3, a[4] // KIB, b[4] // KIB) for a, b in zip(rows[::2], rows[1::2])] for k, rows in logs.items()}
        return cls({k: r["lat_ns"]["min"] / 1e3 for k, r in by_prefix(jobs, "block").items()}, {k: r["iops"] for k, r in by_prefix(jobs, "stride").items()},
                   {k: 1e6 / r["iops"] for k, r in by_prefix(jobs, "far").items()}, apart)

    def slopes(self):
        """{KiB: us for each KiB between this block size and twice it}."""
        sizes = sorted(self.latency)
        return {a: (self.latency[b] - self.latency[a]) / (b - a) for a, b in zip(sizes, sizes[1:])}

    def chunk(self):
        """KiB in sequence on one die. Two reads less than that apart wait for each other's array; the first stride at which they do not is it. Where one reading of
        a page serves both, or planes read together, the two never wait: then by the slopes, as each KiB costs bus and link up to there, and the link alone beyond.
        That is the sequence on a channel, which is the one on a die where channels come first."""
        family = [s for s in self._family(1) if s in self.apart and s < (self.stripe() or 0)]
        wait = self.between(self.stripe()) / 2 if self.stripe() in self.apart else None
        if family and wait is not None and self.between(family[0]) > wait:
            return next((s for s in family if self.between(s) < wait), family[-1] * 2)
        slopes = self.slopes()
        most = max(slopes.values())
        return next((size for size, slope in slopes.items() if slope < most / 2), min(slopes))

    def page(self):
        """KiB. In one die the time of a block grows up to a page: the next page is in another plane. None where planes hide it."""
        sizes, chunk = [size for size in sorted(self.far) if size <= self.chunk()], self.chunk()
        grows = [self.far[b] > NO_LONGER * self.far[a] for a, b in zip(sizes, sizes[1:])]
        if all(grows):
            return sizes[-1] if sizes[-1] == chunk else None
        first = grows.index(False)
        return sizes[first] if not any(grows[first:]) else None

    def _family(self, odd):
        """Strides of 4 KiB x `odd` x a power of two, in KiB."""
        found = []
        stride = 4 * odd
        while stride in self.rate:
            found.append(stride)
            stride *= 2
        return found

    def _floors(self):
        """{1 or 3: reads/s at the largest strides of a family}."""
        return {odd: statistics.median(self.rate[s] for s in self._family(odd)[-3:]) for odd in (1, 3) if len(self._family(odd)) > 3}

    def _odd(self):
        """Of the stripe. Where it is 3 times a power of two, strides of powers of two alone still meet three units."""
        floors = self._floors()
        return 1 if floors[1] <= 2 * floors.get(3, floors[1]) else 3

    def stripe(self):
        """KiB after which the same die comes again: the smallest stride from which on reads meet in one unit."""
        floors, odd = self._floors(), self._odd()
        family = self._family(odd)
        limit = (1 + SAME) * floors[odd]
        at = len(family)
        while at and self.rate[family[at - 1]] <= limit:
            at -= 1
        return family[at] if at < len(family) else None

    def units(self):
        return self.stripe() // self.chunk() or None if self.stripe() else None

    def plateau(self):
        """(KiB of stride, reads/s) where reads are on one channel and as fast as it takes them: fewer dies are no slower."""
        family = [s for s in self._family(self._odd()) if self.chunk() <= s < (self.stripe() or 0)]
        most = max(self.rate.values())
        for a, b in zip(family, family[1:]):
            if self.rate[a] < 0.9 * most and abs(self.rate[b] / self.rate[a] - 1) < FLAT and self.rate[b] > (1 + SAME) * self.rate[self.stripe()]:
                return a, self.rate[a]
        return None

    def between(self, stride, stripe=None):
        """us between the ends of the two reads, the middle one. `stripe`: of pairs in one row of units, whose pages are alike; None where there is no such pair."""
        found = [us for us, a, b in self.apart[stride] if stripe is None or a // stripe == b // stripe]
        return statistics.median(found) if found else None

    def _between_units(self):
        """{KiB of stride: us between the ends of two reads of one row} where they are of two units."""
        return {s: us for s in self.apart if self.chunk() <= s < (self.stripe() or 0) and (us := self.between(s, self.stripe())) is not None}

    @staticmethod
    def _alone(apart, us):
        return us <= APART * min(apart.values()) + APART_US

    def _bus(self):
        """us that the second of two reads of two dies waits for the bus, the middle one; None where none is seen to."""
        apart = self._between_units()
        die = self.between(self.stripe()) / 2 if self.stripe() in self.apart else 0
        waits = [us for us in apart.values() if not self._alone(apart, us) and us < die]
        return statistics.median(waits) if waits else None

    def channels(self):
        """Two reads a stride apart differ in one bit of the unit's number. Is it one of the channel, each has a bus of its own, else the second waits for the
        transfer of the first: the strides that do not make it wait count the channels, whatever the order. A factor of 3 is one of channels where no power of
        two meets the same channel. None where all strides are alike: a die for each channel, or a link that takes as long as the bus."""
        apart = self._between_units()
        # None waits for a bus alone: the link hides it, or no two dies share one.
        if self._bus() is None:
            return None

        def own_bus(odd):
            alone = [self._alone(apart, apart[s]) for s in self._family(odd) if s >= self.chunk() * odd and s in apart]
            return sum(alone), len(alone)
        of_two, all_two = own_bus(1)
        of_three, all_three = own_bus(3) if self._odd() == 3 else (0, 0)
        if self._odd() == 1:
            return 2**of_two if 0 < of_two < all_two else None
        if of_two == all_two:
            return 3 * 2**of_three if of_three < all_three else None
        return 2**of_two if of_two else None

    def transfer(self):
        """us of 4 KiB on the channel: what blocks cost below the chunk and not beyond it; else what one read waits for another's, or from the plateau."""
        slopes, chunk, apart = self.slopes(), self.chunk(), self._between_units()
        # Where channels do not come first, the next die is on the same one, and blocks go on costing its bus.
        if chunk in apart and self._bus() is not None and not self._alone(apart, apart[chunk]):
            return self._bus()
        # Where even the longest block is shorter, nothing says what it costs beyond.
        if min(slopes) < chunk <= max(slopes):
            below = [slope for size, slope in slopes.items() if size < chunk]
            return 4 * (statistics.fmean(below) - slopes[chunk])
        if self.plateau():
            return 1e6 / self.plateau()[1]
        # No time for it anywhere: latency does not grow with the block.
        sizes = sorted(self.latency)
        return 0.0 if self.latency[sizes[1]] < 1.01 * self.latency[sizes[0]] and self.latency[sizes[2]] < 1.02 * self.latency[sizes[0]] else None

    def interval(self):
        """us between reads of one unit: tR and the transfer, the mean over kinds of pages."""
        return 1e6 / self.rate[self.stripe()] if self.stripe() else None

    def t_read(self):
        """us, mean over kinds of pages."""
        return self.interval() - self.transfer() if self.stripe() and self.transfer() is not None else None


# A phase that is no slower than this part of the one before it is the same one.
NO_SLOWER = 0.97
# Writes and flushes that take less end in a buffer.
LEAST_PROGRAM_US = 100


def t_program(jobs, log, transfer, rounds):
    """us. jobs: fio's of benchmarks.synced(); log: rows of its lat log; transfer: us of a write on the channel; rounds: programs that follow
    each other in it. Of a write that is programmed at once, what hangs in between (an erase) is left out. None where nobody waits for the program."""
    job = next(job for job in jobs if job["jobname"] == "synced")
    # A command without data.
    rest = next(job for job in jobs if job["jobname"] == "empty")["trim"]["lat_ns"]["mean"] / 1e3 + transfer
    sync = job.get("sync", {})
    if sync.get("total_ios") and sync["lat_ns"]["mean"] / 1e3 > LEAST_PROGRAM_US:
        return (sync["lat_ns"]["mean"] / 1e3 - rest) / rounds
    latencies = [ns / 1e3 for _, ns, *_ in log]
    middle = statistics.median(latencies)
    return statistics.fmean(us for us in latencies if us < 3 * middle) / rounds - rest if middle > LEAST_PROGRAM_US else None


def filling(log):
    """[(ms, MiB written until then)] of a lat log: (ms, ns, direction, bytes, offset)."""
    found, total = {}, 0
    for ms, _, _, size, *_ in log:
        total += size
        found[ms] = total / 2**20
    return sorted(found.items())


# Of a second phase within what seemed the first: fewer are no line.
LEAST_POINTS = 8


def first_knee(curve, write):
    """(index of the point where the first phase ends, number of points until the second phase ends); (None, ...): there is one phase. The knee
    is the point farthest above the straight line. That of a later phase is often the highest, as when an SLC cache is full: so what lies
    before a knee is searched for another one. write: MiB of one write."""
    knee, end_of, last = None, len(curve), len(curve)
    while last > 1 and curve[last - 1][0] > curve[0][0]:
        (t0, _), (t1, end) = curve[0], curve[last - 1]
        above = [mib - end * (t - t0) / (t1 - t0) for t, mib in curve[:last]]
        highest = max(range(last), key=above.__getitem__)
        # The log counts in whole milliseconds: in the first phase alone a point may be above the line by what comes in one.
        least = max(0.002 * end, 2 * write, 0.0 if knee is None else 2 * end / (t1 - t0))
        if above[highest] < least or (knee is not None and last - highest < LEAST_POINTS):
            break
        knee, end_of, last = highest, last, highest + 1
    return knee, end_of


def buffer(log):
    """MiB. From an empty buffer on, what is written is what the buffer took and what it gave on; the second grows steadily, so the line
    of the slow phase begins at the size of the buffer. None where there is no slow phase: the drive writes as fast as it takes."""
    curve = filling(log)
    if len(curve) > 8:
        curve.pop()  # the last millisecond is no whole one
    knee, last = first_knee(curve, log[0][3] / 2**20)
    if knee is None:
        return None
    curve, t0 = curve[:last], curve[0][0]
    slow = [p for p in curve[knee:] if p[0] > curve[knee][0]][:max(8, 2 * knee)] or curve[knee:]
    slow = slow[len(slow) // 4:]
    if len(slow) < 4:
        return curve[knee][1]
    slope, begin = statistics.linear_regression([t for t, _ in slow], [mib for _, mib in slow])
    # The log counts in whole milliseconds.
    if slope >= NO_SLOWER * curve[knee][1] / (curve[knee][0] - t0 + 1):
        return None
    return begin if begin > 0 and slope >= 0 else None


def map_cache(ranges, read_us):
    """MiB of the drive whose map entries are cached. Reads all over a range that is larger miss by the rest, and each miss costs a read of
    the flash more. ranges: {MiB: us of each read within that range}; read_us: of a read of the flash with its transfer, None where it is not
    known. None where no range is slower, or where hardly a read hits."""
    if read_us is None:
        return None
    small, large = min(ranges), max(ranges)
    usual = statistics.median(ranges[small])
    # A read that is quicker by half a read of the flash found its data in the DRAM. In a small range that is a large share.
    of_flash = {size: statistics.fmean(us for us in ranges[size] if us > usual - read_us / 2) for size in (small, large)}
    missed = (of_flash[large] - of_flash[small]) / read_us
    return large * (1 - missed) if 0.05 < missed < 0.95 else None
