# SPDX-License-Identifier: Apache-2.0
"""What the report of a sweep shows, as rows for its charts. Standard library only."""

import collections
import itertools
import statistics

from ..result import OPERATIONS
from ..sweeping.expressions import in_base_units
from ..sweeping.points import shown

# An axis with more values than this has GROUPS places instead, each with equally many values.
MOST_LEVELS, GROUPS = 12, 8
# Of the parallel coordinates; of more points those with middle values of the first metric are left out.
MOST_LINES = 300
# Verdicts on a run that is no steady state, the worse one first, and how a picture marks a point with one.
UNSTEADY, MARK = ("not steady", "too short to say"), "×"
# Metrics of which more is better; of all others less is.
MORE_IS_BETTER = ("iops", "MB_per_s", "ios")


def _independent(columns):
    """(keys that are axes, {other key: the axis that it follows}). A key follows another one if each value of that one goes with a single
    value of it, and stands in two points or more. Of two keys that follow each other the first is the axis."""
    keys, followers = list(columns), {}
    for key in columns:
        for other in keys:
            if other == key or 2 * len(set(columns[other])) > len(columns[other]) or len(set(zip(columns[other], columns[key]))) != len(set(columns[other])):
                continue
            if len(set(columns[other])) > len(set(columns[key])) or list(columns).index(other) < list(columns).index(key):
                followers[key] = other
                break
        keys = [k for k in keys if k not in followers]
    return keys, {key: _last(followers, key) for key in followers}


def _last(followers, key):
    while key in followers:
        key = followers[key]
    return key


