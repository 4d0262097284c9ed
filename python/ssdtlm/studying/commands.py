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
from ..sweeping.options import Interrupted, interrupted, interruptible
from . import index as indexes
from . import measured as measured_curves
from . import study as studies
from .runs import Runs, progress


def add_arguments(parser):
    # model/sim/app/python_command_table.cpp explains them.
    parser.add_argument("names", nargs="+")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--measured")
    parser.add_argument("--trace", action="append", default=[])
    parser.add_argument("-o", "--output")
    parser.add_argument("-j", "--workers", type=int, default=os.cpu_count())
    picture_files.add_arguments(parser)


def command(arguments):
    """Returns (text for standard output, exit code). The exit code is 1 when the model misses a trend that it is known to meet."""
    if arguments.names == ["list"]:
        return "".join(f"{name}: {studies.load(name).title}\n" for name in studies.names()), 0
    if arguments.workers < 1:
        raise UserError(Problem("command line", f"--workers {arguments.workers}", "1 or more"))
    pictures = picture_files.options(arguments)
    need("report")
    names = studies.names() if arguments.names == ["all"] else list(dict.fromkeys(arguments.names))
    chosen = [(name, studies.load(name)) for name in names]
    if arguments.measured and len(chosen) != 1:
        raise UserError(Problem("command line", "--measured with several studies", "one study: the curves name its columns"))
    lacking = {name: study.lacks() for name, study in chosen if study.lacks()}
    if lacking and len(names) == 1:
        raise UserError(*[Problem(f"study {name}", reason) for name, reason in lacking.items()])
    chosen = [(name, study) for name, study in chosen if name not in lacking]
    curves = measured_curves.read(arguments.measured) if arguments.measured else []
    output, suffix = pathlib.Path(arguments.output or "studies"), "-quick" if arguments.quick else ""
    ended, problems, stopped = [], {}, False
    interruptible()
    for name, study in chosen:
        try:
            place_traces(name, study, arguments.trace)
            ended.append(run(name, study, output / (name + suffix), arguments.quick, arguments.workers, curves))
        except UserError as error:
            if len(chosen) == 1:
                raise
            problems[name] = error.problems  # the other studies are run all the same
        except Interrupted:
            stopped = True
            break
    text = "".join(one.said for one in ended)
    text += "".join(f"{name} is left out: {reason}\n" for name, reason in lacking.items())
    if len(names) > 1:
        text += index(ended, {name: "; ".join(map(str, of_one)) for name, of_one in problems.items()}
                      | {name: "interrupted" for name, _ in chosen[len(ended) + len(problems):]} | lacking, output / f"index{suffix}.html", pictures)
    elif ended:
        picture_files.draw(page_of_study(ended[0]), pictures["pictures"], pictures["picture_format"])
    if stopped:
        said, code = interrupted(output)
        return text + said, code
    if problems:
        raise UserError(*(problem for of_one in problems.values() for problem in of_one))
    return text, int(any(one.lost for one in ended))


def index(ended, missing, path, pictures):
    """Writes the page of all studies and returns the text to print about it. missing: {name: why a study is not on the page}."""
    from ..reporting.report import save  # pylint: disable=import-outside-toplevel
    path.parent.mkdir(parents=True, exist_ok=True)
    made = indexes.page_of(ended, missing)
    save(made, path)
    picture_files.draw(made, pictures["pictures"], pictures["picture_format"])
    lines = "".join(f"  {one.name}: {one.met} of {len(one.trends)} trends are met{f', {len(one.lost)} LOST' if one.lost else ''}\n" for one in ended)
    return f"{indexes.summary(ended)} in {path}\n{lines}"


def place_traces(name, study, traces):
    """Gives the user's traces to a study. Raises UserError when it has no use for them, or when one is not there."""
    if traces and not study.takes_traces:
        raise UserError(Problem("command line", f"--trace: {name} has no use for traces", ", ".join(n for n in studies.names() if studies.load(n).takes_traces)))
    missing = [trace for trace in traces if not pathlib.Path(trace).is_file()]
    if missing:
        raise UserError(*[Problem(trace, "is not there", "a block trace (ssdtlm trace info)") for trace in missing])
    study.traces = tuple(str(pathlib.Path(trace).resolve()) for trace in traces)


def run(name, study, folder, quick, workers, curves=()):
    """Runs what has not ended of a study, writes study.html, rows.csv, trends.json and with measured curves errors.csv, and returns an
    index.Ended. Raises UserError."""
    from .figures import chart_of  # pylint: disable=import-outside-toplevel
    from ..reporting.report import save  # pylint: disable=import-outside-toplevel
    began = time.monotonic()
    say, end = progress()
    try:
        ended = Runs(folder, workers, say).run(study.points(quick))
    except OSError as error:
        raise UserError(Problem(str(folder), f"cannot be written: {error.strerror}", "a folder that can be written", "choose another one with -o")) from None
    finally:
        end()
    rows = study.rows(ended)
    one = indexes.Ended(name, study, folder, rows, len(ended), study.trends(rows), [chart_of(figure) for figure in study.figures(rows)])
    write(folder / "rows.csv", csv_of(rows))
    for path, text in study.files(ended).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        write(folder / path, text)
    write(folder / "trends.json", json.dumps([vars(trend) for trend in one.trends], indent=1, ensure_ascii=False) + "\n")
    save(page_of_study(one), folder / "study.html")
    one.said = f"{study.title}: {one.runs} runs, {time.monotonic() - began:.0f} s\n"
    for trend in one.trends:
        one.said += f"  {'met    ' if trend.met else 'NOT MET'} {trend.sentence}: {trend.found}\n"
        one.said += f"          {trend.why}\n" if not trend.met and trend.why else ""
    one.said += f"{one.met} of {len(one.trends)} trends are met. {len(one.charts)} charts in {folder / 'study.html'}, all figures in {folder / 'rows.csv'}\n"
    if curves:
        found = measured_curves.errors(rows, curves)
        write(folder / "errors.csv", csv_of(found))
        one.said += f"beside measured curves, each point in {folder / 'errors.csv'}:\n" + measured_curves.summary(found)
    return one


def csv_of(rows):
    columns = list(dict.fromkeys(column for row in rows for column in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def page_of_study(one):
    """The Page of an Ended."""
    from ..reporting.page import Page, escape, paragraph, table  # pylint: disable=import-outside-toplevel
    made = Page(f"ssdtlm: {one.study.title}")
    made.add(f"<h1>{escape(one.study.title)}</h1>\n")
    made.add(paragraph(one.study.source, "faint"))
    made.heading("Trends")
    made.add(indexes.trends_table(one.trends))
    made.heading("Figures")
    made.charts(one.charts)
    columns = list(dict.fromkeys(column for row in one.rows for column in row))
    made.add("<details><summary>All figures</summary>\n" + table(columns, [[str(row.get(c, "")) for c in columns] for row in one.rows]) + "</details>\n")
    return made
