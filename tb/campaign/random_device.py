# SPDX-License-Identifier: Apache-2.0
"""A whole device drawn at random, as a user would write it in TOML: all of it is valid, most of it is odd."""

import random

from random_faults import random_faults

MIB = 1 << 20

POLICIES = ("greedy", "cost_benefit", "random", "fifo", "d_choices")
# The largest shapes that the Verilated scheduler and sequencer are built for.
RTL_MOST_DIES, RTL_MOST_PLANES = 8, 4


class Device:
    """`settings`: key -> TOML text, on top of the preset if there is one; the numbers that a bound on the run's time needs are attributes in bytes and seconds."""

    preset = None

    def __init__(self, settings):
        self.settings = settings

    def toml(self):
        """A device file. Keys of one level come first, then a table for each group."""
        groups = {}
        for key, value in self.settings.items():
            group, _, name = key.rpartition(".")
            groups.setdefault(group, []).append(f"{name} = {value}")
        return "# SPDX-License-Identifier: Apache-2.0\n" + "\n\n".join(
            "\n".join(([f"[{group}]"] if group else []) + lines) for group, lines in sorted(groups.items())
        ) + "\n"


class Preset(Device):
    """A device that comes with the program, at its full size."""

    NAMES = ("mqsim-table3", "mqsim-table3", "wd-sn730-512g", "hexa-16g", "femu-4g")

    def __init__(self, r):
        super().__init__({"run.seed": r.randrange(1 << 31)})
        self.preset = r.choice(self.NAMES)
        self.fast, self.lba, self.user_bytes = True, 4096, 3 << 30
        # The slowest of them; see configs/device.
        self.read_s, self.program_s, self.erase_s, self.command_s = 100e-6, 1500e-6, 10e-3, 20e-6
        self.link_bytes_per_s = self.read_bytes_per_s = self.write_bytes_per_s = 1.5e9
        self.queues, self.queue_depth = 8, 512


def us(x):
    return f'"{x}us"'


def vary_policy(r, settings):
    """Policies with parameters, in the place of others: what a seed draws besides stays what it was."""
    if settings["gc.policy"] == '"fifo"' and r.random() < 0.5:
        settings["gc.policy"] = '"windowed_greedy"'
        settings["gc.windowed_greedy.window"] = r.choice((1, 2, 5, 1000))
    elif settings["gc.policy"] == '"random"' and r.random() < 0.7:
        settings["gc.random.least_invalid_pages"] = r.choice((0, 0, 2, 20, 65535))
    if r.random() < 0.3:
        settings["wear.free_blocks"] = '"by_wear"'


