# SPDX-License-Identifier: Apache-2.0
"""Jobs on files: their footprint and what is written before they start are those of fio itself on files of this machine."""
import subprocess
import unittest

from support import CHECK_FAILED, USER_ERROR, SystemTest

DEVICE = "hexa-16g"
FILL_BYTES = 128 << 10  # of one write that lays out a file

# Name, lines of one or more sections. DIR stands for the folder.
CASES = {
    "clones": "directory=DIR size=8m rw=randread bs=4k numjobs=4 [a]",
    "clones of an offset": "directory=DIR size=2m offset=1m rw=read bs=64k numjobs=3 [a]",
    "shared by name": "directory=DIR filename=one size=4m rw=randread bs=4k numjobs=3 [a]",
    "two names": "directory=DIR size=2m rw=randrw bs=4k [a] filename=x [b] filename=y size=3m [c] filename=x",
    "several files": "directory=DIR size=6m nrfiles=3 rw=randread bs=4k numjobs=2 [a]",
    "sizes of files": "directory=DIR filesize=512k nrfiles=5 rw=read bs=16k [a]",
    "writers": "directory=DIR size=4m rw=write bs=64k numjobs=2 [a]",
    "overwriters": "directory=DIR size=4m rw=randwrite overwrite=1 bs=4k numjobs=2 [a]",
    "writer, then reader": "directory=DIR filename=f size=2m bs=4k [w] rw=write [r] stonewall=1 rw=read",
    "verified": "directory=DIR size=1m rw=randwrite bs=4k verify=crc32c numjobs=2 [a]",
    "a file by its name": "filename=DIR/plain size=2m rw=randread bs=4k numjobs=2 [a]",
    "format": "directory=DIR filename_format=part.$jobnum.$filenum size=2m nrfiles=2 rw=read bs=4k numjobs=2 [a]",
}


def covered(extents):
    """Bytes in the union of (begin, end)."""
    total, end = 0, 0
    for begin, stop in sorted(extents):
        total += max(stop - max(begin, end), 0)
        end = max(end, stop)
    return total


def extents_of(log):
    rows = [[int(f) for f in line.split(",")[:5]] for line in log.read_text().splitlines()]
    return [(r[4], r[4] + r[3]) for r in rows]


class Files(SystemTest):
    def text(self, case, folder):
        lines = ["[global]", "ioengine=psync", "write_bw_log=log", "log_offset=1", "fallocate=none"]
        return "\n".join(lines + CASES[case].replace("DIR", str(folder)).split()) + "\n"

    def fio(self, case, *args):
        """Runs fio itself; its folder of files and its log files."""
        folder = self.dir / "files"
        subprocess.run(["rm", "-rf", str(folder)], check=True)
        folder.mkdir()
        self.write("fio.job", self.text(case, folder))
        subprocess.run(["fio", *args, "fio.job"], cwd=self.dir, check=True, capture_output=True, timeout=60)
        return folder

    def test_footprints_and_fills(self):
        print()
        for number, case in enumerate(CASES):
            with self.subTest(case):
                files = self.fio(case, "--create_only=1")
                filled = sum(f.stat().st_blocks * 512 for f in files.iterdir())
                files = self.fio(case)
                length = sum(f.stat().st_size for f in files.iterdir())
                footprint = sum(f.stat().st_blocks * 512 for f in files.iterdir())

                job = self.write("our.job", self.text(case, "/data"))
                result = self.simulate(DEVICE, job, output=f"out{number}")
                self.assert_right(result)
                report = result.json("fio.json")
                logs = sorted(result.path.glob("log_bw.*.log"))
                touched = [e for log in logs for e in extents_of(log)]
                note = next(n for n in result.json()["notes"] if n.startswith("files of the jobs"))
                our_length, our_filled = self.numbers(note)
                written = report["disk_util"][0]["write_ios"]
                jobs_write = sum(j["write"]["total_ios"] for j in report["jobs"])
                self.assertEqual(our_length, length)
                self.assertEqual(our_filled, filled)
                self.assertAlmostEqual((written - jobs_write) * FILL_BYTES, filled, delta=FILL_BYTES * 8)
                # Every byte that fio's files have on disk is one that was filled or touched here, at a place of its own.
                whole = [(0, our_length)] if our_filled == our_length else touched
                self.assertEqual(covered(whole + touched), footprint)
                print(f"{case:22} files {length >> 10:6} KiB, filled {filled >> 10:6} KiB, on disk {footprint >> 10:6} KiB: as fio")

    @staticmethod
    def numbers(note):
        words = note.replace(",", " ").split()
        return int(words[words.index("bytes") - 1]), int(words[words.index("which") + 1])


