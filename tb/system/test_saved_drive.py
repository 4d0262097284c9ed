# SPDX-License-Identifier: Apache-2.0
"""A drive that is saved at the end of a run, and runs that go on from there."""
import json
import subprocess

from support import OK, USER_ERROR, SystemTest

READ = ("--ioengine=libaio", "--rw=read", "--bs=4k", "--number_ios=1", "--size=64k")
MIXED = ("--ioengine=libaio", "--rw=randrw", "--bsrange=4k-64k", "--iodepth=32", "--number_ios=5000", "--io_size=1t", "--norandommap=1")
DEVICES = {
    "page": ("ftl.superblock=plane", "gc.policy=random"),
    "dftl": ("ftl.mapping=dftl", "map.cache=8KiB", "precondition.fill=80%"),
    "checkpoints": ("ftl.user_capacity=8MiB", "ftl.checkpoint_interval=1MiB"),
    "checkpoints of dftl": ("ftl.mapping=dftl", "map.cache=8KiB", "ftl.user_capacity=8MiB", "ftl.checkpoint_interval=1MiB"),
    "slc": ("ftl.user_capacity=8MiB", "slc.blocks=4"),
    "streams": ("ftl.user_capacity=8MiB", "nvme.streams=4", "host.streams=true", "ftl.stream_frontiers=2"),
    "failing": ("ftl.user_capacity=8MiB", "ftl.spare_blocks=8", "nand.faults.program_fail=0.01%", "nand.faults.erase_fail=0.1%"),
    "lanes": ("ftl.user_capacity=8MiB", "ftl.static_dimensions=C", "wear.free_blocks=by_wear"),
}


