# SPDX-License-Identifier: Apache-2.0
"""FEMU's black-box SSD as a device: its options on a command line of QEMU or in a script that builds one (MoatLab/FEMU), or lines NAME VALUE as in its first
releases (vssd1.conf, of VSSIM). Meanings: hw/femu/femu.c and hw/femu/bbssd/ftl.c of FEMU d6985b286."""

import pathlib
import re

from ..errors import Problem, UserError
from .numbers import place
from .taken import NEARLY, NONE, Device

# femu_property of hw/femu/femu.c: what holds where nothing is said.
DEFAULTS = {"devsz_mb": "1024", "femu_mode": "1", "secsz": "512", "secs_per_pg": "8", "pgs_per_blk": "256", "blks_per_pl": "256", "pls_per_lun": "1", "luns_per_ch": "8", "nchs": "8",
            "pg_rd_lat": "40000", "pg_wr_lat": "200000", "blk_er_lat": "2000000", "ch_xfer_lat": "0", "gc_thres_pcent": "75", "gc_thres_pcent_high": "95"}
MODES = {"0": "Open-Channel", "2": "no SSD (DRAM only)", "3": "zoned namespaces"}
LEAST_FREE = 2
OLD = re.compile(r"^\s*([A-Z][A-Z_0-9]+)\s+([\w./-]+)\s*$")
ASSIGNMENT = re.compile(r"^\s*(?:export\s+)?(\w+)=(.*)$")
VARIABLE = re.compile(r"\$\{(\w+)(?::?-([^}]*))?\}|\$(\w+)")


def import_device(path, name):
    """A Device. Raises UserError."""
    try:
        text = pathlib.Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise UserError(Problem(str(path), f"cannot be read: {error.strerror}", "a script or command line with -device femu, or FEMU's vssd1.conf")) from None
    old = dict(match.groups() for line in text.splitlines() if (match := OLD.match(line)))
    if {"PAGE_NB", "FLASH_NB", "BLOCK_NB"} <= old.keys():
        options, left = of_old(path, old)
    else:
        options, left = of_command_line(path, text)
    for option in DEFAULTS:
        if not options.get(option, "0").isdigit():
            raise UserError(Problem(place(path, option), f"{option} = {options[option]}", "a whole number", "write the number: values that a script computes are not known here"))
    return device_of(path, name, options, left)


def of_old(path, old):
    """FLASH_NB chips on CHANNEL_NB channels, BLOCK_NB blocks of each. Delays are nanoseconds."""
    try:
        number = {key: int(value) for key, value in old.items() if value.lstrip("-").isdigit()}
        chips, channels, planes = number["FLASH_NB"], number.get("CHANNEL_NB", 1), number.get("PLANES_PER_FLASH", 1)
        sectors = number["PAGE_SIZE"] // number["SECTOR_SIZE"]
        options = {"secsz": number["SECTOR_SIZE"], "secs_per_pg": sectors, "pgs_per_blk": number["PAGE_NB"], "blks_per_pl": number["BLOCK_NB"] // planes, "pls_per_lun": planes,
                   "luns_per_ch": chips // channels, "nchs": channels, "pg_rd_lat": number["CELL_READ_DELAY"], "pg_wr_lat": number["CELL_PROGRAM_DELAY"],
                   "blk_er_lat": number["BLOCK_ERASE_DELAY"], "ch_xfer_lat": number.get("REG_READ_DELAY", 0)}
    except (KeyError, ZeroDivisionError) as error:
        raise UserError(Problem(str(path), f"has no usable {error}", "PAGE_SIZE, PAGE_NB, SECTOR_SIZE, FLASH_NB, BLOCK_NB, CHANNEL_NB and the delays of cells")) from None
    # Per cent of the capacity, as here. 0: all of the flash.
    options["OVP"] = number.get("OVP", 0)
    used = {"SECTOR_SIZE", "PAGE_SIZE", "PAGE_NB", "BLOCK_NB", "PLANES_PER_FLASH", "FLASH_NB", "CHANNEL_NB", "CELL_READ_DELAY", "CELL_PROGRAM_DELAY", "BLOCK_ERASE_DELAY", "REG_READ_DELAY", "OVP"}
    return {key: str(value) for key, value in options.items()}, {key: value for key, value in old.items() if key not in used}


