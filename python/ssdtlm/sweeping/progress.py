# SPDX-License-Identifier: Apache-2.0
"""How far a sweep is: one line on standard error, redrawn on a terminal, else a new one now and then."""

import sys
import time

BAR_WIDTH = 24
REDRAW_S, LINE_EVERY_S = 0.2, 10.0


def span(seconds):
    """"1:02:03", "2:03", "3 s"."""
    seconds = round(seconds)
    if seconds < 60:
        return f"{seconds} s"
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


class Progress:
    """`quiet` shows nothing. Runs that had ended before count as done, but not for the rate."""

    def __init__(self, quiet=False, stream=sys.stderr, clock=time.monotonic, what="runs"):
        self._what = what
        self._stream, self._clock, self._quiet = stream, clock, quiet
        self._terminal = stream.isatty()
        self._began = clock()
        self._shown_at = None if self._terminal else self._began
        self._drawn = False

    def text(self, done, total, failed, before):
        elapsed, ended = self._clock() - self._began, done - before
        share = done / total if total else 1.0
        full = int(share * BAR_WIDTH)
        eta = span(elapsed / ended * (total - done)) if ended else "?"
        rate = f"{ended / elapsed:.1f} {self._what}/s" if ended and elapsed > 0 else ""
        return (f"[{'#' * full}{'.' * (BAR_WIDTH - full)}] {done}/{total} {self._what}  {100 * share:5.1f} %"
                + (f"  {failed} failed" if failed else "") + (f"  {rate}" if rate else "") + f"  ETA {eta}")

    def show(self, done, total, failed, before, force=False):
        now = self._clock()
        wait = REDRAW_S if self._terminal else LINE_EVERY_S
        if self._quiet or (not force and self._shown_at is not None and now - self._shown_at < wait):
            return
        self._shown_at = now
        line = self.text(done, total, failed, before)
        self._stream.write("\r" + line + "\033[K" if self._terminal else line + "\n")
        self._stream.flush()
        self._drawn = self._terminal

    def clear(self):
        if self._drawn:
            self._stream.write("\r\033[K")
            self._stream.flush()
        self._drawn = False
