#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random devices x random jobs, each a run of the program as a user would start it. See README.md.

A run is wrong when it ends in another way than with exit 0, takes longer than ten times what its bytes need at the
busiest resource, or needs more than a minute of processor time (two when recorded). The program itself checks data, books, stages, and (with
run.check_waiters) after every event that nobody waits whom nobody will wake.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from random_caches import drawn_dram_size, drawn_merged_reads, drawn_order, drawn_prefetch, drawn_quotas, drawn_read_cache, drawn_rest_reads, drawn_room, drawn_table_cache, drawn_watermarks
from random_collection import drawn_arithmetic, drawn_frontier
from random_device import NOT_WITH_LOG_BLOCKS, checkpoint_blocks, drawn_lines, drawn_log_blocks, drawn_parity, drawn_protected, drawn_refresh, drawn_slc, has_slc, journal_blocks, random_device
from random_faults import drawn_factory_bad, in_two_steps
from random_flows import drawn_flows
from random_host import NOT_WITH_SATA, drawn_block, drawn_sata
from random_job import Work, random_work
from random_start import drawn_full_caches, drawn_steady_state, drawn_workload
from recorded_run import ARGUMENTS, check_recorded

HERE = pathlib.Path(__file__).resolve().parent
# Processor time of a run, and of one that is recorded. The wall's clock would count what else the machine does, so it only ends a run that sleeps.
CPU_SECONDS, RECORDED_CPU_SECONDS = 60, 120
WALL_SECONDS = 600.0
SLACK = 10  # of the bound on simulated time
LONGEST_SCAN_S = 100  # CAP.TO says 127.5 s at most

# How the scheduler and the channels are implemented in a campaign, as settings of each run.
WAYS = {
    "tlm": [],
    "lockstep": ["run.agenda=lockstep"],
    "rtl": ["scheduler.implementation=rtl"],
    "compare": ["scheduler.implementation=compare"],
    "sequencer": ["channel.rtl_sequencer=[0]"],
}
# How commands may end on a device whose flash fails (counters of the result).
MEDIA_ERRORS = ("commands_unrecovered_read", "commands_write_fault", "commands_refused_read_only")
RTL_WAYS = ("rtl", "compare", "sequencer")

Outcome = collections.namedtuple("Outcome", "name wrong seconds commands depth")


def needed_seconds(device, work, result):
    """What the run's bytes need at the busiest resource, or its commands one after the other, or its own pauses."""
    busiest = max((r["busy_max"] for r in result["resources"].values()), default=0) * result["simulated_s"]
    c = result["counters_whole_run"]
    wire = max(c["link_wire_bytes_to_host"], c["link_wire_bytes_to_device"]) / device.link_bytes_per_s
    tags = c.get("dma_bytes_to_device", 0) / device.read_bytes_per_s
    credits = c.get("dma_bytes_to_host", 0) / device.write_bytes_per_s
    waits_for_flash = device.program_s * 2 + device.erase_s + device.read_s
    one = device.command_s + device.read_s + waits_for_flash
    # A request is cut into commands; queues hold what their entries and the fetch window let them.
    cuts = c.get("nvme_sqes", c["host_commands_completed"] if "host_commands_completed" in c else result["commands_including_ramp"]) / max(1, result["commands_including_ramp"])
    serial = work.serial_ios * cuts * one
    queues = work.pair_ios * cuts / device.queue_depth * one
    flushes = (work.flushes + 1) * waits_for_flash
    # Merges, as if there were one die.
    merges = 0
    if "merges" in result["ftl"]:
        f = result["ftl"]
        merges = f["gc_pages"] * (f["units_per_page"] * device.read_s + device.program_s) + f["blocks_erased"] * device.erase_s
    return max(busiest, wire, tags, credits, serial, queues, flushes) + merges + work.pace_s + one


def depth_reached(folder):
    """The deepest class of fio's table that some job was in."""
    path = folder / "fio.json"
    if not path.exists():
        return "trace"
    deepest = "1"
    for job in json.loads(path.read_text())["jobs"]:
        for level, share in job["iodepth_level"].items():
            if share > 0 and int(level.lstrip(">=")) > int(deepest.lstrip(">=")):
                deepest = level
    return deepest


