# SPDX-License-Identifier: Apache-2.0
"""run(): one simulation in a process of its own (SystemC allows one each)."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile

from .binary import find_binary
from .errors import RunFailed, UserError, Problem
from .result import Result


def assignment(key, value):
    """The text KEY=VALUE for --set. Strings stay as they are, truth values and lists become TOML."""
    if isinstance(value, (bool, list, tuple)):
        value = json.dumps(value)
    return f"{key}={value}"


def run(device, workload, *, output=None, seed=None, set=None, options=(), **overrides):  # pylint: disable=redefined-builtin
    """Simulates `workload` on `device` and returns its Result.

    device: a preset or a device file, or a list of them, merged from left to right.
    workload: path of a fio job file or of a block trace; the name of one that comes with the program; or the text of a job file,
        which has a line end.
    output: folder for the results; without it a new one under the system's folder for temporary files, which stays.
    seed: of all random streams. options: further words of `ssdtlm run`, such as ["--stop-after-time", "2s"].
    overrides: parameters, with "__" for the dot: nand__t_read="60us"; or in `set`: {"nand.t_read": "60us"}.
    Raises UserError for mistakes in all these, RunFailed when the simulation does not end in order (exit codes 1, 3, 70,
    74), KeyboardInterrupt when it was interrupted.
    """
    folder = pathlib.Path(output) if output is not None else pathlib.Path(tempfile.mkdtemp(prefix="ssdtlm-"))
    devices = [device] if isinstance(device, (str, os.PathLike)) else list(device)
    settings = {**(set or {}), **{key.replace("__", "."): value for key, value in overrides.items()}}
    text = workload if isinstance(workload, str) and "\n" in workload else None
    command = [find_binary(), "run", *map(str, devices), "-q", "-o", str(folder), "-w", "-" if text is not None else str(workload)]
    for key, value in settings.items():
        command += ["--set", assignment(key, value)]
    if seed is not None:
        command += ["--seed", str(seed)]
    done = subprocess.run([*command, *options], input=text, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode == 2 and output is None:
        shutil.rmtree(folder)
    if done.returncode == 2:
        raise UserError(*[Problem(*line.split(": ", 1)) if ": " in line else Problem("ssdtlm run", line) for line in done.stderr.splitlines()])
    if done.returncode == 130:
        raise KeyboardInterrupt
    if done.returncode != 0:
        raise RunFailed(done.returncode, done.stderr)
    return Result(folder)