class Ext4(SystemTest):
    """The same jobs through a file system: reports of calls beside reports of the drive's commands."""

    def on_ext4(self, name, *lines, settings=()):
        job = self.write(f"{name}.fio", "\n".join(["[j]", "ioengine=psync", "directory=/d", *lines]) + "\n")
        return self.simulate("tiny-test", job, "--set", "files.system=ext4", "--set", "run.timeseries_interval=1ms", *settings, output=name)

    def test_calls_and_commands(self):
        result = self.on_ext4("synced", "rw=randrw", "bs=16k", "nrfiles=4", "filesize=256k", "io_size=3200k", "norandommap", "sync=1", "file_service_type=random")
        self.assert_right(result)
        calls = result.json("fio.json")["jobs"][0]
        self.assertEqual(calls["read"]["total_ios"] + calls["write"]["total_ios"], 200)
        self.assertEqual(result.json()["read"]["ios"], calls["read"]["total_ios"])
        # Behind the data a commit, if the inode has changed since the last: blocks, then record.
        commits = (result.json()["write"]["ios"] - calls["write"]["total_ios"]) / 2
        self.assertEqual(commits, int(commits))
        self.assertTrue(0.5 * calls["write"]["total_ios"] < commits <= calls["write"]["total_ios"], commits)
        # A write ends when it is durable: longer than any command of the drive takes.
        self.assertGreater(calls["write"]["lat_ns"]["mean"], 1.5e3 * result.json()["latency_us"]["write"]["total"]["mean"])
        phases = [row["phase"] for row in result.rows("timeseries.csv")]
        first = phases.index("run")
        self.assertGreater(first, 10)
        self.assertEqual((set(phases[:first]), set(phases[first:])), ({"layout"}, {"run"}))

    def test_what_is_refused(self):
        for lines, words in ((("rw=trim", "size=1m"), "punching holes is not modelled"), (("rw=read", "size=10m"), "the file system has room for"),
                             (("rw=read", "size=1m", "[drive]", "filename=/dev/nvme0n1", "rw=read"), "the drive itself, beside files")):
            with self.subTest(words):
                job = self.write("refused.fio", "\n".join(["[j]", "directory=/d", *lines]) + "\n")
                done = self.ssdtlm("run", "tiny-test", "-w", job, "-o", "refused", "--set", "files.system=ext4")
                self.assertEqual(done.returncode, USER_ERROR, done.stderr)
                self.assertIn(words, done.stderr)

    def test_without_files_a_note_says_so(self):
        result = self.simulate("tiny-test", self.job("drive", "rw=randread", "bs=4k", "number_ios=20"), "--set", "files.system=ext4")
        self.assertTrue(any(note.startswith('files.system = "ext4" has no effect') for note in result.json()["notes"]))


class Limits(SystemTest):
    def test_a_missed_rate_min_fails_the_run(self):
        job = self.job("slow", "rw=randread", "bs=4k", "rate=40k", "rate_min=1m", "time_based", "runtime=10")
        done = self.ssdtlm("run", DEVICE, "-w", job, "-o", "out")
        self.assertEqual(done.returncode, CHECK_FAILED)
        self.assertIn("fio job 'slow' ended at", done.stderr)
        self.assertIn("rate_min=1048576 B/s of reads not met, got 409", done.stderr)

    def test_latency_target_and_steady_state_are_reported(self):
        job = self.write("target.fio", "[t]\nrw=randread\nbs=4k\nioengine=libaio\niodepth=64\nsize=1g\nnorandommap\n"
                         "time_based\nruntime=60\nlatency_target=150\nlatency_window=20ms\nlatency_percentile=90\n")
        result = self.simulate("mqsim-table3", job)
        t = result.json("fio.json")["jobs"][0]
        self.assertEqual((t["latency_target"], t["latency_window"], t["latency_percentile"]), (150000, 20000, 90.0))
        self.assertGreater(t["latency_depth"], 1)
        self.assertLess(t["latency_depth"], 64)
        within = sum(share for us, share in t["latency_us"].items() if us.isdigit() and int(us) <= 100)
        self.assertGreater(within, 0)
        self.assertIn(f"met at queue depth {t['latency_depth']}", "\n".join(result.json()["notes"]))
        job = self.write("steady.fio", "[s]\nrw=randread\nbs=4k\nsize=1g\nnorandommap\ntime_based\nruntime=100\nrate_iops=500\n"
                         "ss=iops:5%\nss_dur=4\n")
        s = self.simulate(DEVICE, job, output="steady").json("fio.json")["jobs"][0]["steadystate"]
        self.assertEqual((s["attained"], s["duration"], len(s["data"]["iops"])), (1, 4, 4))
        self.assertAlmostEqual(s["data"]["iops_mean"], 500, delta=5)


if __name__ == "__main__":
    unittest.main()
