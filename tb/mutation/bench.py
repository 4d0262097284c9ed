# SPDX-License-Identifier: Apache-2.0
"""A copy of the tree with many mutants in it, and a build of its own."""
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys

from schemata import FUNCTION, Schemata

# `file:12:34: error: ...`, also of notes and of `required from here`; and GCC's excerpts of the source below them.
PLACE = re.compile(r"^(?:In file included from )?(?P<file>[^\s:]+):(?P<line>\d+):(?P<column>\d+)[:,]\s*(?P<kind>\w*)", re.M)
EXCERPT = re.compile(r"^ *\d* \|.*$", re.M)
NUMBERED = re.compile(rf"\b{FUNCTION}\((\d+)\)")
COLOUR = re.compile(r"\x1b\[[0-9;]*[mK]")


class Bench:
    def __init__(self, source, folder, jobs):
        self.source, self.tree, self.jobs = source, pathlib.Path(folder).resolve(), jobs
        self.build = self.tree / "build" / "release"
        self.rewritten = {}  # path in the tree -> Schemata
        listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=source, check=True,
                                capture_output=True, text=True).stdout.splitlines()
        self.files = sorted(name for name in listed if (source / name).is_file())

    def digest(self):
        """The same for the same tree."""
        whole = hashlib.sha256()
        for name in self.files:
            whole.update(f"{name}\0{hashlib.sha256((self.source / name).read_bytes()).hexdigest()}\n".encode())
        return whole.hexdigest()

    def lay(self, mutants):
        """Writes the tree with the mutants of {number: Mutant}, and returns the numbers of those that it cannot hold."""
        by_file = {}
        for number, mutant in mutants.items():
            by_file.setdefault(str(mutant.path), {})[number] = mutant
        self.rewritten = {name: Schemata((self.source / name).read_bytes(), there) for name, there in by_file.items()}
        for name in self.files:
            here, there = self.source / name, self.tree / name
            data = self.rewritten[name].data if name in self.rewritten else here.read_bytes()
            if there.exists() and there.read_bytes() == data:
                continue  # what is the same keeps its time, and is not built again
            there.parent.mkdir(parents=True, exist_ok=True)
            there.write_bytes(data)
            shutil.copymode(here, there)
        # Where tests of reports, sweeps and notebooks look for their Python.
        python = self.tree / "build" / "python"
        if not python.exists() and (self.source / "build" / "python").exists():
            python.parent.mkdir(exist_ok=True)
            python.symlink_to(self.source / "build" / "python")
        return {number for file in self.rewritten.values() for number in file.unplaced}

    def make(self, targets):
        """What the build printed when it failed, each failed command by itself; [] when it did not."""
        if not (self.build / "build.ninja").exists():
            subprocess.run(["cmake", "--preset", "release"], cwd=self.tree, check=True, stdout=subprocess.DEVNULL)
        done = subprocess.run(["cmake", "--build", str(self.build), "-j", str(self.jobs), "--target", *targets, "--", "-k", "0"],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                              env={**os.environ, "LC_ALL": "C"})
        if done.returncode == 0:
            return []
        return re.split(r"^FAILED: ", COLOUR.sub("", done.stdout), flags=re.M)[1:] or [done.stdout]

    def make_what_compiles(self, mutants, targets):
        """Builds the targets with as many of the mutants as compile, and returns the numbers of the others."""
        broken = self.lay(mutants)
        while failed := self.make(targets):
            more = set()
            for output in failed:
                more |= blamed(output, self.rewritten, self.tree, self.build)
            more -= broken
            if not more:
                sys.exit("the tree does not build, and no mutant is to blame:\n" + "\n".join(failed)[-4000:])
            broken |= more
            print(f"{len(broken)} mutants do not compile, building without them", file=sys.stderr, flush=True)
            self.lay({number: mutant for number, mutant in mutants.items() if number not in broken})
        return broken


def blamed(output, rewritten, tree, build):
    """The mutants that a failed command of the build is due to. `rewritten`: path in the tree -> Schemata."""
    output = EXCERPT.sub("", output)
    places = []
    for found in PLACE.finditer(output):
        # ccache makes names relative to the folder of the build.
        path = pathlib.Path(os.path.normpath(build / found["file"]))
        file = rewritten.get(path.relative_to(tree).as_posix()) if tree in path.parents else None
        if file is not None:
            places.append((file, int(found["line"]), int(found["column"]), found["kind"]))

    def mutants(some):
        return {file.at(line, column) for file, line, column, _ in some} - {None}

    # What is most certain first: GCC says which call it had to compute; where the error is; what the notes point at;
    # and, when an error shows elsewhere, what is on the lines or in the files that are named.
    return ({int(n) for n in NUMBERED.findall(output)} or mutants([p for p in places if p[3] == "error"]) or mutants(places)
            or {n for file, line, _, _ in places for n in file.on(line)}
            or {n for file, _, _, _ in places for _, _, n in file.spans})
