#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the sentences of all pages: mean words by page, and the longest of all. Fails when a page or a sentence is too long, or when
a comment in model/ is a riddle (comment_sentences.py).

The bounds: guides to plain English ask for 15 to 20 words on average, so a page may have a mean of 20. Twice as many is where a reader
starts again from the beginning, so no sentence may have more than 40. Code, tables of figures and the targets of links do not count.
A cell of a table counts for the second bound only, as most cells are labels.

Usage: check_sentences.py [--all] [--strings] [--help-of PROGRAM]
  --all                every page with its mean, not only the ten longest sentences
  --strings            also the sentences in the Python sources, which have no bound yet
  --help-of PROGRAM    also the sentences that its help prints, which have no bound yet"""

import argparse
import ast
import pathlib
import re
import subprocess
import sys

import comment_sentences

ROOT = pathlib.Path(__file__).resolve().parents[2]
MOST_MEAN = 20.0
MOST_WORDS = 40
GENERATED = {"docs/parameters.md"}  # its sentences are those of the parameter tables, which are C++

FENCE = re.compile(r"^ *```.*?^ *```", re.S | re.M)
COMMENT = re.compile(r"<!--.*?-->", re.S)
IMAGE = re.compile(r"!\[[^\]]*\]\([^)]*\)")
LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
CODE = re.compile(r"`[^`]*`")
ITEM = re.compile(r"^ *(?:[-*]|\d+\.) +")
# A full stop that ends no sentence.
SHORT = re.compile(r"\b(e\.g|i\.e|et al|vs|cf|approx|no|vol|fig)\.", re.I)
END = re.compile(r"(?<=[.!?])[\"')*_]*\s+(?=[A-Z0-9`*_\"'(\[])")


def words(sentence):
    return sum(1 for w in sentence.split() if re.search(r"\w", w))


def sentences(text):
    text = CODE.sub(lambda m: re.sub(r"\s", "_", m.group(0)), LINK.sub(r"\1", IMAGE.sub("", text)))  # code is one word
    text = SHORT.sub(lambda m: m.group(0)[:-1], text)
    return [s for s in (part.strip() for part in END.split(text)) if words(s) > 0]


def blocks(page):
    """Paragraphs and list items of a page, and the cells of its tables."""
    paragraphs, cells, now = [], [], []

    def close():
        if now:
            paragraphs.append(" ".join(now))
            now.clear()

    for line in COMMENT.sub("", FENCE.sub("", page)).splitlines():
        if not line.strip() or line.startswith("#"):
            close()
        elif line.startswith("|"):
            close()
            cells.extend(c.strip() for c in line.strip("|").split("|"))
        elif line.startswith("    ") and not now:
            continue  # an indented block of code
        else:
            if ITEM.match(line):
                close()
            now.append(ITEM.sub("", line).strip())
    close()
    return paragraphs, cells


def strings_of(source):
    """Texts of a Python file that look like sentences: docstrings and what is printed; a value in an f-string is one word."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(p.value) if isinstance(p, ast.Constant) else "value" for p in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def riddles_in_comments():
    """A line for each riddle in model/."""
    return [f"{path.relative_to(ROOT)}:{line}: a piece of a sentence: {sentence[:100]} -> {instead}"
            for path in sorted((ROOT / "model").rglob("*")) if path.suffix in (".h", ".cpp")
            for line, sentence, instead in comment_sentences.riddles(path.read_text(encoding="utf-8"))]


def help_texts(program):
    pages = [[program, "--help"]]
    for name in ("run", "config", "trace", "compare", "explain", "report", "sweep", "search", "fit", "study", "python"):
        pages.append([program, "help", name])
    for page in pages:
        yield subprocess.run(page, capture_output=True, text=True, check=False).stdout


def mean(found):
    return sum(words(s) for s in found) / len(found) if found else 0.0


def show(label, found):
    over = sum(1 for s in found if words(s) > MOST_WORDS)
    print(f"{mean(found):6.1f} words in {len(found):5} sentences, {over} of more than {MOST_WORDS}: {label}")


parser = argparse.ArgumentParser()
parser.add_argument("--all", action="store_true")
parser.add_argument("--strings", action="store_true")
parser.add_argument("--help-of", metavar="PROGRAM")
options = parser.parse_args()

problems = []
longest = []
pages = []
for path in sorted(ROOT.rglob("*.md")):
    name = path.relative_to(ROOT)
    if name.parts[0].startswith((".", "build", "results")):
        continue
    paragraphs, cells = blocks(path.read_text(encoding="utf-8"))
    prose = [s for p in paragraphs for s in sentences(p)]
    in_cells = [s for c in cells for s in sentences(c)]
    pages.append((mean(prose), name, prose))
    if str(name) in GENERATED:
        continue
    longest += [(words(s), name, s) for s in prose + in_cells]
    if mean(prose) > MOST_MEAN:
        problems.append(f"{name}: {mean(prose):.1f} words in a sentence on average, at most {MOST_MEAN:.0f} are allowed; split the longest ones")
longest.sort(key=lambda entry: (-entry[0], str(entry[1])))
for count, name, sentence in longest:
    if count > MOST_WORDS:
        problems.append(f"{name}: a sentence of {count} words, at most {MOST_WORDS} are allowed; split it: {sentence[:100]}")

if options.all:
    for _, name, prose in sorted(pages, key=lambda page: -page[0]):
        show(name, prose)
print("The ten longest sentences:")
for count, name, sentence in longest[:10]:
    print(f"  {count} words, {name}: {sentence}")
if options.strings:
    for path in sorted((ROOT / "python/ssdtlm").rglob("*.py")):
        texts = [" ".join(t.split()) for t in strings_of(path.read_text(encoding="utf-8"))]
        show(path.relative_to(ROOT), [s for t in texts if " " in t for s in sentences(t) if words(s) >= 4])
if options.help_of:
    paragraphs = [re.sub(r"\s+", " ", p) for text in help_texts(options.help_of) for p in re.split(r"\n\s*\n|\n  +-", text)]
    show("the help of the program", [s for p in paragraphs for s in sentences(p)])
problems += riddles_in_comments()
for p in problems:
    print(p)
print(f"{len(pages)} pages, {sum(len(p[2]) for p in pages)} sentences, {mean([s for p in pages for s in p[2]]):.1f} words on average, {len(problems)} problems")
sys.exit(1 if problems else 0)
