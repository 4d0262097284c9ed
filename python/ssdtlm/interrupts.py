# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C ends a command in Python with one message and exit code 130, whatever the command is doing. This module imports little,
because it is what a command imports first: `_signal` is the built-in half of `signal`, whose other half needs ten milliseconds."""

import atexit
import os

import _signal as signal

INTERRUPTED = 130  # exit code, as of the program (README)
MESSAGE = "ssdtlm: interrupted"

_came = _said = False


def _say():
    global _said  # pylint: disable=global-statement
    if not _said:
        _said = True
        os.write(2, MESSAGE.encode() + b"\n")


def _leave(*_):
    _say()
    os._exit(INTERRUPTED)


def leave_at_once():
    """For the time in which modules are imported: an exception would come out of any of them, and nothing has to be put in order yet.
    Whoever started this process may have held the signal back until here."""
    signal.signal(signal.SIGINT, _leave)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def _put_in_order(*_):
    global _came  # pylint: disable=global-statement
    _came = True
    signal.signal(signal.SIGINT, _leave)  # the second one at once
    raise KeyboardInterrupt


def run(command):
    """Returns the exit code of command(), a function without arguments. An interrupt unwinds it by KeyboardInterrupt, so that children
    end and unfinished files go away, and makes the exit code INTERRUPTED."""
    signal.signal(signal.SIGINT, _put_in_order)
    try:
        code = command()
    except KeyboardInterrupt:
        code = INTERRUPTED
        _say()
    else:
        if _came and code != INTERRUPTED:  # a library has swallowed the exception
            code = INTERRUPTED
            _say()
    # The interpreter ends without a traceback too. Its very last steps give the signal back to the system, unless it is ignored.
    signal.signal(signal.SIGINT, lambda *_: os._exit(code))
    atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)
    return code
