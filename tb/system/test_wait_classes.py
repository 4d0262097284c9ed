# SPDX-License-Identifier: Apache-2.0
"""Whose work the dies were busy with while a command waited: each kind of work has a stage of its own, which is there exactly where that work is."""
import collections
import json

from support import SystemTest

MIX = ("rw=randrw", "rwmixread=60", "bs=4k", "iodepth=32", "number_ios=4000", "norandommap")
FULL = ("precondition.state=random", "buffer.size=128KiB")
LINES = ("nand.geometry.channels=2", "nand.geometry.ways=2", "nand.geometry.dies_per_chip=2", "nand.geometry.blocks_per_plane=16", "ftl.superblock=drive",
         "ftl.user_capacity=6MiB", *FULL)
BACKGROUND = {"gc", "rmw", "fold", "relocation", "merge", "journal", "parity", "padding", "checkpoint", "mapping"}
# What a die is seen to do (explain, timeline, waves): the stage of those who wait for it.
STAGE_OF = {"map_read": "mapping", "map_program": "mapping", "host_program": "host_write"}
# name -> (job, settings, those that make the work, what waits there are then, that are not there without).
CASES = {
    "gc": (MIX, ("buffer.size=128KiB", "precondition.state=fresh"), ("precondition.state=random",), {"gc"}),
    "parts of units": (("rw=randrw", "rwmixread=60", "bs=2k", "iodepth=32", "number_ios=4000", "norandommap"), ("buffer.size=128KiB", "precondition.state=sequential"),
                       ("nand.geometry.unit_size=4KiB",), {"rmw"}),
    "SLC": (MIX, ("buffer.size=128KiB", "nand.bits_per_cell=3", "ftl.user_capacity=8MiB"), ("slc.blocks=4",), {"fold"}),
    "refresh": (("rw=randread", "bs=4k", "iodepth=32", "number_ios=6000", "norandommap", "size=1m", "io_size=64m"), ("buffer.size=128KiB", "precondition.state=sequential"),
                ("refresh.reads=10",), {"relocation"}),
    "log blocks": (MIX, ("ftl.user_capacity=8MiB", "buffer.size=128KiB"), ("ftl.mapping=fast",), {"merge"}),
    "journal": (("rw=randrw", "rwmixread=50", "bs=4k", "iodepth=32", "number_ios=16000", "norandommap"), FULL, ("trims",), {"journal"}),
    "parity": (MIX, LINES, ("ftl.parity=die",), {"parity"}),
    "two steps": ((*MIX, "fsync=8"), FULL, ("nand.two_step=true",), {"padding"}),
    "checkpoints": (MIX, FULL, ("ftl.checkpoint_interval=1MiB",), {"checkpoint"}),
    "map on the flash": (MIX, FULL, ("ftl.mapping=dftl", "map.cache=8KiB", "map.entry_size=64B", "nvme.max_transfer=64KiB"), {"mapping"}),
}


class WaitClasses(SystemTest):
    def played(self, job, settings, output):
        text = ["[mix]", "ioengine=libaio", *job]
        if "trims" in settings:
            text += ["[trims]", "ioengine=libaio", "rw=randtrim", "bs=4k", "iodepth=8", "number_ios=16000", "norandommap"]
        sets = [word for s in settings if s != "trims" for word in ("--set", s)]
        return self.simulate("tiny-test", self.write("job.fio", "\n".join([*text, ""])), "--set", "run.slowest=1000", "--timeline", *sets, output=output)

    def waits(self, result):
        """Microseconds in the mean by kind of work. Each command's stages add up to its latency, to the picosecond, and to who held the die."""
        found = collections.Counter()
        for command in result.json("slowest.json")["commands"]:
            at = command["issued_ps"]
            for step in command["path"]:
                self.assertEqual(step["from_ps"], at)
                at = step["to_ps"]
                self.assertEqual(sum(step["stages_ps"].values()), at - step["from_ps"])
                stages = {s.removeprefix("die_wait_"): ps for s, ps in step["stages_ps"].items() if s.startswith("die_wait_")}
                if not stages or "holders_not_known_ps" in step or "more" in step or "order" in step:
                    continue
                held = collections.Counter()
                for h in step.get("held_by", []):
                    if h["resource"].startswith("die"):
                        held[STAGE_OF.get(h["kind"], h["kind"].removesuffix("_read").removesuffix("_program") if h["kind"] != "host_read" else "host_read")] += h["to_ps"] - h["from_ps"]
                if step["stages_ps"].keys() - stages.keys() == set() or held:
                    self.assertEqual(held, stages, command)
            self.assertEqual(at - command["issued_ps"], command["total_ps"])
        for op, stages in result.json()["latency_us"].items():
            found.update({s.removeprefix("die_wait_"): row["mean"] for s, row in stages.items() if s.startswith("die_wait_")})
            together = sum(row["mean"] for stage, row in stages.items() if stage != "total")
            self.assertAlmostEqual(together, stages["total"]["mean"], delta=1e-4, msg=op)
        return found

    def shown(self, result):
        """Kinds of background work on the tracks of the dies."""
        events = json.loads((result.path / "trace.json").read_text())
        groups = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
        names = collections.Counter(e["name"] for e in events if e["ph"] == "X" and groups[e["pid"]] == "dies")
        return names, {STAGE_OF.get(n, n.rsplit("_", 1)[0]) for n in names} & BACKGROUND

    def test_each_kind_of_work_has_its_stage(self):
        for name, (job, settings, more, expected) in CASES.items():
            with self.subTest(name=name):
                without = () if name == "parts of units" else settings
                plain = self.played(MIX if name == "parts of units" else job, settings, "without")
                full = self.played(job, (*settings, *more), "with")
                without, there = self.waits(plain), self.waits(full)
                print(name, "without:", {k: round(v, 3) for k, v in without.items()}, "with:", {k: round(v, 3) for k, v in there.items()})
                for kind in expected:
                    self.assertGreater(there[kind], 0)
                    self.assertEqual(without[kind], 0)
                # Waits are for work that the timeline shows, and what there is in number is counted under its name.
                for result, waits in ((plain, without), (full, there)):
                    names, kinds = self.shown(result)
                    self.assertLessEqual({k for k, us in waits.items() if us and k in BACKGROUND}, kinds)
                    counters = self.assert_right(result)["counters_whole_run"]
                    for shown, count in names.items():
                        counter = f"flash_{STAGE_OF.get(shown, shown).replace('mapping', 'translation')}".removesuffix("_write").removesuffix("_program").removesuffix("_read")
                        key = counter + ("_page_reads" if shown.endswith("_read") else "_page_programs")
                        if shown not in ("erase", "map_read"):
                            self.assertEqual(count, counters[key], shown)
