# SPDX-License-Identifier: Apache-2.0
"""The terminal of the live view."""

import curses
import os

from ..errors import Problem, UserError

NEEDED = ("cup", "clear")  # terminfo: to place the cursor, to clear


def check_terminal():
    """Raises UserError when TERM names none that can be drawn on."""
    name = os.environ.get("TERM", "")
    try:
        curses.setupterm(name, 2)
        missing = [capability for capability in NEEDED if not curses.tigetstr(capability)]
    except curses.error as error:
        missing = [str(error)]
    if missing:
        raise UserError(Problem("ssdtlm run --watch", f"TERM is '{name}', a terminal that cannot be drawn on ({', '.join(missing)})",
                                "for example xterm-256color, linux, screen", "set TERM to what the terminal is, or leave --watch out"))


class Screen:
    """The terminal at standard output. It is opened when something is drawn first. Nothing is drawn while the program is in the background."""

    def __init__(self):
        self._window = None

    @staticmethod
    def _in_front():
        try:
            return os.tcgetpgrp(1) == os.getpgrp()
        except OSError:  # the terminal is gone, or is not that of the session
            return False

    def _open(self):
        self._window = curses.initscr()
        curses.noecho()
        try:
            curses.curs_set(0)
        except curses.error:
            pass  # this terminal cannot hide the cursor

    def draw(self, lines):
        """Draws a page. lines(width, height): a function that returns rows (text, bold)."""
        if not self._in_front():
            return
        if self._window is None:
            self._open()
        size = os.get_terminal_size(1)
        height, width = max(size.lines, 1), max(size.columns, 1)
        if (height, width) != self._window.getmaxyx():
            curses.resizeterm(height, width)
        self._window.erase()
        # The last column stays free: a character in the corner would scroll.
        for y, (text, bold) in enumerate(lines(width - 1, height)):
            self._window.addstr(y, 0, text, curses.A_BOLD if bold else curses.A_NORMAL)
        self._window.refresh()

    def close(self):
        """Leaves the terminal as it was."""
        if self._window is not None:
            curses.endwin()
        self._window = None
