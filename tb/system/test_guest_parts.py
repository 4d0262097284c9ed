# SPDX-License-Identifier: Apache-2.0
"""What `ssdtlm guest` is made of, without QEMU: the archive of the guest's root, what comes back from a guest, the table of latencies,
and a user's mistakes."""

import ctypes
import io
import json
import os
import socket
import stat
import struct
import subprocess
import sys
import tarfile
import unittest
import unittest.mock

from support import BINARY, SOURCE, USER_ERROR, SystemTest

sys.path.insert(0, str(SOURCE / "python"))
from ssdtlm.guest import beside, clock, cpio, kernel, machine, outcome, words


def entries(data):
    """Reads an archive by the kernel's description of the format: name -> (mode, content)."""
    at, found = 0, {}
    while at < len(data):
        assert data[at:at + 6] == b"070701", at
        fields = [int(data[at + 6 + 8 * n:at + 14 + 8 * n], 16) for n in range(13)]
        size, name_size = fields[6], fields[11]
        name = data[at + 110:at + 110 + name_size - 1].decode()
        at += (110 + name_size + 3) // 4 * 4
        content = data[at:at + size]
        at += (size + 3) // 4 * 4
        if name == "TRAILER!!!":
            while at < len(data) and data[at] == 0:
                at += 1
            continue
        found[name] = (fields[1], content)
    return found


class Archive(unittest.TestCase):
    def written(self):
        file = io.BytesIO()
        archive = cpio.Archive(file)
        archive.folder("usr")
        archive.console()
        archive.regular("usr/odd", b"12345", executable=True)
        archive.regular("usr/empty", b"")
        archive.link("bin", "usr/bin")
        archive.end()
        return file

    def test_entries(self):
        file = self.written()
        self.assertEqual(file.tell() % 512, 0)
        second = cpio.Archive(file)  # one behind the other, as the kernel takes them
        second.regular("script", b"#!/bin/sh\n")
        second.end()
        self.assertEqual(entries(file.getvalue()), {
            "usr": (stat.S_IFDIR | 0o755, b""), "dev/console": (stat.S_IFCHR | 0o600, b""), "usr/odd": (stat.S_IFREG | 0o755, b"12345"),
            "usr/empty": (stat.S_IFREG | 0o644, b""), "bin": (stat.S_IFLNK | 0o777, b"usr/bin"),
            "script": (stat.S_IFREG | 0o644, b"#!/bin/sh\n")})

    def test_the_same_entries_give_the_same_bytes(self):
        self.assertEqual(self.written().getvalue(), self.written().getvalue())


class Kernel(SystemTest):
    """A packed kernel as Linux's boot protocol describes it: setup sectors, then at an offset the payload and behind it its size."""
    SETUP_SECTORS, OFFSET = 3, 100

    def packed(self, content):
        try:
            zstd = ctypes.CDLL("libzstd.so.1")
        except OSError:
            self.skipTest("no libzstd")
        room = ctypes.create_string_buffer(len(content) + 1000)
        zstd.ZSTD_compress.restype = ctypes.c_size_t
        size = zstd.ZSTD_compress(room, ctypes.c_size_t(len(room)), content, ctypes.c_size_t(len(content)), 1)
        payload = room.raw[:size] + struct.pack("<I", len(content))
        file = bytearray((1 + self.SETUP_SECTORS) * 512 + self.OFFSET)
        file[0x1F1] = self.SETUP_SECTORS
        file[0x202:0x206] = b"HdrS"
        struct.pack_into("<II", file, 0x248, self.OFFSET, len(payload))
        return bytes(file) + payload + b"more"

    def folder(self, data):
        (self.dir / "root" / "boot").mkdir(parents=True, exist_ok=True)
        (self.dir / "root" / "boot" / "vmlinuz-1").write_bytes(data)
        (self.dir / "complete").touch()
        return kernel.image(self.dir)

    def test_it_is_unpacked_once(self):
        content = b"\x7fELF" + bytes(range(256)) * 40
        path = self.folder(self.packed(content))
        self.assertEqual(path.read_bytes(), content)
        made = path.stat().st_mtime_ns
        self.assertEqual((kernel.image(self.dir), path.stat().st_mtime_ns), (path, made))

    def test_what_cannot_be_unpacked_is_taken_as_it_is(self):
        whole = self.packed(b"\x7fELF" + bytes(100))
        for data in (b"", b"MZ" + bytes(5000), self.packed(b"no ELF file"), whole[:-40], whole.replace(b"HdrS", b"HdrX")):
            with self.subTest(size=len(data)):
                self.assertEqual(self.folder(data), self.dir / "root" / "boot" / "vmlinuz-1")


