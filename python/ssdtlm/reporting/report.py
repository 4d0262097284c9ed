# SPDX-License-Identifier: Apache-2.0
"""`ssdtlm report`."""

import functools
import json
import os
import pathlib
import subprocess

from ..binary import find_binary
from ..errors import Problem, UserError
from ..extras import need
from ..result import Result
from . import pictures as picture_files
from .page import write

DEFAULT_OUTPUT = "report.html"


@functools.lru_cache(maxsize=None)
def _preset(device):
    """{key: value} of a preset; {} for a device that is none."""
    try:
        done = subprocess.run([find_binary(), "config", "show", device, "--json"], capture_output=True, text=True, check=False)
        return {key: row["value"] for key, row in json.loads(done.stdout)["parameters"].items()}
    except (UserError, OSError, ValueError, KeyError):
        return {}


def libraries():
    """The JavaScript of Vega, Vega-Lite and Vega-Embed, as one text. To bundle them takes seconds, so the text is kept in the user's cache."""
    import vl_convert  # pylint: disable=import-outside-toplevel
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "ssdtlm"
    file = cache / f"vega-{vl_convert.__version__}.js"
    try:
        return file.read_text(encoding="utf-8")
    except OSError:
        text = vl_convert.javascript_bundle()
    try:
        cache.mkdir(parents=True, exist_ok=True)
        write(file, text)
    except OSError:
        pass  # the next report puts them together again
    return text


def save(page, path):
    """Writes a Page to `path`, with all that it needs. Raises UserError when the file cannot be written."""
    try:
        write(path, page.text(libraries()))
    except OSError as error:
        raise UserError(Problem(str(path), f"cannot be written: {error.strerror}", "", "choose another file")) from None


def _read(runs):
    results, problems = [], []
    for run in runs:
        try:
            results.append(run if isinstance(run, Result) else Result(run))
        except UserError as error:
            problems += error.problems
    if problems or not results:
        raise UserError(*problems or [Problem("report", "no run is given")])
    return results


def _page(results, folder):
    """The Page of a report. `folder`: where its file will be, for relative paths on it."""
    from . import flow_sections, job_sections, sections  # pylint: disable=import-outside-toplevel
    from .page import Page, escape  # pylint: disable=import-outside-toplevel
    shown = sections.Runs(results)
    titles = list(dict.fromkeys(result.title for result in results))
    page = Page("ssdtlm: " + "; ".join(titles))
    page.add(f"<h1>{escape('; '.join(titles))}</h1>\n")
    sections.headline(page, shown)
    sections.limits(page, shown)
    sections.stages(page, shown)
    job_sections.whose(page, shown)
    flow_sections.flows(page, shown)
    flow_sections.nvm_sets(page, shown)
    sections.distribution(page, shown)
    sections.over_time(page, shown)
    sections.device(page, shown)
    job_sections.jobs(page, shown)
    sections.drive_at_start(page, shown)
    sections.configuration(page, shown, lambda device, key: _preset(device).get(key))
    sections.repeat(page, shown, folder)
    return page


def report(*runs, output=None, pictures=None, picture_format="svg"):
    """Writes a report about one or several runs as one HTML file, and returns its path. It needs the packages of the extra `report`.

    runs: folders of runs, or Results.
    output: path of the file; default report.html in the folder of the first run.
    pictures: a folder in which each chart is written as a file too, of picture_format "svg" or "png".
    Raises UserError for folders without results, when packages are missing, and when a file cannot be written.
    """
    return _report(runs, output, pictures, picture_format)[0]


def _report(runs, output, pictures, picture_format):
    """(path, number of charts)."""
    need("report")
    results = _read(runs)
    path = pathlib.Path(output) if output is not None else results[0].path / DEFAULT_OUTPUT
    if path.is_file() and path.suffix != ".html" and any(path.parent.resolve() == result.path.resolve() for result in results):
        raise UserError(Problem(f"-o {path}", "is a file of a run that the report is about", "a file of its own", f"give another path, such as {path.parent / DEFAULT_OUTPUT}"))
    page = _page(results, path.parent)
    save(page, path)
    picture_files.draw(page, pictures, picture_format)
    return path, len(page.shown)


def charts(*runs):
    """The charts of report() as {name: Chart}, for example "mean-read" and "cdf-write". A notebook shows a Chart; its `spec` is Vega-Lite,
    and svg() and png() are pictures. Needs the extra `report`. Raises UserError."""
    need("report")
    results = _read(runs)
    return _page(results, results[0].path).shown


def add_arguments(parser):
    parser.add_argument("run", nargs="+")
    parser.add_argument("-o", "--output")
    picture_files.add_arguments(parser)


def command(arguments):
    """Returns (text for standard output, exit code)."""
    options = picture_files.options(arguments)
    path, count = _report(arguments.run, arguments.output, **options)
    return f"report in {path}\n" + picture_files.said(*options.values(), count), 0
