# SPDX-License-Identifier: Apache-2.0
"""The guest's root: busybox, fio, nvme-cli and e2fsprogs as Debian built them, with the libraries that they name. It is not
compressed: unpacking costs an emulated processor more than reading does."""

import os
import subprocess
from pathlib import Path

from .cpio import Archive

PROGRAMS = ("usr/bin/fio", "usr/sbin/nvme", "usr/sbin/mkfs.ext4", "usr/sbin/e2fsck", "usr/sbin/debugfs", "usr/sbin/tune2fs")
BUSYBOX = "usr/bin/busybox"
LIBRARIES = "usr/lib/x86_64-linux-gnu"
LOADER = "usr/lib64/ld-linux-x86-64.so.2"
# Debian's folders since /usr was merged. A program's loader is named by the path in the old place.
LINKS = {"bin": "usr/bin", "sbin": "usr/sbin", "lib": "usr/lib", "lib64": "usr/lib64"}
FOLDERS = ("dev", "proc", "sys", "tmp", "run", "mnt", "out", "etc", "etc/nvme", "root", "usr", "usr/bin", "usr/sbin",
           "usr/lib", LIBRARIES, "usr/lib64")
# nvme-cli wants a name for the host; always the same one, so that two runs are alike.
HOST = "00000000-0000-4000-8000-000000000001"


def libraries_of(root, program):
    """The files below `root` that a program needs, by name. The loader that was unpacked with the program is asked."""
    folder = root / LIBRARIES
    # All folders with libraries are named, because some programs would else take those of this system, which has other versions.
    search = sorted({str(path.parent) for path in folder.rglob("lib*.so.*")})
    answer = subprocess.run([folder / "ld-linux-x86-64.so.2", "--library-path", ":".join(search), "--list", root / program],
                            capture_output=True, text=True, check=True).stdout
    paths = (Path(line.split("=>")[1].split("(")[0].strip()) for line in answer.splitlines() if "=>" in line)
    return {path.name: path for path in paths}


def applets(root):
    return subprocess.run([root / BUSYBOX, "--list"], capture_output=True, text=True, check=True).stdout.split()


def write_base(root, path):
    """Writes the archive of what all guests have. The file appears whole or not at all."""
    libraries = {}
    for program in PROGRAMS:
        libraries.update(libraries_of(root, program))
    own = {Path(program).name for program in PROGRAMS} | {"busybox"}
    part = path.with_name(f"{path.name}.{os.getpid()}")
    with open(part, "wb") as file:
        archive = Archive(file)
        for folder in FOLDERS:
            archive.folder(folder)
        for name, target in LINKS.items():
            archive.link(name, target)
        archive.console()
        archive.regular("etc/nvme/hostnqn", f"nqn.2014-08.org.nvmexpress:uuid:{HOST}\n".encode())
        archive.regular("etc/nvme/hostid", f"{HOST}\n".encode())
        # e2fsck and mkfs.ext4 look for where file systems are mounted.
        archive.link("etc/mtab", "/proc/mounts")
        for program in (BUSYBOX, *PROGRAMS):
            archive.regular(program, (root / program).read_bytes(), executable=True)
        archive.link("usr/sbin/fsck.ext4", "e2fsck")
        archive.regular(LOADER, (root / LIBRARIES / "ld-linux-x86-64.so.2").read_bytes(), executable=True)
        for name in sorted(libraries):
            if not name.startswith("ld-linux"):
                archive.regular(f"{LIBRARIES}/{name}", libraries[name].read_bytes(), executable=True)
        for name in sorted(applets(root)):
            if name not in own:
                archive.link(f"usr/bin/{name}", "busybox")
        archive.regular("init", Path(__file__).with_name("init.sh").read_bytes(), executable=True)
        archive.end()
    part.replace(path)


def base(folder):
    """The path of the base archive of a folder that tools/guest.sh filled. It is made again when init.sh has changed."""
    path = folder / "base.cpio"
    newest = max((Path(__file__).with_name(name)).stat().st_mtime for name in ("init.sh", "initrd.py", "cpio.py"))
    if not path.exists() or path.stat().st_mtime < max(newest, (folder / "complete").stat().st_mtime):
        write_base(folder / "root", path)
    return path


def write(folder, path, files):
    """Writes the initrd of one run: the base, and behind it `files` ({name in the root of the guest: bytes})."""
    with open(path, "wb") as file:
        file.write(base(folder).read_bytes())
        archive = Archive(file)
        for name, data in files.items():
            archive.regular(name, data, executable=True)
        archive.end()
