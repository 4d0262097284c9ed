# SPDX-License-Identifier: Apache-2.0
"""The sections of a report, from results to a page."""

import os
import shlex

from . import charts, data, owners, phases, scales
from .page import escape, paragraph, table
from .stage_colours import ShownStages


FEW_ABOVE = f"† fewer than {data.FEW_ABOVE} commands took longer: this percentile rests on chance."
NOTHING = "Nothing was measured: no command ended outside of ramps and layouts of files."


def number(x):
    return f"{x:,.0f}" if abs(x) >= 1000 else f"{x:.4g}"


class Runs:
    """The results of a report, each with a short label, and what its sections share: operations, end of the time axis (ms), stages that are
    shown."""

    def __init__(self, results):
        self.results = results
        names = [result.path.resolve().name for result in results]
        self.labels = names if len(set(names)) == len(names) else [str(result.path) for result in results]
        if len(set(self.labels)) != len(self.labels):
            self.labels = [f"{i + 1}: {label}" for i, label in enumerate(self.labels)]
        self.several = len(results) > 1
        self.operations = [op for op in data.OPERATIONS if any(op in data.operations(result) for result in results)]
        self.end_ms = max((result.time_series[-1]["start_ms"] + result.time_series[-1]["interval_ms"] for result in results if result.time_series),
                          default=0)
        self.shown = ShownStages({op: self._parts(op) for op in self.operations})

    def __iter__(self):
        return iter(zip(self.labels, self.results))

    def _parts(self, op):
        results = [result for _, result in self.with_operation(op)]
        return [data.breakdown(result, op) for result in results] + [band["stages"] for result in results for band in data.bands(result, op)] + \
            owners.parts(self.results, op)

    def with_operation(self, op):
        return [(label, result) for label, result in self if op in data.operations(result)]

    def titled(self, title, label):
        return f"{title}: {label}" if self.several else title


def headline(page, runs):
    page.heading("Results")
    head, marked = ["", *runs.labels], False
    rows = []
    line = lambda name, value: rows.append([name, *(value(result) for result in runs.results)])
    line("device", lambda r: r.json["device"])
    line("workload", lambda r: r.json["workload"])
    line("measured commands", lambda r: number(r.json["commands"]))
    line("measured time (s)", lambda r: number(r.json["measured_window_s"]))
    for op in runs.operations:
        metric = lambda name: lambda r, name=name, op=op: number(r.metrics[f"{op}.{name}"]) if op in data.operations(r) else "–"
        line(f"{op} IOPS", metric("iops"))
        line(f"{op} MB/s", metric("MB_per_s"))
        line(f"{op} latency, mean (us)", metric("total.mean"))
        wait = lambda r, op=op: r.metrics.get(f"{op}.block_queue.mean", 0) + r.metrics.get(f"{op}.host_queue.mean", 0)
        if any(wait(r) for r in runs.results):
            line(f"{op}: of it, waiting in the host (us)", lambda r: number(wait(r)))
        for p in data.PERCENTILES:
            def percentile(r, op=op, p=p):
                if op not in data.operations(r):
                    return "–"
                return percentile_text(r.latency_us[op]["total"], p)
            line(f"{op} latency, p{p} (us)", percentile)
            marked = marked or any(row.endswith("†") for row in rows[-1][1:])
        line(f"{op} latency, longest (us)", metric("total.max"))
    line("write amplification (WAF, bytes)", lambda r: number(r.json["ftl"]["waf"]) if r.json["ftl"]["waf"] is not None else "–")
    line("steady state", lambda r: (r.steadiness or {}).get("verdict", "–"))
    page.add(table(head, rows))
    for label, result in runs:
        if result.measured_nothing:
            page.add(paragraph((f"{label}: " if runs.several else "") + NOTHING, "warning"))
    if marked:
        page.add(paragraph(FEW_ABOVE, "faint"))


def percentile_text(row, percentile):
    """A percentile of a row of result.json as text, marked where few commands are above it. row: with "count" and "p99" or the like."""
    return number(row[f"p{percentile}"]) + (" †" if data.few_above(row["count"], percentile) else "")


def limits(page, runs):
    page.heading("What limits, and how much is left")
    for label, result in runs:
        text = result.json["limiting"]
        found = data.headroom(result)
        if found:
            text += f". At the same cost per command, the {found[0]} allows at most {100 * (found[1] - 1):.0f} % more throughput."
        page.add(paragraph(f"{label}: {text}" if runs.several else text))
    page.charts([charts.busy(f"busy-{i}", runs.titled("Busy resources", label),
                             [{"resource": row["resource"], "busy": 100 * row["busy_mean"], "busiest": 100 * row["busy_max"]} for row in result.resources])
                 for i, (label, result) in enumerate(runs) if result.resources])
    page.add(paragraph("Bar: mean over all members. Mark: the busiest member.", "faint"))


