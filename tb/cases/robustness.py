# SPDX-License-Identifier: Apache-2.0
"""Cases of signals, files and devices that ended wrongly. The docstring of a case says what is right."""
import os
import subprocess

from program import LIBAIO, case, last_line, sets

@case("a drive saved after a loss of power")
def saved_after_loss(p):
    """It can be read."""
    job = [*LIBAIO, "--rw=read", "--bs=4k"]
    save, _ = p("run", "tiny-test", "-q", "-o", "a", *sets('host.power_cut_at=["1ms"]'), *job, "--number_ios=100", "--save-drive", "drv")
    load, _ = p("run", "tiny-test", "-q", "-o", "b", *sets("precondition.from=drv"), *job, "--number_ios=1")
    return f"save {save}, load {load}", (save, load) == (0, 0)


@case("a save that cannot be made is refused at once")
def save_refused(p):
    """Saved, or refused before the run; results are not lost."""
    code, _ = p("run", "tiny-test", "-q", "-o", "a", *sets('host.power_cut_at=["1ms"]'), *LIBAIO, "--rw=write", "--bs=4k", "--save-drive", "drv")
    return f"{code}, {'a result' if p.results('a') else 'no result'}", code == 2 or (code == 0 and bool(p.results("a")))


@case("advice for a job that preconditions")
def advice(p):
    """What the message advises is then accepted, and ends."""
    p.write("before.fio", "[j1]\nrw=write\nbs=4k\nioengine=libaio\ntime_based\nruntime=1ms\n")
    job = [*LIBAIO, "--rw=read", "--bs=4k", "--number_ios=4", "-q", "-o", "o", *sets("precondition.workload=before.fio")]
    first, text = p("run", "tiny-test", *job)
    p.write("before.fio", "[j1]\nrw=write\nbs=4k\nioengine=libaio\ntime_based\nruntime=1ms\nnumber_ios=4\n")
    second, _ = p("run", "tiny-test", *job, timeout=10)
    advised = "set number_ios" in text
    return f"{first}, {'advises number_ios' if advised else 'does not advise number_ios'}; with it {second}", second == 0 or (second == 2 and not advised)


@case("SIGTERM in the search for the map")
def sigterm_in_search(p):
    """130 within 0.3 s, and the results so far."""
    p.write("long.fio", "[x]\nioengine=libaio\nrw=randrw\nbs=4k\niodepth=32\nruntime=100000\ntime_based\n")
    code, seconds = p.terminated(["run", "femu-4g", "-w", "long.fio", "-o", "o", "-q", *sets('host.power_cut_at=["1ms"]', "host.power_off_time=1ms")], 1)
    return f"{code} in {seconds:.2f} s", code == 130 and seconds < 1


@case("no signal 8 in config check")
def sigfpe(p):
    """A message."""
    settings = sets("nand.geometry.unit_size=1KiB", "map.entry_size=2KiB", "ftl.mapping=dftl")
    first, _ = p("config", "check", "tiny-test", *settings, *sets('host.power_cut_at=["1ms"]'))
    second, text = p("config", "check", "tiny-test", *settings, *sets("nand.geometry.blocks_per_plane=128"))
    return f"{first}; {second}, {'names' if 'mapping_unit' in text else 'does not name'} a key that does not exist", first in (0, 2) and second in (0, 2) and "mapping_unit" not in text


@case("units and pages of 6 KiB")
def six_kib(p):
    """What `config check` accepts runs."""
    settings = sets("nand.geometry.page_size=6KiB", "nand.geometry.unit_size=6KiB")
    check, _ = p("config", "check", "tiny-test", *settings)
    code, _ = p("run", "tiny-test", *settings, *LIBAIO, "--rw=randread", "--bs=6k", "--number_ios=5", "-o", "o", "-q")
    return f"check {check}, run {code}", (check, code) in ((0, 0), (2, 2))


@case("SIGTERM in preconditioning")
def sigterm_in_preconditioning(p):
    """130 within 0.3 s."""
    words = ["run", "tiny-test", *sets("precondition.state=random", "precondition.overwrite=10000%", "nand.geometry.blocks_per_plane=4096", "ftl.user_capacity=700MiB"),
             *LIBAIO, "--rw=randread", "--bs=4k", "--number_ios=10", "-o", "o", "-q"]
    code, seconds = p.terminated(words, 3)
    return f"{code} in {seconds:.2f} s", code == 130 and seconds < 1


@case("recordings of the run before")
def stale(p):
    """Gone when the next run begins."""
    job = [*LIBAIO, "--rw=read", "--bs=4k", "-o", "o", "-q"]
    p("run", "tiny-test", *job, "--number_ios=2000", "--wave", "--timeline")
    p("run", "tiny-test", *job, "--number_ios=10")
    left = sorted(f.name for f in (p.dir / "o").iterdir() if f.name.startswith(("wave", "trace")))
    return f"left: {left}", left == []


