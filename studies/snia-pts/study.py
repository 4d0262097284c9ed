# SPDX-License-Identifier: Apache-2.0
"""SNIA's Solid State Storage Performance Test Specification on a small drive: IOPS, throughput, latency and write saturation, with its rule of the
steady state. README.md says what of it is known and what is scaled."""

import itertools
import pathlib
import statistics

from ssdtlm.studying import Figure, Point, Study, Trend
from ssdtlm.studying.derived import derive

DEVICE = "mqsim-table3"
FILL = pathlib.Path(__file__).with_name("precondition.fio")
# 16 dies of 16 MiB: a drive that two rounds of cells write over. Its buffer is small, so that what one cell leaves behind is over early in the next, and
# few blocks wait free, so that as much of the flash is in use as in a large drive.
SMALL = {"nand.geometry.channels": 8, "nand.geometry.ways": 2, "nand.geometry.dies_per_chip": 1, "nand.geometry.planes_per_die": 1, "nand.geometry.blocks_per_plane": 128,
         "nand.geometry.pages_per_block": 16, "buffer.size": "256KiB", "gc.soft_free_blocks": 4, "gc.hard_free_blocks": 3, "precondition.state": "fresh"}
RAW = 256
CAPACITIES = {"28 %": 200, "40 %": 182}  # MiB of RAW, by over-provisioning
MIXES = (100, 95, 65, 50, 35, 5, 0)
SIZES = (1024, 128, 64, 32, 16, 8, 4, 0.5)
MOST_ROUNDS, QUICK_ROUNDS, WINDOW = 25, 10, 5
EXCURSION, SLOPE = 0.20, 0.10
DEPTH = 16
CELL_MS = {"IOPS": 25, "throughput": 20, "latency": 100}  # 60 s in the PTS
TRACKED = {"IOPS": (4, 0, "iops"), "throughput": (None, 0, "MB_per_s"), "latency": (4, 0, "mean_us")}


def cells_of(test, size=None):
    """(size in KiB, share of reads) of one round, in the order of the PTS: mixes outside, sizes inside."""
    if test == "IOPS":
        return [(size, mix) for mix, size in itertools.product(MIXES, SIZES)]
    if test == "throughput":
        return [(size, mix) for mix in (100, 0)]
    return [(size, mix) for mix, size in itertools.product((100, 65, 0), (8, 4, 0.5))]


def job_of(test, cells, rounds):
    random = "" if test == "throughput" else "rand"
    words = {100: f"{random}read", 0: f"{random}write"}
    text = f"[global]\nioengine=libaio\ndirect=1\niodepth={1 if test == 'latency' else DEPTH}\nnorandommap\ntime_based\nruntime={CELL_MS[test]}ms\n"
    for number, (size, mix) in itertools.product(range(1, rounds + 1), cells):
        rw = words.get(mix) or f"randrw\nrwmixread={mix}"
        text += f"[{number} {size:g} {mix}]\nstonewall\nrw={rw}\nbs={512 if size == 0.5 else f'{size}k'}\n"
    return text