def check(device, work, folder, done):
    """The mistake of a run in one line, or None; and its result. Without a device: no bound on its time."""
    if done is None:
        return f"no end in {CPU_SECONDS} s of processor time ({RECORDED_CPU_SECONDS} when recorded) or {WALL_SECONDS:.0f} s", None
    if done.returncode != 0:
        lines = (done.stderr.strip() or done.stdout.strip() or "no message").splitlines()
        return f"exit {done.returncode}: {' | '.join(lines[:3])}", None
    result = json.loads((folder / "result.json").read_text())
    for line in result["books"]:
        if line["left"] != line["right"]:
            return f"books: {line}", result
    if result["error_status"] != sum(result["counters_whole_run"].get(status, 0) for status in MEDIA_ERRORS):
        return f"{result['error_status']} commands ended with an error status", result
    if device is None:
        return None, result
    needed = needed_seconds(device, work, result)
    if result["simulated_s"] > SLACK * needed:
        return f"{result['simulated_s']:.6f} s simulated, {needed:.6f} s needed", result
    return None, result


def execute(folder, options, settings, devices, work, *arguments, output="out"):
    """One run in a folder that has its files. The finished process, or None; and how long it took."""
    command = [options.binary, "run", *devices, "-w", work.name, *(word for name in work.beside for word in ("-w", name)), "-o", output, "-q", *work.arguments, *arguments]
    settings = [f"run.check_waiters={'false' if options.no_check_waiters else 'true'}", *settings, *options.set]
    command += [word for s in settings for word in ("--set", s)]
    (folder / "command").write_text(" ".join(command) + "\n")
    limit = RECORDED_CPU_SECONDS if set(ARGUMENTS) & set(arguments) else CPU_SECONDS
    begin = time.monotonic()
    try:
        done = subprocess.run(["prlimit", f"--cpu={limit}:{limit + 5}", *command], cwd=folder, capture_output=True, text=True, errors="replace", timeout=WALL_SECONDS)
    except subprocess.TimeoutExpired:
        done = None
    return None if done is None or done.returncode == -signal.SIGXCPU else done, time.monotonic() - begin


def drawn(seed, way):
    r = random.Random(f"campaign {seed}")
    device = random_device(r, small_rtl=way in RTL_WAYS)
    if way in ("rtl", "compare") and device.settings["scheduler.policy"] not in ('"read_first"', '"fifo"'):
        device.settings["scheduler.policy"] = '"fifo"'  # the block has no other policies
    return device, random_work(r, device)


def drawn_whose(seed, way, device, work):
    """Settings under which the drive knows whose a command is, for a third of the seeds. Draws of their own: what a seed
    drew before stays as it was."""
    r = random.Random(f"whose {seed}")
    if r.random() > 1 / 3:
        return []
    settings = ["nvme.streams=2", "host.streams=true"] + drawn_frontiers(seed, device)
    if work.name.endswith(".fio"):
        hints = ("none", "short", "medium", "long", "extreme")
        work.text = re.sub(r"\[job\d+\]\n", lambda section: f"{section[0]}write_hint={r.choice(hints)}\n", work.text)
    sections = max(1, work.text.count("[job"))
    if sections <= device.queues:
        work.pair_ios *= sections  # a tenant has its share of the queue pairs, one at least
        settings += ["host.tenants=by_job", f"host.queue_priorities=[{', '.join(str(r.randrange(4)) for _ in range(sections))}]"]
    targets = ", ".join(f'"{r.choice((1, 100, 1000, 100_000))}us"' for _ in range(r.randrange(5)))
    settings += [f"nvme.latency_targets=[{targets}]"]
    if way not in ("rtl", "compare"):  # the block has no such order
        settings += ["scheduler.policy=earliest_deadline"]
    return settings