def stages(page, runs):
    if not runs.operations:
        return
    page.heading("Where the time goes")
    drawn = []
    for op in runs.operations:
        parts = [(label, data.breakdown(result, op)) for label, result in runs.with_operation(op)]
        drawn.append(charts.stacked(f"mean-{op}", f"{op}: mean latency by stage", op, parts, runs.shown, max(sum(p.values()) for _, p in parts)))
    page.charts(drawn)
    page.heading("Where the time of slow commands goes")
    page.add(paragraph("Commands in the order of their total latency; each bar holds the mean stages of the commands between two percentiles, "
                       "which sum to their mean latency. A band ends with the bin of its percentile (at most 1.6 % wide); one without "
                       "commands is left out.", "faint"))
    drawn, rows = [], []
    for op in runs.operations:
        found = [(label, i, data.bands(result, op)) for i, (label, result) in enumerate(runs) if op in data.operations(result)]
        longest = max(band["mean"] for _, _, bands in found for band in bands)
        for label, i, bands in found:
            parts = [(band["band"], band["stages"]) for band in bands]
            drawn.append(charts.stacked(f"bands-{op}-{i}", runs.titled(f"{op}: latency by band", label), op, parts, runs.shown, longest))
            rows += [[f"{label} {op}" if runs.several else op, band["band"], f"{band['commands']:,}", number(band["from"]),
                      "–" if band["below"] is None else number(band["below"]), number(band["mean"])] for band in bands]
    page.charts(drawn)
    page.add("<details><summary>Bands in numbers</summary>\n" +
             table(["", "band", "commands", "from (us)", "below (us)", "mean (us)"], rows, (1,)) + "</details>\n")


def distribution(page, runs):
    if not runs.operations:
        return
    page.heading("Distribution of latency")
    page.charts([charts.distribution(f"cdf-{op}", f"{op}: share of commands that are done within a latency",
                                     {label: data.cdf(result, op) for label, result in runs.with_operation(op)}) for op in runs.operations])


def _rate(column):
    return lambda row: row[column] / row["interval_ms"]


def _map_hits(row):
    asked = (row.get("map_hits") or 0) + (row.get("map_misses") or 0)
    return 100 * row["map_hits"] / asked if asked else None


# (name, title, unit, {line: (value, highest)}), for data.series(). Lines are left out where results of older versions lack the column.
SERIES = (
    ("iops", "Throughput", "IOPS", {op: (lambda row, op=op: row[f"{op}_iops"], None) for op in ("read", "write")}),
    ("bandwidth", "Bandwidth", "MB/s", {op: (lambda row, op=op: row[f"{op}_MBps"], None) for op in ("read", "write")}),
    ("latency", "Latency (line: mean, area: to the longest)", "us",
     {op: (lambda row, op=op: row[f"{op}_mean_us"], lambda row, op=op: row[f"{op}_max_us"]) for op in ("read", "write")}),
    ("p99", "99th percentile of latency", "us", {op: (lambda row, op=op: row.get(f"{op}_p99_us"), None) for op in ("read", "write")}),
    ("outstanding", "Outstanding reads and writes", "commands", {"outstanding": (lambda row: row["outstanding"], None)}),
    ("moved", "Pages moved by garbage collection", "pages/ms", {"moved": (_rate("moved_pages"), None)}),
    ("erased", "Erased blocks", "blocks/ms", {"erased": (_rate("erased_blocks"), None)}),
    ("waf", "Write amplification", "WAF", {"WAF": (lambda row: row["waf"], None)}),
    ("free", "Free blocks", "blocks", {"free": (lambda row: row["free_blocks"], None), "free in the SLC cache": (lambda row: row.get("slc_free_blocks"), None)}),
    ("hits", "Hits of the cached map", "%", {"hits": (_map_hits, None)}),
)


def _lines(rows, functions):
    """{line: points of data.series()} of the functions (value, highest). Lines that are zero throughout are left out."""
    lines = {line: data.series(rows, value, highest) for line, (value, highest) in functions.items()}
    return {line: points for line, points in lines.items() if any(point["high"] for point in points)}


