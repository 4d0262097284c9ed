# SPDX-License-Identifier: Apache-2.0
"""A device drawn from the parameter table: its geometry in odd numbers, and any others of its parameters."""
from table import log_uniform

# What a run of a second of host time can hold.
MOST_UNITS = 12_000
MOST_PAGES = 8_000
MOST_BYTES = 96 << 20
GEOMETRY = "nand.geometry."

# How a file or another place is named, drawn by the case itself; a policy of a user's own library.
NOT_DRAWN = ("name", "description", "based_on", "precondition.from", "precondition.workload", "scheduler.rtl_module", "ftl.nvm_sets")
# RTL costs a thousand times as much as the model; the other campaign runs it.
NOT_IN_RTL = {"scheduler.implementation": ("tlm", "tlm_clocked"), "channel.rtl_sequencer": ("[]",)}
# Above these a run takes long, or needs much memory, because it was asked for.
COSTLY = {
    "precondition.overwrite": 4_000_000, "precondition.most_rounds": 200, "workload.tpcc.warehouses": 40, "workload.tpcc.transactions": 2_000,
    "ftl.multi_hash.counters": 1_000_000, "host.queue_entries": 4096, "host.queue_pairs": 64,
    "read_cache.size": 256 << 20, "buffer.size": 256 << 20, "map.cache": 256 << 20,
}


