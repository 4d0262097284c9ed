# SPDX-License-Identifier: Apache-2.0
"""A device and a job drawn at random, deep enough that something of the device limits: a device in which all is plentiful, and of which
one or two things, drawn as well, are scarce. Everything can be doubled: nothing is at the end of its range."""

import random

MIB = 1 << 20
ONFI_TIMES = {"t_wc": 25000, "t_cs": 20000, "t_adl": 300000, "t_ccs": 400000, "t_rhw": 100000, "t_rr": 20000, "t_wb": 100000, "t_wpre": 15000,
              "t_wpst": 6500, "t_wpsth": 15000, "t_rpre": 15000, "t_dqsre": 25000, "t_rpsth": 15000, "t_plane_busy": 500000}  # ps


class Case:
    """`settings`: key -> value, an int with its unit in UNITS; `job`: option -> value; `commands`: of the run."""

    def __init__(self, settings, job, commands):
        self.settings, self.job, self.commands = settings, job, commands

    def copy(self):
        return Case(dict(self.settings), dict(self.job), self.commands)


# What --set writes behind a number.
UNITS = {"ftl.user_capacity": "B", "buffer.size": "B", "nand.geometry.page_size": "B", "nand.t_read": "ns", "nand.t_program": "ns", "nand.t_erase": "ns",
         "nand.onfi.rate": "MT/s", "firmware.clock": "MHz", "dram.bandwidth": "MB/s", "link.credit_return_latency": "ns", "host.submit_time": "ns", "host.completion_time": "ns",
         "host.submit_page_time_read": "ns", "host.submit_page_time_write": "ns", "host.completion_page_time_read": "ns", "host.completion_page_time_write": "ns",
         "host.interrupt_time": "ns", "scheduler.clock": "MHz",
         **{f"nand.onfi.{name}": "ps" for name in ONFI_TIMES}}


