#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What names NVMe outside the NVMe front end and the NVMe driver, file by file.

    tb/py/protocol_names.py                      # the tree as it is
    tb/py/protocol_names.py --before REVISION    # beside an earlier one
    tb/py/protocol_names.py --check              # exit 1 if anything but the netlist, the configuration and the recordings does

Counted are lines of code, without comments and texts, with a word of NVMe: its name, its registers, its queue entries. Texts are counted apart: names
of parameters and messages are for users of an NVMe drive.
"""
import argparse
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORDS = re.compile(r"nvme|\b(?:sqe|cqe|prp|sqid|cid|nsid|ControllerInfo|QueuePair|BringUp)\b|\b(?-i:kSt[A-Z])", re.IGNORECASE)
# The protocol's own: front end, driver, what follows a guest's driver, facts.
OWN = re.compile(r"^model/(controller/nvme/|protocol/nvme\.h|host_pcie/driver/(nvme_\w+|bring_up|prp_builder|queue_pair)\.(h|cpp)|host_vfio/(guest_queues|vfio_host)\.(h|cpp)|sim/config/nvme_parameters\.cpp)")
# Joins the model's parts by their types, says what a user may set, or records what a host and a drive tell each other.
JOINS = re.compile(r"^model/sim/(device/|host/|ssd_system|sim_config\.h|config/|derive/|wave/|app/)")
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
TEXT = re.compile(r'"(?:\\.|[^"\\])*"')


def files(revision):
    if revision is None:
        return sorted(str(p.relative_to(ROOT)) for p in (ROOT / "model").rglob("*") if p.suffix in (".h", ".cpp"))
    listed = subprocess.run(["git", "ls-tree", "-r", "--name-only", revision, "model"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [name for name in listed.stdout.split("\n") if name.endswith((".h", ".cpp"))]


def text_of(name, revision):
    if revision is None:
        return (ROOT / name).read_text(encoding="utf-8")
    return subprocess.run(["git", "show", f"{revision}:{name}"], cwd=ROOT, capture_output=True, text=True, check=True).stdout


def counted(revision):
    """File -> (lines of code, lines with a text) that name NVMe."""
    names = {}
    for name in files(revision):
        if OWN.match(name):
            continue
        lines = COMMENT.sub("", text_of(name, revision)).split("\n")
        code = sum(1 for line in lines if WORDS.search(TEXT.sub('""', line)) or re.match(r'\s*#include ".*nvme', line))
        texts = sum(1 for line in lines if any(WORDS.search(text) for text in TEXT.findall(line)) and not line.lstrip().startswith("#"))
        if code or texts:
            names[name] = (code, texts)
    return names


def table(before, after):
    head = f"{'file':<56} {'code':>12} {'texts':>12}"
    lines = [head, "-" * len(head)]
    for joins, title in ((False, "firmware, flash, host, results"), (True, "netlist, configuration, recordings")):
        chosen = [n for n in sorted(set(before or {}) | set(after)) if bool(JOINS.match(n)) == joins]
        lines.append(f"{title}:")
        sums = [[0, 0], [0, 0]]
        for name in chosen:
            one, other = (before or {}).get(name, (0, 0)), after.get(name, (0, 0))
            for i in (0, 1):
                sums[0][i] += one[i]
                sums[1][i] += other[i]
            lines.append(row("  " + name.removeprefix("model/"), one if before is not None else None, other))
        lines.append(row(f"  in {len(chosen)} files", sums[0] if before is not None else None, sums[1]))
    return "\n".join(lines)


def row(name, one, other):
    cells = [f"{other[i]}" if one is None else f"{one[i]} -> {other[i]}" for i in (0, 1)]
    return f"{name:<56} {cells[0]:>12} {cells[1]:>12}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--before", help="revision to compare with")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    after = counted(None)
    print(table(counted(options.before) if options.before else None, after))
    wrong = [name for name, (code, _) in after.items() if code and not JOINS.match(name)]
    if options.check and wrong:
        print("\nNVMe is named by " + ", ".join(wrong) + ". Only the netlist may know which protocol a drive speaks.", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
