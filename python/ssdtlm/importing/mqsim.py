# SPDX-License-Identifier: Apache-2.0
"""ssdconfig.xml of MQSim (Tavakkol et al., FAST '18) as a device. Meanings: MQSim's README and its source, 7ec40e3."""

import math
import pathlib
import xml.etree.ElementTree as ElementTree
import xml.parsers.expat as expat

from ..errors import Problem, UserError, did_you_mean
from .numbers import Numbers
from .taken import NEARLY, NONE, TAKEN, Device

# GB/s of a lane, as payload bytes without overhead: what the generations of PCIe carry (PCI Express Base, encoding included).
LANE_GB = {1: 0.25, 2: 0.5, 3: 0.985, 4: 1.969, 5: 3.938, 6: 7.563}
LANES = (1, 2, 4, 8, 16)
BITS = {"SLC": 1, "MLC": 2, "TLC": 3, "QLC": 4}
TIMES = {"read": ("t_read", "Page_Read_Latency"), "program": ("t_program", "Page_Program_Latency")}
PAGES = {1: ("LSB",), 2: ("LSB", "MSB"), 3: ("LSB", "CSB", "MSB"), 4: ("LSB", "CSB", "CSB", "MSB")}
# MT/s that the interfaces can do: ONFI 3.1 (NV-DDR2), 4.2 (NV-DDR3), 5.1 (NV-LPDDR4).
INTERFACES = ((533, "nv-ddr2"), (1600, "nv-ddr3"), (3600, "nv-lpddr4"))
VICTIMS = {"GREEDY": "greedy", "FIFO": "fifo", "RANDOM": "random"}
MOST_LOOK = 4095
# Defaults of MQSim's source (src/exec/Device_Parameter_Set.cpp, Flash_Parameter_Set.cpp) for what a file leaves out.
DEFAULTS = {"Flash_Channel_Width": "1", "Page_Metadat_Capacity": "0", "Overprovisioning_Ratio": "0.07", "GC_Exec_Threshold": "0.05", "GC_Hard_Threshold": "0.005",
            "Flash_Technology": "MLC", "Memory_Type": "FLASH", "HostInterface_Type": "NVME", "Caching_Mechanism": "ADVANCED", "Address_Mapping": "PAGE_LEVEL"}


def read(path):
    """(root of the XML, {element: its line}). Raises UserError."""
    try:
        # Some files have an empty line in front, which MQSim's parser lets pass.
        text = pathlib.Path(path).read_bytes()
        root = ElementTree.fromstring(text.strip())
        return root, lines_of(root, text)
    except FileNotFoundError:
        raise UserError(Problem(str(path), "is not there", "an XML file of MQSim")) from None
    except (OSError, ElementTree.ParseError) as error:
        raise UserError(Problem(str(path), f"cannot be read: {error}", "an XML file of MQSim, such as its ssdconfig.xml")) from None


def lines_of(root, text):
    """Elements begin in the order in which the tree has them."""
    begins, first = [], 1 + text[: len(text) - len(text.lstrip())].count(b"\n")
    parser = expat.ParserCreate()
    parser.StartElementHandler = lambda *_: begins.append(first - 1 + parser.CurrentLineNumber)
    parser.Parse(text.strip(), True)
    return dict(zip(root.iter(), begins))


