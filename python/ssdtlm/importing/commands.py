# SPDX-License-Identifier: Apache-2.0
"""`ssdtlm config import`."""

import json
import pathlib
import re
import shlex
import subprocess

from ..binary import find_binary
from ..errors import Problem, UserError
from ..reporting.page import write
from . import femu, mqsim, mqsim_workload, simplessd
from .numbers import place as where
from .taken import NEARLY, NONE, TAKEN


# Simulators whose configuration is a device and nothing else.
DEVICES = {"simplessd": simplessd.import_device, "femu": femu.import_device}


def add_arguments(parser):
    kinds = parser.add_subparsers(dest="config", required=True).add_parser("import", allow_abbrev=False)
    kinds.add_argument("kind")
    kinds.add_argument("files", nargs="+")
    kinds.add_argument("-o", "--output", default=".")
    kinds.add_argument("--name")
    kinds.add_argument("--mechanisms", action="store_true")
    kinds.add_argument("--json", action="store_true")


def command(arguments):
    """Returns (text for standard output, exit code)."""
    if arguments.kind not in ("mqsim", *DEVICES):
        raise UserError(Problem("command line", f"'{arguments.kind}'", ", ".join(("mqsim", *DEVICES))))
    if arguments.kind in DEVICES and (len(arguments.files) > 1 or arguments.mechanisms):
        raise UserError(Problem("command line", "--mechanisms" if arguments.mechanisms else f"{len(arguments.files)} files", f"one file of {arguments.kind}, which has no workload in it"))
    if len(arguments.files) > 2:
        raise UserError(Problem("command line", f"{len(arguments.files)} files", "ssdconfig.xml, and workload.xml behind it"))
    folder = pathlib.Path(arguments.output)
    name = arguments.name or pathlib.Path(arguments.files[0]).stem
    device = DEVICES[arguments.kind](arguments.files[0], name) if arguments.kind in DEVICES else mqsim.import_device(arguments.files[0], name, arguments.mechanisms)
    scenarios = mqsim_workload.import_workload(arguments.files[1], device) if len(arguments.files) == 2 else []
    written, commands = [], []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        place = folder / f"{name}.toml"
        written.append(place)
        notes = accepted(device, place, device.problems + [problem for scenario in scenarios for problem in scenario.problems])
        for number, scenario in enumerate(scenarios, 1):
            line = ["ssdtlm", "run", str(place), "-o", str(folder / f"{name}-scenario{number}")]
            for key, value in scenario.settings.items():
                line += ["--set", f"{key}={value.strip(chr(34))}"]
            for job in scenario.jobs:
                path = mqsim_workload.trace_path(job, arguments.files[1])
                if job.text:
                    path = folder / f"{name}-scenario{number}-{job.name}.fio"
                    write(path, job.text)
                    written.append(path)
                line += ["-w", str(path), *job.words]
            commands.append(shlex.join(line))
    except OSError as error:
        raise UserError(Problem(str(folder), f"cannot be written: {error.strerror}", "a folder that can be written", "choose another one with -o")) from None
    rows = device.rows + [row for scenario in scenarios for row in scenario.rows]
    if arguments.json:
        return json.dumps({"files": [str(path) for path in written], "commands": commands, "notes": notes, "rows": [vars(row) for row in rows]}, indent=2, ensure_ascii=False) + "\n", 0
    return table(rows) + "".join(f"{note}\n" for note in notes) + "".join(f"wrote {path}\n" for path in written) + "".join(f"run it: {line}\n" for line in commands), 0


PROBLEM = re.compile(r"^.*?: ([a-z_]+(?:\.[a-z_0-9]+)+): (.*)$")
LIMITS = {"ftl.user_capacity": re.compile(r"at most (\d+)(MiB|KiB|B)"), "ftl.over_provisioning": re.compile(r"at least ([\d.]+%)")}
FACTORS = {"MiB": 1 << 20, "KiB": 1 << 10, "B": 1}


def accepted(device, place, found):
    """The program's notes on the device. Mistakes in the files of the user and those that the program finds are raised together as
    UserError; no file is left then."""
    notes = []
    if not device.problems:
        write(place, device.toml())
        try:
            notes = accept(device, place)
        except UserError as error:
            found = found + error.problems
    if found:
        place.unlink(missing_ok=True)
        raise UserError(*found)
    return notes


def accept(device, place):
    """Asks the program about the device and returns its notes. If the program takes only a smaller drive, the drive is made smaller. All
    else that it refuses is a problem of what the user gave."""
    for _ in range(3):
        done = subprocess.run([find_binary(), "config", "check", str(place)], capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return [line for line in (done.stdout + done.stderr).splitlines() if line.startswith("note: ")]
        found = [(match[1], match[2]) for line in done.stderr.splitlines() if (match := PROBLEM.match(line))]
        if len(found) != 1 or found[0][0] not in LIMITS or not (limit := LIMITS[found[0][0]].search(found[0][1])):
            break
        fit(device, found[0][0], limit[1] if limit[1].endswith("%") else f"{int(limit[1]) * FACTORS[limit[2]]}B")
        write(place, device.toml())
    raise UserError(*problems(device, found) or [Problem(str(device.path), done.stderr.strip() or f"is refused, with exit code {done.returncode}")])


def fit(device, key, value):
    """Makes the capacity as large as the drive allows."""
    row = device.row(key)
    device.rows.remove(row)
    device.take(row.name, row.value, key, f'"{value}"', "blocks that collection keeps free come on top of the spare here")


def problems(device, found):
    """The problems in terms of the user's file. A value that only follows from a refused one is not told."""
    said = [(row, key, text) for key, text in found if (row := device.row(key))]
    direct = [(row, key, text) for row, key, text in said if not row.why] or said
    if direct:
        return [Problem(where(device.path, row.name), f"{row.name} = {row.value}, as {key}", text) for row, key, text in direct]
    return [Problem(str(device.path), f"{key}, from {device.values[key][1]}" if key in device.values else key, text) for key, text in found]


def given(row):
    return f"{row.flow}{': ' if row.flow else ''}{row.name} = {row.value}"


def table(rows):
    """The text with a line for each row, in three groups."""
    text = ""
    for how, head in ((TAKEN, "taken"), (NEARLY, "taken nearly"), (NONE, "no counterpart")):
        group = [row for row in rows if row.how == how]
        if not group:
            continue
        text += f"{head}, {len(group)}:\n"
        width = max(len(given(row)) for row in group)
        for row in group:
            text += f"  {given(row).ljust(width)}  {row.ours}{'; ' if row.ours and row.why else ''}{row.why}\n"
    return text
