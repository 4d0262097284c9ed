# SPDX-License-Identifier: Apache-2.0
"""How well the measured cells pin each parameter. From the slopes of all figures at the best values, as in any least-squares fit: a
parameter's standard error is what it would move by if each figure were off by chance as far as the fit is off now, with the other
parameters fitted again. It says nothing about what the model lacks: the held-out cells do."""

import dataclasses
import math

import numpy

# fio's histogram tells values apart by 1/64: percentiles are off by so much at least (root of the mean square of a uniform error).
FIO_BIN = 1 / 64 / math.sqrt(12)
# Of the range: the deviation of a value of which no more is known than the range.
ALL_OF_RANGE = 1 / math.sqrt(12)
# Half of that: a parameter which the cells pin no better is said not to be known.
VAGUE = ALL_OF_RANGE / 2
ALIKE = 0.95


@dataclasses.dataclass
class Certainty:
    """`error`: standard error as a part of the range, ALL_OF_RANGE at most. `alike`: keys that move figures nearly as this one does."""

    error: float
    alike: list

    @property
    def vague(self):
        return self.error > VAGUE


def certainties(vector, slopes, weights, keys):
    """{key: Certainty}. vector, slopes: at the best trial; weights: of the figures."""
    free = max(1, len(vector) - len(keys))
    variance = max(float(vector @ vector) / free, float(numpy.mean(weights ** 2)) * FIO_BIN ** 2)
    # A range of which nothing is known has the deviation of a uniform one: keeps the inverse finite.
    prior = numpy.eye(len(keys)) * variance / ALL_OF_RANGE ** 2
    covariance = variance * numpy.linalg.inv(slopes.T @ slopes + prior)
    deviations = numpy.sqrt(numpy.diag(covariance))
    found = {}
    for i, key in enumerate(keys):
        alike = [other for j, other in enumerate(keys) if j != i and abs(covariance[i, j]) / (deviations[i] * deviations[j]) > ALIKE]
        found[key] = Certainty(float(deviations[i]), alike)
    return found
