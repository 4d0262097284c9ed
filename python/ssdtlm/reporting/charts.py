# SPDX-License-Identifier: Apache-2.0
"""The charts of a report, as Vega-Lite by Altair. Each is one view (single or layered) as wide as its place on the page, so that
it fits a telephone; several runs have a chart each, with equal scales."""

import csv
import dataclasses
import io
import json

import altair as alt

from . import axes, scales
from .stage_colours import colour

# Okabe and Ito's colours for lines (their blue lighter), Tol's "light" for areas: told apart by colour-blind readers, on white and on black.
LINES = ["#3B8BC8", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9"]
# Further colours where a chart has more lines than those. The blues of AREAS are too much like them.
MORE_LINES = ["#9467BD", "#8C6D31", "#7F7F7F", "#A8A800"]
AREAS = ["#77AADD", "#EE8866", "#EEDD88", "#44BB99", "#FFAABB", "#BBCC33", "#99DDFF", "#AAAA00"]
# In pixels: the width of labels of bars, and the height of an axis with its title.
LABEL_WIDTH, AXIS_HEIGHT = 100, 45
# Text and lines take the colour of the page's text, light or dark, on the screen or on paper.
INK = "currentColor"
CONFIG = {
    "background": None,
    "view": {"stroke": None},
    "axis": {"labelColor": INK, "titleColor": INK, "tickColor": INK, "domainColor": INK, "gridColor": INK, "gridOpacity": 0.15,
             "labelFontSize": 11, "titleFontSize": 11, "titleFontWeight": "normal", "labelOverlap": True, "labelSeparation": 6, "labelLimit": 150},
    "legend": {"labelColor": INK, "titleColor": INK, "orient": "bottom", "labelFontSize": 11, "columns": 2, "title": None,
               "symbolType": "square", "labelLimit": 260},
    "font": "system-ui, sans-serif",
}


@dataclasses.dataclass
class Chart:
    """One chart: `spec` is Vega-Lite as a dict, and has its data as CSV text. A notebook shows the object as a picture."""

    name: str
    title: str
    spec: dict

    def svg(self, width=640):
        """The chart on white paper, as the text of an SVG file. `width`: of the drawing in pixels, without title and axis."""
        import vl_convert  # pylint: disable=import-outside-toplevel
        return vl_convert.vegalite_to_svg(self._on_white(width))

    def png(self, width=640, scale=2):
        """The chart on white paper, as the bytes of a PNG file. `width` as for svg(); `scale`: pixels of the file for each pixel of that
        width."""
        import vl_convert  # pylint: disable=import-outside-toplevel
        return vl_convert.vegalite_to_png(self._on_white(width), scale=scale)

    def _on_white(self, width):
        spec = json.loads(json.dumps(self.spec).replace(f'"{INK}"', '"black"'))
        # With "pad" axes and legends come on top of the width, so the drawing needs no room for them.
        spec.update(width=width, title=self.title, background="white", autosize="pad", padding=5)
        return spec

    def _repr_mimebundle_(self, **_):
        """How a notebook shows it: without network, also where it is only read."""
        return {"image/svg+xml": self.svg(), "text/plain": self.title}


def make(name, title, rows, layers, height):
    """A Chart. rows: its data, dicts with the same keys. layers: of Altair, each made from view(). height: of the drawing in pixels."""
    chart = alt.layer(*layers) if len(layers) > 1 else layers[0]
    spec = chart.properties(width="container", height=height).to_dict(validate=False)
    for part in [spec, *spec.get("layer", [])]:
        part.pop("data", None)
    spec.pop("datasets", None)
    kinds = {column: "string" if isinstance(value, str) else "number" for column, value in rows[0].items()}
    # The data are CSV: it names each column once, and the page offers it for download.
    spec.update(data={"name": "table", "values": _csv(rows), "format": {"type": "csv", "parse": kinds}}, config=CONFIG, autosize={"type": "fit-x", "contains": "padding"})
    return Chart(name, title, spec)


def _csv(rows):
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def view():
    """A layer of Altair that uses the data of its chart."""
    return alt.Chart(alt.Data(values=[]))


def shortened(values, digits=4):
    """A float with so many digits as a chart needs, so that pages stay small; other values as they are."""
    return float(f"{values:.{digits + 2}g}") if isinstance(values, float) else values


def _stage_colour(stages, left, top):
    """The colour by stage. Its legend stands `left` pixels left of the axis and `top` pixels below the top of the chart, because labels of
    bars leave it too little room on a telephone."""
    return alt.Color("stage:N", sort=stages, scale=alt.Scale(domain=stages, range=[colour(stage) for stage in stages]),
                     legend=alt.Legend(orient="none", direction="vertical", columns=2, legendX=-left, legendY=top))


def stacked(name, title, op, parts, shown, longest):
    """Bars of the stages of an operation. parts: list of (label, {stage: us}). shown: ShownStages. longest: value in us with which the
    scale ends."""
    rows = [{"bar": label, "stage": stage, "us": shortened(value), "order": order}
            for label, part in parts for stage, value, order in shown.rows(op, part)]
    bars = view().mark_bar(stroke=INK, strokeWidth=0.3).encode(
        x=alt.X("us:Q", scale=alt.Scale(domain=[0, longest], nice=True), **axes.time("latency", longest)),
        y=alt.Y("bar:N", title=None, sort=[label for label, _ in parts], axis=alt.Axis(minExtent=LABEL_WIDTH, labelLimit=LABEL_WIDTH)),
        color=_stage_colour(shown.stages[op], LABEL_WIDTH, 28 * len(parts) + AXIS_HEIGHT), order=alt.Order("order:Q"), tooltip=["bar:N", "stage:N", "us:Q"])
    chart = make(name, title, rows, [bars], 28 * len(parts))
    chart.spec["padding"] = {"left": 5, "top": 5, "right": 5, "bottom": 10 + 17 * ((len(shown.stages[op]) + 1) // 2)}
    return chart


def busy(name, title, rows):
    """Bars of busy resources. rows: {"resource", "busy", "busiest"} in percent; the mean over the members is a bar, the busiest member a
    mark."""
    order = [row["resource"] for row in rows]
    y = alt.Y("resource:N", title=None, sort=order)
    scale = alt.Scale(domain=[0, 100])
    bars = view().mark_bar(color=AREAS[0]).encode(x=alt.X("busy:Q", title="busy (%)", scale=scale), y=y,
                                                   tooltip=["resource:N", "busy:Q", "busiest:Q"])
    marks = view().mark_tick(color=LINES[4], thickness=2).encode(x=alt.X("busiest:Q", scale=scale), y=y)
    return make(name, title, [{k: shortened(v) for k, v in row.items()} for row in rows], [bars, marks], 24 * len(rows))


def distribution(name, title, lines):
    """Lines of cumulative distributions. lines: {label: points of data.cdf()}."""
    rows = [{"line": label, "us": shortened(us), "percent": shortened(percent, 8), "nines": shortened(nines)}
            for label, points in lines.items() for us, percent, nines in points]
    line = view().mark_line(interpolate="linear", strokeWidth=1.5).encode(
        x=alt.X("us:Q", **axes.log_time("total latency", [row["us"] for row in rows])), y=alt.Y("nines:Q", **axes.shares("commands (%)")),
        order=alt.Order("us:Q"), color=_line_colour(lines), tooltip=["line:N", "us:Q", "percent:Q"])
    return make(name, title, rows, [line], 220)


def _line_colour(lines):
    return alt.Color("line:N", scale=alt.Scale(domain=list(lines), range=LINES[:len(lines)]), legend=alt.Legend(symbolOpacity=1) if len(lines) > 1 else None)


def over_time(name, title, unit, lines, end, top, behind=()):
    """Lines over time. lines: {label: points of data.series()}; the mean is a line, and an area behind it goes from minimum to maximum. The
    scales end at `end` (ms) and `top`. behind: layers that are drawn first."""
    rows = [{"line": label, **{k: shortened(v) for k, v in point.items()}} for label, points in lines.items() for point in points]
    x = alt.X("ms:Q", scale=alt.Scale(domain=[0, end], nice=False), **axes.time("simulated time", end, in_us=1000))
    y = axes.time("latency", top) if unit == "us" else {"title": unit}
    scale = alt.Scale(domain=[0, top or 1], nice=True)
    of_line = _line_colour(lines)
    area = view().mark_area(interpolate="step-after", opacity=0.3).encode(x=x, y=alt.Y("low:Q", scale=scale, **y), y2="high:Q", color=of_line)
    line = view().mark_line(interpolate="step-after", strokeWidth=1.2).encode(
        x=x, y=alt.Y("mean:Q", scale=scale, **y), color=of_line, tooltip=["line:N", "ms:Q", "mean:Q", "low:Q", "high:Q"])
    return make(name, title, rows, [*behind, area, line], 130)


def heat_map(name, title, rows, value, label, domain):
    """A map of dies. rows: {"channel", "die", `value`, ...}, as of data.utilisation(). label: title of the scale of colours, which goes
    over `domain` (smallest, largest)."""
    channels = 1 + max(row["channel"] for row in rows)
    shown = cells("channel:O", "die:O", value, channels, domain)
    shown.rects = shown.rects.encode(
        x=alt.X("channel:O", title="channel", axis=alt.Axis(labelAngle=0)), y=alt.Y("die:O", title="die of the channel"),
        color=shown.colour(label), tooltip=["channel:O", "die:O", *(f"{column}:Q" for column in rows[0] if column not in ("channel", "die"))])
    return make(name, title, [{**{k: shortened(v) for k, v in row.items()}, **shown.text_of(row[value])} for row in rows], [shown.rects, shown.numbers],
                18 * (1 + max(row["die"] for row in rows)))


# In pixels; a narrower cell has no room for its number.
NUMBER_WIDTH = 32
# From this part of the scale on viridis is so light that black text stands out more than white.
LIGHT_FROM = 0.45
INK_OF_CELL = alt.condition("datum.ink === 'black'", alt.value("black"), alt.value("white"))


@dataclasses.dataclass
class Cells:
    """The parts of a map of cells. `rects` and `numbers` are layers that can get further encodings. `value`: name of the column that is
    shown. `domain`: (smallest, largest) of the scale of colours. `wide`: whether that scale is logarithmic."""

    rects: alt.Chart
    numbers: alt.Chart
    value: str
    domain: list
    wide: bool

    def colour(self, label, **legend):
        """The encoding of the colours, with a legend whose title is `label`; legend: further properties of it."""
        kind = {"type": "log"} if self.wide else {}
        # A scale of powers has a tick for each tenth of a power by default.
        ticks = {"values": scales.log_ticks(*self.domain)} if self.wide else {}
        return alt.Color(f"{self.value}:Q", scale=alt.Scale(scheme="viridis", domain=self.domain, **kind),
                         legend=alt.Legend(title=label, orient="bottom", gradientLength=180, labelExpr=axes.NUMBER, **ticks, **legend))

    def text_of(self, value):
        """The columns of a row that its number needs: the text, and whether it is black or white."""
        light = scales.share_of_scale(value, self.domain, self.wide) >= LIGHT_FROM
        return {"text": scales.brief(value), "ink": "black" if light else "white"}


def cells(x, y, value, columns, domain, dy=0, x_sort=alt.Undefined, y_sort=alt.Undefined):
    """The Cells of a map with `columns` columns whose colours span `domain`. A number is shown where its cell is wide enough."""
    numbers = view().mark_text(fontSize=10, dy=dy).encode(
        x=alt.X(x, sort=x_sort), y=alt.Y(y, sort=y_sort), text="text:N", color=INK_OF_CELL,
        opacity=alt.condition(f"width / {columns} >= {NUMBER_WIDTH}", alt.value(1), alt.value(0)))
    return Cells(view().mark_rect(), numbers, value, domain, scales.is_wide(domain))


def histogram(name, title, rows, top):
    """Bars of blocks by erases. rows: of data.blocks_by_erases(). top: number of blocks with which the scale ends."""
    erases = alt.Axis(values=scales.whole_ticks(rows[0]["erases"], rows[-1]["below"]), format="d")
    bars = view().mark_bar(color=AREAS[0], stroke=INK, strokeWidth=0.3).encode(
        x=alt.X("erases:Q", title="erases of a block", bin="binned", axis=erases), x2="below:Q",
        y=alt.Y("blocks:Q", title="blocks", scale=alt.Scale(domain=[0, top], nice=True), axis=alt.Axis(values=scales.whole_ticks(0, top))), tooltip=["erases:Q", "below:Q", "blocks:Q"])
    return make(name, title, rows, [bars], 130)


def valid_units(name, title, rows):
    """Bars of full superblocks by their share of valid units. rows: of data.full_by_valid()."""
    bars = view().mark_bar(color=AREAS[0], stroke=INK, strokeWidth=0.3).encode(
        x=alt.X("valid:O", title="valid units of a full superblock (%)", sort=None, axis=alt.Axis(labelAngle=0)),
        y=alt.Y("percent:Q", title="full superblocks (%)"), tooltip=["valid:O", "percent:Q"])
    return make(name, title, rows, [bars], 130)


def amplification(name, title, parts):
    """Bars of write amplification by cause. parts: list of (label, rows of data.write_amplification())."""
    rows = [{"bar": label, "order": order, "cause": row["cause"], "bytes": shortened(row["bytes"])}
            for label, causes in parts for order, row in enumerate(causes)]
    causes = list(dict.fromkeys(row["cause"] for row in rows))
    bars = view().mark_bar(stroke=INK, strokeWidth=0.3).encode(
        x=alt.X("bytes:Q", title="bytes programmed for one of the host"), y=alt.Y("bar:N", title=None, sort=[label for label, _ in parts]),
        color=alt.Color("cause:N", scale=alt.Scale(domain=causes, range=AREAS[:len(causes)]), legend=alt.Legend(columns=1)),
        order=alt.Order("order:Q"), tooltip=["bar:N", "cause:N", "bytes:Q"])
    return make(name, title, rows, [bars], 28 * len(parts))
