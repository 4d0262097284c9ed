# SPDX-License-Identifier: Apache-2.0
"""A program of one's own around the installed library (project/own_program.cpp): what it links can be chosen in all of its commands.

SSDTLM names it, SSDTLM_PREFIX where the library was installed."""
import json
import os
import pathlib
import re
import shutil
import stat
import subprocess
import unittest

import sweeps
from support import BINARY, OK, USER_ERROR, SystemTest

PREFIX = pathlib.Path(os.environ["SSDTLM_PREFIX"])
OVERWRITES = ("--set", "workload.overwrites.commands=30000")
# A drive whose dies limit, and two tenants that ask for more than their share: sizes that differ, depths that differ.
DIES_LIMIT = {"nand.geometry.ways": 2, "nand.geometry.page_size": "16KiB", "nand.geometry.spare_size": "896B", "ftl.user_capacity": "96MiB", "nand.t_read": "75us",
              "precondition.state": "sequential", "host.tenants": "by_job", "host.queue_pairs": 2}
TWO = ("[global]\nioengine=libaio\nrw=randread\nnorandommap\nsize=96m\ntime_based\nruntime=400ms\n"
       "[one]\nbs={0}k\niodepth={1}\n[two]\nbs={2}k\niodepth={3}\n")
MIX = ("[global]\nioengine=libaio\n[small]\nrw=randrw\nbs=4k\niodepth=16\nnumber_ios={0}\nsize=6m\nio_size=100g\n"
       "[large]\nrw=randwrite\nbs=16k\niodepth=8\nfsync=500\nnumber_ios={1}\noffset=6m\nsize=6m\nio_size=100g\n")
FEW = ("--set", "frontend.kind=few_at_a_time", "--set", "frontend.few_at_a_time.requests=4", "--set", "run.data=bytes")