class Values(Numbers):
    """The values of the XML by name. It remembers which of them were asked for."""

    def __init__(self, root, path, lines):
        self._all, self._lines = {}, {}
        self.path, self.asked, self.problems = path, set(), []
        self._looked = set()
        for parent in root.iter():
            seen = {}
            for leaf in (leaf for leaf in parent if len(leaf) == 0):
                if leaf.tag in seen:
                    self.add(Problem(f"{path}:{lines[leaf]}", f"<{leaf.tag}> is there twice, first in line {seen[leaf.tag]}", "once", "remove one of them"))
                seen.setdefault(leaf.tag, lines[leaf])
                self._all[leaf.tag], self._lines[leaf.tag] = (leaf.text or "").strip(), lines[leaf]
        self._first = lines[root]

    def __contains__(self, name):
        self._looked.add(name)
        return name in self._all

    def place(self, name):
        tag = name.rstrip("*")
        return f"{self.path}:{next((line for known, line in self._lines.items() if known == name or name.endswith('*') and known.startswith(tag)), self._first)}"

    def text(self, name, default=None):
        self.asked.add(name)
        value = self._all.get(name, DEFAULTS.get(name, default))
        if value is None:
            near = did_you_mean(name, list(self._all))
            self.add(Problem(f"{self.path}:{self._first}", f"has no {name}", "a value", f"add it: MQSim needs it too{'; ' if near else ''}{near}"))
            return "1"
        return value

    def flag(self, name):
        return self.word(name, ("TRUE", "FALSE"), "false") == "TRUE"

    def names(self):
        return list(self._all)

    def absent(self, name):
        """Whether the file has no parameter of that name."""
        return not any(known == name or name.endswith("*") and known.startswith(name[:-1]) for known in self._all)

    def rest(self):
        return {name: value for name, value in self._all.items() if name not in self.asked}

    def unknown(self, name):
        """Says of a name that nobody has asked for whether it looks like one that is not there."""
        near = did_you_mean(name, [known for known in sorted(self.asked | self._looked) if known not in self._all])
        return f"not known here; {near} That one has its default" if near else ""


def import_device(path, name, mechanisms=False):
    """A Device with the problems of its file. `mechanisms`: with what MQSim does otherwise (docs/validation.md): a chip is the server, data before
    commands, no firmware time. Raises UserError."""
    root, lines = read(path)
    if root.find(".//Device_Parameter_Set") is None:
        raise UserError(Problem(str(path), f"is no device of MQSim: its root is <{root.tag}>", "<Device_Parameter_Set> in it", "give ssdconfig.xml first, the workload second"))
    values = Values(root, path, lines)
    device = Device(name, f"Imported from MQSim, {name}", "MQSim", path)
    device.absent = values.absent
    device.beside("Memory_Type", values.word("Memory_Type", ("FLASH",)), "as here", TAKEN)
    host(device, values)
    flash(device, values, mechanisms)
    mapping(device, values)
    cache(device, values, mechanisms)
    collection(device, values)
    scheduling(device, values, mechanisms)
    for left, value in values.rest().items():
        sata = left in OF_NVME and values.text("HostInterface_Type") == "SATA"
        device.beside(left, value, "the drive has SATA" if sata else WHY_NOT.get(left) or values.unknown(left) or "nothing of the kind is modelled")
    device.problems = values.problems
    return device


def host(device, values):
    interface = values.word("HostInterface_Type", ("NVME", "SATA"))
    if interface == "SATA":
        device.take("HostInterface_Type", interface, "frontend.kind", '"sata"')
        device.take("SATA_Processing_Delay", values.text("SATA_Processing_Delay"), "frontend.sata.decode_time", f'"{values.integer("SATA_Processing_Delay")}ns"')
        if "IO_Queue_Depth" in values:
            device.take("IO_Queue_Depth", values.text("IO_Queue_Depth"), "frontend.sata.queue_depth", min(32, values.integer("IO_Queue_Depth")),
                        "" if values.integer("IO_Queue_Depth") <= 32 else "NCQ has 32 tags")
    else:
        device.beside("HostInterface_Type", interface, "NVMe over PCIe, as here by default", "taken")
        lane, lanes = values.number("PCIe_Lane_Bandwidth", above=True), values.integer("PCIe_Lane_Count", least=1)
        whole = lane * lanes
        # The narrowest link of that width or more that carries as much, within a tenth.
        fits = [(g, n) for g in LANE_GB for n in LANES if abs(LANE_GB[g] * n / whole - 1) < 0.1]
        generation, width = min(fits, key=lambda gn: (gn[1] != lanes, gn[0])) if fits else min(((g, n) for g in LANE_GB for n in LANES), key=lambda gn: abs(math.log(LANE_GB[gn[0]] * gn[1] / whole)))
        off = LANE_GB[generation] * width / whole - 1
        device.take("PCIe_Lane_Bandwidth", values.text("PCIe_Lane_Bandwidth"), "link.generation", generation, f"generation {generation} x{width} carries {100 * off:+.1f} %")
        device.take("PCIe_Lane_Count", lanes, "link.lanes", width, "" if width == lanes else "with the generation above")
        if "Queue_Fetch_Size" in values:
            window = values.integer("Queue_Fetch_Size")
            device.take("Queue_Fetch_Size", window, "nvme.fetch_window", window)
            if window < 8:
                device.set("nvme.fetch_burst", window, "no more than the window")
        if "IO_Queue_Depth" in values:
            entries = max(2, min(65536, values.integer("IO_Queue_Depth")))
            device.take("IO_Queue_Depth", values.text("IO_Queue_Depth"), "host.queue_entries", entries, "" if entries == values.integer("IO_Queue_Depth") else "2 to 65536 entries")
    if "Seed" in values:
        device.take("Seed", values.text("Seed"), "run.seed", values.integer("Seed"))


