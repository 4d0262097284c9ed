# SPDX-License-Identifier: Apache-2.0
"""A saved drive that was changed, by chance or by hand, and packed again with a checksum of its frame that is right, is refused. With the digest of its content
made anew too, it is refused for what it says, or works. And what is saved behind a loss of power is read again.

SSDTLM_CHANGES: how many drives with a wrong digest; SSDTLM_CHANGES_INSIDE = "first count": seeds of those with a right one."""
import os
import random
import resource
import struct
import subprocess
import zlib

from saved_drives import changed_inside, packed, unpacked, with_digest
from support import BINARY, OK, SANITIZED, USER_ERROR, SystemTest

CHANGES = int(os.environ.get("SSDTLM_CHANGES", "24"))
FIRST_INSIDE, INSIDE = (int(n) for n in os.environ.get("SSDTLM_CHANGES_INSIDE", "0 200").split())
CPU_SECONDS = 100 if SANITIZED else 10  # a run here takes 0.02 s
READ = ("--ioengine=libaio", "--rw=read", "--bs=4k", "--number_ios=1", "--size=64k")
MIXED = ("--ioengine=libaio", "--rw=randrw", "--bs=4k", "--iodepth=8", "--number_ios=600", "--io_size=1t", "--norandommap=1")
DEVICES = {
    "page": ("ftl.user_capacity=8MiB",),
    "dftl": ("ftl.mapping=dftl", "map.cache=8KiB", "ftl.user_capacity=8MiB"),
    "checkpoints": ("ftl.user_capacity=8MiB", "ftl.checkpoint_interval=1MiB"),
    "slc": ("ftl.user_capacity=8MiB", "slc.blocks=4"),
    "log blocks": ("ftl.user_capacity=6MiB", "ftl.mapping=fast"),
}


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


# One of each memory that is saved.
INSIDE_DEVICES = {
    "page": ("ftl.user_capacity=8MiB",),
    "planes, random victims": ("ftl.user_capacity=8MiB", "ftl.superblock=plane", "gc.policy=random", "wear.free_blocks=by_wear"),
    "cost benefit, read cache": ("ftl.user_capacity=8MiB", "gc.policy=cost_benefit", "read_cache.size=64KiB", "gc.pace=tokens"),
    "windowed, one room": ("ftl.user_capacity=8MiB", "gc.policy=windowed_greedy", "wear.most_spread=4", "firmware.table_cache=4KiB", "read_cache.room=buffer", "buffer.order=lru"),
    "dftl": ("ftl.user_capacity=8MiB", "ftl.mapping=dftl", "map.cache=8KiB"),
    "dftl by pages": ("ftl.user_capacity=6MiB", "ftl.mapping=dftl", "map.cache=16KiB", "map.granularity=page", "map.power_protected=50%"),
    "segmented, lanes": ("ftl.user_capacity=8MiB", "ftl.mapping=dftl", "map.cache=8KiB", "map.replacement=segmented_lru", "ftl.static_dimensions=C"),
    "checkpoints": ("ftl.user_capacity=8MiB", "ftl.checkpoint_interval=1MiB"),
    "checkpoints of dftl": ("ftl.user_capacity=6MiB", "ftl.mapping=dftl", "map.cache=8KiB", "ftl.checkpoint_interval=1MiB", "ftl.checkpoint_at_shutdown=true"),
    "slc": ("ftl.user_capacity=8MiB", "slc.blocks=4"),
    "dynamic slc": ("ftl.user_capacity=7MiB", "slc.blocks=2", "slc.dynamic_blocks=3"),
    "log blocks": ("ftl.user_capacity=6MiB", "ftl.mapping=fast"),
    "block map": ("ftl.user_capacity=6MiB", "ftl.mapping=block"),
    "streams": ("ftl.user_capacity=7MiB", "ftl.stream_frontiers=2", "ftl.streams_by=multi_hash", "ftl.multi_hash.counters=256"),
    "refresh": ("ftl.user_capacity=8MiB", "refresh.reads=200", "refresh.age=5ms"),
    "failing": ("ftl.user_capacity=7MiB", "ftl.spare_blocks=8", "nand.faults.program_fail=0.05%", "nand.faults.erase_fail=0.5%", "nand.faults.factory_bad=2%"),
    "parity": ("ftl.user_capacity=3MiB", "ftl.parity=die", "ftl.superblock=drive"),
    "sets": ("ftl.user_capacity=6MiB", "ftl.nvm_sets=C0, C1"),
    "behind a loss of power": ("ftl.user_capacity=8MiB", 'host.power_cut_at=["3ms"]'),
    "dftl behind a loss of power": ("ftl.user_capacity=8MiB", "ftl.mapping=dftl", "map.cache=8KiB", 'host.power_cut_at=["3ms"]'),
}
# Writes, deallocates, collects, and reads all of it at the end.
ALL_OF_IT = """[global]
ioengine=libaio
norandommap=1
[mix]
rw=randrw
bssplit=4k/60:16k/30:512/10
iodepth=8
number_ios=900
io_size=1t
[trim]
rw=randtrim
bs=8k
number_ios=60
[all]
stonewall
rw=read
bs=64k
iodepth=4
"""


def bounded():
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS + 2))


class Damage(SystemTest):
    def bounded_run(self, settings):
        words = [word for s in settings for word in ("--set", s)]
        return subprocess.run([BINARY, "run", "tiny-test", "-q", "-o", "out", "-w", "all.fio", *words], cwd=self.dir, capture_output=True, text=True, errors="replace", preexec_fn=bounded, check=False)

    def test_changed_content_with_its_digest(self):
        """No crash, no mistake of the program and no run without end: it is refused with a sentence, or the drive works."""
        self.write("all.fio", ALL_OF_IT)
        drives = {}
        for name, settings in INSIDE_DEVICES.items():
            done = self.ssdtlm("run", "tiny-test", "-q", "-o", "out", "-w", "all.fio", *(w for s in (*settings, "precondition.state=random") for w in ("--set", s)), "--save-drive", "drive")
            self.assertEqual((done.returncode, done.stderr), (OK, ""), name)
            drives[name] = unpacked((self.dir / "drive").read_bytes())
            self.assertEqual(with_digest(drives[name]), bytes(drives[name]), "the digest of the program is another one")
        count = {OK: 0, USER_ERROR: 0}
        for seed in range(FIRST_INSIDE, FIRST_INSIDE + INSIDE):
            draw = random.Random(zlib.crc32(f"inside {seed}".encode()))
            name = draw.choice(list(drives))
            organ, other = changed_inside(draw, drives[name])
            if other == bytes(drives[name]):
                continue
            (self.dir / "changed").write_bytes(packed(other))
            settings = [s for s in INSIDE_DEVICES[name] if not s.startswith("host.power_cut_at")]
            done = self.bounded_run((*settings, "precondition.from=changed", f"run.seed={draw.randrange(1, 9)}"))
            with self.subTest(seed=seed, device=name, organ=organ):
                self.assertIn(done.returncode, count, done.stderr[:600])
                count[done.returncode] += 1
                if done.returncode == USER_ERROR:
                    self.assertRegex(done.stderr, r"precondition.from: |^changed: ")
                else:
                    self.assertEqual(done.stderr, "")
        print(f"{INSIDE} changed drives: {count[USER_ERROR]} refused, {count[OK]} work", flush=True)
        self.assertGreater(min(count.values()), INSIDE // 10)

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