class ComesBack(SystemTest):
    def archive(self, *members):
        with tarfile.open(self.dir / "files.tar", "w") as tar:
            for name, content in members:
                member = tarfile.TarInfo(name)
                member.size = len(content)
                tar.addfile(member, io.BytesIO(content))

    def test_files_and_code(self):
        self.archive(("out/.code", b"3\n"), ("out/.booted", b"1.5\n"), ("out/a/b.txt", b"b"))
        (self.dir / "output.txt").write_text("said")
        came = outcome.collect(self.dir, 0, 2.0, "")
        self.assertEqual((came.code, came.reason, came.output, came.guest_s), (3, "", "said", {"booted": 1.5}))
        self.assertEqual(came.files["a/b.txt"].read_bytes(), b"b")

    def test_nothing_leaves_the_folder(self):
        self.archive(("out/../../evil", b"x"), ("/etc/evil", b"x"), ("evil", b"x"), ("out/.code", b"0"))
        folder = self.dir / "deep" / "er"
        self.assertEqual(list(outcome.unpack(self.dir / "files.tar", folder)), [".code"])
        self.assertEqual([p.name for p in self.dir.rglob("*evil*")], [])

    def test_a_guest_that_did_not_end(self):
        (self.dir / "console.txt").write_text("Kernel panic - not syncing\n")
        (self.dir / "qemu.txt").write_text("Assertion failed\n")
        for returned, cut, reason in ((0, "", "without a result; its console ends with: Kernel panic"),
                                       (-6, "", "QEMU ended with -6: Assertion failed"), (-9, "late", "not done in time"),
                                      (-9, "gone", "the drive has ended before the guest")):
            came = outcome.collect(self.dir, returned, 1.0, cut)
            self.assertIsNone(came.code)
            self.assertIn(reason, came.reason)
        self.archive(("out/.code", b"0"))
        whole = (self.dir / "files.tar").read_bytes()
        (self.dir / "files.tar").write_bytes(whole[:300])
        self.assertIsNone(outcome.collect(self.dir, 0, 1.0, "").code)

    def test_a_drive_that_linux_has_not_found(self):
        self.archive(("out/.code", b"no-drive\n"))
        came = outcome.collect(self.dir, 0, 1.0, "")
        self.assertEqual(came.code, None)
        self.assertIn("Linux found no drive", came.reason)


class Machine(SystemTest):
    def test_drives(self):
        """A socket is a drive of ours; a number and a file are drives of QEMU's."""
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(self.dir / "s"))
            plan = machine.Plan(folder=self.dir, output=self.dir, script=b"", drives=[self.dir / "s", 4096, self.dir / "image"])
            text = " ".join(machine.drive_arguments(plan))
        self.assertIn('"driver": "vfio-user-pci", "bus": "rp0"', text)
        self.assertIn(f"file={self.dir}/drive1.raw,", text)
        self.assertEqual((self.dir / "drive1.raw").stat().st_size, 4096)
        self.assertIn(f"file={self.dir}/image,", text)

    def test_a_guest_whose_drive_has_gone_is_ended(self):
        """With a program that waits for ever in QEMU's place."""
        (self.dir / "qemu-system-x86_64").write_text("#!/bin/sh\nexec sleep 1000\n")
        (self.dir / "qemu-system-x86_64").chmod(0o755)
        (self.dir / "root" / "boot").mkdir(parents=True)
        (self.dir / "root" / "boot" / "vmlinuz-1").touch()
        (self.dir / "complete").touch()
        (self.dir / "base.cpio").touch()
        with unittest.mock.patch.multiple(machine, LOOK_S=0.01, GONE_S=0.05):
            for plan, reason in (({"drives_are_there": lambda: False}, "the drive has ended"), ({"timeout_s": 0.05}, "not done in time")):
                came = machine.boot(machine.Plan(folder=self.dir, output=self.dir / "out", script=b"", **plan))
                self.assertIsNone(came.code)
                self.assertIn(reason, came.reason)

    def test_clock_page(self):
        """Its bytes are what tools/guest_clock/clock_page.h says."""
        path = self.dir / "page"
        self.assertFalse(clock.is_page(path))
        page = clock.Page(path, 0.25, base_ns=1000)
        self.assertTrue(clock.is_page(path))
        sequence, base, wall, rate, version, limit, taken = struct.unpack_from("<QqqdQqQ", path.read_bytes())
        self.assertEqual((sequence % 2, base, wall, rate, version, limit, taken), (0, 1000, page.wall0_ns, 0.25, 2, 2**63 - 1, 2**64 - 1))
        page.set_rate(0)
        later = struct.unpack_from("<QqqdQ", path.read_bytes())
        self.assertEqual(later[1], base + round((later[2] - wall) * 0.25))


