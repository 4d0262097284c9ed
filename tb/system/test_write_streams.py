# SPDX-License-Identifier: Apache-2.0
"""Two jobs of different temperature: where their streams have superblocks of their own, fewer units are moved."""
import json

from support import OK, SystemTest

JOB = """[global]
ioengine=libaio
rw=randwrite
bs=4k
norandommap
io_size=1t

[hot]
write_hint=short
size=5%
iodepth=57
number_ios=342k

[cold]
write_hint=extreme
offset=5%
size=95%
iodepth=7
number_ios=38k
"""
DEVICE = ("nand.geometry.blocks_per_plane=64", "nand.geometry.pages_per_block=64", "ftl.user_capacity=184MiB", "ftl.superblock=die", "gc.frontier=own", "gc.soft_used=0%",
          "gc.soft_free_blocks=4", "gc.hard_used=0%", "gc.least_invalid=0%", "buffer.size=4MiB", "buffer.merge_writes=true", "buffer.flush_depth_per_die=4",
          "scheduler.policy=read_first", "nvme.streams=4", "host.streams=true")


class WriteStreams(SystemTest):
    def wafs(self, frontiers, *more):
        self.write("job.fio", JOB)
        settings = [word for s in (*DEVICE, f"ftl.stream_frontiers={frontiers}", *more) for word in ("--set", s)]
        done = self.ssdtlm("run", "femu-4g", "-w", "job.fio", "-o", "out", *settings)
        self.assertEqual((done.returncode, done.stderr), (OK, ""))
        result = json.loads((self.dir / "out" / "result.json").read_text())
        self.assertEqual([r["stream"] for r in result["latency_us_by_stream"]], [1, 4])
        return result["ftl"]["waf"]

    def test_streams_apart_move_less(self):
        together, one, apart = (self.wafs(frontiers) for frontiers in (0, 1, 4))
        found = self.wafs(1, "ftl.streams_by=multi_hash")
        print(f"WAF {together:.3f} together, {one:.3f} with superblocks for the hot stream, {apart:.3f} for both; {found:.3f} where the firmware finds what is hot")
        self.assertLess(apart, 0.9 * together)
        # Two streams and nothing else: it does not matter whether the second has a name.
        self.assertAlmostEqual(one / apart, 1, delta=0.03)
        # It knows nothing at first, and takes some for hot that are not.
        self.assertLess(found, 0.93 * together)
        self.assertGreater(found, 0.97 * one)
