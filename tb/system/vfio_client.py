# SPDX-License-Identifier: Apache-2.0
"""A vfio-user client and an NVMe driver of the smallest kind, in the standard library: its memory is a memfd, its
interrupts are eventfds. `Client` speaks the protocol, `Drive` the registers and rings."""
import array
import json
import mmap
import os
import select
import socket
import struct

VERSION, DMA_MAP, DMA_UNMAP, GET_INFO, REGION_INFO, IRQ_INFO, SET_IRQS = 1, 2, 3, 4, 5, 7, 8
REGION_READ, REGION_WRITE, DMA_READ, DMA_WRITE, RESET = 9, 10, 11, 12, 13
NO_REPLY, ERROR, REPLY = 0x10, 0x20, 1
BAR0, CONFIG, MSIX = 0, 7, 2
RAM, RAM_BYTES, ELSEWHERE = 0x100000, 1 << 20, 0x8000000


class Refused(Exception):
    """The server has answered with an errno."""


class Client:
    def __init__(self, path, timeout=20):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)  # with a timeout it would not wait for a place in the queue of clients
        self.socket.settimeout(timeout)
        self.id = 0
        self.elsewhere = {}  # bytes by address of memory that the server reaches by messages only
        said = json.dumps({"capabilities": {"max_msg_fds": 8, "max_data_xfer_size": 1 << 20}})
        answer = self.call(VERSION, struct.pack("<HH", 0, 0) + said.encode() + b"\0")
        self.capabilities = json.loads(answer[4:-1])["capabilities"]

    def close(self):
        self.socket.close()

    def receive(self, n):
        data = b""
        while len(data) < n:
            piece = self.socket.recv(n - len(data))
            if not piece:
                raise ConnectionError("the server has hung up")
            data += piece
        return data

    def call(self, command, payload=b"", fds=(), reply=True):
        self.id = (self.id + 1) & 0xFFFF
        message = struct.pack("<HHIII", self.id, command, 16 + len(payload), 0 if reply else NO_REPLY, 0) + payload
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
        self.socket.sendmsg([message], rights)
        while reply:
            asked, what, size, flags, error = struct.unpack("<HHIII", self.receive(16))
            data = self.receive(size - 16)
            if flags & 0xF == 0:  # the server's own: it reads or writes memory that it cannot map
                self.dma(asked, what, data)
                continue
            assert asked == self.id and what == command, (asked, self.id, what, command)
            if flags & ERROR:
                raise Refused(os.strerror(error))
            return data

    def dma(self, asked, what, data):
        address, count = struct.unpack_from("<QQ", data)
        if what == DMA_WRITE:
            for i in range(count):
                self.elsewhere[address + i] = data[16 + i]
            data = data[:16]
        else:
            data += bytes(self.elsewhere.get(address + i, 0) for i in range(count))
        self.socket.sendall(struct.pack("<HHIII", asked, what, 16 + len(data), REPLY, 0) + data)

    def read(self, offset, count, region=BAR0):
        return self.call(REGION_READ, struct.pack("<QII", offset, region, count))[16:]

    def write(self, offset, data, region=BAR0, reply=True):
        self.call(REGION_WRITE, struct.pack("<QII", offset, region, len(data)) + data, reply=reply)

    def read32(self, offset):
        return struct.unpack("<I", self.read(offset, 4))[0]

    def write32(self, offset, value):
        self.write(offset, struct.pack("<I", value), reply=False)

    def map(self, address, size, fd=None):
        self.call(DMA_MAP, struct.pack("<IIQQQ", 32, 3, 0, address, size), [fd] if fd is not None else [])

    def vectors(self, fds):
        self.call(SET_IRQS, struct.pack("<IIIII", 20, 4 | 32, MSIX, 0, len(fds)), fds)