def drawn_frontiers(seed, device):
    """Superblocks of their own for streams, in half of the small devices with streams; the blocks for them come on top. Draws of their own."""
    r = random.Random(f"frontiers {seed}")
    if device.preset is not None or r.random() < 1 / 2 or has_slc(seed, device):
        return []
    frontiers = r.choice((1, 2))
    before = device.settings["nand.geometry.blocks_per_plane"]
    device.settings["nand.geometry.blocks_per_plane"] = before + 2 * frontiers
    device.scan_s *= (before + 2 * frontiers) / before
    by = random.Random(f"streams by {seed}")
    found = ["ftl.streams_by=multi_hash", f"ftl.multi_hash.counters={by.choice((16, 4096))}", f"ftl.multi_hash.hot={by.choice((1, 2, 4))}"]
    return [f"ftl.stream_frontiers={frontiers}"] + (found if by.random() < 1 / 2 else [])


def drawn_dram_and_suspends(seed, way):
    """A DRAM with banks for a third of the seeds, and programs and erases that are suspended for reads for another. Draws of their own."""
    r = random.Random(f"dram {seed}")
    settings = [f"dram.bandwidth={r.choice(('4GB/s', '12.8GB/s', '50GB/s'))}"]
    if r.random() < 1 / 3:
        settings += ["dram.model=banks", f"dram.banks.banks={r.choice((1, 2, 16))}", f"dram.banks.row_size={r.choice(('512B', '8KiB'))}",
                     f"dram.banks.t_refi={r.choice(('0s', '3.9us', '7.8us'))}"]
    r = random.Random(f"suspends {seed}")
    if way not in RTL_WAYS and r.random() < 1 / 3:  # blocks in RTL are not asked about suspended dies
        times = ("0s", "10us", "300us")
        settings += ["scheduler.suspend=for_reads", f"scheduler.for_reads.limit={r.choice((1, 3, 16))}",
                     f"scheduler.for_reads.least_run={r.choice(times)}", f"scheduler.for_reads.least_left={r.choice(times)}",
                     f"scheduler.for_reads.longest={r.choice(('0s', '300us', '2ms'))}"]
    return settings


def drawn_cache_program(seed, way):
    """Cache program for a third of the seeds. Draws of their own."""
    r = random.Random(f"cache program {seed}")
    if way == "sequencer" or r.random() > 1 / 3:  # the block in RTL does not play 15h
        return []
    return ["nand.cache_program=true", f"nand.t_cache_busy={r.choice(('0s', '4us', '20us'))}"]


def drawn_pace(seed, device):
    """A pace of garbage collection for half of the small devices, and pauses in which it goes on. Draws of their own."""
    r = random.Random(f"pace {seed}")
    if device.preset is not None or r.random() < 1 / 2:
        return []
    settings = [f"gc.pace={r.choice(('yield', 'tokens', 'tokens', 'full'))}", f"gc.tokens.ahead={r.choice((1, 8, 100))}",
                f"gc.tokens.most={r.choice((1, 16, 1000))}"]
    if r.random() < 1 / 2:
        settings += [f"gc.idle_after={r.choice(('1us', '100us', '10ms'))}",
                     f"gc.idle_free_blocks={device.settings['gc.soft_free_blocks'] + r.choice((1, 3, 1000))}"]
    return settings


def drawn_placement(seed, device):
    """Another placement for a third of the small devices. A draw of its own."""
    return ["ftl.placement=first_idle"] if device.preset is None and random.Random(f"placement {seed}").random() < 1 / 3 else []


