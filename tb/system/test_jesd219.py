# SPDX-License-Identifier: Apache-2.0
"""Writes of less than a mapping unit: what a full drive reads for them is what the trace asks for, no more and no less."""
import random
import unittest

from support import JOBS, SystemTest

BLOCK = 512
# Of JESD219's enterprise workload, as in configs/workload/jesd219-enterprise.fio: bytes and share; end of a zone and share of the accesses.
SIZES = {512: 4, 1024: 1, 1536: 1, 2048: 1, 2560: 1, 3072: 1, 3584: 1, 4096: 67, 8192: 10, 16384: 7, 32768: 3, 65536: 3}
ZONES = ((0, 0.05, 50), (0.05, 0.2, 30), (0.2, 1, 20))
CAPACITY = 128 << 20
DRIVE = ("nand.geometry.channels=2", "nand.geometry.ways=1", "nand.geometry.dies_per_chip=1", "nand.geometry.blocks_per_plane=80",
         "nand.geometry.pages_per_block=64", "nand.geometry.page_size=16KiB", f"ftl.user_capacity={CAPACITY}B", "nvme.lba_size=512B",
         "buffer.mode=write_through", "precondition.state=sequential")


def accesses(count, seed):
    """(is a write, offset, bytes), 40 % reads."""
    draw = random.Random(seed)
    for _ in range(count):
        size = draw.choices(list(SIZES), SIZES.values())[0]
        begin, end, _ = draw.choices(ZONES, [share for *_, share in ZONES])[0]
        offset = draw.randrange(int(begin * CAPACITY), int(end * CAPACITY)) // 4096 * 4096
        yield draw.random() >= 0.4, min(offset, CAPACITY - size), size


def units(offset, size, unit):
    """Units that are touched, and how many of them not whole."""
    touched = range(offset // unit, (offset + size - 1) // unit + 1)
    return len(touched), sum(u * unit < offset or (u + 1) * unit > offset + size for u in touched)


class Jesd219(SystemTest):
    def replay(self, trace, unit):
        # Far enough apart for each to find the drive idle: what is written at once is not merged in the buffer.
        self.write("trace.csv", "".join(f"{i * 20000},{'WRITE' if write else 'READ'},{offset},{size}\n" for i, (write, offset, size) in enumerate(trace)))
        drive = (f"nand.geometry.unit_size={unit}B", *DRIVE)
        sets = [part for setting in drive for part in ("--set", setting)]
        return self.simulate("mqsim-table3", "trace.csv", "--trace-format", "columns", "--trace-columns", "time:us,op:READ/WRITE,offset:1,size:1", *sets).json()

    def test_reads_before_writes_are_those_of_the_trace(self):
        trace = list(accesses(40000, 219))
        for unit in (4096, 16384):
            with self.subTest(unit=unit):
                written = [units(offset, size, unit) for write, offset, size in trace if write]
                touched, partial = (sum(column) for column in zip(*written))
                read = sum(units(offset, size, unit)[0] for write, offset, size in trace if not write)
                result = self.replay(trace, unit)
                counters, ftl = result["counters_whole_run"], result["ftl"]
                host = sum(size for write, _, size in trace if write)
                print(f"units of {unit >> 10} KiB: {len(written)} writes of {host / 1e6:.1f} MB, {touched} units of which {partial} are read before "
                      f"({partial * unit / 1e6:.1f} MB); model {ftl['host_units']} and {counters['partial_unit_merge_reads']}, WAF {ftl['waf']:.3f}")
                self.assertEqual(counters["buffer_units_coalesced"], 0)
                self.assertEqual(ftl["host_units"], touched)
                self.assertEqual(counters["partial_unit_merge_reads"], partial)
                if unit == 16384:  # a page each
                    self.assertEqual(counters["flash_rmw_page_reads"], partial)
                    self.assertEqual(counters["flash_host_page_reads"], read)
                self.assertGreater(ftl["gc_units_moved"], 100)

    def test_the_workload_is_the_one_that_comes_with_the_program(self):
        text = (JOBS / "jesd219-enterprise.fio").read_text()
        self.assertIn("bssplit=" + ":".join(f"{'%dk' % (s // 1024) if s >= 4096 else s}/{share}" for s, share in SIZES.items()), text)
        self.assertIn("zoned:50/5:30/15:20/80", text)
        self.assertIn("rwmixread=40", text)


if __name__ == "__main__":
    unittest.main()
