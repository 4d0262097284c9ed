# SPDX-License-Identifier: Apache-2.0
"""The commands of ssdtlm that are written in Python. The program becomes `PYTHON -m ssdtlm COMMAND ...`; its own parser has
seen the words before, and prints the help."""

import argparse
import os
import signal
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
    def error(self, message):
        raise UserError(Problem("command line", message, "", f"see `{self.prog} --help`"))


def parser():
    top = Parser(prog="ssdtlm", allow_abbrev=False)
    commands = top.add_subparsers(dest="command", required=True)
    for name, module in COMMANDS.items():
        module.add_arguments(commands.add_parser(name, allow_abbrev=False))
    return top


def run(words):
    """Returns (text for standard output, exit code)."""
    if sys.version_info < OLDEST:
        raise UserError(Problem("ssdtlm", f"{sys.executable} is Python {sys.version_info.major}.{sys.version_info.minor}",
                                f"Python {OLDEST[0]}.{OLDEST[1]} or later", "name one in SSDTLM_PYTHON"))
    if "SSDTLM_BINARY_VERSION" in os.environ:
        check_version(os.environ["SSDTLM_BINARY_VERSION"], os.environ.get("SSDTLM_BINARY", "ssdtlm"))
    arguments = parser().parse_args(words)
    return COMMANDS[arguments.command].command(arguments)


def main():
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    # Names of files may hold any bytes.
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
    except KeyboardInterrupt:
        return 130
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError:
        print("ssdtlm: standard output cannot be written", file=sys.stderr)
        sys.stderr.flush()
        os._exit(74)  # else the interpreter tries again, and says so
    return code


if __name__ == "__main__":
    sys.exit(main())
