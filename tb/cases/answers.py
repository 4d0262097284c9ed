# SPDX-License-Identifier: Apache-2.0
"""Cases of job files, of what a run says, of its numbers and pins. The docstring of a case says what is right."""
import re

from program import LIBAIO, case, last_line, sets

# --- job files -------------------------------------------------------------------------------------------------------

@case("trimwrite with unequal sizes")
def trimwrite(p):
    """As many trims as writes."""
    p("run", "tiny-test", "-w", "j-trimwrite-bssplit.fio", "-o", "o", "-q")
    r = p.results()
    writes, trims = r.get("write", {}).get("ios"), r.get("trim", {}).get("ios")
    return f"{writes} writes, {trims} trims", writes == trims and bool(writes)


@case("units of 6 KiB in pages of 18 KiB")
def odd_units(p):
    """What `config check` accepts runs."""
    check, _ = p("config", "check", "odd3.toml")
    code, _ = p("run", "odd3.toml", *LIBAIO, "--rw=randread", "--bs=4k", "--number_ios=10", "-o", "o", "-q")
    return f"check {check}, run {code}", (check, code) in ((0, 0), (2, 2))


@case("logs of fio behind a ramp")
def ramp_log(p):
    """100 to 1000 ms, ten samples."""
    p("run", "tiny-test", "-w", "ramp-log.fio", "-o", "o", "-q")
    path = p.dir / "o" / "rl_iops.1.log"
    times = [int(line.split(",")[0]) for line in path.read_text().splitlines()] if path.exists() else []
    return f"{times[:1]} to {times[-1:]}, {len(times)} samples", times == list(range(100, 1001, 100))


@case("a job that ends in its ramp")
def ends_in_ramp(p):
    """A note; no verdict of what limits."""
    code, text = p("run", "tiny-test", "-w", "g-ramp-iosize.fio", "-o", "o")
    names = " limits" in text or "saturated" in text
    return f"{code}, {'a limit is named' if names else 'no limit is named'}, {'a note' if 'ramp' in text else 'no note'}", code == 0 and not names and "ramp" in text


@case("priorities without a policy that reads them")
def priorities(p):
    """A note, or a policy that reads them."""
    code, text = p("run", "tiny-test", "-w", "prio.fio", "-o", "o", *sets("host.tenants=by_job", "host.queue_priorities=[0,3]"))
    noted = any("queue_priorities" in n for n in p.results().get("notes", []))
    return f"{code}, {'a note' if noted else 'no word'}", code == 0 and noted


@case("a public MQSim device with 32 blocks a plane")
def conv_cxl(p):
    """Accepted."""
    code, text = p("config", "check", "conv-cxl.toml")
    return f"{code}: {last_line(text)}", code == 0


@case("a public MQSim device that keeps too many blocks free")
def conv_dedup(p):
    """Accepted, or refused with the key that helps: gc.least_invalid."""
    code, text = p("config", "check", "conv-dedup.toml")
    return f"{code}: {'names' if 'least_invalid' in text else 'does not name'} gc.least_invalid", code == 0 or (code == 2 and "least_invalid" in text)


@case("fio's own log, version 3")
def iolog(p):
    """It is read."""
    code, text = p("run", "tiny-test", "-w", "iolog-v3.log", "-o", "o", "-q")
    return f"{code}: {last_line(text)}", code == 0


# --- answers ---------------------------------------------------------------------------------------------------------

@case("flush depth of dies with four planes")
def flush_depth(p):
    """The depth is named as the limit, or does not limit by default: 4 is far below 16."""
    found = {}
    for name, more in (("default", []), ("4", sets("buffer.flush_depth_per_die=4")), ("16", sets("buffer.flush_depth_per_die=16"))):
        p("run", "mydrive.toml", *LIBAIO, "--rw=write", "--bs=128k", "--iodepth=64", "--number_ios=4000", "-o", "o", "-q", *more)
        r = p.results()
        found[name] = (r["write"]["MB_per_s"], r["limiting"])
    text = "; ".join(f"{name}: {mb:.0f} MB/s" for name, (mb, _) in found.items()) + f"; at 4: {found['4'][1][:70]}"
    return text, "flush_depth" in found["4"][1] and found["default"][0] > 1.1 * found["4"][0]


@case("the CPU of a queue pair is full")
def host_cpu(p):
    """It limits: host.submit_time."""
    p("run", "wd-sn730-512g", *LIBAIO, "--rw=randread", "--bs=16k", "--iodepth=256", "--size=2g", "--number_ios=8000", "-o", "o", "-q")
    limiting = p.results()["limiting"]
    return limiting[:110], "offered load limits" not in limiting and ("CPU" in limiting or "submit_time" in limiting)


@case("five rounds of 0.4 s in a steady state")
def too_short(p):
    """Not called steady."""
    p("run", "hexa-16g", "-w", "mix.fio", "--iodepth=1", "-o", "o", "-q", *sets("precondition.state=random", "ftl.user_capacity=14.5GiB"))
    verdict = p.results().get("steadiness", {}).get("verdict", "none in the result")
    return verdict, verdict in ("not steady", "too short to say")