class SavedDrive(SystemTest):
    def run_on(self, settings, *arguments, output="out"):
        return self.ssdtlm("run", "tiny-test", "-q", "-o", output, *(word for s in settings for word in ("--set", s)), *arguments)

    def good(self, settings, *arguments, output="out"):
        done = self.run_on(settings, *arguments, output=output)
        self.assertEqual((done.returncode, done.stderr), (OK, ""))
        return json.loads((self.dir / output / "result.json").read_text())

    def same(self, one, other):
        for name in ("latency.csv", "timeseries.csv", "slowest.json", "fio.json"):
            self.assertEqual((self.dir / one / name).read_bytes(), (self.dir / other / name).read_bytes(), name)

    def test_a_run_from_it_is_that_of_the_drive_itself(self):
        for name, settings in DEVICES.items():
            with self.subTest(device=name):
                # A drive that was saved is at rest, so its buffer is empty.
                settings = (*settings, "precondition.state=random", "precondition.fill_caches=false")
                self.good(settings, *READ, "--save-drive", "drive", output="saved")
                itself = self.good(settings, *MIXED, output="itself")
                read = self.good((*settings, "precondition.from=drive"), *MIXED, output="read")
                self.same("itself", "read")
                self.assertEqual(itself["ftl"], read["ftl"])
                self.assertEqual(itself["wear"], read["wear"])
                self.assertEqual(read["precondition"]["asked"], {"from": "drive"})
                reached = dict(itself["precondition"]["reached"])
                self.assertGreater(reached.pop("overwrites")["waf"], 1)
                self.assertEqual(read["precondition"]["reached"], reached)
                print(f"{name}: {(self.dir / 'drive').stat().st_size} bytes, WAF {itself['ftl']['waf']:.3f}")

    def test_what_was_written_before_is_there(self):
        self.good((), "--ioengine=libaio", "--rw=randwrite", "--bs=4k", "--number_ios=3000", "--io_size=1t", "--norandommap=1", "--save-drive", "drive")
        result = self.good(("precondition.from=drive",), "--ioengine=libaio", "--rw=read", "--bs=4k", "--iodepth=8", output="read")
        self.assertEqual(result["integrity_checked_blocks"], 12 * 1024 * 1024 // 512)
        # Once more, and from a run to the next.
        for _ in range(2):
            self.good(("precondition.from=drive", "run.seed=7"), *MIXED, "--save-drive", "drive")
        self.good(("precondition.from=drive", "run.integrity=false"), *MIXED)

    def test_pages_of_parity(self):
        """Their spare area is a sum over a row. With all mappings, and units whose number is no power of two."""
        for mapping in ("page", "dftl"):
            with self.subTest(mapping=mapping):
                settings = (f"ftl.mapping={mapping}", "ftl.superblock=drive", "ftl.parity=die", "precondition.state=sequential", "ftl.user_capacity=8200KiB", "nand.geometry.ways=2")
                self.good(settings, *READ, "--save-drive", "drive", output="saved")
                self.good((*settings, "precondition.from=drive"), *MIXED, output="read")

    def test_it_goes_on_under_other_settings(self):
        self.good(("precondition.state=random",), *READ, "--save-drive", "drive")
        self.good(("precondition.from=drive", "gc.soft_free_blocks=6", "buffer.size=256KiB", "nand.t_program=200us", "ftl.placement=first_idle",
                   "link.generation=4", 'host.power_cut_at=["5ms"]'), *MIXED)

    def test_another_drive_is_refused_with_all_differences(self):
        self.good((), *READ, "--save-drive", "drive")
        done = self.run_on(("precondition.from=drive", "ftl.user_capacity=8MiB", "gc.policy=fifo", "slc.blocks=2"), *READ)
        self.assertEqual(done.returncode, USER_ERROR)
        self.assertEqual(sum("when the drive was saved" in line for line in done.stderr.splitlines()), 3, done.stderr)
        for words in ('ftl.user_capacity was "12MiB" when the drive was saved, and is "8MiB"', "gc.policy", "slc.blocks was 0"):
            self.assertIn(words, done.stderr)

    def test_a_file_that_is_none_is_refused(self):
        self.good((), *READ, "--save-drive", "drive")
        whole = (self.dir / "drive").read_bytes()
        for name, content in (("cut", whole[:len(whole) // 2]), ("text", b"hello\n"), ("empty", b"")):
            (self.dir / name).write_bytes(content)
            done = self.run_on((f"precondition.from={name}",), *READ)
            self.assertEqual(done.returncode, USER_ERROR, name)
            self.assertIn(name, done.stderr)
            self.assertNotIn("internal error", done.stderr)
        (self.dir / "folder").mkdir()
        done = self.run_on(("precondition.from=folder",), *READ)
        self.assertEqual(done.returncode, USER_ERROR)
        self.assertIn("folder: Is a directory; a drive that was saved; check the path", done.stderr)
        done = self.run_on(("precondition.from=nowhere",), *READ)
        self.assertEqual(done.returncode, USER_ERROR)
        self.assertIn("No such file", done.stderr)

    def test_what_cannot_be_saved_is_said_at_once(self):
        done = self.run_on((), *MIXED, "--save-drive", "no/folder/drive")
        self.assertEqual(done.returncode, USER_ERROR)
        self.assertIn("no/folder", done.stderr)
        self.good(("run.integrity=false",), *READ, "--save-drive", "drive")
        done = self.run_on(("precondition.from=drive",), *READ)
        self.assertEqual(done.returncode, USER_ERROR)
        self.assertIn("run.integrity", done.stderr)

    def test_bytes_are_saved_with_their_seed(self):
        """What they are is checked by test_serve.py, whose client keeps what it has written."""
        data = ("run.data=bytes", "run.integrity=false")
        self.good(data, *MIXED, "--save-drive", "drive")
        self.good((*data, "precondition.from=drive"), *MIXED)
        for settings, more, words in (((*data, "precondition.from=drive"), ("--seed", "77"), 'run.seed was 1 when the drive was saved, and is 77; the same value; set it as it was'),
                                      ((*data, "precondition.from=drive", "nvme.metadata=true"), (), "nvme.metadata was false when the drive was saved"),
                                      (("precondition.from=drive",), (), "run.data"),
                                      (("run.data=bytes", "precondition.from=drive"), (), "run.integrity"),
                                      (("run.data=bytes",), ("--save-drive", "other"), "run.integrity")):
            done = self.run_on(settings, *MIXED, *more)
            self.assertEqual(done.returncode, USER_ERROR, done.stderr)
            self.assertIn(words, done.stderr)

    def test_its_text_can_be_read(self):
        self.good((), *READ, "--save-drive", "drive")
        text = subprocess.run(["zstd", "-dc", "drive"], cwd=self.dir, capture_output=True).stdout
        self.assertTrue(text.startswith(b"ssdtlm snapshot, format 7\n# saved by ssdtlm "), text[:80])
        self.assertIn(b'\nftl.user_capacity = "12MiB"\n', text)