def time_list(device, values, key, stem, bits):
    names = [f"{stem}_{page}" for page in PAGES[bits]]
    times = [values.integer(name) for name in names]
    for name in (f"{stem}_LSB", f"{stem}_CSB", f"{stem}_MSB"):
        values.asked.add(name)
    ours = f'"{times[0]}ns"' if len(set(times)) == 1 else "[" + ", ".join(f'"{t}ns"' for t in times) + "]"
    device.take(f"{stem}_*", "/".join(str(t) for t in times), key, ours)


def flash(device, values, mechanisms):
    technology = values.text("Flash_Technology")
    bits = BITS.get(technology, 2)
    device.take("Flash_Technology", technology, "nand.bits_per_cell", bits, "" if technology in BITS else "taken as MLC")
    time_list(device, values, "nand.t_read", "Page_Read_Latency", bits)
    time_list(device, values, "nand.t_program", "Page_Program_Latency", bits)
    device.take("Block_Erase_Latency", values.text("Block_Erase_Latency"), "nand.t_erase", f'"{values.integer("Block_Erase_Latency")}ns"')
    ways, dies = values.integer("Chip_No_Per_Channel"), values.integer("Die_No_Per_Chip")
    planes = values.integer("Plane_No_Per_Die")
    device.take("Flash_Channel_Count", values.text("Flash_Channel_Count"), "nand.geometry.channels", values.integer("Flash_Channel_Count"))
    device.take("Chip_No_Per_Channel", ways, "nand.geometry.ways", ways)
    if mechanisms and dies > 1:
        device.take("Die_No_Per_Chip", dies, "nand.geometry.dies_per_chip", 1, "a chip is the server in MQSim: its dies work only together, as the planes of one die here")
        planes = min(8, planes * dies)
    else:
        device.take("Die_No_Per_Chip", dies, "nand.geometry.dies_per_chip", dies)
    device.take("Plane_No_Per_Die", values.text("Plane_No_Per_Die"), "nand.geometry.planes_per_die", planes, "" if planes == values.integer("Plane_No_Per_Die") else "with the dies of the chip")
    device.take("Block_No_Per_Plane", values.text("Block_No_Per_Plane"), "nand.geometry.blocks_per_plane", values.integer("Block_No_Per_Plane"))
    device.take("Page_No_Per_Block", values.text("Page_No_Per_Block"), "nand.geometry.pages_per_block", values.integer("Page_No_Per_Block"))
    page = values.integer("Page_Capacity")
    device.take("Page_Capacity", page, "nand.geometry.page_size", f'"{page}B"')
    device.take("Page_Metadat_Capacity", values.text("Page_Metadat_Capacity"), "nand.geometry.spare_size", f'"{values.integer("Page_Metadat_Capacity") // 4 * 4}B"')
    device.set("nand.geometry.unit_size", f'"{page}B"', "MQSim maps pages")
    rate, width = values.integer("Channel_Transfer_Rate"), values.integer("Flash_Channel_Width")
    whole = rate * width
    interface = next((name for most, name in INTERFACES if whole <= most), INTERFACES[-1][1])
    device.take("Flash_Comm_Protocol", values.text("Flash_Comm_Protocol"), "nand.onfi.interface", f'"{interface}"', "" if interface == "nv-ddr2" else "the interface that has this rate")
    capped = min(whole, INTERFACES[-1][0])
    device.take("Channel_Transfer_Rate", rate, "nand.onfi.rate", f'"{capped}MT/s"',
                f"{whole} MT/s are more than any interface of ONFI has" if capped < whole else "" if width == 1 else f"a bus of {width} bytes")
    device.part("Flash_Channel_Width", width, "nand.onfi.rate", "" if width == 1 else "a bus of one byte with a higher rate")
    device.set("nand.transfer_spare", False, "MQSim transfers no spare area")
    for key, value in (("t_wc", 25), ("t_cs", 20), ("t_adl", 70), ("t_ccs", 300), ("t_rr", 20), ("t_wb", 100), ("t_rpre", 15), ("t_dqsre", 15), ("t_plane_busy", 500)):
        device.text(f"nand.onfi.{key}", f"{value}ns", "MQSim ONFI_Channel_NVDDR2 default")
    if "Block_PE_Cycles_Limit" in values:
        device.take("Block_PE_Cycles_Limit", values.text("Block_PE_Cycles_Limit"), "nand.faults.pe_limit", values.integer("Block_PE_Cycles_Limit"),
                    "the released MQSim keeps the number and does not look at it; here a block leaves, and ftl.spare_blocks says how many may")
    suspends(device, values)


