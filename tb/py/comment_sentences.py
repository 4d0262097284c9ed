# SPDX-License-Identifier: Apache-2.0
"""Sentences in the comments of C++ files, and those that are riddles: a piece of a sentence whose rest is somewhere else.

"Of all partitions.", "The same for a page.", "CheckFailed when it is." and "Nobody waits for nothing." make a reader look for the subject.
They are known by how they begin, which gives no false alarms. A noun with its attributes ("The next page of the group.") says what a
function returns, so it may stand alone. Comments behind code on the same line are labels and may be short."""

import re

COMMENT = re.compile(r"^\s*///?(?![/<])\s?(.*)$")
CODE = re.compile(r"`[^`]*`")
# A full stop that ends no sentence.
SHORT = re.compile(r"\b(e\.g|i\.e|et al|vs|cf|no|vol|fig)\.", re.I)
END = re.compile(r"(?<=[.!?:])\s+(?=[A-Z`\"])")
# How a riddle begins, and what to do instead.
RIDDLES = (
    (re.compile(r"Of (?!course\b)"), 'name the thing first: "Number of ...", "The ... of ..."'),
    (re.compile(r"Whos?e? "), 'name the thing first: "The tenant that ...", "Whoever ..."'),
    (re.compile(r"The same(?: of| for| as| with| without| when| where| in| but|[.,;:]|$)"), 'name what it is like: "As name(), with ..."'),
    (re.compile(r"(?:CheckFailed|UserError|OutputError|Panic)\b(?! is\b)"), 'write "Throws ... when ..."'),
    (re.compile(r"So (?:is|are|has|have|do|does)\b"), 'repeat the verb: "... is ... as well"'),
    (re.compile(r"(?:So (?:many|much)|Such)\b(?!.*\b(?:is|are|may|must|can|will)\b)"), "say how many of what"),
    (re.compile(r"Between two (?:events|entries of the agenda|calls)\b"), 'write "Call it between two ..."'),
    (re.compile(r".*\b[Nn]obody waits for nothing\b"), 'write "Throws CheckFailed if somebody waits for an event that will never come"'),
)


def blocks(source):
    """(number of the first line, text) of each comment that has its own lines."""
    found, first, now = [], 0, []
    for number, line in enumerate(source.splitlines() + [""], 1):
        match = COMMENT.match(line)
        if match and "SPDX-License-Identifier" not in line:
            first = first if now else number
            now.append(match.group(1).strip())
        elif now:
            found.append((first, " ".join(now)))
            now = []
    return found


def sentences(text):
    text = CODE.sub(lambda m: re.sub(r"\s", "_", m.group(0)), text)
    text = SHORT.sub(lambda m: m.group(0)[:-1], text)
    return [s.strip() for s in END.split(text) if s.strip()]


def instead_of(sentence):
    """What to do instead; None: the sentence is no riddle."""
    return next((instead for pattern, instead in RIDDLES if pattern.match(sentence)), None)


def riddles(source):
    """(line of the comment, sentence, what to do instead) of each riddle in the comments of a C++ file."""
    found = ((line, s, instead_of(s)) for line, text in blocks(source) for s in sentences(text))
    return [entry for entry in found if entry[2] is not None]
