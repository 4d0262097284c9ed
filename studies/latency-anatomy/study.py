# SPDX-License-Identifier: Apache-2.0
"""Where the time of one read goes, over kinds of cells, generations of PCIe and clocks of the flash bus: Fig. 4 of the MQSim paper (Tavakkol et al., FAST
'18) and what follows from it. README.md has the published parts beside ours."""

import itertools

from ssdtlm.studying import Figure, Point, Study, Trend, check
from ssdtlm.studying.derived import derive

DEVICE = "mqsim-table3"
PAGE = 8                             # KiB
# tR. SLC: parts of 34 nm; MLC: Table 3; TLC: BiCS4, 96 layers (ISSCC 2018); QLC: 96 layers, 1.33 Tb (ISSCC 2019, as remembered). Z-NAND: AnandTech 13951.
CELLS = {"Z-NAND": ("3us", 1), "SLC": ("25us", 1), "TLC": ("58us", 3), "MLC": ("75us", 2), "QLC": ("160us", 4)}
GENERATIONS = (3, 4, 5, 6)
# MT/s and the first interface of ONFI that has them.
RATES = {200: "nv-ddr", 333: "nv-ddr2", 400: "nv-ddr2", 533: "nv-ddr2", 800: "nv-ddr3", 1200: "nv-ddr3", 1600: "nv-ddr3", 2400: "nv-lpddr4", 3600: "nv-lpddr4"}
BASE = ("MLC", 3, 333)
# A stand-in for 3D XPoint: 0.3 us in the array, a bus that takes no time.
XPOINT = {"nand.t_read": "300ns", "nand.onfi.interface": "ideal"}

PARTS = {"SQ": ("host_queue", "submit", "arbitration"), "job over PCIe": ("fetch",), "FTL": ("firmware_wait", "firmware", "mapping"), "command, address": (), "read": ("array",),
         "data out": ("channel", "channel_wait"), "ECC and DRAM": ("ecc", "buffer"), "data over PCIe": ("host_transfer", "completion")}
LINK, BUS = ("SQ", "job over PCIe", "data over PCIe"), ("command, address", "data out")
EXACT_US = 1e-6


def job(size):
    return "read", f"[read]\nioengine=libaio\nrw=randread\nbs={size}k\nblockalign={PAGE}k\niodepth=1\nnumber_ios=100\n"


def settings(cell, generation, rate):
    t_read, bits = CELLS[cell]
    return {"nand.t_read": t_read, "nand.bits_per_cell": bits, "link.generation": generation, "nand.onfi.interface": RATES[rate], "nand.onfi.rate": f"{rate}MT/s"}