def of_command_line(path, text):
    """Values of -device femu; variables of the shell are put in where the script sets them to a text."""
    lines = "\n".join(line for line in text.replace("\\\n", " ").splitlines() if not line.lstrip().startswith("#"))
    variables = {}
    for line in lines.splitlines():
        if match := ASSIGNMENT.match(line):
            variables[match[1]] = substituted(unquoted(match[2]), variables)
    found = [substituted(line, variables) for line in (*lines.splitlines(), *variables.values())]
    # Options of a variable are complete where it was set last.
    devices = [match[1] for line in found for match in re.finditer(r"-device[ =]+[\"']?femu,([^\s\"']+)", line)]
    if not devices:
        raise UserError(Problem(str(path), "has no -device femu", "a command line of QEMU, or a script with one, or FEMU's vssd1.conf",
                                "of FEMU's first releases (-device nvme,femu_mode=...) give the vssd1.conf"))
    longest = max(devices, key=len)
    options = dict((part.split("=", 1) + [""])[:2] for part in longest.split(",") if part)
    return {key: value for key, value in options.items() if key in DEFAULTS}, {key: value for key, value in options.items() if key not in DEFAULTS}


def unquoted(text):
    """The value of an assignment: without a comment behind it and without quotes."""
    text = text.strip()
    if text[:1] not in "\"'":
        text = re.split(r"\s+#|\s*//|\s", text, maxsplit=1)[0] if '"' not in text else re.split(r"\s+#", text, maxsplit=1)[0]
    return text.replace('"', "").replace("'", "")


def substituted(text, variables):
    for _ in range(4):
        new = VARIABLE.sub(lambda match: variables.get(match[1] or match[3], match[2] if match[2] is not None else match[0]), text)
        if new == text:
            break
        text = new
    return text


def device_of(path, name, options, left):
    if options.get("femu_mode", "1") != "1":
        raise UserError(Problem(str(path), f"femu_mode = {options['femu_mode']}, {MODES.get(options['femu_mode'], 'of another kind')}", "1", "black-box SSDs are taken"))
    value = {option: int(options.get(option, default)) for option, default in DEFAULTS.items()}
    device = Device(name, f"Imported from FEMU, {name}", "FEMU", path)

    def take(option, key, ours, why=""):
        device.take(option, options.get(option, f"{value[option]} (its default)"), key, ours, why)

    page = value["secsz"] * value["secs_per_pg"]
    for option, key in (("nchs", "channels"), ("luns_per_ch", "ways"), ("pls_per_lun", "planes_per_die"), ("blks_per_pl", "blocks_per_plane"), ("pgs_per_blk", "pages_per_block")):
        take(option, f"nand.geometry.{key}", value[option])
    device.set("nand.geometry.dies_per_chip", 1, "FEMU: LUNs directly on the channel")
    take("secs_per_pg", "nand.geometry.page_size", f'"{page}B"')
    device.beside("secsz", value["secsz"], "with the page", "taken")
    device.set("nand.geometry.unit_size", f'"{min(16384, max(4096, page))}B"', "FEMU maps pages")
    for option, key in (("pg_rd_lat", "t_read"), ("pg_wr_lat", "t_program"), ("blk_er_lat", "t_erase")):
        take(option, f"nand.{key}", f'"{max(1, value[option])}ns"')
    device.set("nand.bits_per_cell", 1, "FEMU: one latency for all pages")
    device.text("nand.onfi.interface", "ideal", "FEMU charges no time of the channel")
    if value["ch_xfer_lat"]:
        device.beside("ch_xfer_lat", value["ch_xfer_lat"], "FEMU reads it and charges no time of the channel", NEARLY)
    raw = page * value["pgs_per_blk"] * value["blks_per_pl"] * value["pls_per_lun"] * value["luns_per_ch"] * value["nchs"]
    if int(options.get("OVP", 0)) > 0:
        device.take("OVP", options["OVP"], "ftl.over_provisioning", f'"{options["OVP"]}%"')
    else:
        exported(device, *(("OVP", options["OVP"], raw) if "OVP" in options else ("devsz_mb", options.get("devsz_mb", f"{value['devsz_mb']} (its default)"), value["devsz_mb"] << 20)), raw)
    collected(take, value)
    fixed(device)
    for option, said in left.items():
        device.beside(option, said, WHY_NOT.get(option, "nothing of the kind is modelled, or it changes no time"), NONE)
    return device


