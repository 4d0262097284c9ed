# SPDX-License-Identifier: Apache-2.0
"""What the program says of the workloads of a sweep, for a plan that is refused anyway: mistakes in job files and in options of fio are
then told together with those of parameters, and not one after the other. A plan without mistakes does not pay for this."""

import pathlib
import re
import subprocess
import tempfile

from ..errors import Problem, UserError
from .points import label
from .workloads import Workload

# Of a sweep with many workloads: each takes a process.
MOST_WORKLOADS = 10
# Where no device of the sweep is known, only what both of these say is true of any drive.
ANY_DEVICES = (("tiny-test",), ("hexa-16g",))
_PLACE = re.compile(r"^.*?:\d+:\d+: ")


def of_workloads(plan, found, good):
    """Problems of the workloads of the points `found`, each once. `good`: words for a device that the program accepts, or None."""
    problems, seen, said = [], set(), set()
    for point in found:
        values = {**plan.spec.fixed, **point}
        try:
            workload = plan.workload(values)
        except UserError as error:
            problems += [p for p in error.problems if str(p) not in said]
            said.update(map(str, error.problems))
            options = {key.removeprefix("fio."): value for key, value in values.items() if key.startswith("fio.")}
            workload = Workload(None, options)  # what can be said without the file
        if workload.text is None or workload.digest in seen or len(seen) == MOST_WORKLOADS:
            continue
        seen.add(workload.digest)
        for text in _refused(plan.binary, workload, [good] if good else ANY_DEVICES):
            if text not in said:
                said.add(text)
                problems.append(Problem(f"{plan.spec.path}: workload of {label(point)}", text))
    return problems


def _refused(binary, workload, devices):
    """What the program says of the job file for each of the devices, without the places in the file that is made of it."""
    with tempfile.TemporaryDirectory(prefix="ssdtlm-plan-") as folder:
        workload.write(pathlib.Path(folder))
        file = str(workload.file(pathlib.Path(folder)))
        answers = [subprocess.run([binary, "config", "check", *words, "-w", file], capture_output=True, text=True, errors="replace", check=False) for words in devices]
    lines = [[_PLACE.sub("", line) for line in done.stderr.splitlines() if line.startswith(file)] if done.returncode == 2 else [] for done in answers]
    return [line for line in lines[0] if all(line in others for others in lines)]
