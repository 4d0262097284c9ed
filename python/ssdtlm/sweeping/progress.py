# SPDX-License-Identifier: Apache-2.0
"""How far a sweep is: one line on standard error, redrawn on a terminal, else a new one now and then."""

import sys
import time

BAR_WIDTH = 24
REDRAW_S, FIRST_LINE_S, LINE_EVERY_S = 0.2, 1.0, 10.0


def span(seconds):
    """A time in seconds as text: "1:02:03", "2:03" or "3 s"."""
    seconds = round(seconds)
    if seconds < 60:
        return f"{seconds} s"
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


def end_at(seconds, now):
    """The time of day in `seconds` seconds as text, with the day when it is another one. now: seconds of time.time()."""
    begin, end = time.localtime(now), time.localtime(now + seconds)
    return time.strftime("%H:%M" if begin[:3] == end[:3] else "%a %H:%M" if seconds < 6 * 86400 else "%Y-%m-%d %H:%M", end)


class Progress:
    """Shows how far work is. quiet: show nothing. what: what is counted. Runs that had ended before count as done, but not for the rate."""

    def __init__(self, quiet=False, stream=None, clock=time.monotonic, what="runs", now=time.time):
        self._what = what
        self._stream, self._clock, self._now, self._quiet = stream or sys.stderr, clock, now, quiet
        self._terminal = self._stream.isatty()
        self._drawn = False
        self.begin()

    def begin(self):
        """Starts the clock of the rate anew."""
        self._began = self._clock()
        # Without a terminal the first line comes after a second, so that short work prints none.
        self._next = self._began if self._terminal else self._began + FIRST_LINE_S

    def note(self, text):
        """Shows a text while there is nothing to count yet."""
        if not self._quiet:
            self._write(text)

    def text(self, done, total, failed, before, run_s=None):
        """The line that is shown. run_s: mean seconds of a worker for one run; None until a run has ended."""
        elapsed, ended = self._clock() - self._began, done - before
        share = done / total if total else 1.0
        full = int(share * BAR_WIDTH)
        left = elapsed / ended * (total - done) if ended else None
        eta = "?" if left is None else span(left) + (f" (at {end_at(left, self._now())})" if left >= 60 else "")
        rate = f"{ended / elapsed:.1f} {self._what}/s" if ended and elapsed > 0 else ""
        return (f"[{'#' * full}{'.' * (BAR_WIDTH - full)}] {done}/{total} {self._what}  {100 * share:5.1f} %"
                + (f"  {failed} failed" if failed else "") + (f"  {rate}" if rate else "") + (f"  {run_s:.2g} s a run" if run_s else "") + f"  ETA {eta}")

    def show(self, done, total, failed, before, force=False, run_s=None):
        now = self._clock()
        if self._quiet or not force and now < self._next:
            return
        self._next = now + (REDRAW_S if self._terminal else LINE_EVERY_S)
        self._write(self.text(done, total, failed, before, run_s))

    def _write(self, line):
        self._stream.write("\r" + line + "\033[K" if self._terminal else line + "\n")
        self._stream.flush()
        self._drawn = self._terminal

    def clear(self):
        if self._drawn:
            self._stream.write("\r\033[K")
            self._stream.flush()
        self._drawn = False
