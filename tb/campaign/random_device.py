# SPDX-License-Identifier: Apache-2.0
"""A whole device drawn at random, as a user would write it in TOML: all of it is valid, most of it is odd."""

MIB = 1 << 20

POLICIES = ("greedy", "cost_benefit", "random", "fifo", "d_choices")
# The largest shapes that the Verilated scheduler and sequencer are built for.
RTL_MOST_DIES, RTL_MOST_PLANES = 8, 4


class Device:
    """`settings`: key -> TOML text; the numbers that a bound on the run's time needs are attributes in bytes and seconds."""

    def __init__(self, settings):
        self.settings = settings

    def toml(self):
        """A device file. Keys of one level come first, then a table for each group."""
        groups = {}
        for key, value in self.settings.items():
            group, _, name = key.rpartition(".")
            groups.setdefault(group, []).append(f"{name} = {value}")
        return "\n\n".join(
            "\n".join(([f"[{group}]"] if group else []) + lines) for group, lines in sorted(groups.items())
        ) + "\n"


def us(x):
    return f'"{x}us"'


def random_device(r, small_rtl=False, victim_policies=POLICIES):
    """`small_rtl`: within what the RTL blocks are built for."""
    lba = r.choice((512, 512, 4096))
    unit = r.choice((4096, 4096, 4096, 8192, 16384))
    page = unit * r.choice((1, 1, 2, 4))
    channels = r.choice((1, 2, 2, 3, 4, 8))
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
    buffer_pages = planes_all * r.choice((1, 1, 2, 3, 8, 50))
    mode = r.choice(("write_back", "write_back", "write_back", "write_through"))
    cores = r.choice((1, 1, 2, 5))
    clock = r.choice((50, 500, 500, 2000))
    queue_pairs = r.choice((1, 2, 8, 32))
    entries = r.choice((2, 3, 17, 64, 1024, 1024))
    window = r.choice((1, 4, 64, 512))
    coalescing = r.choice(((0, 0), (0, 0), (0, 0), (3, 100), (20, 1000)))  # threshold, us
    cpu = r.choice(((0, 0), (0, 0), (0.6, 0.8), (5, 3)))
    onfi = r.choice((("nv-ddr2", 333), ("nv-ddr2", 400), ("nv-ddr3", 800), ("sdr", 20), ("sdr", 50)))
    settings = {
        "name": '"random"',
        "ftl.user_capacity": f'"{user}B"',
        "ftl.allocation": '"' + "".join(r.sample("CWDP", 4)) + '"',
        "gc.policy": f'"{r.choice(victim_policies)}"',
        "gc.soft_free_blocks": soft,
        "gc.hard_free_blocks": hard,
        "gc.max_inflight_pages": r.choice((1, 2, 8, 32)),
        "buffer.size": f'"{buffer_pages * page}B"',
        "buffer.mode": f'"{mode}"',
        "buffer.flush_start": '"0%"' if mode == "write_through" else r.choice(('"0%"', '"0%"', '"50%"', '"99%"')),
        "buffer.flush_depth_per_die": r.choice((1, 2, 4, 16)),
        "precondition.state": f'"{r.choice(("fresh", "sequential", "sequential", "random"))}"',
        "precondition.fill": r.choice(('"100%"', '"70%"', '"10%"')),
        "nvme.lba_size": f'"{lba}B"',
        "nvme.fetch_window": window,
        "nvme.fetch_burst": min(window, r.choice((1, 8, 64))),
        "nvme.fetch_depth": r.choice((1, 2, 16)),
        "nvme.arbitration_burst": r.choice((0, 3, 7)),
        "nvme.max_transfer": r.choice(('"8KiB"', '"128KiB"', '"128KiB"', '"512KiB"', '"1MiB"')),
        "nvme.interrupt_coalescing_threshold": coalescing[0],
        "nvme.interrupt_coalescing_time": us(coalescing[1]),
        "firmware.cores": cores,
        "firmware.clock": f'"{clock}MHz"',
        "host.queue_pairs": queue_pairs,
        "host.queue_entries": entries,
        "host.buffer_offset": f'"{4 * r.randrange(1024)}B"',
        "host.submit_time": us(cpu[0]),
        "host.completion_time": us(cpu[1]),
        "link.generation": generation,
        "link.lanes": lanes,
        "link.max_payload": f'"{payload}B"',
        "link.max_read_request": r.choice(('"128B"', '"512B"', '"512B"', '"4KiB"')),
        "link.completion_payload": f'"{min(payload, r.choice((64, 128, 256)))}B"',
        "link.read_tags": r.choice((1, 4, 32, 32, 256)),
        "link.upstream_posted_headers": r.choice((1, 8, 64)),
        "link.upstream_posted_data": r.choice((payload // 16, 128, 512)),
        "link.upstream_nonposted_headers": r.choice((1, 8, 64)),
        "link.device_to_host_latency": r.choice(('"250ns"', '"160ns"', '"16ns"')),
        "link.host_to_device_latency": r.choice(('"150ns"', '"160ns"', '"32ns"')),
        "link.root_complex_latency": r.choice(('"150ns"', '"160ns"', '"1us"')),
        "scheduler.policy": r.choice(('"read_first"', '"fifo"')),
        "scheduler.multi_plane": r.choice(("true", "false")),
        "scheduler.starvation_limit": r.choice((0, 1, 2, 63)),
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
    d = Device(settings)
    d.lba, d.unit, d.page, d.user_bytes, d.raw_bytes = lba, unit, page, user, raw
    # One page through an idle device, array operations counted as if nothing overlapped.
    bus = (page * 1.06 / (onfi[1] * 1e6) + 10e-6) * planes
    d.read_s = (t_read * (1 + (bits - 1) / 4)) * 1e-6 + bus
    d.program_s = t_program * 1e-6 + bus
    d.erase_s = t_erase * 1e-6
    d.command_s = 10e-6 + 2000 / (clock * 1e6) + sum(cpu) * 1e-6 + coalescing[1] * 1e-6
    d.link_bytes_per_s = 0.25e9 * 2 ** (generation - 1) * lanes * 0.5  # the rest is overhead of TLPs
    d.queues = queue_pairs
    d.queue_depth = min(entries - 1, window)
    return d
