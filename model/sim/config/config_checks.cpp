// SPDX-License-Identifier: Apache-2.0
#include "sim/config/config_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

#include "adapter/rtl_onfi_sequencer.h"
#include "adapter/rtl_schedulers.h"
#include "common/config/like.h"
#include "common/config/quantity.h"
#include "common/snapshot/snapshot_file.h"
#include "controller/checkpoint/checkpoint_layout.h"
#include "controller/dram/dram_models.h"
#include "controller/ftl/feature_kind.h"
#include "controller/ftl/ftl_check.h"
#include "controller/ftl/mapping/mapping.h"
#include "controller/map/cached/pages/translation_sizes.h"
#include "controller/mount/map_rebuild.h"
#include "controller/ports/scheduler_port.h"
#include "controller/scheduler/scheduler_registry.h"
#include "controller/streams/stream_choices.h"
#include "nand/onfi/onfi_operation.h"
#include "nand/onfi/onfi_timing.h"
#include "nand/onfi/spare.h"
#include "sim/config/cache_checks.h"
#include "sim/config/collection_checks.h"
#include "sim/config/config_checker.h"
#include "sim/config/media_checks.h"
#include "sim/config/over_provisioning.h"
#include "sim/config/saved_drive.h"

namespace ssdtlm {
namespace {
constexpr double kLeastInvalid = 0.01;  // the smallest whole percent, which a message proposes

__extension__ using Wide = unsigned __int128;

std::string size_text(std::uint64_t bytes) {
    return format_quantity(static_cast<std::int64_t>(bytes), Dimension::bytes);
}

std::string share_text(double share) {
    return format_quantity(std::llround(share * 1e6), Dimension::percent);
}

constexpr double kMostShare = 100;                // the range of ftl.over_provisioning ends here
constexpr std::uint64_t kLeastCapacity = 4096;    // the range of ftl.user_capacity begins here
constexpr std::uint32_t kMostBlocks = 1'000'000;  // the range of nand.geometry.blocks_per_plane ends here

class Checker final : private ConfigChecker {
public:
    explicit Checker(const ResolvedConfig& resolved) : ConfigChecker(resolved) {}

    std::vector<Problem> run() {
        host_and_nvme();
        link();
        const bool geometry_fits = geometry();
        nand();
        scheduler();
        channel();
        add(check_collection(resolved_));
        dram();
        if (geometry_fits && map_entries_fit()) {
            capacity();
            add(check_caches(resolved_));
            cached_map();
            add(check_media(resolved_));
            power_cuts();
            resets();
            serial_ata();
            saved_drive();
        }
        // The FTL checks its own rules as well, in case one of them is missing here.
        if (out_.empty()) out_ = check_ftl(c_.ftl, c_.nand.geometry);
        return std::move(out_);
    }

private:
    void at_most(const std::string& key, std::uint64_t v, const std::string& limit_key, std::uint64_t limit) {
        if (v > limit) {
            add(key, value(key) + " is more than " + limit_key + " = " + value(limit_key),
                "at most " + value(limit_key), "lower it, or raise " + limit_key);
        }
    }

    void saved_drive() {
        if (c_.run.drive.empty()) return;
        try {
            SnapshotReader file(c_.run.drive);
            const std::size_t before = out_.size();
            for (const std::string& difference : differences_from_saved(c_, file.text()))
                add("precondition.from", difference, "the same value",
                    "set it as it was, or save a drive that is as this one");
            if (out_.size() == before) file.check_rest();
        } catch (const UserError& e) {
            for (const Problem& p : e.problems())
                add("precondition.from", p.where + ": " + p.found, p.allowed, p.repair);
        }
        if (c_.run.data == DataMode::bytes && c_.run.integrity)
            add("precondition.from", "a saved drive with run.data = \"bytes\" and run.integrity = true",
                "signatures, or no check: what the host has written is not saved as bytes",
                "set run.integrity = false");
    }

