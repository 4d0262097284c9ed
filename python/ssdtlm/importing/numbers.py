# SPDX-License-Identifier: Apache-2.0
"""Numbers of another simulator's file, and messages that name the place in it."""

import math
import pathlib
import re

from ..errors import Problem, did_you_mean

MOST = 2**63 - 1  # of the program's integers


def place(path, name):
    """The file and, if it is said there, the line."""
    stem = name.split(".")[-1].rstrip("*").lstrip("*")
    try:
        lines = pathlib.Path(path).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    word = re.compile(rf"(?<![A-Za-z0-9]){re.escape(stem)}" if name.endswith("*") else rf"{re.escape(stem)}(?![A-Za-z0-9_])" if name.startswith("*")
                      else rf"(?<![A-Za-z0-9_]){re.escape(stem)}(?![A-Za-z0-9_])")
    found = next((number for number, line in enumerate(lines, 1) if stem and not line.lstrip().startswith("#") and word.search(line)), None)
    return f"{path}:{found}" if found else str(path)


class Numbers:
    """Readers of values, for classes with `path`, `problems` and text(name, default). A value that is no number of the kind becomes a
    problem, and reads as 1."""

    def place(self, name):
        return place(self.path, name)

    def refuse(self, name, allowed, repair=""):
        self.add(Problem(self.place(name), f"{name} = {self.text(name)}", allowed, repair))

    def add(self, problem):
        if problem not in self.problems:
            self.problems.append(problem)

    def word(self, name, words, default=None):
        """One of the words, in upper or lower case. Any other value becomes a problem, and reads as the first of them."""
        value = self.text(name, default).upper()
        if value in words:
            return value
        self.refuse(name, ", ".join(words), did_you_mean(value, list(words)))
        return next(iter(words))

    def number(self, name, default=None, least=0, most=math.inf, above=False):
        """`above`: more than `least`."""
        try:
            value = float(self.text(name, default))
        except ValueError:
            value = math.nan
        if least <= value <= most and abs(value) <= MOST and not (above and value == least):
            return value
        self.refuse(name, "a number" + (f" above {least:g}" if above else f" of {least:g} or more" if most == math.inf else f" from {least:g} to {most:g}"))
        return 1.0

    def share(self, name, default=None):
        """From 0 to less than 1."""
        return min(self.number(name, default, most=0.999999), 0.999999)

    def integer(self, name, default=None, least=0, most=math.inf):
        """The program knows the end of the range, where none is given."""
        value = self.number(name, default, least, most)
        if value != int(value):
            self.refuse(name, f"a whole number of {least} or more" if most == math.inf else f"a whole number from {least} to {most}")
        return int(value)
