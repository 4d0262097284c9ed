# SPDX-License-Identifier: Apache-2.0
"""`ssdtlm explain`: what it says adds up, and agrees with the timeline of the same run, which is recorded on another way."""
import json
import re
import subprocess
from decimal import Decimal

from support import BINARY, OK, SOURCE, USER_ERROR, SystemTest

US = 1_000_000  # ps
NUMBER = re.compile(r"^ +(\d+\.\d{6}) +(\d+\.\d{6})  (.*)$")
HELD = re.compile(r"^ {30} +(\d+\.\d{6})  (.*)$")


def ps(text):
    return int(Decimal(text) * US)


class Explain(SystemTest):
    def explained(self, *args, code=OK):
        done = self.ssdtlm("explain", *args)
        self.assertEqual((done.returncode, done.stderr), (code, ""), done.stdout)
        return done.stdout

    def refused(self, *args):
        done = self.ssdtlm("explain", *args)
        self.assertEqual((done.returncode, done.stdout), (USER_ERROR, ""))
        return done.stderr

    def collected(self, output="out", *args, device="tiny-test"):
        """A run in which reads wait for garbage collection."""
        job = self.job("mix", "rw=randrw", "rwmixread=50", "bs=4k", "iodepth=16", "number_ios=6000", "norandommap")
        return self.simulate(device, job, "--set", 'precondition.state="random"', *args, output=output)

    def slowest(self, *args):
        return json.loads(self.explained(*args, "--json"))["commands"]

    def check_path(self, command):
        """Steps without gaps from issue to end; stages and holders add up. Returns the time waited for dies."""
        at, waited = command["issued_ps"], 0
        for step in command["path"]:
            self.assertEqual(step["from_ps"], at)
            at = step["to_ps"]
            self.assertEqual(sum(step["stages_ps"].values()), at - step["from_ps"])
            self.assertNotIn("order", step)
            held = step.get("held_by", [])
            for h in held:
                self.assertTrue(step["from_ps"] <= h["from_ps"] < h["to_ps"] <= at)
            for_die = sum(t for stage, t in step["stages_ps"].items() if stage.startswith("die_wait"))
            if for_die:
                known = sum(h["to_ps"] - h["from_ps"] for h in held if h["resource"].startswith("die"))
                left_out = step.get("more", {}).get("ps", 0)  # of the die or, while it was free, of its bus
                known += step.get("holders_not_known_ps", 0)
                self.assertTrue(known <= for_die <= known + left_out, (known, for_die, left_out))
                waited += for_die
        self.assertEqual(at - command["issued_ps"], command["total_ps"])
        return waited

    def test_whose_command_it_was(self):
        """With name and tenant where there are several jobs."""
        text = "[global]\nioengine=libaio\nbs=4k\nsize=2m\nrw=randread\nnumber_ios=20\nnorandommap\n[a, b]\n[c]\nnumjobs=2\n"
        self.simulate("tiny-test", self.write("jobs.fio", text), "--set", "host.tenants=by_job", output="tenants")
        self.simulate("tiny-test", self.write("jobs.fio", text), output="jobs")
        self.simulate("tiny-test", self.write("one.fio", text.split("[c]", maxsplit=1)[0]), output="one")
        for output, names in (("tenants", {"job 0 (a, b; tenant 1)", "job 1 (c; tenant 2)", "job 2 (c; tenant 2)"}),
                              ("jobs", {"job 0 (a, b)", "job 1 (c)", "job 2 (c)"}), ("one", {"job 0"})):
            found = re.findall(r"^read \d+ of (.*): 4096 bytes", self.explained(output, "--slowest", "60"), re.M)
            self.assertEqual((len(found), set(found)), (20 * len(names), names))

    def test_reads_behind_garbage_collection(self):
        result = self.collected("out", "--timeline")
        self.assertGreater(result.json()["ftl"]["blocks_erased"], 0)
        reads = self.slowest("out", "--op", "read", "--slowest", 20)
        self.assertEqual(len(reads), 20)
        self.assertEqual([r["total_ps"] for r in reads], sorted((r["total_ps"] for r in reads), reverse=True))
        self.assertEqual(Decimal(str(result.json()["latency_us"]["read"]["total"]["max"])), Decimal(reads[0]["total_ps"]) / US)
        self.assertGreater(sum(self.check_path(r) for r in reads), 0)
        # The blamed operations are those of the timeline, on that die or bus, of that kind and collection, at that time.
        events = json.loads((self.dir / "out" / "trace.json").read_text(), parse_float=Decimal)
        groups = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
        tracks = {e["tid"]: f"{groups[e['pid']]}/{e['args']['name']}" for e in events if e["name"] == "thread_name"}
        slices = {}
        for e in events:
            if e["ph"] == "X" and "operation" in e.get("args", {}):
                slices.setdefault((tracks[e["tid"]], e["args"]["operation"]), []).append(e)
        bring_up = int(Decimal(str(result.json()["bring_up_s"])) * 10**12)
        blamed = 0
        for read in reads:
            for step in read["path"]:
                for h in step.get("held_by", []):
                    if h["resource"].startswith("core"):
                        continue
                    group = "dies/" if h["resource"].startswith("die") else "channels/"
                    found = slices[group + h["resource"], h["operation"]]
                    self.assertTrue(any(e["name"].startswith(h["kind"]) for e in found), (h, found))
                    self.assertTrue(all(e["args"].get("collection") == h.get("collection") for e in found))
                    self.assertTrue(all(e["args"].get("command") == h.get("command") for e in found))
                    if group == "channels/":  # exactly there; a die is held before and after its array works
                        self.assertTrue(any(e["ts"] * US <= h["from_ps"] + bring_up and h["to_ps"] + bring_up <= (e["ts"] + e["dur"]) * US + 10**5
                                            for e in found), (h, found))
                    blamed += 1
        self.assertGreater(blamed, 20)

    def test_the_text_adds_up(self):
        self.collected()
        for count in (1, 20):
            text = self.explained("out", "--slowest", count, "--op", "read")
            for part in re.split(r"\n(?=read \d+ of job)", text.split("\n\n", 1)[1])[:count]:
                total = ps(re.search(r"took (\d+\.\d{6}) us", part).group(1))
                lines = [NUMBER.match(line) for line in part.splitlines()]
                self.assertEqual(sum(ps(m.group(2)) for m in lines if m), total)
                self.assertIn(f"{total // US}.{total % US:06d}  together", part)
            self.assertEqual("these 20 together" in text, count == 20)
        self.assertRegex(text, r"erase, operation \d+ of garbage collection \d+")

    def test_many_devices(self):
        """Whatever the device does: paths without gaps, waits for dies explained to the picosecond."""
        sets = (["nand.independent_plane_read=true"], ["firmware.cores=3", "firmware.clock=20MHz"], ["buffer.mode=write_through"],
                ["scheduler.policy=fifo", "scheduler.multi_plane=false"], ["buffer.size=256KiB"])
        for i, settings in enumerate(sets):
            words = [w for s in settings for w in ("--set", s)]
            job = self.job("mix", "rw=randrw", "rwmixread=60", "bssplit=512/10:4k/60:64k/30", "iodepth=16", "number_ios=1200",
                           "norandommap", "fsync=40")
            self.simulate("tiny-test", job, *words, output=f"out{i}")
            kept = self.slowest(f"out{i}", "--slowest", 1000)
            # A drive without a volatile write cache gets no Flush.
            flushed = set() if settings == ["buffer.mode=write_through"] else {"flush"}
            self.assertEqual({c["op"] for c in kept}, {"read", "write"} | flushed)
            with self.subTest(settings):
                self.assertGreater(sum(self.check_path(c) for c in kept if c["op"] == "read"), 0)
                cores = {s["resource"] for c in kept for s in c["path"] if s.get("resource", "").startswith("core")}
                self.assertEqual(len(cores), 3 if "firmware.cores=3" in settings else 1)

    def test_kept_or_repeated(self):
        """A command that the run did not keep is found by repeating it, and is as if it had been asked for at once."""
        self.collected("out", "--set", "run.slowest=5")
        self.collected("asked", "--set", "run.slowest=5", "--set", "run.explain=[17, 1500]")
        before = {p.name for p in (self.dir / "out").iterdir()}
        for number in (17, 1500):
            (again,) = self.slowest("out", "--command", number)
            (asked,) = self.slowest("asked", "--command", number)
            self.assertEqual(again, asked)
            self.assertEqual(again["command"], number)
            self.check_path(again)
        self.assertEqual({p.name for p in (self.dir / "out").iterdir()}, before)
        number = self.slowest("out", "--slowest", 1)[0]["command"]
        self.assertIn(f" {number} of job 0", self.explained("out", "--command", number))
        self.assertIn("has no command 999999", self.refused("out", "--command", 999999))

    def test_what_cannot_be_repeated(self):
        self.collected("out", "--set", "run.slowest=1")
        clock = json.loads((self.dir / "out" / "wall_clock.json").read_text())
        self.assertEqual(clock["directory"], str(self.dir))
        job = (self.dir / "mix.fio").read_text()
        (self.dir / "mix.fio").write_text(job.replace("rwmixread=50", "rwmixread=51"))
        self.assertIn("its workload is now another", self.refused("out", "--command", 40))
        (self.dir / "mix.fio").unlink()
        self.assertIn("cannot be repeated", self.refused("out", "--command", 40))
        done = self.ssdtlm("run", "tiny-test", "-w", "-", "-o", "piped", "-q", stdin=job)
        self.assertEqual(done.returncode, OK, done.stderr)
        unkept = set(range(1, 6000)) - {c["command"] for c in self.slowest("piped", "--slowest", 1000)}
        self.assertIn("standard input", self.refused("piped", "--command", min(unkept)))
        result = json.loads((self.dir / "out" / "result.json").read_text())
        result["ssdtlm"] = "0.0.1"
        (self.dir / "out" / "result.json").write_text(json.dumps(result))
        self.assertIn("is of version 0.0.1", self.refused("out", "--command", 40))

    def repaired(self, error, *words):
        """Follows the advice at the end of the message: the same run with the option that it names keeps the command."""
        option = re.search(r"run it again with --set '(run\.explain=\[\d+\])'\n$", error)
        self.assertIsNotNone(option, error)
        done = self.ssdtlm("run", *words, "-q", "-o", "kept", "--set", option[1])
        self.assertEqual((done.returncode, done.stderr), (OK, ""))
        number = option[1].split("[")[1].rstrip("]")
        self.assertIn(f" {number} of job 0", self.explained("kept", "--command", number))

    def test_inputs_that_have_changed(self):
        """A saved drive and a workload of preconditioning: their content is in no digest, so the message says which file is newer."""
        first = self.job("first", "rw=randwrite", "bs=4k", "number_ios=2000", "norandommap")
        other = self.job("other", "rw=randwrite", "bs=4k", "number_ios=2500", "norandommap", "io_size=100m")
        reads = self.job("reads", "rw=randread", "bs=4k", "iodepth=8", "number_ios=1000", "norandommap")

        def save(job):
            (self.dir / "drive").unlink(missing_ok=True)
            self.simulate("tiny-test", job, "--save-drive", "drive", output="saved")
        for setting, change in (("precondition.from=drive", lambda: save(other)),
                                ("precondition.workload=first.fio", lambda: (self.dir / first).write_text((self.dir / other).read_text()))):
            with self.subTest(setting=setting):
                save(first)
                words = ("tiny-test", "-w", reads, "--set", setting, "--set", "run.slowest=1")
                self.assertEqual(self.ssdtlm("run", *words, "-o", "out", "-q").returncode, OK)
                number = 40 if self.slowest("out")[0]["command"] != 40 else 41
                self.explained("out", "--command", number)
                change()
                key, name = setting.split("=")
                error = self.refused("out", "--command", number)
                self.assertIn(f"out: cannot be repeated: its results are now others: {name} ({key}) has changed since; ", error)
                self.repaired(error, *words)
                # A copy of the results is newer than any file.
                (self.dir / "out" / "result.json").touch()
                self.assertIn(f"the program is another build of version ", error := self.refused("out", "--command", number))
                self.assertIn(f", or {name} ({key}) has other content; ", error)

    def test_a_folder_that_was_moved(self):
        """With the folder in which the run was started."""
        (self.dir / "before").mkdir()
        job = self.job("mix", "rw=randread", "bs=4k", "number_ios=100")
        (self.dir / job).rename(self.dir / "before" / job)
        done = subprocess.run([BINARY, "run", "tiny-test", "-w", job, "-o", "out", "-q", "--set", "run.slowest=1"], cwd=self.dir / "before")
        self.assertEqual(done.returncode, OK)
        (self.dir / "before").rename(self.dir / "after")
        number = 40 if self.slowest("after/out")[0]["command"] != 40 else 41
        error = self.refused("after/out", "--command", number)
        self.assertIn(f"after/out: command {number} was not kept, and the run cannot be repeated where it was started: {self.dir / 'before'} is not there any more; "
                      "move or link its files there, or run it again", error)
        self.repaired(error, "tiny-test", "-w", f"after/{job}", "--set", "run.slowest=1")
        (self.dir / "before").symlink_to("after")
        self.assertIn(f" {number} of job 0", self.explained("after/out", "--command", number))

    def test_listings_in_the_documents(self):
        """A step begins where the one before it ends, unless a line "..." says that lines are left out."""
        seen = 0
        for page in sorted((SOURCE / "docs").glob("*.md")) + [SOURCE / "README.md"]:
            for block in re.findall(r"^```\w*\n(.*?)^```$", page.read_text(), re.M | re.S):
                if "at us         for us\n" not in block:
                    continue
                seen += 1
                end, lines = Decimal(0), block.splitlines()
                for line in lines:
                    found = NUMBER.match(line)
                    if line == "...":
                        end = None
                    elif found:
                        self.assertIn(end, (None, Decimal(found[1])), f"{page.name}: {line}")
                        end = Decimal(found[1]) + Decimal(found[2])
                self.assertTrue(lines[-1] == "..." or lines[-1].endswith(" together"), f"{page.name}: {lines[-1]}")
                self.assertRegex(lines[0], r"^\.\.\.$|, seed \d+$", page.name)
        self.assertGreater(seen, 0)

    def test_mistakes(self):
        self.collected("out", "--set", "run.slowest=0")
        self.assertFalse((self.dir / "out" / "slowest.json").exists())
        self.assertIn("run again with run.slowest above 0", self.refused("out"))
        self.assertIn("--op erase; read | write | trim | flush", self.refused("out", "--op", "erase"))
        self.assertIn("--slowest 0; 1 or more", self.refused("out", "--slowest", 0))
        self.assertIn("holds no result.json", self.refused("nowhere"))
