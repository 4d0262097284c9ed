// SPDX-License-Identifier: Apache-2.0
#include "controller/ftl/allocation/write_partitions.h"
#include "controller/ftl/feature_kind.h"
#include "controller/ftl/ftl_check.h"
#include "controller/ftl/mapping/mapping.h"
#include "controller/ftl/victims/victim_policy.h"
#include "controller/gc/paces.h"
#include "controller/streams/stream_choices.h"
#include "sim/config/parameters.h"

namespace ssdtlm {

void add_ftl_parameters(std::vector<SsdParameter>& table) {
    using P = ParameterOf<SsdConfig>;
    const std::string on_flash = "ftl.mapping = " + mappings_on_flash();
    table.push_back(
        P::quantity(
            "ftl.user_capacity", Dimension::bytes, [](auto& c) -> auto& { return c.ftl.user_capacity_bytes; })
            .range("4KiB", "64TiB")
            .multiple_of("512B")
            .must_be_set("\"480GB\"")
            .says("Size of the namespace; the rest of the flash is over-provisioning. Not needed where "
                  "ftl.over_provisioning says it")
            .from("-"));
    table.push_back(P::fraction(
                        "ftl.over_provisioning", [](auto& c) -> auto& { return c.over_provisioning; })
                        .range("0%", "10000%")
                        .says("Spare flash as a share of the capacity: (flash - capacity) / capacity. It sets "
                              "ftl.user_capacity to flash / (1 + share), rounded down to whole mapping units. A later "
                              "file or the command line may say the other of the two. 0%: ftl.user_capacity counts")
                        .from("none; Kingston, Understanding SSD Over-provisioning: 7 % to 28 %. MQSim's "
                              "Overprovisioning_Ratio r is of the flash, which is r / (1 - r) here"));
    table.push_back(P::name(
                        "ftl.mapping", mapping_names(), [](auto& c) -> auto& { return c.ftl.mapping; })
                        .says("Where the map is, and where units may be. " + Mappings::instance().sentences())
                        .from("drives with about 1 GB of DRAM per TB of flash"));
    table.push_back(P::integer(
                        "fast.random_log_blocks", [](auto& c) -> auto& { return c.ftl.fast.random_log_blocks; })
                        .range("1", "65535")
                        .says("Log blocks of each plane (with ftl.superblock = die, superblocks of each die) for pages "
                              "that do not continue an ascending write. When "
                              "all are full, a page of the host waits until the oldest is merged")
                        .from("assumed; Lee et al. 2007 (FAST) vary it")
                        .only_with("ftl.mapping = fast"));
    table.push_back(
        P::quantity(
            "read_cache.size", Dimension::bytes, [](auto& c) -> auto& { return c.ftl.read_cache.bytes; })
            .range("0B", "64GiB")
            .says("DRAM for clean units that a read may want again. Less than a mapping unit: no read cache")
            .from("assumed: none, as most drives without DRAM to spare")
            .only_with("read_cache.room = own"));
    table.push_back(
        P::quantity(
            "read_ahead.depth", Dimension::bytes, [](auto& c) -> auto& { return c.ftl.read_ahead.bytes; })
            .range("0B", "64MiB")
            .says("What is read behind the newest read of a sequential stream, before the host asks for it. When less "
                  "than half of it is left, it is filled up again. At most half of the read cache. 0B: nothing is read "
                  "ahead")
            .from("MQSim (Tavakkol et al., FAST '18) reads nothing ahead"));
    table.push_back(P::integer(
                        "read_ahead.trigger", [](auto& c) -> auto& { return c.ftl.read_ahead.trigger; })
                        .range("1", "1000")
                        .says("Reads of one tenant that make a sequential stream: each but the first begins where the "
                              "one before ended. Sixteen streams are known at a time")
                        .from("assumed")
                        .only_with("read_ahead.depth != 0B"));
    table.push_back(P::choice(
                        "read_cache.replacement", {"lru", "fifo", "cflru"},
                        [](auto& c) -> auto& { return c.ftl.read_cache.replacement; })
                        .says("Which unit leaves. lru: the one not read for longest; fifo: the one that entered first; "
                              "cflru: as lru, but of the coldest units "
                              "(read_cache.window) clean ones leave before dirty ones, which cost a program (with "
                              "read_cache.room = buffer)")
                        .from("assumed: the usual one; cflru: Park et al., CASES 2006")
                        .only_with("read_cache.size != 0B or read_cache.room = buffer"));
    table.push_back(P::choice(
                        "read_cache.room", {"own", "buffer"}, [](auto& c) -> auto& { return c.ftl.read_cache.room; })
                        .says("Where the read cache is. own: in read_cache.size; buffer: in buffer.size together with "
                              "the write buffer, in one order, so each may use "
                              "what the other does not. A write waits if a dirty unit is next to leave; data that was "
                              "read does not stay then")
                        .from("assumed: drives divide their DRAM at design time"));
    table.push_back(P::integers(
                        "read_cache.quotas", [](auto& c) -> auto& { return c.ftl.read_cache.quotas; })
                        .range("1", "99")
                        .says("Parts of the read cache in per cent, for tenants 1, 2, ... (host.tenants = by_job). All "
                              "others share the rest. Units of a tenant replace "
                              "units in its part only. Empty: one cache for all")
                        .from("shared, as in most drives")
                        .only_with("read_cache.size != 0B")
                        .only_with("read_cache.room = own"));
    table.push_back(P::quantity(
                        "read_cache.window", Dimension::percent,
                        [](auto& c) -> auto& { return c.ftl.read_cache.window_percent; }, 10'000)
                        .range("0%", "100%")
                        .says("Share of the room, one unit at least, among whose coldest units clean ones leave first")
                        .from("assumed; Park et al. 2006 vary it")
                        .only_with("read_cache.replacement = cflru")
                        .only_with("read_cache.room = buffer"));
    table.push_back(
        P::choice(
            "read_cache.fill", {"reads", "writes", "both"}, [](auto& c) -> auto& { return c.ftl.read_cache.fill; })
            .says("What enters. reads: units that are read whole from the flash; writes: units that leave the write "
                  "buffer; both")
            .from("assumed: what was read")
            .only_with("read_cache.size != 0B or read_cache.room = buffer"));
    table.push_back(P::quantity(
                        "map.cache", Dimension::bytes, [](auto& c) -> auto& { return c.ftl.map.cache_bytes; })
                        .range("1KiB", "64GiB")
                        .says("DRAM for the part of the map that is in memory")
                        .from("MQSim (Tavakkol et al., FAST '18) Table 3, 4 MB")
                        .only_with(on_flash));
    table.push_back(P::choice(
                        "map.granularity", {"entry", "page"}, [](auto& c) -> auto& { return c.ftl.map.granularity; })
                        .says("What enters and leaves the cache. entry: single entries, each with its logical number "
                              "(2 x map.entry_size); page: whole translation "
                              "pages (a mapping unit each)")
                        .from("DFTL (Gupta et al., ASPLOS '09) caches entries")
                        .only_with(on_flash));
    table.push_back(
        P::choice(
            "map.replacement", {"lru", "segmented_lru"}, [](auto& c) -> auto& { return c.ftl.map.replacement; })
            .says("What leaves the full cache. lru: the entry used longest ago; segmented_lru: entries used once "
                  "before entries used again (map.protected)")
            .from("DFTL (Gupta et al., ASPLOS '09) uses segmented LRU, MQSim LRU")
            .only_with(on_flash));
    table.push_back(
        P::quantity(
            "map.protected", Dimension::percent, [](auto& c) -> auto& { return c.ftl.map.protected_percent; }, 10'000)
            .range("1%", "99%")
            .says("Largest share of the cache for entries that were used again")
            .from("assumed")
            .only_with(on_flash)
            .only_with("map.replacement = segmented_lru"));
    table.push_back(P::integers(
                        "map.quotas", [](auto& c) -> auto& { return c.ftl.map.quotas; })
                        .range("1", "99")
                        .says("Parts of the cache in per cent, for tenants 1, 2, ... (host.tenants = by_job). All "
                              "others, and changes by garbage collection, share the "
                              "rest. The part that is furthest beyond its size loses entries first, so a tenant may "
                              "use what another does not want. Empty: one cache "
                              "for all")
                        .from("shared, as in DFTL (Gupta et al., ASPLOS '09); MQSim (Tavakkol et al., FAST '18) "
                              "divides it by flow on request")
                        .only_with(on_flash));
    table.push_back(P::integer(
                        "map.prefetch", [](auto& c) -> auto& { return c.ftl.map.prefetch; })
                        .range("1", "65536")
                        .says("Entries that come into the cache when a translation page is read for a missing one: it "
                              "and those behind it in the same page. These take free room, or that of clean entries. "
                              "1: the missing one alone. Whole pages need none")
                        .from("DFTL (Gupta et al., ASPLOS '09) brings in one entry")
                        .only_with(on_flash)
                        .only_with("map.granularity = entry"));
    table.push_back(P::quantity(
                        "map.entry_size", Dimension::bytes, [](auto& c) -> auto& { return c.ftl.map.entry_bytes; })
                        .range("4B", "4KiB")
                        .says("Size of an entry in a translation page, which is a mapping unit of flash")
                        .from("4 bytes number 16 TiB in units of 4 KiB")
                        .only_with(on_flash + " or dram.size != 0B or firmware.table_cache != 0B"));
    table.push_back(
        P::fraction(
            "map.power_protected", [](auto& c) -> auto& { return c.ftl.map.power_protected; })
            .range("0.01%", "100%")
            .says("Share of the translation pages that capacitors can write at a loss of power, one page at least. No "
                  "more are ever dirty. A write that "
                  "would exceed this waits until the page changed longest ago is written")
            .from("Hexa-SSD study (IEICE Electronics Express 19(21), 2022) varies it, 1 to 100 %; 100 %: nothing waits")
            .only_with(on_flash));
    table.push_back(
        P::choice(
            "map.dirty_until", {"programmed", "issued"}, [](auto& c) -> auto& { return c.ftl.map.dirty_until; })
            .says("Until when a translation page that is being written counts as dirty for map.power_protected. "
                  "programmed: the end of its program; issued: "
                  "the moment when the program is handed to the flash, which capacitors then supply")
            .from("assumed: nothing but what is on the flash is safe")
            .only_with(on_flash)
            .only_with("map.power_protected != 100%"));
    table.push_back(P::choice(
                        "map.gc_updates", {"written", "found"}, [](auto& c) -> auto& { return c.ftl.map.gc_updates; })
                        .says("What garbage collection does to the translation pages of moved units. written: they "
                              "become dirty and are written back; found: they do "
                              "not, because out-of-band areas say the same (if the cache has room for the whole map)")
                        .from("assumed: a map that is read back must say where units are")
                        .only_with(on_flash));
    table.push_back(P::name(
                        "ftl.allocation", allocation_orders(), [](auto& c) -> auto& { return c.ftl.allocation; })
                        .says("Order in which consecutive pages go to channels (C), ways (W), dies (D) and planes (P). "
                              "The first letter varies fastest. With ftl.superblock = die, "
                              "P always comes first")
                        .from("MQSim Plane_Allocation_Scheme = CWDP"));
    table.push_back(
        P::choice(
            "ftl.placement", {"in_turn", "first_idle"}, [](auto& c) -> auto& { return c.ftl.placement; })
            .says("Which plane (with ftl.superblock = die, which die) gets the next host page. in_turn: the next one "
                  "in the order of ftl.allocation that can take it; "
                  "first_idle: of these, the one with the fewest programs under way, and of equals the next one")
            .from("MQSim's dynamic allocation takes the next one"));
    table.push_back(
        P::name(
            "ftl.static_dimensions", static_dimensions(), [](auto& c) -> auto& { return c.ftl.static_dimensions; })
            .says("Which of channel (C), way (W), die (D) and plane (P) the logical address decides, as ftl.allocation "
                  "lays out an ascending write. The others are "
                  "chosen for each program. none: all are chosen; CWDP: the address decides all. With ftl.superblock = "
                  "die, P is left out. Translation pages go to all "
                  "in equal parts")
            .from("Hu et al. 2013, static and dynamic allocation; MQSim: all four"));
    table.push_back(P::text(
                        "ftl.nvm_sets", [](auto& c) -> auto& { return c.ftl.nvm_sets; })
                        .says("Parts of the flash that share no plane, separated by commas. Each is given by its "
                              "channels (C), ways (W), dies of a chip (D) and planes "
                              "of a die (P), as in \"C0-3, C4-7W0, C4-7W1-3\"; a dimension without numbers is taken "
                              "whole. Each set has a range of the logical "
                              "addresses, in this order and in proportion to its planes (result.json says where they "
                              "begin). Its units and translation pages are "
                              "written and collected there only. Empty: no sets")
                        .from("NVM Express Base Specification: NVM Sets; MQSim: address of a flow bound to channels, "
                              "chips, dies and planes"));
    table.push_back(P::integer(
                        "ftl.stream_frontiers", [](auto& c) -> auto& { return c.ftl.stream_frontiers; })
                        .range("0", "64")
                        .says("Number of write streams that have superblocks of their own, from the first one opened "
                              "on, for host data and for moved data. All other "
                              "writes share theirs. At most nvme.streams")
                        .from("0: streams are not kept apart")
                        .only_with("host.streams = true or ftl.streams_by != host"));
    table.push_back(
        P::name(
            "ftl.streams_by", StreamChoices::instance().names(), [](auto& c) -> auto& { return c.ftl.streams_by; })
            .says("Who decides with which stream a unit goes (ftl.stream_frontiers). " +
                  StreamChoices::instance().sentences())
            .from("drives follow the host where it says something"));
    table.push_back(P::choice(
                        "ftl.superblock", {"plane", "die", "drive"}, [](auto& c) -> auto& { return c.ftl.superblock; })
                        .says("What is opened, filled, collected and erased as one. plane: each block by itself, so "
                              "the planes of a die drift apart; die: the blocks with the same "
                              "number of all planes of a die, so programs and erases are multi-plane; drive: the "
                              "blocks with the same number of all planes (a line), striped in the "
                              "order of ftl.allocation, P first. Counts per plane are then counts of lines")
                        .from("drives write superblocks that span all planes of a die, most of them all dies"));
    table.push_back(P::choice(
                        "ftl.parity", {"none", "die"}, [](auto& c) -> auto& { return c.ftl.parity; })
                        .says("Parity within each row of a superblock, with ftl.superblock = drive. die: one die of "
                              "the row holds the parity of the others; it changes from "
                              "superblock to superblock. This costs its capacity, and one program of all its planes "
                              "when a row is full. A page that cannot be read is rebuilt from "
                              "the others of its row, if these can be read")
                        .from("none: not each drive has it; RAIN in enterprise drives, where a stripe over all dies "
                              "outlives the loss of one"));
    table.push_back(P::integer(
                        "ftl.spare_blocks", [](auto& c) -> auto& { return c.ftl.spare_blocks; })
                        .range("0", "65535")
                        .says("Blocks of each plane that replace blocks that fail. Without a spare block the drive "
                              "becomes read-only. With ftl.superblock = die a spare "
                              "is the blocks with one number of all planes of the die")
                        .from("none: without faults nothing fails"));
    table.push_back(
        P::name(
            "gc.policy", VictimPolicies::instance().names(), [](auto& c) -> auto& { return c.ftl.gc_policy; })
            .says("How the victim is chosen. " + VictimPolicies::instance().sentences())
            .from("assumed: the best-known baseline"));
    table.push_back(P::integer(
                        "gc.soft_free_blocks", [](auto& c) -> auto& { return c.ftl.gc_soft_free_blocks; })
                        .range("2", "65536")
                        .says("Free blocks of a plane (with ftl.superblock = die, of a die) at or below which it is "
                              "collected in the background")
                        .from("assumed"));
    table.push_back(P::integer(
                        "gc.hard_free_blocks", [](auto& c) -> auto& { return c.ftl.gc_hard_free_blocks; })
                        .range("1", "65535")
                        .says("Free blocks of a plane at or below which host writes to it wait for collection. 1 is "
                              "allowed where only the host and garbage "
                              "collection write: a map in memory, no failing flash, no loss of power")
                        .from("assumed: with other writers collection itself needs two"));
    table.push_back(
        P::quantity(
            "gc.soft_used", Dimension::percent, [](auto& c) -> auto& { return c.ftl.gc_soft_used_percent; }, 10'000)
            .range("0%", "99%")
            .says("Share of a plane's blocks in use from which it is collected in the background. It sets "
                  "gc.soft_free_blocks to the rest, rounded down. "
                  "0%: gc.soft_free_blocks counts")
            .from("none; FEMU: 75 % (gc_thres_pcent)"));
    table.push_back(
        P::quantity(
            "gc.hard_used", Dimension::percent, [](auto& c) -> auto& { return c.ftl.gc_hard_used_percent; }, 10'000)
            .range("0%", "99%")
            .says("Share of a plane's blocks in use from which host writes wait. It sets gc.hard_free_blocks to the "
                  "rest, rounded down. 0%: "
                  "gc.hard_free_blocks counts")
            .from("none; FEMU: 95 % (gc_thres_pcent_high)"));
    table.push_back(P::fraction(
                        "gc.least_invalid", [](auto& c) -> auto& { return c.ftl.gc_least_invalid; })
                        .range("0%", "90%")
                        .says("Share of a victim that must be invalid for its collection while the host does not wait "
                              "(gc.hard_free_blocks), in mapping units and "
                              "rounded down. 0%: one page is enough. Above 0% the capacity may be so large that "
                              "gc.soft_free_blocks are not always reached")
                        .from("0%; FEMU: 12.5 %"));
    table.push_back(P::boolean(
                        "gc.charge_time", [](auto& c) -> auto& { return c.ftl.gc_charge_time; })
                        .says("false: garbage collection takes no time anywhere. After each command of the host it "
                              "takes at most one victim in each group of planes, or "
                              "as many as are needed if the host waits. Not with gc.pace, failing flash, losses of "
                              "power or ftl.mapping = fast or block")
                        .from("it takes its time; FEMU: enable_gc_delay"));
    table.push_back(P::integer(
                        "gc.max_inflight_pages", [](auto& c) -> auto& { return c.ftl.gc_max_inflight_pages; })
                        .range("1", "4096")
                        .says("Pages of one victim that are being read or programmed at once, per plane that it spans")
                        .from("assumed"));
    table.push_back(P::choice(
                        "gc.frontier", {"own", "shared"}, [](auto& c) -> auto& { return c.ftl.gc_frontier; })
                        .says("Where moved data goes. own: to blocks of its own; shared: to the block that the host "
                              "writes. The host then waits at gc.hard_free_blocks "
                              "even if a block is open, and programs of both have the place of host writes in the "
                              "scheduler's order. Not with ftl.mapping = fast or "
                              "block")
                        .from("assumed: moved data are colder, and kept apart they are moved less"));
    table.push_back(P::name(
                        "gc.pace", GcPaces::instance().names(), [](auto& c) -> auto& { return c.ftl.gc_pace; })
                        .says("How fast victims are collected while the host is at work, above gc.hard_free_blocks. " +
                              GcPaces::instance().sentences())
                        .from("assumed: the simplest"));
    table.push_back(P::quantity(
                        "gc.idle_after", Dimension::time, [](auto& c) -> auto& { return c.ftl.gc_idle_after; })
                        .range("0s", "3600s")
                        .says("Time without a command of the host after which planes are collected at full speed, up "
                              "to gc.idle_free_blocks, until the next command. "
                              "0s: never")
                        .from("assumed: never, so that every block is collected as late as possible"));
    table.push_back(P::integer(
                        "gc.idle_free_blocks", [](auto& c) -> auto& { return c.ftl.gc_idle_free_blocks; })
                        .range("4", "65537")
                        .says("Free blocks of a plane up to which idle collection goes, as long as a page can be "
                              "gained. Many of them cost write amplification in long "
                              "pauses")
                        .from("assumed: twice gc.soft_free_blocks")
                        .only_with("gc.idle_after != 0s"));
    add_care_parameters(table);
    add_policy_parameters(
        table, "ftl", "ftl.streams_by", StreamChoices::instance(),
        [](auto& c) -> auto& { return c.ftl.stream_policies; });
    add_policy_parameters(
        table, "ftl", "ftl.mapping", Mappings::instance(), [](auto& c) -> auto& { return c.ftl.mappings; });
    add_policy_parameters(
        table, "ftl", "", FtlFeatureKinds::instance(), [](auto& c) -> auto& { return c.ftl.features; });
    add_policy_parameters(
        table, "gc", "gc.policy", VictimPolicies::instance(), [](auto& c) -> auto& { return c.ftl.gc_policies; });
    add_policy_parameters(
        table, "gc", "gc.pace", GcPaces::instance(), [](auto& c) -> auto& { return c.ftl.gc_policies; });
    table.push_back(P::integer(
                        "slc.blocks", [](auto& c) -> auto& { return c.ftl.slc.blocks; })
                        .range("0", "65535")
                        .says("Blocks of each plane that form an SLC cache. Their cells hold one bit each (nand.slc), "
                              "so they have 1 / nand.bits_per_cell of the pages. "
                              "The host's pages go there first, and past the cache when it is full. 0: no cache")
                        .from("none: drives for servers have no such cache"));
    table.push_back(
        P::integer(
            "slc.fold_free_blocks", [](auto& c) -> auto& { return c.ftl.slc.fold_free_blocks; })
            .range("0", "65536")
            .says("Free blocks of a plane's SLC cache below which the block filled first is folded into other blocks "
                  "while the host is at work, if there "
                  "are more free blocks than gc.hard_free_blocks. 0: only while the drive is idle (gc.idle_after)")
            .from("assumed: a full cache is folded")
            .only_with("slc.blocks != 0 or slc.dynamic_blocks != 0"));
    table.push_back(
        P::quantity(
            "slc.fold_rate", Dimension::percent, [](auto& c) -> auto& { return c.ftl.slc.fold_rate_percent; }, 10'000)
            .range("0%", "1000%")
            .says("Room that folding makes free in the SLC cache while the cache is short (slc.fold_free_blocks), as a "
                  "share of what the host writes "
                  "meanwhile. The host waits if folding lags behind. 100%: the cache keeps what it has, and the host "
                  "is slower than past the cache; 0%: "
                  "folding has what the host leaves of the dies")
            .from("drives that fold a full cache write more slowly meanwhile than past it; the share is assumed")
            .only_with("slc.blocks != 0 or slc.dynamic_blocks != 0"));
    table.push_back(P::integer(
                        "slc.dynamic_blocks", [](auto& c) -> auto& { return c.ftl.slc.dynamic_blocks; })
                        .range("0", "65535")
                        .says("Most free blocks of each plane that the SLC cache uses beside slc.blocks, as long as "
                              "more than gc.soft_free_blocks + 1 are free. So the "
                              "cache is large while the drive is empty. After folding they are free for all again. 0: "
                              "the cache has a fixed size")
                        .from("none: drives for servers have no such cache"));
    table.push_back(P::quantity(
                        "buffer.size", Dimension::bytes, [](auto& c) -> auto& { return c.ftl.buffer_bytes; })
                        .range("4KiB", "64GiB")
                        .says("Room for data of write commands that is not in flash yet")
                        .from("MQSim (Tavakkol et al., FAST '18) Table 3, 256 MB"));
    table.push_back(
        P::choice(
            "buffer.mode", {"write_back", "write_through", "protected"},
            [](auto& c) -> auto& { return c.ftl.buffer_mode; })
            .says("When a write completes. write_back: when it is in the buffer (volatile write cache); write_through: "
                  "when it is programmed; protected: when it is in "
                  "the buffer, which capacitors write when the power goes, so flush and FUA wait for nothing")
            .from("client drives"));
    table.push_back(P::boolean(
                        "buffer.merge_writes", [](auto& c) -> auto& { return c.ftl.buffer_merges; })
                        .says("true: a write replaces an older one of its unit in the buffer, unless that one is on "
                              "its way to flash; false: both are programmed, one "
                              "after the other")
                        .from("the usual one"));
    table.push_back(
        P::choice(
            "buffer.rest_reads", {"at_write", "at_write_back", "never"},
            [](auto& c) -> auto& { return c.ftl.rest_reads; })
            .says("When the rest of a unit is read that a write has only a part of. at_write: at once; at_write_back: "
                  "when the unit has to go to the flash and no write has brought the rest meanwhile. That is when a "
                  "flush or FUA waits for it, when a write waits for room, or when such units are more than half of "
                  "the buffer; never: it is not read, as if the host had written all of the unit")
            .from("at_write: a unit may be programmed as soon as possible; never: FEMU (its function ssd_write)"));
    table.push_back(P::choice(
                        "buffer.order", {"arrival", "by_translation_page", "lru"},
                        [](auto& c) -> auto& { return c.ftl.buffer_order; })
                        .says("Which units are programmed first. arrival: the oldest; by_translation_page: all that "
                              "make one translation page dirty together, largest "
                              "group first (with ftl.mapping = dftl, costs firmware.reorder); lru: those not written "
                              "for longest, so data that is written often stays "
                              "while buffer.flush_start and buffer.flush_stop leave it room. With the last two, units "
                              "that a flush or FUA waits for go first")
                        .from("by_translation_page: Hexa-SSD (IEICE Electronics Express 19(21), 2022)"));
    table.push_back(P::integer(
                        "buffer.patience", [](auto& c) -> auto& { return c.ftl.buffer_patience; })
                        .range("1", "1000000")
                        .says("A unit goes before others when this many times the buffer's size has come after it")
                        .from("assumed")
                        .only_with("buffer.order = by_translation_page"));
    table.push_back(P::boolean(
                        "buffer.prefer_dirty", [](auto& c) -> auto& { return c.ftl.buffer_prefers_dirty; })
                        .says("Groups whose translation page is already dirty go first if they have a quarter of the "
                              "largest group's units")
                        .from("assumed: it moves more in garbage collection than it saves")
                        .only_with("buffer.order = by_translation_page")
                        .only_with("map.power_protected != 100%"));
    table.push_back(P::quantity(
                        "buffer.flush_start", Dimension::percent,
                        [](auto& c) -> auto& { return c.ftl.flush_start_percent; }, 10'000)
                        .range("0%", "99%")
                        .says("High watermark: dirty share of the buffer above which programming starts. 0%: at once. "
                              "Data below it stays, also in an idle drive, until "
                              "a write waits for room, or a flush or shutdown comes")
                        .from("assumed"));
    table.push_back(
        P::quantity(
            "buffer.flush_stop", Dimension::percent, [](auto& c) -> auto& { return c.ftl.flush_stop_percent; }, 10'000)
            .range("0%", "100%")
            .says("Low watermark: dirty share of the buffer at which programming stops again, at most "
                  "buffer.flush_start. 100%: equal to buffer.flush_start")
            .from("assumed: one watermark")
            .only_with("buffer.flush_start != 0%"));
    table.push_back(
        P::integers(
            "buffer.quotas", [](auto& c) -> auto& { return c.ftl.buffer_quotas; })
            .range("1", "99")
            .says("Parts of the buffer in per cent, for tenants 1, 2, ... (host.tenants = by_job). All others share "
                  "the rest. A write waits for room in its "
                  "tenant's part only. The fullest part is programmed first, after units that somebody waits for. "
                  "Empty: one buffer for all")
            .from("shared, as in most drives; MQSim (Tavakkol et al., FAST '18) divides its cache by flow on request"));
    table.push_back(P::integer(
                        "buffer.flush_depth_per_die", [](auto& c) -> auto& { return c.ftl.flush_depth_per_die; })
                        .range("0", "1024")
                        .says("Most programs from the buffer that may be queued or running, per die. The limit counts "
                              "for the whole device. 0: two for each plane of a "
                              "die, three with nand.cache_program")
                        .from("assumed: a row of pages that is programmed, and one that waits for the die; with cache "
                              "program one more in its cache registers"));
    table.push_back(
        P::integer(
            "ftl.scan_reads_per_die", [](auto& c) -> auto& { return c.ftl.scan_reads_per_die; })
            .range("1", "1024")
            .says("Blocks of a die that the search for the map reads at once after a loss of power, each page by page")
            .from("assumed: keeps the die busy while a page is on the bus")
            .only_with("host.power_cut_at != none"));
    table.push_back(P::quantity(
                        "ftl.checkpoint_interval", Dimension::bytes,
                        [](auto& c) -> auto& { return c.ftl.checkpoint_interval_bytes; })
                        .range("0B", "64TiB")
                        .says("Host writes between two checkpoints of the map. After a loss of power only blocks "
                              "written since are searched. Checkpoints take blocks of "
                              "their own and count in the write amplification. 0B: none")
                        .from("assumed: none, as no run loses its power unless it is asked to"));
    table.push_back(
        P::boolean(
            "ftl.checkpoint_at_shutdown", [](auto& c) -> auto& { return c.ftl.checkpoint_at_shutdown; })
            .says(
                "A normal shutdown (CC.SHN) writes a checkpoint of the whole map, so the next start searches no pages")
            .from("assumed: none, as for ftl.checkpoint_interval")
            .only_with("host.power_cut_shutdown = true or host.reset_shutdown = true"));
    table.push_back(P::text(
                        "precondition.from", [](auto& c) -> auto& { return c.run.drive; })
                        .says("File of a drive that a run has saved (run --save-drive). The run goes on from its data, "
                              "map, wear, free blocks and clean caches. The "
                              "other keys of this table are then not used. Empty: none")
                        .from("-"));
    table.push_back(P::choice(
                        "precondition.state", {"fresh", "sequential", "random", "analytic"},
                        [](auto& c) -> auto& { return c.ftl.initial_state; })
                        .says("State of the drive at the start. fresh: nothing is mapped; sequential: filled in "
                              "ascending order; random: sequential, then random overwrites at full "
                              "speed through the same FTL and garbage collection; analytic: where very many such "
                              "overwrites lead, by the formula of the victim policy (greedy, "
                              "d_choices, random, fifo)")
                        .from("reads must find data")
                        .only_with("precondition.from = none"));
    table.push_back(P::fraction(
                        "precondition.fill", [](auto& c) -> auto& { return c.ftl.fill; })
                        .range("0%", "100%")
                        .says("Share of the user capacity that is mapped at the start, from address 0")
                        .from("a full drive")
                        .only_with("precondition.from = none")
                        .only_with("precondition.state != fresh"));
    table.push_back(P::text(
                        "precondition.workload", [](auto& c) -> auto& { return c.ftl.precondition_workload; })
                        .says("Workload (as for run -w) that is played to its end after the configured state, without "
                              "simulated time, by the same firmware. Jobs that "
                              "only time ends are refused. Its random numbers are not those of the run. Empty: none")
                        .from("-")
                        .only_with("precondition.from = none"));
    table.push_back(P::text(
                        "precondition.trace_options", [](auto& c) -> auto& { return c.run.precondition_trace; })
                        .says("How a block trace of precondition.workload is read: the options of run that begin with "
                              "--trace-, and --blkparse-action, as for the trace of run -w; for example "
                              "\"--trace-beyond fold\" for one that is larger than the drive")
                        .from("-")
                        .only_with("precondition.workload != none"));
    table.push_back(
        P::choice(
            "precondition.load", {"full", "light"}, [](auto& c) -> auto& { return c.ftl.precondition_load; })
            .says("How the host of precondition.workload goes on. full: at the workload's depth and as fast as the "
                  "dies allow, so garbage collection lags "
                  "behind as it does under load; light: after each command the host waits until the drive is at rest")
            .from("a drive is measured under load")
            .only_with("precondition.workload != none"));
    table.push_back(
        P::choice(
            "precondition.fill_caches", {"auto", "true", "false"}, [](auto& c) -> auto& { return c.run.fill_caches; })
            .says("true: write buffer, read cache and map cache (dftl) begin as full and as dirty as the host of the "
                  "state or of precondition.workload "
                  "leaves them; false: buffer and read cache begin empty and nothing is dirty, as after a pause, and "
                  "reads of precondition.workload are "
                  "skipped; auto: true where it is possible. It is not with quotas, with buffer.mode = write_through, "
                  "or with precondition.workload and "
                  "read_cache.room = buffer")
            .from("a steady state includes its caches (SNIA PTS); with empty ones the first writes run at the speed of "
                  "the buffer")
            .only_with("precondition.state = random|analytic or precondition.workload != none"));
    table.push_back(P::fraction(
                        "precondition.overwrite", [](auto& c) -> auto& { return c.ftl.overwrite; })
                        .range("0%", "10000%")
                        .says("Overwrites of state random, as a share of the mapped units")
                        .from("assumed: SNIA PTS writes the capacity twice, the fill being the first time")
                        .only_with("precondition.state = random")
                        .only_with("precondition.until = amount"));
    table.push_back(
        P::choice(
            "precondition.until", {"amount", "steady"}, [](auto& c) -> auto& { return c.ftl.until; })
            .says("What ends the overwrites of state random. amount: precondition.overwrite; steady: five rounds of a "
                  "tenth of the mapped units each whose "
                  "write amplification meets the rule of SNIA PTS (largest and smallest within 20 % of the mean, the "
                  "line through them within 10 %). Rounds "
                  "that were written to free blocks do not count. result.json and the report say what was reached")
            .from("the amount is known beforehand")
            .only_with("precondition.state = random"));
    table.push_back(P::integer(
                        "precondition.most_rounds", [](auto& c) -> auto& { return c.ftl.most_rounds; })
                        .range("5", "10000")
                        .says("Rounds after which the overwrites end with a warning, if they have not become steady")
                        .from("assumed: ten times what is mapped")
                        .only_with("precondition.until = steady")
                        .only_with("precondition.state = random"));
}

}  // namespace ssdtlm
