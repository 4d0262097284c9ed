// SPDX-License-Identifier: Apache-2.0
#include "controller/ftl/allocation/lanes.h"
#include "controller/ftl/ftl_check.h"
#include "controller/ftl/gc/victim_policy.h"
#include "controller/ftl/streams/stream_choices.h"
#include "controller/gc/paces.h"
#include "sim/config/parameters.h"

namespace ssdtlm {

void add_ftl_parameters(std::vector<SsdParameter>& table) {
    using P = ParameterOf<SsdConfig>;
    table.push_back(
        P::quantity(
            "ftl.user_capacity", Dimension::bytes, [](auto& c) -> auto& { return c.ftl.user_capacity_bytes; })
            .range("4KiB", "64TiB")
            .multiple_of("512B")
            .must_be_set("\"480GB\"")
            .says("Size of the namespace; the rest of the flash is over-provisioning")
            .from("-"));
    table.push_back(P::name(
                        "ftl.mapping", mapping_names(), [](auto& c) -> auto& { return c.ftl.mapping; })
                        .says("Where the map of mapping units to flash is; page: a flat table, all of it in DRAM; dftl: in translation pages "
                              "on the flash, with a part of it in DRAM, as [map] says; fast: by blocks, with log blocks that are merged with them ([fast]); block: by blocks, which are written in ascending order and copied for any other write")
                        .from("drives with about 1 GB of DRAM per TB of flash"));
    table.push_back(P::integer(
                        "fast.random_log_blocks", [](auto& c) -> auto& { return c.ftl.fast.random_log_blocks; })
                        .range("1", "65535")
                        .says("Log blocks of each plane (with ftl.superblock = die, of each die, as superblocks) for pages that do not go on with an ascending "
                              "write, with ftl.mapping = fast. When all are full a page of the host waits until the oldest is merged")
                        .from("assumed; Lee et al. 2007 (FAST) vary it").only_with("ftl.mapping = fast"));
    table.push_back(P::quantity(
                        "read_cache.size", Dimension::bytes, [](auto& c) -> auto& { return c.ftl.read_cache.bytes; })
                        .range("0B", "64GiB")
                        .says("DRAM for clean units that a read may want again; less than a mapping unit: no read cache")
                        .from("assumed: none, as most drives without DRAM to spare").only_with("read_cache.room = own"));
    table.push_back(P::choice(
                        "read_cache.replacement", {"lru", "fifo", "cflru"}, [](auto& c) -> auto& { return c.ftl.read_cache.replacement; })
                        .says("What leaves for others; lru: the unit that was not read for longest; fifo: the one that entered first; cflru, with read_cache.room = buffer: as lru, but of the "
                              "coldest units (read_cache.window) clean ones leave before dirty ones, which cost a program")
                        .from("assumed: the usual one; cflru: Park et al., CASES 2006").only_with("read_cache.size != 0B or read_cache.room = buffer"));
    table.push_back(P::choice(
                        "read_cache.room", {"own", "buffer"}, [](auto& c) -> auto& { return c.ftl.read_cache.room; })
                        .says("Where the read cache is. own: in read_cache.size; buffer: in buffer.size, with the data of the write buffer and in one order with them, so that what one does not "
                              "use the other does. A write waits for a dirty unit whose turn it is to leave, what was read does not stay then")
                        .from("assumed: drives divide their DRAM at design time"));
    table.push_back(P::integers(
                        "read_cache.quotas", [](auto& c) -> auto& { return c.ftl.read_cache.quotas; })
                        .range("1", "99")
                        .says("Parts of a read cache of its own in per cent, for tenants 1, 2, ... (host.tenants = by_job); all others have the rest. What a tenant reads, or has written, takes the place of "
                              "units in its part. Empty: one cache for all")
                        .from("shared, as in most drives").only_with("read_cache.size != 0B").only_with("read_cache.room = own"));
    table.push_back(P::quantity(
                        "read_cache.window", Dimension::percent, [](auto& c) -> auto& { return c.ftl.read_cache.window_percent; }, 10'000)
                        .range("0%", "100%")
                        .says("With read_cache.replacement = cflru: the share of the room, one unit at least, of whose coldest units clean ones leave first")
                        .from("assumed; Park et al. 2006 vary it").only_with("read_cache.replacement = cflru").only_with("read_cache.room = buffer"));
    table.push_back(P::choice(
                        "read_cache.fill", {"reads", "writes", "both"}, [](auto& c) -> auto& { return c.ftl.read_cache.fill; })
                        .says("What enters; reads: units that are read whole from the flash; writes: units that leave the write buffer; both")
                        .from("assumed: what was read").only_with("read_cache.size != 0B or read_cache.room = buffer"));
    table.push_back(P::quantity(
                        "map.cache", Dimension::bytes, [](auto& c) -> auto& { return c.ftl.map.cache_bytes; })
                        .range("1KiB", "64GiB")
                        .says("DRAM for the part of the map that is in memory, with ftl.mapping = dftl")
                        .from("MQSim (Tavakkol et al., FAST '18) Table 3, 4 MB").only_with("ftl.mapping = dftl"));
    table.push_back(P::choice(
                        "map.granularity", {"entry", "page"}, [](auto& c) -> auto& { return c.ftl.map.granularity; })
                        .says("What comes into the cache and leaves it. entry: single entries, which need their logical number beside them "
                              "(2 x map.entry_size each); page: whole translation pages (a mapping unit each)")
                        .from("DFTL (Gupta et al., ASPLOS '09) caches entries").only_with("ftl.mapping = dftl"));
    table.push_back(P::choice(
                        "map.replacement", {"lru", "segmented_lru"}, [](auto& c) -> auto& { return c.ftl.map.replacement; })
                        .says("What leaves the full cache. lru: what was used longest ago; segmented_lru: what was used once before what was "
                              "used again (map.protected)")
                        .from("DFTL (Gupta et al., ASPLOS '09) uses segmented LRU, MQSim LRU").only_with("ftl.mapping = dftl"));
    table.push_back(P::quantity(
                        "map.protected", Dimension::percent, [](auto& c) -> auto& { return c.ftl.map.protected_percent; }, 10'000)
                        .range("1%", "99%")
                        .says("Share of the cache for what was used again, at most; with map.replacement = segmented_lru")
                        .from("assumed").only_with("ftl.mapping = dftl").only_with("map.replacement = segmented_lru"));
    table.push_back(P::integers(
                        "map.quotas", [](auto& c) -> auto& { return c.ftl.map.quotas; })
                        .range("1", "99")
                        .says("Parts of the cache in per cent, for tenants 1, 2, ... (host.tenants = by_job); all others, and what garbage collection changes, have the rest. What is in the part that is "
                              "furthest beyond its size leaves first, so that what one tenant does not use others may, until it wants it. Empty: one cache for all")
                        .from("shared, as in DFTL (Gupta et al., ASPLOS '09); MQSim (Tavakkol et al., FAST '18) divides it by flow on request").only_with("ftl.mapping = dftl"));
    table.push_back(P::quantity(
                        "map.entry_size", Dimension::bytes, [](auto& c) -> auto& { return c.ftl.map.entry_bytes; })
                        .range("4B", "4KiB")
                        .says("Size of an entry in a translation page, which is a mapping unit of flash")
                        .from("4 bytes number 16 TiB in units of 4 KiB").only_with("ftl.mapping = dftl or dram.size != 0B or firmware.table_cache != 0B"));
    table.push_back(P::fraction(
                        "map.power_protected", [](auto& c) -> auto& { return c.ftl.map.power_protected; })
                        .range("0.01%", "100%")
                        .says("Share of the map's translation pages that capacitors can write at a loss of power, one at least, with ftl.mapping = dftl: no more of them "
                              "are dirty, and what a write would make dirty beyond that waits until the one that was changed longest ago is written")
                        .from("Hexa-SSD study (IEICE Electronics Express 19(21), 2022) varies it, 1 to 100 %; 100 %: nothing waits").only_with("ftl.mapping = dftl"));
    table.push_back(P::choice(
                        "map.dirty_until", {"programmed", "issued"}, [](auto& c) -> auto& { return c.ftl.map.dirty_until; })
                        .says("How long a translation page that is written counts as dirty for map.power_protected. programmed: until its program has ended; issued: until the "
                              "program is handed to the flash, which capacitors keep supplied until then")
                        .from("assumed: nothing but what is on the flash is safe").only_with("ftl.mapping = dftl").only_with("map.power_protected != 100%"));
    table.push_back(P::choice(
                        "map.gc_updates", {"written", "found"}, [](auto& c) -> auto& { return c.ftl.map.gc_updates; })
                        .says("What garbage collection does to the translation pages of units that it moves. written: they are dirty and written back; found: they are not, as the "
                              "moved units' out-of-band areas say the same, if the cache has room for the whole map")
                        .from("assumed: a map that is read back must say where units are").only_with("ftl.mapping = dftl"));
    table.push_back(
        P::name(
            "ftl.allocation", allocation_orders(), [](auto& c) -> auto& { return c.ftl.allocation; })
            .says("Order in which consecutive pages go to channels (C), ways (W), dies (D) and planes (P); the "
                  "first letter varies fastest; with ftl.superblock = die, P comes first wherever it stands")
            .from("MQSim Plane_Allocation_Scheme = CWDP"));
    table.push_back(
        P::choice(
            "ftl.placement", {"in_turn", "first_idle"}, [](auto& c) -> auto& { return c.ftl.placement; })
            .says("Which plane (with ftl.superblock = die, which die) consecutive host pages go to. in_turn: the next one in the order of "
                  "ftl.allocation that takes any; first_idle: of these the one with the fewest programs under way, of equals the next one")
            .from("MQSim's dynamic allocation takes the next one"));
    table.push_back(
        P::name(
            "ftl.static_dimensions", static_dimensions(), [](auto& c) -> auto& { return c.ftl.static_dimensions; })
            .says("Which of channel (C), way (W), die (D) and plane (P) the logical address decides, as ftl.allocation would lay out an "
                  "ascending write; the others are chosen for each program. none: all are chosen; CWDP: none is. With ftl.superblock = die without P. Translation pages (ftl.mapping = dftl) go "
                  "to all in equal parts")
            .from("Hu et al. 2013, static and dynamic allocation; MQSim: all four"));
    table.push_back(P::text(
                        "ftl.nvm_sets", [](auto& c) -> auto& { return c.ftl.nvm_sets; })
                        .says("Parts of the flash that share no plane, with a comma in between, each by its channels (C), ways (W), dies of a chip (D) and planes of a die (P): "
                              "\"C0-3, C4-7W0, C4-7W1-3\"; what is not named is taken whole. Each has a range of the logical addresses, in this order and in proportion to its "
                              "planes (result.json says where they begin), whose units, and translation pages, are written and collected there only. Empty: all addresses anywhere")
                        .from("NVM Express Base Specification: NVM Sets; MQSim: address of a flow bound to channels, chips, dies and planes"));
    table.push_back(P::integer(
                        "ftl.stream_frontiers", [](auto& c) -> auto& { return c.ftl.stream_frontiers; })
                        .range("0", "64")
                        .says("So many write streams of the host, from the first one opened on, are written to superblocks of their own; the others, and "
                              "writes without a stream, share theirs; so is what garbage collection moves of them. Not more than nvme.streams")
                        .from("0: streams are not kept apart").only_with("host.streams = true or ftl.streams_by != host"));
    table.push_back(P::name(
                        "ftl.streams_by", StreamChoices::instance().names(), [](auto& c) -> auto& { return c.ftl.streams_by; })
                        .says("Which of the streams with superblocks of their own (ftl.stream_frontiers) a unit goes with; " + StreamChoices::instance().sentences())
                        .from("drives follow the host where it says something"));
    table.push_back(
        P::choice(
            "ftl.superblock", {"plane", "die", "drive"}, [](auto& c) -> auto& { return c.ftl.superblock; })
            .says("What is opened, filled, collected and erased as one. die: the blocks with the same number of all planes of a "
                  "die, so that its planes stay at the same page and programs and erases are multi-plane; plane: each block by "
                  "itself, so that the planes of a die drift apart once they are collected; drive: the blocks with the same number of all planes there are (lines), "
                  "which are striped over in the order of ftl.allocation, P first; what is counted per plane is then counted in lines")
            .from("drives write superblocks that span all planes of a die, most of them all dies"));
    table.push_back(
        P::choice(
            "ftl.parity", {"none", "die"}, [](auto& c) -> auto& { return c.ftl.parity; })
            .says("What each row of a superblock keeps of its own data, with ftl.superblock = drive. die: one of its dies, another one for each superblock, takes the parity of the "
                  "others, which costs its room and a program of all its planes a row, as soon as the row is full. A page that cannot be read is rebuilt from the others of its row, if these can")
            .from("none: not each drive has it; RAIN in enterprise drives, where a stripe over all dies outlives the loss of one"));
    table.push_back(P::integer(
                        "ftl.spare_blocks", [](auto& c) -> auto& { return c.ftl.spare_blocks; })
                        .range("0", "65535")
                        .says("Blocks of each plane that are kept until one of the others fails; without one left the drive becomes "
                              "read-only. With ftl.superblock = die, a block takes those with its number in the die's other planes along")
                        .from("none: without faults nothing fails"));
    table.push_back(P::name(
                        "gc.policy", VictimPolicies::instance().names(),
                        [](auto& c) -> auto& { return c.ftl.gc_policy; })
                        .says("How the block to be collected is chosen; " + VictimPolicies::instance().sentences())
                        .from("assumed: the best-known baseline"));
    table.push_back(P::integer(
                        "gc.soft_free_blocks", [](auto& c) -> auto& { return c.ftl.gc_soft_free_blocks; })
                        .range("3", "65536")
                        .says("Free blocks of a plane at or below which it (with ftl.superblock = die, its die) is collected in the background")
                        .from("assumed"));
    table.push_back(P::integer(
                        "gc.hard_free_blocks", [](auto& c) -> auto& { return c.ftl.gc_hard_free_blocks; })
                        .range("2", "65535")
                        .says("Free blocks of a plane at or below which host writes to it wait for collection")
                        .from("assumed: collection itself needs two"));
    table.push_back(P::quantity(
                        "gc.soft_used", Dimension::percent, [](auto& c) -> auto& { return c.ftl.gc_soft_used_percent; }, 10'000)
                        .range("0%", "99%")
                        .says("Share of a plane's blocks that are in use, from which on it is collected in the background: sets gc.soft_free_blocks to what it leaves, rounded "
                              "down; 0%: gc.soft_free_blocks says it")
                        .from("none; FEMU: 75 % (gc_thres_pcent)"));
    table.push_back(P::quantity(
                        "gc.hard_used", Dimension::percent, [](auto& c) -> auto& { return c.ftl.gc_hard_used_percent; }, 10'000)
                        .range("0%", "99%")
                        .says("The same for gc.hard_free_blocks: share from which on host writes wait")
                        .from("none; FEMU: 95 % (gc_thres_pcent_high)"));
    table.push_back(P::fraction(
                        "gc.least_invalid", [](auto& c) -> auto& { return c.ftl.gc_least_invalid; })
                        .range("0%", "90%")
                        .says("Share of a victim that must be invalid, in mapping units and rounded down, for it to be collected while the host does not wait (gc.hard_free_blocks). Above 0% the "
                              "capacity may be so large that gc.soft_free_blocks are not always reached; 0%: one page is enough")
                        .from("0%; FEMU: 12.5 %"));
    table.push_back(P::boolean(
                        "gc.charge_time", [](auto& c) -> auto& { return c.ftl.gc_charge_time; })
                        .says("false: what garbage collection moves and erases takes no time anywhere, and is done after each command of the host, one victim at most in each group of planes, "
                              "or as many as are needed where the host waits. Not with gc.pace, failing flash, losses of power or ftl.mapping = fast or block")
                        .from("it takes its time; FEMU: enable_gc_delay"));
    table.push_back(P::integer(
                        "gc.max_inflight_pages", [](auto& c) -> auto& { return c.ftl.gc_max_inflight_pages; })
                        .range("1", "4096")
                        .says("Pages of one victim that are being read or programmed at once, per plane that it spans")
                        .from("assumed"));
    table.push_back(P::choice(
                        "gc.frontier", {"own", "shared"}, [](auto& c) -> auto& { return c.ftl.gc_frontier; })
                        .says("Where what is moved goes. own: to blocks of its own; shared: it goes on where the host writes, which then waits at "
                              "gc.hard_free_blocks even if a block is open; programs of both have one place in the scheduler's order, that of host writes. Not with ftl.mapping = fast or block")
                        .from("assumed: moved data are colder, and kept apart they are moved less"));
    table.push_back(P::name(
                        "gc.pace", GcPaces::instance().names(), [](auto& c) -> auto& { return c.ftl.gc_pace; })
                        .says("How fast a block is collected while the host is at work, above gc.hard_free_blocks; " + GcPaces::instance().sentences())
                        .from("assumed: the simplest"));
    table.push_back(P::quantity(
                        "gc.idle_after", Dimension::time, [](auto& c) -> auto& { return c.ftl.gc_idle_after; })
                        .range("0s", "3600s")
                        .says("Without a command of the host for so long, planes are collected up to gc.idle_free_blocks, at full speed, "
                              "until the next one; 0s: never")
                        .from("assumed: never, so that every block is collected as late as possible"));
    table.push_back(P::integer(
                        "gc.idle_free_blocks", [](auto& c) -> auto& { return c.ftl.gc_idle_free_blocks; })
                        .range("4", "65537")
                        .says("Free blocks of a plane up to which it is collected with gc.idle_after, as long as a page can be gained: a long pause "
                              "costs write amplification if there are many")
                        .from("assumed: twice gc.soft_free_blocks").only_with("gc.idle_after != 0s"));
    add_care_parameters(table);
    add_policy_parameters(table, "ftl", "ftl.streams_by", StreamChoices::instance(), [](auto& c) -> auto& { return c.ftl.stream_policies; });
    add_policy_parameters(table, "gc", "gc.policy", VictimPolicies::instance(), [](auto& c) -> auto& { return c.ftl.gc_policies; });
    add_policy_parameters(table, "gc", "gc.pace", GcPaces::instance(), [](auto& c) -> auto& { return c.ftl.gc_policies; });
    table.push_back(P::integer(
                        "slc.blocks", [](auto& c) -> auto& { return c.ftl.slc.blocks; })
                        .range("0", "65535")
                        .says("Blocks of each plane that are an SLC cache: their cells hold one bit each (nand.slc), so they have 1 / "
                              "nand.bits_per_cell of the pages. The host's pages go there first, and past it when it is full; 0: no cache")
                        .from("none: drives for servers have no such cache"));
    table.push_back(P::integer(
                        "slc.fold_free_blocks", [](auto& c) -> auto& { return c.ftl.slc.fold_free_blocks; })
                        .range("0", "65536")
                        .says("With fewer free blocks of a plane's SLC cache, what is in the one filled first is moved to other blocks (folded) while the "
                              "host is at work, as long as there are more free ones than gc.hard_free_blocks; 0: only while it is idle (gc.idle_after)")
                        .from("assumed: a full cache is folded").only_with("slc.blocks != 0 or slc.dynamic_blocks != 0"));
    table.push_back(P::quantity(
                        "slc.fold_rate", Dimension::percent, [](auto& c) -> auto& { return c.ftl.slc.fold_rate_percent; }, 10'000)
                        .range("0%", "1000%")
                        .says("Of what the host writes while the SLC cache is short (slc.fold_free_blocks), the share that folding makes free in it meanwhile; where folding lags behind, the host "
                              "waits. 100%: the cache keeps what it has, and the host is slower than past the cache; 0%: folding has what the host leaves of the dies")
                        .from("drives that fold a full cache write more slowly meanwhile than past it; the share is assumed").only_with("slc.blocks != 0 or slc.dynamic_blocks != 0"));
    table.push_back(P::integer(
                        "slc.dynamic_blocks", [](auto& c) -> auto& { return c.ftl.slc.dynamic_blocks; })
                        .range("0", "65535")
                        .says("Free blocks of each plane, at most, that the SLC cache uses beside its own (slc.blocks) as long as more than gc.soft_free_blocks + 1 "
                              "are free, so the cache is large while the drive is empty; folded and erased they are free for all again; 0: the cache has a fixed size")
                        .from("none: drives for servers have no such cache"));
    table.push_back(P::quantity(
                        "buffer.size", Dimension::bytes, [](auto& c) -> auto& { return c.ftl.buffer_bytes; })
                        .range("4KiB", "64GiB")
                        .says("Room for data of write commands that is not in flash yet")
                        .from("MQSim (Tavakkol et al., FAST '18) Table 3, 256 MB"));
    table.push_back(
        P::choice(
            "buffer.mode", {"write_back", "write_through", "protected"}, [](auto& c) -> auto& { return c.ftl.buffer_mode; })
            .says("write_back: a write completes when it is in the buffer (volatile write cache); write_through: "
                  "when it is programmed; protected: when it is in the buffer, which capacitors write when the power goes, so that flush and FUA wait for nothing")
            .from("client drives"));
    table.push_back(P::boolean(
                        "buffer.merge_writes", [](auto& c) -> auto& { return c.ftl.buffer_merges; })
                        .says("A write of a unit that is in the buffer, and not on its way to flash, takes the older one's place; false: both are programmed, one after the other")
                        .from("the usual one"));
    table.push_back(P::choice(
                        "buffer.order", {"arrival", "by_translation_page", "lru"}, [](auto& c) -> auto& { return c.ftl.buffer_order; })
                        .says("Which units of the buffer are programmed first. arrival: those that came first; by_translation_page: with ftl.mapping = dftl, all that make "
                              "one translation page dirty together, where there are most of them first, which costs firmware.reorder; lru: those that were not written for longest, so that what is written again and again stays where "
                              "buffer.flush_start and buffer.flush_stop leave it room. In both, what a flush or FUA waits for goes before")
                        .from("by_translation_page: Hexa-SSD (IEICE Electronics Express 19(21), 2022)"));
    table.push_back(P::integer(
                        "buffer.patience", [](auto& c) -> auto& { return c.ftl.buffer_patience; })
                        .range("1", "1000000")
                        .says("With buffer.order = by_translation_page units go before others when so many times the buffer's size has come after them")
                        .from("assumed").only_with("buffer.order = by_translation_page"));
    table.push_back(P::boolean(
                        "buffer.prefer_dirty", [](auto& c) -> auto& { return c.ftl.buffer_prefers_dirty; })
                        .says("With buffer.order = by_translation_page and map.power_protected below 100%, units of a page that is dirty go first where there are a quarter as many as "
                              "of any other")
                        .from("assumed: it moves more in garbage collection than it saves").only_with("buffer.order = by_translation_page").only_with("map.power_protected != 100%"));
    table.push_back(P::quantity(
                        "buffer.flush_start", Dimension::percent,
                        [](auto& c) -> auto& { return c.ftl.flush_start_percent; }, 10'000)
                        .range("0%", "99%")
                        .says("Dirty share of the buffer above which programming starts (the high watermark); 0%: at once. Below it data stay, also in an idle drive, until a write waits for "
                              "room, or a flush or shutdown comes")
                        .from("assumed"));
    table.push_back(P::quantity(
                        "buffer.flush_stop", Dimension::percent,
                        [](auto& c) -> auto& { return c.ftl.flush_stop_percent; }, 10'000)
                        .range("0%", "100%")
                        .says("Dirty share of the buffer down to which programming goes on when it has started (the low watermark), at most buffer.flush_start; 100%: the same as that")
                        .from("assumed: one watermark").only_with("buffer.flush_start != 0%"));
    table.push_back(P::integers(
                        "buffer.quotas", [](auto& c) -> auto& { return c.ftl.buffer_quotas; })
                        .range("1", "99")
                        .says("Parts of the buffer in per cent, for tenants 1, 2, ... (host.tenants = by_job); all others have the rest. A write waits for room in its tenant's part, whatever the "
                              "others do, and the fullest part is programmed first, before it those that somebody waits for. Empty: one buffer for all")
                        .from("shared, as in most drives; MQSim (Tavakkol et al., FAST '18) divides its cache by flow on request"));
    table.push_back(P::integer(
                        "buffer.flush_depth_per_die", [](auto& c) -> auto& { return c.ftl.flush_depth_per_die; })
                        .range("0", "1024")
                        .says("Programs from the buffer that are queued or running, at most; per die on average: the limit is the device's. 0: two for each plane of a die")
                        .from("assumed: a row of pages that is programmed, and one that waits for the die"));
    table.push_back(P::integer(
                        "ftl.scan_reads_per_die", [](auto& c) -> auto& { return c.ftl.scan_reads_per_die; })
                        .range("1", "1024")
                        .says("Blocks of a die that are searched for the map at once after a loss of power, each page by page: as many "
                              "reads are queued or running")
                        .from("assumed: keeps the die busy while a page is on the bus").only_with("host.power_cut_at != none"));
    table.push_back(P::quantity(
                        "ftl.checkpoint_interval", Dimension::bytes, [](auto& c) -> auto& { return c.ftl.checkpoint_interval_bytes; })
                        .range("0B", "64TiB")
                        .says("Checkpoints of the map: one each time when the host has written so much, so that after a loss of power only "
                              "blocks written since are searched; 0B: none. They take blocks of their own, and their pages count in the write amplification")
                        .from("assumed: none, as no run loses its power unless it is asked to"));
    table.push_back(P::boolean(
                        "ftl.checkpoint_at_shutdown", [](auto& c) -> auto& { return c.ftl.checkpoint_at_shutdown; })
                        .says("A normal shutdown (CC.SHN) leaves a checkpoint of the map that says everything: the next start searches no pages")
                        .from("assumed: none, as for ftl.checkpoint_interval").only_with("host.power_cut_shutdown = true or host.reset_shutdown = true"));
    table.push_back(P::text(
                        "precondition.from", [](auto& c) -> auto& { return c.run.drive; })
                        .says("The file of a drive that a run has saved (run --save-drive), which goes on from there: what it holds, its map, wear, "
                              "free blocks and clean caches. The other keys of this table are not used then. Empty: none")
                        .from("-"));
    table.push_back(
        P::choice(
            "precondition.state", {"fresh", "sequential", "random", "analytic"},
            [](auto& c) -> auto& { return c.ftl.initial_state; })
            .says("fresh: nothing mapped; sequential: filled in ascending order; random: sequential, then uniform "
                  "random overwrites at full speed through the same FTL and garbage collection, which are left where "
                  "such a host would leave them; analytic: where very many such overwrites lead, by the formula of the victim policy "
                  "(greedy, d_choices, random, fifo), without simulating them all")
            .from("reads must find data").only_with("precondition.from = none"));
    table.push_back(
        P::fraction(
            "precondition.fill", [](auto& c) -> auto& { return c.ftl.fill; })
            .range("0%", "100%")
            .says("Share of the user capacity that is mapped at the start, from address 0; not used by fresh")
            .from("a full drive").only_with("precondition.from = none").only_with("precondition.state != fresh"));
    table.push_back(P::text(
                        "precondition.workload", [](auto& c) -> auto& { return c.ftl.precondition_workload; })
                        .says("A workload as for run -w (a fio job file, a block trace, or a name) that is played behind the configured state, without "
                              "simulated time, by the same firmware, to its end. Jobs that only time ends are refused. Its random numbers are not those of the run. "
                              "Empty: none")
                        .from("-").only_with("precondition.from = none"));
    table.push_back(P::text(
                        "precondition.trace_options", [](auto& c) -> auto& { return c.run.precondition_trace; })
                        .says("How a block trace of precondition.workload is read: the options of run that begin with --trace-, and --blkparse-action, as for the trace of run -w; for example "
                              "\"--trace-beyond fold\" for one that is larger than the drive")
                        .from("-").only_with("precondition.workload != none"));
    table.push_back(P::choice(
                        "precondition.load", {"full", "light"}, [](auto& c) -> auto& { return c.ftl.precondition_load; })
                        .says("How the host of precondition.workload goes on. full: as deep as the workload is, and as fast as the flash takes it, whose dies are busy as long "
                              "as their arrays are, so that garbage collection lags behind as it does under load; light: after each command the host waits until the drive is at rest")
                        .from("a drive is measured under load").only_with("precondition.workload != none"));
    table.push_back(P::choice(
                        "precondition.fill_caches", {"auto", "true", "false"}, [](auto& c) -> auto& { return c.run.fill_caches; })
                        .says("true: the write buffer, the read cache and the cache of a map on the flash (dftl) are as full and as dirty as a host at work leaves them, "
                              "for states random and analytic, and for precondition.workload. false: buffer and read cache are empty and nothing is dirty, as after a "
                              "pause, and reads of precondition.workload are passed over. auto: true where it is possible. It is not with quotas, with "
                              "buffer.mode = write_through, or with precondition.workload and read_cache.room = buffer")
                        .from("a steady state includes its caches (SNIA PTS); with empty ones the first writes run at the speed of the buffer").only_with("precondition.state = random|analytic or precondition.workload != none"));
    table.push_back(P::fraction(
                        "precondition.overwrite", [](auto& c) -> auto& { return c.ftl.overwrite; })
                        .range("0%", "10000%")
                        .says("Overwrites of state random, as a share of the mapped units; not used with precondition.until = steady")
                        .from("assumed: SNIA PTS writes the capacity twice, the fill being the first time").only_with("precondition.state = random").only_with("precondition.until = amount"));
    table.push_back(P::choice(
                        "precondition.until", {"amount", "steady"}, [](auto& c) -> auto& { return c.ftl.until; })
                        .says("What ends the overwrites of state random; amount: precondition.overwrite; steady: the first five rounds, of a tenth of the "
                              "mapped units each, whose write amplification meets the rule of SNIA PTS: largest and smallest within 20 % of the mean, the line "
                              "through them within 10 %. Rounds that were written to free blocks do not count. result.json and the report say what was reached")
                        .from("the amount is known beforehand").only_with("precondition.state = random"));
    table.push_back(P::integer(
                        "precondition.most_rounds", [](auto& c) -> auto& { return c.ftl.most_rounds; })
                        .range("5", "10000")
                        .says("Rounds after which overwrites end that have not become steady, with a warning; precondition.until = steady")
                        .from("assumed: ten times what is mapped").only_with("precondition.until = steady").only_with("precondition.state = random"));
}

}  // namespace ssdtlm
