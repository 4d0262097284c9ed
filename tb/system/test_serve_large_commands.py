# SPDX-License-Identifier: Apache-2.0
"""Commands that name more blocks than `nvme.max_transfer`, on a served drive whose map on the flash has the least room that is accepted."""
import struct

from served import Served
from vfio_client import RAM


class LeastMap(Served):
    OPTIONS = ("--set", "ftl.mapping=dftl", "--set", "nvme.max_transfer=8KiB", "--set", "map.entry_size=1KiB", "--set", "map.cache=6KiB", "--set", "ftl.user_capacity=8MiB", "--set", "precondition.state=sequential")
    LIST, BLOCKS = RAM + 0x80000, 1000  # of 512 bytes

    def copy(self, d, source, blocks, target):
        d.ram[0x80000:0x80020] = struct.pack("<QQHHIIHH", 0, source, blocks - 1, 0, 0, 0, 0, 0)
        return d.command(1, 0x19, nsid=1, prp1=self.LIST, dw10=target, dw12=0)

    def test_each_of_them_ends(self):
        self.serve(*self.OPTIONS)
        d = self.drive()
        self.assertEqual(d.command(1, 0x0C, nsid=1, dw10=3, dw12=self.BLOCKS - 1), 0, "Verify")
        self.assertEqual(d.command(1, 0x08, nsid=1, dw10=4096, dw12=1023), 0, "Write Zeroes")
        d.ram[0x80000:0x80010] = struct.pack("<IIQ", 0, self.BLOCKS, 8192)
        self.assertEqual(d.command(1, 0x09, nsid=1, prp1=self.LIST, dw10=0, dw11=4), 0, "Deallocate")
        self.assertEqual(d.command(1, 0x04, nsid=1, dw10=12288, dw12=self.BLOCKS - 1), 0, "Write Uncorrectable")
        self.assertEqual(d.command(1, 0x0C, nsid=1, dw10=12000, dw12=self.BLOCKS - 1), 0x281, "Verify of some of them")
        self.assertEqual(d.command(1, 0x05, nsid=1, prp1=self.LIST, dw10=0, dw12=self.BLOCKS - 1), 0x2, "Compare")
        self.assertEqual(d.command(0, 0x06, nsid=1, prp1=RAM + 0x40000), 0)
        longest, most, ranges = struct.unpack("<HIB", d.ram[0x4004A:0x40051])
        self.assertEqual((longest, most, ranges), (16, 256, 15), "MSSRL, MCL, MSRC")
        data = bytes(range(256)) * 32
        self.assertEqual(d.write(1, 5, data), 0)
        self.assertEqual(self.copy(d, 5, longest, 1003), 0)
        self.assertEqual(d.read(1, 1003, 8192), (0, data))
        self.assertEqual(self.copy(d, 5, 256, 1003), 0x183, "a range of 128 KiB")
        self.result()
