# SPDX-License-Identifier: Apache-2.0
"""Workloads drawn at random: job files from all options that the program knows, traces, and named ones."""

# What each job has, whatever else is drawn.
ALWAYS = ("ioengine", "rw", "bs", "number_ios")
RARELY = ("create_only",)  # most others are then for nothing


def drawn_sections(r, options, device_bytes, lba, long=False):
    """[[name, [[option, value], ...]], ...]: one to three jobs with a few options each."""
    sections = []
    for i in range(r.choice((1, 1, 1, 2, 3))):
        chosen = [["ioengine", r.choice(("libaio", "libaio", "io_uring", "psync"))], ["rw", options.all["rw"].draw(r, device_bytes, lba)],
                  ["bs", options.all["bs"].draw(r, device_bytes, lba)], ["number_ios", str(r.choice((1, 4, 30, 150, 400)))],
                  ["iodepth", options.all["iodepth"].draw(r, device_bytes, lba)]]
        if long:
            chosen = [c for c in chosen if c[0] != "number_ios"] + [["time_based", "1"], ["runtime", "1000"], ["norandommap", "1"]]
        for _ in range(min(12, int(r.expovariate(1 / 3)))):
            kind = r.random()
            pool = options.handled if kind < 0.97 else list(options.all.values())
            option = r.choice(pool)
            if option.name in RARELY and r.random() < 0.8:
                continue
            value = option.draw(r, device_bytes, lba)
            if long and option.name in ("runtime", "time_based", "number_ios", "create_only", "rate_min", "rate_iops_min", "max_latency", "loops"):
                continue
            chosen = [c for c in chosen if c[0] != option.name] + [[option.name, value]]
        sections.append([f"job{i}", chosen])
    return sections


def job_text(sections):
    return "".join(f"[{name}]\n" + "".join(f"{option}={value}\n" for option, value in chosen) for name, chosen in sections)


def drawn_trace(r, device_bytes, lba):
    """(text, arguments): MSR Cambridge, or a table of one's own."""
    lines, t = [], 0
    gap = r.choice((0, 10, 1000, 100_000))  # in 100 ns
    table = r.random() < 0.4
    for _ in range(r.choice((1, 10, 200))):
        size = min(device_bytes, lba * r.choice((1, 1, 2, 8, 8, 16, 64, 256)))
        offset = r.randrange(0, (device_bytes - size) // lba + 1) * lba
        if r.random() < 0.03:
            offset = r.choice((device_bytes - size // 2, device_bytes, 10 * device_bytes))
        t += r.randrange(0, 2 * gap + 1) if r.random() < 0.95 else -min(t, gap)
        what = r.choice(("Read", "Write"))
        lines.append(f"{t / 10:.1f},{what},{offset},{size}" if table else f"{128166372003061629 + t},host,{r.choice((0, 0, 1))},{what},{offset},{size},100")
    arguments = ["--trace-columns", "time:us,op,offset,size"] if table else []
    for option, values in (("--replay", ("closed", "stamped")), ("--replay-depth", ("1", "7", "300")), ("--trace-beyond", ("fold", "scale", "error")), ("--time-scale", ("0.1", "10")),
                           ("--replay-jobs", ("1", "2", "5"))):
        if r.random() < 0.4:
            arguments += [option, r.choice(values)]
    if r.random() < 0.2:
        arguments += [r.choice(("--trace-overlay", "--trace-spread", "--trace-skip-broken"))]
    return "\n".join(lines) + "\n", arguments