class OwnProgram(SystemTest):
    def setUp(self):
        super().setUp()
        # Whoever starts the program by its name gets another.
        other = self.dir / "bin"
        other.mkdir()
        (other / "ssdtlm").write_text("#!/bin/sh\necho the other program >&2\nexit 99\n")
        (other / "ssdtlm").chmod(0o755)
        self.environment = {**sweeps.ENVIRONMENT, "PATH": f"{other}:{os.environ['PATH']}"}

    def own(self, *words, code=OK, **environment):
        done = subprocess.run([BINARY, *map(str, words)], cwd=self.dir, env={**self.environment, **environment}, capture_output=True, text=True, timeout=280)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout if code == OK else done.stderr

    def run_it(self, folder, *settings):
        """result.json of 4 KiB reads and writes, half and half."""
        self.own("run", "tiny-test", "-w", "overwrites", "-q", "-o", folder, *OVERWRITES, "--set", "workload.overwrites.writes=50%", *settings)
        return json.loads((self.dir / folder / "result.json").read_text())

    def test_run(self):
        """Each of them acts, and as it says."""
        ours = self.run_it("ours")
        self.assertEqual(ours["read"]["ios"] + ours["write"]["ios"], 30000)
        # Half of them are writes, give or take four standard deviations.
        self.assertAlmostEqual(ours["write"]["ios"], 15000, delta=4 * (30000 * 0.5 * 0.5) ** 0.5)
        # Reads wait behind all programs that wait.
        writes = self.run_it("writes", "--set", "scheduler.policy=write_first")
        self.assertGreater(writes["latency_us"]["read"]["total"]["mean"], 1.2 * ours["latency_us"]["read"]["total"]["mean"])
        # What no block can reach as its age leaves the oldest; with no age to reach, the emptiest is taken.
        oldest = self.run_it("oldest", "--set", "gc.policy=aged_greedy", "--set", "gc.aged_greedy.ages=1000000000")
        self.assertEqual(oldest["ftl"]["waf"], self.run_it("fifo", "--set", "gc.policy=fifo")["ftl"]["waf"])
        emptiest = self.run_it("emptiest", "--set", "gc.policy=aged_greedy", "--set", "gc.aged_greedy.ages=[0]", "--set", "gc.aged_greedy.log=victims.txt")
        self.assertAlmostEqual(emptiest["ftl"]["waf"], ours["ftl"]["waf"], delta=0.02 * ours["ftl"]["waf"])
        victims = [[int(word) for word in line.split()] for line in (self.dir / "victims.txt").read_text().splitlines()]
        self.assertGreaterEqual(len(victims), emptiest["ftl"]["blocks_erased"])
        self.assertEqual([v[0] for v in victims], sorted(v[0] for v in victims))
        self.assertLess(1.04 * emptiest["ftl"]["waf"], oldest["ftl"]["waf"])
        tenants = self.run_it("tenants", "--set", "scheduler.bus_order=tenant_first")
        self.assertIn('bus_order = "tenant_first"', tenants["config_toml"])

    def swept(self, sweep, jobs):
        """Folders of a sweep's runs, and the point of each."""
        self.write("swept.fio", jobs)
        self.write("sweep.toml", f'device = "tiny-test"\nworkload = "swept.fio"\noutput = "swept"\n{sweep}')
        self.own("sweep", "run", "sweep.toml", "-q", "--workers", 1)
        found = sweeps.records(self.dir / "swept")
        self.assertTrue(all(record["command"][0] == BINARY for record in found.values()))
        return [(self.dir / "swept" / "runs" / key, record["point"]) for key, record in found.items()]

    @unittest.skipUnless(sweeps.can_sweep(), "make python")
    def test_shares_of_tenants(self):
        """By a policy that counts turns: reads are as the list of weights, to 5 %, whatever the sizes and depths. Under run and in a sweep."""
        settings = "".join(f"{key} = {json.dumps(value)}\n" for key, value in DIES_LIMIT.items())
        for sizes_and_depths in ((4, 64, 16, 64), (4, 8, 4, 256)):
            jobs = TWO.format(*sizes_and_depths)
            depths = sizes_and_depths[1::2]

            def share(folder):
                """Of the first tenant. What is outstanding at the end comes when nobody asks any more."""
                reads = [job["read"]["total_ios"] - depth for job, depth in zip(json.loads((folder / "fio.json").read_text())["jobs"], depths, strict=True)]
                return reads[0] / sum(reads)

            for folder, point in self.swept(f'[set]\nscheduler.policy = "tenant_turns"\n{settings}[grid]\nscheduler.tenant_turns.weights = [[1, 1], [1, 3], [3, 1]]\n', jobs):
                weights = point["scheduler.tenant_turns.weights"]
                wanted = weights[0] / sum(weights)
                print(f"[   FIGURE ] KiB and depths {sizes_and_depths}, weights {weights}: {share(folder):.4f} for {wanted:.4f}")
                self.assertLess(abs(share(folder) / wanted - 1), 0.05)
                if weights == [1, 3]:
                    self.own("run", "tiny-test", "-w", "swept.fio", "-q", "-o", "alone", *(word for key, value in DIES_LIMIT.items() for word in ("--set", f"{key}={value}")),
                             "--set", "scheduler.policy=tenant_turns", "--set", "scheduler.tenant_turns.weights=[1, 3]")
                    self.assertEqual(share(self.dir / "alone"), share(folder))
            shutil.rmtree(self.dir / "swept")

    def right(self, folder):
        """All bytes that were compared were right and the stages of each command add up, or the program ends with 1. The books balance."""
        result = json.loads((folder / "result.json").read_text())
        self.assertEqual(result["error_status"], 0)
        self.assertTrue(all(line["left"] == line["right"] for line in result["books"]))
        return result

    def test_a_front_end_of_ones_own(self):
        """A million commands with all bytes compared."""
        self.write("mix.fio", MIX.format(900_000, 100_000))
        self.own("run", "tiny-test", "-w", "mix.fio", "-q", "-o", "million", *FEW, "--set", "nand.t_program=50us", "--set", "nand.t_read=20us")
        result = self.right(self.dir / "million")
        print(f"[   FIGURE ] {result['commands_including_ramp']} commands, {result['integrity_checked_blocks']} logical blocks compared")
        self.assertGreaterEqual(result["commands_including_ramp"], 1_000_000)
        self.assertGreater(result["integrity_checked_blocks"], 1_000_000)
        said = self.own("run", "tiny-test", "-w", "mix.fio", *FEW, "--set", 'host.reset_at=["1ms"]', code=USER_ERROR)
        self.assertIn("host.reset_at: resets of a drive whose front end knows none; no resets", said)

    @unittest.skipUnless(sweeps.can_sweep(), "make python")
    def test_its_losses_of_power_in_a_sweep(self):
        """Two ways of buffering, each with ten losses of power, and few or many requests in the firmware: more of them at a time end sooner."""
        cuts = [f"{at}ms" for at in range(50, 550, 50)]
        found = self.swept(f'[set]\nfrontend.kind = "few_at_a_time"\nrun.data = "bytes"\nhost.power_cut_at = {json.dumps(cuts)}\nhost.power_off_time = "10ms"\n'
                           '[grid]\nbuffer.mode = ["write_back", "write_through"]\nfrontend.few_at_a_time.requests = [1, 16]\n', MIX.format(20_000, 3_000))
        took = {}
        for folder, point in found:
            result = self.right(folder)
            self.assertEqual(len(result["power_cuts"]), len(cuts))
            self.assertNotEqual(sum(cut["pages_torn"] for cut in result["power_cuts"]), 0, "no loss of power met a program")
            took[tuple(point.values())] = result["simulated_s"]
        self.assertEqual(len(took), 4)
        for mode in ("write_back", "write_through"):
            self.assertLess(1.1 * took[mode, 16], took[mode, 1])

    def test_a_feature_of_ones_own(self):
        """It takes the host's pages, is emptied, lists what it holds, and counts; its parameters act, and its checks have the form of all others."""
        ours, staged = self.run_it("ours"), self.run_it("staged", "--set", "ftl.staging.blocks=3")
        self.assertFalse([name for name in ours["counters"] if name.startswith("staging_")])
        counted = {name: value for name, value in staged["counters_whole_run"].items() if name.startswith("staging_")}
        self.assertLessEqual(counted["staging_not_listed"] + counted["staging_lists_programmed"], counted["staging_pages"] // 32)
        for name in ("staging_pages", "staging_superblocks_emptied", "staging_lists_programmed"):
            self.assertGreater(counted[name], 50, name)
        self.assertEqual(staged["counters_whole_run"]["flash_padding_page_programs"], counted["staging_lists_programmed"])
        self.right(self.dir / "staged")
        silent = self.run_it("silent", "--set", "ftl.staging.blocks=3", "--set", "ftl.staging.contents=false")
        self.assertEqual(silent["counters_whole_run"]["staging_lists_programmed"], 0)
        self.assertNotIn("padding_pages", silent["ftl"])
        # A saved drive goes on with its area.
        self.own("run", "tiny-test", "-w", "overwrites", "-q", "-o", "saved", *OVERWRITES, "--set", "ftl.staging.blocks=3", "--save-drive", "drive")
        self.own("run", "tiny-test", "-w", "overwrites", "-q", "-o", "loaded", *OVERWRITES, "--set", "ftl.staging.blocks=3", "--set", "precondition.from=drive")
        self.right(self.dir / "loaded")
        said = self.own("config", "check", "tiny-test", "--set", "ftl.staging.blocks=2", "--set", "ftl.staging.keep_free=3", "--set", "nvme.streams=1", "--set", "host.streams=true", "--set", "ftl.stream_frontiers=1", code=USER_ERROR)
        self.assertIn("ftl.staging.keep_free: 3 with a staging area; at most ftl.staging.blocks = 2", said)
        self.assertIn("ftl.stream_frontiers: 1 with a staging area", said)
        said = self.own("config", "check", "tiny-test", "--set", "ftl.staging.block=2", code=USER_ERROR)
        self.assertIn("did you mean 'ftl.staging.blocks'", said)
        self.assertIn("0..65535", self.own("config", "check", "tiny-test", "--set", "ftl.staging.blocks=-1", code=USER_ERROR))
        for page in ("schema", "reference"):
            self.assertIn("keep_free", self.own("config", page))
        self.assertEqual(json.loads(self.own("config", "show", "tiny-test", "--json"))["parameters"]["ftl.staging.blocks"]["value"], 0)
        # Its superblocks are not the host's.
        said = self.own("config", "check", "tiny-test", "--set", "ftl.staging.blocks=20", code=USER_ERROR)
        self.assertIn("20 for other features", said)

    def test_config(self):
        shown = json.loads(self.own("config", "show", "tiny-test", "--set", "gc.policy=aged_greedy", "--json"))
        self.assertEqual(shown["parameters"]["gc.aged_greedy.ages"]["value"], [4096])
        self.assertEqual(shown["parameters"]["gc.aged_greedy.log"]["value"], "")
        self.assertIn("no problems", self.own("config", "check", "tiny-test", "-w", "overwrites", "--set", "scheduler.policy=write_first"))
        self.assertIn("overwrites", self.own("config", "workloads"))
        self.assertIn("aged_greedy", self.own("config", "schema"))

    def test_unknown_names_say_what_the_program_has(self):
        for setting, has in (("gc.policy=mine", "aged_greedy"), ("scheduler.policy=mine", "write_first"), ("scheduler.bus_order=mine", "tenant_first"),
                             ("frontend.kind=mine", "few_at_a_time")):
            said = self.own("config", "check", "tiny-test", "--set", setting, code=USER_ERROR)
            self.assertIn(has, said)
            self.assertIn("must be linked into the program", said)
        for setting, says in (("gc.aged_greedy.ages=[1, -1]", "0..1000000000"), ("gc.aged_greedy.agess=2", "did you mean 'gc.aged_greedy.ages'"),
                              ("gc.policy=aged_greedy gc.aged_greedy.ages=[]", "at least one age"),
                              ("gc.policy=aged_gredy", 'did you mean "aged_greedy"')):
            words = [word for one in re.split(r" (?=gc)", setting) for word in ("--set", one)]
            self.assertIn(says, self.own("config", "check", "tiny-test", *words, code=USER_ERROR))
        said = self.own("run", "tiny-test", "-w", "mine", code=USER_ERROR)
        self.assertIn("overwrites", said)
        self.assertIn("must be linked into the program", said)

    def test_what_is_installed_is_found(self):
        """Beside the library, from wherever the program was built."""
        self.assertNotIn(PREFIX, pathlib.Path(BINARY).parents)
        self.assertIn("no problems", self.own("config", "check", "only-here"))
        looks = self.dir / "python"
        looks.write_text("#!/bin/sh\necho $PYTHONPATH $SSDTLM_BINARY\n")
        looks.chmod(looks.stat().st_mode | stat.S_IXUSR)
        self.assertEqual(self.own("report", "x", SSDTLM_PYTHON=str(looks), PYTHONPATH="").split(), [str(PREFIX / "share/ssdtlm/python"), BINARY])

    @unittest.skipUnless(sweeps.can_sweep(), "make python")
    def test_commands_in_python(self):
        self.run_it("ours")
        self.run_it("aged", "--set", "gc.policy=aged_greedy")
        self.assertIn("aged_greedy", self.own("compare", "ours", "aged"))
        self.own("report", "aged", "-o", "report.html")
        self.assertIn("aged_greedy", (self.dir / "report.html").read_text())
        self.write("sweep.toml", 'device = "tiny-test"\nworkload = "overwrites"\noutput = "swept"\n[set]\nworkload.overwrites.commands = 30000\n'
                   'workload.overwrites.writes = "50%"\n[grid]\nscheduler.policy = ["read_first", "write_first"]\ngc.policy = ["greedy", "aged_greedy"]\n')
        self.own("sweep", "run", "sweep.toml", "-q", "--workers", 1)
        swept = sweeps.records(self.dir / "swept")
        self.assertEqual(len(swept), 4)
        for key, record in swept.items():
            self.assertEqual(record["command"][0], BINARY)
            found = json.loads((self.dir / "swept" / "runs" / key / "result.json").read_text())
            alone = self.run_it(f"alone-{key}", *(word for name, value in record["point"].items() for word in ("--set", f"{name}={value}")))
            self.assertEqual(found["latency_us"], alone["latency_us"])
            self.assertEqual(found["ftl"], alone["ftl"])
        self.write("search.toml", 'device = "tiny-test"\nworkload = "overwrites"\noutput = "found"\n[set]\nworkload.overwrites.commands = 30000\n'
                   '[grid]\ngc.policy = ["greedy", "aged_greedy"]\n[random.values]\ngc.aged_greedy.ages = { from = 0, to = 1000000 }\n'
                   '[search]\nminimize = ["ftl.waf"]\ntrials = 6\n')
        trials = json.loads(self.own("search", "search.toml", "--json", "-q", "--workers", 1))["trials"]
        self.assertEqual([t["state"] for t in trials], ["complete"] * 6)


if __name__ == "__main__":
    unittest.main()
