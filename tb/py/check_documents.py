#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the documents tell the truth: every command of README.md and rtl/README.md runs, the output it shows has that form, every
quoted piece of code is in its file, and every link leads somewhere. With --update, the output shown is first replaced by
what the program prints now. Usage: check_documents.py PROGRAM [--update]"""

import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(sys.argv[1]).resolve()
BLOCK = re.compile(r"(?:<!-- (?P<note>[^\n]*) -->\n)?```(?P<language>\w*)\n(?P<body>.*?)```", re.S)
LINK = re.compile(r"\]\(([^)#]+)(?:#[^)]*)?\)")

problems = []


def form(line):
    """A line of output without its numbers and column widths."""
    return re.sub(r"\s+", " ", re.sub(r"\d+(\.\d+)?", "N", line)).strip()


def refreshed(lines, output):
    """Each line replaced by the next line of the output that has its form."""
    at = 0
    for line in lines:
        found = next((i for i in range(at, len(output)) if line.strip() and form(output[i]) == form(line)), None)
        yield line if found is None else output[found]
        at = at if found is None else found + 1


def check_quotes(path, text):
    for block in BLOCK.finditer(text):
        note = block["note"] or ""
        if note.startswith("quote: "):
            source = ROOT / note[len("quote: "):]
            if not source.is_file() or block["body"] not in source.read_text(encoding="utf-8"):
                problems.append(f"{path}: the quotation of {note[len('quote: '):]} is not in that file")


def check_links(path, text):
    for target in LINK.findall(BLOCK.sub("", text)):  # code has brackets of its own
        if "://" not in target and not (path.parent / target).exists():
            problems.append(f"{path}: link to {target} leads nowhere")


def check_commands(path, text):
    """Runs the sh blocks in order in a folder that looks like the root of a built tree."""
    output = ""
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
                output += done.stdout
                ran += 1
            elif block["note"] == "output":
                shown = {form(s) for s in output.splitlines()}
                for line in block["body"].splitlines():
                    if line.strip() not in ("", "...") and form(line) not in shown:
                        problems.append(f"{path}: no command prints a line like: {line.strip()}")
                fresh = fresh.replace(block["body"], "\n".join(refreshed(block["body"].splitlines(), output.splitlines())) + "\n")
    if ran == 0:
        problems.append(f"{path}: no command was found")
    return fresh


documents = [p for p in ROOT.rglob("*.md") if not p.relative_to(ROOT).parts[0].startswith((".", "build", "results"))]
for document in sorted(documents):
    content = document.read_text(encoding="utf-8")
    check_quotes(document, content)
    check_links(document, content)
readme = (ROOT / "README.md").read_text(encoding="utf-8")
if len(readme.splitlines()) > 150:
    problems.append(f"README.md has {len(readme.splitlines())} lines, more than 150")
# Without Verilator there is no RTL to show.
with_commands = ["README.md"] + (["rtl/README.md"] if (PROGRAM.parent / "tb/rtl/scheduler_random").exists() else [])
for name in with_commands:
    fresh = check_commands(ROOT / name, (ROOT / name).read_text(encoding="utf-8"))
    if "--update" in sys.argv:
        (ROOT / name).write_text(fresh, encoding="utf-8")
for p in problems:
    print(p)
print(f"{len(documents)} documents, {len(problems)} problems")
sys.exit(1 if problems else 0)
