#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the source tree keeps its own rules: who may include whom, that no folders include each other in a circle,
which code is free of the SystemC kernel, that every test is built, every folder of the model is explained, no file is too long, and every file
has its licence line. Prints every violation; exits 1 when there is one."""

import functools
import pathlib
import re
import shutil
import subprocess
import sys

from inline_members import inline_elsewhere

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODEL = ROOT / "model"
# A file that nobody reads in one sitting has more than one responsibility.
MAX_LINES = 600

BASE = ["common/units", "common/address", "common/report", "common/random"]
VOCABULARY = BASE + ["common/config", "common/containers", "common/stats", "common/latency", "common/snapshot"]
PROTOCOLS = ["protocol", "nand/onfi"]

# Folder -> (folders it may include besides itself, kernel). Kernel: True, False, or the stems of the files that are
# the folder's SystemC shell; all its other files must be free of the kernel. The longest matching folder counts.
RULES = {
    "common": (BASE, False),
    "common/config": (BASE, False),
    "common/containers": (BASE, False),
    "common/snapshot": (BASE, False),
    "common/stats": (BASE, False),
    "common/latency": (BASE, False),
    "common/wave": (BASE, False),
    "common/tlm": (BASE + ["common/containers"], ["agenda_process", "at_interfaces", "payload_pool", "pooled_payload", "sc_time_bridge",
                          "lt_adapter", "tlm_guard"]),
    "protocol": (VOCABULARY, ["link_extension", "sata_payload", "signature_memory"]),
    "nand/onfi": (VOCABULARY, ["onfi_payload"]),
    "controller/ports": (VOCABULARY + PROTOCOLS + ["common/tlm"], False),
    "host_pcie/ports": (VOCABULARY, False),
    "host_pcie/workload": (VOCABULARY + ["host_pcie/ports"], False),
    "host_pcie/workload/report": (VOCABULARY + ["host_pcie/ports"], False),
    "host_pcie/workload/fio": (VOCABULARY + ["host_pcie/ports", "host_pcie/workload/report"], False),
    "host_pcie/workload/trace": (VOCABULARY + ["host_pcie/ports", "host_pcie/workload/report"], False),
    "host_files": (VOCABULARY + ["host_pcie/ports", "host_pcie/workload/report"], False),
    "host_block/ports": (VOCABULARY + ["host_pcie/ports"], False),
    "host_block/nass": (VOCABULARY + ["host_pcie/ports", "host_block/ports"], False),
    "host_pcie/driver": (VOCABULARY + ["common/tlm", "protocol", "host_pcie/ports", "host_block"], ["mmio_initiator", "nvme_driver", "root_complex"]),
    "host_pcie/link": (VOCABULARY + ["common/tlm", "protocol"], ["link_path", "pcie_link"]),
    "host_sata/ahci": (VOCABULARY + ["common/tlm", "protocol"], ["ahci_hba"]),
    "host_sata/driver": (VOCABULARY + ["common/tlm", "protocol", "host_pcie/ports", "host_pcie/driver"], ["ahci_driver"]),
    "host_sata/link": (VOCABULARY + ["common/tlm", "protocol"], ["sata_link"]),
    "host_vfio": (VOCABULARY + ["common/tlm", "protocol", "host_pcie/ports", "host_pcie/driver"], ["vfio_host"]),
    "host_block": (VOCABULARY + ["host_pcie/ports"], False),
    "nand/pins": (VOCABULARY + ["nand/onfi"], False),
    "nand/array": (VOCABULARY + ["nand/onfi"], False),
    "nand/die": (VOCABULARY + ["nand/onfi", "nand/array"], False),
    "nand/channel": (VOCABULARY + ["common/tlm", "nand/onfi"], True),
    "nand/package": (VOCABULARY + ["common/tlm", "nand/onfi", "nand/die", "nand/array"], True),
    "controller/scheduler": (VOCABULARY + ["common/tlm", "controller/ports"], False),
    "controller/shared_cache": (VOCABULARY + ["controller/ports"], False),
    "controller/write_buffer": (VOCABULARY + ["controller/ports", "controller/shared_cache", "controller/ftl"], False),
    "controller/read_ahead": (VOCABULARY + ["controller/ports"], False),
    "controller/read_cache": (VOCABULARY + ["controller/ports", "controller/shared_cache", "nand/onfi"], False),
    "controller/ftl": (VOCABULARY + ["controller/ports", "nand/onfi", "nand/array"], False),
    # A folder for each subject, with its tables in the FTL and what it does in time. They point down: to the FTL's core, and to
    # collection. The list of features is included by nobody.
    "controller/features": (VOCABULARY + ["controller/ports", "controller/ftl", "controller/checkpoint", "controller/journal", "controller/map/cached/pages", "controller/parity", "controller/refresh", "controller/slc", "controller/wear", "controller/word_lines"], False),
    "controller/slc": (VOCABULARY + ["controller/ports", "controller/ftl", "nand/array"], False),
    "controller/wear": (VOCABULARY + ["controller/ports", "controller/ftl"], False),
    "controller/refresh": (VOCABULARY + PROTOCOLS + ["common/tlm", "controller/ports", "controller/ftl"], False),
    "controller/streams": (VOCABULARY + ["controller/ports", "controller/ftl"], False),
    "controller/precondition": (VOCABULARY + ["controller/ports", "controller/ftl", "nand/onfi"], False),
    "controller/snapshot": (VOCABULARY + ["controller/ports", "controller/ftl", "nand/array"], False),
    "controller/map": (VOCABULARY + ["controller/ports", "controller/ftl"], False),
    "controller/map/blocks": (VOCABULARY + ["controller/ports", "controller/ftl"], False),
    "controller/map/resident": (VOCABULARY + ["controller/ports", "controller/ftl"], False),
    "controller/map/cached": (VOCABULARY + PROTOCOLS + ["common/tlm", "controller/ports", "controller/ftl", "controller/gc", "controller/page_writer"], False),
    # Apart from the cache, which uses collection: the list of features includes them.
    "controller/map/cached/pages": (VOCABULARY + ["controller/ports", "controller/ftl", "nand/array", "nand/onfi"], False),
    "controller/gc": (VOCABULARY + PROTOCOLS + ["common/tlm", "controller/ports", "controller/ftl", "controller/page_writer", "controller/refresh", "controller/slc"], False),
    "controller/journal": (VOCABULARY + PROTOCOLS + ["common/tlm", "controller/ports", "controller/ftl", "controller/gc", "controller/page_writer", "controller/wait_queues"], False),
    "controller/parity": (VOCABULARY + PROTOCOLS + ["common/tlm", "controller/ports", "controller/ftl", "controller/gc", "controller/page_writer", "controller/wait_queues"], False),
    "controller/word_lines": (VOCABULARY + PROTOCOLS + ["common/tlm", "controller/ports", "controller/ftl", "controller/gc", "controller/page_writer", "controller/wait_queues"], False),
    "controller/checkpoint": (VOCABULARY + PROTOCOLS + ["common/tlm", "controller/ports", "controller/ftl", "controller/gc", "controller/page_writer", "controller/wait_queues", "controller/journal", "controller/map/cached", "nand/array"], False),
    "controller/mount": (VOCABULARY + PROTOCOLS + ["common/tlm", "controller/ports", "controller/ftl", "nand/array", "controller/checkpoint", "controller/journal", "controller/slc"], False),
    "controller/dram": (VOCABULARY + ["controller/ports", "common/tlm"], False),
    # What runs on the cores. Commands know no FTL: that is driven by destaging and GC; the firmware joins them all.
    "controller/wait_queues": (VOCABULARY + PROTOCOLS + ["common/tlm", "controller/ports"], False),
    "controller/data": (VOCABULARY + PROTOCOLS + ["controller/ports", "controller/write_buffer"], False),
    "controller/commands": (VOCABULARY + PROTOCOLS + ["common/tlm", "controller/ports", "controller/wait_queues", "controller/data", "controller/journal",
                                                      "controller/write_buffer", "controller/read_cache", "controller/read_ahead"], False),
    "controller/page_writer": (VOCABULARY + PROTOCOLS + ["common/tlm", "controller/ports"], False),
    "controller/destage": (VOCABULARY + PROTOCOLS + ["common/tlm", "controller/ports", "controller/ftl", "controller/gc",
                                                     "controller/page_writer", "controller/wait_queues", "controller/data", "controller/journal",
                                                     "controller/write_buffer", "controller/read_cache"], False),
    "controller/cpu": (VOCABULARY + PROTOCOLS + ["common/tlm", "controller/ports", "controller/ftl", "controller/write_buffer",
                                                 "controller/commands", "controller/destage", "controller/gc",
                                                 "controller/journal", "controller/parity", "controller/word_lines", "controller/checkpoint", "controller/map/cached", "controller/page_writer", "controller/wait_queues", "controller/data",
                                                 "controller/shared_cache", "controller/read_cache", "controller/map/resident", "controller/streams"], False),
    "controller/functional": (VOCABULARY + PROTOCOLS + ["common/tlm", "controller/ports", "controller/ftl", "controller/cpu", "controller/gc", "controller/parity", "nand/array", "controller/refresh"], False),
    "controller/dma": (VOCABULARY + PROTOCOLS + ["common/tlm", "controller/ports"], True),
    "controller/nvme": (VOCABULARY + PROTOCOLS + ["common/tlm", "controller/ports", "controller/dma"], ["nvme_front_end", "nvme_on_pcie"]),
    "controller/raw": (VOCABULARY + PROTOCOLS + ["common/tlm", "controller/ports"], True),
    "controller/sata": (VOCABULARY + PROTOCOLS + ["common/tlm", "controller/ports"], ["sata_front_end"]),
    "controller/channel_ctrl": (VOCABULARY + PROTOCOLS + ["common/tlm", "controller/ports", "nand/pins"],
                                ["channel_controller", "channel_books", "channel_shared_reads", "flash_backend", "channel_pins", "sequence_builder", "suspender"]),
    "sim": (["common", "protocol", "host_block", "host_files", "host_pcie", "host_sata", "host_vfio", "controller", "nand"], True),
    "sim/config": (["common", "protocol", "host_block", "host_files", "host_pcie", "host_sata", "host_vfio", "controller", "nand", "sim"], False),
    "sim/results": (["common", "protocol", "host_block", "host_files", "host_pcie", "host_sata", "host_vfio", "controller", "nand", "sim"], False),
    "sim/wave": (["common", "protocol", "host_block", "host_files", "host_pcie", "host_sata", "host_vfio", "controller", "nand", "sim"], ["device_wave", "instruments", "pin_checks", "socket_tap"]),
}

KERNEL = re.compile(r"^(systemc|systemc\.h|tlm|tlm\.h|tlm_core/.*|tlm_utils/.*|sysc/.*)$")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)
MARKER = re.compile(r"\b(TODO|FIXME|XXX)\b")
LICENSED = {".h", ".cpp", ".py", ".sh", ".cmake", ".toml", ".sv", ".v"}

problems = []


def problem(path, text):
    problems.append(f"{path.relative_to(ROOT)}: {text}")


def within(folder, parents):
    return any(folder == p or folder.startswith(p + "/") for p in parents)


@functools.lru_cache(maxsize=None)
def includes(path):
    """(files of the project, other headers) that a file includes."""
    own, other = [], []
    for kind, name in INCLUDE.findall(path.read_text(encoding="utf-8")):
        for base in (MODEL, path.parent) if kind == '"' else ():
            if (base / name).is_file():
                own.append((base / name).resolve())
                break
        else:
            other.append(name)
    return own, other


@functools.lru_cache(maxsize=None)
def kernel_header(path):
    """The chain of includes that leads from a file to SystemC, or None."""
    todo, seen = [(path, ())], set()
    while todo:
        p, chain = todo.pop()
        if p in seen:
            continue
        seen.add(p)
        own, other = includes(p)
        for name in other:
            if KERNEL.match(name):
                return chain + (name,)
        todo += [(o, chain + (o.name,)) for o in own]
    return None


def check_includes(path):
    folder = path.parent.relative_to(MODEL).as_posix()
    known = [r for r in RULES if within(folder, [r])]
    if not known:
        problem(path, f"model/{folder} is in no rule of {pathlib.Path(__file__).name}")
        return
    rule = max(known, key=len)
    allowed, kernel = RULES[rule]
    own, other = includes(path)
    for target in own:
        if MODEL not in target.parents:
            problem(path, f"includes {target.relative_to(ROOT)}, which is not part of the model")
            continue
        where = target.parent.relative_to(MODEL).as_posix()
        if not within(where, [rule, folder] + allowed):
            problem(path, f'includes "{target.relative_to(MODEL)}"; model/{rule} may include {", ".join(allowed)}')
    for name in other:
        if name.startswith(("gtest", "gmock", "tb/", "support/", "unit/")):
            problem(path, f"includes {name}; the model knows no test")
    shell = kernel is True or (kernel is not False and path.stem in kernel)
    if not shell and kernel_header(path):
        problem(path, "is to be free of the SystemC kernel, but includes it: " + " -> ".join(kernel_header(path)))


def rule_of(folder):
    """The folder of the rule; the netlist and what stands around it are one."""
    return "sim" if within(folder, ["sim"]) else max((r for r in RULES if within(folder, [r])), key=len, default=folder)


def check_circles(paths):
    """No folder of a rule includes another one that leads back to it, whatever the rules allow."""
    arrows = {}  # folder -> {folder that it includes: (file, header)}
    for path in paths:
        at = rule_of(path.parent.relative_to(MODEL).as_posix())
        for target in includes(path)[0]:
            if MODEL not in target.parents:
                continue
            to = rule_of(target.parent.relative_to(MODEL).as_posix())
            if to != at:
                arrows.setdefault(at, {}).setdefault(to, (path, target))
    order, state = [], {}

    def visit(folder):
        state[folder] = "open"
        order.append(folder)
        for to, (path, target) in sorted(arrows.get(folder, {}).items()):
            if state.get(to) == "open":
                circle = " -> ".join(f"model/{f}" for f in order[order.index(to):] + [to])
                problem(path, f'includes "{target.relative_to(MODEL)}", which closes a circle of folders: {circle}')
            elif to not in state:
                visit(to)
        order.pop()
        state[folder] = "closed"

    for folder in sorted(arrows):
        if folder not in state:
            visit(folder)


def check_tests_are_built(path):
    for folder in path.parents:
        lists = folder / "CMakeLists.txt"
        if lists.is_file():
            if not re.search(rf"\b{re.escape(path.stem)}\b", lists.read_text(encoding="utf-8")):
                problem(path, f"is not named in {lists.relative_to(ROOT)}")
            return


def check_readmes():
    for folder in sorted({p.parent for p in MODEL.rglob("*") if p.suffix in (".h", ".cpp")} - {MODEL}):
        if not any((f / "README.md").is_file() for f in (folder, folder.parent)):
            problem(folder, "neither this folder nor its parent has a README.md")


def check_text(path):
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    code = path.suffix in LICENSED or path.name in ("CMakeLists.txt", "Makefile")
    if code and not any("SPDX-License-Identifier: Apache-2.0" in line for line in lines[:3]):
        problem(path, "has no SPDX-License-Identifier line at its head")
    if code and len(lines) > MAX_LINES:
        problem(path, f"has {len(lines)} lines, more than {MAX_LINES}: split it by responsibility, into a class with a reason to exist")
    if path.suffix in (".h", ".cpp") and path != pathlib.Path(__file__) and MARKER.search(text):
        problem(path, f"says {MARKER.search(text).group()}")


def main():
    command = ["git", "-C", ROOT, "ls-files", "-co", "--exclude-standard"]
    listed = subprocess.run(command, capture_output=True, text=True) if shutil.which("git") else None
    if listed and listed.returncode == 0:
        files = [ROOT / name for name in listed.stdout.splitlines()]
    else:  # a source package without history, or a machine without git
        made = {"build", "results", ".git", ".venv"}
        files = [p for p in ROOT.rglob("*") if p.relative_to(ROOT).parts[0] not in made and p.suffix != ".pyc"]
    files = sorted(p for p in files if p.is_file())
    for path in files:
        if path.suffix in LICENSED or path.suffix == ".md" or path.name in ("CMakeLists.txt", "Makefile"):
            check_text(path)
        if path.suffix in (".h", ".cpp") and MODEL in path.parents:
            check_includes(path)
        if path.name.endswith("_test.cpp"):
            check_tests_are_built(path)
    sources = {p: p.read_text(encoding="utf-8") for p in files if p.suffix == ".cpp" and MODEL in p.parents}
    for path, member, other in inline_elsewhere(sources):
        problem(path, f"defines {member} inline, but {other.relative_to(ROOT)} calls it: it links in a unity build alone; take inline away, or move it into the header")
    check_circles([p for p in files if p.suffix in (".h", ".cpp") and MODEL in p.parents])
    check_readmes()
    for p in problems:
        print(p)
    print(f"{len(files)} files, {len(problems)} violations")
    return 1 if problems or not files else 0


if __name__ == "__main__":
    sys.exit(main())
