# SPDX-License-Identifier: Apache-2.0
"""Namespaces of one drive (nvme.namespaces): a job's filename says which; what lies in two of them is two commands; losses of power and resets with them."""
import json
import unittest

from support import OK, USER_ERROR, SystemTest

MIB = 1 << 20
SIZES = ("--set", "nvme.namespaces=[2MiB, 4MiB]")
JOBS = """[global]
ioengine=libaio
rw={rw}
bs=4k
iodepth=4
number_ios={ios}
[one]
filename=/dev/nvme0n1
[two]
filename=/dev/nvme0n2
[three]
filename=/dev/nvme1n3
"""


class Namespaces(SystemTest):
    def jobs(self, result):
        return {job["jobname"]: job for job in result.json("fio.json")["jobs"]}

    def test_each_has_its_size(self):
        """Read once from end to end: as many bytes as each has, and all of them the drive's."""
        job = self.write("all.fio", JOBS.format(rw="read", ios=0).replace("number_ios=0\n", ""))
        result = self.simulate("tiny-test", job, *SIZES)
        whole = self.simulate("tiny-test", self.job("whole", "rw=read", "bs=4k", "iodepth=4"), *SIZES, output="whole")
        drive = self.jobs(whole)["whole"]["read"]["io_bytes"]
        found = {name: job["read"]["io_bytes"] for name, job in self.jobs(result).items()}
        self.assertEqual(found, {"one": 2 * MIB, "two": 4 * MIB, "three": drive - 6 * MIB})
        self.assert_right(result)

    def test_a_request_over_a_border(self):
        """Of 64 KiB around the end of the first: two commands and one request, and the bytes are right."""
        job = self.job("border", "rw=write", "bs=64k", "iodepth=1", "size=64k", f"offset={2 * MIB - 32 * 1024}", "number_ios=1", "verify=crc32c")
        one = self.assert_right(self.simulate("tiny-test", job, "--set", "run.data=bytes", output="one"))
        two = self.assert_right(self.simulate("tiny-test", job, "--set", "run.data=bytes", *SIZES, output="two"))
        self.assertEqual(one["commands"], two["commands"])
        self.assertEqual(two["counters"]["nvme_sqes"] - one["counters"]["nvme_sqes"], 2)  # of the write, and of the read that checks it

    def test_losses_of_power_and_resets(self):
        job = self.write("mix.fio", JOBS.format(rw="randrw", ios=4000) + "fsync=100\n")
        for name, settings in {"power": ('host.power_cut_at=[30ms, 60ms, 90ms]', "host.power_off_time=5ms"), "resets": ("host.reset_at=[30ms, 60ms]",)}.items():
            result = self.simulate("tiny-test", job, *SIZES, "--set", "run.data=bytes", *(word for s in settings for word in ("--set", s)), output=name)
            self.assert_right(result)

    def test_as_regions_of_flows(self):
        """A workload in a namespace is as one whose job names it."""
        self.write("a.fio", "[a]\nioengine=libaio\nrw=read\nbs=4k\n")
        self.write("b.fio", "[b]\nioengine=libaio\nrw=read\nbs=4k\n")
        done = self.ssdtlm("run", "tiny-test", "-w", "a.fio", "-w", "b.fio", "-q", "-o", "flows", *SIZES, "--set", "host.regions=namespace 2, namespace 1")
        self.assertEqual(done.returncode, OK, done.stderr)
        found = json.loads((self.dir / "flows" / "fio.json").read_text())["jobs"]
        self.assertEqual([job["read"]["io_bytes"] for job in found], [4 * MIB, 2 * MIB])

    def test_mistakes(self):
        job = self.job("job", "rw=read", "filename=/dev/nvme0n4")
        for settings, says in ((("nvme.namespaces=[2MiB, 4MiB]",), "filename=/dev/nvme0n4; the drive has 3 namespaces; write filename=/dev/nvme0n3"),
                               (("nvme.namespaces=[1000B]",), "of which one is not a multiple of nvme.lba_size"),
                               (("nvme.namespaces=[1GiB]",), "leaves nothing for the last; less than the drive's"),
                               (("nvme.namespaces=[1MiB]", "host.regions=namespace 3"), '"namespace 1" to "namespace 2"')):
            done = self.ssdtlm("run", "tiny-test", "-w", job, *(word for s in settings for word in ("--set", s)))
            self.assertEqual(done.returncode, USER_ERROR)
            self.assertIn(says, done.stderr)
        # One namespace: every name is the drive's, and a note says so.
        self.assertIn("note: job 'job': filename=/dev/nvme0n4 acts as all that the job sees", self.ssdtlm("run", "tiny-test", "-w", job).stdout)


if __name__ == "__main__":
    unittest.main()
