# SPDX-License-Identifier: Apache-2.0
"""A clean Debian 12 in a folder, made by debootstrap, in which commands run by chroot. Needs root and Debian's mirror."""
import os
import pathlib
import shutil
import subprocess
import tempfile

MIRROR = os.environ.get("SSDTLM_MIRROR", "http://deb.debian.org/debian")
SUITE = "bookworm"
USER = "user"
# How this machine reaches a mirror and PyPI; TRUST names files.
TRUST = ("SSL_CERT_FILE", "PIP_CERT", "REQUESTS_CA_BUNDLE")
REACH = (*TRUST, "PIP_INDEX_URL", "PIP_DEFAULT_TIMEOUT", "http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")


class NotPossible(Exception):
    """This machine makes no chroot; says why."""


def base(folder):
    """The folder of an untouched system, made when it is not there. Raises NotPossible."""
    if (folder / "complete").exists():
        return folder / "root"
    if os.geteuid() != 0:
        raise NotPossible("not root")
    for program in ("debootstrap", "unshare"):
        if not shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin"):
            raise NotPossible(f"no {program}: tools/install-deps.sh tools/debian-packages-chroot.txt")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    # Outside, PATH may lack what dpkg needs.
    done = subprocess.run(["debootstrap", "--variant=minbase", SUITE, str(folder / "root"), MIRROR], capture_output=True, text=True,
                          env={**os.environ, "PATH": os.environ["PATH"] + ":/usr/sbin:/sbin"})
    if done.returncode != 0:
        raise NotPossible(f"debootstrap ended with {done.returncode}: " + "\n".join((done.stdout + done.stderr).splitlines()[-5:]))
    (folder / "complete").touch()
    return folder / "root"


class Chroot:
    """A copy of the untouched system with a user in it, and /proc for as long as a command runs. Removed by remove()."""

    def __init__(self, untouched):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="ssdtlm-chroot-"))
        self.root = self.folder / "root"
        subprocess.run(["cp", "-a", "--reflink=auto", str(untouched), str(self.root)], check=True)
        self.environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive"}
        self.environment.update((name, os.environ[name]) for name in REACH if name in os.environ)
        shutil.copyfile("/etc/resolv.conf", self.root / "etc/resolv.conf")
        # Not at their places: a package that brings certificates writes there.
        for name in TRUST:
            if name in os.environ:
                self.environment[name] = str(self.put(os.environ[name], f"/opt/trust/{name}"))
        # As a running system has it: semaphores of all users are files there.
        (self.root / "dev" / "shm").chmod(0o1777)
        self.home = pathlib.Path("/home") / USER
        self.must("useradd", "--create-home", USER, root=True)

    def remove(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def run(self, *command, root=False, **environment):
        """As the user, in the user's home; or as root. Returns the CompletedProcess. What it leaves running ends with it."""
        words = ["unshare", "--mount", "--pid", "--fork", "--kill-child", f"--mount-proc={self.root}/proc", "chroot"]
        words += [] if root else [f"--userspec={USER}:{USER}"]
        home = "/root" if root else str(self.home)
        # chroot begins in the root folder.
        words += [str(self.root), "/bin/sh", "-c", 'cd "$HOME" && exec "$@"', "sh", *map(str, command)]
        return subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL, env={**self.environment, "HOME": home, **environment})

    def must(self, *command, **options):
        done = self.run(*command, **options)
        if done.returncode != 0:
            raise AssertionError(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
        return done.stdout

    def install(self, *packages):
        """Debian's packages, without what they only recommend. Returns how much the system grew, in bytes."""
        before = self.size()
        self.must("apt-get", "update", "-q", root=True)
        self.must("apt-get", "install", "-y", "-q", "--no-install-recommends", *packages, root=True)
        self.must("apt-get", "clean", root=True)
        return self.size() - before

    def size(self, path="usr"):
        """Bytes of the files below a folder."""
        return int(subprocess.run(["du", "-sb", str(self.root / path)], capture_output=True, text=True, check=True).stdout.split()[0])

    def put(self, file, folder):
        """Copies a file into a folder of the system; returns its path there."""
        target = self.root / str(folder).lstrip("/")
        target.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, target / pathlib.Path(file).name)
        (target / pathlib.Path(file).name).chmod(0o644)
        return pathlib.Path(folder) / pathlib.Path(file).name