def suspends(device, values):
    support = values.word("CMD_Suspension_Support", ("NONE", "PROGRAM", "ERASE", "PROGRAM_ERASE"), "NONE")
    for name in ("Preferred_suspend_erase_time_for_read", "Preferred_suspend_erase_time_for_write", "Preferred_suspend_write_time_for_read", "Suspend_Erase_Time", "Suspend_Program_Time"):
        if name in values:
            device.beside(name, values.text(name), "nothing is suspended, see CMD_Suspension_Support")
    if support != "NONE":
        device.beside("CMD_Suspension_Support", support, "the released MQSim decides to suspend and then refuses it (experiments of this project), so nothing is suspended", NEARLY)
    else:
        device.beside("CMD_Suspension_Support", support, "nothing is suspended, as here by default", "taken")


def mapping(device, values):
    ratio = values.share("Overprovisioning_Ratio")
    device.take("Overprovisioning_Ratio", values.text("Overprovisioning_Ratio"), "ftl.over_provisioning", spare_of(ratio))
    scheme = values.text("Plane_Allocation_Scheme") if "Plane_Allocation_Scheme" in values else "CWDP"
    device.take("Plane_Allocation_Scheme", scheme, "ftl.allocation", f'"{scheme}"')
    device.text("ftl.superblock", "plane", "MQSim writes and collects each plane by itself")
    device.text("ftl.static_dimensions", "CWDP", "MQSim derives the plane from the address")
    if values.text("Address_Mapping") != "PAGE_LEVEL":
        device.beside("Address_Mapping", values.text("Address_Mapping"), "page level is taken; the released MQSim has no other", NEARLY)
    else:
        device.beside("Address_Mapping", "PAGE_LEVEL", "as here", TAKEN)
    ideal = values.flag("Ideal_Mapping_Table")
    if ideal:
        device.take("Ideal_Mapping_Table", "true", "ftl.mapping", '"page"')
        for name in ("CMT_Capacity", "CMT_Sharing_Mode"):
            if name in values:
                device.beside(name, values.text(name), "no effect with Ideal_Mapping_Table = true")
    else:
        device.take("Ideal_Mapping_Table", "false", "ftl.mapping", '"dftl"')
        cmt = values.integer("CMT_Capacity")
        device.take("CMT_Capacity", cmt, "map.cache", f'"{cmt}B"', "an entry takes 2 x map.entry_size here, in MQSim what its bits need")
        device.text("map.granularity", "entry", "MQSim's CMT holds single entries")
        device.text("map.replacement", "lru", "as MQSim's")
        if "CMT_Sharing_Mode" in values:
            shared = values.word("CMT_Sharing_Mode", ("SHARED", "EQUAL_SIZE_PARTITIONING")) == "SHARED"
            device.beside("CMT_Sharing_Mode", values.text("CMT_Sharing_Mode"), "as here by default" if shared else "shared; see map.quotas for parts", TAKEN if shared else NEARLY)


def spare_of(ratio):
    """The TOML text of the spare. MQSim has a ratio of the flash, this program one of the capacity. A drive without spare is made smaller
    until it works."""
    return f'"{max(0.0001, 100 * ratio / (1 - ratio)):.4f}%"'


def page_of_each_plane(values):
    planes = 1
    for name in ("Flash_Channel_Count", "Chip_No_Per_Channel", "Die_No_Per_Chip", "Plane_No_Per_Die"):
        planes *= values.integer(name)
    return planes * values.integer("Page_Capacity")


