# SPDX-License-Identifier: Apache-2.0
"""A drive that is served over vfio-user: what a client finds, what it writes and reads back, resets of every kind,
losses of power, clients that come again or misbehave, and the results of it all. The client is of the standard
library (vfio_client.py); QEMU is not needed."""
import array
import os
import pathlib
import random
import select
import signal
import socket
import struct
import subprocess
import tempfile
import time
import unittest

import support
import vfio_client as vfio
from served import Served
from vfio_client import BAR0, CONFIG, MSIX, RAM, Drive, Refused

PATTERN = bytes(range(256)) * 32  # two pages


class Drives(Served):
    def test_what_a_client_finds(self):
        self.serve("--set", "link.generation=4", "--set", "link.lanes=2")
        c = self.client()
        self.assertEqual(struct.unpack("<IIII", c.call(vfio.GET_INFO, struct.pack("<IIII", 16, 0, 0, 0))), (16, 3, 9, 5))
        self.assertEqual(c.read(0x09, 3, CONFIG), b"\x02\x08\x01", "class 010802h")
        caps, at = {}, c.read(0x34, 1, CONFIG)[0]
        while at:
            caps[c.read(at, 1, CONFIG)[0]], at = at, c.read(at + 1, 1, CONFIG)[0]
        self.assertEqual(sorted(caps), [0x01, 0x10, 0x11])
        self.assertEqual(struct.unpack("<H", c.read(caps[0x10] + 0x12, 2, CONFIG))[0] & 0x3FF, 4 | 2 << 4)
        cap, version = struct.unpack("<QI", c.read(0, 12))
        self.assertEqual(version, 0x10400)
        self.assertEqual(c.read(1, 2), struct.pack("<Q", cap)[1:3], "parts of a register")
        drive = Drive(c)
        drive.enable()
        self.assertEqual(drive.command(0, 0x06, prp1=RAM + 0x40000, dw10=1), 0)
        self.assertEqual(drive.ram[0x40200:0x40202], b"\x66\x44", "Identify: sizes of queue entries")

    def test_two_queues_hold_what_is_written(self):
        for sealed in (True, False):
            with self.subTest(sealed=sealed):
                self.serve()
                d = self.drive(sealed)
                rng, held = random.Random(1), {}
                for i in range(60):
                    q, lba = 1 + i % 2, rng.randrange(256) * 16
                    if lba in held:
                        self.assertEqual(d.read(q, lba, 8192), (0, held[lba]))
                    else:
                        held[lba] = rng.randbytes(8192)
                        self.assertEqual(d.write(q, lba, held[lba]), 0)
                self.assertEqual(d.command(2, 0x00, nsid=1), 0, "flush")
                for lba, data in held.items():
                    self.assertEqual(d.read(1, lba, 8192), (0, data))
                self.assertEqual(d.command(1, 0x02, nsid=1, prp1=RAM + 0xC0000, dw10=0xFFFFFFFF, dw11=0xFF), 0x80,
                                 "LBA out of range")
                counters = self.result()["counters_whole_run"]
                self.assertEqual(counters["guest_clients"], 1)
                self.assertEqual(counters["guest_dma_refused"], 0)
                self.assertGreaterEqual(counters["host_commands"], 60 + 1 + len(held) + 1)

    def test_resets(self):
        self.serve()
        d = self.drive()
        c = d.client
        self.assertEqual(d.write(1, 0, PATTERN), 0)
        exp = 0x80
        self.assertEqual(c.read(exp, 1, CONFIG), b"\x10")
        table = c.read(0x2000, 16)
        self.assertEqual(struct.unpack("<QII", table), (0xFEE00000, 0, 0), "vector 0, unmasked")

        def controller():
            c.write32(0x14, 0x460000)
            d.wait_status(1, 0)

        def shutdown():
            c.write32(0x14, 0x464001)
            d.wait_status(0xC, 8)
            controller()

        def function():
            admin = struct.pack("<IQQ", 7 << 16 | 7, RAM, RAM + 0x1000)
            self.assertEqual(c.read(0x24, 20), admin, "AQA, ASQ, ACQ before the reset")
            payload = struct.unpack("<H", c.read(exp + 8, 2, CONFIG))[0] & 0x7F1F | 2 << 5
            c.write(exp + 8, struct.pack("<H", payload), CONFIG)
            c.write(exp + 8, struct.pack("<H", payload | 0x8000), CONFIG)
            self.assertEqual(c.read32(0x14), 0)
            self.cleared(c)
            self.assertEqual(struct.unpack("<H", c.read(exp + 8, 2, CONFIG))[0] & 0x80E0, 2 << 5, "Max_Payload_Size stays")
            self.assertEqual(c.read(0x24, 20), bytes(20), "AQA, ASQ, ACQ")

        def bus():
            c.call(vfio.RESET)
            self.cleared(c)

        for reset in (controller, shutdown, function, bus, controller, bus):
            with self.subTest(reset.__name__):
                for _ in range(3):
                    d.submit(2, 0x02, nsid=1, prp1=RAM + 0xC0000, prp2=RAM + 0xC1000, dw10=0, dw12=15)
                reset()
                for event in d.events:
                    try:
                        os.eventfd_read(event)
                    except BlockingIOError:
                        pass
                c.write(4, struct.pack("<H", 6), CONFIG)
                d.enable()
                d.create(1)
                d.create(2)
                self.assertEqual(d.read(1, 0, 8192), (0, PATTERN))
        # SMART log: shutdowns were normal, and a reset of the function is no loss of power.
        self.assertEqual(d.command(0, 0x02, nsid=0xFFFFFFFF, prp1=RAM + 0x40000, dw10=127 << 16 | 2), 0)
        self.assertEqual(int.from_bytes(d.ram[0x40000 + 144:0x40000 + 160], "little"), 0, "unsafe shutdowns")
        self.assertEqual(self.result()["counters_whole_run"]["guest_function_resets"], 3)

    def cleared(self, c):
        self.assertEqual(c.read(0x24, 20), bytes(20), "AQA, ASQ, ACQ")
        self.assertEqual(c.read(0x14, 4) + c.read(0x1C, 4), bytes(8), "CC, CSTS")
        self.assertEqual(struct.unpack("<QII", c.read(0x2000, 16)), (0, 0, 1), "vector 0, masked")
        self.assertEqual(struct.unpack("<H", c.read(4, 2, CONFIG))[0], 0, "command register")

    def test_doorbells_in_memory(self):
        for sealed in (True, False):
            with self.subTest(sealed=sealed):
                self.serve("--set", "nvme.shadow_doorbells=true")
                d = Drive(self.client(), sealed)
                d.enable()
                self.assertEqual(d.command(0, 0x06, prp1=RAM + 0x40000, dw10=1), 0)
                self.assertEqual(d.ram[0x40101] & 1, 1, "OACS bit 8")
                d.create(1)
                d.shadow()
                d.create(2)
                rng, held = random.Random(4), {}
                for i in range(40):
                    q, lba = 1 + i % 2, rng.randrange(256) * 16
                    held[lba] = rng.randbytes(8192)
                    self.assertEqual(d.write(q, lba, held[lba]), 0)
                written = d.not_written
                for i in range(40):  # up to seven at once: while one is under way, the drive reads the next one's tail itself
                    cids = [d.submit(1, 0x02, nsid=1, prp1=RAM + 0xC0000 + 4096 * k, dw10=0, dw12=7) for k in range(1 + i % 7)]
                    self.assertEqual(sorted(d.wait(1)[0] for _ in cids), sorted(cids))
                self.assertGreater(d.not_written, written)
                for lba, data in held.items():
                    self.assertEqual(d.read(2, lba, 8192), (0, data))
                result = self.result()
                self.assertEqual(result["write"]["ios"], 40)
                self.assertEqual(result["read"]["ios"], sum(1 + i % 7 for i in range(40)) + len(held), "each is followed")
                self.assertEqual(result["counters_whole_run"]["guest_other_commands"], 0)
                self.assertEqual(result["counters_whole_run"]["guest_dma_refused"], 0)

    def test_a_register_that_is_older_than_the_doorbell_in_memory(self):
        """A message may come behind what the drive has read. Nothing of the ring is carried out twice."""
        self.serve("--set", "nvme.shadow_doorbells=true")
        d = self.drive()
        d.shadow()
        for i in range(30):
            cids = [d.submit(1, 0x02, nsid=1, prp1=RAM + 0xC0000 + 4096 * k, dw10=0, dw12=7) for k in range(3)]
            d.client.write32(0x1008, (d.rings[1][0] - 1 - i % 2) % 8)
            self.assertEqual(sorted(d.wait(1)[0] for _ in cids), sorted(cids))
            d.client.write32(0x100C, (d.rings[1][1] - 1) % 8)
        for reset in ("controller", "function"):  # both remove the doorbells in memory
            if reset == "controller":
                d.client.write32(0x14, 0x460000)
                d.wait_status(1, 0)
            else:
                d.client.write(0x88, struct.pack("<H", 0x8000), CONFIG)
                d.client.write(4, struct.pack("<H", 6), CONFIG)
            d.start_again()
            before = d.not_written
            self.assertEqual(d.write(1, 0, PATTERN), 0)
            self.assertEqual(d.read(1, 0, 8192), (0, PATTERN))
            self.assertEqual(d.not_written, before)
            d.shadow()
            self.assertEqual(d.read(1, 0, 8192)[0], 0)
        self.assertEqual(self.result()["read"]["ios"], 94)

    def test_clients_come_again(self):
        self.serve()
        d = self.drive()
        self.assertEqual(d.write(1, 64, PATTERN), 0)
        d.submit(1, 0x02, nsid=1, prp1=RAM + 0xC0000, prp2=RAM + 0xC1000, dw10=64, dw12=15)
        d.client.close()  # in the middle
        d = self.drive()
        self.assertEqual(d.read(2, 64, 8192), (0, PATTERN))
        self.assertEqual(self.result()["counters_whole_run"]["guest_clients"], 2)

    def test_a_disk_outlives_its_server(self):
        self.serve("--save-drive", "drive.img", "--set", "read_cache.size=256KiB")
        d = self.drive()
        held = {lba: random.Random(lba).randbytes(8192) for lba in range(0, 4096, 64)}
        for lba, data in held.items():
            self.assertEqual(d.write(1, lba, data), 0)
        self.result()
        image = self.folder / "drive.img"
        self.serve("--set", f"precondition.from={image}", "--set", "read_cache.size=256KiB")
        d = self.drive()
        for lba, data in held.items():
            self.assertEqual(d.read(2, lba, 8192), (0, data))
        self.result()

    def log(self, d, page, size=4096):
        d.ram[0x50000:0x50000 + 4096] = bytes(4096)
        self.assertEqual(d.command(0, 0x02, nsid=0xFFFFFFFF, prp1=RAM + 0x50000, dw10=(size // 4 - 1) << 16 | page), 0)
        return bytes(d.ram[0x50000:0x50000 + size])

    def events(self, d):
        """(type, time, data) of the persistent events, newest first."""
        header = self.log(d, 0x0D | 1 << 8)  # opens a context
        count, size = struct.unpack("<I", header[4:8])[0], struct.unpack("<Q", header[8:16])[0]
        self.assertLess(size, 4096)
        self.log(d, 0x0D | 2 << 8, 512)  # closes it
        found, at = [], 512
        for _ in range(count):
            length = struct.unpack("<H", header[at + 22:at + 24])[0]
            found.append((header[at], header[at + 24:at + 24 + length]))
            at += 24 + length
        return found

    def test_a_saved_drive_keeps_what_nvme_keeps(self):
        device = ("--set", 'nvme.namespaces=["4MiB"]')
        self.serve("--save-drive", "drive.img", *device)
        d = self.drive()
        self.assertEqual(d.command(0, 0x84, dw10=2), 0, "Sanitize, block erase")
        while self.log(d, 0x81, 512)[2] & 7 != 1:
            pass
        self.assertEqual(d.write(1, 64, PATTERN), 0)
        self.assertEqual(d.command(1, 0x04, nsid=1, dw10=66, dw12=1), 0, "Write Uncorrectable")
        self.assertEqual(d.read(1, 64, 8192)[0], 0x281)
        self.assertEqual(d.command(0, 0x80, nsid=2, dw10=1), 0, "Format NVM, 4,096 bytes")
        self.assertEqual(d.command(0, 0x14, nsid=0xFFFFFFFF, dw10=1), 0, "self-test")
        while self.log(d, 0x06, 564)[0] & 0xF:
            pass
        kept = {page: self.log(d, page, size) for page, size in ((0x01, 1024), (0x06, 564), (0x81, 512))}
        smart, events = self.log(d, 0x02, 512), self.events(d)
        self.result()
        image = self.folder / "drive.img"
        self.serve("--save-drive", "again.img", "--set", f"precondition.from={image}", *device)
        d = self.drive()
        for page, was in kept.items():
            self.assertEqual(self.log(d, page, len(was)), was, hex(page))
        now = self.log(d, 0x02, 512)
        for at in (32, 48, 64, 80, 144, 160, 176):  # data units, commands, unsafe shutdowns, errors
            self.assertEqual(now[at:at + 16], smart[at:at + 16], at)
        self.assertEqual((now[112], smart[112]), (2, 1), "power cycles")
        self.assertEqual(self.events(d)[1:], events)
        self.assertEqual(self.events(d)[0][0], 4, "the power-on")
        self.assertEqual(d.command(0, 0x06, nsid=2, prp1=RAM + 0x40000, dw10=0), 0)
        self.assertEqual(d.ram[0x4001A] & 0xF, 1, "FLBAS of namespace 2")
        self.assertEqual(d.read(2, 64, 8192)[0], 0x281)
        self.assertEqual(d.read(2, 68, 512), (0, PATTERN[4 * 512:5 * 512]))
        self.assertEqual(d.write(1, 64, PATTERN), 0)
        self.assertEqual(d.read(2, 64, 8192), (0, PATTERN))
        self.result()
        again = self.folder / "again.img"
        self.serve("--set", f"precondition.from={again}", *device)
        d = self.drive()
        self.assertEqual(d.read(2, 64, 8192), (0, PATTERN), "the marks have gone")
        self.assertEqual(self.log(d, 0x02, 512)[112], 3)
        self.result()
        run = subprocess.run([support.BINARY, "run", "tiny-test", "-q", "-o", str(self.folder / "run"), *device, "--set", f"precondition.from={again}",
                              "--set", "run.data=bytes", "--set", "run.integrity=false", "--ioengine=libaio", "--rw=read", "--bs=4k", "--number_ios=1"],
                             capture_output=True, text=True)
        self.assertEqual(run.returncode, support.USER_ERROR, run.stderr)
        self.assertIn("namespaces", run.stderr)

    def test_the_service_ends_in_order_during_work_in_the_background(self):
        def self_test(d):
            self.assertEqual(d.command(0, 0x14, nsid=1, dw10=2), 0)

        def sanitize(d):
            self.assertEqual(d.command(0, 0x84, dw10=3 | 1 << 4, dw11=0x55), 0)

        def format_nvm(d):
            d.submit(0, 0x80, nsid=1, dw10=0)

        for work in (self_test, sanitize, format_nvm):
            for how, pace in ((signal.SIGTERM, "free"), (signal.SIGINT, "free"), (None, "free"), (None, "wall")):
                with self.subTest(work=work.__name__, how=how, pace=pace):
                    self.serve("--save-drive", "drive.img", *(["--stop-after-disconnect"] if how is None else []),
                               pace=pace)
                    d = self.drive()
                    for lba in range(0, 1024, 16):
                        self.assertEqual(d.write(1, lba, PATTERN), 0)
                    work(d)
                    d.client.close()
                    self.assertEqual(self.result(how)["ended_by"], "workload")
                    image = self.folder / "drive.img"
                    self.serve("--set", f"precondition.from={image}")
                    d = self.drive()
                    status, data = d.read(1, 16, 8192)
                    if work is sanitize:
                        self.assertEqual(status, 0x1D, "Sanitize In Progress, it goes on")
                    else:
                        self.assertEqual(status, 0)
                        self.assertIn(data, (PATTERN, bytes(8192)) if work is format_nvm else (PATTERN,))
                    if work is self_test:
                        log = self.log(d, 0x06, 564)
                        self.assertEqual((log[0] & 0xF, log[4] & 0xF), (0, 2), "aborted by a reset")
                    self.result()

    def test_memory_that_only_the_client_reaches(self):
        self.serve()
        d = self.drive()
        d.client.map(vfio.ELSEWHERE, 0x10000)
        for i, b in enumerate(PATTERN):
            d.client.elsewhere[vfio.ELSEWHERE + i] = b
        buffers = dict(prp1=vfio.ELSEWHERE, prp2=vfio.ELSEWHERE + 4096)

        def command(opcode):
            d.submit(1, opcode, nsid=1, dw10=8, dw12=15, **buffers)
            d.client.read32(0x1C)  # whoever waits for an answer serves the server
            while not self.completed(d):
                d.client.read32(0x1C)
            return d.wait(1)[1]

        self.assertEqual(command(0x01), 0)
        d.client.elsewhere.clear()
        self.assertEqual(command(0x02), 0)
        self.assertEqual(bytes(d.client.elsewhere[vfio.ELSEWHERE + i] for i in range(8192)), PATTERN)
        self.assertGreater(self.result()["counters_whole_run"]["guest_dma_by_message"], 0)

    @staticmethod
    def completed(d):
        at = 0x3000 + 16 * d.rings[1][1]
        return struct.unpack("<H", d.ram[at + 14:at + 16])[0] & 1 == d.rings[1][2]

    def test_a_loss_of_power(self):
        self.serve("--set", "host.power_off_time=20ms")
        d = self.drive()
        self.assertEqual(d.write(1, 32, PATTERN), 0)
        self.assertEqual(d.command(1, 0x00, nsid=1), 0, "flush")
        self.power_cut(d)
        self.assertEqual(d.client.read32(0x14), 0, "CC as at power-on")
        d.start_again()
        self.assertEqual(d.read(1, 32, 8192), (0, PATTERN))
        self.assertEqual(len(self.result()["power_cuts"]), 1)

    def test_a_client_that_misbehaves_is_refused_or_dropped(self):
        self.serve()
        c = self.client()
        for offset, count, region in ((0x4000, 4, BAR0), (0, 0, BAR0), (0, 4, 3), (4096, 1, CONFIG)):
            with self.assertRaises(Refused):
                c.read(offset, count, region)
        with self.assertRaises(Refused):
            c.map(RAM, 4095)
        c.map(RAM, 4096)
        with self.assertRaisesRegex(Refused, "exists"):
            c.map(RAM, 8192)
        c.close()
        d = self.drive()
        # Rings and data where nothing is mapped: the controller says so, and goes on.
        self.assertEqual(d.command(1, 0x01, nsid=1, prp1=0x40000000, dw12=7) & 0x7F, 4, "data transfer error")
        c = d.client
        c.write32(0x14, 0x460000)
        d.wait_status(1, 0)
        c.write(0x28, struct.pack("<Q", 0x7000000))
        c.write32(0x14, 0x460001)
        d.wait_status(1, 1)
        c.write32(0x1000, 1)
        d.wait_status(2, 2)  # CSTS.CFS
        c.socket.sendall(b"\xff" * 64)
        with self.assertRaises(OSError):
            c.read32(0)
        d = self.drive()
        self.assertEqual(d.read(1, 0, 512)[0], 0)
        self.assertGreaterEqual(self.result()["counters_whole_run"]["guest_messages_refused"], 6)

    def test_noise_on_the_socket(self):
        self.serve()
        rng = random.Random(2)
        for _ in range(40):
            s = socket.socket(socket.AF_UNIX)
            self.addCleanup(s.close)
            s.connect(self.path)  # waits its turn
            s.settimeout(20)
            try:
                if rng.random() < 0.7:
                    s.sendall(struct.pack("<HHIIIHH", 1, 1, 20, 0, 0, 0, 0))
                for _ in range(rng.randrange(30)):
                    data = rng.randbytes(rng.randrange(64))
                    size = 16 + len(data) if rng.random() < 0.9 else rng.randrange(1 << 32)
                    s.sendall(struct.pack("<HHIII", 1, rng.randrange(20), size, rng.choice((0, 16, 1)), 0) + data)
            except OSError:
                pass  # it has hung up
            s.close()
        self.assertEqual(self.drive().write(1, 0, PATTERN), 0)
        self.result()


class Fuzz(Served):
    """Messages of any content to the whole server: registers, rings with any commands in them, memory that comes and goes,
    interrupts, resets and noise. SSDTLM_SERVE_MESSAGES says how many; run once with 100,000 under AddressSanitizer."""
    MESSAGES = int(os.environ.get("SSDTLM_SERVE_MESSAGES", 2000))
    REGISTERS = (0x0C, 0x10, 0x14, 0x20, 0x24, 0x28, 0x2C, 0x30, 0x34, 0x1000, 0x1004, 0x1008, 0x100C, 0x1010, 0x1014)

    def connected(self):
        drive = self.drive()
        drive.client.socket.settimeout(30)
        return drive

    def value(self, rng):
        return rng.choice((rng.randrange(16), rng.getrandbits(32), RAM + rng.randrange(0, 1 << 20, 4096), 0x460001, 0, 7 << 16 | 7))

    def entries(self, rng, drive):
        """Commands of any kind, with some sense in their fields, or none."""
        for _ in range(8):
            words = [rng.choice((0, 1, 2, 4, 5, 6, 8, 9, 0xC, 0x19, 0x80, 0x84, rng.getrandbits(8))) | rng.getrandbits(16) << 16, rng.choice((0, 1, 2, 0xFFFFFFFF))]
            words += [self.value(rng) if rng.random() < 0.7 else rng.getrandbits(32) for _ in range(14)]
            struct.pack_into("<16I", drive.ram, rng.randrange(0, 0x20000, 64), *words)

    def message(self, rng, drive):
        """(command, payload, file descriptors)"""
        kind = rng.random()
        if kind < 0.45:
            return vfio.REGION_WRITE, struct.pack("<QIII", rng.choice(self.REGISTERS), BAR0, 4, self.value(rng)), []
        if kind < 0.6:
            count = rng.choice((1, 2, 4, 8, 64, rng.randrange(1 << 16)))
            return vfio.REGION_READ, struct.pack("<QII", rng.choice((rng.randrange(0x4000), rng.getrandbits(64))), rng.choice((BAR0, CONFIG, rng.randrange(12))), count), []
        if kind < 0.7:
            data = rng.randbytes(rng.choice((1, 2, 4, 100)))
            return vfio.REGION_WRITE, struct.pack("<QII", rng.randrange(0x120), CONFIG, len(data)) + data, []
        if kind < 0.8:
            size = rng.choice((4096, 1 << 20, rng.getrandbits(40)))
            fds = [drive.file] if rng.random() < 0.7 else []
            return vfio.DMA_MAP, struct.pack("<IIQQQ", 32, rng.randrange(4), rng.choice((0, 4096, rng.getrandbits(30))), self.value(rng) & ~0xFFF, size), fds
        if kind < 0.85:
            return vfio.DMA_UNMAP, struct.pack("<IIQQ", 24, rng.randrange(2), self.value(rng) & ~0xFFF, rng.choice((4096, 1 << 20))), []
        if kind < 0.9:
            fds = rng.sample(drive.events, rng.randrange(4))
            return vfio.SET_IRQS, struct.pack("<IIIII", 20, rng.choice((4 | 32, 1 | 32, rng.getrandbits(6))), rng.choice((MSIX, 0, 1)), rng.randrange(3), len(fds)), fds
        if kind < 0.92:
            return vfio.RESET, b"", []
        return rng.randrange(20), rng.randbytes(rng.randrange(64)), []

    def drain(self, client):
        """Takes what has come; a read or write of our memory by message is refused."""
        while select.select([client.socket], [], [], 0)[0]:
            asked, what, size, flags, _ = struct.unpack("<HHIII", client.receive(16))
            client.receive(size - 16)
            if flags & 0xF == 0:
                client.socket.sendall(struct.pack("<HHIII", asked, what, 16, vfio.REPLY | vfio.ERROR, 14))

    def test_any_messages(self):
        self.any_messages(3)
        self.assertEqual(self.drive().write(1, 0, PATTERN), 0)
        self.result()

    def test_any_messages_to_a_drive_with_metadata(self):
        self.any_messages(4, "--set", "nvme.metadata=true")
        self.drive().write(1, 0, PATTERN)  # of any format by now
        self.result()

    def any_messages(self, seed, *options):
        self.serve(*options)
        rng = random.Random(seed)
        drive, clients = self.connected(), 1
        for n in range(self.MESSAGES):
            if n % 8 == 0:
                self.entries(rng, drive)
            command, payload, fds = self.message(rng, drive)
            rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
            try:
                drive.client.socket.sendmsg([struct.pack("<HHIII", n & 0xFFFF, command, 16 + len(payload), rng.choice((0, vfio.NO_REPLY)), 0) + payload], rights)
                self.drain(drive.client)
                if n % 500 == 499:
                    raise ConnectionError("the next one")
            except OSError:
                self.assertIsNone(self.server.poll(), f"message {n} of kind {command} has ended the server")
                drive.client.close()
                drive.close()
                drive, clients = self.connected(), clients + 1
        drive.client.close()
        self.clients = clients

    def result(self, how=signal.SIGTERM):
        result = super().result(how)
        counters = result["counters_whole_run"]
        self.assertGreater(counters["guest_messages_refused"], self.MESSAGES // 20)
        self.assertGreater(counters["guest_admin_commands"] + counters["guest_other_commands"], self.clients)
        return result


class Results(Served):
    def test_a_run_of_a_guest_has_what_any_run_has(self):
        self.serve("--stop-after-disconnect", "--timeline", "--wave")
        d = self.drive()
        for i in range(10):
            self.assertEqual(d.write(1, 16 * i, PATTERN), 0)
            self.assertEqual(d.read(2, 16 * i, 8192), (0, PATTERN))
        d.client.close()
        result = self.result(None)
        self.assertEqual(result["read"]["ios"], 10)
        self.assertEqual(result["write"]["ios"], 10)
        self.assertEqual(result["write"]["bytes"], 10 * len(PATTERN))
        for name in ("latency.csv", "timeseries.csv", "slowest.json", "trace.json", "wave.vcd"):
            self.assertTrue((self.results / name).exists(), name)

    def test_paced_time_and_the_guests_clock(self):
        clock = pathlib.Path(tempfile.mkdtemp()) / "clock"
        self.addCleanup(lambda: (clock.unlink(missing_ok=True), clock.parent.rmdir()))
        self.serve("--rate", "0.5", "--clock", str(clock), pace="wall")
        seq, base, wall0, rate, version = struct.unpack("<QqqdQ", clock.read_bytes()[:40])
        self.assertEqual((seq % 2, rate, version, clock.stat().st_size), (0, 0.0, 2, 4096))
        d = self.drive()
        begin = time.monotonic()
        before = self.now(clock)
        time.sleep(0.2)
        passed = self.now(clock) - before
        self.assertGreater(passed, 0)
        self.assertLess(passed, (time.monotonic() - begin) * 1e9 * 0.6)
        self.assertEqual(d.write(1, 0, PATTERN), 0)
        notes = " ".join(self.result()["notes"])
        self.assertRegex(notes, "behind its clock by .* ms at most")

    @staticmethod
    def now(clock):
        while True:
            page = struct.unpack("<QqqdQ", clock.read_bytes()[:40])
            if page[0] % 2 == 0:
                return page[1] + (time.clock_gettime_ns(time.CLOCK_MONOTONIC) - page[2]) * page[3]


class Refusals(unittest.TestCase):
    def refused(self, *arguments):
        done = subprocess.run([support.BINARY, "serve", "tiny-test", *arguments], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, support.USER_ERROR, done.stderr)
        return done.stderr

    def test_what_a_guest_cannot_have(self):
        with tempfile.TemporaryDirectory() as folder:
            at = ["--socket", folder + "/s", "-o", folder + "/r"]
            said = self.refused(*at, "--set", "run.data=signatures", "--set", "run.integrity=true", "--set",
                                "host.reset_at=[\"1ms\"]")
            for key in ("run.data", "run.integrity", "host.reset_at"):
                self.assertIn(key, said)
            self.assertIn("--socket", self.refused("--socket", folder + "/none/s", "-o", folder + "/r"))
            self.assertIn("--clock", self.refused(*at, "--pace", "free", "--clock", folder + "/c"))


if __name__ == "__main__":
    unittest.main()
