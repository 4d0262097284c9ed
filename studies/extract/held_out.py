# SPDX-License-Identifier: Apache-2.0
"""Drives that are no presets: drawn by a seed from what `ssdtlm config check` takes as plausible (model/sim/config/plausibility.cpp). The method was repaired after
the first draw, for orders of allocation that no preset has; the second one has judged it since and changed nothing."""

import random

KIB, MIB, GIB = 2**10, 2**20, 2**30
COUNT = 8
SEEDS = {"drawn": 2026, "held-out": 2027}
BASE = "tiny-test"
# By bits of a cell: tR, tPROG of a page and tBERS, in us. The ends of `config check`, SLC as such and not as what stands for TLC.
CELLS = {1: ((20, 60), (150, 500), (500, 5000)), 2: ((20, 150), (150, 2600), (1500, 10000)), 3: ((25, 120), (150, 900), (2000, 15000)), 4: ((60, 250), (1000, 4500), (2000, 20000))}
# MT/s and the interface that has them, ONFI 5.1.
RATES = ((400, "nv-ddr2"), (533, "nv-ddr2"), (667, "nv-ddr3"), (800, "nv-ddr3"), (1200, "nv-ddr3"), (1600, "nv-ddr3"), (2400, "nv-lpddr4"))
LETTERS = "CWDP"


def even(draw, low, high):
    """As often between 1 and 2 as between 10 and 20; three digits."""
    return float(f"{low * (high / low) ** draw.random():.3g}")


def drawn(draw):
    """(settings on top of BASE, capacity in bytes)."""
    bits = draw.choice((1, 2, 3, 3, 3, 4))
    (t_read, t_program, t_erase), kinds = CELLS[bits], draw.choice((1, 1, bits))
    g = {"channels": draw.choice((2, 4, 4, 6, 8, 8, 12, 16)), "ways": draw.choice((1, 2, 2, 4, 8)), "dies_per_chip": draw.choice((1, 1, 2)), "planes_per_die": draw.choice((1, 2, 4)),
         "pages_per_block": 192}
    page = draw.choice((4, 8, 16, 16)) * KIB
    row = g["channels"] * g["ways"] * g["dies_per_chip"] * g["planes_per_die"] * page
    blocks = max(48, 6 * GIB // (row * g["pages_per_block"]))
    rate, interface = draw.choice(RATES)
    read, program = sorted(even(draw, *t_read) for _ in range(kinds)), sorted(even(draw, *t_program) for _ in range(kinds))
    settings = {f"nand.geometry.{key}": value for key, value in g.items()}
    settings |= {"nand.geometry.blocks_per_plane": blocks, "nand.geometry.page_size": f"{page}B", "nand.geometry.unit_size": "4KiB", "nand.geometry.spare_size": f"{page // 16}B",
                 "nand.bits_per_cell": bits, "nand.t_read": [f"{t}us" for t in read], "nand.t_program": [f"{t}us" for t in program], "nand.t_erase": f"{even(draw, *t_erase)}us",
                 "nand.onfi.interface": interface, "nand.onfi.rate": f"{rate}MT/s", "nand.transfer_spare": draw.choice((True, False)), "ecc.decode_time": f"{draw.choice((0, 2, 5))}us",
                 "ftl.superblock": draw.choice(("die", "die", "plane")), "ftl.allocation": "".join(draw.sample(LETTERS, 4)), "buffer.mode": draw.choice(("write_back", "write_back", "protected")),
                 "buffer.size": f"{int(even(draw, 4, 256)) * MIB}B", "firmware.cores": draw.choice((1, 2, 4)), "firmware.clock": f"{int(even(draw, 400, 1500))}MHz", "dram.bandwidth": "6400MB/s"}
    settings |= draw.choice(({"frontend.kind": "sata"}, *({"link.generation": generation, "link.lanes": lanes} for generation in (3, 4, 5) for lanes in (2, 4))))
    capacity = int(row * g["pages_per_block"] * blocks / (1 + draw.uniform(0.07, 0.28) + 12 / blocks)) // (64 * KIB) * (64 * KIB)
    settings["ftl.user_capacity"] = f"{capacity}B"
    if draw.random() < 0.4:
        settings |= {"ftl.mapping": "dftl", "map.cache": f"{int(even(draw, 0.25, 4) * MIB) // 4096 * 4096}B", "map.granularity": draw.choice(("entry", "page"))}
    return settings, capacity


def drives(name):
    """{name-number: (preset, settings, capacity)} of one of SEEDS."""
    draw = random.Random(SEEDS[name])
    return {f"{name}-{number}": (BASE, *drawn(draw)) for number in range(1, COUNT + 1)}