    void host_and_nvme() {
        const HostConfig& h = c_.host;
        const NvmeConfig& n = c_.nvme;
        const bool speaks_nvme = c_.front_end.kind == "nvme";
        at_most("host.cores", h.cores, "host.queue_pairs", h.queue_pairs);
        if (speaks_nvme) {
            at_most("host.queue_pairs", h.queue_pairs, "nvme.max_queue_pairs", n.max_queue_pairs);
            at_most("host.queue_entries", h.queue_entries, "nvme.max_queue_entries", n.max_queue_entries);
            at_most("nvme.fetch_burst", n.fetch_burst, "nvme.fetch_window", n.fetch_window);
        }
        if (speaks_nvme && (n.interrupt_coalescing_threshold == 0) != (n.interrupt_coalescing_time == 0)) {
            const bool threshold = n.interrupt_coalescing_threshold != 0;
            const std::string set =
                threshold ? "nvme.interrupt_coalescing_threshold" : "nvme.interrupt_coalescing_time";
            const std::string zero =
                threshold ? "nvme.interrupt_coalescing_time" : "nvme.interrupt_coalescing_threshold";
            add(set, value(set) + " has no effect while " + zero + " is 0", "both above 0, or both 0",
                "set " + zero + " too");
        }
        if (c_.ftl.streams_by != "host" && c_.ftl.stream_frontiers == 0)
            add("ftl.streams_by", value("ftl.streams_by") + " has no effect while ftl.stream_frontiers = 0",
                "\"host\", or ftl.stream_frontiers above 0", "set ftl.stream_frontiers");
        if (c_.ftl.streams_by != "host" && c_.ftl.stream_frontiers != 0) {
            try {
                make_stream_choice(c_.ftl, 1);
            } catch (const UserError& e) {
                for (const Problem& p : e.problems()) add(p.where, p.found, p.allowed, p.repair);
            }
        }
        if (c_.ftl.streams_by == "host" && c_.ftl.stream_frontiers > c_.nvme.streams)
            add("ftl.stream_frontiers", value("ftl.stream_frontiers") + " streams with superblocks of their own",
                "at most nvme.streams = " + std::to_string(c_.nvme.streams),
                "lower it, or raise nvme.streams (and set host.streams = true)");
        if (h.streams && n.streams == 0)
            add("host.streams", "the drive has no streams (nvme.streams = 0)", "on only for a drive with streams",
                "set nvme.streams, 4 for example");
        if (h.tenants == Tenants::one && h.queue_priorities.size() > 1)
            add("host.queue_priorities",
                "names " + std::to_string(h.queue_priorities.size()) + " tenants, but there is one",
                "at most one priority with host.tenants = \"one\"", "set host.tenants = \"by_job\"");
        if (speaks_nvme && h.arbitration == QueueArbitration::weighted && !n.weighted_round_robin)
            add("host.arbitration", "\"weighted\", and the drive has no weighted round robin (CAP.AMS)",
                "\"round_robin\", or a drive with nvme.weighted_round_robin", "set nvme.weighted_round_robin = true");
        if (h.arbitration_weights.size() != 3)
            add("host.arbitration_weights", std::to_string(h.arbitration_weights.size()) + " numbers",
                "three: for queues of high, medium and low priority", "write [8, 4, 1], for example");
        if (h.tenants == Tenants::one && !n.fetch_windows.empty())
            add("nvme.fetch_windows",
                value("nvme.fetch_windows") + " with host.tenants = \"one\", where queues belong to no tenant",
                "tenants by job", "set host.tenants = \"by_job\"");
        if (speaks_nvme && n.metadata && c_.run.data != DataMode::bytes)
            add("nvme.metadata", "true with run.data = \"signatures\": metadata and guards are made of real bytes",
                "false, or run.data = \"bytes\"", "set run.data = \"bytes\", or nvme.metadata = false");
        if (n.latency_targets.size() > 4)
            add("nvme.latency_targets", std::to_string(n.latency_targets.size()) + " targets",
                "at most 4, one for each priority", "leave out what is behind the fourth");
    }