class Sweep:
    """`rows`: of table.rows(). `axes`: keys with several values; `followers`: {key: axis} of those that say nothing more than an
    axis does (zipped with it, or derived from it), which are no axes of their own; `points`: {"label", axes, metrics}, metrics as means over the seeds;
    `metrics` as asked for, else the throughput and p99 of each operation, and write amplification where it differs."""

    def __init__(self, rows, axes, metrics=(), directions=None):
        self._directions = directions or {}
        done = [row for row in rows if row["state"] == "done"]
        self.runs, self.failed = len(rows), len(rows) - len(done)
        by_point = collections.defaultdict(list)
        for row in done:
            by_point[row["point"]].append(row)
        columns = {key: [shown(of_point[0].get(key)) for of_point in by_point.values()] for key in axes}
        self.axes, self.followers = _independent({key: column for key, column in columns.items() if len(set(column)) > 1})
        self.metrics = list(metrics) or list(self._directions) or self._default_metrics(done)
        self.points = []
        for of_point in by_point.values():
            if any(metric not in row for row in of_point for metric in self.metrics):
                continue
            values = {key: of_point[0].get(key) for key in self.axes}
            verdicts = {row.get("steadiness") for row in of_point}
            means = {metric: statistics.fmean(row[metric] for row in of_point) for metric in self.metrics}
            label = ", ".join(f"{k}={shown(v)}" for k, v in values.items())
            unsteady = next((verdict for verdict in UNSTEADY if verdict in verdicts), "")
            self.points.append({"label": f"{label} ({unsteady})" if unsteady else label, "unsteady": unsteady, **values, **means})
        self.known = list(dict.fromkeys(name for row in done for name, value in row.items() if isinstance(value, (int, float)) and not isinstance(value, bool)))

    @staticmethod
    def _default_metrics(done):
        ops = [op for op in OPERATIONS if done and all(f"{op}.total.p99" in row and f"{op}.iops" in row for row in done)]
        found = [f"{op}.{name}" for op in ops[:2] for name in ("iops", "total.p99")]
        if len({row.get("ftl.waf") for row in done}) > 1 and all(row.get("ftl.waf") for row in done):
            found.append("ftl.waf")
        return found

    def more_is_better(self, metric):
        """By what a search looks for, else by the metric's kind."""
        return self._directions[metric] == "maximize" if metric in self._directions else more_is_better(metric)

    def pairs(self):
        """Pairs of metrics for Pareto fronts: those of a search, else pairs in which more is better of one and less of the other."""
        if len(self._directions) > 1:
            return list(itertools.combinations([m for m in self.metrics if m in self._directions], 2))
        return [(a, b) for a, b in itertools.combinations(self.metrics, 2) if more_is_better(a) != more_is_better(b)]

    def levels(self, axis):
        """([name of each place along the axis, by rising value], function value -> name of its place)."""
        values = sorted({_sortable(axis, p[axis]): p[axis] for p in self.points}.items())
        if len(values) <= MOST_LEVELS:
            names = [shown(value) for _, value in values]
            places = {order: name for (order, _), name in zip(values, names)}
        else:
            groups = [values[i * len(values) // GROUPS:(i + 1) * len(values) // GROUPS] for i in range(GROUPS)]
            names = [f"{shown(g[0][1])} – {shown(g[-1][1])}" for g in groups]
            places = {order: name for group, name in zip(groups, names) for order, _ in group}
        return names, lambda value: places[_sortable(axis, value)]

    def effect(self, axis, metric):
        """How much an axis matters for a metric: the distance between the largest and smallest mean over its places, as a part of the mean
        of all points."""
        _, place = self.levels(axis)
        of_place = collections.defaultdict(list)
        for point in self.points:
            of_place[place(point[axis])].append(point[metric])
        means = [statistics.fmean(values) for values in of_place.values()]
        whole = statistics.fmean(point[metric] for point in self.points)
        return (max(means) - min(means)) / abs(whole) if whole else 0.0

    def strongest(self, metric):
        """The axes, that with the largest effect on the metric first."""
        return sorted(self.axes, key=lambda axis: -self.effect(axis, metric))

    def cells(self, x, y, metric):
        """Rows {"x", "y", "value", "points", "mark"} of a map by two axes: the value is the mean over all other keys, of so many points."""
        (_, place_x), (_, place_y) = self.levels(x), self.levels(y)
        cells = collections.defaultdict(list)
        for point in self.points:
            cells[place_x(point[x]), place_y(point[y])].append(point[metric])
        marked = {(place_x(p[x]), place_y(p[y])) for p in self.points if p["unsteady"]}
        return [{"x": a, "y": b, "value": statistics.fmean(values), "points": len(values), "mark": MARK if (a, b) in marked else ""} for (a, b), values in cells.items()]

    def lines(self, x, by, metric):
        """Rows {"x", "by", "value", "points", "mark"} of lines over axis x, one for each value of `by`, or one line of means when `by` is
        None."""
        if by:
            return [{"x": c["x"], "by": c["y"], "value": c["value"], "points": c["points"], "mark": c["mark"]} for c in self.cells(x, by, metric)]
        names, place = self.levels(x)
        members = {name: [p for p in self.points if place(p[x]) == name] for name in names}
        return [{"x": name, "by": "", "value": statistics.fmean(p[metric] for p in found), "points": len(found), "mark": MARK if any(p["unsteady"] for p in found) else ""}
                for name, found in members.items()]

    def pair(self, metric, x=None, by=None):
        """(x, by) for maps and lines: the keys that are given, else the axes with the largest effect on the metric; of two the one with
        more values is x. `by` is None when there is one axis only."""
        others = [axis for axis in self.strongest(metric) if axis not in (x, by)]
        first = x or others.pop(0)
        second = by or (others[0] if others else None)
        if not x and not by and second and len(self.levels(second)[0]) > len(self.levels(first)[0]):
            first, second = second, first
        return first, second

    def front(self, first, second):
        """Rows {"label", first, second, "front"} of all points; front is "yes" where no other point is better in one metric without being
        worse in the other."""
        sign = [-1 if self.more_is_better(metric) else 1 for metric in (first, second)]
        costs = [(sign[0] * p[first], sign[1] * p[second]) for p in self.points]
        best, on_front = None, set()
        for cost in sorted(set(costs)):
            if best is None or cost[1] < best:
                best = cost[1]
                on_front.add(cost)
        return [{"label": p["label"], first: p[first], second: p[second], "front": "yes" if cost in on_front else "no"} for p, cost in zip(self.points, costs)]

    def parallel(self):
        """(rows {"line", "row", "at", "colour", "value"}, names of the rows with their ends): `at` from 0 to 1 is the place of a point
        between the smallest and largest value, by rank for axes that are no numbers."""
        first = self.metrics[0]
        chosen = sorted(self.points, key=lambda p: p[first])
        if len(chosen) > MOST_LINES:
            chosen = chosen[:MOST_LINES // 2] + chosen[-MOST_LINES // 2:]
        rows, names = [], []
        for number, key in enumerate([*self.axes, *self.metrics]):
            order = sorted({_sortable(key, p[key]): p[key] for p in chosen}.items())
            numeric = all(kind == 0 for (kind, _), _ in order)
            low, high = order[0][0][1], order[-1][0][1]
            rank = {o: i / max(1, len(order) - 1) for i, (o, _) in enumerate(order)}
            ends = " … ".join(dict.fromkeys((_short(order[0][1]), _short(order[-1][1]))))
            names.append({"row": number, "name": f"{key}: {ends}"})
            for line, point in enumerate(chosen):
                place = _sortable(key, point[key])
                at = (place[1] - low) / (high - low) if numeric and high > low else rank[place] if high != low else 0.5
                rows.append({"line": line, "row": number, "at": at, "colour": point[first]})
        return rows, names


def _short(value):
    if not isinstance(value, float):
        return shown(value)
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def _sortable(key, value):
    """A key for sorting: numbers come before texts."""
    number = in_base_units(key, value)
    if isinstance(number, (list, tuple)) or number is None:
        number = shown(number)
    if isinstance(number, bool):
        return 0, int(number)
    return (1, number) if isinstance(number, str) else (0, float(number))


def more_is_better(metric):
    return metric.rsplit(".", 1)[-1] in MORE_IS_BETTER