def drawn_geometry(r, larger=1):
    """Few planes, few blocks, odd numbers of both, and units of 512 B to 128 KiB."""
    s = {}
    dimensions = ("channels", "ways", "dies_per_chip", "planes_per_die")
    planes = {d: r.choice((1, 1, 1, 2, 2, 3, 4, 5, 7)) for d in dimensions}
    planes["planes_per_die"] = min(planes["planes_per_die"], 8)
    page = 512 * r.choice((1, 2, 3, 4, 7, 8, 8, 8, 12, 16, 16, 24, 32, 32, 64, 128, 256, r.randrange(1, 257)))
    parts = [n for n in range(1, page // 512 + 1) if page % (n * 512) == 0]
    unit = page // r.choice(parts) if r.random() < 0.9 else 512 * r.randrange(1, 257)
    pages = r.choice((r.randrange(1, 9), r.randrange(4, 65), 16, 32, 64, r.randrange(16, 300)))
    blocks = r.choice((r.randrange(4, 20), r.randrange(12, 64), r.randrange(16, 130), 64))
    per_page = max(1, page // unit)

    def pages_in_all():
        return planes["channels"] * planes["ways"] * planes["dies_per_chip"] * planes["planes_per_die"] * pages * blocks

    while pages_in_all() > MOST_PAGES * larger or pages_in_all() * per_page > MOST_UNITS * larger or pages_in_all() * page > MOST_BYTES * larger:
        largest = max(dimensions, key=lambda d: planes[d])
        if planes[largest] > 1 and r.random() < 0.5:
            planes[largest] -= 1
        elif pages > blocks:
            pages = max(1, pages * 2 // 3)
        else:
            blocks = max(3, blocks * 2 // 3)
            if blocks == 3 and pages == 1:
                break
    s.update({GEOMETRY + d: str(n) for d, n in planes.items()})
    s[GEOMETRY + "blocks_per_plane"], s[GEOMETRY + "pages_per_block"] = str(blocks), str(pages)
    s[GEOMETRY + "page_size"], s[GEOMETRY + "unit_size"] = f"{page}B", f"{unit}B"
    spare = min(0.93, r.choice((0.5, 0.75, 0.85, 0.9, r.random())))
    s["ftl.user_capacity"] = f"{max(4096, int(pages_in_all() * page * spare)) // 512 * 512}B"
    s["gc.hard_free_blocks"] = "2"
    s["gc.soft_free_blocks"] = "3"
    return s


# What a section is of no use without. Most draws of the section have it.
ENABLES = {
    "map": {"ftl.mapping": "dftl"}, "fast": {"ftl.mapping": "fast"}, "ftl.multi_hash": {"ftl.streams_by": "multi_hash", "nvme.streams": "4"},
    "slc": {"slc.blocks": "2"}, "nand.slc": {"slc.blocks": "1"}, "scheduler.for_reads": {"scheduler.suspend": "for_reads"}, "dram.banks": {"dram.model": "banks"},
    "gc.d_choices": {"gc.policy": "d_choices"}, "gc.random": {"gc.policy": "random"}, "gc.windowed_greedy": {"gc.policy": "windowed_greedy"}, "gc.tokens": {"gc.pace": "tokens"},
    "scheduler.weighted": {"scheduler.policy": "weighted", "host.tenants": "by_job"},
    "read_cache": {"read_cache.size": "256KiB"}, "refresh": {"refresh.reads": "20"},
}


def drawn_value(r, parameter, beyond):
    if parameter.key in NOT_IN_RTL:
        return r.choice(NOT_IN_RTL[parameter.key])
    value = parameter.draw(r, beyond)
    most = COSTLY.get(parameter.key)
    if most is not None and parameter.low is not None and r.random() > beyond:
        number = parameter.draw_number(r)
        if number > most:
            number = log_uniform(r, parameter.low, most)
        value = parameter.text_of(number, r)
    return value


def drawn_device(r, table, larger=1):
    """(preset or None, {key: value}): half on the smallest preset, half with a geometry of their own; then some parameters of a few sections."""
    base = "tiny-test" if r.random() < 0.4 else None
    settings = {} if base else drawn_geometry(r, larger)
    free = [p for p in table.parameters.values() if p.key not in NOT_DRAWN and p.key not in settings and not p.key.startswith(GEOMETRY)]
    sections = sorted({p.section for p in free})
    themes = r.sample(sections, r.choice((0, 1, 1, 2, 3)))
    count = min(len(free), int(r.expovariate(1 / 5)))
    near = [p for p in free if p.section in themes or any(p.section.startswith(t + ".") for t in themes if t)]
    beyond = 0.2 if r.random() < 0.1 else 0.0
    for theme in themes:
        if r.random() < 0.8:
            settings.update({k: v for k, v in ENABLES.get(theme, {}).items() if k in table})
    for _ in range(count):
        p = r.choice(near if near and r.random() < 0.6 else free)
        settings[p.key] = drawn_value(r, p, beyond)
    if base and r.random() < 0.3:
        p = r.choice([p for p in table.parameters.values() if p.key.startswith(GEOMETRY) and not p.key.endswith(("channels", "ways", "dies_per_chip", "blocks_per_plane", "pages_per_block"))])
        settings[p.key] = p.draw(r, beyond)
    # What is only of use together: doors that single draws open too rarely.
    if r.random() < 0.15:
        settings["ftl.mapping"] = r.choice(table["ftl.mapping"].words)
    if r.random() < 0.15:
        settings["precondition.state"] = r.choice(table["precondition.state"].words)
    if r.random() < 0.12:
        settings["host.power_cut_at"] = table["host.power_cut_at"].draw(r)
        if r.random() < 0.5:
            settings["host.power_off_time"] = table["host.power_off_time"].draw(r)
    if r.random() < 0.08:
        settings["host.reset_at"] = table["host.reset_at"].draw(r)
    if r.random() < 0.06:
        settings["dram.bandwidth"] = r.choice(("1MB/s", "2MB/s", "20MB/s"))
    if r.random() < 0.06:
        settings["firmware.clock"] = r.choice(("1MHz", "3MHz", "20MHz"))
    return base, settings


def toml(table, settings):
    """The device file; keys that the table does not have are written as they are."""
    lines = [f"{key} = {table[key].toml(value) if key in table else value}" for key, value in settings.items()]
    return "\n".join(lines) + "\n"