def drawn_lanes(seed, device):
    """Static dimensions or NVM Sets for a third of the small devices, with blocks for each lane's share of the journal and of the map beside those that
    they have. Draws of their own."""
    r = random.Random(f"lanes {seed}")
    if device.preset is not None or r.random() > 1 / 3:
        return []
    letters = "CWDP" if device.settings.get("ftl.superblock") == '"plane"' else "CWD"
    chosen = "".join(letter for letter in letters if r.random() < 2 / 3)
    if not chosen:
        return []
    mapping = device.settings.get("ftl.mapping", '"page"')
    sets = mapping in ('"page"', '"dftl"') and r.random() < 1 / 3
    before = device.settings["nand.geometry.blocks_per_plane"]
    device.settings["nand.geometry.blocks_per_plane"] = before + 2 + before // 64 + (mapping == '"dftl"')
    device.scan_s *= device.settings["nand.geometry.blocks_per_plane"] / before
    channels = int(device.settings["nand.geometry.channels"])
    if sets and channels > 1:  # of a cut through the channels
        cut = r.randrange(1, channels)
        return [f"ftl.nvm_sets=C0-{cut - 1}, C{cut}-{channels - 1}"]
    return [f"ftl.static_dimensions={chosen}"]


def drawn_namespaces(seed, device):
    """Two to four namespaces on a quarter of the small devices: requests of the jobs lie over their borders. Draws of their own."""
    r = random.Random(f"namespaces {seed}")
    if device.preset is not None or r.random() > 1 / 4:
        return []
    most = device.user_bytes // 4096 // 4
    return [f"nvme.namespaces=[{', '.join(f'{r.randint(1, most) * 4096}B' for _ in range(r.randint(1, 3)))}]"] if most else []


def drawn_guards(seed):
    """All calls through the guards of the sockets for half of them: what they hold back is held back there."""
    return ["run.through_guards=true"] if random.Random(f"guards {seed}").random() < 1 / 2 else []


def drawn_data(seed, device):
    """Real bytes on a third of the small devices. A draw of its own: what a seed drew before stays as it was."""
    return ["run.data=bytes"] if device.preset is None and random.Random(f"data {seed}").random() < 1 / 3 else []


def drawn_resets(seed):
    """Settings that reset the controller one to four times under load; and how long that may take at least."""
    r = random.Random(f"resets {seed}")
    times = sorted(r.choice((r.uniform(1, 200), r.uniform(200, 20_000))) for _ in range(r.randint(1, 4)))
    listed = ", ".join(f'"{t:.3f}us"' for t in times)
    return [f"host.reset_at=[{listed}]", f"host.reset_shutdown={r.choice(('false', 'false', 'true'))}"], times[-1] * 1e-6 + 5e-3 * len(times)


def drawn_power_cuts(seed, device):
    """Settings under which a third of the small devices lose their power one to three times; and when that may be over."""
    r = random.Random(f"power {seed}")
    if device.preset is not None or device.scan_s > LONGEST_SCAN_S or r.random() > 1 / 3:
        return [], 0
    times, off = [], r.choice((1e-6, 1e-4, 2e-3))
    for _ in range(r.randint(1, 3)):
        times.append((times[-1] + off if times else 0) + r.choice((r.uniform(1e-6, 1e-3), r.uniform(1e-3, 0.1))))
    listed = ", ".join(f'"{t * 1e6:.3f}us"' for t in times)
    settings = [f"host.power_cut_at=[{listed}]", f"host.power_off_time={off * 1e6:.0f}us", f"ftl.scan_reads_per_die={r.choice((1, 4, 16))}"]
    more, longer = drawn_checkpoints(random.Random(f"checkpoints {seed}"), device)
    return settings + more, (times[-1] + len(times) * (off + device.scan_s)) * longer + (0.5 if longer > 1 else 0)


def drawn_checkpoints(r, device):
    """Half of them have checkpoints (none with log blocks, nor where a translation page may be wrong), at intervals, at shutdowns or both, and cores that take their time over the search;
    and by how much all takes longer. The blocks that checkpoints need come on top of the others."""
    settings = [f"firmware.scan_page={r.choice((0, 100, 2000))}", f"firmware.scan_entry={r.choice((0, 25, 500))}"]
    if r.random() < 0.2:
        settings.append("host.power_cut_shutdown=true")
    if r.random() < 0.5 or device.settings.get("ftl.mapping") in ('"fast"', '"block"') or "map.gc_updates" in device.settings:
        return settings, 1.5
    blocks = device.settings["nand.geometry.blocks_per_plane"]
    more = checkpoint_blocks(device.settings, blocks)
    how = r.choice(("interval", "shutdown", "both"))
    settings.append(f"nand.geometry.blocks_per_plane={blocks + more}")
    if how != "shutdown":
        settings.append(f"ftl.checkpoint_interval={r.choice(('1B', '64KiB', '1MiB', '16MiB'))}")
    if how != "interval":
        settings += ["ftl.checkpoint_at_shutdown=true", "host.power_cut_shutdown=true"]
    return settings, 1.5 + more / blocks


