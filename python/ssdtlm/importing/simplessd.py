# SPDX-License-Identifier: Apache-2.0
"""A .cfg of SimpleSSD 1.x and 2.0 (Jung et al., 2018) as a device. Meanings: the comments of its configuration files and docs.simplessd.org."""

import configparser
import math
import pathlib

from ..errors import Problem, UserError, did_you_mean
from .mqsim import spare_of
from .numbers import Numbers
from .taken import NEARLY, NONE, Device, Row

GENERATIONS = {0: 1, 1: 2, 2: 3, 3: 4}
RATES = {0: "1.5Gbps", 1: "3Gbps", 2: "6Gbps"}
PAGES = {0: ("LSB",), 1: ("LSB", "MSB"), 2: ("LSB", "CSB", "MSB")}
INTERFACES = ((533, "nv-ddr2"), (1600, "nv-ddr3"), (3600, "nv-lpddr4"))
VICTIMS = {0: "greedy", 1: "cost_benefit", 2: "random", 3: "d_choices"}
FILLING = {0: "sequential", 1: "random", 2: "random"}
DIMENSIONS = "CWDP"


class Values(Numbers):
    """[section] Key = value, by 'section.Key', and which somebody has asked for."""

    def __init__(self, path):
        self.path, self.asked, self.problems = path, set(), []
        self._looked = set()
        parser = configparser.ConfigParser(inline_comment_prefixes=("#",), comment_prefixes=("#",), strict=False, interpolation=None, allow_no_value=True)
        parser.optionxform = str
        try:
            text = pathlib.Path(path).read_text(encoding="utf-8", errors="replace")
            if text.lstrip().startswith("<?xml") or "<simplessd" in text:
                raise UserError(Problem(str(path), "is a configuration of SimpleSSD 2.1 (XML)", "a .cfg of SimpleSSD 1.x or 2.0, with [pal] and [ftl]", "only that format is read"))
            parser.read_string(text)
        except FileNotFoundError:
            raise UserError(Problem(str(path), "is not there", "a .cfg of SimpleSSD")) from None
        except (OSError, configparser.Error) as error:
            raise UserError(Problem(str(path), f"cannot be read: {error}".replace("\n", " "), "a .cfg of SimpleSSD")) from None
        self._all = {f"{section}.{key}": (value or "").strip() for section in parser.sections() for key, value in parser.items(section)}

    def __contains__(self, name):
        self._looked.add(name)
        return name in self._all

    def text(self, name, default=None):
        self.asked.add(name)
        if name not in self._all and default is None:
            problem = Problem(str(self.path), f"has no {name.split('.')[1]} in [{name.split('.')[0]}]", "a number", "add it: SimpleSSD needs it too")
            if problem not in self.problems:
                self.problems.append(problem)
        return self._all.get(name, default if default is not None else "1")

    def absent(self, name):
        """Of a row's name, which has no section."""
        return not any(known.split(".", 1)[1] == name or name.startswith("*") and known.endswith(name[1:]) for known in self._all)

    def names(self):
        return list(self._all)

    def rest(self):
        return {name: value for name, value in self._all.items() if name not in self.asked}

    def unknown(self, name):
        """Says of a name that nobody has asked for whether it looks like one that is not there."""
        near = did_you_mean(name, [known for known in sorted(self.asked | self._looked) if known not in self._all])
        return f"not known here; {near} That one has its default" if near else ""


def import_device(path, name):
    """A Device. Raises UserError."""
    values = Values(path)
    if "pal.Channel" not in values:
        raise UserError(Problem(str(path), "is no device of SimpleSSD: it has no Channel in [pal]", "a .cfg with [pal], [ftl] and [icl]"))
    device = Device(name, f"Imported from SimpleSSD, {name}", "SimpleSSD", path)
    device.absent = values.absent
    flash(device, values)
    capacity(device, values)
    collection(device, values)
    cache(device, values)
    host(device, values)
    for left, value in values.rest().items():
        section, key = left.split(".", 1)
        device.rows.append(Row(f"[{section}] {key}", value, NONE, "", WHY_NOT.get(left) or values.unknown(left) or WHY_NOT_SECTION.get(section, "nothing of the kind is modelled")))
    parts(device, values)
    device.problems = values.problems
    return device


def parts(device, values):
    """What is counted into another parameter, or has no effect with the others."""
    for name in values.names():
        section, key = name.split(".", 1)
        if any(row.of(key) or row.name == f"[{section}] {key}" for row in device.rows):
            continue
        whole = PART_OF.get(name)
        if whole in device.values:
            device.part(key, values.text(name), whole)
        else:
            device.beside(key, values.text(name), "no effect with what else the file has")


def times(values, word, kind):
    found = [values.integer(f"pal.{page}{word}") for page in PAGES[kind]]
    values.asked |= {f"pal.{page}{word}" for page in ("LSB", "CSB", "MSB")}
    text = [f'"{t}ps"' for t in found]
    return "/".join(str(t) for t in found), text[0] if len(set(text)) == 1 else "[" + ", ".join(text) + "]"