@case("reset and shutdown of slow drives")
def slow_drives(p):
    """No time-out: the bound counts slow DRAM and firmware."""
    p.write("d.toml", """nand.geometry.channels = 3
nand.geometry.ways = 2
nand.geometry.blocks_per_plane = 20
nand.geometry.pages_per_block = 5
nand.geometry.page_size = "131072B"
nand.geometry.unit_size = "16384B"
ftl.user_capacity = "21118976B"
dram.bandwidth = "2MB/s"
buffer.merge_writes = false
""")
    p.write("j.fio", "[j0]\nrw=write\nnumjobs=17\n")
    p.write("d2.toml", """nand.geometry.dies_per_chip = 2
nand.geometry.planes_per_die = 6
nand.geometry.blocks_per_plane = 12
nand.geometry.pages_per_block = 8
ftl.user_capacity = "2072576B"
dram.bandwidth = "1MB/s"
host.reset_at = ["1041726ps", "83115486ps", "269308769807ps"]
gc.hard_free_blocks = 2
gc.soft_free_blocks = 3
""")
    p.write("j2.fio", "[j1]\nbs=518144\nnumjobs=17\n")
    codes = [p("run", "d.toml", "-w", "j.fio", "-q", "-o", "o")[0],
             p("run", "tiny-test", "-q", "-o", "o", *LIBAIO, "--rw=randrw", "--bs=4k", "--number_ios=300", "--norandommap=1", "--iodepth=16",
               *sets("firmware.clock=1MHz", "firmware.gc_victim=1000000", "precondition.state=random"))[0],
             p("run", "d2.toml", "-w", "j2.fio", "-q", "-o", "o")[0]]
    return f"{codes}", codes == [0, 0, 0]


@case("a full disk")
def full_disk(p):
    """74, and the reason of the system."""
    if os.geteuid() != 0:
        return "not as root", False
    folder = p.dir / "tm"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", folder], check=True)
    try:
        with open(folder / "fill", "wb") as f:
            try:
                f.write(bytes(64 * 1024))
            except OSError:
                pass
        code, text = p("run", "tiny-test", *LIBAIO, "--rw=read", "--bs=4k", "--number_ios=10", "-o", "tm/o", "-q")
    finally:
        subprocess.run(["umount", folder], check=False)
    reason = "No space left on device" in text
    return f"{code}, {'with' if reason else 'without'} the reason", code == 74 and reason


@case("preconditioning that never ended")
def gc_loop(p):
    """It ends, or is refused."""
    code, text = p("run", "gc_loop.toml", *sets("precondition.workload=gc_loop_before.fio"), *LIBAIO, "--rw=randread", "--bs=4k", "--number_ios=10", "-o", "o", "-q", timeout=60)
    return f"{code}: {last_line(text)}", code in (0, 2)


@case("busy shares below zero")
def negative_busy(p):
    """From 0 to 1."""
    p("run", "tiny-test", "-o", "o", "-q", *LIBAIO, "--bs=4k", "--rw=trim", "--number_ios=5", *sets("link.downstream_posted_headers=2", "link.credit_return_latency=100us"))
    resources = p.results().get("resources", {})
    shares = [r["busy_mean"] for r in resources.values()] + [r["busy_max"] for r in resources.values()]
    return f"{min(shares):.3f} to {max(shares):.3f}" if shares else "no result", bool(shares) and min(shares) >= 0 and max(shares) <= 1


@case("an edited saved drive")
def edited_drive(p):
    """Refused."""
    code, text = p("run", "tiny-test", "-q", "-o", "o", *sets("precondition.from=edited_drive"), *LIBAIO, "--rw=randrw", "--bs=4k", "--number_ios=2000", "--norandommap=1")
    return f"{code}: {last_line(text)[:80]}", code == 2


@case("steadystate while the drive is away")
def steadystate_away(p):
    """No exit 70."""
    code, text = p("run", "tiny-test", "-o", "o", "-q", *LIBAIO, "--rw=randread", "--bs=4k", "--norandommap=1", "--steadystate=iops:10%", "--ss_dur=2",
                   "--number_ios=300", *sets('host.power_cut_at=["300us"]', "host.power_off_time=3s"))
    return f"{code}: {last_line(text)[:80]}", code == 0


@case("shutdown of a drive with a protected share of its map", long=True)
def shutdown_dirty(p):
    """It shuts down."""
    code, text = p("run", "hexa-16g", "-w", "tpcc", "-q", "-o", "o", *sets(
        "precondition.overwrite=50%", "ftl.superblock=drive", "gc.soft_free_blocks=3", "gc.hard_free_blocks=2", "ftl.mapping=dftl", "map.granularity=page",
        "map.cache=8MiB", "map.dirty_until=issued", "map.gc_updates=found", "buffer.merge_writes=false", "buffer.flush_start=98%", "nvme.max_transfer=1MiB",
        "run.slowest=0", "precondition.state=random", "precondition.fill=75%", "buffer.mode=protected", "workload.tpcc.warehouses=50",
        "workload.tpcc.transactions=70000", "buffer.size=128MiB", "map.power_protected=1.14%", "buffer.order=arrival"), timeout=900)
    return f"{code}: {last_line(text)[:80]}", code == 0