    void link() {
        const LinkConfig& l = c_.link;
        at_most("link.completion_payload", l.completion_payload_bytes, "link.max_payload", l.max_payload_bytes);
        // PCIe base specification: a receiver advertises room for at least one largest payload.
        if (l.upstream_posted_data * std::uint64_t{16} < l.max_payload_bytes) {
            add("link.upstream_posted_data",
                value("link.upstream_posted_data") + " credits of 16 B are less than one payload of " +
                    value("link.max_payload"),
                "at least " + std::to_string(l.max_payload_bytes / 16), "raise it, or lower link.max_payload");
        }
        // Scaled flow control and 10-bit tags came with PCIe 4.0.
        if (l.generation >= 4) return;
        const auto old_limit = [&](const char* key, std::uint32_t v, std::uint32_t limit, const char* why) {
            if (v <= limit) return;
            add(key, std::to_string(v) + " is more than generation " + std::to_string(l.generation) + " can have",
                "at most " + std::to_string(limit) + why, "lower it, or set link.generation to 4 or more");
        };
        const char* unscaled = " without scaled flow control";
        old_limit("link.read_tags", l.read_tags, 256, " with 8-bit tags");
        old_limit("link.upstream_posted_headers", l.upstream_posted_headers, 127, unscaled);
        old_limit("link.upstream_posted_data", l.upstream_posted_data, 2047, unscaled);
        old_limit("link.upstream_nonposted_headers", l.upstream_nonposted_headers, 127, unscaled);
        old_limit("link.downstream_posted_headers", l.downstream_posted_headers, 127, unscaled);
        old_limit("link.downstream_posted_data", l.downstream_posted_data, 2047, unscaled);
        old_limit("link.downstream_nonposted_headers", l.downstream_nonposted_headers, 127, unscaled);
    }

    /// False: sizes derived from the geometry would be meaningless.
    bool geometry() {
        const NandGeometry& g = c_.nand.geometry;
        const std::size_t before = out_.size();
        const std::string page = "nand.geometry.page_size", unit = "nand.geometry.unit_size";
        if (g.page_bytes % g.unit_bytes != 0) {
            add(page, value(page) + " is not a multiple of " + unit + " = " + value(unit),
                "whole mapping units in a page", "change one of the two");
        } else if (g.units_per_page() > kMaxUnitsPerPage) {
            add(unit,
                value(unit) + " makes " + std::to_string(g.units_per_page()) + " units in a page of " + value(page),
                "at most " + std::to_string(kMaxUnitsPerPage), "use a larger unit");
        }
        if (g.unit_bytes % c_.nvme.lba_bytes != 0) {
            add(unit, value(unit) + " is not a multiple of nvme.lba_size = " + value("nvme.lba_size"),
                "whole logical blocks in a unit", "change one of the two");
        }
        const std::uint64_t dies = std::uint64_t{g.ways} * g.dies_per_chip;
        if (dies > kMaxDiesPerChannel) {
            add("nand.geometry.ways",
                std::to_string(g.ways) + " ways of " + std::to_string(g.dies_per_chip) + " dies are " +
                    std::to_string(dies) + " dies on a channel",
                "at most " + std::to_string(kMaxDiesPerChannel), "use more channels");
        }
        if (out_.size() != before) return false;
        const Wide units =
            Wide{g.channels} * dies * g.planes_per_die * g.blocks_per_plane * g.pages_per_block * g.units_per_page();
        if (units > kMostUnits) {
            add("nand.geometry.blocks_per_plane",
                value("nand.geometry.blocks_per_plane") +
                    " makes more mapping units than can "
                    "be addressed",
                "2^32 - 2^20 units of " + value(unit) + " in all",
                "use a larger nand.geometry.unit_size or less flash");
            return false;
        }
        return true;
    }