def cache(device, values, mechanisms):
    mechanism = values.word("Caching_Mechanism", ("ADVANCED", "SIMPLE", "TURNED_OFF", "NONE"))
    if "Data_Cache_Sharing_Mode" in values:
        shared = values.word("Data_Cache_Sharing_Mode", ("SHARED", "EQUAL_PARTITIONING")) == "SHARED"
        device.beside("Data_Cache_Sharing_Mode", values.text("Data_Cache_Sharing_Mode"), "as here by default" if shared else "shared; see buffer.quotas for parts", TAKEN if shared else NEARLY)
    if mechanism in ("ADVANCED", "SIMPLE"):
        device.take("Caching_Mechanism", mechanism, "buffer.mode", '"write_back"', "" if mechanism == "ADVANCED" else "one kind of write buffer is modelled")
    else:
        device.take("Caching_Mechanism", mechanism, "buffer.mode", '"write_through"')
    if "Data_Cache_Capacity" in values:
        room, least = values.integer("Data_Cache_Capacity"), page_of_each_plane(values)
        if room == 0:
            device.text("buffer.mode", "write_through", "MQSim Data_Cache_Capacity = 0")
        if mechanisms:
            device.take("Data_Cache_Capacity", room, "buffer.size", f'"{least}B"', "MQSim programs at once what it takes in, and lets one page of each plane wait for that")
            device.set("buffer.flush_depth_per_die", 1024, "MQSim gives all that waits to the chips")
        else:
            device.take("Data_Cache_Capacity", room, "buffer.size", f'"{max(room, least)}B"', "" if room >= least else "one page for each plane at least")
    if "Data_Cache_DRAM_Data_Rate" in values:
        rate = values.integer("Data_Cache_DRAM_Data_Rate")
        burst = values.integer("Data_Cache_DRAM_Data_Busrt_Size") if "Data_Cache_DRAM_Data_Busrt_Size" in values else 1
        parts = [name for name in ("Data_Cache_DRAM_tRCD", "Data_Cache_DRAM_tCL") if name in values]
        latency = sum(values.integer(name) for name in parts)
        if mechanisms:
            device.take("Data_Cache_DRAM_Data_Rate", rate, "dram.bandwidth", '"1TB/s"', "MQSim's DRAM takes written data and cached reads only; here all data and the map would pass it")
        else:
            device.take("Data_Cache_DRAM_Data_Rate", rate, "dram.bandwidth", f'"{2 * burst * rate}MB/s"')
        device.set("dram.access_latency", '"0s"' if mechanisms else f'"{latency}ns"', "MQSim Data_Cache_DRAM_tRCD + tCL")
        why = "MQSim's DRAM serves written data and cached reads only" if mechanisms else ""
        for name in parts:
            device.part(name, values.text(name), "dram.access_latency", why)
        if "Data_Cache_DRAM_Data_Busrt_Size" in values:
            device.part("Data_Cache_DRAM_Data_Busrt_Size", burst, "dram.bandwidth", why)
        for name in ("Data_Cache_DRAM_tRP", "Data_Cache_DRAM_Row_Size"):
            if name in values:
                device.beside(name, values.text(name), "DRAM is a bandwidth and a latency here (dram.model = ddr has rows)")