@case("compare by the names of jobs")
def compare_jobs(p):
    """The reader of both runs is compared, and --fail-if holds."""
    both = ["run", "tiny-test", "-w", "two.fio", "-q", *sets("host.tenants=by_job")]
    p(*both, "-o", "both")
    p(*both, "--section", "reader", "-o", "alone")
    code, text = p("compare", "alone", "both", "--fail-if", "job.0.read.total.p99 > +5%")
    return f"{code}: {last_line(text)}", code == 1 and " %" in last_line(text) and "new" not in last_line(text)


@case("--numjobs beside a job file")
def numjobs(p):
    """A note that the file's own value counts."""
    code, text = p("run", "wd-sn730-512g", "-w", "iv.fio", "--numjobs=32", "--stop-after-commands=400", "-o", "o")
    noted = "numjobs" in text
    return f"{code}, {'a note' if noted else 'no word'}", code == 0 and noted


@case("reports of sweeps and searches", long=True)
def sweep_tools(p):
    """The report of a search shows its trials."""
    p("search", "s.toml", "-o", "found", "-q", timeout=600)
    _, status = p("sweep", "status", "s.toml", "-o", "found")
    code, text = p("sweep", "report", "s.toml", "-o", "found")
    written = list(p.dir.glob("found/*.html"))
    return f"status: {last_line(status)[:60]}; report {code}", code == 0 and bool(written) and "0 done" not in status


@case("sensitivity rounds what it makes", long=True)
def sensitivity(p):
    """No value that is no whole number of bytes."""
    code, text = p("sweep", "sensitivity", "sens.toml", "-o", "sens", "-q", timeout=600)
    return f"{code}: {last_line(text)}", code == 0 and "no whole number" not in text


# --- numbers ---------------------------------------------------------------------------------------------------------

@case("suspends by what a program has left", long=True)
def least_left(p):
    """Suspends fall as least_left grows towards t_program = 750 us, and none is cut off at once."""
    counts = []
    for least in (200, 640, 660):
        p("run", "one-die.toml", "-w", "suspend.fio", "-o", "o", "-q", *sets(f"scheduler.for_reads.least_left={least}us"))
        counts.append(p.results()["counters"]["flash_suspends"])
    return f"{counts} at 200, 640, 660 us", counts[0] > counts[1] >= counts[2] > 0


@case("eight planes that read independently")
def independent_planes(p):
    """126.8 k IOPS at depth 1023 (an event simulation), within 1 %."""
    p("run", "ipr.toml", *LIBAIO, "--rw=randread", "--norandommap", "--bs=4k", "--iodepth=1023", "--number_ios=60000", "-o", "o", "-q",
      *sets("host.queue_entries=1024", "host.submit_time=0s", "host.completion_time=0s"))
    iops = p.results()["read"]["iops"]
    return f"{iops:.0f} IOPS", abs(iops / 126_800 - 1) < 0.01


@case("hit ratio behind a ramp", long=True)
def ramp_hits(p):
    """0.99999: the ramp does not count."""
    p("run", "mqsim-table3-cmt", "-w", "ramp_hits.fio", "-o", "o", "-q",
      *sets("ftl.user_capacity=8GB", "nand.geometry.blocks_per_plane=64", "map.cache=1MiB", "host.tenants=by_job"))
    ratios = [m["hit_ratio"] for m in p.results()["map_by_tenant"]]
    return f"{ratios}", ratios != [] and min(ratios) > 0.9999


@case("an SLC cache that is folded while the host writes", long=True)
def slc_fold(p):
    """The rate of folding changes what a full cache lets through."""
    found = []
    for free in (0, 5):
        p("run", "wd-sn730-512g", *LIBAIO, "--rw=write", "--bs=128k", "--iodepth=32", "--size=4g", "-o", "o", "-q",
          *sets("host.submit_time=0s", "host.completion_time=0s", "host.submit_page_time_write=0s", "host.completion_page_time_write=0s", "slc.blocks=5", f"slc.fold_free_blocks={free}"))
        r = p.results()
        found.append((r["ftl"]["slc_units_folded"], round(r["write"]["MB_per_s"])))
    return f"units folded, MB/s: {found}", found[0] != found[1]


@case("sequential writes of a drive with cache program", long=True)
def cache_program(p):
    """The transfers hide behind tPROG: 16 dies x 2 planes x 16 KiB in 228 us are 2,299 MB/s."""
    p("run", "970pro-228us.toml", *LIBAIO, "--rw=write", "--bs=128k", "--iodepth=64", "--size=4g", "-o", "o", "-q",
      *sets("nand.cache_program=true"))
    mb = p.results()["write"]["MB_per_s"]
    bound = 16 * 2 * 16384 / 228e-6 / 1e6
    return f"{mb:.0f} MB/s, {100 * (mb / bound - 1):+.1f} % of the bound", mb / bound > 0.97


# --- pins ------------------------------------------------------------------------------------------------------------

@case("a resume behind another LUN")
def resume(p):
    """The pins break no rule. (Programs that cannot check pins: none is shown.)"""
    code, text = p("run", "suspend_two_luns.toml", "-w", "suspend_two_luns.fio", "-o", "o", "--check-pins")
    said = re.search(r"pins: .*|.*check-pins.*", text)
    return said[0][:110] if said else last_line(text), code == 0 and "no rule broken" in text
