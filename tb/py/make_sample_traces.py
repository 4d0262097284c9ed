#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the sample traces of configs/workload/traces: one small synthetic trace in each format's exact syntax.

They are generated, not recorded, so they may be redistributed; each has the traps of its format (unaligned ranges,
equal stamps, lines out of order, rows that are no requests). Real traces: SNIA IOTTA (MSR Cambridge, set 388),
github.com/alibaba/block-traces, github.com/CMU-SAFARI/MQSim (traces/), `blktrace -d DEV -o - | blkparse -i -`.

usage: make_sample_traces.py [DIRECTORY]
"""

import gzip
import pathlib
import sys

FILETIME_2007 = 128_166_372_003_061_629  # 100 ns since 1601, as in the published MSR traces
UNIX_2020_US = 1_577_808_000_000_000
SPAN = 1 << 30  # addresses stay below 1 GiB, so that every shipped device can replay them


class Lcg:
    """MMIX's generator: the same numbers with every Python."""

    def __init__(self, seed):
        self.state = seed

    def below(self, n):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % (1 << 64)
        return (self.state >> 33) % n


def requests(seed, count):
    """(time ns, write?, offset, bytes): bursts, 60 % reads, a hot tenth of the space, some ranges off 4 KiB."""
    random = Lcg(seed)
    t = 0
    for i in range(count):
        if i % 8:
            t += 1_000 * random.below(60)
        else:
            t += 400_000 + 1_000 * random.below(600)
        size = (4096, 4096, 4096, 8192, 16384, 65536)[random.below(6)]
        if random.below(8) == 0:
            size += 512 * (1 + random.below(7))
        pages = (SPAN - (1 << 17)) // 4096
        page = random.below(pages // 10) if random.below(10) < 8 else random.below(pages)
        offset = page * 4096 + (512 * random.below(8) if random.below(14) == 0 else 0)
        yield t, random.below(10) >= 6, offset, size


def msr():
    random = Lcg(11)
    lines = []
    stamp = 0
    for i, (t, write, offset, size) in enumerate(requests(1, 160)):
        if i % 4 != 1:  # completion batching in the traced system leaves equal stamps
            stamp = t // 100
        response = 2_000 + random.below(90_000)
        lines.append(f"{FILETIME_2007 + stamp},usr,0,{'Write' if write else 'Read'},{offset},{size},{response}")
    return lines


def mqsim():
    return [f"{t} 0 {offset // 512} {-(-size // 512)} {0 if write else 1}" for t, write, offset, size in requests(2, 160)]


def alibaba():
    random = Lcg(12)
    lines = []
    for t, write, offset, size in requests(3, 160):
        device = (7, 7, 7, 419)[random.below(4)]
        lines.append(f"{device},{'W' if write else 'R'},{offset // 2 // 512 * 512},{size},{UNIX_2020_US + t // 1000}")
    for i in (40, 90, 91):  # file order is not time order
        lines[i], lines[i + 1] = lines[i + 1], lines[i]
    return lines


def blkparse():
    random = Lcg(13)
    rows = []
    for i, (t, write, offset, size) in enumerate(requests(4, 40)):
        name = ("fio", "kworker/u8:1", "Web Content")[random.below(3)]
        pid = 600 + random.below(3)
        rwbs = ("WS" if write else "R") if i % 11 else "D"
        sectors = f"{offset // 512} + {-(-size // 512)}"
        queued = t
        rows.append((queued, pid, "Q", f"{rwbs:>3} {sectors} [{name}]"))
        rows.append((queued + 900, pid, "G", f"{rwbs:>3} {sectors} [{name}]"))
        rows.append((queued + 4_200, pid, "D", f"{rwbs:>3} {sectors} [{name}]"))
        rows.append((queued + 84_000, 0, "C", f"{rwbs:>3} {sectors} [0]"))
        if i % 13 == 5:
            rows.append((queued + 90_000, pid, "D", f"{'FN':>3} [{name}]"))
        if i == 20:
            rows.append((queued + 91_000, pid, "m", "  N cfq schedule dispatch"))
            rows.append((queued + 92_000, pid, "D", "  N 0 [smartctl]"))
    rows.sort(key=lambda r: r[0])
    lines = [f"259,0  {n % 4:3d} {n + 1:8d} {t // 10**9:5d}.{t % 10**9:09d} {pid:5d}  {action} {rest}"
             for n, (t, pid, action, rest) in enumerate(rows)]
    lines += ["CPU0 (nvme0n1):", " Reads Queued:          12,       96KiB\t Writes Queued:           8,       64KiB", "",
              "Total (nvme0n1):", " Reads Queued:          24,      192KiB\t Writes Queued:          15,      128KiB", "",
              "Throughput (R/W): 1,024KiB/s / 512KiB/s", "Events (nvme0n1): 165 entries"]
    return lines


def main():
    root = pathlib.Path(__file__).resolve().parents[2]
    directory = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else root / "configs" / "workload" / "traces"
    directory.mkdir(parents=True, exist_ok=True)
    for name, lines in (("msr.csv", msr()), ("mqsim.trace", mqsim()), ("alibaba.csv", alibaba()),
                        ("blkparse.txt", blkparse())):
        text = "\n".join(lines) + "\n"
        (directory / name).write_text(text)
        if name == "msr.csv":  # published MSR traces come compressed
            (directory / (name + ".gz")).write_bytes(gzip.compress(text.encode(), mtime=0))


if __name__ == "__main__":
    main()
