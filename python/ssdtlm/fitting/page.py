# SPDX-License-Identifier: Apache-2.0
"""fit.html: what was found, the error of each cell, and how the error depends on each parameter."""

import altair as alt

from ..reporting import charts
from ..reporting.page import Page, escape, paragraph, table
from ..reporting.report import save
from .outcome import percent

HEIGHT = 220
# Trials whose error is larger than the best by this factor are not shown.
SHOWN = 20
# Of ratios: the room at both ends of the axis, and the largest quotient of values for an axis that is not logarithmic.
PAD, LINEAR = 1.02, 4


def page(outcome, folder):
    """Writes the page of an Outcome into `folder`, and returns the Page, from which pictures can be drawn."""
    made = Page(f"ssdtlm fit: {outcome.device}")
    made.add(f"<h1>{escape(outcome.device)}, fitted</h1>\n")
    made.add(paragraph(_sentence(outcome)))
    made.heading("Parameters")
    made.add(table(["parameter", "range", "found", "standard error", ""],
                   [[r["key"], r["range"], r["value"] or "-", f"{r['standard_error']:.3g}{r['unit']}" if r["value"] else "-", "; ".join(r["notes"])] for r in outcome.parameters()], (0, 4)))
    made.add(paragraph("The standard error is what the value would move by if each cell were off by chance as far as the fit is off, the other parameters fitted again. "
                       "It does not say what the model lacks; the cells that the fit did not see do.", "faint"))
    made.heading("Cells")
    made.charts([_errors(outcome), _figures(outcome)])
    made.add(table(["cell", "", "error before", "error"], [[c.name, use, percent(old), percent(new)] for c, use, old, new, _ in outcome.cells()], (0, 1)))
    made.heading("Trials")
    made.charts([_profile(outcome, at) for at in range(len(outcome.frees))])
    rows = [[r["cell"], r["use"], r["operation"], r["figure"], f"{r['measured']:.6g}", f"{r['simulated']:.6g}" if r["simulated"] else "none", f"{100 * r['deviation']:+.2f} %"] for r in outcome.figures()]
    made.add("<details><summary>All figures</summary>\n" + table(["cell", "", "operation", "figure", "measured", "simulated", "deviation"], rows, (0, 1, 2, 3)) + "</details>\n")
    save(made, folder / "fit.html")
    return made


def _sentence(outcome):
    text = f"{outcome.trials()}. Mean error of the fitted cells {percent(outcome.mean('fitted', 'after'))}, before {percent(outcome.mean('fitted', 'before'))}. "
    if not outcome.held_out:
        return text + "No cell was held out."
    return text + f"Of those that it did not see {percent(outcome.mean('held out', 'after'))}, before {percent(outcome.mean('held out', 'before'))}."


def _errors(outcome):
    rows = [{"cell": cell.name, "use": use, "percent": charts.shortened(100 * new), "before": charts.shortened(100 * old)} for cell, use, old, new, _ in outcome.cells()]
    order = [row["cell"] for row in rows]
    colour = alt.Color("use:N", scale=alt.Scale(domain=["fitted", "held out"], range=[charts.LINES[0], charts.LINES[1]]), legend=alt.Legend())
    bars = charts.view().mark_bar().encode(x=alt.X("percent:Q", title="error (%)"), y=alt.Y("cell:N", title=None, sort=order), color=colour,
                                           tooltip=["cell:N", "use:N", "percent:Q", "before:Q"])
    return charts.make("errors", "Error by cell", rows, [bars], 22 * len(rows))


def _figures(outcome):
    """The chart of simulated over measured figures, before and after the fit. 1 is right."""
    rows = []
    for row in outcome.figures():
        for when, name in (("before", "before"), ("fitted", "simulated")):
            if row[name]:
                rows.append({"cell": row["cell"], "figure": f"{row['operation']} {row['figure']}", "use": row["use"], "when": when, "ratio": charts.shortened(row[name] / row["measured"])})
    order = list(dict.fromkeys(row["cell"] for row in rows))
    colour = alt.Color("when:N", scale=alt.Scale(domain=["before", "fitted"], range=[charts.LINES[3], charts.LINES[2]]), legend=alt.Legend())
    # An axis of whole decades would show deviations of a few per cent as one point.
    ends = [min(row["ratio"] for row in rows) / PAD, max(row["ratio"] for row in rows) * PAD]
    scale = alt.Scale(type="log" if ends[1] > LINEAR * ends[0] else "linear", domain=ends, zero=False, nice=False)
    dots = charts.view().mark_point(filled=True, size=40, opacity=0.7).encode(
        x=alt.X("ratio:Q", title="simulated / measured", scale=scale), y=alt.Y("cell:N", title=None, sort=order), color=colour,
        shape=alt.Shape("when:N", scale=alt.Scale(domain=["before", "fitted"], range=["diamond", "circle"]), legend=alt.Legend()),
        tooltip=["cell:N", "figure:N", "use:N", "when:N", "ratio:Q"])
    return charts.make("figures", "Each figure, simulated over measured", rows, [dots], 22 * len(order))


def _profile(outcome, at):
    """The chart of the error of all trials over one parameter. The lower edge of its points shows how sure the parameter is."""
    free, search = outcome.frees[at], outcome.search
    least = outcome.best.error
    rows = [{"value": charts.shortened(free.number(t.values[free.key])), "percent": charts.shortened(100 * t.error), "how": t.how}
            for t in search.trials if t.vector is not None and t.error <= max(SHOWN * least, 0.5)]
    kinds = {kind: colour for kind, colour in zip(("screening", "Optuna", "difference", "Gauss-Newton"), charts.LINES) if any(row["how"] == kind for row in rows)}
    scale = {"type": "log"} if free.log else {}
    y = {"type": "log"} if min(row["percent"] for row in rows) > 0 else {}
    dots = charts.view().mark_point(filled=True, size=35, opacity=0.8).encode(
        x=alt.X("value:Q", title=f"{free.key}{' (' + free.unit + ')' if free.unit else ''}", scale=alt.Scale(zero=False, **scale)),
        y=alt.Y("percent:Q", title="error of the fitted cells (%)", scale=alt.Scale(**y)),
        color=alt.Color("how:N", scale=alt.Scale(domain=list(kinds), range=list(kinds.values())), legend=alt.Legend()), tooltip=["value:Q", "percent:Q", "how:N"])
    return charts.make(f"profile-{free.key}", f"Error over {free.key}", rows, [dots], HEIGHT)
