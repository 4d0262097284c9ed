# SPDX-License-Identifier: Apache-2.0
"""Whose commands wait: the jobs, tenants and write streams that a report shows, as rows. Standard library only; times in us."""

from ..result import OWNERS

KINDS = {"job": "job", "tenant": "tenant", "stream": "write stream"}
# Of a chart; there may be hundreds of jobs.
MOST_BARS = 12
# fio's write_hint, from stream 1 on.
HINTS = ("short", "medium", "long", "extreme")


def _names(result, kind):
    """{number: name}. A tenant is called as all of its jobs are."""
    if kind == "stream":
        return dict(enumerate(HINTS, 1))
    names = {}
    for row in result.latency_of("job"):
        names.setdefault(row.get(kind), set()).add(row["name"])
    return {number: of_one.pop() for number, of_one in names.items() if len(of_one) == 1}


def rows(result, kind):
    """Those of Result.latency_of(), with "number" and "label" ("1 reader")."""
    names = _names(result, kind)
    return [{**row, "number": row[kind], "label": f"{row[kind]} {names.get(row[kind], '')}".strip()} for row in result.latency_of(kind)]


def count(results, kind, op):
    return len(_longest(results, kind, op))


def _longest(results, kind, op):
    """{number: p99}: the longest of all results."""
    found = {}
    for result in results:
        for row in result.latency_of(kind):
            if row["op"] == op:
                found[row[kind]] = max(found.get(row[kind], 0), row["p99"])
    return found


def drawn(results, kind, op):
    """For each result its rows of an operation that a chart shows, the same numbers in all: all of them by number, or when these are
    more than MOST_BARS the slowest by p99, slowest first. Empty lists where there are not two to be compared."""
    p99 = _longest(results, kind, op)
    if len(p99) < 2:
        return [[] for _ in results]
    order = sorted(p99) if len(p99) <= MOST_BARS else sorted(p99, key=lambda number: (-p99[number], number))[:MOST_BARS]
    found = [{row["number"]: row for row in rows(result, kind) if row["op"] == op} for result in results]
    return [[of_one[number] for number in order if number in of_one] for of_one in found]


def parts(results, op):
    """The stages of all bars of an operation."""
    return [row["stages"] for kind in OWNERS for of_one in drawn(results, kind, op) for row in of_one]
