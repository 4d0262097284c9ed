# SPDX-License-Identifier: Apache-2.0
"""Where the program is. It is started by its path, never by its name: another ssdtlm on PATH may be of another version."""

import functools
import os
import pathlib
import subprocess
import sys

from .errors import Problem, UserError
from .version import VERSION

PACKAGE = pathlib.Path(__file__).resolve().parent


def _candidates():
    yield PACKAGE / "bin" / "ssdtlm"  # in the wheel
    yield PACKAGE.parents[3] / "bin" / "ssdtlm"  # <prefix>/share/ssdtlm/python/ssdtlm
    yield PACKAGE.parents[1] / "build" / "release" / "ssdtlm"  # in the source tree


@functools.lru_cache(maxsize=None)
def _checked(path):
    try:
        done = subprocess.run([path, "version"], capture_output=True, text=True, check=False)
    except OSError as error:
        raise UserError(Problem(str(path), f"cannot be started: {error.strerror}")) from None
    check_version(done.stdout.strip().removeprefix("ssdtlm "), path)
    return path


def check_version(version, path):
    """Raises UserError unless `version`, which the program at `path` gives, is the version of this package."""
    if version != VERSION:
        raise UserError(Problem(str(path), f"is version {version or 'unknown'}, the Python package in {PACKAGE} is {VERSION}",
                                "equal versions", "build or install both again"))


def find_binary():
    """The path of the program as a string: SSDTLM_BINARY, else the program that came with this package. Raises UserError when there is none
    or its version is not that of the package."""
    return _checked(os.environ.get("SSDTLM_BINARY") or _own())


def _own():
    for path in _candidates():
        if os.access(path, os.X_OK) and path.is_file():
            return str(path)
    raise UserError(Problem("ssdtlm", "the program is not beside its Python package " + str(PACKAGE),
                            "", "build it with make build, or name it in SSDTLM_BINARY"))


def main():
    """The command `ssdtlm` of the wheel. It replaces this process by the program, and exits with 2 when there is none."""
    # The program starts commands in Python by this interpreter, whose environment has the packages they need.
    os.environ.setdefault("SSDTLM_PYTHON", sys.executable)
    try:
        binary = _own()
    except UserError as error:
        print(error, file=sys.stderr)
        sys.exit(2)
    os.execv(binary, ["ssdtlm", *sys.argv[1:]])
