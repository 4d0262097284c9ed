# SPDX-License-Identifier: Apache-2.0
"""What is in the DRAM of a device drawn at random: how the write buffer is emptied, a read cache, one room or parts for tenants. Draws of their own:
what a seed draws besides stays what it was."""

import random

from random_device import size_of


def drawn_order(seed, device):
    """How the write buffer is emptied, of a third of them."""
    r = random.Random(f"order {seed}")
    if device.preset is not None or r.random() > 1 / 3:
        return []
    settings = [f"buffer.merge_writes={r.choice(('true', 'false'))}"]
    if device.settings.get("ftl.mapping") == '"dftl"':
        settings += ["buffer.order=by_translation_page", f"buffer.patience={r.choice((1, 4))}", f"firmware.reorder={r.choice((0, 50))}"]
        if "map.power_protected" in device.settings:
            settings.append(f"buffer.prefer_dirty={r.choice(('true', 'false'))}")
    return settings


def drawn_table_cache(seed, device):
    """A cache of the map's table for each core of a quarter of the small devices."""
    r = random.Random(f"table cache {seed}")
    mapping = device.settings.get("ftl.mapping", '"page"')
    if device.preset is not None or r.random() > 1 / 4 or mapping in ('"fast"', '"block"'):
        return []
    if mapping == '"dftl"' and device.settings.get("map.granularity") != '"page"':
        return []
    entry = size_of(device.settings, "map.entry_size") if "map.entry_size" in device.settings else 4
    line, ways = max(entry, r.choice((16, 64, 256))), r.choice((1, 2, 4, 8))
    return [f"firmware.table_line={line}B", f"firmware.table_ways={ways}", f"firmware.table_cache={line * ways * r.choice((1, 4, 64))}B"]


def drawn_prefetch(seed, device):
    """Entries that come with a missing one, for half of the small devices with a map on the flash by entries."""
    r = random.Random(f"prefetch {seed}")
    if device.preset is not None or device.settings.get("map.granularity") != '"entry"' or r.random() < 0.5:
        return []
    return [f"map.prefetch={r.choice((2, 3, 8, 64, 1000))}"]


def drawn_merged_reads(seed):
    """Reads of one page share a read of the array, for a third of the devices."""
    r = random.Random(f"merged reads {seed}")
    return ["scheduler.merge_reads=true"] if r.random() < 1 / 3 else []


def drawn_rest_reads(seed, device, settings):
    """The rest of units that are written in part is read late, for a third of the small devices where writes merge."""
    r = random.Random(f"rest reads {seed}")
    if device.preset is not None or "buffer.merge_writes=false" in settings or "buffer.merge_writes" in device.settings or r.random() > 1 / 3:
        return []
    return ["buffer.rest_reads=at_write_back"]


def drawn_watermarks(seed, device, order):
    """A low watermark for a third of the small devices with a write-back buffer, and what was not written for longest first where `order` says nothing of it."""
    r = random.Random(f"watermarks {seed}")
    if device.preset is not None or device.settings["buffer.mode"] != '"write_back"' or r.random() > 1 / 3:
        return []
    start = r.choice((0, 30, 75, 99))
    return [f"buffer.flush_start={start}%", f"buffer.flush_stop={r.choice((0, start // 2, start, 100))}%"] + ([] if order else ["buffer.order=lru"])


def drawn_quotas(seed, device, settings):
    """Parts of the caches for the first tenants, where there are tenants and the caches are not divided otherwise."""
    r = random.Random(f"quotas {seed}")
    if device.preset is not None or "host.tenants=by_job" not in settings or r.random() < 0.5:
        return []
    quotas = lambda: r.choice(("[50]", "[30, 30]", "[20, 50, 20]"))
    mapping, out = device.settings.get("ftl.mapping", '"page"'), []
    taken = ("read_cache.room", "buffer.merge_writes=false", "buffer.order=by", "precondition.fill_caches=true")
    units = size_of(device.settings, "buffer.size") // size_of(device.settings, "nand.geometry.unit_size")
    if mapping in ('"page"', '"dftl"') and units >= 10 and not any(s.startswith(taken) for s in settings):
        out.append(f"buffer.quotas={quotas()}")
    cache = next((size_of({"": s.split("=")[1]}, "") for s in settings if s.startswith("read_cache.size=")), 0)
    if cache >= 10 * size_of(device.settings, "nand.geometry.unit_size") and "precondition.fill_caches=true" not in settings:
        out.append(f"read_cache.quotas={quotas()}")
    if mapping == '"dftl"' and "precondition.fill_caches=true" not in settings and size_of(device.settings, "map.cache") >= 16 * size_of(device.settings, "nand.geometry.unit_size"):
        out.append(f"map.quotas={quotas()}")
    return out


def drawn_dram_size(seed, device, settings):
    """One size for all that is in the DRAM, and the buffer as its rest, for a third of the small devices with a map by units: as large as it is without."""
    r = random.Random(f"budget {seed}")
    mapping = device.settings.get("ftl.mapping", '"page"')
    if device.preset is not None or r.random() > 1 / 3 or mapping in ('"fast"', '"block"'):
        return []
    unit = size_of(device.settings, "nand.geometry.unit_size")
    cache = next((s.split("=")[1] for s in settings if s.startswith("read_cache.size=")), "0B")
    read_cache = size_of({"": cache}, "")
    the_map = size_of(device.settings, "map.cache") if mapping == '"dftl"' else size_of(device.settings, "ftl.user_capacity") // unit * 4
    size = size_of(device.settings, "buffer.size") // unit * unit + read_cache + the_map
    return [f"dram.size={size + r.choice((0, 0, unit - 1))}B", "dram.rest=buffer"]


def drawn_room(seed, device, settings):
    """A read cache in the room of the write buffer for half of the small devices that have none yet, in the buffer's order."""
    r = random.Random(f"room {seed}")
    if device.preset is not None or r.random() < 0.5 or any(s.startswith(("read_cache.", "buffer.order=by")) for s in settings):
        return []
    replacement = r.choice(("lru", "cflru")) if "buffer.order=lru" in settings else "fifo"
    return ["read_cache.room=buffer", f"read_cache.replacement={replacement}", f"read_cache.window={r.choice((0, 25, 100))}%", f"read_cache.fill={r.choice(('reads', 'writes', 'both'))}"]


def drawn_read_cache(seed, device):
    """A read cache for a third of the small devices. Draws of their own."""
    r = random.Random(f"read cache {seed}")
    if device.preset is not None or r.random() > 1 / 3:
        return []
    settings = [f"read_cache.size={r.choice(('64KiB', '1MiB', '16MiB'))}", f"read_cache.replacement={r.choice(('lru', 'fifo'))}",
                f"read_cache.fill={r.choice(('reads', 'writes', 'both'))}"]
    if device.settings.get("ftl.mapping") != '"dftl"' and size_of(device.settings, "nand.geometry.unit_size") <= 16384 and r.random() < 0.5:
        settings += [f"read_ahead.depth={r.choice(('16KiB', '32KiB'))}", f"read_ahead.trigger={r.choice((1, 2, 4))}"]
    return settings