def vary_map(r, settings, most, blocks_in_use):
    """A map on the flash for a third of them, its cache often the least that is allowed. Returns the most that such a drive holds, of `most` in so
    many blocks of each plane. Draws of its own: what other seeds draw stays as it was."""
    if r.random() > 1 / 3 or blocks_in_use < 3:
        return most
    unit, page, transfer = (size_of(settings, key) for key in ("nand.geometry.unit_size", "nand.geometry.page_size", "nvme.max_transfer"))
    entry = r.choice((4, 8, 256, unit // 4))
    by_page = r.random() < 0.4
    settings["ftl.mapping"] = '"dftl"'
    settings["ftl.superblock"] = r.choice(('"die"', '"plane"'))
    settings["map.granularity"] = '"page"' if by_page else '"entry"'
    settings["map.replacement"] = r.choice(('"lru"', '"segmented_lru"'))
    settings["map.protected"] = r.choice(('"1%"', '"50%"', '"99%"'))
    settings["map.entry_size"] = f'"{entry}B"'
    command = transfer // unit + 1
    least = max(settings["nand.geometry.planes_per_die"] * page // unit, command // (unit // entry) + 2 if by_page else command)
    slots = least * r.choice((1, 1, 2, 10)) + r.randrange(3)
    settings["map.cache"] = f'"{max(slots * (unit if by_page else 2 * entry), 1024)}B"'
    # One more block of each plane is open, and the translation pages need room.
    return most // blocks_in_use * (blocks_in_use - 1) // unit * (unit // entry) // (unit // entry + 1) * unit - unit


def vary_dirty_pages(r, settings, user):
    """Of half of these, no more translation pages dirty than a row of pages may make so, or a few more."""
    if "ftl.mapping" not in settings or r.random() < 0.5:
        return
    unit, page, entry = (size_of(settings, key) for key in ("nand.geometry.unit_size", "nand.geometry.page_size", "map.entry_size"))
    pages = -(-user // (unit * (unit // entry)))
    most = settings["nand.geometry.planes_per_die"] * page // unit + r.choice((0, 0, 1, 7))
    if most >= pages:
        return
    settings["map.power_protected"] = f'"{-(-100 * 10000 * most // pages) / 10000}%"'
    settings["map.dirty_until"] = r.choice(('"programmed"', '"issued"'))
    if r.random() < 0.3:
        settings["map.granularity"] = '"page"'
        settings["map.cache"] = f'"{pages * unit}B"'
        least = size_of(settings, "nvme.max_transfer") // unit // (unit // entry) + 2
        if pages >= max(least, settings["nand.geometry.planes_per_die"] * page // unit):
            settings["map.gc_updates"] = '"found"'
        else:
            settings["map.cache"] = f'"{max(least, pages) * unit}B"'


def size_of(settings, key):
    return int("".join(c for c in settings[key] if c.isdigit())) << (20 if "MiB" in settings[key] else 10 if "KiB" in settings[key] else 0)


def checkpoint_blocks(settings, blocks):
    """How many more blocks of each plane a device of so many needs, so that it has as many without those set apart for checkpoints."""
    get = lambda name: settings[f"nand.geometry.{name}"]
    words = size_of(settings, "nand.geometry.page_size") // 8 - 2
    units_per_page = size_of(settings, "nand.geometry.page_size") // size_of(settings, "nand.geometry.unit_size")
    planes = get("channels") * get("ways") * get("dies_per_chip") * get("planes_per_die")
    joined = 1 if settings.get("ftl.superblock") == '"plane"' else get("planes_per_die")
    for more in range(1, 10000):
        all_blocks = (blocks + more) * planes
        pages = all_blocks * get("pages_per_block")
        map_pages = -(-pages * units_per_page // (2 * words))
        dirty = -(-pages * units_per_page // 64) if settings.get("ftl.mapping") == '"dftl"' else 0
        books = dirty + 10 + 4 * all_blocks // joined + all_blocks + planes // joined + map_pages + pages // 8 + 64
        superblocks = -(-(map_pages + -(-books // words)) // (get("pages_per_block") * joined))
        if more >= -(-(2 + 3 * superblocks) // (planes // joined)):
            return more
    raise ValueError("a device without room for checkpoints")


def journal_blocks(settings, blocks):
    """How many more blocks of each plane a device of so many needs for the journal of a hybrid map: see journal_blocks() in model/controller/ftl/ftl_check.cpp."""
    get = lambda name: settings[f"nand.geometry.{name}"]
    page, unit = size_of(settings, "nand.geometry.page_size"), size_of(settings, "nand.geometry.unit_size")
    planes = get("channels") * get("ways") * get("dies_per_chip") * get("planes_per_die")
    joined = 1 if settings.get("ftl.superblock") == '"plane"' else get("planes_per_die")
    groups = planes // joined
    for more in range(1, 10000):
        units = planes * (blocks + more) * get("pages_per_block") * (page // unit)
        pages = -(-(2 * -(-units // (page // 16)) + 2) // groups) + 1
        if more >= -(-pages // (get("pages_per_block") * joined)) + 2:
            return more
    raise ValueError("a device without room for the journal")


def drawn_lines(seed, device):
    """Superblocks of the whole drive, of a sixth of the small devices that have no share of the addresses anywhere."""
    r = random.Random(f"lines {seed}")
    if device.preset is not None or r.random() > 1 / 6 or device.settings.get("ftl.mapping") in ('"fast"', '"block"'):
        return []
    return ["ftl.superblock=drive"]


def drawn_parity(seed, device, settings):
    """One die of each row for parity, of half of the drives with such superblocks where nothing forbids it, in blocks beside those that they have. A draw of its own."""
    dies = 1
    for dimension in ("channels", "ways", "dies_per_chip"):
        dies *= device.settings.get(f"nand.geometry.{dimension}", 1)
    forbidden = ("slc.", "gc.charge_time=false", "precondition.state=analytic")
    if "ftl.superblock=drive" not in settings or dies == 1 or random.Random(f"parity {seed}").random() < 1 / 2 or any(s.startswith(forbidden) for s in settings):
        return []
    before = device.settings["nand.geometry.blocks_per_plane"]
    device.settings["nand.geometry.blocks_per_plane"] = before + -(-before // (dies - 1))
    device.scan_s *= device.settings["nand.geometry.blocks_per_plane"] / before
    return ["ftl.parity=die"]


# What a drive with log blocks refuses.
NOT_WITH_LOG_BLOCKS = ("ftl.placement", "ftl.static_dimensions", "ftl.nvm_sets", "ftl.stream_frontiers", "ftl.streams_by", "ftl.multi_hash", "gc.pace", "gc.tokens", "gc.idle", "precondition.state",
                       "slc.", "nand.slc", "buffer.merge_writes")


def drawn_log_blocks(seed, device):
    """A mapping by blocks for a quarter of the small devices whose map is all in memory: with log blocks, in blocks beside those that they have, or without.
    Draws of their own."""
    r = random.Random(f"log blocks {seed}")
    if device.preset is not None or r.random() > 1 / 4 or "ftl.mapping" in device.settings:
        return []
    logs = r.choice((0, 0, 1, 2, 4, 12))
    device.settings["ftl.mapping"] = '"fast"' if logs else '"block"'
    device.settings["ftl.superblock"] = r.choice(('"die"', '"die"', '"plane"'))
    before = device.settings["nand.geometry.blocks_per_plane"]
    device.settings["nand.geometry.blocks_per_plane"] = before + logs + 1 + journal_blocks(device.settings, before + logs + 1)
    device.scan_s *= device.settings["nand.geometry.blocks_per_plane"] / before
    return [f"fast.random_log_blocks={max(logs, 1)}"]


def drawn_protected(seed, device):
    """A write buffer that capacitors protect, of a quarter of the small devices that write back. Draws of their own."""
    if device.preset is None and random.Random(f"protected {seed}").random() < 1 / 4 and device.settings["buffer.mode"] == '"write_back"':
        return ["buffer.mode=protected"]
    return []


def drawn_refresh(seed, device):
    """Blocks that are moved when they have been read often, on a tenth of the small devices, some after hardly more reads than they have pages; when they
    are old, on another tenth, some after hardly longer than it takes. Draws of their own."""
    r = random.Random(f"refresh {seed}")
    if device.preset is not None or device.settings.get("ftl.mapping") in ('"fast"', '"block"'):
        return
    if r.random() < 0.1:
        device.settings["refresh.reads"] = r.choice((40, 300, 2000))
    if r.random() < 0.1:
        device.settings["refresh.age"] = r.choice(('"1ms"', '"20ms"', '"500ms"'))
        if r.random() < 0.5:
            device.settings["refresh.interval"] = r.choice(('"1ms"', '"300us"', '"50us"'))
            device.settings["firmware.refresh_look"] = r.choice((0, 500, 5000))


def random_device(r, small_rtl=False):
    """`small_rtl`: within what the RTL blocks are built for; the sequencer has no single data rate."""
    if not small_rtl and r.random() < 0.06:
        return Preset(r)
    lba = r.choice((512, 512, 4096))
    unit = r.choice((4096, 4096, 4096, 8192, 16384))
    page = unit * r.choice((1, 1, 2, 4))
    # A third have flash that outruns the link. Most of these live on a grid: at the rates of generations 1 and 2 a dword
    # takes whole nanoseconds, and all other times are multiples of half of one. Things of both directions then happen at
    # the same instant again and again, in either order.
    fast = r.random() < 0.33
    on_grid = fast and r.random() < 0.6
    channels = r.choice((4, 8)) if fast else r.choice((1, 2, 2, 3, 4, 8))
    ways = r.choice((1, 1, 2, 4))
    dies_per_chip = r.choice((1, 1, 2, 3))
    planes = r.choice((1, 2, 2, 4))
    if small_rtl:
        ways, dies_per_chip = r.choice(((1, 1), (2, 1), (1, 2), (4, 1), (2, 2), (4, 2)))
    soft, hard = r.choice(((3, 2), (4, 2), (4, 3), (6, 2)))
    planes_all = channels * ways * dies_per_chip * planes
    pages_per_block = r.choice((4, 8, 16, 32, 64, 96))
    # Up to 256 MiB: large enough for real footprints, small enough to be rewritten by a run.
    fits = max(1, 256 * MIB // (planes_all * pages_per_block * page))
    blocks = max(soft + 6, min(r.choice((12, 16, 24, 40, 100, 250)), fits))
    raw = planes_all * blocks * pages_per_block * page
    # The most that the program allows: see most_logical_units() in model/controller/ftl/ftl_check.cpp.
    units_per_page = page // unit
    most = planes_all * (blocks - soft - 3) * (pages_per_block * units_per_page - (units_per_page - 1)) * unit
    user = int(most * r.choice((0.5, 0.8, 0.95, 1.0))) // unit * unit
    t_read = r.choice((3, 12, 40, 75, 100))
    t_program = r.choice((50, 200, 700, 1500))
    t_erase = r.choice((500, 3000, 5000))
    bits = r.choice((1, 2, 3, 4))
    generation = r.choice((1, 2, 3, 3, 4, 5))
    lanes = r.choice((1, 2, 4, 4, 8))
    payload = r.choice((128, 256, 256, 512))
    if fast:
        t_read, t_program, t_erase, generation = r.choice((3, 12)), 50, 500, r.choice((1, 1, 2, 2, 3))
    buffer_pages = planes_all * (50 if fast else r.choice((1, 1, 2, 3, 8, 50)))
    mode = r.choice(("write_back", "write_back", "write_back", "write_through"))
    cores = r.choice((1, 1, 2, 5))
    clock = r.choice((50, 500, 500, 2000) if not fast else (500, 500, 2000))
    if on_grid:
        generation, lanes, payload = r.choice(((1, 4, 256), (1, 8, 256), (2, 2, 512), (2, 4, 256), (2, 8, 512)))
    # Completions that are longer on the wire than writes: what waits for them is then posted first.
    completion = r.choice((payload // 4, payload // 2) if on_grid else (64, 128, 256))
    queue_pairs = r.choice((1, 2, 8, 32))
    # (tags, bytes): with few tags for short requests, data reads wait in the DMA engine for those before them.
    tags, request = r.choice(((256, 512), (32, 4096), (256, 128), (32, 512), (8, 512)) if fast else
                             ((1, 128), (1, 512), (4, 512), (32, 512), (32, 512), (32, 4096), (256, 512)))
    entries = r.choice((64, 1024)) if fast else r.choice((2, 3, 17, 64, 1024, 1024))
    window = r.choice((64, 512)) if fast else r.choice((1, 4, 64, 512))
    coalescing = (0, 0) if fast else r.choice(((0, 0), (0, 0), (0, 0), (3, 100), (20, 1000)))  # threshold, us
    cpu = (0, 0) if on_grid else r.choice(((0, 0), (0, 0), (0.6, 0.8), (5, 3)))
    grid = ('"16ns"', '"160ns"', '"32ns"')
    onfi = ("nv-ddr3", 2000 if on_grid else 2400) if fast else r.choice((("nv-ddr2", 333), ("nv-ddr2", 400), ("nv-ddr3", 800), *(() if small_rtl else (("sdr", 20), ("sdr", 50)))))
    settings = {
        "name": '"random"',
        "ftl.user_capacity": f'"{user}B"',
        "ftl.allocation": '"' + "".join(r.sample("CWDP", 4)) + '"',
        "gc.policy": f'"{r.choice(POLICIES)}"',
        "gc.soft_free_blocks": soft,
        "gc.hard_free_blocks": hard,
        "gc.max_inflight_pages": r.choice((1, 2, 8, 32)),
        "buffer.size": f'"{buffer_pages * page}B"',
        "buffer.mode": f'"{mode}"',
        "buffer.flush_start": '"0%"' if mode == "write_through" else r.choice(('"0%"', '"0%"', '"50%"', '"99%"')),
        "buffer.flush_depth_per_die": r.choice((0, 1, 2, 4, 16)),
        "precondition.state": '"fresh"' if on_grid else r.choice(('"fresh"', '"sequential"', '"sequential"', '"random"')),
        "precondition.fill": r.choice(('"100%"', '"70%"', '"10%"')),
        "nvme.lba_size": f'"{lba}B"',
        "nvme.fetch_window": window,
        "nvme.fetch_burst": min(window, r.choice((1, 8, 64))),
        "nvme.fetch_depth": 16 if fast else r.choice((1, 2, 16)),
        "nvme.arbitration_burst": r.choice((0, 3, 7)),
        "nvme.max_transfer": r.choice(('"8KiB"', '"128KiB"', '"128KiB"', '"512KiB"', '"1MiB"')),
        "nvme.sgls": r.choice(("false", "true")),
        "nvme.interrupt_coalescing_threshold": coalescing[0],
        "nvme.interrupt_coalescing_time": us(coalescing[1]),
        "firmware.cores": cores,
        "firmware.clock": f'"{clock}MHz"',
        "host.queue_pairs": queue_pairs,
        "host.queue_entries": entries,
        "host.buffer_offset": r.choice(('"0B"', f'"{4 * r.randrange(1024)}B"')),
        "host.submit_time": us(cpu[0]),
        "host.completion_time": us(cpu[1]),
        "host.submit_page_time_write": us(0 if on_grid else r.choice((0, 0, 0.2))),
        "host.completion_page_time_read": us(0 if on_grid else r.choice((0, 0, 0.1))),
        "host.cores": r.choice((0, 0, 0, 1, queue_pairs)),
        "host.completion": '"poll"' if not on_grid and coalescing[0] == 0 and r.random() < 0.2 else '"interrupt"',
        "link.generation": generation,
        "link.lanes": lanes,
        "link.max_payload": f'"{payload}B"',
        "link.max_read_request": f'"{request}B"',
        "link.completion_payload": f'"{min(payload, completion)}B"',
        "link.data_link_efficiency": '"100%"' if on_grid else '"98%"',
        "link.read_tags": tags,
        "link.upstream_posted_headers": r.choice((1, 8, 64)),
        "link.upstream_posted_data": r.choice((payload // 16, 128, 512)),
        "link.upstream_nonposted_headers": r.choice((1, 8, 64)),
        "link.device_to_host_latency": r.choice(grid if on_grid else ('"250ns"', '"1us"')),
        "link.host_to_device_latency": r.choice(grid if on_grid else ('"150ns"', '"1us"')),
        "link.root_complex_latency": r.choice(grid if on_grid else ('"150ns"', '"1us"')),
        "scheduler.policy": r.choice(('"read_first"', '"fifo"', '"earliest_deadline"', '"priority_classes"', '"weighted"', '"weighted_priorities"')),
        "scheduler.multi_plane": r.choice(("true", "false")),
        "scheduler.starvation_limit": r.choice((0, 1, 2, 63)),
        "scheduler.look_ahead": r.choice((1, 2, 16, 1024)),
        "ecc.decode_time": r.choice((us(0), us(0), us(2))),
        "nand.bits_per_cell": bits,
        "nand.t_read": us(t_read) if bits == 1 else f"[{', '.join(us(t_read * (1 + i / 4)) for i in range(bits))}]",
        "nand.t_program": us(t_program),
        "nand.t_erase": us(t_erase),
        "nand.independent_plane_read": r.choice(("true", "false")),
        "nand.onfi.interface": f'"{onfi[0]}"',
        "nand.onfi.rate": f'"{onfi[1]}MT/s"',
        "nand.geometry.channels": channels,
        "nand.geometry.ways": ways,
        "nand.geometry.dies_per_chip": dies_per_chip,
        "nand.geometry.planes_per_die": planes,
        "nand.geometry.blocks_per_plane": blocks,
        "nand.geometry.pages_per_block": pages_per_block,
        "nand.geometry.page_size": f'"{page}B"',
        "nand.geometry.spare_size": f'"{page // 18 // 4 * 4}B"',
        "nand.geometry.unit_size": f'"{unit}B"',
        "run.seed": r.randrange(1 << 31),
    }
    if r.random() < 0.25:
        spare = r.randrange(0, min(6, blocks - soft - 3))
        # Spare blocks are none of those that the capacity counts on.
        user = min(user, most // (blocks - soft - 3) * (blocks - soft - 3 - spare) // unit * unit)
        settings.update(random_faults(r, spare))
        settings["ftl.user_capacity"] = f'"{user}B"'
    vary_policy(random.Random(settings["run.seed"]), settings)
    spare = settings.get("ftl.spare_blocks", 0)
    most = most // (blocks - soft - 3) * (blocks - soft - 3 - spare)
    user = min(user, vary_map(random.Random(settings["run.seed"] + 1), settings, most, blocks - soft - 3 - spare))
    settings["ftl.user_capacity"] = f'"{user}B"'
    vary_dirty_pages(random.Random(settings["run.seed"] + 2), settings, user)
    d = Device(settings)
    d.fast = fast
    d.lba, d.unit, d.page, d.user_bytes, d.raw_bytes = lba, unit, page, user, raw
    # One page through an idle device, array operations counted as if nothing overlapped. 6 % of spare bytes: assumed.
    bus = (page * 1.06 / (onfi[1] * 1e6) + 10e-6) * planes
    d.read_s = (t_read * (1 + (bits - 1) / 4)) * 1e-6 + bus
    d.program_s = t_program * 1e-6 + bus
    d.erase_s = t_erase * 1e-6
    # To read all pages, those of all dies of a channel one after the other.
    d.scan_s = d.read_s * (1 + settings.get("ecc.read_retries", 0)) * planes * blocks * (pages_per_block + 1) * ways * dies_per_chip
    d.command_s = 10e-6 + 2000 / (clock * 1e6) + sum(cpu) * 1e-6 + coalescing[1] * 1e-6
    if "ftl.mapping" in settings:  # a translation page leaves, and another one comes
        d.command_s += 3 * d.read_s + d.program_s
        if "map.power_protected" in settings:  # a row waits for a page of each of its units
            d.command_s += planes * page // unit * (d.program_s + d.read_s)
        d.scan_s += user * size_of(settings, "map.entry_size") / unit**2 * d.read_s  # translation pages, one after the other
    d.link_bytes_per_s = 0.25e9 * 2 ** (generation - 1) * lanes * 0.5  # assumed, low on purpose: the rest is overhead of TLPs
    # A tag is away for a round trip, 3 us at most, and while its request or its completions wait for the wire.
    d.read_bytes_per_s = min(tags, settings["link.upstream_nonposted_headers"]) * request / (4e-6 + request / d.link_bytes_per_s)
    # A credit is away until the TLP has arrived, 1 us at most, and its return, 0.1 us, has come back.
    credits = min(settings["link.upstream_posted_headers"], settings["link.upstream_posted_data"] * 16 // payload)
    d.write_bytes_per_s = credits * payload / (1.1e-6 + payload / d.link_bytes_per_s)
    d.queues = queue_pairs
    d.queue_depth = min(entries - 1, window)
    return d


def has_slc(seed, device):
    bits = device.settings["nand.bits_per_cell"]
    return random.Random(f"slc {seed}").random() <= 1 / 3 and bits != 1 and device.settings["nand.geometry.pages_per_block"] // bits != 0


def drawn_slc(seed, device):
    """An SLC cache for a third of the small devices that can have one, in blocks beside those that they have, or in others as well. Draws of their own."""
    if device.preset is not None or not has_slc(seed, device):
        return []
    r = random.Random(f"slc {seed}")
    r.random()  # whether it has one
    blocks = r.choice((1, 1, 2, 5))
    before = device.settings["nand.geometry.blocks_per_plane"]
    device.settings["nand.geometry.blocks_per_plane"] = before + blocks
    device.scan_s *= (before + blocks) / before
    dynamic = drawn_dynamic(seed, device)
    return dynamic + [f"slc.blocks={r.choice((0, blocks)) if dynamic else blocks}", f"slc.fold_free_blocks={r.choice((0, 1, 1, blocks))}", f"slc.fold_rate={r.choice((0, 30, 100, 1000))}%", f"nand.slc.t_read={r.choice((3, 25))}us",
            f"nand.slc.t_program={r.choice((20, 150))}us", f"nand.slc.t_erase={r.choice((500, 4000))}us"]


def drawn_dynamic(seed, device):
    """Half of these caches use free blocks of the drive too, which needs one more to be open. Draws of their own."""
    r = random.Random(f"dynamic slc {seed}")
    if r.random() < 1 / 2:
        return []
    device.settings["nand.geometry.blocks_per_plane"] += 1
    device.scan_s *= 1 + 1 / device.settings["nand.bits_per_cell"]  # a search may read a page in both modes
    return [f"slc.dynamic_blocks={r.choice((1, 3, 1000))}"]
