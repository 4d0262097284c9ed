# SPDX-License-Identifier: Apache-2.0
"""`ssdtlm explain`."""

import dataclasses
import json

from ..errors import Problem, UserError
from ..result import OPERATIONS, Result
from .again import repeat
from .words import command_text, owner_texts, summary_text


@dataclasses.dataclass
class Explanation:
    """Commands of a run in words: str() is the text for a terminal.

    result: the Result. commands: entries of slowest.json (docs/results.md), times in ps. kept: number of commands that the run kept and
    that fit what was asked for, of which `commands` are the slowest.
    """

    result: Result
    commands: list
    kept: int

    def as_dict(self):
        return {"run": str(self.result.path), "commands": self.commands}

    def __str__(self):
        owners = owner_texts(self.result)
        texts = [command_text(c, owners) for c in self.commands]
        if len(self.commands) > 1:
            texts.append(summary_text(self.commands))
        return f"{self.result.title}, seed {self.result.seed}\n\n" + "\n".join(texts)


def explain(run, slowest=10, *, command=None, op=None):
    """Says where the time of single commands went, and what held the dies, buses and cores that they waited for. Returns an Explanation.

    run: the folder of a run, or its Result.
    slowest: how many of the slowest commands to explain; with op ("read", "write", "trim" or "flush") only commands of that operation.
    command: explain this command only, by its number in slowest.json or trace.json. If the run did not keep it, the run is repeated.
    Raises UserError for mistakes, when nothing was measured or kept, and when the run cannot be repeated exactly.
    """
    result = run if isinstance(run, Result) else Result(run)
    if op is not None and op not in OPERATIONS:
        raise UserError(Problem("command line", f"--op {op}", " | ".join(OPERATIONS)))
    if slowest < 1:
        raise UserError(Problem("command line", f"--slowest {slowest}", "1 or more"))
    if command is not None:
        if command < 1:
            raise UserError(Problem("command line", f"--command {command}", "numbers begin with 1"))
        found = [c for c in result.slowest if c["command"] == command] or repeat(result, command)
        return Explanation(result, found, len(found))
    if result.measured_nothing:
        raise UserError(Problem(str(result.path), "nothing was measured, so no command is among the slowest", "a run that measured commands",
                                "shorten ramp_time, or let the run last longer"))
    kept = [c for c in result.slowest if c["among_the_slowest"] and op in (None, c["op"])]
    if not kept:
        raise UserError(Problem(str(result.path), f"has no {'' if op is None else op + ' '}commands in slowest.json", "",
                                "run again with run.slowest above 0, or name another operation"))
    kept.sort(key=lambda c: (-c["total_ps"], c["command"]))
    return Explanation(result, kept[:slowest], len(kept))


def add_arguments(parser):
    parser.add_argument("run")
    parser.add_argument("--slowest", type=int, default=10)
    parser.add_argument("--op")
    parser.add_argument("--command", dest="number", type=int)
    parser.add_argument("--json", action="store_true")


def command(arguments):
    """Returns (text for standard output, exit code)."""
    found = explain(arguments.run, arguments.slowest, command=arguments.number, op=arguments.op)
    if arguments.json:
        return json.dumps(found.as_dict(), indent=2, ensure_ascii=False) + "\n", 0
    return str(found), 0
