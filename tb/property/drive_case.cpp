// SPDX-License-Identifier: Apache-2.0
#include "property/drive_case.h"

#include <algorithm>
#include <iomanip>
#include <sstream>
#include <stdexcept>

#include "controller/ftl/ftl_check.h"
#include "controller/map/cached/pages/translation_sizes.h"
#include "sim/config/config_loader.h"
#include "sim/config/parameters.h"

namespace ssdtlm {

const std::array<const char*, DriveOp::kKinds> DriveOp::kNames = {
    "read",   "write",   "forced_write", "trim",          "zeroes", "forced_zeroes", "flush",
    "pause",  "drain",   "cut",          "off",           "reset",  "beyond",        "broken_frame",
    "verify", "compare", "copy",         "uncorrectable", "format", "compare_write"};

const std::vector<Choice>& DriveCase::choices(bool serial_ata) {
    // Keys without a dot are no parameters: they are worked into others below.
    static const std::vector<Choice> kAll = {
        {"depth", {"1", "2", "4", "16"}},
        {"ftl.mapping", {"\"page\"", "\"dftl\"", "\"fast\"", "\"block\""}},
        {"run.data", {"\"bytes\"", "\"bytes\"", "\"signatures\""}},
        {"nvme.lba_size", {"\"512B\"", "\"512B\"", "\"4KiB\""}},
        {"unit", {"4096", "8192", "16384", "512", "12288", "6144"}},
        {"units_per_page", {"1", "1", "2", "4"}},
        {"nand.geometry.channels", {"1", "2", "3"}},
        {"nand.geometry.ways", {"1", "2"}},
        {"nand.geometry.dies_per_chip", {"1", "1", "2"}},
        {"nand.geometry.planes_per_die", {"1", "2", "2", "4"}},
        {"nand.geometry.pages_per_block", {"4", "8", "2", "16", "7"}},
        {"nand.bits_per_cell", {"1", "2", "3"}},
        {"blocks_in_use", {"2", "6", "12"}},
        {"share", {"100", "80", "50"}},
        {"ftl.superblock", {"\"die\"", "\"plane\"", "\"drive\""}},
        {"ftl.parity", {"-", "\"die\""}},
        {"precondition.state", {"\"fresh\"", "\"sequential\"", "\"sequential\"", "\"random\"", "\"analytic\""}},
        {"precondition.fill", {"\"100%\"", "\"70%\"", "\"10%\""}},
        {"precondition.fill_caches", {"-", "-", "true"}},
        {"gc.policy",
         {"\"greedy\"", "\"cost_benefit\"", "\"random\"", "\"fifo\"", "\"d_choices\"", "\"windowed_greedy\""}},
        {"gc.random.least_invalid_pages", {"-", "0", "2", "20"}},
        {"gc.windowed_greedy.window", {"-", "1", "5"}},
        {"soft_hard", {"3 2", "4 2", "4 3", "6 2", "2 1", "4 1"}},
        {"gc.frontier", {"-", "-", "\"shared\""}},
        {"gc.least_invalid", {"-", "-", "-", "\"12.5%\"", "\"60%\""}},
        {"gc.max_inflight_pages", {"8", "1", "2"}},
        {"gc.pace", {"-", "\"yield\"", "\"tokens\""}},
        {"gc.tokens.ahead", {"-", "1", "100"}},
        {"gc.tokens.most", {"-", "1", "1000"}},
        {"gc.idle_after", {"-", "-", "\"1us\"", "\"100us\""}},
        {"wear.free_blocks", {"-", "\"by_wear\""}},
        {"wear.most_spread", {"-", "-", "1", "10"}},
        {"wear.each", {"-", "1", "2"}},
        {"ftl.spare_blocks", {"0", "0", "2", "5"}},
        {"nand.faults.read_retry", {"-", "-", "-", "\"5%\""}},
        {"nand.faults.program_fail", {"-", "-", "-", "\"0.1%\"", "\"2%\""}},
        {"nand.faults.erase_fail", {"-", "-", "-", "\"0.1%\"", "\"5%\""}},
        {"factory_bad", {"-", "-", "-", "\"0.5%\"", "\"3%\""}},
        {"nand.faults.page_lost", {"-", "-", "-", "-", "\"0.1%\"", "\"2%\""}},
        {"buffer_pages", {"1", "2", "8", "50"}},
        {"buffer.mode", {"\"write_back\"", "\"write_back\"", "\"write_back\"", "\"write_through\"", "\"protected\""}},
        {"buffer.flush_start", {"-", "-", "\"50%\"", "\"99%\""}},
        {"buffer.flush_stop", {"-", "-", "\"0%\"", "\"30%\"", "\"50%\""}},
        {"buffer.flush_depth_per_die", {"4", "1", "16", "-"}},
        {"read_cache_units", {"0", "0", "3", "16", "1000"}},
        {"read_cache.room", {"-", "\"buffer\""}},
        {"read_cache.replacement", {"\"lru\"", "\"fifo\"", "\"cflru\""}},
        {"read_cache.window", {"-", "\"0%\"", "\"100%\""}},
        {"read_ahead_units", {"0", "0", "2", "8", "100"}},
        {"read_ahead.trigger", {"-", "1", "3"}},
        {"read_cache.fill", {"\"reads\"", "\"writes\"", "\"both\""}},
        {"slc.blocks", {"0", "0", "1", "2", "5"}},
        {"slc.fold_free_blocks", {"-", "0", "2"}},
        {"slc.fold_rate", {"-", "\"0%\"", "\"30%\"", "\"1000%\""}},
        {"slc.dynamic_blocks", {"0", "0", "1", "3", "1000"}},
        {"map_slots", {"1", "1", "2", "10"}},
        {"map.granularity", {"\"entry\"", "\"entry\"", "\"page\""}},
        {"map.replacement", {"\"lru\"", "\"segmented_lru\""}},
        {"map.protected", {"-", "\"1%\"", "\"99%\""}},
        {"map.prefetch", {"-", "-", "2", "5", "1000"}},
        {"map_entries", {"2", "4", "16", "1"}},
        {"dirty_pages", {"-", "-", "0", "1", "7"}},
        {"map.dirty_until", {"-", "\"issued\""}},
        {"map.gc_updates", {"-", "-", "-", "\"found\""}},
        {"buffer.order", {"-", "-", "\"by_translation_page\"", "\"lru\""}},
        {"buffer.patience", {"-", "1"}},
        {"buffer.prefer_dirty", {"-", "-", "true"}},
        {"buffer.merge_writes", {"-", "-", "-", "false"}},
        {"buffer.rest_reads", {"-", "\"at_write_back\""}},
        {"firmware.reorder", {"-", "0", "5000"}},
        {"refresh.reads", {"-", "-", "-", "200", "20"}},
        {"refresh.age", {"-", "-", "-", "\"300us\"", "\"5ms\""}},
        {"fast.random_log_blocks", {"1", "2", "4"}},
        {"ftl.allocation", {"-", "\"PDWC\"", "\"WCDP\"", "\"DPCW\""}},
        {"ftl.placement", {"-", "-", "\"first_idle\""}},
        {"ftl.static_dimensions", {"-", "-", "\"C\"", "\"CWD\"", "\"P\"", "\"CWDP\""}},
        {"ftl.nvm_sets", {"-", "-", "-", "\"C0, C1\"", "\"C0W0, C0W1, C1\"", "\"P0, P1-3\""}},
        {"ftl.stream_frontiers", {"0", "0", "1", "2"}},
        {"ftl.multi_hash.hot", {"1", "4"}},
        {"ftl.checkpoint_interval", {"-", "-", "\"1B\"", "\"64KiB\"", "\"1MiB\""}},
        {"ftl.checkpoint_at_shutdown", {"-", "-", "true"}},
        {"ftl.scan_reads_per_die", {"-", "1"}},
        {"scheduler.policy", {"-", "\"fifo\"", "\"earliest_deadline\""}},
        {"scheduler.multi_plane", {"-", "false"}},
        {"scheduler.look_ahead", {"-", "1", "3"}},
        {"scheduler.merge_reads", {"-", "true"}},
        {"scheduler.suspend", {"-", "-", "\"for_reads\""}},
        {"nand.independent_plane_read", {"-", "true"}},
        {"nand.t_program", {"\"200us\"", "\"50us\"", "\"1500us\""}},
        {"firmware.cores", {"1", "2", "5"}},
        {"firmware.clock", {"\"500MHz\"", "\"20MHz\""}},
        {"firmware_cycles", {"-", "-", "-", "0"}},  // of each step
        {"table_sets", {"-", "-", "-", "1", "8"}},  // of each core's cache
        {"nand.onfi.interface", {"-", "-", "-", "\"ideal\""}},
        {"transfer", {"32", "8", "128"}},
        {"nvme.sgls", {"-", "true"}},
        {"host.buffer_offset", {"-", "-", "\"12B\"", "\"2052B\""}},
        {"run.through_guards", {"-", "true"}},
        {"run.check_waiters", {"-", "-", "-", "-", "-", "true"}},
        {"run.seed", {"1", "2", "3", "4"}},
        {"nand.two_step", {"-", "true"}},
        {"gc.charge_time", {"-", "-", "-", "-", "-", "false"}},
        {"nand.cache_program", {"-", "-", "true"}},
        {"nand.t_cache_busy", {"-", "\"0s\"", "\"50us\""}},
        {"nvme.metadata", {"-", "true"}},
        // That the host gives such a drive at first: none with metadata, then each kind of them.
        {"format", {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15", "16"}},
    };
    static const std::vector<Choice> kSerialAta = [] {
        std::vector<Choice> all = kAll;
        const std::vector<Choice> more = {
            {"frontend.kind", {"\"sata\""}},
            {"frontend.sata.rate", {"\"6Gbps\"", "\"3Gbps\"", "\"1.5Gbps\""}},
            {"frontend.sata.queue_depth", {"32", "1", "2", "8", "31", "32"}},
            {"frontend.sata.auto_activate", {"-", "true"}},
            {"frontend.sata.decode_time", {"-", "\"0s\"", "\"20us\""}},
            {"host.sata.write_cache", {"-", "-", "-", "\"off\""}},
            // The drive is made for commands of nvme.max_transfer, and ATA has no limit of the kind.
            {"host.sata.max_transfer", {"-", "-", "\"64KiB\"", "\"256KiB\""}},
            {"tags", {"32", "1", "4", "31"}},  // that the host makes use of
        };
        all.insert(all.end(), more.begin(), more.end());
        return all;
    }();
    return serial_ata ? kSerialAta : kAll;
}

std::string DriveCase::value(const std::string& key) const {
    const std::vector<Choice>& all = choices(serial_ata);
    for (std::size_t i = 0; i < all.size(); ++i)
        if (all[i].key == key) return all[i].values.at(chosen.at(i));
    throw std::runtime_error("no choice " + key);
}

std::uint64_t DriveCase::number(const std::string& key) const {
    return std::stoull(value(key));
}

namespace {

bool starts(const std::string& text, const char* with) {
    return text.rfind(with, 0) == 0;
}

std::uint32_t planes_of(const DriveCase& c);
bool goes_with(const DriveCase& c, const std::string& key);
bool goes_with_partitions(const DriveCase& c) {
    return c.value("ftl.static_dimensions") != "-" && goes_with(c, "ftl.static_dimensions");
}

/// MLC of two steps, where the map is one that it goes with; it decides what else is drawn.
bool in_two_steps(const DriveCase& c) {
    return c.value("nand.two_step") == "true" && c.value("ftl.mapping") == "\"page\"";
}

/// One free block kept from the host, which goes with no other writer than it and collection, and with nothing that
/// fails.
bool keeps_one_block(const DriveCase& c) {
    return c.value("soft_hard").back() == '1' && c.value("ftl.mapping") == "\"page\"" && !in_two_steps(c);
}

/// Collection that takes no time.
bool collects_in_no_time(const DriveCase& c) {
    return c.value("gc.charge_time") != "-" && !keeps_one_block(c) && c.value("ftl.mapping") != "\"fast\"" &&
           c.value("ftl.mapping") != "\"block\"" && !in_two_steps(c);
}

/// NVM Sets that the drive's channels, ways and planes make up.
bool goes_with_sets(const DriveCase& c) {
    const std::string sets = c.value("ftl.nvm_sets");
    if (sets == "-" || keeps_one_block(c) || c.value("ftl.mapping") == "\"fast\"" ||
        c.value("ftl.mapping") == "\"block\"" || goes_with_partitions(c) || c.value("ftl.superblock") == "\"drive\"")
        return false;
    const auto has = [&](const char* dimension, const char* count) {
        return c.value(std::string("nand.geometry.") + dimension) == count;
    };
    if (sets[1] == 'P') return has("planes_per_die", "4") && c.value("ftl.superblock") == "\"plane\"";
    return has("channels", "2") && (sets.find('W') == std::string::npos || has("ways", "2"));
}

/// Cores with a cache for the map's table.
bool goes_with_table_cache(const DriveCase& c) {
    if (c.value("table_sets") == "-" || c.value("firmware_cycles") == "0" || c.value("ftl.mapping") == "\"fast\"" ||
        c.value("ftl.mapping") == "\"block\"")
        return false;
    return c.value("ftl.mapping") != "\"dftl\"" ||
           (goes_with(c, "map.granularity") && c.value("map.granularity") == "\"page\"");
}

/// What is refused with it, or has to have other values.
bool is_out_of_two_steps(const std::string& key) {
    static const char* const kKeys[] = {"ftl.parity",
                                        "slc.",
                                        "gc.pace",
                                        "gc.tokens",
                                        "ftl.checkpoint",
                                        "refresh.",
                                        "wear.most_spread",
                                        "wear.each",
                                        "gc.frontier",
                                        "nand.faults.program_fail",
                                        "nand.bits_per_cell",
                                        "nand.geometry.pages_per_block"};
    return std::any_of(std::begin(kKeys), std::end(kKeys), [&key](const char* k) { return starts(key, k); });
}

/// What is refused where collection takes no time; there is no loss of power either.
bool is_out_of_no_time(const std::string& key) {
    static const char* const kKeys[] = {"nand.faults", "factory_bad", "ftl.parity",
                                        "gc.pace",     "gc.tokens",   "scheduler.merge_reads"};
    return std::any_of(std::begin(kKeys), std::end(kKeys), [&key](const char* k) { return starts(key, k); });
}

bool is_out_of_one_block(const std::string& key) {
    static const char* const kKeys[] = {
        "nand.faults",    "factory_bad",          "ftl.parity",       "ftl.spare_blocks", "slc.",
        "ftl.checkpoint", "ftl.stream_frontiers", "ftl.multi_hash",   "ftl.nvm_sets",     "ftl.static_dimensions",
        "gc.frontier",    "gc.charge_time",       "wear.most_spread", "wear.each"};
    return std::any_of(std::begin(kKeys), std::end(kKeys), [&key](const char* k) { return starts(key, k); });
}

bool has_checkpoints(const DriveCase& c) {
    return c.value("ftl.checkpoint_interval") != "-" || c.value("ftl.checkpoint_at_shutdown") != "-";
}

/// Units that are read ahead of a stream; 0: none.
std::uint64_t ahead_of(const DriveCase& c) {
    if (c.value("ftl.mapping") == "\"dftl\"") return 0;
    return std::min(c.number("read_ahead_units"), c.number("read_cache_units") / 2);
}

/// Write buffer and read cache in one room, which have to have one order.
bool shares_room(const DriveCase& c) {
    if (c.value("read_cache.room") == "-" || c.number("read_cache_units") != 0) return false;
    const bool other = c.value("buffer.order") != "-" && goes_with(c, "buffer.order"),
               lru = other && c.value("buffer.order") == "\"lru\"";
    return c.value("read_cache.replacement") == "\"fifo\"" ? !other : lru;
}

/// Whether a parameter means anything, and is allowed, beside the others.
bool goes_with(const DriveCase& c, const std::string& key) {
    const bool dftl = c.value("ftl.mapping") == "\"dftl\"", fast = c.value("ftl.mapping") == "\"fast\"",
               logs = fast || c.value("ftl.mapping") == "\"block\"";
    const bool frontiers = !logs && c.number("ftl.stream_frontiers") != 0;
    if (key == "nand.two_step") return in_two_steps(c);
    if (in_two_steps(c) && is_out_of_two_steps(key)) return false;
    if (keeps_one_block(c) && is_out_of_one_block(key)) return false;
    if (key == "gc.charge_time") return collects_in_no_time(c);
    if (collects_in_no_time(c) && is_out_of_no_time(key)) return false;
    if (key == "map.gc_updates" || key == "dirty_pages")
        return dftl && c.value(key) != "-" && !(key == "map.gc_updates" && has_checkpoints(c));
    if (key == "map.granularity" && goes_with(c, "map.gc_updates")) return false;
    if (starts(key, "map.")) return dftl;
    if (key == "buffer.prefer_dirty" && !goes_with(c, "dirty_pages")) return false;
    if (key == "buffer.patience" || key == "buffer.prefer_dirty" || key == "firmware.reorder")
        return dftl && c.value("buffer.order") == "\"by_translation_page\"";
    if (key == "buffer.order" && c.value(key) == "\"lru\"")
        return c.value("buffer.mode") != "\"write_through\"" && c.value("buffer.merge_writes") == "-";
    if (key == "buffer.order") return dftl;
    // In no time everything is moved as often as that, which takes the test long.
    if (key == "refresh.age" && c.value(key) == "\"300us\"" && collects_in_no_time(c)) return false;
    // A look at all who wait, after each event of a refresh without end, takes minutes on many planes.
    if (key == "run.check_waiters" && (collects_in_no_time(c) || planes_of(c) > 16) && c.value("refresh.age") != "-")
        return false;
    if (key == "read_ahead.trigger") return ahead_of(c) != 0;
    if (key == "buffer.rest_reads") return c.value("buffer.merge_writes") == "-" || logs;
    if (key == "buffer.merge_writes" || key == "refresh.reads" || key == "refresh.age" || key == "gc.frontier" ||
        key == "gc.least_invalid")
        return !logs;
    if (starts(key, "fast.")) return fast;
    if (key == "nand.t_cache_busy") return c.value("nand.cache_program") == "true";
    if (starts(key, "slc."))
        return !logs && !frontiers && c.number("slc.blocks") + c.number("slc.dynamic_blocks") != 0 &&
               c.number("nand.bits_per_cell") > 1 &&
               c.number("nand.geometry.pages_per_block") >= c.number("nand.bits_per_cell");
    if (starts(key, "ftl.multi_hash") || key == "ftl.stream_frontiers") return frontiers;
    if (starts(key, "gc.random.")) return c.value("gc.policy") == "\"random\"";
    if (starts(key, "gc.windowed")) return c.value("gc.policy") == "\"windowed_greedy\"";
    if (starts(key, "gc.tokens.")) return !logs && c.value("gc.pace") == "\"tokens\"";
    if (key == "factory_bad") return c.value(key) != "-" && c.number("ftl.spare_blocks") != 0;
    if (starts(key, "ftl.checkpoint") || key == "ftl.placement" || key == "gc.frontier" || key == "gc.least_invalid" ||
        key == "gc.pace" || key == "gc.idle_after" || key == "wear.most_spread")
        return !logs;
    if (key == "wear.each") return !logs && c.value("wear.most_spread") != "-";
    if (key == "ftl.superblock") return !logs || c.value(key) != "\"drive\"";
    if (key == "ftl.parity")
        return !logs && c.value("ftl.superblock") == "\"drive\"" && !goes_with(c, "slc.") &&
               planes_of(c) != c.number("nand.geometry.planes_per_die") &&
               !(goes_with(c, "precondition.state") && c.value("precondition.state") == "\"analytic\"");
    if (key == "ftl.static_dimensions")
        return !logs && c.value("ftl.superblock") != "\"drive\"" &&
               (c.value(key).find('P') == std::string::npos || c.value("ftl.superblock") == "\"plane\"");
    if (key == "ftl.nvm_sets") return goes_with_sets(c);
    if (key == "nvme.sgls") return !c.serial_ata;
    if (key == "host.sata.write_cache") return c.value("buffer.mode") == "\"write_back\"";
    if (key == "nvme.metadata") return !c.serial_ata && c.value("run.data") == "\"bytes\"";
    if (key == "buffer.flush_stop") return goes_with(c, "buffer.flush_start") && c.value("buffer.flush_start") != "-";
    // A drive that has become read-only gives up what its buffer holds.
    if (key == "buffer.mode")
        return c.value(key) != "\"protected\"" ||
               (c.value("nand.faults.program_fail") == "-" && c.value("nand.faults.erase_fail") == "-");
    if (key == "buffer.flush_start") return c.value("buffer.mode") != "\"write_through\"";
    if (key == "precondition.fill_caches")
        return c.value("buffer.mode") != "\"write_through\"" && goes_with(c, "precondition.state") &&
               (c.value("precondition.state") == "\"random\"" || c.value("precondition.state") == "\"analytic\"");
    if (key == "precondition.state" && c.value(key) == "\"analytic\"")
        return !logs && c.value("gc.policy") != "\"cost_benefit\"" && c.value("gc.policy") != "\"windowed_greedy\"" &&
               !goes_with_partitions(c) && !goes_with_sets(c);
    if (key == "read_cache.room") return shares_room(c);
    if (key == "read_cache.window") return shares_room(c) && c.value("read_cache.replacement") == "\"cflru\"";
    if (key == "read_cache.replacement" && c.value(key) == "\"cflru\"") return shares_room(c);
    if (key == "read_cache.replacement" || key == "read_cache.fill")
        return c.number("read_cache_units") != 0 || shares_room(c);
    return true;
}

std::uint32_t planes_of(const DriveCase& c) {
    return static_cast<std::uint32_t>(c.number("nand.geometry.channels") * c.number("nand.geometry.ways") *
                                      c.number("nand.geometry.dies_per_chip") *
                                      c.number("nand.geometry.planes_per_die"));
}

std::string bytes_text(std::uint64_t bytes) {
    return "\"" + std::to_string(bytes) + "B\"";
}

std::uint64_t lba_of(const DriveCase& c) {
    return c.value("nvme.lba_size") == "\"4KiB\"" ? 4096 : 512;
}

/// What no single choice says: sizes that have to fit each other.
std::string sizes(const DriveCase& c, std::uint64_t unit) {
    const std::uint64_t page = unit * c.number("units_per_page");
    std::uint64_t transfer = c.number("transfer") * 1024;
    while (transfer < unit + (c.has_metadata() ? unit / lba_of(c) * 8 : 0)) transfer *= 2;
    std::string text =
        "nand.geometry.unit_size = " + bytes_text(unit) + "\nnand.geometry.page_size = " + bytes_text(page) +
        "\nnand.geometry.spare_size = \"64B\"\nnvme.max_transfer = " + bytes_text(transfer) +
        "\nbuffer.size = " + bytes_text(std::max<std::uint64_t>(4096, c.number("buffer_pages") * page * planes_of(c))) +
        "\n";
    const std::string drawn = c.value("soft_hard"), limits = drawn.back() == '1' && !keeps_one_block(c)
                                                                 ? std::string(drawn[0] == '2' ? "3 2" : "4 2")
                                                                 : drawn;
    // In two steps collection goes on in no superblock of an earlier life: so many more losses of power in a row.
    const std::uint64_t more = in_two_steps(c) ? 4 : 0;
    text += "gc.soft_free_blocks = " + std::to_string(std::stoul(limits) + more) +
            "\ngc.hard_free_blocks = " + std::to_string(std::stoul(limits.substr(2)) + more) + "\n";
    if (in_two_steps(c))
        text += "nand.bits_per_cell = 2\nnand.geometry.pages_per_block = " +
                std::to_string(std::max<std::uint64_t>(8, c.number("nand.geometry.pages_per_block"))) + "\n";
    if (goes_with(c, "gc.idle_after") && c.value("gc.idle_after") != "-")
        text += "gc.idle_free_blocks = " + std::to_string(std::stoul(limits) + more + 2) + "\n";
    if (c.number("read_cache_units") != 0)
        text += "read_cache.size = " + bytes_text(c.number("read_cache_units") * unit) + "\n";
    if (ahead_of(c) != 0) text += "read_ahead.depth = " + bytes_text(ahead_of(c) * unit) + "\n";
    if (goes_with(c, "map.")) {
        const std::uint64_t lba = lba_of(c), blocks = transfer / lba, in_unit = unit / lba;
        // The longest command, when it begins with the last block of a unit.
        const std::uint64_t command = blocks == 0 ? 1 : 1 + (blocks - 1 + in_unit - 1) / in_unit;
        const std::uint64_t entries = std::min(c.number("map_entries"), unit / 8), entry = unit / entries;
        const bool by_page = goes_with(c, "map.granularity") && c.value("map.granularity") == "\"page\"";
        const std::uint64_t least = std::max(c.number("nand.geometry.planes_per_die") * c.number("units_per_page"),
                                             by_page ? command / entries + 2 : command);
        text +=
            "map.entry_size = " + bytes_text(std::min<std::uint64_t>(entry, 4096)) + "\nmap.cache = " +
            bytes_text(std::max<std::uint64_t>(
                1024, least * c.number("map_slots") * (by_page ? unit : 2 * std::min<std::uint64_t>(entry, 4096)))) +
            "\n";
    }
    if (goes_with_table_cache(c)) {
        const std::uint64_t line =
            goes_with(c, "map.")
                ? std::max<std::uint64_t>(
                      64, std::min<std::uint64_t>(unit / std::min(c.number("map_entries"), unit / 8), 4096))
                : 64;
        text += "firmware.table_line = " + bytes_text(line) +
                "\nfirmware.table_ways = 2\nfirmware.table_cache = " + bytes_text(2 * line * c.number("table_sets")) +
                "\n";
    }
    if (goes_with(c, "ftl.stream_frontiers")) text += "ftl.streams_by = \"multi_hash\"\n";
    if (c.value("firmware_cycles") == "0")
        for (const ParameterInfo& p : ssd_parameters())
            if (starts(p.key, "firmware.") && p.kind == ParameterKind::integer && p.min == 0 &&
                p.key != "firmware.reorder")
                text += p.key + " = 0\n";
    return text;
}

/// A cache that holds the whole map.
std::string with_whole_map(std::string text, std::uint64_t bytes) {
    const std::size_t at = text.find("map.cache = "), end = text.find('\n', at);
    return text.replace(
        at, end - at, "map.granularity = \"page\"\nmap.cache = " + bytes_text(bytes) + "\nmap.gc_updates = \"found\"");
}

/// So many translation pages more than the least may be dirty; nothing, when these are all.
std::string dirty_bound(std::uint64_t more, const SsdConfig& c) {
    const std::uint64_t least =
        SuperblockShape(c.nand.geometry, c.ftl.superblock).joined() * c.nand.geometry.units_per_page();
    const std::uint64_t pages = translation_pages_of(c.ftl, c.nand.geometry);
    if (least + more >= pages) return "";
    std::ostringstream text;  // with as many digits as a percentage may have
    text << std::fixed << std::setprecision(4) << "map.power_protected = \""
         << 100.0 * static_cast<double>(least + more) / static_cast<double>(pages) << "%\"\n";
    return text.str();
}

std::string with_blocks(const std::string& text, std::uint32_t blocks, std::uint64_t capacity) {
    return text + "nand.geometry.blocks_per_plane = " + std::to_string(blocks) +
           "\nftl.user_capacity = " + bytes_text(capacity) + "\n";
}

/// `device` is complete but for what depends on the number of translation pages.
std::string with_dirty_pages(const DriveCase& c, std::string device) {
    const SsdConfig config = config_of(device);
    const std::uint64_t unit = config.nand.geometry.unit_bytes,
                        pages = translation_pages_of(config.ftl, config.nand.geometry);
    if (goes_with(c, "map.gc_updates")) {
        const std::uint64_t least =
            std::max<std::uint64_t>(config.nvme.max_transfer_bytes / unit / (unit / config.ftl.map.entry_bytes) + 2,
                                    config.nand.geometry.planes_per_die * config.nand.geometry.units_per_page());
        device = with_whole_map(device, std::max<std::uint64_t>(1024, std::max(pages, least) * unit));
    }
    const std::string bound = goes_with(c, "dirty_pages") ? dirty_bound(c.number("dirty_pages"), config) : "";
    if (bound.empty()) return device;
    return device + bound +
           (goes_with(c, "buffer.prefer_dirty") && c.value("buffer.prefer_dirty") != "-"
                ? "buffer.prefer_dirty = true\n"
                : "");
}

}  // namespace

bool DriveCase::has_metadata() const {
    return value("nvme.metadata") != "-" && goes_with(*this, "nvme.metadata");
}

bool DriveCase::loses_power() const {
    return !collects_in_no_time(*this) && !keeps_one_block(*this);
}

std::string DriveCase::device() const {
    const std::uint64_t lba = lba_of(*this), unit = std::max(lba, number("unit") / lba * lba);
    std::string text =
        "name = \"property\"\nnand.t_read = \"40us\"\nnand.t_erase = \"1ms\"\nnvme.ready_time = \"10us\"\n";
    if (loses_power()) text += "host.power_cut_at = [\"1000s\"]\n";
    for (const Choice& c : choices(serial_ata)) {
        const std::string key = c.key, chosen_value = value(key);
        const bool later = key == "map.gc_updates" || key == "buffer.prefer_dirty";  // with_dirty_pages()
        if (key.find('.') != std::string::npos && chosen_value != "-" && !later && goes_with(*this, key))
            text += key + " = " + chosen_value + "\n";
    }
    text += sizes(*this, unit);
    // As many blocks as the drive keeps for itself, and those in use. Some reserves grow with the flash.
    const std::uint32_t in_use = static_cast<std::uint32_t>(number("blocks_in_use"));
    std::uint32_t blocks = 1;
    std::uint64_t most = 0;
    for (int i = 0; i < 20; ++i) {
        const SsdConfig c = [&] {
            ConfigLoader loader;
            loader.add_text(with_blocks(text, 400, unit * 8), "case");
            return loader.finish().config;
        }();
        SsdConfig sized = c;
        sized.nand.geometry.blocks_per_plane = blocks;
        const std::uint32_t needed = reserved_blocks(sized.ftl, sized.nand.geometry) + in_use;
        most = most_logical_units(sized.ftl, sized.nand.geometry);
        if (blocks >= needed && most != 0) break;
        blocks = std::max(blocks + 1, needed);
    }
    std::string whole = with_blocks(text, blocks, std::max<std::uint64_t>(1, most * number("share") / 100) * unit);
    if (goes_with(*this, "factory_bad")) whole += "nand.faults.factory_bad = " + value("factory_bad") + "\n";
    return goes_with(*this, "dirty_pages") || goes_with(*this, "map.gc_updates") ? with_dirty_pages(*this, whole)
                                                                                 : whole;
}

SsdConfig config_of(const std::string& device) {
    ConfigLoader loader;
    loader.add_text(device, "case");
    return loader.finish().config;
}

std::string text_of(const std::string& device, std::uint32_t depth, const std::vector<DriveOp>& ops) {
    std::ostringstream out;
    out << device << "---\ndepth " << depth << "\n";
    for (const DriveOp& o : ops) {
        out << DriveOp::kNames[static_cast<std::size_t>(o.kind)];
        switch (o.kind) {
            case DriveOp::Kind::flush:
            case DriveOp::Kind::drain:
                break;
            case DriveOp::Kind::pause:
                out << " us " << o.us;
                break;
            case DriveOp::Kind::cut:
            case DriveOp::Kind::reset:
            case DriveOp::Kind::off:
                out << " us " << o.us << " again " << o.again << " look " << o.look;
                break;
            case DriveOp::Kind::broken_frame:
                out << " blocks " << o.blocks;
                break;
            case DriveOp::Kind::format:
                out << " us " << o.us;
                break;
            default:
                out << " unit " << o.unit << " block " << o.block << " blocks " << o.blocks
                    << (o.kind == DriveOp::Kind::trim || o.kind == DriveOp::Kind::verify
                            ? " again " + std::to_string(o.again)
                            : "")
                    << (o.kind == DriveOp::Kind::compare || o.kind == DriveOp::Kind::copy ||
                                o.kind == DriveOp::Kind::compare_write
                            ? " us " + std::to_string(o.us)
                            : "")
                    << (o.dma ? " dma 1" : "");
        }
        out << "\n";
    }
    return out.str();
}

DriveText read_case(const std::string& text) {
    DriveText c;
    std::istringstream in(text);
    std::string line;
    while (std::getline(in, line) && line != "---") c.device += line + "\n";
    while (std::getline(in, line)) {
        if (line.empty() || line[0] == '#') continue;
        std::istringstream words(line);
        std::string word;
        words >> word;
        if (word == "depth") {
            words >> c.depth;
            continue;
        }
        DriveOp o;
        const auto at = std::find(DriveOp::kNames.begin(), DriveOp::kNames.end(), word);
        if (at == DriveOp::kNames.end()) throw std::runtime_error("no operation: " + line);
        o.kind = static_cast<DriveOp::Kind>(at - DriveOp::kNames.begin());
        for (std::uint32_t n; words >> word >> n;) {
            if (word == "unit")
                o.unit = n;
            else if (word == "block")
                o.block = n;
            else if (word == "blocks")
                o.blocks = n;
            else if (word == "us")
                o.us = n;
            else if (word == "again")
                o.again = n;
            else if (word == "look")
                o.look = n != 0;
            else if (word == "dma")
                o.dma = n != 0;
            else
                throw std::runtime_error("no word of an operation: " + line);
        }
        c.ops.push_back(o);
    }
    if (c.device.empty()) throw std::runtime_error("no device");
    return c;
}

}  // namespace ssdtlm
