# SPDX-License-Identifier: Apache-2.0
"""A saved drive that was changed, by chance or by hand, and packed again with a checksum of its frame that is right, is refused. And what is saved
behind a loss of power is read again."""
import os
import random
import struct
import subprocess

from support import OK, USER_ERROR, SystemTest

CHANGES = int(os.environ.get("SSDTLM_CHANGES", "24"))
READ = ("--ioengine=libaio", "--rw=read", "--bs=4k", "--number_ios=1", "--size=64k")
MIXED = ("--ioengine=libaio", "--rw=randrw", "--bs=4k", "--iodepth=8", "--number_ios=600", "--io_size=1t", "--norandommap=1")
DEVICES = {
    "page": ("ftl.user_capacity=8MiB",),
    "dftl": ("ftl.mapping=dftl", "map.cache=8KiB", "ftl.user_capacity=8MiB"),
    "checkpoints": ("ftl.user_capacity=8MiB", "ftl.checkpoint_interval=1MiB"),
    "slc": ("ftl.user_capacity=8MiB", "slc.blocks=4"),
    "log blocks": ("ftl.user_capacity=6MiB", "ftl.mapping=fast"),
}


def unpacked(data):
    return bytearray(subprocess.run(["zstd", "-dc"], input=data, capture_output=True, check=True).stdout)


def packed(data):
    return subprocess.run(["zstd", "-qc", "--check"], input=bytes(data), capture_output=True, check=True).stdout


def changed(draw, content):
    """Another content: some numbers, a piece that is gone, twice, or elsewhere, another text."""
    content = bytearray(content)
    size = len(content)
    for _ in range(draw.choice((1, 1, 2, 8))):
        at, kind = draw.randrange(30, size - 8), draw.randrange(7)
        if kind == 0:
            content[at] ^= 1 << draw.randrange(8)
        elif kind == 1:
            struct.pack_into("<I", content, at // 4 * 4, draw.choice((0, 1, 0x7FFFFFFF, 0xFFFFFFFF, draw.randrange(1 << 32))))
        elif kind == 2:
            struct.pack_into("<Q", content, at // 8 * 8, draw.choice((0, 1 << 36, (1 << 64) - 1, draw.randrange(1 << 20))))
        elif kind == 3:
            del content[at:at + draw.randrange(1, 64)]
        elif kind == 4:
            content[at:at] = content[at:at + draw.randrange(1, 64)]
        elif kind == 5:
            content[at:at + 8] = bytes(8)
        else:
            del content[at:]
        size = max(len(content), 100)
        content.extend(bytes(size - len(content)))
    return content


class Damage(SystemTest):
    def run_on(self, settings, *arguments, output="out"):
        return self.ssdtlm("run", "tiny-test", "-q", "-o", output, *(word for s in settings for word in ("--set", s)), *arguments)

    def test_changed_content_is_refused(self):
        draw = random.Random("damage")
        for name, settings in DEVICES.items():
            done = self.run_on((*settings, "precondition.state=random"), *MIXED, "--save-drive", "drive")
            self.assertEqual((done.returncode, done.stderr), (OK, ""))
            content = unpacked((self.dir / "drive").read_bytes())
            (self.dir / "again").write_bytes(packed(content))
            done = self.run_on((*settings, "precondition.from=again"), *MIXED)
            self.assertEqual((done.returncode, done.stderr), (OK, ""), "unpacked and packed again")
            for n in range(CHANGES // len(DEVICES) + 1):
                other = changed(draw, content)
                if other == content:
                    continue
                (self.dir / "changed").write_bytes(packed(other))
                done = self.run_on((*settings, "precondition.from=changed"), *MIXED)
                self.assertEqual(done.returncode, USER_ERROR, (name, n, done.stderr))
                self.assertIn("precondition.from: ", done.stderr)
                check = self.ssdtlm("config", "check", "tiny-test", *(word for s in (*settings, "precondition.from=changed") for word in ("--set", s)))
                self.assertEqual((check.returncode, check.stderr), (done.returncode, done.stderr))

    def test_saved_behind_a_loss_of_power(self):
        for name, settings in DEVICES.items():
            if name == "log blocks":
                continue
            for state in ("fresh", "sequential", "random"):
                for job in (READ, MIXED):
                    with self.subTest(device=name, state=state, job=job[1]):
                        set_up = (*settings, f"precondition.state={state}")
                        done = self.run_on((*set_up, 'host.power_cut_at=["100us", "5ms"]', "host.power_off_time=100us"), *job, "--save-drive", "drive")
                        self.assertEqual((done.returncode, done.stderr), (OK, ""))
                        for more in ((), ('host.power_cut_at=["2ms"]',)):
                            done = self.run_on((*set_up, "precondition.from=drive", *more), "--ioengine=libaio", "--rw=read", "--bs=64k", "--iodepth=4")
                            self.assertEqual((done.returncode, done.stderr), (OK, ""))
