# SPDX-License-Identifier: Apache-2.0
"""Flash that fails, and blocks that were bad from the beginning."""
import random


def random_faults(r, spare):
    """From now and then to so often that the drive is read-only in no time."""
    return {
        "ftl.spare_blocks": spare,
        "ecc.read_retries": r.choice((0, 1, 5)),
        "nand.faults.program_fail": r.choice(('"0%"', '"0.002%"', '"0.05%"', '"1%"')),
        "nand.faults.erase_fail": r.choice(('"0%"', '"0.1%"', '"5%"')),
        "nand.faults.read_retry": r.choice(('"0%"', '"0.1%"', '"5%"')),
        "nand.faults.page_lost": r.choice(('"0%"', '"0.01%"', '"1%"', '"1%"')),
    }


def drawn_wear_out(seed, settings):
    """Blocks that bear few erases, for half of the devices with flash that fails: so few that some wear out in one job. A draw of its own."""
    r = random.Random(f"wear out {seed}")
    if "nand.faults.erase_fail" in settings and r.random() < 1 / 2:
        settings["nand.faults.pe_limit"] = r.choice((1, 2, 3, 5, 10, 100))


def drawn_factory_bad(seed, device, settings, work, journal_blocks):
    """Blocks that the factory has marked, some in the whole drive, for a fifth of the small devices; and spare ones on top of the
    others. A draw of its own."""
    r = random.Random(f"factory {seed}")
    if device.preset is not None or r.random() > 1 / 5:
        return []
    spare, before = 12, device.settings["nand.geometry.blocks_per_plane"]
    more = spare + 1
    if device.settings.get("ftl.mapping") in ('"fast"', '"block"'):
        more += journal_blocks(device.settings, before + more + 1) - journal_blocks(device.settings, before)
    dies = [int(device.settings[f"nand.geometry.{dimension}"]) for dimension in ("channels", "ways", "dies_per_chip", "planes_per_die")]
    blocks = (before + more) * dies[0] * dies[1] * dies[2] * dies[3]
    device.settings["nand.geometry.blocks_per_plane"] = before + more
    for i, setting in enumerate(settings):  # with room for checkpoints
        key, _, value = setting.partition("=")
        if key == "nand.geometry.blocks_per_plane":
            settings[i] = f"{key}={int(value) + more}"
    work.pace_s += 3 * device.scan_s * more / before  # of as many losses of power
    return [f"nand.faults.factory_bad={100 * r.uniform(0.2, 3) / blocks:.4f}%", f"ftl.spare_blocks={device.settings.get('ftl.spare_blocks', 0) + spare}"]


# What MLC in two steps is refused with.
NOT_IN_TWO_STEPS = ("slc.", "ftl.checkpoint", "ftl.parity", "refresh.", "wear.most_spread", "wear.each", "gc.frontier", "gc.pace", "gc.tokens", "gc.charge_time", "nand.faults.program_fail")


def in_two_steps(seed, device, settings):
    """The settings, of a sixth of the small devices with a map in memory those of MLC that is programmed in two steps instead, with blocks beside those that they have: closing word lines costs room."""
    pages = device.preset is None and device.settings["nand.geometry.pages_per_block"]
    if not pages or pages < 8 or "ftl.mapping" in device.settings or any(s.startswith("ftl.mapping") for s in settings) or random.Random(f"two steps {seed}").random() > 1 / 6:
        return settings
    for key in [k for k in device.settings if k.startswith(NOT_IN_TWO_STEPS)]:
        del device.settings[key]
    blocks = device.settings["nand.geometry.blocks_per_plane"]
    more = -(-blocks * pages // (pages - 5)) - blocks
    device.settings["nand.geometry.blocks_per_plane"] = blocks + more
    device.scan_s *= (blocks + more) / blocks
    return [s for s in settings if not s.startswith((*NOT_IN_TWO_STEPS, "nand.geometry.blocks_per_plane"))] + ["nand.two_step=true", "nand.bits_per_cell=2", 'nand.t_read=["40us", "60us"]']
