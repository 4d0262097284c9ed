# SPDX-License-Identifier: Apache-2.0
"""The commands of ssdtlm that are written in Python. The program becomes `PYTHON -m ssdtlm COMMAND ...`; its own parser has
seen the words before, and prints the help."""

# Before anything that takes time. Workers of a sweep import this module under another name, and are interrupted by their sweep.
if __name__ == "__main__":
    from . import interrupts
    interrupts.leave_at_once()

# pylint: disable=wrong-import-position
import argparse
import os
import sys

from . import extras
from .binary import check_version
from .comparison import compare
from .errors import Problem, RunFailed, UserError
from .explanation import explain
from .fitting import commands as fit
from .guest import command as guest
from .importing import commands as importing
from .reporting import report
from .sweeping import commands as sweep
from .sweeping import search
from .studying import commands as study

OLDEST = (3, 11)  # tomllib

COMMANDS = {"config": importing, "compare": compare, "explain": explain, "fit": fit, "guest": guest, "report": report, "sweep": sweep, "search": search, "study": study, "python": extras}


class Parser(argparse.ArgumentParser):
    """As the program's own parser, which has accepted the words: a mistake is a UserError, and an option takes the word behind it whatever
    that begins with (`guest --serve --timeline`), which argparse by itself would take for another option."""

    def parse_known_args(self, args=None, namespace=None):
        return super().parse_known_args(self._joined(args), namespace)

    def _joined(self, words):
        """The words, with those values that begin with "-" as part of the option's word."""
        joined, rest = [], list(words)
        while rest:
            word = rest.pop(0)
            if word == "--":
                return [*joined, word, *rest]
            option = self._option_string_actions.get(word)
            if option is not None and option.nargs is None and rest and rest[0].startswith("-"):
                word += ("=" if word.startswith("--") else "") + rest.pop(0)
            joined.append(word)
        return joined

    def error(self, message):
        raise UserError(Problem("command line", message, "", f"see `{self.prog} --help`"))


def parser():
    top = Parser(prog="ssdtlm", allow_abbrev=False)
    commands = top.add_subparsers(dest="command", required=True)
    for name, module in COMMANDS.items():
        module.add_arguments(commands.add_parser(name, allow_abbrev=False))
    return top


def run(words):
    """Runs the command that the words name. Returns (text for standard output, exit code). Raises UserError and RunFailed."""
    if sys.version_info < OLDEST:
        raise UserError(Problem("ssdtlm", f"{sys.executable} is Python {sys.version_info.major}.{sys.version_info.minor}",
                                f"Python {OLDEST[0]}.{OLDEST[1]} or later", "name one in SSDTLM_PYTHON"))
    if "SSDTLM_BINARY_VERSION" in os.environ:
        check_version(os.environ["SSDTLM_BINARY_VERSION"], os.environ.get("SSDTLM_BINARY", "ssdtlm"))
    arguments = parser().parse_args(words)
    return COMMANDS[arguments.command].command(arguments)


def main():
    """Returns the exit code of the command that sys.argv holds, after its text is written."""
    # Names of files may hold bytes that are no UTF-8.
    sys.stdout.reconfigure(encoding="utf-8", errors="surrogateescape")
    sys.stderr.reconfigure(encoding="utf-8", errors="surrogateescape")
    try:
        text, code = run(sys.argv[1:])
    except UserError as error:
        for problem in error.problems:
            print(problem, file=sys.stderr)
        return 2
    except RunFailed as error:
        print(error, file=sys.stderr)
        return error.exit_code
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError:
        print("ssdtlm: standard output cannot be written", file=sys.stderr)
        sys.stderr.flush()
        os._exit(74)  # a normal end would write again, and print a traceback
    return code


if __name__ == "__main__":
    sys.exit(interrupts.run(main))
