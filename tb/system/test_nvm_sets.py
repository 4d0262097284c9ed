# SPDX-License-Identifier: Apache-2.0
"""NVM Sets: what happens to the addresses of one leaves the dies of another alone."""
import json

from support import USER_ERROR, SystemTest

UNITS = 12 * 1024 * 1024 // 4096  # tiny-test, one die a channel
STAGES = ("die_wait_host_write", "die_wait_gc", "die_wait_erase")


class NvmSets(SystemTest):
    def waits(self, sets, output, *settings):
        """Microseconds that reads of the first half waited for writes, garbage collection and erases, all in the second half."""
        half = UNITS // 2 * 4096
        job = self.write("two.fio", f"[global]\nioengine=libaio\nbs=4k\nsize={half}\n[reader]\nrw=randread\nnumber_ios=2000\n"
                                    f"[writer]\nrw=randwrite\niodepth=16\nnumber_ios=10000\nnorandommap\nloops=10\noffset={half}\n")
        result = self.simulate("tiny-test", job, "--set", f"ftl.nvm_sets={sets}", *settings, output=output)
        j = self.assert_right(result)
        self.assertGreater(j["ftl"]["blocks_erased"], 100)
        return j, sum(float(row["mean_us"]) for row in result.rows("latency.csv") if row["op"] == "read" and row["stage"] in STAGES)

    def test_reads_of_a_set_wait_for_nothing_in_another(self):
        j, waits = self.waits("", "common")
        self.assertNotIn("nvm_sets", j["ftl"])
        self.assertGreater(waits, 100)
        j, waits = self.waits("C0, C1", "apart")
        self.assertEqual(waits, 0)
        self.assertEqual([{key: s[key] for key in ("set", "offset_bytes", "bytes")} for s in j["ftl"]["nvm_sets"]],
                         [{"set": "C0", "offset_bytes": 0, "bytes": UNITS // 2 * 4096}, {"set": "C1", "offset_bytes": UNITS // 2 * 4096, "bytes": UNITS // 2 * 4096}])

    def test_nor_do_reads_that_look_for_their_map_on_the_flash(self):
        on_flash = ("--set", "ftl.mapping=dftl", "--set", "map.cache=32KiB", "--set", "map.entry_size=64B")
        j, waits = self.waits("", "common", *on_flash)
        self.assertGreater(waits, 100)
        j, waits = self.waits("C0, C1", "apart", *on_flash)
        self.assertEqual(waits, 0)
        self.assertGreater(j["ftl"]["traffic"]["mapping_pages"], 500)

    def test_the_write_cache_is_still_shared(self):
        """MQSim, FAST '18, Fig. 6: flow 1 writes what the cache holds. As long as flow 2 does, too, both have their share; when it writes more than the
        cache holds, flow 1 waits for flow 2's programs, and only it is slower than alone."""
        def pair(depth, size):
            for name, d, part in (("one", 8, "256k"), ("two", depth, size)):
                self.write(f"{name}.fio", f"[{name}]\nioengine=libaio\nrw=randwrite\nbs=4k\niodepth={d}\nnorandommap\nsize={part}\ntime_based\nramp_time=20ms\nruntime=30ms\n")
            done = self.ssdtlm("run", "tiny-test", "-w", "one.fio", "-w", "two.fio", "--alone", "-q", "-o", f"out{depth}", "--set", "ftl.nvm_sets=C0, C1", "--set", "host.regions=set 1, set 2",
                               "--set", "host.tenants=by_job", "--set", "buffer.size=1MiB")
            self.assertEqual(done.returncode, 0, done.stderr)
            result = json.loads((self.dir / f"out{depth}" / "result.json").read_text())
            return [flow["over_alone"]["slowdown"] for flow in result["flows"]], result["interference"]["fairness"]

        (near, _), fair = pair(16, "256k")
        (far, other), unfair = pair(32, "100%")
        self.assertGreater(far, 4 * near)
        self.assertLess(other, 1.1)
        self.assertLess(unfair, 0.2 * fair)

    def test_what_is_no_set(self):
        done = self.ssdtlm("run", "tiny-test", "-o", "out", "--rw=read", "--bs=4k", "--number_ios=1", "--set", "ftl.nvm_sets=C0, D1")
        self.assertEqual(done.returncode, USER_ERROR, done.stderr)
        self.assertRegex(done.stderr, r'ftl\.nvm_sets.*"D1" is no set of this drive')
