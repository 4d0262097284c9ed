# SPDX-License-Identifier: Apache-2.0
"""Writes in the order of arrival (FIFO-SSD) against writes grouped by translation page (Hexa-SSD): IEICE Electronics Express 19(21), 2022, art. 20220416.
README.md says what of it is known, what is scaled, and what stands behind each difference."""

import math
import pathlib
import re
import statistics

from ssdtlm.studying import Figure, Point, Study, Trend, check

DEVICE = "hexa-16g"
HERE = pathlib.Path(__file__).resolve().parent
FIFO, HEXA = "arrival", "by_translation_page"
NAMES = {FIFO: "FIFO", HEXA: "Hexa"}
PARTS = ("UD", "MD", "GUD", "GMD")   # of the host (UD: 1), of the map, and what collection moves of both
# A sixteenth of the drive: lines of 1,024 pages in place of 16,384, 896 MiB for the user, 256 MiB that are written. Entries of 16 bytes in place of 4
# leave 64 of the 256 translation pages of that area, so that a group is a half of a line (there an eighth) and is 512 units (there 2,040).
SCALE, ENTRY = 16, 16
UNIT_KIB, USER_MIB, AREA_MIB = 8, 14 * 1024 // SCALE, 4096 // SCALE
UNITS_OF_PAGE = UNIT_KIB * 1024 // ENTRY
PAGES = USER_MIB * 1024 // UNIT_KIB // UNITS_OF_PAGE          # of the map
AREA_PAGES = AREA_MIB * 1024 // UNIT_KIB // UNITS_OF_PAGE     # that the writes make dirty
# Requests of 4 KiB that the buffers of 1 GiB and 64 MiB hold; here each request takes a unit.
BUFFERS = {"1 GB": 262144 // SCALE, "64 MB": 16384 // SCALE}
# Per cent of the map of 16 GiB: of these translation pages so many are protected.
RATIOS = {1: 10, 5: 51, 10: 102, 25: 256, 50: 512, 100: 1024}
SMALL = {
    "ftl.user_capacity": f"{USER_MIB}MiB", "nand.geometry.pages_per_block": 256 // SCALE, "map.entry_size": f"{ENTRY}B", "map.cache": f"{ENTRY}MiB",
    # As configs/sweep/hexa.toml has it.
    "precondition.state": "random", "precondition.overwrite": "50%", "precondition.fill": "85.7143%", "ftl.superblock": "drive", "gc.soft_free_blocks": 3,
    "gc.hard_free_blocks": 2, "ftl.mapping": "dftl", "map.granularity": "page", "map.dirty_until": "issued", "map.gc_updates": "found", "buffer.merge_writes": False,
    "buffer.rest_reads": "at_write", "buffer.flush_start": "98%", "nvme.max_transfer": "1MiB", "run.slowest": 0}
# The database of the TPC-C runs: 6 warehouses, twice 5,000 transactions write 1.6 times the area each. Capacitors keep the study's buffer, so flushes end at once.
TPCC = {"buffer.mode": "protected", "workload.tpcc.warehouses": 6, "workload.tpcc.transactions": 5000, "precondition.workload": "tpcc"}
JOBS = {"random": "random", "JESD219": "jesd219"}
WORKLOADS = (*JOBS, "TPC-C")
# One thing changed: (name, workload, job, settings).
BY_CHANCE = ("no pass: a unit may be written again at once", "random", "uniform", {})
NO_LINES = ("blocks of a die in place of lines", "random", "random", {"ftl.superblock": "die"})
NO_SKEW = ("JESD219 without its skew", "JESD219", "jesd219_flat", {})
NO_DOUBLEWRITE = ("TPC-C without the doublewrite area", "TPC-C", "", {"workload.tpcc.doublewrite": False})
FILLS = {gib: (f"{gib} GiB live", "random", "random", {"precondition.fill": f"{100 * gib / 14:.4f}%"}) for gib in (9, 10, 11, 13)}
# JESD219: pages of a write, and (share of accesses, share of the area).
SIZES = {1: 0.87, 2: 0.07, 4: 0.03, 8: 0.03}
SKEW = ((0.50, 0.05), (0.30, 0.15), (0.20, 0.80))
# Pairs of the picture of causes, and from random writes to JESD219 one step after the other: (workload, changed, buffer, ratio) by a short name.
AT_HALF = {"random": ("random", "", "1 GB", 50), "no passes": ("random", BY_CHANCE[0], "1 GB", 50), "no lines": ("random", NO_LINES[0], "1 GB", 50),
           **{f"{gib} GiB live": ("random", change[0], "1 GB", 50) for gib, change in FILLS.items()},
           "TPC-C": ("TPC-C", "", "1 GB", 50), "no doublewrite": ("TPC-C", NO_DOUBLEWRITE[0], "1 GB", 50)}
CHAIN = {"random": ("random", "", "1 GB", 1), "no passes": ("random", BY_CHANCE[0], "1 GB", 1), "+ sizes": ("JESD219", NO_SKEW[0], "1 GB", 1), "+ skew": ("JESD219", "", "1 GB", 1)}
LOW = (1, 5, 10)                     # ratios of the averages published for JESD219 and TPC-C
GUD_WHY = "Groups also lower what collection moves (GUD). A trend below leaves that out."
IOPS_WHY = "As with WAF: dies are the limit, so IOPS follow 1 / WAF."


def changes(quick):
    """(change, buffer, ratio) of each pair of runs in which one thing is changed."""
    found = [(BY_CHANCE, "1 GB", 1), (BY_CHANCE, "1 GB", 50), (NO_LINES, "1 GB", 50), (NO_LINES, "64 MB", 50), (NO_SKEW, "1 GB", 1), (NO_DOUBLEWRITE, "1 GB", 1), (NO_DOUBLEWRITE, "1 GB", 50)]
    return found + [(FILLS[gib], "1 GB", 50) for gib in ((9, 13) if quick else FILLS)]


class Hexa(Study):
    title = "Which dirty pages of the map a drive's capacitors must save (Hexa-SSD, IEICE Electronics Express 2022)"
    source = "IEICE Electronics Express 19(21), 2022, art. 20220416: writes grouped by translation page, in FEMU. Its numbers are averages and one pair; figures are drawn anew."

    def points(self, quick):
        points = []
        for workload in WORKLOADS:
            for buffer in BUFFERS:
                for ratio in ratios(workload, buffer, quick):
                    points += [self._point(workload, "", JOBS.get(workload, ""), buffer, ratio, order, {}) for order in (FIFO, HEXA)]
        for (name, workload, job, settings), buffer, ratio in changes(quick):
            points += [self._point(workload, name, job, buffer, ratio, order, settings) for order in (FIFO, HEXA)]
        return points

    @staticmethod
    def _point(workload, changed, job, buffer, ratio, order, more):
        settings = {**SMALL, "buffer.size": f"{BUFFERS[buffer] * UNIT_KIB}KiB", "buffer.order": order, "map.power_protected": f"{share(ratio):.2f}%"}
        jobs = ()
        if job:
            played = HERE / f"{job}.fio"
            settings["precondition.workload"] = str(played)
            jobs = (("load", half(played.read_text(encoding="utf-8"))),)
        else:
            settings |= TPCC
        axes = {"workload": workload, "changed": changed, "buffer": buffer, "protected": ratio, "order": NAMES[order]}
        return Point(axes, DEVICE, jobs, {**settings, **more}, () if jobs else ("-w", "tpcc"))

    def rows(self, ended):
        rows = []
        for point, result in ended:
            traffic, both = result.json["ftl"]["traffic"], [result.json[op]["iops"] for op in ("read", "write") if result.json.get(op)]
            user = traffic["user_pages"]
            row = {**point.axes, "kIOPS": sum(both) / 1e3, "MD": traffic["mapping_pages"] / user, "GUD": traffic["gc_user_pages"] / user, "GMD": traffic["gc_mapping_pages"] / user,
                   "WAF": sum(traffic.values()) / user, "limit": result.json["limiting"], "passes": user * UNIT_KIB / 1024 / AREA_MIB}
            formula = map_by_formula(point.axes)
            rows.append(row | ({"MD_by_formula": formula} if formula is not None else {}))
        return rows

    # -----------------------------------------------------------------------------------------------------------------

    def figures(self, rows):
        figures = []
        plain = [row for row in rows if not row["changed"]]
        for workload in WORKLOADS:
            for buffer in BUFFERS:
                mine = [{**row, "protected, %": row["protected"], "which": f"{row['protected']} % {row['order']}"} for row in plain if (row["workload"], row["buffer"]) == (workload, buffer)]
                name = f"{workload}-{buffer}".lower().replace(" ", "")
                parts = [{"which": row["which"], "part": part, "pages": row.get(part, 1)} for row in mine for part in PARTS]
                figures.append(Figure(f"waf-{name}", f"Pages written for each page of the host: {workload}, buffer of {buffer}", "stacked", parts, "which", "pages", "part", "pages", 3.5))
                figures.append(Figure(f"iops-{name}", f"IOPS against what of the map is protected: {workload}, buffer of {buffer}", "bars", mine, "protected, %", "kIOPS", "order", "kIOPS"))
        of = pairs(rows)
        gains = [{"gain, %": 100 * (pair["Hexa"]["kIOPS"] / pair["FIFO"]["kIOPS"] - 1), "protected, %": ratio, "line": f"{workload}, {buffer}"}
                 for (workload, changed, buffer, ratio), pair in sorted(of.items(), key=lambda one: one[0][3]) if not changed]
        figures.append(Figure("gains", "What grouping brings", "lines", gains, "protected, %", "gain, %", "line", "more IOPS, %"))
        causes = [{"what": short, "order": order, "GUD": row["GUD"]} for short, key in AT_HALF.items() if key in of for order, row in of[key].items()]
        figures.append(Figure("causes", "What collection moves at 50 %, 1 GB, with one thing changed", "bars", causes, "what", "GUD", "order", "GUD, pages for each of the host"))
        steps = [{"what": short, "part": part, "pages": of[key]["FIFO"].get(part, 1)} for short, key in CHAIN.items() for part in PARTS]
        figures.append(Figure("chain", "From random writes to JESD219: FIFO at 1 %, 1 GB", "stacked", steps, "what", "pages", "part", "pages for each of the host"))
        return figures

    def trends(self, rows):
        of = pairs(rows)
        plain = {key: pair for key, pair in of.items() if not key[1]}
        gain = {key: pair["Hexa"]["kIOPS"] / pair["FIFO"]["kIOPS"] - 1 for key, pair in of.items()}
        less = {key: 1 - pair["Hexa"]["WAF"] / pair["FIFO"]["WAF"] for key, pair in of.items()}
        key = lambda workload, ratio, buffer="1 GB", changed="": (workload, changed, buffer, ratio)
        waf = lambda order, *which: of[key(*which)][order]["WAF"]
        gud = lambda order, *which: of[key(*which)][order]["GUD"]
        low = {workload: [r for r in LOW if key(workload, r) in plain] for workload in WORKLOADS}
        mean_of = lambda what, workload: statistics.mean(what[key(workload, r)] for r in low[workload])
        alone = {w: statistics.mean(of_map(of[key(w, r)]["FIFO"]) for r in low[w]) for w in ("JESD219", "TPC-C")}
        random_low = [key("random", r) for r in (1, 10, 50)]
        return [
            Trend("random, 1 GB, 1 %: WAF of FIFO is 2.3 (2.1 to 2.5)", 2.1 <= waf("FIFO", "random", 1) <= 2.5, f"{waf('FIFO', 'random', 1):.2f}"),
            Trend("random, 1 GB, 1 %: WAF of Hexa is 1.5 (1.15 to 1.55)", 1.15 <= waf("Hexa", "random", 1) <= 1.55, f"{waf('Hexa', 'random', 1):.2f}"),
            Trend("random, 1 GB, 1 %: Hexa has 42.7 % more IOPS (35 to 85 %)", 0.35 <= gain[key("random", 1)] <= 0.85, f"{100 * gain[key('random', 1)]:+.1f} %"),
            Trend("random: the less is protected, the more Hexa gains", falls([gain[k] for k in random_low]), ", ".join(f"{100 * gain[k]:+.1f} % at {k[3]} %" for k in random_low)),
            Trend("random, 1 GB: from 50 % on Hexa has slightly less IOPS than FIFO", -0.15 <= gain[key("random", 50)] < 0, f"{100 * gain[key('random', 50)]:+.1f} %"),
            Trend("random, 1 %: the gain grows with the buffer", gain[key("random", 1)] > gain[key("random", 1, "64 MB")],
                  f"{100 * gain[key('random', 1, '64 MB')]:+.1f} % with 64 MB, {100 * gain[key('random', 1)]:+.1f} % with 1 GB", expected=False,
                  why="64 MB already save all but 3 % of the map's pages. Larger groups move more: GUD below, of lines and of blocks."),
            check("... because of lines: with blocks of a die in their place Hexa's GUD at 50 % is no larger with 1 GB than with 64 MB, to 5 %",
                  gud("Hexa", "random", 50, "1 GB", NO_LINES[0]) < 1.05 * gud("Hexa", "random", 50, "64 MB", NO_LINES[0]),
                  f"{gud('Hexa', 'random', 50, '1 GB', NO_LINES[0]):.3f} and {gud('Hexa', 'random', 50, '64 MB', NO_LINES[0]):.3f}"),
            *(Trend(f"{workload}, 1 GB: Hexa gains at 1 to 10 %, and less than with random writes", all(0 < gain[key(workload, r)] < gain[key("random", r)] for r in low[workload] if key("random", r) in gain),
                    ", ".join(f"{100 * gain[key(workload, r)]:+.1f} % at {r} %" for r in low[workload])) for workload in ("JESD219", "TPC-C")),
            *(Trend(f"{workload}, 1 GB: {said} on average below 10 %, within 5 points", abs(100 * mean_of(what, workload) - published) <= 5, f"{100 * mean_of(what, workload):.1f} %", False, why)
              for workload, said, what, published, why in (("JESD219", "10 % more IOPS", gain, 10, IOPS_WHY), ("JESD219", "11.3 % less WAF", less, 11.3, GUD_WHY),
                                                           ("TPC-C", "5.6 % more IOPS", gain, 5.6, IOPS_WHY), ("TPC-C", "3 % less WAF", less, 3, GUD_WHY))),
            check("If both moved alike (GUD left out), the WAF saved on average below 10 % would be nearer to the one published: JESD219 11.3 %, TPC-C 3 %",
                  all(abs(alone[w] - published) < abs(mean_of(less, w) - published) for w, published in (("JESD219", 0.113), ("TPC-C", 0.03))),
                  ", ".join(f"{w} {100 * alone[w]:.1f} in place of {100 * mean_of(less, w):.1f} %" for w in alone)),
            Trend("TPC-C: pages of the map are 5 % of FIFO's traffic (3 to 8 %)", all(0.03 <= pair["FIFO"]["MD"] / pair["FIFO"]["WAF"] <= 0.08 for k, pair in plain.items() if k[0] == "TPC-C" and k[3] <= 10),
                  ", ".join(f"{100 * pair['FIFO']['MD'] / pair['FIFO']['WAF']:.1f} % at {k[3]} %, {k[2]}" for k, pair in plain.items() if k[0] == "TPC-C" and k[3] <= 10)),
            Trend("TPC-C, 1 %: Hexa is faster with the smaller buffer", of[key("TPC-C", 1, "64 MB")]["Hexa"]["kIOPS"] > of[key("TPC-C", 1)]["Hexa"]["kIOPS"],
                  f"{of[key('TPC-C', 1, '64 MB')]['Hexa']['kIOPS']:.1f} with 64 MB, {of[key('TPC-C', 1)]['Hexa']['kIOPS']:.1f} kIOPS with 1 GB", False,
                  "Large groups part the doublewrite area, which is written again soon, from the tables; the next trend is without that area."),
            Trend("TPC-C, 50 %: without the doublewrite area Hexa moves as much as FIFO (to 3 %), with it less", abs(ratio_of(gud, "TPC-C", 50, "1 GB", NO_DOUBLEWRITE[0]) - 1) < 0.03
                  and ratio_of(gud, "TPC-C", 50) < 0.95, f"GUD of Hexa / FIFO {ratio_of(gud, 'TPC-C', 50, '1 GB', NO_DOUBLEWRITE[0]):.3f} and {ratio_of(gud, 'TPC-C', 50):.3f}"),
            check("The reversal at 50 % is of passes: where a unit may be written again at once, Hexa moves less than FIFO", ratio_of(gud, "random", 50, "1 GB", BY_CHANCE[0]) < 1 < ratio_of(gud, "random", 50),
                  f"GUD of Hexa / FIFO {ratio_of(gud, 'random', 50, '1 GB', BY_CHANCE[0]):.3f}, in passes {ratio_of(gud, 'random', 50):.3f}"),
            check("... and of lines: with blocks of a die in their place both move alike, to 3 %", abs(ratio_of(gud, "random", 50, "1 GB", NO_LINES[0]) - 1) < 0.03, f"{ratio_of(gud, 'random', 50, '1 GB', NO_LINES[0]):.3f}"),
            check("... and of how full the drive is: with 9 GiB live Hexa moves less, with 13 GiB more than with 12", ratio_of(gud, "random", 50, "1 GB", FILLS[9][0]) < 1 < ratio_of(gud, "random", 50)
                  < ratio_of(gud, "random", 50, "1 GB", FILLS[13][0]), ", ".join(f"{ratio_of(gud, 'random', 50, '1 GB', c):.3f} at {n} GiB" for n, c in ((9, FILLS[9][0]), (12, ""), (13, FILLS[13][0])))),
            check("JESD219 gains less than random writes because less of the map is written: MD of FIFO at 1 % falls with its sizes, and again with its skew",
                  falls([of[k]["FIFO"]["MD"] for k in list(CHAIN.values())[1:]]), in_chain(of, "MD")),
            check("... and because more is moved: GUD of FIFO is several times that of passes as soon as a unit may be written again at once", gud("FIFO", "random", 1, "1 GB", BY_CHANCE[0]) > 3 * gud("FIFO", "random", 1)
                  and abs(gud("FIFO", "JESD219", 1) / gud("FIFO", "random", 1, "1 GB", BY_CHANCE[0]) - 1) < 0.15, in_chain(of, "GUD")),
            *by_formula(rows),
        ]


def ratios(workload, buffer, quick):
    if not quick:
        return tuple(RATIOS)
    if buffer == "64 MB":
        return (1, 50) if workload == "random" else (1,)
    return (*LOW, 50) if workload == "JESD219" else (1, 10, 50)


def share(ratio):
    """Of the map of this drive, as --set takes it: so that as many translation pages are protected as of 16 GiB."""
    return min(100.0, 100 * RATIOS[ratio] / (14 * 64))


def protected_pages(ratio):
    return min(PAGES, math.ceil(PAGES * share(ratio) / 100 - 1e-9))


def half(text):
    """Of a job file: half as many bytes."""
    return re.sub(r"(?<=io_size=)\d+", lambda bytes_: str(int(bytes_[0]) // 2), text)


def map_by_formula(axes):
    """Pages of the map for each page of the host; None: no formula."""
    if axes["workload"] == "TPC-C":
        return None
    if axes["order"] == "Hexa":
        # A group has twice the mean of the buffer's units of a translation page (largest first, all are filled alike).
        return AREA_PAGES / (2 * BUFFERS[axes["buffer"]]) if axes["workload"] == "random" and axes["protected"] < 25 and not axes["changed"] else None
    skewed = axes["workload"] == "JESD219" and not axes["changed"]
    pages = sum(size * part for size, part in SIZES.items()) if axes["workload"] == "JESD219" else 1
    return misses(SKEW if skewed else ((1.0, 1.0),), protected_pages(axes["protected"])) / pages


def misses(zones, room):
    """Of an LRU list with `room` of AREA_PAGES pages, which are asked for independently (Che, Tung, Wang 2002)."""
    if room >= AREA_PAGES:
        return 0.0
    inside = lambda time: sum(area * AREA_PAGES * (1 - math.exp(-accesses / (area * AREA_PAGES) * time)) for accesses, area in zones)
    low, high = 0.0, 1e6
    for _ in range(100):
        time = (low + high) / 2
        low, high = (time, high) if inside(time) < room else (low, time)
    return 1 - sum(accesses * (1 - math.exp(-accesses / (area * AREA_PAGES) * time)) for accesses, area in zones)


def pairs(rows):
    """{(workload, changed, buffer, ratio): {"FIFO": row, "Hexa": row}}"""
    found = {}
    for row in rows:
        found.setdefault((row["workload"], row["changed"], row["buffer"], row["protected"]), {})[row["order"]] = row
    return found


def in_chain(of, part):
    return ", ".join(f"{short} {of[key]['FIFO'][part]:.3f}" for short, key in CHAIN.items())


def of_map(row):
    """Share of the traffic."""
    return (row["MD"] + row["GMD"]) / row["WAF"]


def ratio_of(gud, *which):
    return gud("Hexa", *which) / gud("FIFO", *which)


def falls(values):
    return all(b < a for a, b in zip(values, values[1:]))


def by_formula(rows):
    """MD beside the formulas of README.md."""
    fifo = [row for row in rows if row["order"] == "FIFO" and "MD_by_formula" in row]
    hexa = [row for row in rows if row["order"] == "Hexa" and "MD_by_formula" in row]
    worst = max(fifo, key=lambda row: abs(row["MD"] - row["MD_by_formula"]))
    return [check("FIFO: pages of the map for each page of the host are the misses of an LRU list, to 0.02", abs(worst["MD"] - worst["MD_by_formula"]) < 0.02,
                  f"{len(fifo)} runs, worst {worst['MD']:.3f}, by formula {worst['MD_by_formula']:.3f}"),
            check("Hexa, random: they are one for each group of twice the mean, or up to twice as many", all(1 <= row["MD"] / row["MD_by_formula"] <= 2 for row in hexa),
                  ", ".join(f"{row['MD']:.4f} (formula {row['MD_by_formula']:.4f}) at {row['protected']} %, {row['buffer']}" for row in hexa))]


STUDY = Hexa()