    void nand() {
        const NandConfig& n = c_.nand;
        const auto per_type = [&](const std::string& key, std::size_t count) {
            if (count == 1 || count == n.geometry.bits_per_cell) return;
            add(key, std::to_string(count) + " values for " + std::to_string(n.geometry.bits_per_cell) + " page types",
                "one value, or one for each of the nand.bits_per_cell = " + std::to_string(n.geometry.bits_per_cell) +
                    " types",
                "");
        };
        per_type("nand.t_read", n.t_read.size());
        per_type("nand.t_program", n.t_program.size());
        if (opcode_in_use(n.slc.prefix)) {
            std::string used;
            for (unsigned opcode = 0; opcode < 256; ++opcode)
                if (opcode_in_use(static_cast<std::uint8_t>(opcode)))
                    used += (used.empty() ? "" : ", ") + std::to_string(opcode);
            add("nand.slc.prefix", value("nand.slc.prefix") + " is a command of another operation", "none of " + used,
                "A2h is 162");
        }
        const OnfiInterfaceLimit& limit = onfi_interface_limit(n.onfi.interface);
        if (n.onfi.megatransfers > limit.max_megatransfers) {
            add("nand.onfi.rate", std::to_string(n.onfi.megatransfers) + "MT/s is more than " + limit.name + " can do",
                "at most " + std::to_string(limit.max_megatransfers) + "MT/s (" + limit.source + ")",
                "lower it, or choose another nand.onfi.interface");
        }
    }

    void channel() {
        const ChannelConfig& channel = c_.channel;
        const std::uint32_t channels = c_.nand.geometry.channels;
        for (const std::uint32_t ch : channel.rtl_sequencer) {
            if (ch >= channels)
                add("channel.rtl_sequencer", "there is no channel " + std::to_string(ch),
                    "0 to " + std::to_string(channels - 1), "");
        }
        if (!channel.rtl_sequencer.empty()) try_out([&] { RtlOnfiSequencer(c_.nand, channel.sequencer_hertz); });
    }

    void resets() {
        if (c_.front_end.kind == "raw" && !c_.host.reset_at.empty())
            add("host.reset_at", "resets with frontend.kind = \"raw\"", "no resets: they belong to a protocol",
                "leave it out, or set frontend.kind to \"nvme\"");
    }

    void serial_ata() {
        if (c_.front_end.kind != "sata") return;
        if (c_.host.completion == CompletionBy::poll)
            add("host.completion", "\"poll\" with frontend.kind = \"sata\"",
                "\"interrupt\": libata has no way to poll (no mq_poll in Linux include/linux/libata.h)",
                "leave it out");
        if (value("host.sata.write_cache") != "as_is" && c_.ftl.buffer_mode != BufferMode::write_back)
            add("host.sata.write_cache",
                "\"" + value("host.sata.write_cache") + "\", and the drive refuses it: buffer.mode = \"" +
                    value("buffer.mode") + "\" is no volatile write cache",
                "\"as_is\"", "leave it out, or set buffer.mode = \"write_back\"");
        if (!c_.host.queue_priorities.empty())
            add("host.queue_priorities", value("host.queue_priorities") + " with frontend.kind = \"sata\"",
                "none: the drive has one queue, and cannot tell whose a command is",
                "leave it out; block.scheduler knows priorities of jobs");
    }

