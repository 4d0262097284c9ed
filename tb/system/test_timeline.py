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
        tracks, counters = self.tracks(events), result["counters_whole_run"]
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
        self.assertEqual(len(commands), result["counters_whole_run"]["host_commands"])
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
        counters = result["counters_whole_run"]
        self.assertGreater(counters["flash_read_retries"], 100)
        for group, name in (("dies/", "{}_read"), ("channels/", "{}_read data")):
            slices = collections.Counter(s["name"] for track, t in self.tracks(events).items() if track.startswith(group) for s in t)
            for whose in ("host", "gc"):
                self.assertEqual(slices[name.format(whose)], counters[f"flash_{whose}_page_reads"])

    def test_resets(self):
        job = self.job("mix", "rw=randrw", "bs=16k", "iodepth=16", "number_ios=2000", "fsync=20")
        for name, *more in (("volatile", "--set", "buffer.mode=write_back"), ("through", "--set", "buffer.mode=write_through")):
            resets = ("--set", 'host.reset_at=["2ms", "20ms", "40ms", "200ms"]', *more)
            plain = self.simulate("tiny-test", job, *resets, output=f"{name}_plain").files()
            events, _, folder = self.timeline("tiny-test", job, *resets, output=name)
            for file, content in plain.items():
                self.assertEqual((folder / file).read_bytes(), content, file)
            given_up = [s for t in self.tracks(events).values() for s in t if "reset" in s["args"]]
            self.assertGreater(len(given_up), 5)
            self.assertGreaterEqual(min(s["dur"] for s in given_up), 0)

    def test_losses_of_power(self):
        job = self.job("mix", "rw=randrw", "bs=4k", "iodepth=16", "number_ios=3000", "fsync=50")
        for name, *more in (("lost",), ("capacitors", "--set", "buffer.mode=protected"), ("map", "--set", "ftl.mapping=dftl"),
                            ("suspends", "--set", "scheduler.suspend=for_reads")):
            cuts = ("--set", 'host.power_cut_at=["3ms", "5.5ms", "60ms", "300ms"]', "--set", "host.power_off_time=2ms", *more)
            plain = self.simulate("tiny-test", job, *cuts, output=f"{name}_plain").files()
            events, result, folder = self.timeline("tiny-test", job, *cuts, output=name)
            for file, content in plain.items():
                self.assertEqual((folder / file).read_bytes(), content, file)
            tracks = self.tracks(events)
            supply = tracks.pop("supply/power")
            off = [(s["ts"], s["ts"] + s["dur"]) for s in supply if s["name"] == "off"]
            self.assertEqual([round(begin * 10**6) for begin, _ in off],
                             [round((result["bring_up_s"] + c["at_s"] + c["on_capacitors_s"]) * 1e12) for c in result["power_cuts"]])
            self.assertEqual("on capacitors" in {s["name"] for s in supply}, name == "capacitors")
            cut = 0
            for track, slices in tracks.items():
                for s in slices:
                    begin, end = s["ts"], s["ts"] + s["dur"]
                    if "waiting" not in track:  # in the host
                        self.assertFalse([o for o in off if begin < o[1] and end > o[0]], (track, s))
                    if "power_lost" in s["args"]:
                        cut += 1
                        self.assertIn(end, {t for o in supply for t in (o["ts"],)}, (track, s))
            torn = [s for track, t in tracks.items() if track.startswith("dies/") for s in t
                    if "power_lost" in s["args"] and s["name"] in ("host_program", "gc_program")]
            self.assertEqual(sum(s["args"]["planes"] for s in torn), sum(c["pages_torn"] for c in result["power_cuts"]))
            self.assertGreater(cut, 4)
            begun = {(e["tid"], e["ts"]) for e in events if e["ph"] == "X"}
            self.assertFalse([e for e in events if e["ph"] in "st" and (e["tid"], e["ts"]) not in begun])

    def test_serial_ata(self):
        """Frames on their own track, as many as were counted, and the commands whose data they carry; resets and losses of power as over NVMe."""
        job = self.job("mix", "rw=randrw", "bs=16k", "iodepth=8", "number_ios=500", "fsync=50", "norandommap")
        sata = ("--set", "frontend.kind=sata")
        resets = ("--set", 'host.reset_at=["2ms", "20ms", "40ms"]')
        cuts = ("--set", 'host.power_cut_at=["3ms", "5.5ms", "30ms"]', "--set", "host.power_off_time=2ms")
        for name, more in (("alone", ()), ("not-queued", ("--set", "host.sata.ncq=false")), ("resets", resets), ("cuts", cuts)):
            with self.subTest(name):
                plain = self.simulate("tiny-test", job, *sata, *more, output=f"{name}_plain").files()
                events, result, folder = self.timeline("tiny-test", job, *sata, *more, output=name)
                for file, content in plain.items():
                    self.assertEqual((folder / file).read_bytes(), content, file)
                tracks, counters = self.tracks(events), result["counters_whole_run"]
                frames = tracks["link/Serial ATA"]
                for end in ("host", "device"):
                    sent = [s for s in frames if s["args"]["from"] == end and "lost" not in s["args"]]
                    self.assertEqual(len(sent), counters[f"sata_frames_to_{'device' if end == 'host' else 'host'}"])
                commands = {s["args"]["command"]: s for track, t in tracks.items() if track.startswith("queues/") and "waiting" not in track for s in t}
                for s in frames:
                    if "command" in s["args"]:
                        whole = commands[s["args"]["command"]]
                        self.assertTrue(whole["ts"] <= s["ts"] and s["ts"] + s["dur"] <= whole["ts"] + whole["dur"], (s, whole))
                        self.assertEqual(s["args"].get("tag", 32), whole["args"]["cid"])
                data = [s for s in frames if s["name"] == "Data" and "lost" not in s["args"]]
                if name in ("alone", "not-queued"):
                    self.assertEqual(len([s for s in data if "command" in s["args"]]), 500 * 2)
                for direction in ("to host", "to device"):  # they end at the adapter, which keeps its power
                    self.assertFalse([s for s in tracks[f"link/{direction}"] if "power_lost" in s["args"]])
                if name == "resets":
                    self.assertGreater(len([s for t in tracks.values() for s in t if "reset" in s["args"]]), 5)

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