class Words(unittest.TestCase):
    def test_a_line_of_fio_is_completed(self):
        output = " --output-format=json --output=fio.json --lat_percentiles=1"
        for given, added in (("fio --name=a --rw=read", " --filename=/dev/nvme0n1" + output), ("fio job.fio", output),
                             ("fio --name=a --directory=/mnt", output), ("fio --name=a --filename=/x --output=y", ""),
                             ("nvme list", ""), ("fio --name=a; nvme list", ""), ("fio --name=a && nvme list", ""), ("fio 'a", "")):
            self.assertEqual(words.completed(given), given + added + "\n")


class Beside(SystemTest):
    def test_software_is_what_the_drive_is_not(self):
        self.write("fio.json", "fio: a line before\n" + json.dumps({"fio version": "fio-3.39", "jobs": [
            {"jobname": "j", "error": 0, "read": {"total_ios": 10, "iops": 5.0, "clat_ns": {"mean": 1.0, "percentile": {"99.000000": 1}},
             "lat_ns": {"mean": 95000.0, "percentile": {"50.000000": 90000, "99.000000": 120000}}}, "write": {"total_ios": 0}}]}))
        self.write("other.json", "[]")
        latency = {"read": {"total": {"count": 12, "mean": 70.0, "p50": 70.0, "p99": 80.0}, "array": {"mean": 60.0}, "channel": {"mean": 10.0}}}
        (row,) = beside.compare({p.name: p for p in self.dir.iterdir()}, {"latency_us": latency})
        self.assertEqual((row["op"], row["mean_us"], row["p99_us"], row["drive_mean_us"], row["software_mean_us"]), ("read", 95.0, 120.0, 70.0, 25.0))
        self.assertEqual(row["stages_mean_us"], {"array": 60.0, "channel": 10.0})
        self.assertIn("fio made 10 of 12 reads of the drive", beside.text([row]))


class Mistakes(SystemTest):
    def guest(self, *given, **environment):
        return subprocess.run([BINARY, "guest", *map(str, given)], cwd=self.dir, capture_output=True, text=True, check=False,
                              env=dict(os.environ, SSDTLM_GUEST=str(self.dir / "none"), **environment))

    def test_each_is_said(self):
        for given, message in ((("tiny-test", "--with", "x"), f"none has no QEMU, kernel and tools; run `{SOURCE}/tools/guest.sh get "),
                               (("tiny-test", "--with", "x", "--clock", "3"), "--clock 3; wall, or 0.001 to 1"),
                               (("tiny-test", "--with", "x", "--processors", "0"), "--processors 0; 1 to 16"),
                               (("tiny-test", "--with", "x", "--timeout", "0"), "--timeout 0; seconds above 0"),
                               (("tiny-test", "--script", "/nowhere"), "/nowhere: cannot be read: No such file"),
                               (("tiny-test", "--with", "x", "--set", "a"), "--set a; KEY=VALUE"),
                               (("tiny-test",), "--with"), (("tiny-test", "--with", "x", "--script", "y"), "--script")):
            with self.subTest(given=given):
                done = self.guest(*given)
                self.assertEqual(done.returncode, USER_ERROR, done.stderr)
                self.assertIn(message, done.stderr)

    def test_the_script_says_its_use(self):
        done = subprocess.run([SOURCE / "tools" / "guest.sh"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("guest.sh get FOLDER", done.stdout)

    def test_without_a_mirror_it_is_skipped_with_the_reason(self):
        """As on a machine whose apt has no mirror of Debian: nothing is fetched."""
        (self.dir / "bin").mkdir()
        sed = self.dir / "bin" / "sed"
        sed.write_text("#!/bin/sh\nexit 0\n")
        sed.chmod(0o755)
        done = subprocess.run([SOURCE / "tools" / "guest.sh", "get", self.dir / "parts"], capture_output=True, text=True, check=False,
                              env=dict(os.environ, PATH=f"{self.dir / 'bin'}:{os.environ['PATH']}"))
        self.assertEqual((done.returncode, done.stderr), (77, "guest: skipped: no mirror of Debian in /etc/apt\n"))


if __name__ == "__main__":
    unittest.main()
