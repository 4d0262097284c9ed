# SPDX-License-Identifier: Apache-2.0
"""Repeats a run to learn about a command that it did not keep. The same program, configuration, seed and workload give the
same results to the last byte; so a repetition whose results differ is not the same run, and is refused."""

import os
import pathlib
import subprocess
import tempfile

from ..binary import find_binary
from ..errors import Problem, RunFailed, UserError
from ..result import Result
from ..version import VERSION

# Options of `ssdtlm run` that say where results go or what is recorded: those with a value, and those without.
_WITH_WORD = ("-o", "--output", "--timeline-from", "--timeline-to", "--wave", "--wave-from", "--wave-to", "--wave-trigger",
              "--wave-before", "--wave-after", "--wave-format")
_ALONE = ("--timeline", "--json", "-q", "--quiet", "--report", "--watch")


def _words(command):
    """The words of a command line `ssdtlm run ...` without the program, `run` and the options that only record or print."""
    kept, skip = [], False
    for word in command[2:]:
        if skip and not word.startswith("-"):  # the value of --wave is optional
            skip = False
            continue
        skip = False
        if word in _WITH_WORD:
            skip = True
        elif word not in _ALONE and not word.startswith(tuple(f"{name}=" for name in (*_WITH_WORD, *_ALONE) if name.startswith("--"))):
            kept.append(word)
    return kept


def _results(result):
    """(results, configuration) that are equal in a repetition. The two parameters that say which commands are kept are left out, and so are
    notes, which are about the command line."""
    rest = {key: value for key, value in result.json.items() if key not in ("config_toml", "notes")}
    config = {key: value for key, value in result.config.items() if key not in ("run.slowest", "run.explain")}
    return rest, config


# Parameters that name a file whose content is in no digest of the results.
_INPUTS = ("precondition.from", "precondition.workload")


def _inputs_or_program(result, directory):
    """Why equal configurations and workloads of one version have unequal results, as far as the files tell."""
    named = {key: result.config[key] for key in _INPUTS if result.config.get(key)}
    written = (result.path / "result.json").stat().st_mtime_ns
    changed = [f"{name} ({key}) has changed since" for key, name in named.items()
               if (file := pathlib.Path(directory, name)).exists() and file.stat().st_mtime_ns > written]
    if changed:
        return ", ".join(changed)
    build = f"the program is another build of version {VERSION}"
    return f"{build}, or {' or '.join(f'{name} ({key})' for key, name in named.items())} has other content" if named else build


def _what_differs(before, after, directory):
    """What keeps `after` from being the same run, or "". `directory`: where both were started."""
    (rest, config), (rest2, config2) = _results(before), _results(after)
    keys = [k for k in sorted(config.keys() | config2.keys()) if config.get(k) != config2.get(k)]
    if keys:
        return f"its configuration is now another ({', '.join(keys[:3])})"
    if not before.same_workload(after):
        return "its workload is now another"
    if rest != rest2:
        return "its results are now others: " + _inputs_or_program(before, directory)
    return ""


def repeat(result, number):
    """Repeats the run of a Result and returns [entry of slowest.json] of the command with this number. Raises UserError when the run cannot
    be repeated exactly, RunFailed when the repetition fails, KeyboardInterrupt when it is interrupted."""
    where = str(result.path)
    clock = result.wall_clock
    if result.json["ssdtlm"] != VERSION:
        raise UserError(Problem(where, f"is of version {result.json['ssdtlm']}, which cannot be repeated by {VERSION}",
                                "a command among the slowest", "install that version, or run again"))
    if result.json["ended_by"] == "interrupt":
        raise UserError(Problem(where, "was interrupted, which cannot be repeated", "a command among the slowest"))
    command, directory = clock.get("command"), clock.get("directory")
    keep = f"run it again with --set 'run.explain=[{number}]'"
    if not command or command[1:2] != ["run"] or directory is None:
        raise UserError(Problem(where, f"command {number} was not kept, and wall_clock.json does not say how to repeat the run", "", keep))
    if not os.path.isdir(directory):
        raise UserError(Problem(where, f"command {number} was not kept, and the run cannot be repeated where it was started: {directory} is not there any more",
                                "", f"move or link its files there, or {keep}"))
    words = _words(command)
    if any(a in ("-w", "--workload") and b == "-" or a == "--workload=-" for a, b in zip(words, [*words[1:], ""])):
        raise UserError(Problem(where, f"command {number} was not kept, and the workload came from standard input", "", keep))
    with tempfile.TemporaryDirectory(prefix="ssdtlm-explain-") as folder:
        done = subprocess.run([find_binary(), "run", *words, "-q", "-o", folder, "--set", "run.slowest=0", "--set", f"run.explain=[{number}]"],
                              cwd=directory, capture_output=True, text=True, errors="replace", check=False)
        if done.returncode == 130:
            raise KeyboardInterrupt
        if done.returncode == 2:
            raise UserError(Problem(where, "cannot be repeated", done.stderr.strip()))
        if done.returncode != 0:
            raise RunFailed(done.returncode, done.stderr)
        again = Result(folder)
        differs = _what_differs(result, again, directory)
        if differs:
            raise UserError(Problem(where, f"cannot be repeated: {differs}", "the same version, configuration, seed, workload and saved drive", keep))
        found = again.slowest
    if not found:
        raise UserError(Problem(where, f"has no command {number}", "the numbers in slowest.json and trace.json, from 1"))
    return found
