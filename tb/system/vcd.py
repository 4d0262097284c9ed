# SPDX-License-Identifier: Apache-2.0
"""A strict reader of the value change dumps that ssdtlm writes: whatever it does not expect raises ValueError."""
import bisect
import re


class Signal:
    def __init__(self, kind, width):
        self.kind = kind
        self.width = width
        self.times = []
        self.values = []  # int, or None for z

    def at(self, time):
        """The value at a time; of a change at that very time, the new one."""
        return self.values[bisect.bisect_right(self.times, time) - 1]

    def changes(self):
        """(time, value) of all changes, without the initial value."""
        return list(zip(self.times, self.values))[1:]

    def spans(self, value, end):
        """[begin, end) of all stretches with that value."""
        stops = self.times[1:] + [end]
        return [(t, e) for t, v, e in zip(self.times, self.values, stops) if v == value]


class Vcd:
    def __init__(self, path):
        self.signals = {}
        self.begin = self.end = None
        codes, scope, state, timescale = {}, [], "header", False
        with open(path, encoding="ascii") as f:
            text = f.read()
        if not text.endswith("\n"):
            raise ValueError("the last line is cut off")
        for number, line in enumerate(text.splitlines(), 1):
            try:
                if state == "header":
                    word = line.split()
                    if word[-1] != "$end":
                        raise ValueError("no $end")
                    if word[0] == "$scope":
                        assert word[1] == "module" and len(word) == 4
                        scope.append(word[2])
                    elif word[0] == "$upscope":
                        scope.pop()
                    elif word[0] == "$timescale":
                        assert line == "$timescale 1 ps $end"
                        timescale = True
                    elif word[0] == "$var":
                        assert word[1] in ("wire", "integer") and scope
                        path_name = ".".join(scope + [word[4]])
                        assert path_name not in self.signals and word[3] not in codes
                        width = int(word[2])
                        assert len(word) == 6 or (word[5] == f"[{width - 1}:0]" and len(word) == 7)
                        self.signals[path_name] = codes[word[3]] = Signal(word[1], width)
                    elif word[0] == "$enddefinitions":
                        assert not scope and timescale
                        state = "dump"
                    else:
                        assert word[0] == "$version"
                elif line[0] == "#":
                    time = int(line[1:])
                    assert self.end is None or time > self.end
                    self.end = time
                    if self.begin is None:
                        self.begin = time
                elif line == "$dumpvars":
                    assert state == "dump" and self.begin is not None
                elif line == "$end":
                    assert state == "dump" and all(len(s.times) == 1 for s in self.signals.values())
                    state = "body"
                else:
                    m = re.fullmatch(r"(?:b([01]{1,64}|z) |([01z]))([!-~]+)", line)
                    digits = m[1] or m[2]
                    signal = codes[m[3]]
                    assert (m[1] is None) == (signal.width == 1) and len(digits) <= signal.width
                    assert digits in ("0", "z") or digits[0] == "1"
                    value = None if digits == "z" else int(digits, 2)
                    if state == "body":
                        assert signal.times[-1] < self.end and signal.values[-1] != value
                    signal.times.append(self.end)
                    signal.values.append(value)
            except (AssertionError, KeyError, IndexError, TypeError, ValueError) as e:
                raise ValueError(f"{path}:{number}: {line!r}: {e!r}") from e
        if state != "body":
            raise ValueError("ends too early")

    def __getitem__(self, name):
        return self.signals[name]
