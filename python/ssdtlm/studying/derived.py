# SPDX-License-Identifier: Apache-2.0
"""What follows from a device by formula, for studies that set runs beside it."""

import functools
import json
import subprocess

from ..binary import find_binary
from ..errors import Problem, UserError
from ..simulate import assignment


def derive(device, settings):
    """The JSON of `ssdtlm config derive` as a dict with "figures" and "ceilings". settings: {parameter: value}. Raises UserError."""
    return _derive(find_binary(), device, tuple(assignment(key, value) for key, value in sorted(settings.items())))


@functools.lru_cache(maxsize=None)
def capacities():
    """{name of a preset: its capacity in bytes, as the host sees it}. Raises UserError."""
    done = subprocess.run([find_binary(), "config", "presets", "--json"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise UserError(Problem("config presets", done.stderr.strip()))
    return {preset["name"]: round(derive(preset["name"], {})["figures"]["capacity"]["values"]["user_capacity"]["value"]) for preset in json.loads(done.stdout)}


@functools.lru_cache(maxsize=None)
def _derive(binary, device, assignments):
    words = [word for one in assignments for word in ("--set", one)]
    done = subprocess.run([binary, "config", "derive", device, "--json", *words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise UserError(Problem(f"config derive {device}", done.stderr.strip()))
    return json.loads(done.stdout)
