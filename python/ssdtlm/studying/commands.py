# SPDX-License-Identifier: Apache-2.0
"""`ssdtlm study`."""

import csv
import io
import json
import os
import pathlib
import time

from ..errors import Problem, UserError
from ..extras import need
from ..reporting import pictures as picture_files
from ..reporting.page import write
from . import measured as measured_curves
from . import study as studies
from .runs import Runs, progress


def add_arguments(parser):
    parser.add_argument("names", nargs="+")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--measured")
    parser.add_argument("--trace", action="append", default=[])
    parser.add_argument("-o", "--output")
    parser.add_argument("-j", "--workers", type=int, default=os.cpu_count())
    picture_files.add_arguments(parser)


def command(arguments):
    """Returns (text for standard output, exit code): 1 when a trend is missed that the model is known to meet."""
    if arguments.names == ["list"]:
        return "".join(f"{name}: {studies.load(name).title}\n" for name in studies.names()), 0
    if arguments.workers < 1:
        raise UserError(Problem("command line", f"--workers {arguments.workers}", "1 or more"))
    pictures = picture_files.options(arguments)
    need("report")
    names = studies.names() if arguments.names == ["all"] else arguments.names
    chosen = [(name, studies.load(name)) for name in names]
    if arguments.measured and len(chosen) != 1:
        raise UserError(Problem("command line", "--measured with several studies", "one study: the curves name its columns"))
    curves = measured_curves.read(arguments.measured) if arguments.measured else []
    text, lost = "", False
    for name, study in chosen:
        place_traces(name, study, arguments.trace)
        folder = pathlib.Path(arguments.output or "studies") / (name + ("-quick" if arguments.quick else ""))
        said, misses = run(name, study, folder, arguments.quick, arguments.workers, pictures, curves)
        text += said
        lost = lost or misses
    return text, int(lost)


def place_traces(name, study, traces):
    """Gives a study the user's traces. Raises UserError where it has no use for them, or one cannot be read."""
    if traces and not study.takes_traces:
        raise UserError(Problem("command line", f"--trace: {name} has no use for traces", ", ".join(n for n in studies.names() if studies.load(n).takes_traces)))
    missing = [trace for trace in traces if not pathlib.Path(trace).is_file()]
    if missing:
        raise UserError(*[Problem(trace, "is not there", "a block trace (ssdtlm trace info)") for trace in missing])
    study.traces = tuple(str(pathlib.Path(trace).resolve()) for trace in traces)


def run(name, study, folder, quick, workers, pictures, curves=()):
    """Runs what has not ended, writes study.html, rows.csv and trends.json, with measured curves errors.csv too, and returns (what to print, whether an expected
    trend is missed)."""
    began = time.monotonic()
    say, end = progress()
    try:
        ended = Runs(folder, workers, say).run(study.points(quick))
    except OSError as error:
        raise UserError(Problem(str(folder), f"cannot be written: {error.strerror}", "a folder that can be written", "choose another one with -o")) from None
    finally:
        end()
    rows = study.rows(ended)
    trends, figures = study.trends(rows), study.figures(rows)
    write(folder / "rows.csv", csv_of(rows))
    write(folder / "trends.json", json.dumps([vars(trend) for trend in trends], indent=1, ensure_ascii=False) + "\n")
    count = page(study, folder, figures, trends, rows, pictures)
    met = sum(trend.met for trend in trends)
    text = f"{study.title}: {len(ended)} runs, {time.monotonic() - began:.0f} s\n"
    for trend in trends:
        text += f"  {'met    ' if trend.met else 'NOT MET'} {trend.sentence}: {trend.found}\n"
        text += f"          {trend.why}\n" if not trend.met and trend.why else ""
    text += f"{met} of {len(trends)} trends are met. {count} charts in {folder / 'study.html'}, all figures in {folder / 'rows.csv'}\n"
    if curves:
        found = measured_curves.errors(rows, curves)
        write(folder / "errors.csv", csv_of(found))
        text += f"beside measured curves, each point in {folder / 'errors.csv'}:\n" + measured_curves.summary(found)
    return text, any(trend.expected and not trend.met for trend in trends)


def csv_of(rows):
    columns = list(dict.fromkeys(column for row in rows for column in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def page(study, folder, figures, trends, rows, pictures):
    """Writes study.html and, where asked for, the charts as files. Returns how many charts there are."""
    from ..reporting.page import Page, escape, paragraph, table  # pylint: disable=import-outside-toplevel
    from ..reporting.report import save  # pylint: disable=import-outside-toplevel
    from .figures import chart_of  # pylint: disable=import-outside-toplevel
    made = Page(f"ssdtlm: {study.title}")
    made.add(f"<h1>{escape(study.title)}</h1>\n")
    made.add(paragraph(study.source, "faint"))
    made.heading("Published trends")
    made.add(table(["trend", "", "found", "why not"], [[t.sentence, "met" if t.met else "not met", t.found, "" if t.met else t.why] for t in trends], (0, 1, 2, 3)))
    made.heading("Figures")
    made.charts([chart_of(figure) for figure in figures])
    columns = list(rows[0]) if rows else []
    made.add("<details><summary>All figures</summary>\n" + table(columns, [[str(row.get(c, "")) for c in columns] for row in rows]) + "</details>\n")
    save(made, folder / "study.html")
    picture_files.draw(made, pictures["pictures"], pictures["picture_format"])
    return len(made.shown)
