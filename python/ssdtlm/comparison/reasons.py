# SPDX-License-Identifier: Apache-2.0
"""Why a side differs from the baseline, in one sentence; and what makes its numbers weak."""

import re

from ..result import OPERATIONS

# With fewer commands above a percentile, another seed moves it by a tenth of its value or more.
FEW = 10
_PERCENTILE = re.compile(r"(?P<of>.+)\.total\.p(?P<percent>[\d.]+)$")


# Changes in both directions cancel each other when one is larger than the whole change by this factor.
CANCELS = 2


def largest_part(changes, direction):
    """The Change with the largest difference in this direction (1: up, -1: down); None when none changes in it."""
    parts = [c for c in changes if c.difference * direction > 0]
    return max(parts, key=lambda c: abs(c.difference), default=None)


def _of_stages(stages, total):
    """A part of a sentence: the stage that changed most, and its share of the whole change. Where stages change in both directions and
    nearly cancel each other, a share means nothing, and the largest of each direction are named."""
    part = lambda stage: f"{stage.metric.split('.')[1]}, {stage.difference:+.2f} us"
    ways = [largest_part(stages, way) for way in (1, -1)]
    if all(ways) and max(abs(stage.difference) for stage in ways) > CANCELS * abs(total.difference):
        return f"; parts cancel each other, the largest are {part(ways[0])}, and {part(ways[1])}"
    stage = largest_part(stages, total.difference)
    return f"; the largest part is {part(stage)} ({100 * stage.difference / total.difference:.0f} %)" if stage else ""


def why(differences):
    """A sentence with the stage and the resource that have the largest part of the difference; empty when no latency differs."""
    totals = {change.metric.split(".")[0]: change for change in differences.headlines
              if change.metric.endswith(".total.mean") and change.before and change.after}
    if not totals:
        return ""
    count = lambda op: max(side.mean(f"{op}.ios") for side in (differences.baseline, differences.other))
    op = max(totals, key=lambda name: abs(totals[name].difference) * count(name))
    total = totals[op]
    sentence = f"{op} takes {abs(total.difference):.2f} us {'more' if total.difference > 0 else 'less'} on average ({100 * total.relative:+.1f} %)"
    sentence += _of_stages(differences.stages[op], total)
    if differences.resources:
        busy = max(differences.resources, key=lambda c: abs(c.difference))
        name = busy.metric.removeprefix("resources.").removesuffix(".busy_mean")
        sentence += f"; of the resources {name} changes most, from {100 * busy.before:.1f} % busy to {100 * busy.after:.1f} %"
    return sentence + "."


def _samples(side, of):
    """How many commands a percentile of `of` ("read" or "job.reader.read") rests on, in the run of the side that has the fewest."""
    def of_run(run):
        if of in OPERATIONS:
            return run.latency_us.get(of, {}).get("total", {}).get("count", 0)
        return run.job_metrics.get(f"{of}.ios", run.metrics.get(f"{of}.ios", 0))
    return min(of_run(run) for run in side.runs)


def thin_percentiles(side, metrics):
    """A warning for percentiles among the metrics that have fewer than FEW samples above them."""
    warnings = {}
    for metric in metrics:
        found = _PERCENTILE.match(metric)
        if not found:
            continue
        samples = _samples(side, found["of"])
        above = samples * (1 - float(found["percent"]) / 100)
        if samples and above < FEW - 1e-9:
            warnings.setdefault((found["of"], samples), []).append(f"p{found['percent']}")
    return [f"{side.name}: {', '.join(names)} of {of} {'has' if len(names) == 1 else 'have'} fewer than {FEW} of {samples} commands above {'it' if len(names) == 1 else 'them'}"
            for (of, samples), names in warnings.items()]


def steadiness(side):
    """A list of sentences such as "results/a: steady: ...", one for each verdict among the runs of a side. Results of older versions have
    no verdict."""
    judged = {}
    for run in side.runs:
        found = run.json.get("steadiness")
        if found:
            judged.setdefault(found["verdict"], []).append((run.seed, found["reason"]))
    of_seeds = lambda seeds: f" (seed{'s' if len(seeds) > 1 else ''} {', '.join(map(str, seeds))})" if len(side.runs) > 1 else ""
    return [f"{side.name}{of_seeds([seed for seed, _ in all_of])}: {verdict}: {all_of[0][1]}" for verdict, all_of in judged.items()]


def nothing_measured(side):
    """A warning for runs without a measured command: each of their metrics counts as 0."""
    found = [run for run in side.runs if run.measured_nothing]
    if not found:
        return []
    which = f" with seed{'s' if len(found) > 1 else ''} {', '.join(str(run.seed) for run in found)}" if len(side.runs) > 1 else ""
    return [f"{side.name}{which}: nothing was measured, so its metrics count as 0"]


def nothing_erased(side):
    """A warning for writes that met no garbage collection."""
    writes = [run for run in side.runs if run.json.get("write", {}).get("ios") and not run.json.get("ftl", {}).get("blocks_erased")]
    return [f"{side.name}: nothing was erased, so the writes met no garbage collection"] if writes else []
