# SPDX-License-Identifier: Apache-2.0
"""What some commands need beyond Python's standard library; `ssdtlm python check`, which says whether it is there; and `ssdtlm
python setup`, which installs it into an environment of its own in the user's data folder, where the program looks for it."""

import importlib.util
import os
import pathlib
import shlex
import subprocess
import sys
import sysconfig

from .binary import PACKAGE
from .errors import Problem, UserError, did_you_mean

# Extra -> {module: requirement}; pyproject.toml has the same.
_SWEEP = {"distributed": "distributed>=2026.1", "dask_jobqueue": "dask-jobqueue>=0.9,<1", "duckdb": "duckdb>=1.4,<3"}
EXTRAS = {"report": {"altair": "altair>=6,<7", "vl_convert": "vl-convert-python>=1.9,<2"}, "sweep": _SWEEP, "search": {**_SWEEP, "optuna": "optuna>=4,<6"}}
# Modules of the standard library that some small systems lack, with the repair.
STANDARD = {"watch": ("_curses", "install all of Python's standard library; Debian: apt-get install python3")}


def requirements(extra):
    return list(EXTRAS[extra].values())


def need(extra):
    """Raises UserError unless this interpreter has the packages of the extra ("report", "sweep", "search"), or for "watch" the module
    curses and a terminal that it can draw on. The message has the command that installs what is missing."""
    if extra in STANDARD:
        module, remedy = STANDARD[extra]
        if importlib.util.find_spec(module) is None:
            raise UserError(Problem(f"ssdtlm run --{extra}", f"needs {module}, which {sys.executable} does not have", "", remedy))
        from .watching import screen  # pylint: disable=import-outside-toplevel
        return screen.check_terminal()
    missing = [module for module in EXTRAS[extra] if importlib.util.find_spec(module) is None]
    if missing:
        raise UserError(Problem(f"ssdtlm {extra}", f"needs {' and '.join(missing)}, which {sys.executable} does not have", "", repair(extra)))
    return None


def _stays():
    """Whether this interpreter is found before the environment that `ssdtlm python setup` makes. That is so for the interpreter of another
    environment, and for one that the command of the wheel has named. model/sim/app/python_commands.cpp has the order."""
    in_wheel = (PACKAGE / "bin").is_dir()
    in_environment = sys.prefix != sys.base_prefix and pathlib.Path(sys.prefix) != environment()
    return in_environment or (in_wheel and bool(os.environ.get("SSDTLM_PYTHON")))


def _pip(wanted):
    return f"run `{shlex.join([sys.executable, '-m', 'pip', 'install', *wanted])}`"


def repair(extra):
    """The command, as text for the user, that installs an extra where the program looks for it."""
    pip = _pip(requirements(extra))
    if _stays():
        return pip
    if os.environ.get("SSDTLM_PYTHON"):
        return f"unset SSDTLM_PYTHON and run `ssdtlm python setup`, or {pip}"
    if "SSDTLM_BINARY_VERSION" in os.environ:
        return "run `ssdtlm python setup`"
    return f"run `ssdtlm python setup`, and this by {environment() / 'bin' / 'python3'}"


def environment():
    """The folder of the environment that `ssdtlm python setup` makes. model/sim/app/python_commands.cpp looks there too."""
    data = os.environ.get("XDG_DATA_HOME") or pathlib.Path.home() / ".local" / "share"
    return pathlib.Path(data) / "ssdtlm" / "python"


def add_arguments(parser):
    commands = parser.add_subparsers(dest="what", required=True)
    commands.add_parser("setup", allow_abbrev=False)
    commands.add_parser("check", allow_abbrev=False).add_argument("names", nargs="*")


def command(arguments):
    """`ssdtlm python ...`. Returns (text for standard output, exit code)."""
    return _check(arguments.names or list(EXTRAS)) if arguments.what == "check" else _setup()


def _check(names):
    problems, known = [], [*EXTRAS, *STANDARD]
    for name in names:
        try:
            if name not in known:
                raise UserError(Problem("command line", f"'{name}'", ", ".join(known), did_you_mean(name, known)))
            need(name)
        except UserError as error:
            problems += error.problems
    if problems:
        raise UserError(*problems)
    return "".join(f"{name}: ready, with {sys.executable}\n" for name in names), 0


def _setup():
    folder = environment()
    wanted = sorted({r for extra in EXTRAS for r in requirements(extra)})
    if _stays():
        raise UserError(Problem("ssdtlm python setup", f"would make {folder}, but {sys.executable} is found first", "", _pip(wanted)))
    for words, what, repair_it in (
            ([sys.executable, "-m", "venv", str(folder)], f"python3 -m venv {folder}", "Debian: apt-get install python3-venv; else look at what it printed"),
            ([str(folder / "bin" / "python3"), "-m", "pip", "install", "--disable-pip-version-check", *wanted], "pip install", "look at what it printed")):
        # What venv and pip print is progress; standard output is for the answer.
        done = subprocess.run(words, stdout=sys.stderr, check=False)
        if done.returncode != 0:
            raise UserError(Problem("ssdtlm python setup", f"{what} ended with exit code {done.returncode}", "", repair_it))
    # In scripts and notebooks of this environment, `import ssdtlm` finds the package that came with the program.
    paths = {"base": str(folder), "platbase": str(folder)}
    pathlib.Path(sysconfig.get_path("purelib", "venv", paths), "ssdtlm.pth").write_text(f"{PACKAGE.parent}\n", encoding="utf-8")
    return f"{', '.join(wanted)} in {folder}\n", 0