def flash(device, values):
    kind = values.integer("pal.NANDType", "1")
    if kind not in PAGES:
        values.refuse("pal.NANDType", "0, 1 or 2")
        return
    device.take("NANDType", kind, "nand.bits_per_cell", len(PAGES[kind]))
    for word, key in (("Read", "nand.t_read"), ("Write", "nand.t_program")):
        said, ours = times(values, word, kind)
        device.take(f"*{word}", said, key, ours)
    device.take("Erase", values.text("pal.Erase"), "nand.t_erase", f'"{values.integer("pal.Erase")}ps"')
    if "ftl.EraseThreshold" in values:
        device.take("EraseThreshold", values.text("ftl.EraseThreshold"), "nand.faults.pe_limit", values.integer("ftl.EraseThreshold"), "a block leaves here, and ftl.spare_blocks says how many may")
    dies, planes = values.integer("pal.Die"), values.integer("pal.Plane")
    for name, key in (("Channel", "channels"), ("Package", "ways"), ("Die", "dies_per_chip"), ("Plane", "planes_per_die"), ("Block", "blocks_per_plane"), ("Page", "pages_per_block")):
        device.take(name, values.text(f"pal.{name}"), f"nand.geometry.{key}", values.integer(f"pal.{name}"))
    page = values.integer("pal.PageSize")
    least = max(4096, page)
    device.take("PageSize", page, "nand.geometry.page_size", f'"{least}B"', "" if page == least else "4 KiB at least")
    device.set("nand.geometry.unit_size", f'"{min(least, 16384)}B"', "SimpleSSD maps pages")
    whole = values.integer("pal.DMASpeed") * max(1, values.integer("pal.DMAWidth", "8") // 8)
    rate = min(whole, INTERFACES[-1][0])
    device.take("DMASpeed", values.text("pal.DMASpeed"), "nand.onfi.rate", f'"{rate}MT/s"', "" if whole == values.integer("pal.DMASpeed") else "a bus of 16 bits")
    device.set("nand.onfi.interface", f'"{next(name for most, name in INTERFACES if rate <= most)}"', "the interface that has this rate")
    together = values.integer("pal.EnableMultiPlaneOperation", "1") == 1 and planes > 1
    chosen = "".join(c for c in values.text("pal.SuperblockSize", "") if c in DIMENSIONS)
    superblock = "drive" if {"C", "W", "D"} <= set(chosen) or ("C" in chosen and values.integer("pal.Package") * dies == 1) else "die" if together or "P" in chosen else "plane"
    device.take("SuperblockSize", chosen or "(none)", "ftl.superblock", f'"{superblock}"', "" if superblock == "drive" or not set(chosen) - {"P"} else "superblocks span a plane, a die or the whole drive here")
    if "pal.EnableMultiPlaneOperation" in values:
        device.beside("EnableMultiPlaneOperation", values.text("pal.EnableMultiPlaneOperation"), f'by ftl.superblock = "{superblock}"', NEARLY)
    order = values.text("pal.PageAllocation", "CWDP")
    device.take("PageAllocation", order, "ftl.allocation", f'"{order if sorted(order) == sorted(DIMENSIONS) else "CWDP"}"', "" if sorted(order) == sorted(DIMENSIONS) else "no order of all four")


def capacity(device, values):
    ratio = values.share("ftl.OverProvisioningRatio", "0.25")
    # SimpleSSD: logical pages = physical pages x (1 - ratio).
    device.take("OverProvisioningRatio", values.text("ftl.OverProvisioningRatio", "0.25"), "ftl.over_provisioning", spare_of(ratio))
    if values.integer("ftl.MappingMode", "0") != 0:
        device.beside("MappingMode", values.text("ftl.MappingMode"), "page level is taken", NEARLY)
    device.take("MappingMode", "0", "ftl.mapping", '"page"')


def collection(device, values):
    blocks, share = values.integer("pal.Block"), values.share("ftl.GCThreshold", "0.05")
    soft = max(4, min(blocks // 2, math.ceil(share * blocks)))
    device.take("GCThreshold", values.text("ftl.GCThreshold", "0.05"), "gc.soft_free_blocks", soft, "" if soft == math.ceil(share * blocks) else "4 at least")
    device.set("gc.hard_free_blocks", 3, "SimpleSSD collects before a write that finds no free block")
    policy = values.integer("ftl.EvictPolicy", "0")
    device.take("EvictPolicy", policy, "gc.policy", f'"{VICTIMS.get(policy, "greedy")}"', "" if policy in VICTIMS else "greedy in its place")
    if policy == 3:
        device.take("DChoiceParam", values.text("ftl.DChoiceParam", "3"), "gc.d_choices.choices", max(2, values.integer("ftl.DChoiceParam", "3")))
    else:
        values.asked.add("ftl.DChoiceParam")
    mode, fill = values.integer("ftl.FillingMode", "0"), values.number("ftl.FillRatio", "1.0", most=1)
    overwritten = values.number("ftl.InvalidPageRatio", "0", most=1)
    state = "fresh" if fill <= 0 else "random" if overwritten > 0 else FILLING.get(mode, "sequential")
    device.take("FillingMode", mode, "precondition.state", f'"{state}"', "" if overwritten == 0 and mode == 0 else "the steady state of random writes stands for a share that is overwritten")
    if 0 < fill < 1:
        device.take("FillRatio", f"{fill:g}", "precondition.fill", f'"{100 * fill:g}%"')


def cache(device, values):
    size = values.integer("icl.CacheSize", "0")
    writes, reads = values.integer("icl.EnableWriteCache", "1") == 1 and size > 0, values.integer("icl.EnableReadCache", "0") == 1 and size > 0
    planes = math.prod(values.integer(f"pal.{name}") for name in ("Channel", "Package", "Die", "Plane"))
    least = planes * max(4096, values.integer("pal.PageSize"))
    device.take("EnableWriteCache", values.text("icl.EnableWriteCache", "1"), "buffer.mode", '"write_back"' if writes else '"write_through"')
    half = size // 2 if reads and writes else size
    if writes:
        device.take("CacheSize", size, "buffer.size", f'"{max(half, least)}B"', "" if half == size and size >= least else "half of a cache for both; one page for each plane at least")
    if reads:
        device.take("EnableReadCache", "1", "read_cache.size", f'"{half}B"', "" if half == size else "half of a cache for both")
        if values.integer("icl.EnableReadPrefetch", "0") == 1:
            device.take("EnableReadPrefetch", "1", "read_ahead.depth", f'"{min(64 << 20, max(65536, half // 8 // 65536 * 65536))}B"', "streams are found after two reads; an eighth of the cache")
    if "dram.tBURST" in values:
        burst = values.integer("dram.BusWidth", "8") * values.integer("dram.Chip", "1") * values.integer("dram.BurstLength", "8") // 8
        device.take("tBURST", values.text("dram.tBURST"), "dram.bandwidth", f'"{burst * values.integer("dram.Channel", "1") * 1000000 // max(1, values.integer("dram.tBURST"))}MB/s"', "bytes of a burst over its time")
        device.take("tRCD", values.text("dram.tRCD", "0"), "dram.access_latency", f'"{values.integer("dram.tRCD", "0") + values.integer("dram.tCL", "0")}ps"', "tRCD + tCL of each access")


def host(device, values):
    if "nvme.PCIEGeneration" in values:
        device.take("PCIEGeneration", values.text("nvme.PCIEGeneration"), "link.generation", GENERATIONS.get(values.integer("nvme.PCIEGeneration"), 3))
        device.take("PCIELane", values.text("nvme.PCIELane"), "link.lanes", values.integer("nvme.PCIELane"))
        if "nvme.LBASize" in values:
            size = values.integer("nvme.LBASize")
            device.take("LBASize", size, "nvme.lba_size", f'"{512 if size < 4096 else 4096}B"', "" if size in (512, 4096) else "512 B or 4 KiB")
        if "nvme.MaxIOSQueue" in values:
            device.take("MaxIOSQueue", values.text("nvme.MaxIOSQueue"), "nvme.max_queue_pairs", max(1, min(64, values.integer("nvme.MaxIOSQueue"))))
    elif "sata.SATAGeneration" in values or "sata.SATAMode" in values or any(name.startswith("sata.") for name in values.rest()):
        device.text("frontend.kind", "sata", "SimpleSSD [sata]")
        device.take("SATAGeneration", values.text("sata.SATAGeneration", "2"), "frontend.sata.rate", f'"{RATES.get(values.integer("sata.SATAGeneration", "2"), "6Gbps")}"')
    if "cpu.ClockSpeed" in values:
        clock, cores = values.integer("cpu.ClockSpeed"), sum(values.integer(f"cpu.{layer}CoreCount", "0") for layer in ("HIL", "ICL", "FTL"))
        device.take("ClockSpeed", clock, "firmware.clock", f'"{clock // 1000000}MHz"', "what each step costs is counted otherwise (firmware.*)")
        device.take("*CoreCount", cores, "firmware.cores", max(1, min(16, cores)), "cores of all layers serve all work")


PART_OF = {
    "pal.DMAWidth": "nand.onfi.rate",
    "dram.tCL": "dram.access_latency",
    **{f"dram.{name}": "dram.bandwidth" for name in ("BusWidth", "Chip", "BurstLength", "Channel")},
    "icl.EnableReadCache": "read_cache.size",
    "icl.CacheSize": "read_cache.size",
}
WHY_NOT = {
    "nvme.WorkInterval": "the controller takes commands when they come, within nvme.fetch_window",
    "nvme.MaxRequestCount": "the controller takes commands when they come, within nvme.fetch_window",
    "nvme.AXIClock": "data go from the DRAM to the link as fast as both can",
    "nvme.AXIBusWidth": "data go from the DRAM to the link as fast as both can",
    "icl.EvictPolicy": "the buffer is programmed in its order (buffer.order)",
}
WHY_NOT_SECTION = {"dram": "DRAM is a bandwidth and a latency here", "cpu": "firmware is cycles for each step", "nvme": "nothing of it changes the time of a command here", "sata": "see frontend.sata"}
