# SPDX-License-Identifier: Apache-2.0
"""The sample traces, replayed at their times and as fast as possible."""
import json
import unittest

from support import OK, TRACES, SystemTest, fio_job_total

DEVICE = "hexa-16g"  # larger than the samples and quick to start


class Traces(SystemTest):
    def info(self, path, *args):
        done = self.ssdtlm("trace", "info", path, "--json", *args)
        self.assertEqual((done.returncode, done.stderr), (OK, ""))
        return json.loads(done.stdout)

    def replay(self, name):
        path = TRACES / name
        info = self.info(path)
        timed = self.simulate(DEVICE, path, output="timed")
        closed = self.simulate(DEVICE, path, "--replay", "closed", "--replay-depth", 8, output="closed")
        for result in (timed, closed):
            j = self.assert_right(result)
            self.assertEqual(j["commands"], info["records"])
            for op, counted in info["operations"].items():
                self.assertEqual((j[op]["ios"], j[op]["bytes"]), (counted["records"], counted["bytes"]), op)
            jobs = result.json("fio.json")["jobs"]
            self.assertEqual(len(jobs), 1)
            data = [info["operations"][op] for op in ("read", "write", "trim")]
            self.assertEqual(fio_job_total(jobs[0]), (sum(d["records"] for d in data), sum(d["bytes"] for d in data)))
            # Every line that is not replayed as it stands is told about, with its number.
            told = "\n".join(j["notes"])
            for note in info["notes"].values():
                self.assertRegex(told, rf"(?m)^{note['lines']} lines? .*first: line {note['first_line']}\)")
        self.assertGreaterEqual(timed.json()["simulated_s"], info["duration_s"])
        self.assertLess(closed.json()["simulated_s"], info["duration_s"], "8 at a time outrun the sample's pace")
        return info

    def test_msr(self):
        self.replay("msr.csv")

    def test_msr_compressed(self):
        self.assertEqual(self.replay("msr.csv.gz")["operations"], self.info(TRACES / "msr.csv")["operations"])

    def test_mqsim(self):
        self.replay("mqsim.trace")

    def test_blkparse(self):
        notes = self.replay("blkparse.txt")["notes"]
        self.assertGreater(sum(n["lines"] for n in notes.values()), 100, "the sample has lines of all actions")

    def test_alibaba(self):
        notes = self.replay("alibaba.csv")["notes"]
        self.assertEqual([n["lines"] for n in notes.values()], [2], "the sample has two lines out of order")

    def test_systor(self):
        self.assertEqual(self.replay("systor.csv")["notes"]["no_operation"]["lines"], 4)

    def test_tencent(self):
        info = self.replay("tencent.csv")
        self.assertEqual((info["duration_s"], info["equal_stamps"]), (1, 158))
        spread = self.simulate(DEVICE, TRACES / "tencent.csv", "--trace-spread", output="spread")
        self.assertGreater(spread.json()["simulated_s"], 1.9)
        self.assertRegex("\n".join(spread.json()["notes"]), r"(?m)^158 lines with the time of another before, spread evenly$")

    def test_spc(self):
        self.assertEqual([v["name"] for v in self.replay("spc.txt")["volumes"]], ["1", "0"])

    def test_fiu(self):
        self.assertEqual([v["name"] for v in self.replay("fiu.txt")["volumes"]], ["6,0"])

    def test_etw(self):
        self.assertEqual(self.replay("etw.txt")["operations"]["flush"]["records"], 4)

    def test_columns(self):
        """The sample of each table as it is known, and described by hand."""
        for name, columns in (("msr.csv", "time:filetime,volume,volume,op,offset,size,-"),
                              ("mqsim.trace", "time:ns volume offset:sectors size:512 op:1/0"),
                              ("alibaba.csv", "volume,op,offset,size,time:us"),
                              ("tencent.csv", "time:s,offset:sectors,size:sectors,op:0/1,volume"),
                              ("spc.txt", "volume,offset:sectors,size,op,time:s,..."),
                              ("fiu.txt", "time:ns - - offset:sectors size:sectors op volume volume ...")):
            known, described = self.info(TRACES / name), self.info(TRACES / name, "--trace-columns", columns)
            self.assertEqual(described.pop("format"), "columns")
            known.pop("format")
            if name == "mqsim.trace":  # its devices share one address space
                self.assertEqual(len(known["volumes"]), 1)
            self.assertEqual(known, described, name)
        a = self.simulate(DEVICE, TRACES / "spc.txt", output="known").json()
        b = self.simulate(DEVICE, TRACES / "spc.txt", "--trace-columns", "volume,offset:512,size,op,time:s,...", output="b").json()
        self.assertEqual(a["read"], b["read"])
        self.assertEqual(a["write"], b["write"])

    def test_skipped_lines(self):
        lines = (TRACES / "msr.csv").read_text().splitlines()
        lines[4] = "junk"
        lines[8] = lines[8].rsplit(",", 1)[0]
        path = self.write("broken.csv", "\n".join(lines) + "\n")
        j = self.assert_right(self.simulate(DEVICE, path, "--trace-skip-broken"))
        self.assertEqual(j["commands"], len(lines) - 2)
        self.assertRegex("\n".join(j["notes"]), r"(?m)^2 lines .*skipped \(first: line 5\)$")

    def test_beyond_the_device(self):
        for how in ("fold", "scale"):
            j = self.assert_right(self.simulate("tiny-test", TRACES / "msr.csv", "--trace-beyond", how, output=how))
            self.assertEqual(j["commands"], 160)

    def test_time_scale(self):
        whole = self.simulate(DEVICE, TRACES / "msr.csv", output="whole").json()["simulated_s"]
        double = self.simulate(DEVICE, TRACES / "msr.csv", "--time-scale", 2, output="double").json()["simulated_s"]
        self.assertAlmostEqual(double / whole, 2, delta=0.1)

    def test_volume(self):
        volumes = {v["name"]: v["records"] for v in self.info(TRACES / "alibaba.csv")["volumes"]}
        self.assertGreater(len(volumes), 1)
        for name, records in volumes.items():
            j = self.simulate(DEVICE, TRACES / "alibaba.csv", "--trace-volume", name, output=f"v{name}").json()
            self.assertEqual(j["commands"], records)


if __name__ == "__main__":
    unittest.main()