def over_time(page, runs):
    page.heading("Over time")
    for label, result in runs:
        found = result.steadiness
        if found:
            page.add(paragraph(f"{label}: {found['verdict']}: {found['reason']}.", "" if found["verdict"] == "steady" else "warning"))
    page.add(paragraph("Line: mean of an interval. Area: smallest to largest of the intervals drawn as one. Shaded: files that are laid out, ramps.", "faint"))
    drawn, marked = [], [phases.layers(phases.of_run(result.time_series)) for result in runs.results]
    series = [data.with_outstanding(result.time_series) for result in runs.results]
    for name, title, unit, functions in SERIES:
        lines = [_lines(rows, functions) for rows in series]
        top = max((p["high"] or 0 for of_run in lines for points in of_run.values() for p in points), default=0)
        drawn += [charts.over_time(f"{name}-{i}", runs.titled(title, label), unit, of_run, runs.end_ms, top, marked[i])
                  for i, (label, of_run) in enumerate(zip(runs.labels, lines)) if of_run]
    page.charts(drawn)


# (name, title, function result -> rows, column that is shown, its label, domain of the scale or None for scales.span() over all runs).
HEAT_MAPS = (
    ("dies", "Busy dies", data.utilisation, "busy", "busy (%)", [0, 100]),
    ("queues", "Queues of the dies (mean)", data.die_queues, "waiting", "transactions waiting", None),
    ("worn", "Wear of the dies (mean)", data.wear, "erases", "erases of a block", None),
)


def device(page, runs):
    page.heading("The device")
    drawn = []
    for name, title, of_run, value, unit, domain in HEAT_MAPS:
        found = [(i, label, rows) for i, (label, result) in enumerate(runs) if (rows := of_run(result))]
        domain = domain or scales.span([row[value] for _, _, rows in found for row in rows] or [0])
        drawn += [charts.heat_map(f"{name}-{i}", runs.titled(title, label), rows, value, unit, domain) for i, label, rows in found]
    worn = [(i, label, rows) for i, (label, result) in enumerate(runs) if (rows := data.blocks_by_erases(result))]
    most = max((row["blocks"] for _, _, rows in worn for row in rows), default=0)
    drawn += [charts.histogram(f"wear-{i}", runs.titled("Wear: blocks by erases", label), rows, most) for i, label, rows in worn]
    amplified = [(label, rows) for label, result in runs if (rows := data.write_amplification(result))]
    if amplified:
        drawn.append(charts.amplification("amplification", "Write amplification by cause", amplified))
    page.charts(drawn)
    if any("die_queue" in result.json for result in runs.results):
        page.add(paragraph("Queues are flash transactions that waited for a die, seen at the ends of the intervals of the time series. Wear counts every "
                           "erase since the device was new, preconditioning included.", "faint"))


def drive_at_start(page, runs):
    rows = [(label, data.drive_at_start(result)) for label, result in runs]
    names = list(dict.fromkeys(name for _, found in rows for name in found))
    if not names:
        return
    page.heading("The drive when the run began")
    page.add(table(["", *runs.labels], [[name, *(found.get(name, "–") for _, found in rows)] for name in names], range(1, 1 + len(rows))))
    filled = [(i, label, bars) for i, (label, result) in enumerate(runs) if (bars := data.full_by_valid(result))]
    if filled:
        page.charts([charts.valid_units(f"valid-{i}", runs.titled("Full superblocks by valid units", label), bars) for i, label, bars in filled])


def configuration(page, runs, preset_value):
    """preset_value(device, key): the preset's value, or None."""
    page.heading("Configuration")
    rows = [[label, key, _text(value), _text(preset_value(result.json["device"], key)), origin]
            for label, result in runs for key, value, origin in data.configuration(result)]
    if rows:
        columns = ["", "parameter", "value", "preset", "set by"]
        page.add(table(columns, rows, (1, 4)))
    else:
        page.add(paragraph("Nothing differs from the preset."))
    for label, result in runs:
        page.add(f"<details><summary>All parameters{escape(': ' + label if runs.several else '')}</summary><pre>{escape(result.json['config_toml'])}</pre></details>\n")
        for note in result.json["notes"]:
            page.add(paragraph(f"note: {note}", "faint"))


def _text(value):
    if value is None:
        return "–"
    return str(value).lower() if isinstance(value, bool) else str(value)


def repeat(page, runs, folder):
    page.heading("To run it again")
    for label, result in runs:
        command = " ".join(map(shlex.quote, result.wall_clock.get("command", [])))
        page.add(f"<p>{escape(label)}: version {escape(result.json['ssdtlm'])}, seed {result.seed}<br><code>{escape(command)}</code></p>\n")
        timeline = result.path / "trace.json"
        if timeline.exists():
            page.add(f"<p>Timeline, for ui.perfetto.dev: <code>{escape(os.path.relpath(timeline, folder))}</code></p>\n")
