# SPDX-License-Identifier: Apache-2.0
"""The transaction timeline: valid JSON, tracks without overlaps, and flows that lead a command through the device."""
import collections
import json
from decimal import Decimal

from support import OK, USER_ERROR, SystemTest


def load(path):
    return json.loads(path.read_text(), parse_float=Decimal)


class Timelines(SystemTest):
    def timeline(self, device, job, *args, output="out"):
        done = self.ssdtlm("run", device, "-w", job, "-o", output, "--timeline", *args)
        self.assertEqual((done.returncode, done.stderr), (OK, ""))
        self.assertIn("timeline:", done.stdout)
        folder = self.dir / output
        return load(folder / "trace.json"), json.loads((folder / "result.json").read_text()), folder

    def tracks(self, events):
        """Name of each track -> its slices in order of time; checks that they do not overlap."""
        groups = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
        names = {e["tid"]: f"{groups[e['pid']]}/{e['args']['name']}" for e in events if e["name"] == "thread_name"}
        self.assertEqual(len(set(names.values())), len(names))
        tracks = {name: [] for name in names.values()}
        for e in events:
            if e["ph"] == "X":
                tracks[names[e["tid"]]].append(e)
        for name, slices in tracks.items():
            slices.sort(key=lambda e: e["ts"])
            for a, b in zip(slices, slices[1:]):
                self.assertLessEqual(a["ts"] + a["dur"], b["ts"], name)
        return tracks

    def test_tracks_say_what_the_results_say(self):
        job = self.job("mix", "rw=randrw", "rwmixread=50", "bs=4k", "iodepth=8", "number_ios=3000", "norandommap")
        events, result, _ = self.timeline("tiny-test", job)
        tracks, counters = self.tracks(events), result["counters"]
        names = collections.Counter(s["name"] for name, t in tracks.items() if name.startswith("dies/") for s in t)
        self.assertEqual(names["host_read"], counters["flash_host_page_reads"])
        self.assertEqual(names["gc_program"], counters["flash_gc_page_programs"])
        self.assertEqual(names["erase"], counters["flash_block_erases"])
        for name, time in (("host_read", "75"), ("host_program", "750"), ("erase", "3800")):
            found = {s["dur"] for t in tracks.values() for s in t if s["name"] == name}
            self.assertEqual(found, {Decimal(time)})
        wire = sum(s["args"]["wire_bytes"] for s in tracks["link/to host"])
        self.assertEqual(wire, counters["link_wire_bytes_to_host"])
        commands = [s for name, t in tracks.items() if name.startswith("queues/") for s in t]
        self.assertEqual(len(commands), counters["host_commands"])
        # A command's stages are its length.
        for c in commands:
            self.assertEqual(sum(v for k, v in c["args"].items() if k.endswith("_us")), c["dur"])

    def test_flows_lead_through_the_device(self):
        job = self.job("read", "rw=randread", "bs=4k", "iodepth=1", "number_ios=50")
        events, _, _ = self.timeline("tiny-test", job)
        tracks = self.tracks(events)
        slices = {}  # (track, begin) -> slice
        for name, t in tracks.items():
            for s in t:
                slices[s["tid"], s["ts"]] = (name.split("/")[0], s)
        flows = collections.defaultdict(list)
        for e in sorted((e for e in events if e["ph"] in "st"), key=lambda e: (e["ts"], e["ph"])):
            # It belongs to the slice that begins there.
            flows[e["id"]].append(slices[e["tid"], e["ts"]])
        self.assertEqual(len(flows), 50)
        for number, parts in flows.items():
            self.assertEqual([group for group, _ in parts],
                             ["queues", "firmware", "firmware", "channels", "dies", "channels", "link", "link"])
            names = [s["name"] for _, s in parts]
            self.assertEqual(names, ["read", "read_command", "read_issue", "host_read command", "host_read", "host_read data", "MWr", "MWr"])
            command = parts[0][1]
            self.assertEqual({s["args"]["command"] for _, s in parts}, {number})
            for (_, a), (_, b) in zip(parts[1:], parts[2:]):
                self.assertLessEqual(a["ts"] + a["dur"], b["ts"])
            self.assertLess(parts[-1][1]["ts"] + parts[-1][1]["dur"], command["ts"] + command["dur"])

    def test_split_requests_and_several_queues(self):
        job = self.write("two.fio", "[global]\nioengine=libaio\n[a]\nrw=randread\nbs=1m\niodepth=2\nnumber_ios=20\n[b]\nrw=randwrite\nbs=64k\niodepth=4\nnumber_ios=40\n")
        events, result, _ = self.timeline("tiny-test", job)
        tracks = self.tracks(events)
        commands = [s for name, t in tracks.items() if name.startswith("queues/") for s in t]
        self.assertEqual(len(commands), result["counters"]["host_commands"])
        self.assertEqual({s["args"]["queue"] for s in commands}, {1, 2})

    def test_independent_planes_have_their_own_tracks(self):
        job = self.job("read", "rw=randread", "bs=4k", "iodepth=16", "number_ios=300")
        events, _, _ = self.timeline("wd-sn730-512g", job, "--set", "nand.independent_plane_read=true")
        self.assertTrue(any("plane 1" in name for name in self.tracks(events)))

    def test_changes_nothing_and_is_the_same_each_time(self):
        job = self.job("mix", "rw=randrw", "bs=4k", "iodepth=8", "number_ios=1000")
        plain = self.simulate("tiny-test", job, output="plain").files()
        _, _, one = self.timeline("tiny-test", job, output="one")
        _, _, two = self.timeline("tiny-test", job, "--wave", "--set", "run.agenda=lockstep", output="two")
        for name, content in plain.items():
            self.assertEqual((one / name).read_bytes(), content, name)
        self.assertEqual((one / "trace.json").read_bytes(), (two / "trace.json").read_bytes())

    def test_reads_that_are_repeated(self):
        job = self.job("mix", "rw=randrw", "rwmixread=50", "bs=4k", "iodepth=8", "number_ios=3000", "norandommap")
        faults = ("--set", "nand.faults.read_retry=10%", "--set", "ecc.decode_time=7us")
        events, result, _ = self.timeline("tiny-test", job, "--wave", *faults)
        counters = result["counters"]
        self.assertGreater(counters["flash_read_retries"], 100)
        for group, name in (("dies/", "{}_read"), ("channels/", "{}_read data")):
            slices = collections.Counter(s["name"] for track, t in self.tracks(events).items() if track.startswith(group) for s in t)
            for whose in ("host", "gc"):
                self.assertEqual(slices[name.format(whose)], counters[f"flash_{whose}_page_reads"])

    def test_window(self):
        job = self.job("mix", "rw=randrw", "bs=4k", "iodepth=8", "number_ios=1000")
        whole, _, _ = self.timeline("tiny-test", job)
        part, _, _ = self.timeline("tiny-test", job, "--timeline-from", "20ms", "--timeline-to", "30ms", output="part")

        def slices(events):
            return {(e["tid"] // 10**8, e["ts"], e["dur"], e["name"]) for e in events
                    if e["ph"] == "X" and 20_000 <= e["ts"] <= 30_000}

        self.assertEqual(slices(part), slices(whole))
        self.assertEqual(len(slices(part)), sum(e["ph"] == "X" for e in part))

    def test_mistakes(self):
        job = self.job("few", "rw=read", "bs=4k", "number_ios=10")
        for args, message in ((["--timeline-from", "1ms"], "without --timeline"),
                              (["--timeline", "--timeline-to", "1"], "--timeline-to '1'"),
                              (["--timelin"], "did you mean '--timeline'?")):
            done = self.ssdtlm("run", "tiny-test", "-w", job, "-o", "out", *args)
            self.assertEqual((done.returncode, done.stdout), (USER_ERROR, ""), args)
            self.assertIn(message, done.stderr)
