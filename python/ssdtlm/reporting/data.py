# SPDX-License-Identifier: Apache-2.0
"""What a report shows, as rows for its charts and tables. Standard library only; times in us unless a name says otherwise."""

import itertools
import math

from ..result import OPERATIONS
from .scales import nines

BANDS = ((0, 50), (50, 90), (90, 99), (99, 99.9), (99.9, 99.99), (99.99, 100))
PERCENTILES = (50, 90, 99, 99.9, 99.99)
# With fewer commands above a percentile its value is chance.
FEW_ABOVE = 10
# Of a line in a chart: each point stands for a group of rows, with their mean, minimum and maximum.
MOST_POINTS = 150
# A row of the time series that is shorter than this part of the first one says nothing about rates.
SHORT = 0.5
# Of a histogram: more counts than this share bars.
MOST_BARS = 40


def operations(result):
    """The names of the operations that a run measured, in the order of OPERATIONS."""
    return [op for op in OPERATIONS if op in result.latency_us]


def few_above(count, percentile):
    return count * (100 - percentile) / 100 < FEW_ABOVE


def _total(row):
    return sum(row[name] for name in row if name.endswith("_ps"))


def breakdown(result, op):
    """{stage: its part of the mean latency in us} of an operation."""
    return {stage: row["mean"] for stage, row in result.latency_us[op].items() if stage != "total"}


