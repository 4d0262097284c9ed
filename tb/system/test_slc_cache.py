# SPDX-License-Identifier: Apache-2.0
"""The SLC cache of a real drive over time: a sequential fill falls at the cache's size to the direct rate, and a pause brings the cache back."""
import csv
import json

from support import OK, SystemTest

CACHE = 25 * (1152 // 3) * 16384 * 32  # blocks, pages of each in SLC mode, bytes of a page, planes
IN_CACHE, PAST_IT = 2700e6, 912e6      # published: bytes per second


class SlcCache(SystemTest):
    def run_job(self, *lines):
        self.write("fill.fio", "[global]\nioengine=libaio\niodepth=32\nbs=128k\nrw=write\n" + "\n".join(lines) + "\n")
        done = self.ssdtlm("run", "wd-sn730-512g", "-w", "fill.fio", "-o", "out", "--set", "run.timeseries_interval=10ms")
        self.assertEqual((done.returncode, done.stderr), (OK, ""))
        with (self.dir / "out" / "timeseries.csv").open() as file:
            rows = list(csv.DictReader(file))
        series = [(float(r["start_ms"]) / 1e3, float(r["interval_ms"]) / 1e3, int(r["write_bytes"])) for r in rows]
        self.free_blocks = [(float(r["start_ms"]) / 1e3, int(r["slc_free_blocks"])) for r in rows]
        return series, json.loads((self.dir / "out" / "result.json").read_text())

    def phase(self, series, begin, end):
        """Of the writes between two times: bytes written fast, and the rates before and behind the fall, its neighbourhood left out."""
        rows = [(seconds, written) for start, seconds, written in series if begin <= start < end]
        falls = 1 + max(i for i, (seconds, written) in enumerate(rows) if written / seconds > (IN_CACHE + PAST_IT) / 2)
        fast = sum(written for _, written in rows[:falls])
        rate = lambda part: sum(w for _, w in part) / sum(s for s, _ in part)
        return fast, rate(rows[5:falls - 5]), rate(rows[falls + 5:-5])

    def test_a_fill_falls_at_the_size_of_the_cache_and_a_pause_brings_it_back(self):
        series, result = self.run_job("[fill]", "size=10g", "[again]", "stonewall", "startdelay=20", "offset=10g", "size=10g")
        for name, begin, end in (("fresh", 0, 8), ("after 12 s of pause", 20, 27)):
            fast, before, behind = self.phase(series, begin, end)
            print(f"{name}: {fast / 1e9:.3f} GB at {before / 1e6:.1f} MB/s, then {behind / 1e6:.1f} MB/s; cache {CACHE / 1e9:.3f} GB, "
                  f"published {IN_CACHE / 1e6:.0f} and {PAST_IT / 1e6:.0f} MB/s")
            # What is in the buffer's 64 MiB is not in the cache yet, or past it.
            self.assertAlmostEqual(fast / CACHE, 1, delta=0.03)
            self.assertAlmostEqual(before / IN_CACHE, 1, delta=0.01)
            self.assertAlmostEqual(behind / PAST_IT, 1, delta=0.015)
            free = [blocks for start, blocks in self.free_blocks if begin <= start < end]
            self.assertEqual((max(free), min(free)), ((25 - 1) * 32, 0), "one of each die is opened at once")
        ftl = result["ftl"]
        self.assertEqual(ftl["slc_pages"], 2 * CACHE // 16384)
        self.assertEqual(ftl["slc_blocks_folded"], 25 * 32)
        self.assertEqual(ftl["slc_units_folded"], CACHE // 4096)

    def test_half_a_pause_brings_half_of_it_back(self):
        series, result = self.run_job("[fill]", "size=10g", "[again]", "stonewall", "startdelay=11", "offset=10g", "size=6g")
        pause = 11 - max(start + seconds for start, seconds, written in series if written and start < 11)
        folded = result["ftl"]["slc_units_folded"] * 4096
        fast, _, _ = self.phase(series, 11, 60)
        print(f"{pause:.2f} s of pause: {folded / 1e9:.3f} GB folded, {fast / 1e9:.3f} GB written fast")
        # Folding programs each page as a direct write does, and reads it before.
        self.assertLess(folded, pause * PAST_IT)
        self.assertGreater(folded, 0.7 * pause * PAST_IT)
        self.assertAlmostEqual(fast / folded, 1, delta=0.1)

    def test_a_start_finds_which_blocks_of_a_dynamic_one_are_in_slc_mode(self):
        self.write("job.fio", "[w]\nioengine=libaio\niodepth=8\nbs=4k\nrw=randwrite\nsize=4m\ntime_based=1\nruntime=500ms\n")
        reads = {}
        for name, more in (("all pages", ()), ("checkpoint", ("--set", "ftl.checkpoint_interval=64KiB"))):
            done = self.ssdtlm("run", "tiny-test", "-w", "job.fio", "-o", "out", "--set", "precondition.state=fresh", "--set", "nand.bits_per_cell=3", "--set", "slc.dynamic_blocks=8",
                               "--set", 'host.power_cut_at=["300ms"]', "--set", "host.power_off_time=1ms", *more)
            self.assertEqual((done.returncode, done.stderr), (OK, ""))
            result = json.loads((self.dir / "out" / "result.json").read_text())
            cut, ftl = result["power_cuts"][0], result["ftl"]
            print(f"{name}: {cut['scan_page_reads']} pages read in {cut['scan_s'] * 1e3:.1f} ms; {ftl['slc_pages']} of {ftl['host_pages']} pages in the cache")
            self.assertEqual(cut["map_from"], name.replace(" ", "_"))
            self.assertGreater(ftl["slc_pages"], 0)
            reads[name] = cut["scan_page_reads"]
        self.assertLess(reads["checkpoint"], reads["all pages"])

    def test_pages_that_the_power_took_are_none_of_the_cache(self):
        self.write("job.fio", "[w]\nioengine=libaio\niodepth=8\nbs=4k\nrw=randwrite\nsize=4m\ntime_based=1\nruntime=30ms\n")
        done = self.ssdtlm("run", "tiny-test", "-w", "job.fio", "-o", "out", "--set", "nand.bits_per_cell=3", "--set", "slc.dynamic_blocks=8",
                           "--set", 'host.power_cut_at=["3ms", "12ms"]', "--set", "host.power_off_time=1ms")
        self.assertEqual((done.returncode, done.stderr), (OK, ""))
        result = json.loads((self.dir / "out" / "result.json").read_text())
        self.assertGreater(sum(cut["pages_torn"] for cut in result["power_cuts"]), 0)
        self.assertGreater(result["ftl"]["slc_pages"], 0)
        self.assertEqual(result["ftl"]["slc_pages"], result["ftl"]["host_pages"], "all go to the cache")
