# SPDX-License-Identifier: Apache-2.0
"""The fio matrix that was published for a WD PC SN730 (SDBQNTY-512-1001): block size x share of reads x queue depth on 2 GB, one job. README.md
says what was published and which cells prove why some trends are missed."""

import itertools
import pathlib

from ssdtlm.studying import Figure, Point, Study, Trend, check

DEVICE = "wd-sn730-512g"
FILL = pathlib.Path(__file__).with_name("fill.fio")
SIZES = (4, 16, 32, 128)             # KiB
READS = (100, 0, 50, 70)             # per cent, in the order of the study
DEPTHS = (1, 32, 256, 1024)
PURE, MIXES = (100, 0), (50, 70)
SIGN = 1.005                         # values closer than this count as equal
MEASURED_WRITES = 67e3               # IOPS of 4 KiB writes: the one number that is known
# What limits the flash alone: a host that costs next to nothing, and writes that go to TLC.
FLASH_ALONE = {"host.submit_time": "500ns", "host.completion_time": "500ns", "slc.blocks": 0}
FLASH_DEPTH = 32
KIB = 1024


def job(size, reads, depth, count):
    rw = {100: "randread", 0: "randwrite"}.get(reads, f"randrw\nrwmixread={reads}")
    return "cell", f"[cell]\nioengine=libaio\ndirect=1\nrw={rw}\nbs={size}k\niodepth={depth}\nsize=2g\nnorandommap\nnumber_ios={count}\n"


class Matrix:
    """Cells by (size, reads, depth): what holds in how many of them."""

    def __init__(self, rows):
        self.cells = {(row["size"], row["reads"], row["depth"]): row for row in rows}
        self.sizes, self.reads, self.depths = (sorted({key[i] for key in self.cells}) for i in range(3))
        self.deep = [depth for depth in self.depths if depth > 1]

    def iops(self, *key):
        return self.cells[key]["iops"]

    def latency(self, *key):
        return self.cells[key]["latency_us"]

    def latency_by_size(self):
        return counted(lambda r: rises([self.latency(s, r, 1) for s in self.sizes]), self.reads)

    def latency_falls_in_places(self):
        return counted(lambda r, d, p: self.latency(p[1], r, d) < self.latency(p[0], r, d), PURE, self.deep, list(zip(self.sizes, self.sizes[1:])))

    def writes_first(self, depth, beside):
        return counted(lambda s: all(self.latency(s, 0, depth) < self.latency(s, r, depth) for r in beside), self.sizes)

    def reads_first(self):
        return counted(lambda s, d: self.latency(s, 100, d) < self.latency(s, 0, d), self.sizes, [d for d in self.deep if d < max(DEPTHS)])

    def iops_by_size(self):
        return counted(lambda r, d: rises([self.iops(s, r, d) for s in self.sizes][::-1]), self.reads, self.depths)

    def order(self, first, second):
        return counted(lambda s, d: self.iops(s, first, d) > self.iops(s, second, d), self.sizes, self.deep)

    def levels_off(self):
        """From one command to the next depth it rises, and the last step brings less than a tenth of that."""
        def holds(r):
            values = [self.iops(128, r, d) for d in self.depths]
            return values[1] > SIGN * values[0] and min(values[1:]) > values[0] and abs(values[-1] / values[-2] - 1) < 0.1 * (values[1] / values[0] - 1)
        return counted(holds, self.reads)

    def latency_by_depth(self):
        return counted(lambda r: rises([self.latency(128, r, d) for d in self.depths]), MIXES)

    def drops(self):
        return counted(lambda r: any(self.latency(128, r, b) < self.latency(128, r, a) for a, b in zip(self.deep, self.deep[1:])), PURE)

    def little(self):
        """How far depth / IOPS is from the mean latency, at most, as a share."""
        return max(abs(row["latency_us"] * row["iops"] / 1e6 / row["depth"] - 1) for row in self.cells.values())


def rises(values):
    return all(b > SIGN * a for a, b in zip(values, values[1:]))


def counted(holds, *axes):
    """(how many, of how many, those that do not hold) of all combinations of the axes."""
    keys = list(itertools.product(*axes))
    misses = [key for key in keys if not holds(*key)]
    return len(keys) - len(misses), len(keys), misses


NOT_HELD = "A closed loop holds its depth: latency is depth / IOPS, checked below. The study has IOPS that fall or stand still and latency that falls, so its job did not hold the depth that it asked for."
MIXED = "In this preset the host limits, and what a mixed job costs the host lies between its reads and its writes. With the host out of the way and writes in TLC, mixes are below both: see the last trend."