    void power_cuts() {
        std::vector<Ps> at = c_.host.power_cut_at;
        if (at.empty()) return;
        const std::string key = "host.power_cut_at";
        std::sort(at.begin(), at.end());
        if (const auto may = fault_kinds(c_.faults, c_.nand.geometry);
            c_.ftl.buffer_mode == BufferMode::power_protected && (may.programs || may.erases))
            add("buffer.mode", "\"protected\" with host.power_cut_at and programs or erases that fail",
                "write_back or write_through: with failing flash a drive may become read-only and give up what its "
                "buffer holds, although it counts as protected",
                "set it to one of these, set nand.faults.program_fail, nand.faults.erase_fail and "
                "nand.faults.pe_limit to 0, or leave out host.power_cut_at");
        for (std::size_t i = 1; i < at.size(); ++i) {
            if (at[i] - at[i - 1] > c_.host.power_off_time) continue;
            add(key,
                "the losses of power at " + time_text(at[i - 1]) + " and " + time_text(at[i]) + " are " +
                    time_text(at[i] - at[i - 1]) + " apart",
                "more than host.power_off_time = " + value("host.power_off_time"),
                "put them further apart, or lower host.power_off_time");
            break;
        }
        if (c_.front_end.kind != "nvme") return;  // other front ends have no time limit until they are ready
        constexpr Ps kLongest{255 * 500'000'000'000};
        const Ps scan =
            c_.nvme.ready_time +
            MapRebuild::longest(c_.nand, c_.ecc.decode_time,
                                fault_kinds(c_.faults, c_.nand.geometry).any() ? 1u + c_.ecc.read_retries : 1u,
                                c_.firmware, c_.ftl);
        if (scan > kLongest)
            add(key, fmt::format("the search for the map may take {:.1f} s", to_seconds(scan)),
                "at most " + time_text(kLongest) + " (CAP.TO)", "use a smaller drive or faster flash");
    }

    /// Checks limits that only the Verilated blocks know, such as their largest parameters, and that this program has
    /// such blocks.
    void scheduler() {
        suspend();
        if (c_.scheduler.implementation == "tlm") return;
        const SchedulerShape shape = scheduler_shape(c_.nand);
        const auto agenda = std::make_unique<Agenda>();
        try_out([&] { make_scheduler(c_.scheduler, shape, *agenda, rtl_schedulers()); });
    }
    void suspend() {
        if (c_.scheduler.suspend == "never") return;
        if (c_.scheduler.implementation != "tlm")
            add("scheduler.suspend",
                value("scheduler.suspend") + " with scheduler.implementation = " + value("scheduler.implementation"),
                "scheduler.implementation = \"tlm\": clocked schedulers do not know suspended dies",
                "set scheduler.implementation = \"tlm\"");
        if (!c_.channel.rtl_sequencer.empty())
            add("scheduler.suspend", value("scheduler.suspend") + " with channel.rtl_sequencer",
                "no suspend on channels with an RTL sequencer, which cannot play it", "set channel.rtl_sequencer = []");
    }
    /// Builds something that checks its own configuration, unless that is known to be wrong.
    template <class Build>
    void try_out(Build build) {
        if (!out_.empty()) return;
        try {
            build();
        } catch (const UserError& e) {
            for (const Problem& p : e.problems()) add(p.where, p.found, p.allowed, p.repair);
        }
    }

    void dram() {
        const auto agenda = std::make_unique<Agenda>();
        try_out([&] { make_dram(c_.dram, *agenda); });
    }

    void namespaces(std::uint64_t drive_bytes) {
        constexpr std::size_t kMost = 1024;  // the most that the driver's list holds
        const std::string key = "nvme.namespaces";
        const std::vector<std::uint64_t>& sizes = c_.nvme.namespaces;
        std::uint64_t sum = 0;
        for (const std::uint64_t bytes : sizes) {
            if (bytes % c_.nvme.lba_bytes != 0)
                return add(key,
                           value(key) + ", of which one is not a multiple of nvme.lba_size = " + value("nvme.lba_size"),
                           "whole logical blocks", "");
            sum += bytes;
        }
        if (sizes.size() >= kMost)
            add(key, std::to_string(sizes.size()) + " sizes, and one namespace more", "at most 1024 namespaces", "");
        if (sum >= drive_bytes)
            add(key, value(key) + ", which leaves nothing for the last",
                "less than the drive's " + std::to_string(drive_bytes) + " bytes in all", "lower them");
    }

    void capacity() {
        const NandGeometry& g = c_.nand.geometry;
        const std::string key = "ftl.user_capacity";
        if (c_.ftl.user_capacity_bytes % c_.nvme.lba_bytes != 0) {
            add(key, value(key) + " is not a multiple of nvme.lba_size = " + value("nvme.lba_size"),
                "whole logical blocks", "");
            return;
        }
        namespaces(logical_units_of(c_.ftl, g) * g.unit_bytes);
        const std::uint64_t most = most_logical_units(c_.ftl, g);
        if (logical_units_of(c_.ftl, g) <= most) return;
        const std::uint32_t checkpoints = CheckpointLayout(c_.ftl, g).per_group();
        const std::uint32_t features = needs_of(c_.ftl, g).apart - c_.ftl.slc.blocks;
        const std::uint32_t open = reserved_blocks(c_.ftl, g) - threshold_reached(c_.ftl) - c_.ftl.spare_blocks -
                                   checkpoints - c_.ftl.slc.blocks - features;
        const auto mapping = mapping_of(c_.ftl, g);
        const std::uint32_t logs = mapping->log_blocks(),
                            journal = mapping->places_by_blocks() ? journal_blocks(c_.ftl, g) : 0;
        const std::string sum =
            " (" + std::string(threshold_key(c_.ftl)) + " + " + std::to_string(open - logs - journal) +
            (logs == 0
                 ? ""
                 : " + " + std::to_string(logs) + " log blocks + " + std::to_string(journal) + " for the journal") +
            (c_.ftl.spare_blocks == 0 ? "" : " + ftl.spare_blocks") +
            (checkpoints == 0 ? "" : " + " + std::to_string(checkpoints) + " for checkpoints") +
            (c_.ftl.slc.blocks == 0 ? "" : " + slc.blocks") +
            (features == 0 ? "" : " + " + std::to_string(features) + " for other features") + ")";
        const std::string reserve = std::to_string(reserved_blocks(c_.ftl, g));
        if (most * g.unit_bytes < kLeastCapacity) {
            add("nand.geometry.blocks_per_plane",
                std::to_string(g.blocks_per_plane) + " blocks are not enough for a reserve of " + reserve + sum,
                enough_blocks() == 0 ? "blocks with more pages, or fewer that are kept free"
                                     : "at least " + std::to_string(enough_blocks()),
                (enough_blocks() == 0 ? "raise nand.geometry.pages_per_block, or " : "raise it, or ") +
                    fewer_kept_free());
            return;
        }
        const std::string said = shares_say(most) ? "ftl.over_provisioning" : key;
        add(said,
            value(said) + " leaves too little over-provisioning in " + round_size_like(g.raw_bytes(), value(key)) +
                " of flash",
            limit_of_capacity(most) + ": each plane keeps " + reserve + " of its " +
                std::to_string(g.blocks_per_plane) + " blocks" + sum +
                (c_.ftl.parity == Parity::none
                     ? ""
                     : ", and one of " + std::to_string(g.dies()) + " dies takes parity (ftl.parity)"),
            (shares_say(most) ? "raise it, lower " : "lower it or ") + std::string(threshold_key(c_.ftl)) +
                ", or add flash" + with_least_invalid());
    }

    /// True: the spare was given as a share, and a share within its range is enough.
    bool shares_say(std::uint64_t most_units) const {
        return c_.over_provisioning != 0 &&
               least_over_provisioning(c_, most_units * c_.nand.geometry.unit_bytes) <= kMostShare;
    }
    /// The limit of the capacity as an accepted value, in the form in which the user gave it.
    std::string limit_of_capacity(std::uint64_t most_units) const {
        const std::uint64_t most = most_units * c_.nand.geometry.unit_bytes;
        return shares_say(most_units) ? "at least " + share_text(least_over_provisioning(c_, most))
                                      : "at most " + block_size_like(most, value("ftl.user_capacity"));
    }

    /// A hint at gc.least_invalid, which allows a larger capacity, because the soft threshold need not be reached then.
    std::string with_least_invalid() const {
        if (c_.ftl.gc_least_invalid != 0.0 || c_.ftl.gc_soft_free_blocks <= c_.ftl.gc_hard_free_blocks) return "";
        FtlConfig other = c_.ftl;
        other.gc_least_invalid = kLeastInvalid;
        const std::uint64_t most = most_logical_units(other, c_.nand.geometry);
        if (limit_of_capacity(most) == limit_of_capacity(most_logical_units(c_.ftl, c_.nand.geometry))) return "";
        const bool enough = logical_units_of(c_.ftl, c_.nand.geometry) <= most;
        return "; with gc.least_invalid = \"1%\" " +
               (enough ? std::string("it is accepted")
                       : limit_of_capacity(most) + (shares_say(most) ? " is" : " are")) +
               ", because the soft threshold need not be reached then";
    }

    /// False: the map's entries do not fit its pages, so figures derived from them would be meaningless.
    bool map_entries_fit() {
        const NandGeometry& g = c_.nand.geometry;
        if (!mapping_of(c_.ftl, g)->is_on_flash() || g.unit_bytes % c_.ftl.map.entry_bytes == 0) return true;
        add("map.entry_size",
            value("map.entry_size") + " in a translation page of nand.geometry.unit_size = " + size_text(g.unit_bytes),
            "whole entries in a page, for example 8B", "change one of the two");
        return false;
    }

    /// The fewest blocks of a plane that leave room for the least capacity. The number of blocks that are kept free
    /// grows as well, but more slowly.
    std::uint32_t enough_blocks() const {
        const auto is_enough = [this](std::uint32_t blocks) {
            FtlConfig ftl = c_.ftl;
            NandGeometry g = c_.nand.geometry;
            g.blocks_per_plane = blocks;
            follow_used_shares(ftl, g);
            return most_logical_units(ftl, g) * g.unit_bytes >= kLeastCapacity;
        };
        std::uint32_t few = c_.nand.geometry.blocks_per_plane, enough = kMostBlocks;
        if (!is_enough(enough)) return 0;
        while (enough - few > 1) {
            const std::uint32_t middle = few + (enough - few) / 2;
            (is_enough(middle) ? enough : few) = middle;
        }
        return enough;
    }

    /// A hint at the threshold in the form in which it was given: in blocks, or as the share of blocks in use.
    std::string fewer_kept_free() const {
        const bool hard = c_.ftl.gc_least_invalid != 0.0;
        if ((hard ? c_.ftl.gc_hard_used_percent : c_.ftl.gc_soft_used_percent) == 0)
            return std::string("lower ") + threshold_key(c_.ftl);
        return hard ? "raise gc.hard_used" : "raise gc.soft_used";
    }

    /// Checks a map that is not completely in memory.
    void cached_map() {
        const NandGeometry& g = c_.nand.geometry;
        if (!mapping_of(c_.ftl, g)->is_on_flash()) return;
        const MapConfig& m = c_.ftl.map;
        // A command, and a row of pages that are programmed together, hold their map entries at the same time. The
        // entries of a row may all be in different translation pages.
        const std::uint64_t row = std::uint64_t{SuperblockShape(g, c_.ftl.superblock).joined()} * g.units_per_page();
        const bool by_page = m.granularity == MapGranularity::page;
        const std::uint64_t entry = by_page ? g.unit_bytes : 2 * m.entry_bytes;
        // The first and the last block of the longest command may be one block of a unit each.
        const std::uint64_t lba = c_.nvme.lba_bytes, blocks = c_.nvme.max_transfer_bytes / lba,
                            unit = g.unit_bytes / lba;
        const std::uint64_t transfer = (blocks + unit - 2) / unit + 1;
        const std::uint64_t command = by_page ? transfer / entries_per_translation_page(c_.ftl, g) + 2 : transfer;
        if (c_.nvme.max_transfer_bytes == 0)
            add("nvme.max_transfer", "no limit, with ftl.mapping = \"" + c_.ftl.mapping + "\"",
                "a size: the map's cache holds the entries of a whole command", "set it to \"1MiB\"");
        else if (m.cache_bytes < std::max(row, command) * entry)
            add("map.cache",
                value("map.cache") + " has room for " + std::to_string(m.cache_bytes / entry) +
                    " entries; a command of nvme.max_transfer = " + value("nvme.max_transfer") + " needs " +
                    std::to_string(command) + " of them at a time, a row of pages " + std::to_string(row),
                "at least " + size_text(std::max(row, command) * entry), "raise it, or lower nvme.max_transfer");
    }
};

}  // namespace

std::vector<Problem> check_config(const ResolvedConfig& resolved) {
    return Checker(resolved).run();
}

}  // namespace ssdtlm
