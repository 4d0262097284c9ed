# SPDX-License-Identifier: Apache-2.0
"""The job files that come with the program: fio accepts them, they run unchanged, and fio.json says what fio would."""
import subprocess
import unittest

from support import JOBS, SystemTest, fio_job_total

DEVICE = "hexa-16g"  # quick to start

# What fio-plot reads of each job (fio_plot/fiolib), beside the job options.
DIRECTION_FIELDS = ("io_bytes", "bw", "iops", "runtime", "total_ios", "clat_ns", "lat_ns", "slat_ns",
                    "iops_stddev", "bw_dev", "bw_min", "bw_max")
JOB_FIELDS = ("jobname", "groupid", "error", "job options", "read", "write", "usr_cpu", "sys_cpu", "ctx",
              "latency_ns", "latency_us", "latency_ms")


class ShippedJobs(SystemTest):
    def run_job(self, name, device=DEVICE, *args):
        path = JOBS / name
        checked = subprocess.run(["fio", "--parse-only", str(path)], capture_output=True, text=True)
        self.assertEqual(checked.returncode, 0, checked.stderr)
        result = self.simulate(device, path, *args)
        j = self.assert_right(result)
        fio = result.json("fio.json")
        self.assertTrue(fio["fio version"].startswith("fio-"))
        for job in fio["jobs"]:
            for field in JOB_FIELDS:
                self.assertIn(field, job)
            self.assertEqual(job["error"], 0)
            for direction in ("read", "write"):
                d = job[direction]
                for field in DIRECTION_FIELDS:
                    self.assertIn(field, d)
                if d["total_ios"] == 0:
                    continue
                self.assertGreater(d["iops"], 0)
                self.assertAlmostEqual(d["io_bytes"] / d["bw"] / 1.024, d["runtime"], delta=2)
                for kind in ("clat_ns", "lat_ns"):
                    self.assertEqual(set(d[kind]) & {"min", "max", "mean", "stddev", "N"}, {"min", "max", "mean", "stddev", "N"})
                self.assertLessEqual(d["clat_ns"]["mean"], d["lat_ns"]["mean"])
                self.assertTrue(d["clat_ns"]["min"] <= d["clat_ns"]["mean"] <= d["clat_ns"]["max"])
        # Both reports of one run agree.
        for direction in ("read", "write"):
            self.assertEqual(sum(job[direction]["total_ios"] for job in fio["jobs"]), j[direction]["ios"])
            self.assertEqual(sum(job[direction]["io_bytes"] for job in fio["jobs"]), j[direction]["bytes"])
            times = [job[direction]["runtime"] for job in fio["jobs"] if job[direction]["total_ios"]]
            if times:  # the time in which at least one job ran
                self.assertTrue(max(times) - 1 <= j[direction]["active_s"] * 1e3 <= sum(times) + len(times), direction)
        return j, fio["jobs"], result

    def test_all_are_tested(self):
        self.assertEqual(
            sorted(p.name for p in JOBS.glob("*.fio")),
            ["bssplit_zoned.fio", "jesd219-enterprise-4k.fio", "jesd219-enterprise.fio", "numjobs_group.fio", "qd1_4k_randread.fio",
             "ramp_rate.fio", "random_mix.fio", "two_groups_stonewall.fio"],
        )

    def test_qd1(self):
        j, jobs, _ = self.run_job("qd1_4k_randread.fio")
        self.assertEqual([fio_job_total(job) for job in jobs], [(20 << 10, 80 << 20)])
        # One at a time: the rate is the reciprocal of the latency.
        self.assertAlmostEqual(j["read"]["iops"] * j["latency_us"]["read"]["total"]["mean"] * 1e-6, 1, delta=0.001)
        self.assertIn("percentile", jobs[0]["read"]["lat_ns"])

    def test_random_mix(self):
        _, jobs, _ = self.run_job("random_mix.fio", "mqsim-table3")
        self.assertEqual(fio_job_total(jobs[0]), (200 << 10, 800 << 20))
        self.assertAlmostEqual(jobs[0]["read"]["total_ios"] / (200 << 10), 0.7, delta=0.01)

    def test_bssplit_zoned(self):
        j, jobs, _ = self.run_job("bssplit_zoned.fio")
        ios, _ = fio_job_total(jobs[0])
        self.assertEqual(ios, 100 << 10)
        reads, writes = jobs[0]["read"], jobs[0]["write"]
        self.assertAlmostEqual(reads["io_bytes"] / reads["total_ios"], (0.6 * 4 + 0.3 * 16 + 0.1 * 64) * 1024, delta=400)
        self.assertAlmostEqual(writes["io_bytes"] / writes["total_ios"], 6 * 1024, delta=100)

    def test_jesd219(self):
        """On a quarter of the drive, as its footprint is chosen on the command line. The mean of its sizes is 7818 bytes."""
        for name, mean, lba in (("jesd219-enterprise.fio", 7818, 512), ("jesd219-enterprise-4k.fio", 8069, 4096)):
            _, jobs, _ = self.run_job(name, "hexa-16g", "--set", f"nvme.lba_size={lba}B", "--size=25%")
            ios, total = fio_job_total(jobs[0])
            self.assertEqual((len(jobs), ios), (1, 100 << 10))
            self.assertAlmostEqual(jobs[0]["read"]["total_ios"] / ios, 0.4, delta=0.01)
            self.assertAlmostEqual(total / ios, mean, delta=200)

    def test_numjobs_group(self):
        _, jobs, _ = self.run_job("numjobs_group.fio")
        self.assertEqual(len(jobs), 1, "group_reporting")
        self.assertEqual(fio_job_total(jobs[0]), (4 * 25 << 10, 4 * 25 * 8 << 20))
        self.assertAlmostEqual(jobs[0]["read"]["total_ios"] / (100 << 10), 0.8, delta=0.01)

    def test_ramp_rate(self):
        # The load is light for this drive: arrivals set the rate.
        j, jobs, _ = self.run_job("ramp_rate.fio", "mqsim-table3")
        # fio's k is 1024 here too; five standard deviations of a Poisson count.
        for op, rate in (("read", 60 << 10), ("write", 20 << 10)):
            self.assertAlmostEqual(j[op]["iops"], rate, delta=5 * rate**0.5)
        self.assertAlmostEqual(j["measured_window_s"], 1, delta=0.005)
        self.assertAlmostEqual(jobs[0]["read"]["runtime"], 1000, delta=5)
        self.assertAlmostEqual(j["commands_including_ramp"] / j["commands"], 1.2, delta=0.02)
        self.assertEqual(
            [float(p) for p in jobs[0]["read"]["clat_ns"]["percentile"]], [50, 90, 99, 99.9, 99.99], "percentile_list"
        )

    def test_two_groups_stonewall(self):
        _, jobs, result = self.run_job("two_groups_stonewall.fio")
        fill, readers, writers = jobs
        self.assertEqual([j["jobname"] for j in jobs], ["fill", "readers", "writers"])
        self.assertEqual([j["groupid"] for j in jobs], [0, 1, 1])
        self.assertEqual(fio_job_total(fill), ((2 << 30) // (128 << 10), 2 << 30))
        self.assertEqual(fio_job_total(readers), (80 << 10, 320 << 20))
        self.assertEqual(fio_job_total(writers), (20 << 10, 80 << 20))
        # The stonewall: nothing is read before the fill has ended; group 1 starts then, both jobs at once.
        end_of_fill = fill["job_runtime"]
        rows = result.rows("timeseries.csv")
        before = [r for r in rows if float(r["start_ms"]) + float(r["interval_ms"]) <= end_of_fill - 1]
        self.assertGreater(len(before), 10)
        self.assertEqual({float(r["read_iops"]) for r in before}, {0.0})
        after = [r for r in rows if float(r["start_ms"]) >= end_of_fill + 1]
        self.assertGreater(float(after[0]["read_iops"]), 0)
        self.assertGreater(max(float(r["write_iops"]) for r in after), 0)  # the first may wait for a buffer full of fill
        total = result.json()["simulated_s"] * 1e3
        longest = max(readers["job_runtime"], writers["job_runtime"])
        self.assertAlmostEqual(end_of_fill + longest, total, delta=3)
        # fsync=64: after every 64 writes, but for the end of the job.
        self.assertAlmostEqual(result.json()["flush"]["ios"], (20 << 10) / 64, delta=1)


class OwnJobs(SystemTest):
    def test_logs(self):
        job = self.job("logged", "rw=randrw", "bs=4k", "iodepth=8", "number_ios=5000", "write_bw_log=mine",
                       "write_lat_log=mine", "write_iops_log=other", "log_avg_msec=5")
        result = self.simulate("femu-4g", job)
        names = {p.name for p in result.path.glob("*.log")}
        self.assertEqual(
            names, {"mine_bw.1.log", "mine_lat.1.log", "mine_clat.1.log", "mine_slat.1.log", "other_iops.1.log"}
        )
        end = result.json()["simulated_s"] * 1e3
        for name in names:
            rows = [line.split(",") for line in (result.path / name).read_text().splitlines()]
            self.assertGreater(len(rows), 4, name)
            times = [int(r[0]) for r in rows]
            self.assertEqual(times, sorted(times))
            self.assertLessEqual(times[-1], end + 5)
            self.assertEqual({int(r[2]) for r in rows}, {0, 1}, "reads and writes")

    def test_runtime_ends_a_job(self):
        job = self.job("short", "rw=randread", "bs=4k", "iodepth=4", "runtime=50ms", "time_based")
        result = self.simulate("femu-4g", job)
        self.assertAlmostEqual(result.json("fio.json")["jobs"][0]["read"]["runtime"], 50, delta=1)

    def test_everything_once(self):
        # Without norandommap a pass over the drive touches each block once.
        job = self.job("once", "rw=randwrite", "bs=4k", "iodepth=16")
        j = self.assert_right(self.simulate("tiny-test", job))
        self.assertEqual((j["write"]["ios"], j["write"]["bytes"]), ((12 << 20) // 4096, 12 << 20))

    def test_ignored_options_are_told(self):
        job = self.job("told", "rw=read", "bs=4k", "number_ios=10", "thread")
        j = self.simulate("tiny-test", job).json()
        self.assertIn("thread", "\n".join(j["notes"]))


if __name__ == "__main__":
    unittest.main()