class SniaPts(Study):
    title = "SNIA PTS: IOPS, throughput, latency, write saturation"
    source = "SNIA Solid State Storage Performance Test Specification, as public scripts and reports have it: preconditioning, cells, window of five rounds."

    def points(self, quick):
        points = []
        for spare in list(CAPACITIES)[:1] if quick else CAPACITIES:
            base = {**SMALL, "ftl.user_capacity": f"{CAPACITIES[spare]}MiB"}
            full = {**base, "precondition.workload": str(FILL)}
            for test, size in (("IOPS", 0), ("throughput", 128), ("throughput", 1024), ("latency", 0)):
                # One command at a time writes little: it takes many rounds until the spare is used up.
                rounds = QUICK_ROUNDS if quick and test != "latency" else MOST_ROUNDS
                points.append(Point({"spare": spare, "test": test, "size": size}, DEVICE, ((test, job_of(test, cells_of(test, size), rounds)),), full))
            saturation = f"[saturation]\nioengine=libaio\ndirect=1\nrw=randwrite\nbs=4k\niodepth={DEPTH}\nnorandommap\nio_size={4 * CAPACITIES[spare]}m\n"
            points.append(Point({"spare": spare, "test": "saturation", "size": 4}, DEVICE, (("saturation", saturation),), {**base, "run.timeseries_interval": "5ms"}))
        return points

    def rows(self, ended):
        rows = []
        for point, result in ended:
            if point.axes["test"] == "saturation":
                rows += self._saturation(point, result)
                continue
            for one in result.fio["jobs"]:
                number, size, mix = one["jobname"].split()
                ops = [one[op] for op in ("read", "write") if one[op]["total_ios"]]
                total = sum(op["total_ios"] for op in ops)
                rows.append({"spare": point.axes["spare"], "test": point.axes["test"], "round": int(number), "size": float(size), "reads": int(mix), "iops": sum(op["iops"] for op in ops),
                             "MB_per_s": sum(op["bw_bytes"] for op in ops) / 1e6, "mean_us": sum(op["lat_ns"]["mean"] * op["total_ios"] for op in ops) / total / 1e3,
                             "max_us": max(op["lat_ns"]["max"] for op in ops) / 1e3})
        return rows

    @staticmethod
    def _saturation(point, result):
        """A row for each 25th of the capacity that is written."""
        capacity = CAPACITIES[point.axes["spare"]] * 2**20
        model = derive(point.device, point.settings)["figures"]["steady state of random writes"]["values"]["steady_random_write_iops"]["value"]
        rows, written, since, ios = [], 0, 0.0, 0
        for one in result.time_series:
            written, ios, end = written + one["write_bytes"], ios + one["write_ios"], (one["start_ms"] + one["interval_ms"]) / 1e3
            if ios * 4096 >= capacity / 25:
                rows.append({"spare": point.axes["spare"], "test": "saturation", "seconds": end, "capacities": written / capacity, "iops": ios / (end - since), "formula": model})
                since, ios = end, 0
        return rows

    # -----------------------------------------------------------------------------------------------------------------

    def figures(self, rows):
        figures = []
        for spare in dict.fromkeys(row["spare"] for row in rows):
            mine = [{**row, "KiB": f"{row['size']:g}", "mix": f"{row['reads']} % reads"} if "size" in row else row for row in rows if row["spare"] == spare]
            for test, (_, _, column) in TRACKED.items():
                rounds = [row for row in mine if row["test"] == test]
                unit = {"iops": "IOPS", "MB_per_s": "MB/s", "mean_us": "us"}[column]
                writes = [row for row in rounds if row["reads"] == 0]
                name = f"{test.lower()}-{spare.split()[0]}"
                figures.append(Figure(f"{name}-convergence", f"{test}, {spare} spare: writes of each size over the rounds", "curves", writes, "round", column, "KiB", unit,
                                      log="y" if test == "IOPS" else ""))
                steady = window_of(rounds, test)
                figures.append(Figure(f"{name}-window", f"{test}, {spare} spare: the window of the steady state", "curves", window_lines(rounds, test, steady), "round", column, "line", unit,
                                      dashed=("average", "110 %", "90 %", "slope")))
                means = averaged(rounds, steady, ("KiB", "mix"), column)
                figures.append(Figure(f"{name}-map", f"{test}, {spare} spare: mean of the window", "map", means, "mix", column, "KiB", unit))
                if test == "latency":
                    figures.append(Figure(f"{name}-most", f"{test}, {spare} spare: longest of the window", "map", averaged(rounds, steady, ("KiB", "mix"), "max_us", max), "mix", "max_us", "KiB", "us"))
                if test == "IOPS":
                    figures.append(Figure(f"{name}-sizes", f"{test}, {spare} spare: IOPS against size", "lines", means[::-1], "KiB", column, "mix", unit, log="y"))
        for x, unit in (("seconds", "s"), ("capacities", "times the capacity")):
            figures.append(Figure(f"saturation-{x}", f"Write saturation over {unit}", "curves", [row for row in rows if row["test"] == "saturation"], x, "iops", "spare", "IOPS"))
        return figures

    def trends(self, rows):
        trends = []
        for spare in dict.fromkeys(row["spare"] for row in rows):
            of = {test: [row for row in rows if row["spare"] == spare and row["test"] == test] for test in (*TRACKED, "saturation")}
            for test in TRACKED:
                steady = window_of(of[test], test)
                trends.append(Trend(f"{test}, {spare} spare: a window of five rounds is steady within {of[test][-1]['round']} rounds", steady is not None,
                                    f"rounds {steady - WINDOW + 1} to {steady}" if steady else "none"))
            means = {(row["size"], row["reads"]): row["iops"] for row in averaged(of["IOPS"], window_of(of["IOPS"], "IOPS"), ("size", "reads"), "iops")}
            sizes = [size for size in SIZES if size >= 4]
            trends.append(Trend(f"IOPS fall with the size from 4 KiB on, at each mix, {spare} spare",
                                all(means[b, mix] > means[a, mix] for mix in MIXES for a, b in zip(sizes, sizes[1:])), f"{means[4, 100]:.0f} to {means[1024, 100]:.0f} reads, {means[4, 0]:.0f} to {means[1024, 0]:.0f} writes"))
            trends.append(Trend(f"At 4 KiB, the more reads the more IOPS, {spare} spare", all(means[4, a] > means[4, b] for a, b in zip(MIXES, MIXES[1:])), ", ".join(f"{mix} % {means[4, mix]:.0f}" for mix in MIXES)))
            trends.append(Trend(f"Writes of 512 B are slower than those of 4 KiB, as a unit of 4 KiB is read first, {spare} spare", means[0.5, 0] < means[4, 0], f"{means[0.5, 0]:.0f} and {means[4, 0]:.0f} IOPS"))
            points = of["saturation"]
            fresh, last = statistics.median(row["iops"] for row in points if row["capacities"] < 0.9), statistics.mean(row["iops"] for row in points if row["capacities"] > 3)
            cliff = next(row["capacities"] for row in points if row["iops"] < 0.75 * fresh)
            trends.append(Trend(f"Write saturation: a fresh drive keeps its speed until its flash is full, then falls, {spare} spare", 0.8 < cliff * CAPACITIES[spare] / RAW < 1.15 and last < 0.8 * fresh,
                                f"{fresh:.0f} IOPS until {cliff:.2f} times the capacity, {last:.0f} in the end"))
            trends.append(Trend(f"... to what `config derive` says of the steady state, within 10 %, {spare} spare", abs(last / points[0]["formula"] - 1) < 0.1, f"{last:.0f}, formula {points[0]['formula']:.0f} IOPS"))
        return trends


