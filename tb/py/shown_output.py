# SPDX-License-Identifier: Apache-2.0
"""Compares the output that a page shows with what a program has printed, character for character.

A page leaves out lines with a line "...", and a part of a line with "..." inside it. Everything else has to be there, in order and without gaps:
the first line shown is the first one printed unless "..." stands before it, and the last one the last."""

import difflib
import re

NUMBER = r"\d+(?:\.\d+)?"


def chunks(shown):
    """The lines between the lines "...", the empty chunk in front of one that begins the block included."""
    result = [[]]
    for line in shown:
        if line.strip() == "...":
            result.append([])
        else:
            result[-1].append(line)
    return result


def pattern(line, number):
    """A regular expression for a line, with a group for each part between "...". `number`: what stands for a number of the line."""
    parts = []
    for part in line.rstrip().split("..."):
        if number is None:
            parts.append("(" + re.escape(part) + ")")
        else:
            loose = [r"\s*".join(map(re.escape, text.split())) for text in re.split(NUMBER, part)]
            parts.append(r"(\s*" + (r"\s*" + number + r"\s*").join(loose) + r"\s*)")
    return ".*?".join(parts) + "$"


def same(shown, printed):
    return re.match(pattern(shown, None), printed.rstrip()) is not None


def agreeing(part, printed, place):
    """How many lines of the part stand at that place of the output."""
    count = 0
    while count < len(part) and place + count < len(printed) and same(part[count], printed[place + count]):
        count += 1
    return count


def first_difference(shown, printed):
    """None when the block shows what was printed; else the first line that differs."""
    parts = chunks(shown)
    at = 0
    for index, part in enumerate(parts):
        if not part:
            continue
        places = [0] if index == 0 else [len(printed) - len(part)] if index == len(parts) - 1 else range(at, len(printed))
        best = max((p for p in places if p >= at), key=lambda p: agreeing(part, printed, p), default=None)
        agree = 0 if best is None else agreeing(part, printed, best)
        if agree < len(part):
            return part[agree]
        at = best + len(part)
    return None if not parts[-1] or at == len(printed) else printed[at]


def form(line):
    """A line without its numbers and column widths."""
    return re.sub(r"\s+", " ", re.sub(NUMBER, "N", line)).strip()


def renewed_line(shown, printed):
    """The line printed, with the parts left out that the line shown leaves out."""
    if "..." not in shown:
        return printed
    groups = re.match(pattern(shown, NUMBER), printed)
    return "...".join(groups.groups()) if groups else printed


def renewed(shown, printed):
    """The block as the program would print it now: the same lines by their form, with today's numbers. Lines at the edge of a chunk whose
    words have changed are taken as they are printed."""
    parts = chunks(shown)
    lines = [line for part in parts for line in part]
    elisions = [line for line in shown if line.strip() == "..."]
    keys = []
    for line in lines:
        hit = next((p for p in printed if "..." in line and re.match(pattern(line, NUMBER), p)), line)
        keys.append(form(hit))
    partner = {}
    for block in difflib.SequenceMatcher(None, keys, [form(p) for p in printed], autojunk=False).get_matching_blocks():
        partner.update({block.a + i: block.b + i for i in range(block.size)})
    result = []
    first = taken = 0
    for index, part in enumerate(parts):
        known = [i for i in range(first, first + len(part)) if i in partner]
        begin = partner[known[0]] - (known[0] - first) if known else taken
        end = partner[known[-1]] + (first + len(part) - known[-1]) if known else taken + len(part)
        begin = 0 if index == 0 else max(begin, taken)
        end = len(printed) if index == len(parts) - 1 and part else min(end, len(printed))
        if index > 0:
            result.append(elisions[index - 1])
        if part:
            by_line = {partner[i]: lines[i] for i in known}
            result += [renewed_line(by_line.get(p, printed[p]), printed[p]).rstrip() for p in range(begin, end)]
            taken = end
        first += len(part)
    return result
