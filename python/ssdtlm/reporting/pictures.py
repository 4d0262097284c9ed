# SPDX-License-Identifier: Apache-2.0
"""The charts of a report as files, for a paper or a page of one's own."""

import pathlib
import re

from ..errors import Problem, UserError, did_you_mean
from .page import write

FORMATS = ("svg", "png")


def add_arguments(parser):
    parser.add_argument("--pictures")
    parser.add_argument("--format")


def options(arguments):
    """The arguments pictures= and picture_format= of report() and sweep_report(), as a dict. Raises UserError."""
    if arguments.format and arguments.format not in FORMATS:
        raise UserError(Problem("command line", f"--format {arguments.format}", f"one of {', '.join(FORMATS)}", did_you_mean(arguments.format, FORMATS)))
    if arguments.format and not arguments.pictures:
        raise UserError(Problem("command line", f"--format {arguments.format} without --pictures", "", "name a folder: --pictures pictures"))
    return {"pictures": arguments.pictures, "picture_format": arguments.format or FORMATS[0]}


def said(folder, kind, count):
    """The line that a command prints about its pictures; "" without `folder`."""
    return f"{count} pictures in {pathlib.Path(folder) / ('*.' + kind)}\n" if folder else ""


def draw(page, folder, kind):
    """Writes each chart of a Page into `folder` as a file on white paper; does nothing without `folder`. kind: "svg" or "png". Raises
    UserError."""
    if not folder:
        return
    if kind not in FORMATS:
        raise UserError(Problem("picture_format", f"is {kind!r}", f"one of {', '.join(FORMATS)}"))
    folder = pathlib.Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, chart in zip(file_names(page.shown), page.shown.values()):
            write(folder / f"{name}.{kind}", chart.svg() if kind == "svg" else chart.png())
    except OSError as error:
        raise UserError(Problem(str(folder), f"cannot be written: {error.strerror}", "a folder that can be written", "choose another one with --pictures")) from None


def file_names(names):
    """For each name of a chart the name of its file, without ending. A metric may have the name of a job in it, so characters that a file's
    name must not have are replaced; no two are equal."""
    found = {}
    for name in names:
        plain = re.sub(r"[^\w.\-\[\]]", "_", name)
        number = 1
        while (one := plain if number == 1 else f"{plain}_{number}") in found.values():
            number += 1
        found[name] = one
    return list(found.values())
