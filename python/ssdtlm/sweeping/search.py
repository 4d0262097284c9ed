# SPDX-License-Identifier: Apache-2.0
"""`ssdtlm search`: Optuna chooses the points of a sweep by what is known of the earlier ones, for one metric or several. Its study is
in the sweep's folder beside the runs, so that a search may be killed and goes on like any sweep."""

import json
import statistics

from ..errors import Problem, UserError
from ..extras import need
from ..result import Result
from . import worker
from .driver import metric_of, run_plan, workers_for
from .options import Interrupted, add_pool_arguments, add_spec_arguments, interrupted, interruptible, pool_options
from .plan import Plan
from .points import as_value, complete, label, shown
from .spec import Range, read_spec
from .table import text_table

STUDY, STUDY_FILE = "ssdtlm", "study.db"
KEYS = ("minimize", "maximize", "trials", "seed")
# Points that are excluded or refused count as no trial. A search ends with an error after so many chosen points for each trial.
MOST_ASKED = 20
GENERATIONS, SMALLEST, LARGEST = 5, 8, 50


class Space:
    """The axes of a specification as parameters of Optuna: lists are categories, ranges are numbers."""

    def __init__(self, spec):
        self._ranges = {key: value for key, value in spec.ranges.items() if isinstance(value, Range)}
        choices = {key: [{key: value} for value in values] for key, values in {**spec.grid, **{k: v for k, v in spec.ranges.items() if k not in self._ranges}}.items()}
        choices.update({" ".join(rows[0]): rows for rows in spec.zipped})
        if spec.listed:
            choices["list"] = spec.listed
        self._choices = {name: {", ".join(shown(v) for v in row.values()) if name != "list" else label(row): row for row in rows} for name, rows in choices.items()}
        if not self._choices and not self._ranges:
            raise UserError(Problem(str(spec.path), "has no axes", "", "[grid] with lists, or [random.values] with ranges"))

    def point(self, trial):
        found = {}
        for name, rows in self._choices.items():
            found.update(rows[trial.suggest_categorical(name, list(rows))])
        for key, given in self._ranges.items():
            if given.whole:
                number = trial.suggest_int(key, int(given.low), int(given.high), log=given.log)
            else:
                number = trial.suggest_float(key, float(given.low), float(given.high), log=given.log)
            found[key] = as_value(number, given)
        return found


class Source:
    """Gives the points that Optuna's study chooses to a Driver. It may be used only while the folder of the sweep is locked."""

    def __init__(self, search, study):
        self._search, self._study = search, study
        self._trials = {}  # number -> trial under way
        self._asked = 0
        self._resume()

    def _resume(self):
        """Starts with the trials that were under way when the search was killed."""
        import optuna  # pylint: disable=import-outside-toplevel
        for trial in self._study.get_trials(deepcopy=False, states=(optuna.trial.TrialState.RUNNING,)):
            self._study.tell(trial.number, state=optuna.trial.TrialState.FAIL)
            if trial.params:
                self._study.enqueue_trial(trial.params)

    def _ended(self):
        return len(self._search.counted(self._study))

    def wants_more(self):
        return self._ended() < self._search.trials

    def progress(self):
        """(number of trials that have ended, number that there will be)."""
        return self._ended(), self._search.trials

    def next(self):
        import optuna  # pylint: disable=import-outside-toplevel
        while self._ended() + len(self._trials) < self._search.trials:
            if self._asked >= MOST_ASKED * self._search.trials:
                raise UserError(Problem(str(self._search.spec.path), f"{self._asked} points were chosen, and nearly all are excluded or refused", "",
                                        "look at where, and at the ranges"))
            trial = self._study.ask()
            self._asked += 1
            point = self._search.point(trial)
            if point is None or point.refused:
                trial.set_user_attr("refused", point.refused if point else "excluded by where")
                self._study.tell(trial, state=optuna.trial.TrialState.FAIL)
                continue
            trial.set_user_attr("key", [run.key for run in point.runs])
            trial.set_user_attr("point", point.values)
            self._trials[point.number] = trial
            return point
        return None

    def ended(self, point, states):
        import optuna  # pylint: disable=import-outside-toplevel
        trial = self._trials.pop(point.number)
        if "failed" in states:
            self._study.tell(trial, state=optuna.trial.TrialState.FAIL)
        else:
            self._study.tell(trial, self._search.values(point.runs[:len(states)]))


