# SPDX-License-Identifier: Apache-2.0
"""The search. Optuna chooses values from all of the ranges; from the best of them Gauss-Newton steps go on, by differences of runs.
Everything follows from seed and results, and results are kept: a fit that was interrupted takes the same way, and its runs cost nothing."""

import dataclasses
import math

import numpy

from . import residuals

# So many runs are under way at a time. It must not depend on the number of workers, or the result would.
AT_A_TIME = 8
ROUNDS = 5
# Slopes are differences over this part of the range, to both sides.
STEP = 0.03
# A round that lowers the error by less than this part is the last one.
WORTH = 0.01
# A parameter is seen when it changes a figure by more than this part, a tenth of what fio's histogram can tell apart.
SEEN = 0.0015


@dataclasses.dataclass
class Trial:
    places: tuple
    values: dict
    vector: object  # weighted deviations of all figures; None when the program refused the values
    how: str
    error: float = None


class Search:
    """Searches for the best values. frees: list of Free. groups: of cells that are fitted. weights: of their figures. runs: FitRuns. say:
    takes a text about progress."""

    def __init__(self, frees, groups, weights, runs, say):
        self.frees, self.groups, self.weights, self._runs, self._say = frees, groups, weights, runs, say
        self.trials = []
        self._known = {}

    def settings(self, places):
        return {free.key: free.value(place) for free, place in zip(self.frees, places)}

    def try_all(self, many, how):
        """A list of Trials at these places. All of their runs may run at the same time."""
        settings = [self.settings(places) for places in many]
        points = [self._runs.point(group, values) for values in settings for group in self.groups]
        answers = [answer for _, answer in self._runs.run(points)]
        n, found = len(self.groups), []
        for i, (places, values) in enumerate(zip(many, settings)):
            # The place of the possible value, which may differ from the place that was asked for.
            at = tuple(free.place(values[free.key]) for free in self.frees)
            vector = residuals.vector(self.groups, answers[i * n:(i + 1) * n], self.weights)
            found.append(Trial(at, values, vector, how, None if vector is None else residuals.error(vector, self.weights)))
            if at not in self._known:
                self._known[at] = found[-1]
                self.trials.append(found[-1])
        return found

    def best(self):
        return min((t for t in self.trials if t.vector is not None), key=lambda t: t.error, default=None)

    def unseen(self):
        """The free parameters that change no figure, at five values of their range with the others in the middle of theirs."""
        hidden = []
        steps = (0.0, 0.25, 0.5, 0.75, 1.0)
        many = [tuple(step if i == at else 0.5 for i in range(len(self.frees))) for at in range(len(self.frees)) for step in steps]
        tried = self.try_all(many, "screening")
        for at, free in enumerate(self.frees):
            vectors = [t.vector for t in tried[at * len(steps):(at + 1) * len(steps)] if t.vector is not None]
            # At least two are needed to see anything.
            if len(vectors) > 1 and max(float(numpy.max(numpy.abs(v - vectors[0]))) for v in vectors) < SEEN:
                hidden.append(free)
        return hidden

    def explore(self, trials, seed):
        import optuna  # pylint: disable=import-outside-toplevel
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        sampler = optuna.samplers.TPESampler(seed=seed, constant_liar=True, multivariate=len(self.frees) > 1)
        study = optuna.create_study(sampler=sampler)
        spaces = {free.key: optuna.distributions.FloatDistribution(0.0, 1.0) for free in self.frees}
        for trial in list(self.trials):
            if trial.vector is not None:
                study.add_trial(optuna.trial.create_trial(params=dict(zip(spaces, map(self._inside, trial.places))), distributions=spaces, value=trial.error))
        batch, done = math.ceil(AT_A_TIME / len(self.groups)), 0
        while done < trials:
            asked = [study.ask(spaces) for _ in range(min(batch, trials - done))]
            for ask, trial in zip(asked, self.try_all([tuple(ask.params[free.key] for free in self.frees) for ask in asked], "Optuna")):
                if trial.vector is None:
                    study.tell(ask, state=optuna.trial.TrialState.FAIL)
                else:
                    study.tell(ask, trial.error)
            done += len(asked)
            best = self.best()
            self._say(f"{done} of {trials} trials" + (f", weighted error {100 * best.error:.2f} %" if best else ""))

    @staticmethod
    def _inside(place):
        return min(1.0, max(0.0, place))

    def jacobian(self, trial):
        """How the deviations change with each parameter, for the whole of its range, from differences around the trial. None where values
        are refused."""
        many = []
        for at, free in enumerate(self.frees):
            step = max(STEP, free.least)
            for sign in (-1, 1):
                places = list(trial.places)
                places[at] = self._inside(places[at] + sign * step)
                many.append(tuple(places))
        tried, columns = self.try_all(many, "difference"), []
        for at in range(len(self.frees)):
            pair = [t if t.vector is not None else trial for t in tried[2 * at:2 * at + 2]]
            apart = pair[1].places[at] - pair[0].places[at]
            columns.append((pair[1].vector - pair[0].vector) / apart if apart else numpy.zeros_like(trial.vector))
        return numpy.column_stack(columns)

    def polish(self):
        """Goes from the best trial in steps as long as they improve the error. Returns the jacobian at the trial that is the best then."""
        for number in range(ROUNDS):
            start = self.best()
            slopes = self.jacobian(start)
            candidates = []
            scale = float(numpy.trace(slopes.T @ slopes)) or 1.0
            for damping in (0.0, 1e-3, 1e-2, 1e-1):
                normal = slopes.T @ slopes + damping * scale * numpy.eye(len(self.frees))
                move = numpy.linalg.lstsq(normal, -slopes.T @ start.vector, rcond=1e-9)[0]
                candidates.append(tuple(self._inside(place + step) for place, step in zip(start.places, move)))
            self.try_all(list(dict.fromkeys(candidates)), "Gauss-Newton")
            now = self.best()
            self._say(f"step {number + 1}, weighted error {100 * now.error:.2f} %")
            if now.error > start.error * (1 - WORTH):
                break
        return self.jacobian(self.best())
