# SPDX-License-Identifier: Apache-2.0
"""Confidence intervals of a difference of means, with the standard library only."""

import math
import statistics

CONFIDENCE = 0.95


def _beta_fraction(a, b, x):
    """Continued fraction of the incomplete beta function, by Lentz's method (DLMF 8.17.22)."""
    tiny = 1e-300
    c, d = 1.0, 1.0 / max(1.0 - (a + b) * x / (a + 1.0), tiny)
    value = d
    for m in range(1, 1000):
        for step in (m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
                     -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))):
            d = 1.0 / (1.0 + step * d or tiny)
            c = 1.0 + step / c or tiny
            value *= c * d
        if abs(c * d - 1.0) < 1e-15:
            break
    return value


def _beta_regularised(a, b, x):
    if x <= 0.0 or x >= 1.0:
        return float(x >= 1.0)
    if x > (a + 1.0) / (a + b + 2.0):  # where the fraction converges slowly
        return 1.0 - _beta_regularised(b, a, 1.0 - x)
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    return math.exp(log_front) * _beta_fraction(a, b, x) / a


def t_quantile(confidence, degrees):
    """The t for which Student's distribution with `degrees` of freedom (any positive real) has `confidence` in [-t, t]."""
    low, high = 0.0, 1.0
    outside = lambda t: _beta_regularised(degrees / 2.0, 0.5, degrees / (degrees + t * t))
    while outside(high) > 1.0 - confidence:
        high *= 2.0
    for _ in range(200):
        middle = (low + high) / 2.0
        low, high = (middle, high) if outside(middle) > 1.0 - confidence else (low, middle)
    return (low + high) / 2.0


def interval(before, after, paired):
    """The 95 % interval (low, high) of mean(after) - mean(before), or None when a side has fewer than two values. paired: both lists have
    the same seeds in the same order, so the differences of pairs are taken (paired t-test); else Welch's t-test."""
    if len(before) < 2 or len(after) < 2:
        return None
    difference = statistics.fmean(after) - statistics.fmean(before)
    if paired:
        changes = [b - a for a, b in zip(before, after)]
        error, degrees = statistics.stdev(changes) / math.sqrt(len(changes)), len(changes) - 1
    else:
        parts = [statistics.variance(side) / len(side) for side in (before, after)]
        error = math.sqrt(sum(parts))
        freedom = sum(p * p / (len(side) - 1) for p, side in zip(parts, (before, after)))
        degrees = sum(parts) ** 2 / freedom if freedom > 0 else 1
    if error == 0.0:
        return difference, difference
    half = t_quantile(CONFIDENCE, degrees) * error
    return difference - half, difference + half