def run_seed(seed, options):
    device, work = drawn(seed, options.way)
    logs = drawn_log_blocks(seed, device)
    drawn_refresh(seed, device)
    settings = list(WAYS[options.way]) + drawn_whose(seed, options.way, device, work) + drawn_namespaces(seed, device) + drawn_dram_and_suspends(seed, options.way) + drawn_cache_program(seed, options.way)
    lanes = drawn_lanes(seed, device)
    settings += drawn_guards(seed) + drawn_placement(seed, device) + lanes + drawn_steady_state(seed, device, lanes) + drawn_full_caches(seed, device) + drawn_frontier(seed, device) + drawn_pace(seed, device) + drawn_read_cache(seed, device) + drawn_merged_reads(seed) + drawn_slc(seed, device)
    order = drawn_order(seed, device)
    settings += order + drawn_watermarks(seed, device, order)
    settings += drawn_room(seed, device, settings)
    settings += drawn_rest_reads(seed, device, settings)
    settings += drawn_dram_size(seed, device, settings) + drawn_quotas(seed, device, settings)
    if not logs:
        settings += drawn_table_cache(seed, device)
        settings += drawn_prefetch(seed, device)
    if logs:
        settings = [s for s in settings if not s.startswith(NOT_WITH_LOG_BLOCKS)] + logs
    settings += drawn_arithmetic(seed, device, settings, options.power_cuts, options.way in RTL_WAYS)
    if not options.saved:
        settings += drawn_data(seed, device)  # bytes are saved only where nobody checks what the host has written
    if options.resets:
        resets, seconds = drawn_resets(seed)
        settings += resets
        work.pace_s += seconds
    if not (options.power_cuts and any(f"nand.faults.{kind}" in device.settings for kind in ("program_fail", "erase_fail"))):
        settings += drawn_protected(seed, device)
    if options.power_cuts:
        cuts, seconds = drawn_power_cuts(seed, device)
        settings += cuts
        work.pace_s += seconds
    if not any(s.startswith(("ftl.static_dimensions", "ftl.nvm_sets", "ftl.checkpoint")) for s in settings):
        settings += drawn_lines(seed, device)
        settings += drawn_parity(seed, device, settings)
    if options.block:
        block, seconds = drawn_block(seed)
        settings += block
        work.pace_s += seconds
    if options.sata:
        settings += drawn_sata(seed, device)
    settings = in_two_steps(seed, device, settings)
    settings += drawn_factory_bad(seed, device, settings, work, journal_blocks)
    beside, more = drawn_flows(seed, device, work, settings, options.way in RTL_WAYS)
    settings += more
    work.beside = list(beside)
    if options.sata:
        settings = [s for s in settings if not s.startswith(NOT_WITH_SATA)]
    with tempfile.TemporaryDirectory(prefix="campaign-") as scratch:
        folder = pathlib.Path(scratch)
        (folder / "device.toml").write_text(device.toml())
        (folder / work.name).write_text(work.text)
        for name, text in beside.items():
            (folder / name).write_text(text)
        settings += drawn_workload(seed, device, folder, settings)
        devices = ([device.preset] if device.preset else []) + ["device.toml"]
        wrong = None
        if options.saved:
            before = [s for s in settings if not s.startswith(("host.power_cut_at", "host.reset_at"))]
            done, seconds = execute(folder, options, before, devices, work, "--save-drive", "drive")
            wrong, result = check(None, work, folder / "out", done)
            wrong = wrong and f"while it was saved: {wrong}"
            settings += ["precondition.from=drive", f"run.seed={seed + 1}"]
        if not wrong:
            done, seconds = execute(folder, options, settings, devices, work)
            wrong, result = check(device, work, folder / "out", done)
        if options.recorded and not wrong:
            done, seconds = execute(folder, options, settings, devices, work, *ARGUMENTS, output="recorded")
            wrong = check(device, work, folder / "recorded", done)[0] or check_recorded(folder / "out", folder / "recorded")
        if wrong and options.keep:
            shutil.copytree(folder, pathlib.Path(options.keep) / f"{options.way}-{seed}", dirs_exist_ok=True)
        if result is None:
            return Outcome(seed, wrong, seconds, 0, "-")
        return Outcome(seed, wrong, seconds, result["commands_including_ramp"], depth_reached(folder / "out"))


