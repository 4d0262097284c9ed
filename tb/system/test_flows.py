# SPDX-License-Identifier: Apache-2.0
"""Several flows on one drive: job files and traces in one run, what each loses against a run without the others, and for whose operations its commands
waited. Numbers are computed here, from separate runs and from the files of exact sums."""
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import time
import unittest

from support import BINARY, OK, USER_ERROR, SystemTest
from wait_sums import WAITS, bins, flow_waits

READER = ("rw=randread", "bs=4k", "iodepth=4", "number_ios=600", "size=8m", "norandommap")
FULL = ("precondition.state=random", "buffer.size=256KiB", "ftl.user_capacity=12MiB")


def sets(*settings):
    return [word for s in settings for word in ("--set", s)]


class Flows(SystemTest):
    def trace(self, name, requests=500, seed=7):
        """A trace in the format of MSR Cambridge: reads and writes of 4 KiB in 8 MiB, 20 us apart."""
        r = random.Random(seed)
        lines = [f"{128166372003061629 + 200 * i},usr,0,{r.choice(['Read', 'Read', 'Write'])},{r.randrange(2000) * 4096},4096,0" for i in range(requests)]
        return self.write(name, "\n".join(lines) + "\n")

    def run_flows(self, *args, output="out"):
        done = self.ssdtlm("run", "tiny-test", "-q", "-o", output, *args)
        self.assertEqual(done.returncode, OK, done.stderr)
        return json.loads((self.dir / output / "result.json").read_text())

    def exact(self, output):
        """(commands, picoseconds from the SQ entry on) of all measured commands of a run."""
        rows = bins(self.dir / output)
        return sum(r["count"] for r in rows), sum(ps for r in rows for stage, ps in r["stages"].items() if stage != "host_queue")

    def test_against_separate_runs(self):
        """A job file beside a trace. The figures of each alone are those of a run of it by itself, and the rest is arithmetic on them."""
        self.job("a", *READER)
        self.trace("b.csv")
        replay = ("--replay", "closed", "--replay-depth", "8")
        # As many queue pairs in all: bring-up takes as long, and the drive collects from power-on.
        both = self.run_flows("-w", "a.fio", "-w", "b.csv", *replay, "--alone", *sets(*FULL, "host.queue_pairs=2"))
        self.run_flows("-w", "a.fio", *sets(*FULL, "host.queue_pairs=2"), output="a")
        self.run_flows("-w", "b.csv", *replay, *sets(*FULL, "host.queue_pairs=2"), output="b")
        self.assertEqual([f["name"] for f in both["flows"]], ["a", "b"])
        slowdowns = []
        for flow in both["flows"]:
            commands, ps = self.exact(flow["name"])
            self.assertEqual((flow["alone"]["commands"], flow["alone"]["response_ps"]), (commands, ps))
            self.assertEqual(flow["commands"], commands)
            slowdown = (flow["response_ps"] / flow["commands"] * 1e-6) / (ps / commands * 1e-6)
            self.assertEqual(flow["over_alone"]["slowdown"], slowdown)
            self.assertEqual(flow["over_alone"]["throughput"], flow["iops"] / flow["alone"]["iops"])
            self.assertEqual(flow["iops"], flow["commands"] / flow["active_s"])
            self.assertGreater(slowdown, 1)
            slowdowns.append(slowdown)
        self.assertEqual(sum(f["response_ps"] for f in both["flows"]), self.exact("out")[1])
        self.assertEqual(both["interference"], {"fairness": min(slowdowns) / max(slowdowns), "weighted_speedup": 1 / slowdowns[0] + 1 / slowdowns[1]})
        print("slow-downs", slowdowns, both["interference"])
        done = self.ssdtlm("report", "out", "-o", "out.html")
        self.assertEqual(done.returncode, OK, done.stderr)
        page = (self.dir / "out.html").read_text()
        for text in (f"Fairness {both['interference']['fairness']:.3f}", f"{slowdowns[0]:.3f}", "waits of"):
            self.assertIn(text, page)
        # Beside a run that is the base of throughput; itself, for example.
        again = self.run_flows("-w", "a.fio", "-w", "b.csv", *replay, "--base", "out", *sets(*FULL, "host.queue_pairs=2"), output="again")
        self.assertEqual([f["throughput_over_base"] for f in again["flows"]], [1, 1])

    def test_sections_of_one_file(self):
        """The flows are the sections. One that runs alone has its own random numbers, so it is the same as with --only."""
        self.write("two.fio", "[global]\nioengine=libaio\nrw=randread\nbs=4k\nnorandommap\nsize=8m\n[x]\niodepth=2\nnumber_ios=300\n[y y]\niodepth=16\nnumber_ios=900\n")
        both = self.run_flows("-w", "two.fio", "--alone", *sets("precondition.state=sequential"))
        self.assertEqual([f["name"] for f in both["flows"]], ["x", "y y"])
        only = self.run_flows("-w", "two.fio", "--only", "y y", *sets("precondition.state=sequential"), output="only")
        self.assertEqual(only["flows"][0]["commands"], 0)
        for key in ("commands", "response_ps", "chip_queue_mean", "active_s"):
            self.assertEqual(only["flows"][1][key], both["flows"][1]["alone"][key])
        self.assertEqual(self.exact("only"), self.exact("out/alone/y_y"))
        # Two reads of the one are always under way, and most of the time sixteen of the other: it is more often in a queue.
        self.assertGreater(both["flows"][0]["over_alone"]["chip_queue"], 2)

    def test_chip_queues_by_formula(self):
        """One die that reads all the time: of a flow's commands, those are in the chip queue that are not elsewhere. Elsewhere a command is as long as one that
        finds the drive idle, so by Little's law the queue holds the depth less rate times that time."""
        one_die = ("precondition.state=sequential", "nand.geometry.channels=1", "ftl.user_capacity=7MiB")
        for name, depth in (("lone", 1), ("x", 2), ("y", 7)):
            self.job(name, "rw=randread", "bs=4k", f"iodepth={depth}", "norandommap", "size=7m", "time_based", f"runtime={'20ms' if depth == 1 else '2s'}")
        idle = self.run_flows("-w", "lone.fio", *sets(*one_die, "host.tenants=by_job"))["latency_us"]["read"]["total"]["mean"] * 1e-6
        flows = self.run_flows("-w", "x.fio", "-w", "y.fio", *sets(*one_die))["flows"]
        for flow, depth in zip(flows, (2, 7), strict=True):
            expected = depth - flow["iops"] * idle
            self.assertLess(abs(flow["chip_queue_mean"] / expected - 1), 0.01, f"{flow['name']}: {flow['chip_queue_mean']}, expected {expected}")
        # The die serves the nine in turn: each flow has its part of them.
        self.assertLess(abs(flows[0]["iops"] / flows[1]["iops"] * 7 / 2 - 1), 0.01)

    def test_the_table_says_what_a_response_time_leaves_out(self):
        """Where commands wait in the host the means of both tables differ by just that, and the table says so; else they are equal, and it says nothing."""
        for settings in ((), ("--set", "block.scheduler=noop", "--set", "block.queue_depth=2"), ("--set", "host.queue_entries=3")):
            with self.subTest(settings):
                text = "[global]\nioengine=libaio\nrw=randread\nbs=4k\niodepth=8\nnumber_ios=200\n[a]\n[b]\n"
                done = self.ssdtlm("run", "tiny-test", "-w", self.write("two.fio", text), "-o", "out", "--set", "host.tenants=by_job", *settings)
                j = json.loads((self.dir / "out" / "result.json").read_text())
                mean = lambda stage: j["latency_us"]["read"].get(stage, {"mean": 0})["mean"]
                response = sum(f["response_ps"] for f in j["flows"]) * 1e-6 / sum(f["commands"] for f in j["flows"])
                self.assertAlmostEqual(response, mean("total") - mean("block_queue") - mean("host_queue"), places=2)
                self.assertEqual(bool(settings), "block_queue and host_queue are not in it" in done.stdout, done.stdout)

    def test_regions_and_sets(self):
        """Each flow keeps to its region, which it sees as a drive, and explain names the flow that held a die."""
        self.job("w", "rw=randwrite", "bs=4k", "iodepth=8", "number_ios=2000", "io_size=64m", "norandommap", "size=100%")
        self.job("r", "rw=randread", "bs=4k", "iodepth=8", "number_ios=8000", "io_size=64m", "norandommap", "size=100%")
        for regions, more in (("0%-25%, 50%-100%", ()), ("set 2, set 1", ("ftl.nvm_sets=C0, C1",))):
            result = self.run_flows("-w", "w.fio", "-w", "r.fio", *sets(*FULL, *more, f"host.regions={regions}", "run.slowest=1000"))
            capacity = 12 << 20
            if more:
                ranges = [(s["offset_bytes"], s["offset_bytes"] + s["bytes"]) for s in result["ftl"]["nvm_sets"]]
                expected = {"w": ranges[1], "r": ranges[0]}
            else:
                expected = {"w": (0, capacity // 4), "r": (capacity // 2, capacity)}
            commands = json.loads((self.dir / "out" / "slowest.json").read_text())["commands"]
            self.assertEqual(len(commands), 2000)
            for c in commands:
                low, high = expected[c["flow"]]
                self.assertTrue(low <= c["offset"] and c["offset"] + c["bytes"] <= high, c)
            for name, (low, high) in expected.items():  # and uses all of it
                offsets = [c["offset"] for c in commands if c["flow"] == name]
                self.assertGreater(max(offsets) - min(offsets), 0.95 * (high - low))
            behind = {h.get("flow") for c in commands if c["flow"] == "r" for step in c["path"] for h in step.get("held_by", []) if h["kind"] == "host_program"}
            self.assertEqual("w" in behind, not more)  # sets share no die
            if not more:
                done = self.ssdtlm("explain", "out", "--op", "read", "--slowest", "20")
                self.assertEqual(done.returncode, OK, done.stderr)
                self.assertIn(" of flow w", done.stdout)

    def test_fetch_windows(self):
        """With a window of one, one command of the flow is in the controller, whatever its depth."""
        self.job("a", "rw=randread", "bs=4k", "iodepth=32", "number_ios=1000", "size=8m", "norandommap")
        self.job("b", "rw=randread", "bs=4k", "iodepth=32", "number_ios=4000", "size=8m", "norandommap")
        result = self.run_flows("-w", "a.fio", "-w", "b.fio", *sets("precondition.state=sequential", "nvme.fetch_windows=[1]", "nvme.fetch_burst=1"))
        inside = {}
        for tenant in result["latency_us_by_tenant"]:
            flow = result["flows"][tenant["tenant"] - 1]
            served = sum(us for stage, us in tenant["stages"].items() if stage not in ("host_queue", "submit", "arbitration"))
            inside[flow["name"]] = served * 1e-6 * flow["iops"]
        print("commands in the controller", inside)
        self.assertLess(inside["a"], 1.02)
        self.assertGreater(inside["a"], 0.9)
        self.assertGreater(inside["b"], 25)

    def test_rows_are_the_waits(self):
        """Of random small runs: what the flows waited for each other is what they waited, by stage and to the picosecond."""
        flow_waits(self, 8)

    def test_a_writer_twice_as_fast(self):
        """A reader at a steady rate beside a random writer on a full drive. When the writer's rate doubles, so do its programs and its collection, and with
        them what the reader waits for it; what it waits for itself stays small."""
        self.job("r", "rw=randread", "bs=4k", "iodepth=64", "rate_iops=500", "rate_process=poisson", "time_based", "runtime=20", "norandommap", "size=100%")
        shares = {}
        for rate in (50, 100):
            self.job("w", "rw=randwrite", "bs=4k", "iodepth=64", f"rate_iops={rate}", "time_based", "runtime=20", "norandommap", "size=100%")
            result = self.run_flows("-w", "r.fio", "-w", "w.fio", *sets(*FULL, "ftl.user_capacity=13MiB"), output=f"o{rate}")
            rows = {(row["flow"], row["for"]): row["stages_ps"] for row in result["flow_waits"]}
            reads = result["flows"][0]["commands"]
            counters = result["counters"]
            programs = counters["flash_host_page_programs"] + counters["flash_gc_page_programs"]
            shares[rate] = {kind: rows[("r", "w")].get(f"die_wait_{kind}", 0) / reads for kind in ("host_write", "gc", "erase")}, sum(
                rows[("r", "r")].get(s, 0) for s in WAITS) / reads, programs
            print(rate, shares[rate], result["flows"][1]["iops"])
        (slow, own_slow, few), (fast, own_fast, many) = shares[50], shares[100]
        for kind in ("host_write", "gc", "erase"):
            self.assertGreater(slow[kind], 0)
            # As the programs of the kind, which double, or a little more: what waits for one waits for the next as well.
            self.assertGreater(fast[kind] / slow[kind], 0.85 * many / few, kind)
            self.assertLess(fast[kind] / slow[kind], 1.5 * many / few, kind)
        self.assertLess(own_fast, 0.5 * fast["gc"])
        self.assertLess(abs(own_fast / own_slow - 1), 0.5)

    def refused(self, *args):
        done = self.ssdtlm("run", "tiny-test", *args)
        self.assertEqual(done.returncode, USER_ERROR, done.stdout + done.stderr)
        return done.stderr

    def test_mistakes(self):
        """All at once, with what is allowed and how to repair it."""
        self.job("a", *READER)
        self.job("b", *READER)
        text = self.refused("-w", "a.fio", "-w", "nowhere.fio", "-w", "nobody")
        self.assertIn("nowhere.fio", text)
        self.assertIn("no workload 'nobody'", text)
        text = self.refused("-w", "a.fio", "-w", "b.fio", "--section", "a", "--name=x")
        self.assertIn("--section with several workloads", text)
        self.assertIn("--name with several workloads", text)
        self.assertIn("a flow: a, b", self.refused("-w", "a.fio", "-w", "b.fio", "--only", "c"))
        self.assertIn("--alone with one flow", self.refused("-w", "a.fio", "--alone"))
        self.assertIn('--alone with host.tenants = "one"', self.refused("-w", "a.fio", "-w", "b.fio", "--alone", *sets("host.tenants=one")))
        self.assertIn("--alone and --only", self.refused("-w", "a.fio", "-w", "b.fio", "--alone", "--only", "a"))
        text = self.refused("-w", "a.fio", "-w", "b.fio", *sets("host.regions=0%-200%, set 1, 5MiB"))
        for part in ('"0%-200%"', "ftl.nvm_sets is empty", '"5MiB"'):
            self.assertIn(part, text)
        self.assertIn("3 regions for 2 workloads", self.refused("-w", "a.fio", "-w", "b.fio", *sets("host.regions=all, all, all")))
        self.assertIn("nvme.fetch_windows", self.refused("-w", "a.fio", *sets("nvme.fetch_windows=[4]")))
        self.assertIn("2 tenants share 1 queue pairs", self.refused("-w", "a.fio", "-w", "b.fio", *sets("host.queue_pairs=1")))
        self.assertIn("no flows in it", self.refused("-w", "a.fio", "-w", "b.fio", "--base", self.one_flow()))
        self.assertIn("nowhere/result.json: cannot be read", self.refused("-w", "a.fio", "-w", "b.fio", "--base", "nowhere"))

    def test_folders_of_flows_alone(self):
        """A folder for each, whatever the names are; and what is in it can be explained like any other run."""
        for name in ("a b", "a_b", "é", "ü"):
            self.write(name + ".fio", "[j]\nioengine=libaio\n" + "\n".join(READER).replace("600", "100") + "\n")
        self.run_flows("-w", "a b.fio", "-w", "a_b.fio", "-w", "é.fio", "-w", "ü.fio", "--alone")
        self.assertEqual(sorted(p.name for p in (self.dir / "out" / "alone").iterdir()), ["__", "__-2", "a_b", "a_b-2"])
        done = self.ssdtlm("explain", "out/alone/a_b-2", "--command", "9")
        self.assertEqual((done.returncode, done.stderr), (OK, ""))
        self.write("dots.fio", "[global]\nioengine=libaio\nrw=randread\nbs=4k\nnumber_ios=50\n[.]\n[..]\n")
        self.run_flows("-w", "dots.fio", "--alone", output="dots")
        self.assertEqual(sorted(p.name for p in (self.dir / "dots" / "alone").iterdir()), ["_", "__"])

    def test_interrupted_alone(self):
        """The flow that runs is told once, and writes its results; a parent that dies takes it along."""
        self.write("a.fio", "[j]\nioengine=libaio\nrw=randread\nbs=4k\nnumber_ios=50\n")
        self.write("long.fio", "[j]\nioengine=libaio\nrw=randrw\nbs=4k\nnorandommap\ntime_based\nruntime=100000s\n")
        for sent, group in ((signal.SIGINT, False), (signal.SIGINT, True), (signal.SIGKILL, False)):
            with self.subTest(signal=sent, group=group):
                program = subprocess.Popen([BINARY, "run", "tiny-test", "-w", "a.fio", "-w", "long.fio", "--alone", "-q", "-o", "cut"], cwd=self.dir,
                                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
                end = time.monotonic() + 60
                while not (children := self.children(program.pid)) or not (self.dir / "cut" / "alone" / "long").is_dir():
                    self.assertLess(time.monotonic(), end)
                    time.sleep(0.05)
                self.let_run_pid(children[0], 0.5)
                (os.killpg if group else os.kill)(program.pid, sent)
                program.communicate(timeout=60)
                if sent == signal.SIGINT:
                    self.assertEqual(program.returncode, 130)
                    result = json.loads((self.dir / "cut" / "alone" / "long" / "result.json").read_text())
                    self.assertGreater(result["commands"], 0)
                for _ in range(100):
                    if not pathlib.Path(f"/proc/{children[0]}/exe").exists():
                        break
                    time.sleep(0.1)
                self.assertFalse(pathlib.Path(f"/proc/{children[0]}/exe").exists(), "the child lives on")
                shutil.rmtree(self.dir / "cut")

    @staticmethod
    def children(pid):
        try:
            return [int(word) for word in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
        except OSError:
            return []

    @staticmethod
    def let_run_pid(pid, cpu_seconds):
        end = time.monotonic() + 60
        while time.monotonic() < end:
            fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            if (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK") >= cpu_seconds:
                return
            time.sleep(0.05)

    def test_sixty_four_flows(self):
        """All are in result.json; the terminal shows the longest waits, not their square."""
        text = "[global]\nioengine=libaio\nrw=randrw\nbs=4k\niodepth=2\nnumber_ios=40\n" + "".join(f"[j{i}]\n" for i in range(64))
        done = self.ssdtlm("run", "tiny-test", "-w", self.write("many.fio", text), "-o", "many", *sets("host.tenants=by_job", "host.queue_pairs=64"))
        self.assertEqual(done.returncode, OK, done.stderr)
        waits = json.loads((self.dir / "many" / "result.json").read_text())["flow_waits"]
        shown = done.stdout.split("waits for the flash, us per command\n")[1].split("\n\n")[0].splitlines()
        self.assertGreater(len(waits), 1000)
        for row in waits:
            self.assertEqual(sum(row["causes_ps"].values()), row["total_ps"])
            self.assertEqual(sum(row["stages_ps"].values()), row["total_ps"])
        self.assertEqual(shown[-1], f"  the 25 longest of {len(waits)}; all are in result.json")
        self.assertEqual(len(shown), 1 + 25 + 1)

    def one_flow(self):
        self.run_flows("-w", "a.fio", output="one")
        return "one"

    def test_same_job_twice(self):
        """Two flows of one job file are not the same I/O, and have names of their own."""
        self.job("a", *READER)
        result = self.run_flows("-w", "a.fio", "-w", "a.fio", *sets("precondition.state=sequential", "run.slowest=1000"))
        self.assertEqual([f["name"] for f in result["flows"]], ["a", "a-2"])
        offsets = {"a": set(), "a-2": set()}
        for c in json.loads((self.dir / "out" / "slowest.json").read_text())["commands"]:
            offsets[c["flow"]].add(c["offset"])
        self.assertLess(len(offsets["a"] & offsets["a-2"]), 200)


if __name__ == "__main__":
    unittest.main()
