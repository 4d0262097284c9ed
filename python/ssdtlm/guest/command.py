# SPDX-License-Identifier: Apache-2.0
"""`ssdtlm guest`: a real Linux drives a drive of ours, in one command."""

import json
import shlex
import signal
import tempfile
from dataclasses import dataclass
from pathlib import Path

from ..errors import Problem, UserError
from ..result import Result
from . import beside, machine, place, serving, words

# Guest seconds in a second of wall time. An emulated processor takes 50 to 100 us for an I/O; at a fifth of the speed the
# guest sees a fifth of that (measured with QEMU's own NVMe device, docs/full-system.md).
RATE = 0.2


@dataclass
class Outcome:
    """What guest() returns. guest: an outcome.Outcome with the output and files of the guest. result: the Result of the drive. rows: fio's
    latencies beside those of the drive, as of beside.compare()."""
    guest: object
    result: Result
    rows: list


def guest(devices, script, output, *, set=None, seed=None, rate=RATE, processors=1, timeout_s=600, parts=None, words_of_serve=()):  # pylint: disable=redefined-builtin
    """Serves a drive, boots Linux before it, and runs a shell script there. Returns an Outcome.

    devices: presets or device files, merged from left to right. script: its text as bytes.
    output: a folder. guest/ gets what came back from the guest, drive/ the results of the model, beside.json fio's latencies beside the
    drive's.
    set: {parameter: value}. rate: guest seconds in a second of wall time; None gives the guest the clock of the wall.
    timeout_s: seconds of wall time until the guest is ended. parts: the folder with QEMU and kernel. words_of_serve: further words of
    `ssdtlm serve`.
    Raises UserError for mistakes, RunFailed when the model did not end in order.
    """
    output = Path(output).resolve()
    folder = place.folder(parts)
    shim = place.shim() if rate is not None else None
    output.mkdir(parents=True, exist_ok=True)
    # The path of a socket has at most 107 bytes.
    with tempfile.TemporaryDirectory(prefix="ssdtlm-guest-") as short:
        clock = Path(short) / "clock" if rate is not None else None
        server = serving.Server(serving.Drive(devices=list(devices), output=output / "drive", socket=Path(short) / "vfio-user",
                                              set=set or {}, seed=seed, rate=rate, clock=clock, once=True, words=tuple(words_of_serve)))
        try:
            came = machine.boot(machine.Plan(folder=folder, output=output / "guest", script=script,
                                             drives=[server.drive.socket], processors=processors, timeout_s=timeout_s,
                                             clock=clock, shim=shim, drives_are_there=server.runs))
            server.end()
        finally:
            server.kill()
    result = Result(output / "drive")
    rows = beside.compare(came.files, result.json)
    (output / "beside.json").write_text(json.dumps(rows, indent=1) + "\n")
    return Outcome(came, result, rows)


def add_arguments(parser):
    parser.add_argument("device", nargs="+")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--with", dest="words")
    what.add_argument("--script")
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--seed", type=int)
    parser.add_argument("--clock", default=str(RATE))
    parser.add_argument("--processors", type=int, default=1)
    parser.add_argument("--timeout", type=float, default=600)
    parser.add_argument("--parts")
    parser.add_argument("--serve", default="")
    parser.add_argument("-o", "--output", default="guest")


def _rate(text):
    if text == "wall":
        return None
    try:
        rate = float(text)
    except ValueError:
        rate = 0
    if not 0.001 <= rate <= 1:
        raise UserError(Problem("command line", f"--clock {text}", "wall, or 0.001 to 1: guest seconds in a second of wall time"))
    return rate


def _script(arguments):
    if arguments.words is not None:
        return words.completed(arguments.words).encode()
    try:
        return Path(arguments.script).read_bytes()
    except OSError as error:
        raise UserError(Problem(arguments.script, f"cannot be read: {error.strerror}")) from None


def _settings(given):
    pairs = [setting.partition("=") for setting in given]
    wrong = [Problem("command line", f"--set {key}", "KEY=VALUE") for key, sign, _ in pairs if not sign]
    if wrong:
        raise UserError(*wrong)
    return {key: value for key, _, value in pairs}


def command(arguments):
    if not 1 <= arguments.processors <= 16:
        raise UserError(Problem("command line", f"--processors {arguments.processors}", "1 to 16"))
    # An exception instead of the end of this process, so that QEMU and the drive are ended too.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    if arguments.timeout <= 0:
        raise UserError(Problem("command line", f"--timeout {arguments.timeout:g}", "seconds above 0"))
    outcome = guest(arguments.device, _script(arguments), arguments.output, set=_settings(arguments.set), seed=arguments.seed,
                    rate=_rate(arguments.clock), processors=arguments.processors, timeout_s=arguments.timeout,
                    parts=arguments.parts, words_of_serve=shlex.split(arguments.serve))
    came = outcome.guest
    text = came.output + beside.text(outcome.rows)
    if came.reason:
        text += f"guest: {came.reason}\n"
    return text, 1 if came.code is None else came.code