class Search:
    """A search for the best points, by a specification with the table [search].

    trials: how many points to try, in place of the number in the specification. `objectives`: list of (metric, "minimize" or "maximize").
    Raises UserError with all mistakes of the specification.
    """

    def __init__(self, spec, trials=0):
        table, where = spec.tables["search"], f"{spec.path}: search"
        problems = [Problem(f"{where}.{name}", "is not known", ", ".join(KEYS)) for name in table if name not in KEYS]
        self.objectives = []
        for direction in ("minimize", "maximize"):
            given = table.get(direction, [])
            names = [given] if isinstance(given, str) else given
            if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
                problems.append(Problem(f"{where}.{direction}", f"is {given!r}", "a list of metrics"))
                continue
            self.objectives += [(name, direction) for name in names]
        self.trials, self._seed = trials or table.get("trials", 100), table.get("seed", 1)
        for name, value in (("trials", self.trials), ("seed", self._seed)):
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                problems.append(Problem(f"{where}.{name}", f"is {value!r}", "a whole number above 0"))
        if not self.objectives:
            problems.append(Problem(where, "names no metric", "minimize and maximize, lists of metrics", 'minimize = ["read.total.p99"]'))
        if problems:
            raise UserError(*problems)
        self.spec, self._space, self._number = spec, Space(spec), 0
        self.plan = Plan(spec, given=[])

    def point(self, trial):
        """plan.Point of a trial, or None when a constraint excludes it."""
        try:
            values = complete(self.spec, self._space.point(trial), self.plan.device_values)
        except ValueError as error:
            raise UserError(Problem(str(self.spec.path), str(error))) from None
        if values is None:
            return None
        plan = Plan(self.spec, keep_refused=True, given=[values])
        plan.prepare()
        plan.points[0].number = self._number
        self._number += 1
        return plan.points[0]

    def values(self, runs):
        """For each objective the mean over the runs."""
        return [statistics.fmean(metric_of(worker.run_folder(self.plan.output, run.key), name) for run in runs) for name, _ in self.objectives]

    def steadiness(self, keys):
        """The different verdicts on steadiness of a trial's runs, as text; "" for a trial without results. keys: of its runs."""
        folders = [worker.run_folder(self.plan.output, key) for key in keys if (worker.recorded(self.plan.output, key) or {}).get("state") == "done"]
        verdicts = [(Result(folder).steadiness or {}).get("verdict", "") for folder in folders]
        return ", ".join(dict.fromkeys(filter(None, verdicts)))

    def study(self):
        """Optuna's study in the folder of the sweep, made when there is none. Raises UserError when it is a search for other metrics."""
        need("search")
        import optuna  # pylint: disable=import-outside-toplevel
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        if len(self.objectives) > 1:
            size = max(SMALLEST, min(LARGEST, self.trials // GENERATIONS))
            sampler = optuna.samplers.NSGAIISampler(seed=self._seed, population_size=size)
        else:
            sampler = optuna.samplers.TPESampler(seed=self._seed, constant_liar=True)
        path = self.plan.output / STUDY_FILE
        study = optuna.create_study(study_name=STUDY, storage=f"sqlite:///{path}", sampler=sampler, directions=[d for _, d in self.objectives], load_if_exists=True)
        wanted = [list(objective) for objective in self.objectives]
        if study.user_attrs.get("objectives", wanted) != wanted:
            raise UserError(Problem(str(path), "is a search for " + ", ".join(f"{d} {n}" for n, d in study.user_attrs["objectives"]), "one search a folder",
                                    "choose another folder with -o"))
        study.set_user_attr("objectives", wanted)
        return study

    def counted(self, study):
        """The trials that count: with values, or with a run that failed. One that was killed does not count, and is tried again."""
        state = lambda key: (worker.recorded(self.plan.output, key) or {}).get("state")
        return [trial for trial in study.get_trials(deepcopy=False) if trial.state.is_finished() and "key" in trial.user_attrs
                and (trial.values or any(state(key) == "failed" for key in trial.user_attrs["key"]))]

    def run(self, *, workers=0, scheduler=None, cluster=None, quiet=True):
        """Tries points until `trials` of them have ended, and returns the driver.Outcome. Arguments as of Sweep.run(). Needs the extra
        `search`. Raises UserError."""
        need("search")
        with workers_for(self.plan, workers=workers, scheduler=scheduler, cluster=cluster) as pool:
            return run_plan(self.plan, pool, quiet=quiet, open_source=lambda: Source(self, self.study()))

    def tried(self):
        """A dict for each trial: {"trial", "point", "runs", "state", "steadiness", "values": {metric: value}, "best"}. A trial is best when
        no other one is better in one metric without being worse in another."""
        study = self.study()
        best = {trial.number for trial in study.best_trials}
        return [{"trial": trial.number, "point": trial.user_attrs.get("point", {}), "runs": trial.user_attrs.get("key", []), "state": trial.state.name.lower(), "steadiness": self.steadiness(trial.user_attrs.get("key", [])),
                 "values": dict(zip([name for name, _ in self.objectives], trial.values or [])), "best": trial.number in best}
                for trial in self.counted(study)]


def plan_of(spec, progress=None):
    """(Plan, objectives) of a specification. Of a search that has begun these are the points that it has tried and what it looks for; else
    the points of the sweep, and no objectives."""
    if not spec.tables["search"] or not (spec.output / STUDY_FILE).exists():
        return Plan(spec, progress=progress), ()
    made = Search(spec)
    # A trial may choose the point of an earlier one, whose runs it shares.
    points = {label(row["point"]): row["point"] for row in made.tried()}
    return Plan(spec, keep_refused=True, given=list(points.values())), made.objectives


def search(spec, output=None, trials=0, **options):
    """Runs a search and returns its Search. spec: path of a specification. output: folder of the results. options: arguments of
    Search.run(). Raises UserError."""
    made = Search(read_spec(spec, output), trials)
    made.run(**options)
    return made


def add_arguments(parser):
    add_spec_arguments(parser)
    add_pool_arguments(parser)
    parser.add_argument("--trials", type=int, default=0)
    parser.add_argument("--json", action="store_true")


def command(arguments):
    """Returns (text for standard output, exit code)."""
    if arguments.trials < 0:
        raise UserError(Problem("command line", f"--trials {arguments.trials}", "1 or more; without it, trials of [search]"))
    made = Search(read_spec(arguments.spec, arguments.output, arguments.set), arguments.trials)
    options = pool_options(arguments)
    interruptible()
    try:
        made.run(quiet=arguments.quiet, **options)
    except Interrupted:
        return interrupted(made.plan.output)
    tried = made.tried()
    if arguments.json:
        return json.dumps({"objectives": made.objectives, "trials": tried}, indent=1, ensure_ascii=False) + "\n", 0
    best = sorted((row for row in tried if row["best"]), key=lambda row: list(row["values"].values()))
    metrics = [name for name, _ in made.objectives]
    axes = list(dict.fromkeys(key for row in best for key in row["point"]))
    text = text_table(["trial", *axes, *metrics, "steady state"], [[row["trial"], *(shown(row["point"].get(key, "")) for key in axes), *(row["values"][name] for name in metrics), row["steadiness"]] for row in best])
    failed = sum(row["state"] == "fail" for row in tried)
    what = f"Pareto front: {len(best)} of {len(tried)} trials" if len(metrics) > 1 else f"best of {len(tried)} trials"
    return text + f"\n{what}" + (f"; {failed} failed" if failed else "") + f"; results in {made.plan.output}\n", 0