class LatencyAnatomy(Study):
    title = "Where a read's time goes: cells, link, flash bus"
    source = "Tavakkol et al., MQSim, FAST '18, Fig. 4: seven parts of a read of an 8 KiB page."

    def points(self, quick):
        cell, generation, rate = BASE
        if quick:
            wanted = [(one, generation, rate) for one in CELLS] + [(cell, one, rate) for one in GENERATIONS] + [(cell, generation, one) for one in RATES]
        else:
            wanted = itertools.product(CELLS, GENERATIONS, RATES)
        points = [self._point(*key, size, settings(*key)) for key in dict.fromkeys(wanted) for size in (4, PAGE)]
        return points + [self._point("XPoint", generation, 0, size, XPOINT) for size in (4, PAGE)]

    @staticmethod
    def _point(cell, generation, rate, size, values):
        return Point({"cell": cell, "PCIe": generation, "MT/s": rate, "size": size}, DEVICE, (job(size),), values)

    def rows(self, ended):
        found = {}
        for point, result in ended:
            a = point.axes
            found[a["cell"], a["PCIe"], a["MT/s"], a["size"]] = (point, {stage: value["mean"] for stage, value in result.json["latency_us"]["read"].items()})
        rows = []
        for key, (point, stages) in found.items():
            row = {**point.axes, **{part: sum(stages.get(stage, 0) for stage in names) for part, names in PARTS.items()}, "total": stages["total"]}
            # Data take time in proportion to their bytes: what two sizes leave over is the command.
            four, eight = (found[(*key[:3], size)][1].get("channel", 0) for size in (4, PAGE))
            row["command, address"] = 2 * four - eight
            row["data out"] -= row["command, address"]
            row["sum"] = sum(row[part] for part in PARTS)
            row["formula"] = 1e6 * derive(point.device, point.settings)["figures"]["unloaded latency"]["values"]["read_4k"]["value"] if row["size"] == 4 else ""
            rows.append(row)
        return rows

    def figures(self, rows):
        pages = [row for row in rows if row["size"] == PAGE]
        figures = [stacked("cells", "Parts of a read of 8 KiB, by cell", along(pages, 0), "cell"),
                   stacked("link", "Parts of a read of 8 KiB, by generation of PCIe (x4)", along(pages, 1), "PCIe"),
                   stacked("bus", "Parts of a read of 8 KiB, by clock of the flash bus", along(pages, 2), "MT/s"),
                   Figure("shares", "Share of the array in a read of 8 KiB", "lines", [{**row, "share": 100 * row["read"] / row["total"]} for row in along(pages, 2)], "MT/s", "share", "cell", "%")]
        grid = sorted((row for row in pages if row["PCIe"] == BASE[1] and row["MT/s"]), key=lambda row: (list(CELLS).index(row["cell"]), row["MT/s"]))
        if len(grid) == len(CELLS) * len(RATES):
            figures.append(Figure("cells-and-bus", "Latency of a read of 8 KiB, PCIe Gen3 x4", "map", grid, "MT/s", "total", "cell", "us"))
        return figures

    def trends(self, rows):
        off = max(abs(row["sum"] - row["total"]) for row in rows)
        by_formula = max(abs(row["formula"] - row["total"]) for row in rows if row["size"] == 4)
        pages = [row for row in rows if row["size"] == PAGE]
        base, = (row for row in pages if key_of(row) == BASE)
        xpoint, = (row for row in pages if row["cell"] == "XPoint")
        link = sum(base[part] for part in LINK[1:])
        transfer = {rate: row["data out"] for row in along(pages, 2) for rate in [row["MT/s"]]}
        shares = [(row["cell"], row["read"] / row["total"]) for row in along(pages, 0)]
        saved = along(pages, 1)[0]["total"] - along(pages, 1)[-1]["total"]
        return [
            check("The parts add up to the latency, in each run", off < EXACT_US, f"to {off:.1e} us in {len(rows)} runs"),
            check("Reads of 4 KiB take what `config derive` says, to 0.1 ns", by_formula < 1e-4, f"to {1e6 * by_formula:.0f} ps"),
            only_these(along(pages, 0), ("read",), "The kind of cell changes the read alone"),
            only_these(along(pages, 1), LINK, "The generation of PCIe changes what crosses the link alone"),
            only_these(along(pages, 2), BUS, "The clock of the flash bus changes command and data out alone"),
            Trend("Fig. 4: the SQ takes less than 1 us", base["SQ"] < 1, f"{base['SQ']:.2f} us"),
            Trend("Fig. 4: the FTL takes 1 us at most, with the map in memory", base["FTL"] <= 1, f"{base['FTL']:.2f} us"),
            Trend("Fig. 4: PCIe takes 4 us at most", link <= 4, f"{link:.2f} us"),
            Trend("Fig. 4: flash takes 50 to 110 us", 50 <= base["read"] <= 110, f"{base['read']:.0f} us"),
            Trend("Fig. 4: the transfer takes 20 us, within a fifth", abs(transfer[333] / 20 - 1) < 0.2, f"{transfer[333]:.1f} us at 333 MT/s", expected=False,
                  why="8,640 bytes at the 333 MT/s of Table 3 take 25.9 us; the next trend has the next clock."),
            Trend("Fig. 4: the same at 400 MT/s", abs(transfer[400] / 20 - 1) < 0.2, f"{transfer[400]:.1f} us"),
            Trend("Fig. 4: 3D XPoint reads are below 10 us, less than a tenth of it in array and bus", xpoint["total"] < 10 and (xpoint["read"] + xpoint["data out"]) / xpoint["total"] < 0.1,
                  f"{xpoint['total']:.2f} us, {100 * (xpoint['read'] + xpoint['data out']) / xpoint['total']:.1f} %"),
            check("The slower the cell, the larger its share", all(a < b for (_, a), (_, b) in zip(shares, shares[1:])), ", ".join(f"{cell} {100 * share:.0f} %" for cell, share in shares)),
            check("Gen6 for Gen3 saves less than a twentieth of an MLC read", saved < 0.05 * base["total"], f"{saved:.2f} of {base['total']:.1f} us"),
        ]


def key_of(row):
    return row["cell"], row["PCIe"], row["MT/s"]


def along(rows, axis):
    """Those that differ from BASE in this axis at most, in its order."""
    order = (list(CELLS), list(GENERATIONS), list(RATES))[axis]
    return sorted((row for row in rows if all(i == axis or key_of(row)[i] == BASE[i] for i in range(3)) and key_of(row)[axis] in order), key=lambda row: order.index(key_of(row)[axis]))


def stacked(name, title, rows, x):
    return Figure(name, title, "stacked", [{x: row[x], "part": part, "us": row[part]} for row in rows for part in PARTS], x, "us", "part", "us")


def only_these(rows, parts, sentence):
    """Other parts are equal to a picosecond in all rows."""
    spread = {part: max(row[part] for row in rows) - min(row[part] for row in rows) for part in PARTS}
    others = max(value for part, value in spread.items() if part not in parts)
    return Trend(sentence, others < 2 * EXACT_US and max(spread[part] for part in parts) > 0.01, f"others differ by {1e6 * others:.0f} ps, {' and '.join(parts)} by up to {max(spread[part] for part in parts):.2f} us")


STUDY = LatencyAnatomy()
