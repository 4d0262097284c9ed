# SPDX-License-Identifier: Apache-2.0
"""A page of the live view as lines of text, from what the simulator sent. Knows no terminal."""

import collections
import math

from ..sweeping.progress import span

OPERATIONS = ("read", "write", "trim", "flush")
# Resources that are shown, the busiest first, so that it has a place even on a small terminal.
BUSIEST = 6
NAME_WIDTH, BAR_WIDTH = 18, 24
HISTORY = 400  # intervals: more than a terminal is wide
SATURATED = 0.85  # as in the summary of a run


def number(x):
    """A number as text of up to four digits, with k, M or G."""
    for power, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(x) >= 10 * power or (power > 1e3 and abs(x) >= power):
            return f"{x / power:.4g}{unit}"
    return f"{x:.4g}" if abs(x) < 1000 else f"{x:.0f}"


class View:
    """A page of the live view, made of the messages so far. unicode: the terminal can show block characters."""

    def __init__(self, unicode=True):
        self._full, self._empty = ("█", "░") if unicode else ("#", ".")
        self._steps = "▁▂▃▄▅▆▇█" if unicode else "_.-=oO#"
        self._run, self._now, self._interrupting = {}, None, False
        self._history = collections.deque(maxlen=HISTORY)

    def take(self, message):
        """Takes a message of the simulator, a dict. The first one says what the run is, each further one tells about an interval."""
        if "interval_s" not in message:
            self._run = message
        elif message["interval_s"] > 0:
            self._now = message
            self._history.append(sum(o["ios"] for o in message.get("operations", {}).values()) / message["interval_s"])

    def lines(self, width, height, elapsed):
        """The rows (text, bold) of the page that fit. elapsed: seconds of wall time since the viewer began."""
        rows = [(f"{self._run.get('workload', '')} on {self._run.get('device', '')}, seed {self._run.get('seed', '')}", True)]
        if self._now is None:
            rows.append((f"preparing the device: {span(elapsed)}", False))
        else:
            for part in (self._progress(width), self._operations(), self._resources(), self._device(), self._throughput(width)):
                rows += [*part, ("", False)]
        return [(text[:width], bold) for text, bold in rows[:height]]

    def _bar(self, share, width):
        full = round(min(max(share, 0), 1) * width)
        return self._full * full + self._empty * (width - full)

    def _progress(self, width):
        now = self._now
        share, wall = now["fraction"], now["wall_s"]
        eta = span(wall * (1 - share) / share) if share > 0 else "?"
        rate = number(now["commands"] / wall) if wall > 0 else "?"
        yield f"[{self._bar(share, min(50, max(10, width - 30)))}] {100 * share:5.1f} %  ETA {eta}", False
        yield f"simulated {now['simulated_s']:.6f} s in {span(wall)}, {number(now['commands'])} commands, {rate} commands/s of host time", False

    def _operations(self):
        now = self._now
        yield f"{'':<8}{'IOPS':>10}{'MB/s':>10}{'mean us':>12}{'p99 us':>12}", True
        for op in OPERATIONS:
            o = now.get("operations", {}).get(op)
            if o is None:
                continue
            p99 = "ramp" if o["p99_us"] is None else f"{o['p99_us']:.2f}"
            yield (f"{op:<8}{number(o['ios'] / now['interval_s']):>10}{o['bytes'] / now['interval_s'] * 1e-6:>10.1f}"
                   f"{o['mean_us']:>12.2f}{p99:>12}"), False
        yield f"{now['outstanding']} commands outstanding", False

    def _resources(self):
        rows = sorted(self._now.get("resources", []), key=lambda row: -row["mean"])[:BUSIEST]
        yield f"{'busy':<{NAME_WIDTH}}{'mean':>8} {'':<{BAR_WIDTH}}  busiest", True
        for row in rows:
            most = f"  {100 * row['max']:5.1f} % {row['busiest']}" if row["members"] > 1 else ""
            yield f"{row['name']:<{NAME_WIDTH}}{100 * row['mean']:6.1f} % {self._bar(row['mean'], BAR_WIDTH)}{most}", row["max"] >= SATURATED

    def _device(self):
        now = self._now
        waf = "-" if now["waf"] is None else f"{now['waf']:.3f}"
        free = "no free blocks known" if now["free_blocks"] is None else f"{now['free_blocks']} free blocks"
        yield (f"GC: {number(now['moved_pages'] / now['interval_s'])} pages/s moved, {number(now['erased_blocks'] / now['interval_s'])} blocks/s "
               f"erased, WAF {waf}, {free}"), False

    def _throughput(self, width):
        """A line with the throughput of the last intervals, each as one character whose height shows it."""
        history = list(self._history)[-max(1, width - 8):]
        top = max(history)
        steps = len(self._steps)
        yield "IOPS    " + "".join(self._steps[min(steps - 1, math.floor(x / top * steps))] if top else self._steps[0] for x in history), False
