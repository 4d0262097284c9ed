# SPDX-License-Identifier: Apache-2.0
"""Jobs of the sides of a comparison, matched by their names: a job that another one joins keeps its name, not its number."""

import re

from ..errors import Problem, UserError, did_you_mean

_JOB = re.compile(r"job\.(?P<job>[^.]+)\.(?P<rest>.+)")


def by_name(result):
    """Metrics of a Result in which jobs have names: "job.reader.read.total.p99" for "job.0.read.total.p99"."""
    return {**{name: value for name, value in result.metrics.items() if not _JOB.match(name)}, **result.job_metrics}


def named(metric, sides):
    """A metric with the name of the job in place of its number, for example job.reader.read.iops for job.0.read.iops. The number is looked
    up in the first side that has it. Raises UserError when a side has no job of that name."""
    found = _JOB.match(metric)
    if not found:
        return metric
    job = found["job"]
    labels = [side.first.job_labels for side in sides]
    if job.isdigit() and not any(job in of_side.values() for of_side in labels):
        job = next((of_side[int(job)] for of_side in labels if int(job) in of_side), job)
    known = list(dict.fromkeys(label for of_side in labels for label in of_side.values()))
    without = [side for side, of_side in zip(sides, labels) if job not in of_side.values()]
    if without and job in known:
        raise UserError(*[Problem(f"metric '{metric}'", f"{side.name} has no job '{job}'", "jobs that all runs have, matched by name: "
                                  + (", ".join(label for label in known if all(label in of_side.values() for of_side in labels)) or "there is none")) for side in without])
    if without:
        raise UserError(Problem(f"metric '{metric}'", f"no run has a job '{job}'", "for example " + ", ".join(f"job.{label}.{found['rest']}" for label in known[:2]) if known
                                else "runs of jobs", did_you_mean(job, known)))
    return f"job.{job}.{found['rest']}"
