// SPDX-License-Identifier: Apache-2.0
#include "sim/config/effect_notes.h"

#include <algorithm>
#include <iterator>

#include "common/config/condition.h"
#include "host_block/block_layer.h"
#include "host_pcie/driver/host_cpu.h"
#include "host_pcie/driver/prp_builder.h"
#include "sim/config/dram_budget.h"
#include "sim/config/parameters.h"

namespace ssdtlm {
namespace {

const SsdParameter& parameter(const std::string& key) {
    const int i = parameter_index(key);
    SSDTLM_CHECK(i >= 0, "no such parameter: " + key);
    return ssd_parameters()[static_cast<std::size_t>(i)];
}

bool is_option(const std::string& origin) {
    return origin.compare(0, 2, "--") == 0;
}

class Notes {
public:
    explicit Notes(const ResolvedConfig& resolved) : resolved_(resolved), c_(resolved.config) {}

    std::vector<std::string> all() {
        out_ = resolved_.replaced;
        for (const SsdParameter& p : ssd_parameters())
            if (!p.conditions.empty() && is_meant(resolved_, p.key)) conditions(p);
        limits();
        without_protocol();
        return std::move(out_);
    }

private:
    std::string value(const std::string& key) const { return to_text(parameter(key), parameter(key).get(c_)); }

    void add(const std::string& key, const std::string& why) {
        out_.push_back(said_text(resolved_, key) + " has no effect: " + why);
    }

    void conditions(const SsdParameter& p) {
        const auto value_of = [this](const std::string& key) { return value(key); };
        for (const std::string& condition : p.conditions) {
            if (condition_holds(condition, value_of)) continue;
            add(p.key, p.key + " acts only with " + condition_text(condition));
            return;  // the user should repair the first missing condition first
        }
    }

    /// Notes parameters of NVMe, and those of PCIe if there is no PCIe.
    void without_protocol() {
        struct Row {
            const char* kind;
            std::vector<std::string> silent;   ///< keys, or the beginnings of keys
            std::vector<std::string> neutral;  ///< of these, what acts all the same
            const char* has;
        };
        static const std::vector<Row> rows = {
            {"raw",
             {"nvme.", "link.", "host.admin_entries", "host.arbitration", "host.buffer_offset"},
             {"nvme.lba_size", "nvme.max_transfer"},
             "neither a link nor queues of NVMe"},
            {"sata",
             {"nvme.", "host.admin_entries", "host.arbitration", "host.queue_pairs", "host.queue_entries",
              "host.queue_priorities", "host.streams", "scheduler.weighted.", "scheduler.weighted_priorities."},
             {"nvme.lba_size", "nvme.max_transfer"},
             "one queue, and no registers, namespaces or streams of NVMe"},
        };
        const auto row =
            std::find_if(rows.begin(), rows.end(), [&](const Row& r) { return c_.front_end.kind == r.kind; });
        if (row == rows.end()) return;
        for (const SsdParameter& p : ssd_parameters()) {
            const bool protocol = std::any_of(row->silent.begin(), row->silent.end(),
                                              [&](const std::string& begin) { return p.key.rfind(begin, 0) == 0; });
            const bool neutral = std::find(row->neutral.begin(), row->neutral.end(), p.key) != row->neutral.end();
            if (protocol && !neutral && is_meant(resolved_, p.key) && is_option(resolved_.where(p.key)))
                add(p.key, "frontend.kind = \"" + c_.front_end.kind + "\" has " + row->has);
        }
    }

