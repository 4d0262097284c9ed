# SPDX-License-Identifier: Apache-2.0
"""How well the measured cells pin each parameter. A parameter's standard error is what it would move by if each cell were off by chance as
far as the fit is off now, with the other parameters fitted again. It is the larger of two estimates:

- from the slopes of all figures at the best values, as in any least-squares fit;
- from the trials: how far from the best value one lies that is no worse than chance explains (profile likelihood, one sigma).

The figures of a cell come from one run and move together, so cells are counted as independent, and figures are not. It says nothing about
what the model lacks: the held-out cells do."""

import dataclasses
import math

import numpy

# fio's histogram tells values apart by 1/64: percentiles are off by so much at least (root of the mean square of a uniform error).
FIO_BIN = 1 / 64 / math.sqrt(12)
# As a part of the range: the standard deviation of a value about which only its range is known.
ALL_OF_RANGE = 1 / math.sqrt(12)
# As a part of the range, half of that. A parameter with a larger error counts as not known.
VAGUE = ALL_OF_RANGE / 2
ALIKE = 0.95
# With fewer trials nothing is said about a line.
LEAST_TRIALS = 5


@dataclasses.dataclass
class Certainty:
    """How sure a parameter is. error: its standard error as a part of the range, ALL_OF_RANGE at most. alike: keys of parameters that move
    the figures nearly as this one does."""

    error: float
    alike: list

    @property
    def vague(self):
        return self.error > VAGUE


def certainties(best, trials, slopes, weights, cells, keys):
    """{key: Certainty}. best: the best Trial. trials: all of them. slopes: the jacobian at the best. weights: of the figures. cells: how
    many were fitted. keys: of the parameters, in the order of a trial's places."""
    free = max(1, cells - len(keys))
    vector = best.vector
    variance = max(float(vector @ vector) / free, float(numpy.mean(weights ** 2)) * FIO_BIN ** 2)
    # The prior of a uniform distribution over the range keeps the inverse finite.
    prior = numpy.eye(len(keys)) * variance / ALL_OF_RANGE ** 2
    covariance = variance * numpy.linalg.inv(slopes.T @ slopes + prior)
    deviations = numpy.sqrt(numpy.diag(covariance))
    correlation = covariance / numpy.outer(deviations, deviations)
    as_good, nearly = (_places(best, trials, free, sigmas) for sigmas in (1, 2))
    found = {}
    for i, key in enumerate(keys):
        alike = [other for j, other in enumerate(keys) if j != i and (abs(correlation[i, j]) > ALIKE or _moved_together(nearly[:, i], nearly[:, j]))]
        apart = float(numpy.max(numpy.abs(as_good[:, i] - best.places[i])))
        found[key] = Certainty(min(ALL_OF_RANGE, max(float(deviations[i]), apart)), alike)
    return found


def _places(best, trials, free, sigmas):
    """A matrix with a row for each trial that is nearly as good as the best: its error is larger by no more than `sigmas` standard errors
    explain. A row has the trial's places in the ranges."""
    most = float(best.vector @ best.vector) * (1 + sigmas ** 2 / free)
    return numpy.array([trial.places for trial in trials if trial.vector is not None and float(trial.vector @ trial.vector) <= most] or [best.places])


def _moved_together(one, other):
    """Whether the trials that are nearly as good as the best lie on a line. Then one parameter makes up for the other."""
    if len(one) < LEAST_TRIALS or numpy.ptp(one) == 0 or numpy.ptp(other) == 0:
        return False
    return abs(float(numpy.corrcoef(one, other)[0, 1])) > ALIKE