def run_regression(case, options):
    """A run that was wrong once: a folder with device.toml and one workload."""
    with tempfile.TemporaryDirectory(prefix="campaign-") as scratch:
        folder = pathlib.Path(scratch)
        shutil.copytree(case, folder, dirs_exist_ok=True)
        workload = next(p.name for p in case.iterdir() if p.name != "device.toml")
        done, seconds = execute(folder, options, WAYS[options.way], ["device.toml"], Work(workload, ""))
        wrong, result = check(None, None, folder / "out", done)
        return Outcome(case.name, wrong, seconds, result["commands_including_ramp"] if result else 0, "-")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--binary", default=os.environ.get("SSDTLM", "ssdtlm"))
    p.add_argument("--first", type=int, default=0, help="first seed; from 0 on, the kept regressions run too (without RTL)")
    p.add_argument("--runs", type=int, default=300)
    p.add_argument("--way", choices=WAYS, default="tlm", help="implementation of scheduler and channels")
    p.add_argument("--resets", action="store_true", help="with resets of the controller under load")
    p.add_argument("--power-cuts", action="store_true", help="a third of the small devices lose their power under load")
    p.add_argument("--saved", action="store_true", help="each drive is saved after its job, and read for the job once more")
    p.add_argument("--recorded", action="store_true", help="each run is done once more with waveform and timeline, and compared")
    p.add_argument("--block", action="store_true", help="with a block layer and a scheduler in the host")
    p.add_argument("--sata", action="store_true", help="with SATA in the place of NVMe")
    p.add_argument("--jobs", type=int, default=os.cpu_count(), help="runs at a time")
    p.add_argument("--set", action="append", default=[], help="key=value for each run")
    p.add_argument("--keep", help="folder for the files of each wrong run")
    p.add_argument("--no-check-waiters", action="store_true", help="without the invariants after every event: faster")
    options = p.parse_args()
    options.binary = str(pathlib.Path(shutil.which(options.binary) or options.binary).resolve())

    begin = time.monotonic()
    wrong, seconds, commands, slowest, depths = 0, 0.0, 0, (0.0, ""), collections.Counter()
    kept = options.first == 0 and options.way not in RTL_WAYS and not options.saved
    cases = sorted(p.parent for p in (HERE / "regressions").glob("*/device.toml") if not (p.parent / "case.json").exists()) if kept else []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        pending = [pool.submit(run_regression, case, options) for case in cases]
        pending += [pool.submit(run_seed, seed, options) for seed in range(options.first, options.first + options.runs)]
        for outcome in (p.result() for p in pending):
            seconds += outcome.seconds
            commands += outcome.commands
            slowest = max(slowest, (outcome.seconds, str(outcome.name)))
            depths[outcome.depth] += 1
            if outcome.wrong:
                wrong += 1
                print(f"seed {outcome.name}: {outcome.wrong}", flush=True)
    ran = sum(depths.values())
    print(f"{options.way}: {ran} runs, {wrong} wrong; {commands} commands; mean {seconds / max(1, ran):.2f} s of host time, "
          f"slowest {slowest[0]:.1f} s (seed {slowest[1]}); {time.monotonic() - begin:.0f} s in all")
    print("depth reached: " + ", ".join(f"{k}: {n}" for k, n in sorted(depths.items())))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
