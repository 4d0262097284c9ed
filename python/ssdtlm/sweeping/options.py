# SPDX-License-Identifier: Apache-2.0
"""What the commands of sweeps share: their words, and how they are interrupted."""

import signal

from ..errors import Problem, UserError
from ..interrupts import INTERRUPTED, leave_at_once
from .cluster import CLUSTERS


def add_pool_arguments(parser):
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--cluster", choices=CLUSTERS)
    parser.add_argument("--scheduler")
    parser.add_argument("-q", "--quiet", action="store_true")


def add_spec_arguments(parser):
    parser.add_argument("spec")
    parser.add_argument("-o", "--output")
    parser.add_argument("--set", action="append", default=[])


def pool_options(arguments):
    if arguments.workers < 0:
        raise UserError(Problem("command line", f"--workers {arguments.workers}", "1 or more; without it, one a core"))
    return {"workers": arguments.workers, "scheduler": arguments.scheduler, "cluster": arguments.cluster}


class Interrupted(BaseException):
    """Raised by a signal. It is no Exception, so that code which handles mistakes does not stop it."""


def interruptible():
    """From now on SIGINT and SIGTERM raise Interrupted, so that a sweep ends in order and jobs of a cluster are cancelled. A second signal
    ends the process at once."""
    def end(number, _):
        # The second one at once.
        if number == signal.SIGINT:
            leave_at_once()
        else:
            signal.signal(number, signal.SIG_DFL)
        raise Interrupted
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)


def interrupted(path):
    """(text, exit code) of a command that was interrupted. path: the folder of its results."""
    return f"interrupted; what is done is in {path}, and the same command goes on from there\n", INTERRUPTED
