# SPDX-License-Identifier: Apache-2.0
"""Where the parts of a guest are: QEMU with kernel and tools, and the library with the guest's clock."""

import os
from pathlib import Path

from ..binary import PACKAGE, find_binary
from ..errors import Problem, UserError

SHIM = "libssdtlm_guest_clock.so"


def default_folder():
    """The folder with QEMU, kernel and tools: SSDTLM_GUEST, else one among the data of the user."""
    named = os.environ.get("SSDTLM_GUEST")
    if named:
        return Path(named)
    data = os.environ.get("XDG_DATA_HOME")
    return (Path(data) if data else Path.home() / ".local/share") / "ssdtlm/guest"


def getter():
    """The path of the script that fills that folder: in the source tree, beside an installed package, or in the wheel."""
    places = (PACKAGE.parents[1] / "tools/guest.sh", PACKAGE / "share/ssdtlm/tools/guest.sh")
    return next((path for path in places if path.is_file()), Path("tools/guest.sh"))


def folder(named=None):
    """The folder with QEMU, kernel and tools. Raises UserError when it has none; nothing is fetched here."""
    path = Path(named) if named else default_folder()
    if not (path / "complete").is_file():
        raise UserError(Problem("ssdtlm guest", f"{path} has no QEMU, kernel and tools", "",
                                f"run `{getter()} get {path}`, or name another folder with --parts"))
    return path.resolve()


def shim():
    binary = Path(find_binary()).resolve()
    for path in (binary.parent / SHIM, binary.parents[1] / "lib/ssdtlm" / SHIM):
        if path.is_file():
            return path
    raise UserError(Problem("ssdtlm guest", f"{SHIM} is not beside {binary} nor in {binary.parents[1] / 'lib/ssdtlm'}", "",
                            "build or install again, or take --clock wall"))