    /// Notes a limit that is never reached because of other parameters.
    void limit(const std::string& key, std::uint64_t given, std::uint64_t used, const std::string& as,
               const std::string& why) {
        if (given > used && is_meant(resolved_, key))
            out_.push_back(said_text(resolved_, key) + " acts as " + as + ": " + why);
    }
    /// The number of commands that a Serial ATA drive takes at a time.
    std::uint64_t sata_tags() const {
        if (value("host.sata.ncq") == "false") return 1;
        return std::min(std::stoull(value("host.sata.queue_depth")), std::stoull(value("frontend.sata.queue_depth")));
    }
    void serial_ata() {
        if (c_.front_end.kind != "sata") return;
        const char* const why =
            value("host.sata.ncq") == "false" ? "host.sata.ncq = false" : "host and drive use what both have";
        for (const char* const key : {"host.sata.queue_depth", "frontend.sata.queue_depth"})
            limit(key, std::stoull(value(key)), sata_tags(), std::to_string(sata_tags()), why);
        const auto bytes = [this](const char* key) {
            return static_cast<std::uint64_t>(parse_quantity(value(key), Dimension::bytes).value);
        };
        if (const std::uint64_t most = c_.nvme.max_transfer_bytes; most != 0)
            limit("host.sata.max_transfer", bytes("host.sata.max_transfer"), most, value("nvme.max_transfer"),
                  "the drive is made for commands of at most nvme.max_transfer");
    }
    /// Notes orders of flash work by tenant, priority or deadline if no command has one.
    void whose_order() {
        const std::string& policy = c_.scheduler.policy;
        const char* why = nullptr;
        if (policy == "earliest_deadline" && c_.nvme.latency_targets.empty())
            why = "nvme.latency_targets gives no deadline";
        if (policy == "weighted" && c_.host.tenants == Tenants::one)
            why = "host.tenants = one: commands belong to no tenant";
        const bool by_owner = policy == "earliest_deadline" || policy == "priority_classes" || policy == "weighted" ||
                              policy == "weighted_priorities";
        if (by_owner && c_.front_end.kind == "sata")
            why = "frontend.kind = \"sata\" has one queue, and the drive cannot tell whose a command is";
        if (why != nullptr && is_meant(resolved_, "scheduler.policy"))
            out_.push_back(said_text(resolved_, "scheduler.policy") + " acts as read_first: " + why);
    }
    void block_layer(const HostConfig& h) {
        const bool sata = c_.front_end.kind == "sata";
        const std::uint64_t slots = sata ? sata_tags() : std::uint64_t{h.queue_pairs} * (h.queue_entries - 1);
        limit("block.queue_depth", h.block.queue_depth, slots, std::to_string(slots),
              sata ? "host and drive have no more tags"
                   : "the queues of host.queue_pairs and host.queue_entries hold no more commands");
        limit("block.queue_depth", h.block.queue_depth, BlockLayer::requests_of(h.block, h.block.queue_depth),
              value("block.nr_requests"), "scheduler and drive hold no more than block.nr_requests");
    }
    void limits() {
        const HostConfig& h = c_.host;
        const NvmeConfig& n = c_.nvme;
        constexpr std::uint64_t kMost = SlotBuffer::kMaxBytes;
        limit("nvme.max_transfer", n.max_transfer_bytes == 0 ? kMost + 1 : n.max_transfer_bytes, kMost,
              format_quantity(static_cast<std::int64_t>(kMost), Dimension::bytes),
              "the driver sends no larger command");
        limit("nvme.max_queue_pairs", n.max_queue_pairs, h.queue_pairs, value("host.queue_pairs"),
              "the driver asks for host.queue_pairs");
        limit("nvme.max_queue_entries", n.max_queue_entries, h.queue_entries, value("host.queue_entries"),
              "the driver's queues have host.queue_entries");
        serial_ata();
        whose_order();
        if (h.block.on()) block_layer(h);
        const HostCpu cpu(h);
        if (h.cores != 0 && !cpu.submits_in_time() && !cpu.completes_in_time() && is_meant(resolved_, "host.cores"))
            add("host.cores", "no command costs CPU time (host.submit_time, host.completion_time)");
        limit("nvme.fetch_window", n.fetch_window, h.queue_entries - 1, std::to_string(h.queue_entries - 1),
              "a queue of host.queue_entries holds no more commands");
        // The page types have an effect only if the types differ in something.
        const NandConfig& nand = c_.nand;
        const bool types = nand.geometry.bits_per_cell != 1 ||
                           is_option(resolved_.where("nand.bits_per_cell"));  // a file says what the part is
        if (types && nand.t_read.size() == 1 && nand.t_program.size() == 1 && !nand.geometry.two_step &&
            c_.ftl.slc.blocks + c_.ftl.slc.dynamic_blocks == 0 && is_meant(resolved_, "nand.bits_per_cell"))
            add("nand.bits_per_cell",
                "nand.t_read and nand.t_program are the same for all page types, and there is no SLC cache");
        const std::uint64_t used = dram_used(c_);
        if (c_.dram.bytes != 0 && c_.dram.rest == DramRest::none)
            limit("dram.size", c_.dram.bytes, used, format_quantity(static_cast<std::int64_t>(used), Dimension::bytes),
                  "write buffer, read cache and map take no more, and dram.rest gives what is left to none of them");
    }

    const ResolvedConfig& resolved_;
    const SsdConfig& c_;
    std::vector<std::string> out_;
};

}  // namespace

bool is_meant(const ResolvedConfig& resolved, const std::string& key) {
    static const SsdConfig kStandard;
    const std::string& origin = resolved.origin[static_cast<std::size_t>(parameter_index(key))];
    if (origin == kDefaultOrigin) return false;
    return is_option(origin) || parameter(key).get(resolved.config) != parameter(key).get(kStandard);
}

std::string said_text(const ResolvedConfig& resolved, const std::string& key) {
    const std::string where = resolved.where(key);
    return is_option(where) ? where
                            : where + ": " + key + " = " + to_text(parameter(key), parameter(key).get(resolved.config));
}

std::vector<std::string> notes_on_effect(const ResolvedConfig& resolved) {
    return Notes(resolved).all();
}

}  // namespace ssdtlm