class FioMatrix(Study):
    title = "fio matrix of a WD PC SN730: size, share of reads, depth"
    source = "A published fio matrix of a WD PC SN730 SDBQNTY-512-1001: eleven charts, seven trends and one number, 67 kIOPS of 4 KiB writes."

    def points(self, quick):
        sizes, depths = ((4, 32, 128), (1, 32, 1024)) if quick else (SIZES, DEPTHS)
        points = []
        for size, reads, depth in itertools.product(sizes, READS, depths):
            # Deep queues fill and drain at the two ends of a run: many times the depth. What is written fits in the SLC cache beside the region.
            count = 3000 if depth == 1 else 20000 if size < 128 else 14000
            points.append(self._point(size, reads, depth, count, "", {}))
        points += [self._point(4, reads, FLASH_DEPTH, 60000, "flash alone", FLASH_ALONE) for reads in READS]
        return points

    @staticmethod
    def _point(size, reads, depth, count, variant, settings):
        return Point({"size": size, "reads": reads, "depth": depth, "variant": variant}, DEVICE, (job(size, reads, depth, count),),
                     {"precondition.workload": str(FILL), **settings})

    def rows(self, ended):
        rows = []
        for point, result in ended:
            ops = [op for op in ("read", "write") if result.json.get(op, {}).get("ios")]
            ios = sum(result.json[op]["ios"] for op in ops)
            iops = sum(result.json[op]["iops"] for op in ops)
            rows.append({**point.axes, "iops": iops, "MiB_per_s": iops * point.axes["size"] / KIB,
                         "latency_us": sum(result.json["latency_us"][op]["total"]["mean"] * result.json[op]["ios"] for op in ops) / ios,
                         "limits": ", ".join(result.json["limit"]["names"])})
        return rows

    def figures(self, rows):
        """The eleven charts of the study."""
        cells = [{**row, "share": f"{row['reads']} % reads", "KiB": row["size"]} for row in rows if not row["variant"]]
        depths = sorted({row["depth"] for row in cells})
        figures = []
        for column, word, unit in (("latency_us", "Latency", "us"), ("iops", "IOPS", "IOPS")):
            for depth in depths:
                figures.append(Figure(f"{column}-depth-{depth}", f"{word} against size, depth {depth}", "lines", [row for row in cells if row["depth"] == depth], "KiB", column, "share", unit))
        large = [row for row in cells if row["size"] == 128]
        for column, word, unit in (("latency_us", "Latency", "us"), ("iops", "IOPS", "IOPS"), ("MiB_per_s", "Bandwidth", "MiB/s")):
            figures.append(Figure(f"{column}-128k", f"{word} against depth, 128 KiB", "lines", large, "depth", column, "share", unit))
        return figures

    def trends(self, rows):
        m = Matrix([row for row in rows if not row["variant"]])
        deep = [d for d in m.deep if d < max(DEPTHS)]
        found = [
            said("1. At depth 1 latency rises with size", m.latency_by_size(), "shares of reads"),
            said("2. At depth 32 and more, latency of reads alone and of writes alone falls at larger sizes in places", m.latency_falls_in_places(), "steps of size", NOT_HELD, some=True),
            said("3. At depth 1 writes have the lowest latency", m.writes_first(1, [r for r in m.reads if r]), "sizes"),
            said(f"3. At depths {', '.join(map(str, deep))} reads alone are below writes alone", m.reads_first(), "sizes and depths"),
            said("3. At 1024 writes are below reads again", m.writes_first(1024, [100]), "sizes",
                 "At such depths latency is depth / IOPS, so its order is that of the IOPS. The study has reads ahead in IOPS and writes ahead in latency, which a closed loop cannot have."),
            said("4. IOPS fall as the size grows, at every depth", m.iops_by_size(), "shares of reads and depths"),
            said("5. IOPS of reads are above those of writes", m.order(100, 0), "sizes and depths"),
            said("5. IOPS of reads are above those of 70 % reads", m.order(100, 70), "sizes and depths"),
            said("5. IOPS of 70 % reads are above those of 50 % reads", m.order(70, 50), "sizes and depths"),
            said("5. IOPS of writes are above those of 70 % reads", m.order(0, 70), "sizes and depths", MIXED),
            said("5. IOPS of writes are above those of 50 % reads", m.order(0, 50), "sizes and depths", MIXED),
            said("6. At 128 KiB IOPS and bandwidth rise with the depth, then level off", m.levels_off(), "shares of reads"),
            said("7. At 128 KiB latency of mixes rises with the depth", m.latency_by_depth(), "mixes"),
            said("7. At 128 KiB latency of reads alone and of writes alone rises, then drops", m.drops(), "of reads alone and writes alone", NOT_HELD),
        ]
        writes, little = m.iops(4, 0, 32), m.little()
        found.append(Trend("4 KiB writes: about 67 kIOPS (the preset's host times follow from it)", abs(writes / MEASURED_WRITES - 1) < 0.01, f"{writes / 1e3:.1f} kIOPS at depth 32"))
        found.append(check("Why 2, 3 and 7 are missed: latency is depth / IOPS in all cells, within 5 %", little < 0.05, f"within {100 * little:.1f} %"))
        alone = {row["reads"]: row["iops"] for row in rows if row["variant"]}
        found.append(check("Why 5 is missed: where the flash limits (no host time, writes in TLC, depth 32) mixes have fewer IOPS than writes alone", max(alone[r] for r in MIXES) < alone[0],
                           ", ".join(f"{reads} % reads {iops / 1e3:.0f}" for reads, iops in alone.items()) + " kIOPS"))
        return found


def said(sentence, share, of_what, why="", some=False):
    """A Trend that holds in all cells, or in `some`. One with a `why` is known to be missed."""
    held, of, misses = share
    return Trend(sentence, held == of or some and held > 0, f"{held} of {of} {of_what}" + (f", not {misses[:4]}" if misses and not why else ""), expected=not why, why=why)


STUDY = FioMatrix()