def exported(device, option, said, size, raw):
    """The size of the drive, which may be all of the flash."""
    fits = size < raw
    device.take(option, said, "ftl.user_capacity", f'"{(size if fits else raw * 3 // 4) // 65536 * 65536}B"',
         "" if fits else "as large as the flash or larger, which FEMU lets pass; a quarter is spare here, as its scripts advise")


def collected(take, value):
    """Collection needs two free lines; the soft threshold is below the hard one."""
    most, lines = 100, max(1, value["blks_per_pl"])
    for option, key, free in (("gc_thres_pcent_high", "gc.hard_used", LEAST_FREE), ("gc_thres_pcent", "gc.soft_used", LEAST_FREE + 1)):
        most = min(most - 1, 100 * max(0, lines - free) // lines)
        take(option, key, f'"{min(most, value[option])}%"', "" if value[option] <= most else f"{free} lines are kept free at least")


def fixed(device):
    """What FEMU does always."""
    device.text("ftl.superblock", "drive", "FEMU's lines")
    device.text("ftl.allocation", "CWDP", "FEMU ssd_advance_write_pointer: channel first, then LUN")
    device.text("gc.policy", "greedy", "FEMU select_victim_line: least valid pages")
    device.text("gc.frontier", "shared", "FEMU gc_write_page: the write pointer of the host")
    device.text("gc.least_invalid", "12.5%", "FEMU select_victim_line: an eighth of a line, unless forced")
    device.text("buffer.mode", "write_through", "FEMU ssd_write: a write ends when its pages are programmed")
    device.set("buffer.merge_writes", False, "FEMU programs a page for each that is written")
    device.set("buffer.flush_depth_per_die", 1024, "all that is written is given to the LUNs at once")
    device.text("buffer.size", "64MiB", "data in flight only")
    device.text("scheduler.policy", "fifo", "FEMU ssd_advance_status: each LUN in order of arrival")
    for key in ("read_command", "write_command", "other_command", "map_lookup", "map_update", "buffer_insert", "flash_issue", "flash_complete", "gc_victim"):
        device.set(f"firmware.{key}", 0, "FEMU charges no firmware time")
    device.text("dram.bandwidth", "1000GB/s", "FEMU charges no DRAM time")
    device.text("dram.access_latency", "0ns", "FEMU charges no DRAM time")
    device.text("ecc.decode_time", "0ns", "FEMU has none")
    device.set("link.generation", 5, "FEMU's link is the virtual machine's, which takes no time")
    device.set("link.lanes", 16, "the same")
    for key in ("device_to_host_latency", "host_to_device_latency", "root_complex_latency"):
        device.text(f"link.{key}", "0ns", "the same")
    device.text("precondition.state", "sequential", "a full drive, written once")


WHY_NOT = {"namespaces": "one namespace; see nvme.namespaces", "queues": "queues are those of the workload", "multipoller_enabled": "pollers are FEMU's own threads",
           "GC_MODE": "FEMU's black-box SSD collects by lines", "REG_WRITE_DELAY": "FEMU charges no time of the channel"}
