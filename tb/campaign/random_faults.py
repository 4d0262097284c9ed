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


def drawn_factory_bad(seed, device, settings, work):
    """Blocks that the factory has marked, some in the whole drive, for a fifth of the small devices without log blocks; and spare ones on top of the
    others. A draw of its own."""
    r = random.Random(f"factory {seed}")
    if device.preset is not None or r.random() > 1 / 5 or device.settings.get("ftl.mapping") in ('"fast"', '"block"'):
        return []
    more, before = 13, device.settings["nand.geometry.blocks_per_plane"]
    dies = [int(device.settings[f"nand.geometry.{dimension}"]) for dimension in ("channels", "ways", "dies_per_chip", "planes_per_die")]
    blocks = (before + more) * dies[0] * dies[1] * dies[2] * dies[3]
    device.settings["nand.geometry.blocks_per_plane"] = before + more
    for i, setting in enumerate(settings):  # with room for checkpoints
        key, _, value = setting.partition("=")
        if key == "nand.geometry.blocks_per_plane":
            settings[i] = f"{key}={int(value) + more}"
    work.pace_s += 3 * device.scan_s * more / before  # of as many losses of power
    return [f"nand.faults.factory_bad={100 * r.uniform(0.2, 3) / blocks:.4f}%", f"ftl.spare_blocks={device.settings.get('ftl.spare_blocks', 0) + more - 1}"]