def bands(result, op):
    """Commands by their place in the order of total latency: rows {"band", "commands", "from", "below", "mean", "stages":
    {stage: mean}}; the stages sum to the mean. A band ends with the bin that its percentile lies in (fio's bins, at most
    1.6 % wide), so that one whose percentiles share a bin is empty and left out."""
    bins = [row for row in result.latency_bins if row["op"] == op]
    count = sum(row["count"] for row in bins)
    rows, cumulative, at = [], 0, 0
    for low, high in BANDS:
        # The rank of the percentile, computed in whole numbers because 0.999 * count is inexact.
        rank = -(-count * round(high * 100) // 10000)
        members = []
        while at < len(bins) and cumulative < rank:
            members.append(bins[at])
            cumulative += bins[at]["count"]
            at += 1
        if not members:
            continue
        commands = sum(row["count"] for row in members)
        stages = {name.removesuffix("_ps"): sum(row[name] for row in members) / commands * 1e-6
                  for name in members[0] if name.endswith("_ps")}
        name = f"{low}–{high} %" if high < 100 else f"above {low} %"
        rows.append({"band": name, "commands": commands, "from": members[0]["from_ns"] / 1000,
                     "below": None if members[-1]["below_ns"] is None else members[-1]["below_ns"] / 1000,
                     "mean": sum(map(_total, members)) / commands * 1e-6, "stages": {s: v for s, v in stages.items() if v}})
    return rows


def cdf(result, op):
    """Points (latency, share of commands below it in percent, the same in nines): of every bin, thinned to the points of a line. The first
    and the last stay."""
    bins = [row for row in result.latency_bins if row["op"] == op]
    count = sum(row["count"] for row in bins)
    largest = result.latency_us[op]["total"]["max"]
    points = [(max(bins[0]["from_ns"], 1) / 1000, 0.0, 0.0)] if bins else []
    for row, cumulative in zip(bins, itertools.accumulate(row["count"] for row in bins)):
        upper = largest if row["below_ns"] is None else row["below_ns"] / 1000
        points.append((max(upper, 0.001), 100 * cumulative / count, nines(cumulative, count)))
    if len(points) <= 2 * MOST_POINTS:
        return points
    step = (len(points) - 1) / (2 * MOST_POINTS - 1)
    return [points[round(i * step)] for i in range(2 * MOST_POINTS)]


def _groups(rows):
    """Lists of successive rows of the time series; each list is one point of a line. A rest at the end that is much shorter than the others belongs to the one before it:
    rates of a moment are no more than chance."""
    size = max(1, math.ceil(len(rows) / MOST_POINTS))
    groups = [rows[begin:begin + size] for begin in range(0, len(rows), size)]
    length = lambda group: sum(row["interval_ms"] for row in group)
    if len(groups) > 1 and length(groups[-1]) < SHORT * length(groups[0]):
        rest = groups.pop()
        groups[-1] = groups[-1] + rest
    return groups


def series(rows, value, highest=None):
    """Points {"ms", "mean", "low", "high"} of a line in steps, of value(row of the time series), which may be None: `mean` weighted by
    time, `high` the largest of highest(row) where that is given. Without it a row that is much shorter than the others has no part in
    `low` and `high`. A step ends where the next one begins; the last of a line repeats its values at its end. Where no row has a value
    the line ends, and a point of None separates it from the next one."""
    points = []
    for members in _groups(rows):
        group = [(row, v) for row in members if (v := value(row)) is not None]
        if not group:
            if points and points[-1]["mean"] is not None:
                points += [{**points[-1], "ms": members[0]["start_ms"]}, {"ms": members[0]["start_ms"], "mean": None, "low": None, "high": None}]
            continue
        weight = sum(row["interval_ms"] for row, _ in group)
        mean = sum(row["interval_ms"] * v for row, v in group) / weight
        whole = [v for row, v in group if row["interval_ms"] >= SHORT * rows[0]["interval_ms"]] or [mean]
        points.append({"ms": members[0]["start_ms"], "mean": mean, "low": min(mean, *whole),
                       "high": max(highest(row) for row, _ in group) if highest else max(mean, *whole)})
    if points and points[-1]["mean"] is None:
        points.pop()
    elif points:
        points.append({**points[-1], "ms": rows[-1]["start_ms"] + rows[-1]["interval_ms"]})
    return points


def _bends(rows):
    """[(ms, change of slope in 1/ms)], by time, of the number of outstanding reads and writes as a line of straight pieces.

    A row knows how many commands completed in it, their mean and their longest latency, but not when each began. Its commands count as
    so many of the longest latency as have the same sum of latencies. Their completions are spread evenly over the row."""
    bends = []
    for row in rows:
        begin, length = row["start_ms"], row["interval_ms"]
        for op in ("read", "write"):
            longest = (row[f"{op}_max_us"] or 0) / 1000
            if not longest:
                continue
            slope = row[f"{op}_ios"] * row[f"{op}_mean_us"] / 1000 / longest / length
            bends += [(begin - longest, slope), (begin + length - longest, -slope), (begin, -slope), (begin + length, slope)]
    return sorted(bends)


def _integrals(bends, times):
    """The area below such a line up to each of `times`, which rise."""
    areas, at, now, area, level, slope = [], 0, bends[0][0] if bends else 0.0, 0.0, 0.0, 0.0
    for time in times:
        while now < time:
            until = min(time, bends[at][0]) if at < len(bends) else time
            step = until - now
            area += step * (level + slope * step / 2)
            level, now = level + slope * step, until
            while at < len(bends) and bends[at][0] <= now:
                slope += bends[at][1]
                at += 1
        areas.append(area)
    return areas


def with_outstanding(rows):
    """The rows of a time series with "outstanding": the mean number of reads and writes under way. By Little's law the sum of all
    latencies is the sum of outstanding commands over time; here each latency counts in the rows in which its command was under way."""
    areas = _integrals(_bends(rows), [time for row in rows for time in (row["start_ms"], row["start_ms"] + row["interval_ms"])])
    return [{**row, "outstanding": max(0.0, end - begin) / row["interval_ms"]} for row, begin, end in zip(rows, areas[::2], areas[1::2])]


def _by_die(result, **columns):
    """Rows {"channel", "die", ...} of lists with a value for each die; the number of a die counts within its channel. [] when the lists are
    empty."""
    count = len(next(iter(columns.values())))
    per_channel = count // result.config["nand.geometry.channels"]
    return [{"channel": i // per_channel, "die": i % per_channel, **{name: values[i] for name, values in columns.items()}} for i in range(count)]


def utilisation(result):
    """Rows {"channel", "die", "busy"} in percent."""
    return _by_die(result, busy=[100 * share for share in result.json.get("resources", {}).get("die", {}).get("busy", [])])


def die_queues(result):
    """Rows {"channel", "die", "waiting", "most"}: flash transactions that waited for the die, mean and largest of what was seen
    at the ends of the intervals of the time series."""
    queue = result.json.get("die_queue", {})
    return _by_die(result, waiting=queue.get("mean", []), most=queue.get("max", []))


def wear(result):
    """Rows {"channel", "die", "erases", "fewest", "most"}: how often the blocks of a die were erased, preconditioning included:
    mean, least and most of its blocks. Empty when no block was."""
    found = result.json.get("wear", {})
    if not any(found.get("erases_max", [])):
        return []
    return _by_die(result, erases=found["erases_mean"], fewest=found["erases_min"], most=found["erases_max"])


def blocks_by_erases(result):
    """Rows {"erases", "below", "blocks"}: blocks of the device by how often they were erased, from `erases` on and below `below`, in at
    most MOST_BARS steps of equal width. Empty when none was."""
    counts = {row["erases"]: row["blocks"] for row in result.json.get("wear", {}).get("blocks_by_erases", [])}
    if not any(counts):
        return []
    low, high = min(counts), max(counts)
    width = -(-(high - low + 1) // MOST_BARS)
    return [{"erases": begin, "below": begin + width, "blocks": sum(n for erases, n in counts.items() if begin <= erases < begin + width)}
            for begin in range(low, high + 1, width)]


def full_by_valid(result):
    """Rows {"valid", "percent"}: when the run began, full superblocks by the share of their units that was valid. Empty when none was full."""
    bins = result.json.get("precondition", {}).get("reached", {}).get("full_by_valid", [])
    begins = [f"{100 * row['valid_from']:.0f}" for row in bins]
    return [{"valid": f"{begin}–{end}" if end else begin, "percent": 100 * row["share"]} for begin, end, row in zip(begins, [*begins[1:], ""], bins)]


def drive_at_start(result):
    """{name: text}: what was asked of preconditioning, and what it reached. {} for results of a version that does not say it."""
    start = result.json.get("precondition")
    if start is None:
        return {}
    reached, free = start["reached"], start["reached"]["free_superblocks"]
    rows = {"asked for": ", ".join(f"{key} {_plain(value)}" for key, value in start["asked"].items()),
            "mapped": f"{100 * reached['occupancy']:.4g} % of {reached['logical_units']:,} units",
            "free superblocks of a group of planes": f"{free['min']} to {free['max']}, mean {free['mean']:.4g}, {reached['groups']:,} groups",
            "full superblocks": f"{reached['full_superblocks']:,}"}
    if "overwrites" in reached:
        done = reached["overwrites"]
        rows["overwrites"] = f"{done['units']:,} units, write amplification {done['waf']:.4g}"
        if "last_rounds" in done:
            last = done["last_rounds"]
            waf = ", ".join(f"{x:.4g}" for x in done["waf_by_round"][-last["rounds"]:])
            rows["last rounds"] = (f"write amplification {waf}: {100 * last['excursion']:.3g} % between largest and smallest, the line through them "
                                   f"changes by {100 * last['drift']:.3g} %: {'steady' if done['steady'] else 'not steady'}")
        rows["rounds"] = f"{len(done['waf_by_round']):,} of {done['round_units']:,} units, {done['rounds_to_free_blocks']:,} of them to free blocks"
    return rows


def _plain(value):
    return str(value).lower() if isinstance(value, bool) else f"{value:.6g}" if isinstance(value, float) else str(value)


CAUSES = {"gc": "moved by garbage collection", "merges": "moved by merges", "translation": "translation pages", "journal": "journal of deallocations",
          "checkpoints": "checkpoints of the map", "parity": "parity of rows", "padding": "padding of word lines"}


def write_amplification(result):
    """Rows {"cause", "bytes"}: bytes programmed for each byte that the host wrote; they sum to the WAF. Empty when the host wrote nothing, and for
    results of a version that does not count bytes."""
    ftl = result.json["ftl"]
    causes = ftl.get("nand_bytes_by_cause", {})
    if not ftl.get("host_bytes") or not causes:
        return []
    size = ftl["unit_bytes"]
    # For a page that is under way when the window begins or ends, units and bytes count on different sides of the edge.
    data = min(causes.get("host", 0), ftl["host_units"] * size)
    rows = {"units with host data": data, "unused room in host pages": causes.get("host", 0) - data, **{CAUSES[cause]: n for cause, n in causes.items() if cause != "host"}}
    return [{"cause": cause, "bytes": n / ftl["host_bytes"]} for cause, n in rows.items()]


def configuration(result):
    """Rows (key, value, origin) of the parameters that were set by something else than a default or the device's own file."""
    own = result.json["device"] + ".toml:"
    return [(key, result.config[key], origin) for key, origin in result.origins.items()
            if origin != "default" and not origin.startswith(own)]


def jobs(result):
    """Rows {"job", "iops", "mean"} of fio.json, and Jain's fairness of the IOPS (1: all equal)."""
    rows = []
    for job in result.fio["jobs"]:
        ios = sum(job[op]["total_ios"] for op in ("read", "write", "trim"))
        latency = sum(job[op]["total_ios"] * job[op]["lat_ns"]["mean"] for op in ("read", "write", "trim"))
        rows.append({"job": job["jobname"], "iops": sum(job[op]["iops"] for op in ("read", "write", "trim")),
                     "mean": latency / ios / 1000 if ios else 0.0})
    squares = sum(row["iops"] ** 2 for row in rows)
    return rows, sum(row["iops"] for row in rows) ** 2 / (len(rows) * squares) if squares else 1.0


def headroom(result):
    """(resource, factor): by which factor the throughput could grow until the busiest resource is busy all the time, if the cost per
    command stays as it is. None where something else limits."""
    most = result.json.get("limit", {}).get("most")
    return (most["resource"], most["factor"]) if most else None
