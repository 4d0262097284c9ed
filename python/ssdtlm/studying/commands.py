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
from . import study as studies
from .runs import Runs, progress


def add_arguments(parser):
    parser.add_argument("names", nargs="+", metavar="NAME", help="studies, or all; list names them")
    parser.add_argument("--quick", action="store_true", help="fewer and shorter runs: at most two minutes on two cores")
    parser.add_argument("-o", "--output", metavar="DIR", help="folder of the results, studies/NAME else; runs in it are not made again")
    parser.add_argument("-j", "--workers", type=int, default=os.cpu_count(), metavar="N", help="runs at a time; as many as there are cores else")
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
    text, lost = "", False
    for name, study in chosen:
        folder = pathlib.Path(arguments.output or "studies") / (name + ("-quick" if arguments.quick else ""))
        said, misses = run(name, study, folder, arguments.quick, arguments.workers, pictures)
        text += said
        lost = lost or misses
    return text, int(lost)


def run(name, study, folder, quick, workers, pictures):
    """Runs what has not ended, writes study.html, rows.csv and trends.json, and returns (what to print, whether an expected trend is missed)."""
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
    for path, text in study.files(ended).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        write(folder / path, text)
    write(folder / "trends.json", json.dumps([vars(trend) for trend in trends], indent=1, ensure_ascii=False) + "\n")
    count = page(study, folder, figures, trends, rows, pictures)
    met = sum(trend.met for trend in trends)
    text = f"{study.title}: {len(ended)} runs, {time.monotonic() - began:.0f} s\n"
    for trend in trends:
        text += f"  {'met    ' if trend.met else 'NOT MET'} {trend.sentence}: {trend.found}\n"
        text += f"          {trend.why}\n" if not trend.met and trend.why else ""
    text += f"{met} of {len(trends)} trends are met. {count} charts in {folder / 'study.html'}, all figures in {folder / 'rows.csv'}\n"
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