def collection(device, values):
    blocks = values.integer("Block_No_Per_Plane", least=1)
    soft = min(max(10, math.ceil(values.share("GC_Exec_Threshold") * blocks)), max(2, blocks // 2))
    hard = max(1, min(soft - 1, math.ceil(values.share("GC_Hard_Threshold") * blocks)))
    device.take("GC_Exec_Threshold", values.text("GC_Exec_Threshold"), "gc.soft_free_blocks", soft, "at least 10 blocks, as MQSim has it" if soft == 10 else "")
    device.take("GC_Hard_Threshold", values.text("GC_Hard_Threshold"), "gc.hard_free_blocks", max(3, hard) if max(3, hard) < soft else hard, "" if hard >= 3 else "3 at least: with other writers collection itself needs two")
    policy = values.text("GC_Block_Selection_Policy", "RGA").upper()
    if policy == "RGA":
        device.take("GC_Block_Selection_Policy", policy, "gc.policy", '"d_choices"')
        device.set("gc.d_choices.choices", max(2, int(math.log2(blocks))), "MQSim RGA: the best of log2(blocks) blocks drawn at random")
    elif policy in ("RANDOM_P", "RANDOM_PP"):
        device.take("GC_Block_Selection_Policy", policy, "gc.policy", '"random"')
        least = 0 if policy == "RANDOM_P" else max(1, int(values.share("Overprovisioning_Ratio") * values.integer("Page_No_Per_Block")))
        device.set("gc.random.least_invalid_pages", least, "MQSim RANDOM_P: any full block" if least == 0 else "MQSim RANDOM_PP: spare x pages of a block")
    else:
        device.take("GC_Block_Selection_Policy", policy, "gc.policy", f'"{VICTIMS.get(policy, "greedy")}"', "" if policy in VICTIMS else "greedy in its place")
    copyback = values.flag("Use_Copyback_for_GC")
    device.beside("Use_Copyback_for_GC", "true" if copyback else "false", "moves go over the bus and through ECC" if copyback else "as here", NONE if copyback else TAKEN)
    device.beside("Preemptible_GC_Enabled", "true" if values.flag("Preemptible_GC_Enabled") else "false", "reads of the host go before moves of collection in any case (scheduler.policy)", NEARLY)
    if values.flag("Dynamic_Wearleveling_Enabled"):
        device.take("Dynamic_Wearleveling_Enabled", "true", "wear.free_blocks", '"by_wear"')
    else:
        device.beside("Dynamic_Wearleveling_Enabled", "false", "as here by default", TAKEN)
    static = values.flag("Static_Wearleveling_Enabled")
    device.beside("Static_Wearleveling_Enabled", "true" if static else "false", "by Static_Wearleveling_Threshold" if static else "as here by default", TAKEN)
    if static:
        device.take("Static_Wearleveling_Threshold", values.text("Static_Wearleveling_Threshold"), "wear.most_spread", values.integer("Static_Wearleveling_Threshold"))
    elif "Static_Wearleveling_Threshold" in values:
        device.beside("Static_Wearleveling_Threshold", values.text("Static_Wearleveling_Threshold"), "no effect with Static_Wearleveling_Enabled = false")
    if values.flag("Enabled_Preconditioning"):
        by_formula = policy in ("RGA", "GREEDY", "FIFO", "RANDOM") and values.flag("Ideal_Mapping_Table")
        device.take("Enabled_Preconditioning", "true", "precondition.state", '"analytic"' if by_formula else '"random"', "the steady state of random writes, whatever the workload writes")
        device.set("precondition.fill_caches", False, "MQSim: preconditioning leaves the data cache empty (Data_Cache_Manager::Do_warmup)")
        device.part("Enabled_Preconditioning", "true", "precondition.fill_caches")
        if by_formula:
            device.text("ftl.static_dimensions", "none", "by formula any unit is anywhere")
    else:
        device.take("Enabled_Preconditioning", "false", "precondition.state", '"sequential"', "MQSim makes up what is read and was never written; here the drive is full")


def scheduling(device, values, mechanisms):
    policy = values.text("Transaction_Scheduling_Policy", "OUT_OF_ORDER").upper()
    ours, why = {"OUT_OF_ORDER": ("read_first", ""), "PRIORITY_OUT_OF_ORDER": ("weighted_priorities", "")}.get(policy, ("read_first", "not modelled; reads before writes before collection"))
    device.take("Transaction_Scheduling_Policy", policy, "scheduler.policy", f'"{ours}"', why)
    if mechanisms:
        device.text("scheduler.bus_order", "data_first", "MQSim sends all waiting data before commands")
        for key in ("read_command", "write_command", "map_lookup", "map_update", "flash_issue", "flash_complete", "buffer_insert"):
            device.set(f"firmware.{key}", 0, "MQSim charges no firmware time")


WHY_NOT = {
    "Enable_ResponseTime_Logging": "latency.csv and timeseries.csv are always written",
    "ResponseTime_Logging_Period_Length": "run.timeseries_interval has the interval",
    "SATA_Processing_Delay": "the drive has NVMe",
}
OF_NVME = ("PCIe_Lane_Bandwidth", "PCIe_Lane_Count", "Queue_Fetch_Size")
