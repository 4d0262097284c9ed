# SPDX-License-Identifier: Apache-2.0
"""Blocks with metadata and protection information on a drive that is served over vfio-user."""
import random
import struct
import subprocess

import support
from served import Served
from vfio_client import RAM


def guard(data):
    """CRC-16 of T10 DIF, bit by bit."""
    rest = 0
    for byte in data:
        rest ^= byte << 8
        for _ in range(8):
            rest = (rest << 1 ^ 0x8BB7 if rest & 0x8000 else rest << 1) & 0xFFFF
    return rest


class Protected(Served):
    """Blocks of 4,096 bytes with protection information of type 1 (LBA format 3 of a drive of 512-byte blocks)."""
    TYPE1 = 3 | 1 << 5
    EXTENDED = 1 << 4
    CHECKS = 7 << 26
    DATA, METADATA = 0x80000, 0x90000

    def transfer(self, d, opcode, lba, prinfo=CHECKS, tag=0xCAFE, **fields):
        at = RAM + self.DATA
        return d.command(1, opcode, nsid=1, prp1=at, prp2=at + 4096, mptr=RAM + self.METADATA, dw10=lba, dw12=prinfo, dw14=lba, dw15=0xFFFF0000 | tag, **fields)

    def write(self, d, lba, data, wrong=0, **fields):
        d.ram[self.DATA:self.DATA + 4096] = data
        d.ram[self.METADATA:self.METADATA + 8] = struct.pack(">HHI", guard(data) ^ wrong, 0xCAFE, lba)
        return self.transfer(d, 0x01, lba, **fields)

    def read(self, d, lba, **fields):
        d.ram[self.DATA:self.DATA + 4096] = bytes(4096)
        d.ram[self.METADATA:self.METADATA + 8] = bytes(8)
        return self.transfer(d, 0x02, lba, **fields), d.ram[self.DATA:self.DATA + 4096], d.ram[self.METADATA:self.METADATA + 8]

    def test_it_is_written_checked_and_read(self):
        self.assertEqual(guard(b"123456789"), 0xD0DB)
        self.serve("--set", "nvme.metadata=true")
        d = self.drive()
        self.assertEqual(d.command(0, 0x80, nsid=1, dw10=self.TYPE1), 0)
        self.assertEqual(d.command(0, 0x06, nsid=1, prp1=RAM + 0x40000), 0)
        self.assertEqual(d.ram[0x40000 + 25:0x40000 + 30], bytes((3, 3, 3, 0x1F, 1)), "NLBAF, FLBAS, MC, DPC, DPS")
        data = random.Random(5).randbytes(4096)
        good = struct.pack(">HHI", guard(data), 0xCAFE, 9)
        self.assertEqual(self.write(d, 9, data), 0)
        self.assertEqual(self.read(d, 9), (0, data, good))
        self.assertEqual(self.write(d, 9, data, wrong=1), 0x282, "guard")
        self.assertEqual(self.write(d, 9, data, tag=0xCAFF), 0x283, "application tag")
        self.assertEqual(self.read(d, 9), (0, data, good), "nothing of them was written")
        self.assertEqual(self.write(d, 9, data, wrong=1, prinfo=3 << 26), 0, "the guard is not checked")
        self.assertEqual(self.read(d, 9)[0], 0x282)
        self.assertEqual(self.write(d, 9, data, prinfo=1 << 29), 0, "inserted")
        self.assertEqual(self.read(d, 9), (0, data, good))
        self.assertEqual(self.read(d, 10), (0, bytes(4096), b"\xff" * 8), "deallocated")
        # Extended blocks: eight more bytes in one transfer.
        self.assertEqual(d.command(0, 0x80, nsid=1, dw10=self.TYPE1 | self.EXTENDED), 0)
        d.ram[self.DATA:self.DATA + 4104] = data + good
        self.assertEqual(self.transfer(d, 0x01, 9), 0)
        d.ram[self.DATA:self.DATA + 4104] = bytes(4104)
        self.assertEqual(self.transfer(d, 0x02, 9), 0)
        self.assertEqual(d.ram[self.DATA:self.DATA + 4104], data + good)
        self.result()

    def test_it_outlives_collection_power_and_its_server(self):
        options = ("--set", "nvme.metadata=true", "--set", "ftl.user_capacity=8MiB", "--set", "buffer.size=128KiB", "--set", "read_cache.size=256KiB",
                   "--set", "host.power_off_time=5ms")
        self.serve("--save-drive", "drive.img", *options)
        d = self.drive()
        self.assertEqual(d.command(0, 0x80, nsid=1, dw10=self.TYPE1), 0)
        rng, held = random.Random(6), {}
        blocks = [rng.randbytes(4096) for _ in range(64)]
        for i in range(9000):
            lba, data = rng.randrange(1800), i % len(blocks)
            d.ram[self.DATA:self.DATA + 4096] = blocks[data]
            self.assertEqual(self.transfer(d, 0x01, lba, prinfo=1 << 29), 0, "inserted")
            held[lba] = data
        self.assertEqual(d.command(1, 0x00, nsid=1), 0, "flush")
        self.power_cut(d)
        d.start_again()
        self.again(d, held, blocks)
        ftl = self.result()["ftl"]
        self.assertGreater(ftl["gc_units_moved"], 100)
        image = self.folder / "drive.img"
        self.serve("--set", f"precondition.from={image}", *options)
        self.again(self.drive(), held, blocks)
        self.result()
        self.other_protocols(image, options, held, blocks)
        # The driver of runs knows no metadata.
        run = subprocess.run([support.BINARY, "run", "tiny-test", "-q", "-o", str(self.folder / "run"), "--set", f"precondition.from={image}",
                              "--set", "run.data=bytes", "--set", "run.integrity=false", "--ioengine=libaio", "--rw=read", "--bs=4k", "--number_ios=1", *options], capture_output=True, text=True)
        self.assertEqual(run.returncode, support.USER_ERROR, run.stderr)
        self.assertIn("a guest has formatted", run.stderr)

    def other_protocols(self, image, options, held, blocks):
        """The flash keeps data and metadata when the drive goes on under a protocol without metadata."""
        for kind in ("sata", "raw"):
            with self.subTest(kind=kind):
                settings = (*options, "--set", f"frontend.kind={kind}", "--set", "run.data=bytes", "--set", "run.integrity=false", "--set", f"precondition.from={image}")
                read = ("--ioengine=libaio", "--rw=read", "--bs=64k", "--size=8m")
                checked = subprocess.run([support.BINARY, "config", "check", "tiny-test", *settings, *read], capture_output=True, text=True)
                self.assertEqual(checked.returncode, support.OK, checked.stdout + checked.stderr)
                run = subprocess.run([support.BINARY, "run", "tiny-test", "-q", "-o", str(self.folder / kind), *settings, *read, "--save-drive", f"{image}.{kind}"],
                                     capture_output=True, text=True)
                self.assertEqual((run.returncode, run.stderr), (support.OK, ""))
                self.serve("--set", f"precondition.from={image}.{kind}", *options)
                d = self.drive()
                for lba in list(held)[:100]:
                    self.assertEqual(d.read(1, lba * 8, 4096), (0, blocks[held[lba]]))
                self.result()

    def again(self, d, held, blocks):
        guards = [guard(b) for b in blocks]
        self.assertEqual(d.command(0, 0x06, nsid=1, prp1=RAM + 0x40000), 0)
        self.assertEqual((d.ram[0x40000 + 26], d.ram[0x40000 + 29]), (3, 1), "FLBAS, DPS")
        for lba, data in held.items():
            self.assertEqual(self.read(d, lba), (0, blocks[data], struct.pack(">HHI", guards[data], 0xCAFE, lba)))
