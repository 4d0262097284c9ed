#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the sample traces of configs/workload/traces: one small synthetic trace in each format's exact syntax.

They are generated, not recorded, so they may be redistributed; each has the traps of its format (unaligned ranges,
equal stamps, lines out of order, rows that are no requests). Real traces: SNIA IOTTA (MSR Cambridge 388, SYSTOR '17 4964,
Tencent CBS 27917, FIU 390, Microsoft Production Server 158), github.com/alibaba/block-traces, UMass Trace Repository
(Financial, WebSearch), github.com/CMU-SAFARI/MQSim (traces/), `blktrace -d DEV -o - | blkparse -i -`.

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


def systor():
    random = Lcg(14)
    lines = ["Timestamp,Response,IOType,LUN,Offset,Size"]
    for i, (t, write, offset, size) in enumerate(requests(5, 160)):
        stamp = 1_456_135_200_013_118_000 + t // 1000 * 1000
        kind = "" if i % 40 == 9 else "W" if write else "R"  # blank: no response was seen
        response = "" if not kind else f"0.{random.below(4000):06d}000"
        lines.append(f"{stamp // 10**9}.{stamp % 10**9:09d},{response},{kind},{random.below(2)},{offset // 2 // 512 * 512},{size}")
    for i in range(3, 160, 5):  # file order is the order of the responses
        lines[i], lines[i + 1] = lines[i + 1], lines[i]
    return lines


def tencent():
    random = Lcg(15)
    return [f"{1_538_323_200 + t // 10**7},{offset // 1024},{-(-size // 512)},{int(write)},{(1063, 2283)[random.below(2)]}"
            for t, write, offset, size in requests(6, 160)]  # a sample must be short: a second for 10 ms


def spc():
    random = Lcg(16)
    lines = []
    for i, (t, write, offset, size) in enumerate(requests(7, 160)):
        more = ",7,extra" if i % 50 == 3 else ""
        lines.append(f"{random.below(2)},{offset // 1024},{size},{('r', 'w')[write] if i % 3 else ('R', 'W')[write]},"
                     f"{t // 10**9}.{t // 1000 % 10**6:06d}{more}")
    return lines


def fiu():
    random = Lcg(17)
    names = ("syslogd", "kjournald", "nfsd", "imap")
    return [f"{89_966_719_862_396 + t} {2400 + random.below(9)} {names[random.below(4)]} {offset // 512} {-(-size // 512)} "
            f"{'W' if write else 'R'} 6 0 {random.below(1 << 31):08x}{random.below(1 << 31):024x}"
            for t, write, offset, size in requests(8, 160)]


def etw():
    random = Lcg(18)
    common = "TimeStamp,     Process Name ( PID),   ThreadID,             IrpPtr"
    disk = "ElapsedTime,  DiskNum, IrpFlags, DiskSvcTime, I/O Pri"
    lines = ["BeginHeader", f"{'DiskReadInit':>23},  {common}", f"{'DiskWriteInit':>23},  {common}"]
    lines += [f"{kind:>23},  {common},   ByteOffset,     IOSize, {disk},  VolSnap,         FileObject, FileName"
              for kind in ("DiskRead", "DiskWrite")]
    lines += [f"{'DiskFlush':>23},  {common},                           {disk}", "EndHeader",
              "OS Version: 5.2.3790, Trace Size: 64KB, Events Lost: 0"]
    rows = []
    for i, (t, write, offset, size) in enumerate(requests(9, 120)):
        start, elapsed = 500_000 + t // 1000, 80 + random.below(9000)
        who = f"{'sqlservr.exe' if i % 3 else 'System'} ({412 if i % 3 else 4:5d}),  {800 + random.below(90):8d}, 0xfffffa80{i:08x}"
        kind = "DiskWrite" if write else "DiskRead"
        rows.append((start, i, f"{kind + 'Init':>23}, {start:10d}, {who}"))
        rows.append((start + elapsed, i, f"{kind:>23}, {start + elapsed:10d}, {who}, 0x{offset:010x}, 0x{size:08x}, {elapsed:8d}, "
                     f"{0:4d}, 0x060043, {elapsed:8d}, Normal, , 0xfffffa80deadbeef, \"D:\\data, log\\a.mdf\""))
        if i % 30 == 8:
            rows.append((start + 900, i, f"{'DiskFlush':>23}, {start + 900:10d}, {who}, {700:8d}, {0:4d}, 0x060040, {700:8d}, Normal"))
    rows.sort()
    return lines + [row for _, _, row in rows]


def main():
    root = pathlib.Path(__file__).resolve().parents[2]
    directory = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else root / "configs" / "workload" / "traces"
    directory.mkdir(parents=True, exist_ok=True)
    for name, lines in (("msr.csv", msr()), ("mqsim.trace", mqsim()), ("alibaba.csv", alibaba()),
                        ("blkparse.txt", blkparse()), ("systor.csv", systor()), ("tencent.csv", tencent()),
                        ("spc.txt", spc()), ("fiu.txt", fiu()), ("etw.txt", etw())):
        text = "\n".join(lines) + "\n"
        (directory / name).write_text(text)
        if name == "msr.csv":  # published MSR traces come compressed
            (directory / (name + ".gz")).write_bytes(gzip.compress(text.encode(), mtime=0))


if __name__ == "__main__":
    main()
