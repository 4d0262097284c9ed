# SPDX-License-Identifier: Apache-2.0
"""What a fit has found, and its files: fit.json, cells.csv, trials.csv, fitted.toml, fit.html."""

import csv
import dataclasses
import io
import json
import statistics

from ..reporting.page import write
from ..sweeping.points import shown
from ..sweeping.table import text_table
from . import residuals

# As a part of the range. A value so near an end may in truth lie beyond it.
EDGE = 0.01


@dataclasses.dataclass
class Outcome:
    """What a fit has found.

    frees: parameters that were found. hidden: those that the cells cannot see. best: optimum.Trial. fitted, held_out: lists of
    measured.Group.
    before, after: {name of a group: answer} of the device as it was and as it is fitted. certain: {key: Certainty}.
    """

    device: str
    frees: list
    hidden: list
    search: object
    best: object
    fitted: list
    held_out: list
    before: dict
    after: dict
    certain: dict

    def parameters(self):
        """A list of dicts, one for each parameter."""
        rows = []
        for free, place in zip(self.frees, self.best.places):
            value, sure = self.best.values[free.key], self.certain[free.key]
            notes = []
            if sure.vague:
                notes.append("hardly more is known than the range")
            if sure.alike:
                notes.append(f"only together with {', '.join(sure.alike)}: one makes up for the other")
            if not EDGE < place < 1 - EDGE:
                notes.append("at an end of its range: look beyond it")
            rows.append({"key": free.key, "range": free.range, "value": shown(value), "standard_error": free.width(place, sure.error), "unit": free.unit,
                         "known": not sure.vague, "notes": notes})
        rows += [{"key": free.key, "range": free.range, "value": None, "standard_error": None, "unit": free.unit, "known": False,
                  "notes": ["no figure of the fitted cells changes with it; it stays as the device has it"]} for free in self.hidden]
        return rows

    def cells(self):
        """(measured.Cell, "fitted" or "held out", error before, error after, deviations after) of each cell."""
        found = []
        for use, groups in (("fitted", self.fitted), ("held out", self.held_out)):
            before = residuals.cell_errors(groups, [self.before[g.name] for g in groups])
            after = residuals.cell_errors(groups, [self.after[g.name] for g in groups])
            found += [(cell, use, old, new, away) for (cell, old, _), (_, new, away) in zip(before, after)]
        return found

    def mean(self, use, when):
        """The mean error of cells."""
        errors = [(old, new)[when == "after"] for _, used, old, new, _ in self.cells() if used == use]
        return statistics.fmean(errors) if errors else None

    def figures(self):
        """A list of dicts, one for each figure of each cell."""
        rows = []
        for cell, use, _, _, away in self.cells():
            before = self._simulated(self.before, cell)
            after = self._simulated(self.after, cell)
            rows += [{"cell": cell.name, "use": use, "operation": op, "figure": name, "measured": value, "before": before.get(f"{op} {name}"),
                      "simulated": after.get(f"{op} {name}"), "deviation": away[op, name]} for (op, name), value in cell.figures.items()]
        return rows

    @staticmethod
    def _simulated(answers, cell):
        return next((answer["cells"][cell.name] for answer in answers.values() if cell.name in answer["cells"]), {})

    def summary(self):
        errors = {f"{use} {when}".replace(" ", "_"): self.mean(use, when) for use in ("fitted", "held out") for when in ("before", "after")}
        return {"device": self.device, "trials": len(self.search.trials), "refused": sum(t.vector is None for t in self.search.trials), "parameters": self.parameters(), "mean_error": errors,
                "cells": [{"cell": cell.name, "use": use, "error_before": old, "error": new} for cell, use, old, new, _ in self.cells()]}

    def trials(self):
        """How many trials there were of each kind. Optuna chooses --trials of them; ends, differences and steps come on top."""
        many, chosen = len(self.search.trials), sum(trial.how == "Optuna" for trial in self.search.trials)
        return f"{many} trials: {chosen} that Optuna chose, {many - chosen} at the ends of the ranges and beside the best"

    def text(self):
        rows = [[row["key"], row["range"], row["value"] or "-", f"{row['standard_error']:.3g}{row['unit']}" if row["value"] else "-", "; ".join(row["notes"])] for row in self.parameters()]
        text = text_table(["parameter", "range", "found", "standard error", ""], rows) + "\n"
        text += text_table(["cell", "", "error before", "error"], [[c.name, use, percent(old), percent(new)] for c, use, old, new, _ in self.cells()])
        text += f"\n{self.trials()}\nmean error of the fitted cells {percent(self.mean('fitted', 'after'))}, before {percent(self.mean('fitted', 'before'))}, not weighted as in the search\n"
        if self.held_out:
            text += f"mean error of the cells that it did not see {percent(self.mean('held out', 'after'))}, before {percent(self.mean('held out', 'before'))}\n"
        else:
            text += "no cell was held out: nothing says how the fit does on other workloads\n"
        return text


class Interim:
    """What a fit had found when it was interrupted: the best trial. Whatever needs further runs is left out."""

    def __init__(self, device, search):
        self.device, self.search, self.best = device, search, search.best()

    def parameters(self):
        return [{"key": free.key, "range": free.range, "value": shown(self.best.values[free.key])} for free in self.search.frees]

    def summary(self):
        return {"device": self.device, "interrupted": True, "trials": len(self.search.trials), "refused": sum(t.vector is None for t in self.search.trials),
                "parameters": self.parameters(), "mean_error": {"fitted_after": self.best.error}}

    def text(self):
        rows = [[row["key"], row["range"], row["value"]] for row in self.parameters()]
        return text_table(["parameter", "range", "best so far"], rows) + f"\nweighted error of the fitted cells {percent(self.best.error)} in the best of {len(self.search.trials)} trials; cells that were held out are not judged\n"


def percent(part):
    return f"{100 * part:.2f} %"


def csv_text(rows):
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def save(outcome, folder, toml):
    """Writes all files of the Outcome but the page. toml: the whole device with what was found."""
    write(folder / "fit.json", json.dumps(outcome.summary(), indent=1, ensure_ascii=False) + "\n")
    write(folder / "cells.csv", csv_text(outcome.figures()))
    save_trials(outcome.search, folder)
    head = "# By ssdtlm fit: " + ", ".join(f"{row['key']} = {row['value']} (standard error {row['standard_error']:.3g}{row['unit']})" for row in outcome.parameters() if row["value"]) + "\n"
    write(folder / "fitted.toml", head + toml)


def save_trials(search, folder):
    write(folder / "trials.csv", csv_text([{"trial": n, "how": t.how, "error": "" if t.vector is None else t.error, **{k: shown(v) for k, v in t.values.items()}}
                                           for n, t in enumerate(search.trials)]))


def save_interim(interim, folder, toml):
    """Writes those files that an interrupted fit has, and removes those of an earlier fit that it does not make."""
    for name in ("cells.csv", "fit.html"):
        (folder / name).unlink(missing_ok=True)
    write(folder / "fit.json", json.dumps(interim.summary(), indent=1, ensure_ascii=False) + "\n")
    save_trials(interim.search, folder)
    write(folder / "fitted.toml", f"# By ssdtlm fit, interrupted: the best of {len(interim.search.trials)} trials\n" + toml)
