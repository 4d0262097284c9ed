#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Inputs on which the program once was wrong, and what it makes of them: a table with a row for each case, a column for each
program. Each kind has a test of its own; this shows them side by side, before and after a change.

    tb/cases/cases.py before=/old/build/release/ssdtlm after=build/release/ssdtlm [--only NAME]... [--long]

Ends with 1 when the last program is wrong somewhere. A case is a function that returns what came, as a short text, and whether it
is right. What is right is said in its docstring."""
import argparse
import pathlib
import sys

import answers  # noqa: F401  the cases register themselves
import robustness  # noqa: F401
from program import CASES, Program


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("programs", nargs="+", metavar="NAME=PROGRAM")
    parser.add_argument("--only", action="append", help="part of a case's name")
    parser.add_argument("--long", action="store_true", help="also cases that take a minute or more")
    options = parser.parse_args()
    programs = [(name, str(pathlib.Path(path).resolve())) for name, path in (text.split("=", 1) for text in options.programs)]
    print("| case | right |" + "".join(f" {name} |" for name, _ in programs))
    print("|---|---|" + "---|" * len(programs))
    wrong = 0
    for name, (function, long) in CASES.items():
        if (long and not options.long) or (options.only and not any(part in name for part in options.only)):
            continue
        cells = []
        for _, binary in programs:
            p = Program(binary)
            try:
                text, right = function(p)
            except (KeyError, IndexError, ValueError) as e:
                text, right = f"no result ({type(e).__name__}: {e})", False
            finally:
                p.close()
            cells.append(f"{'' if right else 'WRONG: '}{text}".replace("|", "/"))
        wrong += not right
        print(f"| {name} | {function.__doc__} | " + " | ".join(cells) + " |", flush=True)
    print(f"\n{wrong} wrong with {programs[-1][0]}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
