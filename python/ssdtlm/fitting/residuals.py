# SPDX-License-Identifier: Apache-2.0
"""How far simulated figures are from measured ones. Each figure counts by the logarithm of simulated / measured, so that twice and half are
equally wrong. A cell has rates (IOPS, bandwidth), the mean latency and percentiles for each operation: the three kinds weigh the same in
it, and each cell weighs the same in the whole. For the search a figure counts the less, the more it varies from seed to seed."""

import math
import statistics

import numpy

# The deviation of a figure that the simulation does not have, because it had no such commands.
MISSING = math.log(10)


def kind(name):
    return "rate" if name in ("iops", "bandwidth") else "mean" if name == "mean" else "percentile"


def weights_of(cell):
    """{figure: weight}, whose squares have the sum 1."""
    groups = {}
    for op, name in cell.figures:
        groups.setdefault((op, kind(name)), []).append((op, name))
    return {figure: math.sqrt(1 / (len(groups) * len(members))) for members in groups.values() for figure in members}


def deviations(cell, simulated):
    """{figure: ln(simulated / measured)} of a measured.Cell. simulated: {"read iops": value, ...}."""
    found = {}
    for (op, name), value in cell.figures.items():
        other = simulated.get(f"{op} {name}", 0)
        found[op, name] = math.log(other / value) if other > 0 else MISSING
    return found


# Figures that vary by this part from seed to seed weigh less by the root of three, since measurement and simulation both vary.
USUAL = 0.01


def steady_weights(groups, many):
    """[weight of each figure of each cell]. Figures that vary from seed to seed weigh less. many: for each of some seeds the answers of all
    groups."""
    found = []
    for at, group in enumerate(groups):
        for cell in group.cells:
            away = [deviations(cell, answers[at]["cells"].get(cell.name, {})) for answers in many]
            spread = {figure: statistics.stdev(one[figure] for one in away) for figure in cell.figures}
            found += [weight / math.sqrt(1 + 2 * (spread[figure] / USUAL) ** 2) for figure, weight in weights_of(cell).items()]
    return numpy.array(found)


def vector(groups, answers, weights):
    """The weighted deviations of all figures of all cells. answers: what FitRuns read, one for each group. None when one was refused."""
    parts = []
    for group, answer in zip(groups, answers):
        if "refused" in answer:
            return None
        for cell in group.cells:
            away = deviations(cell, answer["cells"].get(cell.name, {}))
            parts += [away[figure] for figure in weights_of(cell)]
    return weights * numpy.array(parts)


def error(vector_of, weights):
    """The root of the weighted mean square of deviations, as a part: 0.05 is 5 %."""
    return math.expm1(math.sqrt(float(vector_of @ vector_of) / float(weights @ weights)))


def cell_errors(groups, answers):
    """[(Cell, error as a part, deviations)] of all cells."""
    found = []
    for group, answer in zip(groups, answers):
        for cell in group.cells:
            weights, away = weights_of(cell), deviations(cell, answer["cells"].get(cell.name, {}))
            found.append((cell, math.expm1(math.sqrt(sum((weights[f] * v) ** 2 for f, v in away.items()))), away))
    return found
