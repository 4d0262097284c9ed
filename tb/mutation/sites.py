# SPDX-License-Identifier: Apache-2.0
"""Which operators of the model may be changed, and into what."""
import re

SWAPS = [("<", "<="), ("<=", "<"), (">", ">="), (">=", ">"), ("==", "!="), ("!=", "=="), ("&&", "||"), ("||", "&&"),
         ("+", "-"), ("-", "+"), ("+=", "-="), ("-=", "+="), ("++", "--"), ("--", "++")]
# Text for people, and what the compiler alone looks at.
NO_CODE = re.compile(r'^\s*(//|#|\*|static_assert|template)|dump|fmt::format|to_string|Problem|problem|operator|CheckFailed|assert')

# A message may go over several lines.
MESSAGE = re.compile(r"\b(panic|throw \w+|fmt::format)\(")


class Mutant:
    """One operator of a file of the tree. Line and column count from 0, the column in characters."""

    def __init__(self, path, number, column, old, new, line):
        self.path, self.number, self.column, self.old, self.new, self.line = path, number, column, old, new, line

    def name(self):
        return f"{self.path}:{self.number + 1}:{self.column + 1}: {self.old} -> {self.new}"

    def key(self):
        """How equivalent.txt names it: no line number, which would change with every edit above it."""
        return f"{self.path}: {self.line.strip()}: {self.old} -> {self.new}"


def code_of(line):
    """The line with comments and literals blanked."""
    line = re.sub(r'"(\\.|[^"\\])*"', lambda m: '"' + " " * (len(m.group()) - 2) + '"', line)
    return re.sub(r"//.*", lambda m: " " * len(m.group()), line)


def mutants_in(path, text):
    in_text = False  # of a function that only writes text, or of check_waiters(): it can only see more or less
    open_in_message = 0  # parentheses
    for number, line in enumerate(text.split("\n")):
        if re.match(r"^\S.*\b(dump\w*|check_waiters)\(", line):
            in_text = True
        elif line.startswith("}"):
            in_text = False
        code = code_of(line)
        in_message = open_in_message > 0
        message = code if in_message else code[begin.end() - 1:] if (begin := MESSAGE.search(code)) else ""
        open_in_message = max(0, open_in_message + message.count("(") - message.count(")"))
        if in_text or in_message or NO_CODE.search(line):
            continue
        for old, new in SWAPS:
            pattern = rf" {re.escape(old)} " if old not in ("++", "--") else rf"(?<![+\-]){re.escape(old)}(?=[A-Za-z_(])"
            for found in re.finditer(pattern, code):
                column = found.start() + (1 if old not in ("++", "--") else 0)
                yield Mutant(path, number, column, old, new, line)


def mutants_of(source, folder):
    """Those of a folder of the model in the tree `source`."""
    for path in sorted((source / "model" / folder).rglob("*")):
        if path.suffix in (".cpp", ".h"):
            yield from mutants_in(path.relative_to(source), path.read_text(encoding="utf-8"))
