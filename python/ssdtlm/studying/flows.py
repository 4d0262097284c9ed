# SPDX-License-Identifier: Apache-2.0
"""Two flows on one drive, as Tavakkol et al. (MQSim, FAST '18) measure them: jobs, figures of a pair, and the trends that many of their figures share."""

from .study import Figure, Trend


def job(name, rw, size_kib, depth, ramp, runtime, *more):
    """(name, text of a job file) of a flow in a closed loop. more: further lines of the file."""
    lines = [f"[{name}]", "ioengine=libaio", "direct=1", f"rw={rw}", f"bs={size_kib}k", f"iodepth={depth}", "time_based", f"ramp_time={ramp}", f"runtime={runtime}", *more]
    return (name, "\n".join(lines) + "\n")


def pair(result):
    """Figures of a run of two flows with --alone. RT is the mean response time in us; slow-down S = RT shared / RT alone; fairness F = min S / max S; weighted
    speed-up WS = sum of 1 / S; chip queue = waiting flash transactions of the flow, shared / alone. All as in the paper's section 3."""
    row = {}
    for number, flow in enumerate(result.flows, 1):
        alone, over = flow["alone"], flow["over_alone"]
        row |= {f"S_{number}": over["slowdown"], f"RT_{number}": flow["response_us"], f"RT_{number} alone": alone["response_us"], f"kIOPS_{number}": flow["iops"] / 1000,
                f"kIOPS_{number} alone": alone["iops"] / 1000, f"requests_{number}": flow["commands"]}
        if over.get("chip_queue") is not None:
            row[f"chip queue_{number}"] = over["chip_queue"]
        if flow.get("map"):
            row |= {f"map hits_{number}": flow["map"]["hit_ratio"], f"map hits_{number} alone": alone["map"]["hit_ratio"]}
    row |= {"F": result.json["interference"]["fairness"], "WS": result.json["interference"]["weighted_speedup"]}
    return row


def normalised(rows, base):
    """Adds throughput as multiples: of the row `base`, where both flows begin, and of the flow alone. The paper does not say which it means."""
    return [{**row, **{f"throughput_{n}": row[f"kIOPS_{n}"] / base[f"kIOPS_{n}"] for n in (1, 2)},
             **{f"throughput_{n} of alone": row[f"kIOPS_{n}"] / row[f"kIOPS_{n} alone"] for n in (1, 2)}} for row in rows]


def lines(rows, x, columns, by=""):
    """Rows of a chart with a line for each of `columns`; `by`: also for each value of this column."""
    found = {}
    for column in columns:
        for row in rows:
            if row.get(column) is not None:
                line = column + (f", {row[by]}" if by and "released" not in column else "")
                found[line, row[x]] = {x: row[x], "value": row[column], "line": line}
    return list(found.values())


def charts(name, title, rows, x, by, more=()):
    """Charts of a series as the paper has them: slow-down, normalised throughput, fairness and weighted speed-up. `more`: (word, columns, unit)."""
    panels = [("slow-down", ("S_1", "S_2", "S_1 released"), ""), ("throughput over the first point", ("throughput_1", "throughput_2"), ""),
              ("fairness and weighted speed-up", ("F", "WS"), ""), *more]
    return [Figure(f"{name}-{word.split()[0]}", f"{title}: {word}", "lines", lines(rows, x, columns, by), x, "value", "line", unit or word)
            for word, columns, unit in panels if lines(rows, x, columns)]


def series(rows, **of):
    """The rows that have all of these values."""
    return [row for row in rows if all(row.get(key) == value for key, value in of.items())]


def change(rows, x, column):
    """The values over the axis as text: '1.05 at 2, 13.7 at 256'."""
    return ", ".join(f"{row[column]:.3g} at {row[x]:g}" for row in rows)


def rises(sentence, rows, x, column, slack=0.0, **more):
    """Whether each value is above the one before, or below it by the part `slack` at most."""
    values = [row[column] for row in rows]
    return Trend(sentence, values[-1] > values[0] and all(b >= a * (1 - slack) for a, b in zip(values, values[1:])), change(rows, x, column), **more)


def falls(sentence, rows, x, column, slack=0.0, **more):
    values = [row[column] for row in rows]
    return Trend(sentence, values[-1] < values[0] and all(b <= a * (1 + slack) for a, b in zip(values, values[1:])), change(rows, x, column), **more)


def near(sentence, rows, x, column, other, tolerance, **more):
    """Whether `column` equals `other` (a column or a number) within the part `tolerance`, in every row that has both."""
    pairs = [(row[x], row[column], other if isinstance(other, (int, float)) else row[other]) for row in rows if isinstance(other, (int, float)) or row.get(other) is not None]
    worst = max(pairs, key=lambda pair: abs(pair[1] / pair[2] - 1))
    return Trend(sentence, abs(worst[1] / worst[2] - 1) <= tolerance, f"worst {worst[1]:.3g} against {worst[2]:.3g} ({100 * (worst[1] / worst[2] - 1):+.1f} %) at {worst[0]:g}", **more)
