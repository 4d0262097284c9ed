#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the documents tell the truth: every command of README.md, docs/results.md, docs/failures.md and rtl/README.md runs, the output
that they show is what the commands print, number for number, every quoted piece of code is in its file, every link leads somewhere, and the
glossary explains each term once. With --update, the output
shown is first replaced by what the program prints now. Usage: check_documents.py PROGRAM [--update]"""

import pathlib
import re
import subprocess
import sys
import tempfile

import shown_output

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(sys.argv[1]).resolve()
UPDATE = "--update" in sys.argv
BLOCK = re.compile(r"(?:<!-- (?P<note>[^\n]*) -->\n)?```(?P<language>\w*)\n(?P<body>.*?)```", re.S)
LINK = re.compile(r"\]\(([^)#]*)(?:#([^)]*))?\)")

problems = []


def check_quotes(path, text):
    for block in BLOCK.finditer(text):
        note = block["note"] or ""
        if note.startswith("quote: "):
            source = ROOT / note[len("quote: "):]
            if not source.is_file() or block["body"] not in source.read_text(encoding="utf-8"):
                problems.append(f"{path}: the quotation of {note[len('quote: '):]} is not in that file")


def sections(page):
    """The names that links to the sections of a page have, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", BLOCK.sub("", page.read_text(encoding="utf-8")), re.M)
    return [re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in headings]


def check_links(path, text):
    for target, section in LINK.findall(BLOCK.sub("", text)):  # code has brackets of its own
        if "://" in target:
            continue
        page = path.parent / target if target else path
        if not page.exists():
            problems.append(f"{path}: link to {target} leads nowhere")
        elif section and section not in sections(page):
            problems.append(f"{path}: link to {target}#{section} leads to no section; there are: {', '.join(sections(page))}")


def check_commands(path, text):
    """Runs the sh blocks in order in a folder that looks like the root of a built tree."""
    printed = []
    ran = 0
    fresh = text
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        (work / "build/release").mkdir(parents=True)
        (work / "build/release/ssdtlm").symlink_to(PROGRAM)
        (work / "build/release/tb").symlink_to(PROGRAM.parent / "tb")
        for name in ("configs", "docs", "tb"):
            (work / name).symlink_to(ROOT / name)
        for block in BLOCK.finditer(text):
            if block["language"] == "sh":
                lines = [s for s in block["body"].splitlines() if not re.match(r"\s*(make|cmake)\b", s)]
                script = "\n".join(lines)
                done = subprocess.run(["bash", "-euo", "pipefail", "-c", script], cwd=work, capture_output=True, text=True)
                if done.returncode != 0:
                    problems.append(f"{path}: ended with {done.returncode}: {script}\n{done.stdout}{done.stderr}")
                printed = done.stdout.splitlines()
                ran += 1
            elif block["note"] == "output":
                shown = block["body"].splitlines()
                if UPDATE:
                    renewed = shown_output.renewed(shown, printed)
                    fresh = fresh.replace(block["body"], "\n".join(renewed) + "\n")
                    shown = renewed
                wrong = shown_output.first_difference(shown, printed)
                if wrong is not None:
                    problems.append(f"{path}: the output shown is not what the command before it prints, from this line on: {wrong.strip()}\n"
                                    f"  check_documents.py PROGRAM --update renews it; the command printed:\n"
                                    + "\n".join("    " + line for line in printed))
    if ran == 0:
        problems.append(f"{path}: no command was found")
    return fresh


def check_glossary(path):
    """Each term is explained once."""
    rows = re.findall(r"^\| (.*?) \| .* \|$", path.read_text(encoding="utf-8"), re.M)
    terms = [t for row in rows if row != "term" for t in row.split(", ")]
    problems.extend(f"{path}: {t} is explained more than once" for t in sorted(set(terms)) if terms.count(t) > 1)
    if len(terms) < 50:
        problems.append(f"{path}: only {len(terms)} terms were found; a row is | term | meaning |")


documents = [p for p in ROOT.rglob("*.md") if not p.relative_to(ROOT).parts[0].startswith((".", "build", "results"))]
for document in sorted(documents):
    content = document.read_text(encoding="utf-8")
    check_quotes(document, content)
    check_links(document, content)
check_glossary(ROOT / "docs/glossary.md")
readme = (ROOT / "README.md").read_text(encoding="utf-8")
if len(readme.splitlines()) > 160:
    problems.append(f"README.md has {len(readme.splitlines())} lines, more than 160: a newcomer should read it to the end")
# Without Verilator there is no RTL to show.
with_commands = ["README.md", "docs/results.md", "docs/failures.md"] + (["rtl/README.md"] if (PROGRAM.parent / "tb/rtl/scheduler_random").exists() else [])
for name in with_commands:
    fresh = check_commands(ROOT / name, (ROOT / name).read_text(encoding="utf-8"))
    if UPDATE:
        (ROOT / name).write_text(fresh, encoding="utf-8")
for p in problems:
    print(p)
print(f"{len(documents)} documents, {len(problems)} problems")
sys.exit(1 if problems else 0)