def tracked(rows, test):
    """Values of the tracked cell by round. Of throughput it is the mean over the sizes."""
    size, reads, column = TRACKED[test]
    rounds = {}
    for row in rows:
        if row["reads"] == reads and (size is None or row["size"] == size):
            rounds.setdefault(row["round"], []).append(row[column])
    return [statistics.mean(rounds[number]) for number in sorted(rounds)]


def slope_of(values):
    """Of the straight line of least squares, a round."""
    middle, mean = (len(values) - 1) / 2, statistics.mean(values)
    return sum((i - middle) * (value - mean) for i, value in enumerate(values)) / sum((i - middle) ** 2 for i in range(len(values)))


def is_steady(values):
    """PTS: the largest and the smallest value are no more than 20 % of the mean apart, and the ends of the straight line no more than 10 %."""
    mean = statistics.mean(values)
    return max(values) - min(values) <= EXCURSION * mean and abs(slope_of(values)) * (len(values) - 1) <= SLOPE * mean


def window_of(rows, test):
    """The last round of the first steady window; None."""
    values = tracked(rows, test)
    return next((end for end in range(WINDOW, len(values) + 1) if is_steady(values[end - WINDOW:end])), None)


def window_lines(rows, test, steady):
    """What the PTS draws: the tracked values, and over the window their mean, 110 and 90 % of it, and the straight line."""
    column, values = TRACKED[test][2], tracked(rows, test)
    lines = [{"round": number, "line": "measured", column: value} for number, value in enumerate(values, 1)]
    if steady:
        window = values[steady - WINDOW:steady]
        mean, slope = statistics.mean(window), slope_of(window)
        for i, number in enumerate(range(steady - WINDOW + 1, steady + 1)):
            lines += [{"round": number, "line": line, column: value} for line, value in (("average", mean), ("110 %", 1.1 * mean), ("90 %", 0.9 * mean), ("slope", mean + slope * (i - (WINDOW - 1) / 2)))]
    return lines


def averaged(rows, steady, names, column, how=statistics.mean):
    """Over the rounds of the window (all of them where none is steady), a row for each value of `names`."""
    found = {}
    for row in rows:
        if steady is None or steady - WINDOW < row["round"] <= steady:
            found.setdefault(tuple(row[name] for name in names), []).append(row[column])
    return [{**dict(zip(names, key)), column: how(values)} for key, values in found.items()]


STUDY = SniaPts()
