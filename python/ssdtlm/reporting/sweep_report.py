# SPDX-License-Identifier: Apache-2.0
"""`ssdtlm sweep report`: heat maps, Pareto fronts and parallel coordinates of a sweep, one HTML file like that of single runs."""

import pathlib

from ..errors import Problem, UserError, did_you_mean
from ..extras import need
from . import pictures as picture_files
from . import sweep_data

MOST_FRONTS = 3
MOST_ROWS = 50
ROW_HEIGHT = 48


def sweep_report(plan, rows, metrics=(), output=None, objectives=(), x=None, by=None, pictures=None, picture_format="svg"):
    """Writes the report of a sweep (sweeping.plan.Plan, table.rows()) and returns (its path, number of charts); without `output`, report.html in its
    folder. `objectives`: (metric, "minimize" or "maximize") of a search. `x`, `by`: keys of maps and lines, instead of the two that matter most. `pictures`: a folder for the charts as files. Needs the extra `report`. Raises UserError."""
    need("report")
    from . import sweep_charts  # pylint: disable=import-outside-toplevel
    from .page import Page, escape, paragraph, table  # pylint: disable=import-outside-toplevel
    from .report import save  # pylint: disable=import-outside-toplevel
    from .sections import number  # pylint: disable=import-outside-toplevel
    found = sweep_data.Sweep(rows, [*plan.spec.axes, *plan.spec.derived], metrics, dict(objectives))
    if not any(row["state"] == "done" for row in rows):
        raise UserError(Problem(str(plan.output), "has no results", "runs that have ended", "see `ssdtlm sweep status`; -o names the folder of the sweep, --html the file"))
    unknown = [metric for metric in metrics if metric not in found.known]
    if unknown:
        raise UserError(*[Problem(f"--metric {metric}", "is in no result", "for example read.iops, read.total.p99, ftl.waf", did_you_mean(metric, found.known))
                          for metric in unknown])
    if not found.points or not found.metrics or not found.axes:
        raise UserError(Problem(str(plan.output), f"has {len(found.points)} points with results, in which {len(found.axes)} keys and {len(found.metrics)} metrics differ",
                                "at least two points that differ", "see `ssdtlm sweep status`"))
    _check_keys(found, (x, by))
    page = Page(f"ssdtlm: sweep {plan.spec.path.stem}")
    page.add(f"<h1>{escape(f'Sweep {plan.spec.path.stem}')}</h1>\n")
    page.add(paragraph(f"{len(found.points)} points, {found.runs} runs"
                       + (f", of which {found.failed} failed and are not shown (`ssdtlm sweep status`)" if found.failed else "") + "."))
    _unsteady(page, found, table, paragraph)
    _best(page, found, table, number)
    _effects(page, found, table, paragraph)
    page.heading("Two keys at a time")
    chosen = "" if x and by else " The two keys with the most effect on the metric." if not x and not by else f" {x or by} and the key with the most effect on the metric beside it."
    page.add(paragraph("Means over all other keys and seeds." + chosen if len(found.axes) > 1 else "Means over seeds.", "faint"))
    page.charts([chart for metric in found.metrics for chart in _maps(found, metric, sweep_charts, (x, by))])
    fronts = found.pairs()[:MOST_FRONTS]
    if fronts:
        page.heading("Pareto front")
        page.add(paragraph("Of the points on the front none is better in one metric without being worse in the other.", "faint"))
        page.charts([sweep_charts.front(f"front-{i}", f"{b} against {a}", a, b, found.front(a, b)) for i, (a, b) in enumerate(fronts)])
    page.heading("All keys and metrics")
    lines, names = found.parallel()
    page.add(paragraph(f"A line for each point, from key to key; its colour is {found.metrics[0]}."
                       + (f" The {sweep_data.MOST_LINES} points with the smallest and largest are drawn." if len(found.points) > sweep_data.MOST_LINES else ""), "faint"))
    page.charts([sweep_charts.parallel("parallel", "Parallel coordinates", found.metrics[0], lines, names, ROW_HEIGHT)])
    path = pathlib.Path(output) if output else plan.output / "report.html"
    save(page, path)
    picture_files.draw(page, pictures, picture_format)
    return path, len(page.shown)


def _best(page, found, table, number):
    page.heading("Best points")
    rows = []
    for metric in found.metrics:
        pick = max if found.more_is_better(metric) else min
        best = pick(found.points, key=lambda p: p[metric])
        rows.append([metric, "largest" if pick is max else "smallest", number(best[metric]), best["label"]])
    page.add(table(["metric", "", "value", "point"], rows, (1, 3)))


def _unsteady(page, found, table, paragraph):
    marked = [p for p in found.points if p["unsteady"]]
    if not marked:
        return
    page.add(paragraph(f"{len(marked)} of {len(found.points)} points are no steady state, or too short to say; the pictures mark them with {sweep_data.MARK}. "
                       "result.json of each run gives the reason (steadiness).", "warning"))
    page.add("<details><summary>These points</summary>\n" + table(["point", "steady state"], [[p["label"].removesuffix(f" ({p['unsteady']})"), p["unsteady"]] for p in marked], (0, 1)) + "</details>\n")


def _effects(page, found, table, paragraph):
    page.heading("What matters")
    axes = found.strongest(found.metrics[0])
    page.add(table(["key", *found.metrics], [[axis, *(f"{100 * found.effect(axis, metric):.1f} %" for metric in found.metrics)] for axis in axes]))
    page.add('<p class="faint">Distance between the smallest and the largest mean over the values of a key, as a part of the mean of all points.</p>\n')
    for axis in dict.fromkeys(found.followers.values()):
        page.add(paragraph(f"With {axis} goes {' and '.join(key for key, of in found.followers.items() if of == axis)}.", "faint"))


def _maps(found, metric, charts, asked):
    x, by = found.pair(metric, *asked)
    x_names = found.levels(x)[0]
    if not by:
        return [charts.lines(f"line-{metric}", metric, x, "", metric, found.lines(x, None, metric), x_names, [""])]
    by_names = found.levels(by)[0]
    return [charts.heat_map(f"map-{metric}", f"{metric} by {x} and {by}", x, by, metric, found.cells(x, by, metric), x_names, by_names),
            charts.lines(f"line-{metric}", f"{metric} over {x}, a line for each {by}", x, by, metric, found.lines(x, by, metric), x_names, by_names)]


def _check_keys(found, asked):
    """Raises UserError."""
    problems = []
    for option, key in zip(("--x", "--by"), asked):
        if key and key in found.followers:
            problems.append(Problem(f"{option} {key}", f"goes with {found.followers[key]}", f"for example {found.followers[key]}"))
        elif key and key not in found.axes:
            problems.append(Problem(f"{option} {key}", "is no key with several values", f"one of {', '.join(found.axes)}", did_you_mean(key, found.axes)))
    if asked[0] and asked[0] == asked[1]:
        problems.append(Problem("command line", f"--x and --by are both {asked[0]}", "two keys"))
    if asked[1] and not asked[0] and len(found.axes) == 1:
        problems.append(Problem(f"--by {asked[1]}", "is the only key with several values", "a second one for the lines", f"--x {asked[1]}"))
    if problems:
        raise UserError(*problems)