def random_case(seed):
    r = random.Random(f"limits {seed}")
    rw = r.choice(("randread", "randread", "read", "randwrite", "randwrite", "write", "write", "randrw"))
    # The steady state of a drive is one of random writes of its unit.
    bs = 4096 if rw in ("randwrite", "randrw") else r.choice((4096, 4096, 16384, 65536, 131072))
    channels, ways, dies, planes = r.choice((1, 2, 2, 4, 8)), r.choice((1, 2, 2, 4)), r.choice((1, 1, 2)), r.choice((1, 2, 2, 4))
    page, pages = 4096 * r.choice((1, 2, 4, 4)), r.choice((32, 64, 128))
    collects = rw in ("randwrite", "randrw")
    if collects:  # small enough to be written once by the run: else write amplification still changes
        channels, ways, dies, page, pages = min(channels, 4), min(ways, 2), 1, min(page, 8192), 32
    planes_all = channels * ways * dies * planes
    # Sequential writes go to an empty drive that they do not fill: collection would begin in the middle. Others find it at its steady state.
    empties = rw == "write"
    blocks = max(24, min(2000 if empties else 64, (2048 if empties else 64 if collects else 192) * MIB // (planes_all * pages * page)))
    user = int(planes_all * blocks * pages * page * (1 - 8 / blocks) * (0.95 if empties else r.choice((0.6, 0.75, 0.9)))) // page * page
    s = {
        "ftl.user_capacity": user,
        "ftl.superblock": r.choice(("die", "die", "plane")),
        "nand.geometry.channels": channels, "nand.geometry.ways": ways, "nand.geometry.dies_per_chip": dies, "nand.geometry.planes_per_die": planes,
        "nand.geometry.blocks_per_plane": blocks, "nand.geometry.pages_per_block": pages, "nand.geometry.page_size": page,
        "nand.t_read": 1000 * r.choice((5, 15, 40, 80)), "nand.t_program": 1000 * r.choice((60, 200, 600)), "nand.t_erase": 1000 * r.choice((500, 2000)),
        "nand.independent_plane_read": r.random() < 0.25,
        "nand.onfi.interface": "nv-lpddr4", "nand.onfi.rate": r.choice((400, 800, 1200, 1800)),
        "link.generation": 4, "link.lanes": 4, "link.read_tags": 128, "link.max_payload": "256B", "link.credit_return_latency": 100,
        "link.upstream_posted_headers": 120, "link.upstream_posted_data": 2000, "link.upstream_nonposted_headers": 120, "link.downstream_posted_headers": 60,
        "firmware.cores": r.choice((1, 2, 4)), "firmware.clock": 1000,
        "dram.bandwidth": 12800,
        "buffer.size": max(8 * planes_all * page, 4 * MIB), "buffer.flush_depth_per_die": 2 * planes,
        "host.queue_entries": 1025, "nvme.fetch_window": 1024, "nvme.fetch_depth": 16, "nvme.fetch_burst": 8,
        "gc.max_inflight_pages": 8, "gc.soft_free_blocks": 4, "gc.hard_free_blocks": 2,
        "precondition.state": "fresh" if empties else "random", "precondition.fill_caches": rw in ("randwrite", "randrw"),
        "run.seed": r.randrange(1 << 31), "run.slowest": 0,
    }
    jobs = r.choice((1, 1, 2, 4))
    depth = max(1, r.choice((32, 64, 128, 192)) // jobs)
    for name in r.sample(sorted(SCARCE), r.choice((1, 1, 2))):
        SCARCE[name](r, s)
    if s["buffer.size"] < 64:  # pages of each plane
        s["buffer.size"] *= planes_all * page
    s["nvme.fetch_burst"] = min(s["nvme.fetch_burst"], s["nvme.fetch_window"])
    size = user // jobs // bs * bs
    job = {"rw": rw, "bs": bs, "iodepth": depth, "numjobs": jobs, "ioengine": "libaio", "norandommap": 1, "size": size, "offset_increment": size}
    commands = max(4000, min(60000, (1 << 30) // bs), 60 * depth * jobs)
    if collects:  # three times written: write amplification is a mean over many victims
        commands = max(commands, user // 4096 * (6 if rw == "randrw" else 3))
    if empties:
        commands = min(commands, user // bs)
    job["io_size"] = commands // jobs * bs  # else a job ends when it has moved `size`
    return Case(s, job, commands // jobs)


def scarcity(*choices):
    """choices: (key, values) each."""
    def squeeze(r, settings):
        for key, values in choices:
            settings[key] = r.choice(values)
    return squeeze


SCARCE = {
    "nothing": scarcity(),
    "link": scarcity(("link.generation", (1, 2)), ("link.lanes", (1, 2))),
    # All credits of a class are away for the time that they take to come back.
    "credits of writes": scarcity(("link.upstream_posted_headers", (1, 2, 4, 8)), ("link.upstream_posted_data", (16, 32, 64, 128)), ("link.credit_return_latency", (100, 1000, 4000))),
    "credits of reads": scarcity(("link.upstream_nonposted_headers", (1, 2, 4)), ("link.credit_return_latency", (2000, 8000, 32000))),
    "credits of doorbells": scarcity(("link.downstream_posted_headers", (1, 2)), ("link.credit_return_latency", (2000, 4000, 8000))),
    "tags": scarcity(("link.read_tags", (2, 4, 8))),
    "cores": scarcity(("firmware.clock", (50, 100, 200)), ("firmware.cores", (1, 2))),
    "dram": scarcity(("dram.bandwidth", (100, 300, 800))),
    "buffer": scarcity(("buffer.size", (1, 2, 4, 8))),
    "flush": scarcity(("buffer.flush_depth_per_die", (1, 2))),
    "pages of the host": scarcity(("host.submit_page_time_read", (1000, 5000)), ("host.completion_page_time_write", (2000, 6000)), ("host.interrupt_time", (0, 1000)),
                                  ("host.cores", (1, 1))),
    "host": scarcity(("host.submit_time", (500, 2000, 10000)), ("host.completion_time", (0, 500, 3000))),
    "slots": scarcity(("host.queue_entries", (2, 5, 17, 33))),
    "window": scarcity(("nvme.fetch_window", (1, 4, 16, 32))),
    "fetches": scarcity(("nvme.fetch_depth", (1,)), ("nvme.fetch_burst", (1, 2))),
    "bus": scarcity(("nand.onfi.rate", (50, 100, 200))),
    "dies": scarcity(("nand.t_read", (100000, 200000)), ("nand.t_program", (1000000, 2000000))),
    "look-ahead": scarcity(("scheduler.look_ahead", (1, 2, 4, 16)), ("nand.independent_plane_read", (True,))),
    "collection": scarcity(("gc.max_inflight_pages", (1, 2))),
}


# How to double what a verdict names.
def _halved(*keys):
    def change(case):
        for key in keys:
            case.settings[key] = case.settings.get(key, 0) // 2
    return change


def _doubled(key):
    def change(case):
        case.settings[key] *= 2
    return change


def _load(case):
    case.job["iodepth"] *= 2


def _bus(case):
    case.settings["nand.onfi.rate"] *= 2
    for name, ps in ONFI_TIMES.items():
        case.settings[f"nand.onfi.{name}"] = ps // 2


def _slots(case):
    """One entry stays empty."""
    case.settings["host.queue_entries"] = 2 * (case.settings["host.queue_entries"] - 1) + 1


def _free_blocks(case):
    get = lambda name: case.settings[f"nand.geometry.{name}"]
    raw = get("page_size")
    for name in ("channels", "ways", "dies_per_chip", "planes_per_die", "blocks_per_plane", "pages_per_block"):
        raw *= get(name)
    user = case.settings["ftl.user_capacity"]
    case.settings["ftl.user_capacity"] = max(user - (raw - user), case.job["size"]) // 16384 * 16384


DOUBLE = {
    "host CPU": _halved("host.submit_time", "host.completion_time", "host.submit_page_time_read", "host.submit_page_time_write", "host.completion_page_time_read",
                        "host.completion_page_time_write", "host.interrupt_time"),
    "link to device": _doubled("link.lanes"),
    "link to host": _doubled("link.lanes"),
    "firmware core": _doubled("firmware.clock"),
    "DRAM port": _doubled("dram.bandwidth"),
    "channel bus": _bus,
    "die": _halved("nand.t_read", "nand.t_program", "nand.t_erase"),
    "plane": _halved("nand.t_read", "nand.t_program", "nand.t_erase"),
    "look-ahead of the scheduler": _doubled("scheduler.look_ahead"),
    "pages that collection has under way": _doubled("gc.max_inflight_pages"),
    "free blocks": _free_blocks,
    "programs of the write buffer": _doubled("buffer.flush_depth_per_die"),
    "header credits of writes to the host": _doubled("link.upstream_posted_headers"),
    "data credits of writes to the host": _doubled("link.upstream_posted_data"),
    "header credits of doorbells": _doubled("link.downstream_posted_headers"),
    "data credits of doorbells": _doubled("link.downstream_posted_data"),
    "header credits of reads over the link": _doubled("link.upstream_nonposted_headers"),
    "tags of reads over the link": _doubled("link.read_tags"),
    "room in the write buffer": _doubled("buffer.size"),
    "fetch window": _doubled("nvme.fetch_window"),
    "fetches under way": _doubled("nvme.fetch_depth"),
    "queue slots": _slots,
    "depth": _load,
}


def doubled(case, names):
    """The case with all that is named doubled; the two directions of a link are one thing."""
    changed = case.copy()
    for change in dict.fromkeys(DOUBLE[name] for name in names):
        change(changed)
    return changed


def with_twice_the_load(case):
    return doubled(case, ["depth"])
