# SPDX-License-Identifier: Apache-2.0
"""Curves that somebody has measured, beside those of a study: `ssdtlm study NAME --measured FILE.csv`."""

import csv
import pathlib
import statistics

from ..errors import Problem, UserError


def read(path):
    """The lines of a CSV file. The last column has what was measured, the one before it the place on the curve (a number); the columns before name the curve.
    All names are columns of the study's rows.csv. Raises UserError."""
    try:
        lines = list(csv.DictReader(pathlib.Path(path).read_text(encoding="utf-8").splitlines()))
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(Problem(str(path), f"cannot be read: {error}", "a CSV file with names of columns in its first line")) from None
    if not lines or len(lines[0]) < 2 or None in lines[0]:
        raise UserError(Problem(str(path), "has no curve", "names of columns in the first line, and a line for each measured point"))
    *_, place, value = lines[0]
    problems = []
    for number, line in enumerate(lines, 2):
        for column in (place, value):
            try:
                line[column] = float(line[column])
            except (TypeError, ValueError):
                problems.append(Problem(f"{path}:{number}", f"{column} = {line[column]}", "a number"))
                continue
            if column == value and line[column] <= 0:
                problems.append(Problem(f"{path}:{number}", f"{column} = {line[column]:g}", "more than 0: errors are shares of it"))
    if problems:
        raise UserError(*problems)
    return lines


def errors(rows, measured):
    """[{curve, place, measured, ours, error}]: |ours - measured| / measured. Between two places ours is interpolated along a straight line; beyond its ends, and
    for a curve that is not there, it is left out (ours None). Raises UserError where the study has no such column."""
    *names, place, value = measured[0]
    columns = list(dict.fromkeys(column for row in rows for column in row))
    missing = [name for name in (*names, place, value) if name not in columns]
    if missing:
        raise UserError(Problem("measured curves", f"column '{missing[0]}'", ", ".join(columns), "name columns as the study's rows.csv does"))
    found = []
    for line in measured:
        curve = sorted((float(row[place]), float(row[value])) for row in rows if all(str(row.get(name, "")) == line[name] for name in names)
                       and row.get(place) is not None and row.get(value) is not None)
        ours = at(curve, line[place])
        found.append({"curve": ", ".join(line[name] for name in names), place: line[place], "measured": line[value], "ours": ours,
                      "error": None if ours is None else abs(ours - line[value]) / line[value]})
    return found


def at(curve, x):
    """The value at x on the straight line between its two neighbours; None beyond the ends."""
    for (x0, y0), (x1, y1) in zip(curve, curve[1:]):
        if x0 <= x <= x1:
            return y1 if x == x1 or x0 == x1 else y0 + (y1 - y0) * (x - x0) / (x1 - x0)
    return curve[0][1] if len(curve) == 1 and curve[0][0] == x else None


def summary(found):
    """One line for each curve, and the mean over all: what a paper gives as its error."""
    text = ""
    for curve in dict.fromkeys(row["curve"] for row in found):
        of = [row for row in found if row["curve"] == curve]
        known = [row["error"] for row in of if row["error"] is not None]
        said = f"mean error {100 * statistics.mean(known):.1f} %, worst {100 * max(known):.1f} %, {len(known)} points" if known else "not in the study"
        text += f"  {curve or 'all'}: {said}{f', {len(of) - len(known)} outside of ours' if known and len(known) < len(of) else ''}\n"
    known = [row["error"] for row in found if row["error"] is not None]
    return text + (f"  mean error of {len(known)} points: {100 * statistics.mean(known):.1f} %\n" if known else "")