class Drive:
    """Rings of 8 entries in the first pages of the memory, data behind 0x80000; queue q > 0 has vector q."""

    def __init__(self, client, sealed=True):
        self.client = client
        fd = os.memfd_create("ram", os.MFD_ALLOW_SEALING if sealed else 0)
        os.ftruncate(fd, RAM_BYTES)
        self.ram = mmap.mmap(fd, RAM_BYTES)
        client.map(RAM, RAM_BYTES, fd)
        self.file = fd
        self.events = [os.eventfd(0, os.EFD_NONBLOCK) for _ in range(3)]
        client.vectors(self.events)
        client.write(4, struct.pack("<H", 6), CONFIG)  # memory, bus master
        self.cid = 0
        self.shadows, self.not_written = None, 0  # place of doorbells in memory; register writes that it has saved

    def close(self):
        self.ram.close()
        for fd in (self.file, *self.events):
            os.close(fd)

    def wait_status(self, mask, value):
        while (status := self.client.read32(0x1C)) & mask != value:
            assert status != 0xFFFFFFFF, "the drive has gone"

    def enable(self):
        self.rings, self.shadows = {}, None
        self.interrupts = [0] * 3  # that have come for completions that nobody has taken
        c = self.client
        self.ram[0:0x20000] = bytes(0x20000)
        c.write32(0x24, 7 << 16 | 7)
        c.write(0x28, struct.pack("<Q", RAM))
        c.write(0x30, struct.pack("<Q", RAM + 0x1000))
        c.write32(0x14, 0x460001)
        self.wait_status(1, 1)
        self.rings[0] = [0, 0, 1]  # tail, head, phase

    def start_again(self):
        """After a reset or a loss of power: one queue, and interrupts from before are forgotten."""
        for event in self.events:
            try:
                os.eventfd_read(event)
            except BlockingIOError:
                pass
        self.enable()
        self.create(1)

    def create(self, q):
        base = RAM + 0x2000 * q
        assert self.command(0, 0x05, prp1=base + 0x1000, dw10=7 << 16 | q, dw11=q << 16 | 3) == 0
        assert self.command(0, 0x01, prp1=base, dw10=7 << 16 | q, dw11=q << 16 | 1) == 0
        self.rings[q] = [0, 0, 1]

    def shadow(self, at=0x70000):
        """Doorbell Buffer Config: doorbells at this place of the memory, event indices in the next page."""
        self.ram[at:at + 8192] = bytes(8192)
        for q, (tail, head, _) in self.rings.items():
            self.ram[at + 8 * q:at + 8 * q + 8] = struct.pack("<II", tail, head)
        assert self.command(0, 0x7C, prp1=RAM + at, prp2=RAM + at + 4096) == 0
        self.shadows = at

    def ring(self, q, head, value):
        """Writes a doorbell, as Linux does (drivers/nvme/host/pci.c, nvme_dbbuf_update_and_check_event)."""
        offset = 8 * q + 4 * head
        if q != 0 and self.shadows is not None:
            at = self.shadows + offset
            old = struct.unpack("<I", self.ram[at:at + 4])[0]
            self.ram[at:at + 4] = struct.pack("<I", value)
            event = struct.unpack("<I", self.ram[at + 4096:at + 4100])[0]
            if (value - event - 1) & 0xFFFF >= (value - old) & 0xFFFF:
                self.not_written += 1
                return
        self.client.write32(0x1000 + offset, value)

    def submit(self, q, opcode, nsid=0, prp1=0, prp2=0, dw10=0, dw11=0, dw12=0, mptr=0, dw14=0, dw15=0):
        tail = self.rings[q][0]
        self.cid = (self.cid + 1) & 0xFFFF
        at = 0x2000 * q + 64 * tail
        self.ram[at:at + 64] = struct.pack("<IIQQQQIIIIII", opcode | self.cid << 16, nsid, 0, mptr, prp1, prp2,
                                           dw10, dw11, dw12, 0, dw14, dw15)
        self.rings[q][0] = (tail + 1) % 8
        self.ring(q, 0, self.rings[q][0])
        return self.cid

    def wait(self, q, seconds=20):
        """(CID, status) of the next completion; its interrupt has come. Each completion has one."""
        while self.interrupts[q] == 0:
            ready, _, _ = select.select([self.events[q]], [], [], seconds)
            assert ready, f"no interrupt of queue {q}"
            self.interrupts[q] += os.eventfd_read(self.events[q])
        self.interrupts[q] -= 1
        _, head, phase = self.rings[q]
        at = 0x2000 * q + 0x1000 + 16 * head
        _, _, _, sqid, cid, status = struct.unpack("<IIHHHH", self.ram[at:at + 16])
        assert status & 1 == phase and sqid == q, (status, phase, sqid)
        head = (head + 1) % 8
        self.rings[q][1:] = [head, phase ^ (head == 0)]
        self.ring(q, 1, head)
        return cid, status >> 1 & 0x7FF

    def command(self, q, opcode, **fields):
        cid = self.submit(q, opcode, **fields)
        ended, status = self.wait(q)
        assert ended == cid, (ended, cid)
        return status

    def write(self, q, lba, data, at=0x80000):
        self.ram[at:at + len(data)] = data
        return self.command(q, 0x01, nsid=1, prp1=RAM + at, prp2=RAM + at + 4096, dw10=lba, dw12=len(data) // 512 - 1)

    def read(self, q, lba, size, at=0xC0000):
        self.ram[at:at + size] = bytes(size)
        status = self.command(q, 0x02, nsid=1, prp1=RAM + at, prp2=RAM + at + 4096, dw10=lba, dw12=size // 512 - 1)
        return status, self.ram[at:at + size]
