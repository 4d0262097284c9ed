# SPDX-License-Identifier: Apache-2.0
"""`PYTHON -m ssdtlm.watching FD`: draws what comes from a socket of lines until its other end is closed, however that happens."""

import signal

# The run is what is interrupted; it then closes the socket. And the terminal can be given back from the background.
for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGTTOU"):
    signal.signal(getattr(signal, name), signal.SIG_IGN)

# pylint: disable=wrong-import-position
import codecs
import json
import locale
import socket
import sys
import time

from .screen import Screen
from .view import View

LONGEST = 1 << 16  # bytes of a line
REDRAW_S = 0.5     # without a new line: the time goes on


def main(descriptor):
    locale.setlocale(locale.LC_ALL, "")
    began = time.monotonic()
    view, screen = View(unicode=codecs.lookup(locale.getpreferredencoding(False)).name == "utf-8"), Screen()
    try:
        with socket.socket(fileno=descriptor) as lines:
            lines.settimeout(REDRAW_S)
            while True:
                try:
                    line = lines.recv(LONGEST)
                    if not line:
                        return
                    view.take(json.loads(line))
                except TimeoutError:
                    pass
                screen.draw(lambda width, height: view.lines(width, height, time.monotonic() - began))
    except OSError:
        return  # the terminal is gone: there is nothing left to do
    finally:
        screen.close()


main(int(sys.argv[1]))
