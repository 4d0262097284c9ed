# SPDX-License-Identifier: Apache-2.0
"""Whose commands wait: the jobs, tenants and write streams that a report shows, as rows. Standard library only; times in us."""

from ..result import OWNERS

KINDS = {"job": "job", "tenant": "tenant", "stream": "write stream"}
# In a chart, because there may be hundreds of jobs.
MOST_BARS = 12
# Names of streams 1 to 4, as fio's write_hint has them.
HINTS = ("short", "medium", "long", "extreme")


def _names(result, kind):
    """{number: name} of jobs, tenants or streams. A tenant has a name where all of its jobs have the same one."""
    if kind == "stream":
        return dict(enumerate(HINTS, 1))
    names = {}
    for row in result.latency_of("job"):
        names.setdefault(row.get(kind), set()).add(row["name"])
    return {number: of_one.pop() for number, of_one in names.items() if len(of_one) == 1}


def rows(result, kind):
    """Rows of Result.latency_of(), with "number" and "label" (for example "1 reader") added."""
    names = _names(result, kind)
    return [{**row, "number": row[kind], "label": f"{row[kind]} {names.get(row[kind], '')}".strip()} for row in result.latency_of(kind)]


def count(results, kind, op):
    """How many jobs, tenants or streams of all results have commands of the operation."""
    return len(_longest(results, kind, op))


def _longest(results, kind, op):
    """{number: its longest p99 in us, over all results}."""
    found = {}
    for result in results:
        for row in result.latency_of(kind):
            if row["op"] == op:
                found[row[kind]] = max(found.get(row[kind], 0), row["p99"])
    return found


def drawn(results, kind, op):
    """For each result the rows that a chart of the operation shows. The numbers are the same in all: all of them in order, or if there are
    more than MOST_BARS those with the longest p99, the slowest first. Empty lists where fewer than two can be compared."""
    p99 = _longest(results, kind, op)
    if len(p99) < 2:
        return [[] for _ in results]
    order = sorted(p99) if len(p99) <= MOST_BARS else sorted(p99, key=lambda number: (-p99[number], number))[:MOST_BARS]
    found = [{row["number"]: row for row in rows(result, kind) if row["op"] == op} for result in results]
    return [[of_one[number] for number in order if number in of_one] for of_one in found]


def parts(results, op):
    """A list of {stage: us}, one for each bar that is drawn for the operation."""
    return [row["stages"] for kind in OWNERS for of_one in drawn(results, kind, op) for row in of_one]
