# SPDX-License-Identifier: Apache-2.0
"""The parameter table of the program, read from its JSON Schema, and values drawn from it.

A parameter that is new in the table is drawn without a change here. A form of range or a unit that this file does not know is an error.
"""
import json
import re
import subprocess

SCALES = {
    **{unit: 1000**i for i, unit in enumerate(("ps", "ns", "us", "ms", "s"))},
    **{unit: seconds * 1000**4 for unit, seconds in (("min", 60), ("h", 3600), ("d", 86400), ("y", 365 * 86400))},
    "B": 1, **{f"{p}B": 1000**i for i, p in enumerate(("k", "M", "G", "T"), 1)}, **{f"{p}iB": 1024**i for i, p in enumerate(("K", "M", "G", "T"), 1)},
    **{f"{unit}/s": 1000**i for i, unit in enumerate(("B", "kB", "MB", "GB", "TB"))}, "KiB/s": 1024, "MiB/s": 1024**2, "GiB/s": 1024**3, "TiB/s": 1024**4,
    **{unit: 1000**i for i, unit in enumerate(("Hz", "kHz", "MHz", "GHz"))},
    **{unit: 1000**i for i, unit in enumerate(("T/s", "kT/s", "MT/s", "GT/s"))},
    **{unit: 1000**i for i, unit in enumerate(("uW", "mW", "W"))},
    "%": 1,
}
TIME_UNITS = ("ps", "ns", "us", "ms", "s")
MICROSECOND, SECOND = 1000**2, 1000**4  # in ps
FRACTIONS = 10_000  # a percentage has four digits behind its point


def amount(text):
    """A number with a unit, or a plain one, as a whole number of its smallest unit; None when it is something else."""
    found = re.fullmatch(r"(\d+)(?:\.(\d+))? ?([A-Za-z%/]*)", text.strip())
    if not found or (found[3] and found[3] not in SCALES):
        return None
    scale = SCALES[found[3]] if found[3] else 1
    digits = found[2] or ""
    factor = FRACTIONS if found[3] == "%" else 1
    return int(found[1] + digits) * scale * factor // 10**len(digits)


def log_uniform(r, low, high):
    """A whole number, each decade as likely as another; `low` may be 0."""
    start = max(low, 1)
    if high <= start:
        return high
    drawn = int(start * (high / start) ** r.random() + 0.5)
    return min(max(drawn, low), high)


class Parameter:
    def __init__(self, key, schema):
        self.key, self.section = key, key.rpartition(".")[0]
        described = schema["description"]
        self.allowed = described[described.rfind(" (") + 2:-1]
        self.default = schema["default"] if "default" in schema else None
        alternatives = schema.get("oneOf", [schema])
        self.is_list = any(a.get("type") == "array" for a in alternatives)
        one = alternatives[0]
        self.words, self.units, self.low = None, None, None
        self.step = 1
        self.is_text = False
        if one.get("type") == "boolean":
            self.words = ["true", "false"]
        elif "enum" in one:
            self.words = [str(word) for word in one["enum"]]
        elif self.allowed == "a string":
            self.is_text = True
        else:
            self._range(one)
        self.quoted = not (one.get("type") in ("integer", "number", "boolean") or ("enum" in one and not isinstance(one["enum"][0], str)))

    def _range(self, one):
        if one.get("type") == "string":
            self.units = re.search(r"\(([^()]*)\)\$$", one["pattern"])[1].replace("\\", "").split("|")
            if unknown := [u for u in self.units if u not in SCALES]:
                raise ValueError(f"{self.key}: units that the campaign does not know: {unknown}")
        found = re.fullmatch(r"(\S+)\.\.(\S+?)(?: in steps of (\S+))?", self.allowed.partition(";")[0])
        if not found:  # "128B, 256B or 512B"
            words = re.split(r", | or ", self.allowed)
            if any(amount(w) is None for w in words):
                raise ValueError(f"{self.key}: the campaign cannot read its range: {self.allowed}")
            self.words = words
            return
        self.low, self.high = amount(found[1]), amount(found[2])
        self.step = amount(found[3]) if found[3] else 1

    def text_of(self, value, r=None):
        """An amount in the smallest unit as text; with `r` in any unit in which it is a whole number."""
        if not self.units:
            return str(value)
        if self.units == ["%"]:
            return f"{value / FRACTIONS:.4f}".rstrip("0").rstrip(".") + "%"
        least = min(self.units, key=SCALES.get)
        value = max(value // SCALES[least], -(-self.low // SCALES[least])) * SCALES[least]
        exact = [u for u in self.units if value % SCALES[u] == 0]
        unit = r.choice(exact) if r and exact else exact[0]
        return f"{value // SCALES[unit]}{unit}"

    def draw_number(self, r):
        kind = r.random()
        if kind < 0.3:
            value = r.choice((self.low, self.high, self.low + self.step, self.high - self.step))
        elif kind < 0.6 or self.default is None or isinstance(self.default, list):
            value = log_uniform(r, self.low, self.high)
            if self.units and self.units[0] in TIME_UNITS and r.random() < 0.7:  # what a short run lasts
                value = log_uniform(r, max(self.low, MICROSECOND), min(self.high, SECOND // 2)) if self.low < SECOND and self.high > MICROSECOND else value
        else:
            near = amount(str(self.default)) or self.low
            value = int(near * r.choice((0.25, 0.5, 0.9, 1.1, 2, 3, 10))) + r.choice((-1, 0, 0, 1)) * self.step
        value = min(max(value, self.low), self.high)
        return self.low + (value - self.low) // self.step * self.step

    def draw(self, r, beyond=0.0):
        """A value as text, for --set; `beyond` of the draws lie outside of what is allowed."""
        if self.is_text:
            return ""
        if r.random() < beyond:
            return r.choice(("maybe", "-1", "0", "1e9", "3 apples", "[1, 2]", self.text_of(self.high + self.step) if self.low is not None else "other"))
        if not self.is_list:
            return self._one(r)
        values = [self._one(r) for _ in range(r.choice((0, 1, 1, 2, 3, 5)))]
        if self.units and self.units[0] in TIME_UNITS and self.key.endswith("_at"):
            values.sort(key=amount)
        return "[" + ", ".join(self._literal(v) for v in values) + "]"

    def _one(self, r):
        return r.choice(self.words) if self.words else self.text_of(self.draw_number(r), r)

    def _literal(self, text):
        return f'"{text}"' if self.quoted else text

    def toml(self, text):
        """A value that --set takes, as TOML."""
        return text if text.startswith("[") else self._literal(text)


class Table:
    """All parameters, by key."""

    def __init__(self, schema):
        self.parameters = {}
        self._walk(schema, "")
        self.sections = sorted({p.section for p in self.parameters.values()})

    def _walk(self, schema, prefix):
        for name, value in schema["properties"].items():
            if value.get("type") == "object":
                self._walk(value, f"{prefix}{name}.")
            else:
                self.parameters[prefix + name] = Parameter(prefix + name, value)

    @classmethod
    def of(cls, binary):
        return cls(json.loads(subprocess.run([binary, "config", "schema"], capture_output=True, text=True, check=True).stdout))

    def __getitem__(self, key):
        return self.parameters[key]

    def __contains__(self, key):
        return key in self.parameters
