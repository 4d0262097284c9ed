# SPDX-License-Identifier: Apache-2.0
"""The sections of a report about jobs, tenants and write streams. None is there when one job was all."""

from . import charts, data, owners
from .page import escape, paragraph, table
from .sections import FEW_ABOVE, number, percentile_text

# Of a table that is shown open; a longer one is folded.
MOST_ROWS = 24


def _foldable(rows, summary, shown):
    return f"<details{' open' if len(rows) <= MOST_ROWS else ''}><summary>{escape(summary)}</summary>\n{shown}</details>\n"


def whose(page, runs):
    # Rows of several runs about the same job stand below each other.
    rows = [(label, kind, row) for kind in owners.KINDS
            for row, label in sorted(((row, label) for label, result in runs for row in owners.rows(result, kind)), key=_place)]
    if not rows:
        return
    page.heading("Whose commands wait")
    page.add(paragraph("Jobs are numbered from 0 in the order of the workload, and each clone has a number of its own. Tenants are numbered from 1. "
                       "Writes without a stream are in no row of streams.", "faint"))
    kinds = [(kind, op) for kind in owners.KINDS for op in runs.operations]
    page.charts([chart for kind, op in kinds for chart in _charts(runs, kind, op)])
    long = [f"{count} {owners.KINDS[kind]}s that {op}" for kind, op in kinds if (count := owners.count(runs.results, kind, op)) > owners.MOST_BARS]
    if long:
        page.add(paragraph(f"Of {' and of '.join(long)} the {owners.MOST_BARS} with the longest p99 are drawn, the slowest first. The table has all."))
    note = paragraph(FEW_ABOVE, "faint") if any(data.few_above(row["count"], 99.9) for _, _, row in rows) else ""
    page.add(_foldable(rows, f"In numbers ({len(rows)} rows)", _table(runs, rows) + note))


def _place(row_and_label):
    row, _ = row_and_label
    return row["number"], data.OPERATIONS.index(row["op"])


def _charts(runs, kind, op):
    drawn = owners.drawn(runs.results, kind, op)
    longest = max((row["mean"] for of_one in drawn for row in of_one), default=0)
    return [charts.stacked(f"{kind}-{op}-{i}", runs.titled(f"{op}: mean latency by {owners.KINDS[kind]}", label), op,
                           [(row["label"], row["stages"]) for row in of_one], runs.shown, longest)
            for i, (label, of_one) in enumerate(zip(runs.labels, drawn)) if of_one]


def _table(runs, rows):
    cells = [[f"{owners.KINDS[kind]} {row['label']}", label if runs.several else "", row["op"], f"{row['count']:,}", number(row["mean"]),
              *(percentile_text(row, p) for p in (50, 99, 99.9)), number(row["max"])] for label, kind, row in rows]
    return table(["", "", "", "commands", "mean (us)", "p50 (us)", "p99 (us)", "p99.9 (us)", "longest (us)"], cells, (1, 2))


def jobs(page, runs):
    """Throughput, and how fairly it is shared."""
    rows, fair = [], []
    for label, result in runs:
        found, fairness = data.jobs(result)
        if len(found) > 1:
            rows += [[label if runs.several else "", row["job"], number(row["iops"]), number(row["mean"])] for row in found]
            fair.append(runs.titled(f"fairness of IOPS (Jain) {fairness:.3f}", label))
    if rows:
        page.heading("Jobs")
        page.add(_foldable(rows, f"In numbers ({len(rows)} rows), {'; '.join(fair)}", table(["", "job", "IOPS", "mean latency (us)"], rows, (1,))))
