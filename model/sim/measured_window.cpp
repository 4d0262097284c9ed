// SPDX-License-Identifier: Apache-2.0
// Takes figures at both edges of the measured window, and computes the figures of the time between.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "controller/slc/slc_feature.h"
#include "sim/limits/limits.h"
#include "sim/simulation.h"

namespace ssdtlm {

Simulation::Edge Simulation::edge() const {
    return {system_->busy(),
            system_->device.controller.ftl->counters(),
            system_->device.controller.ftl->set_counts(),
            latency_.all_bytes(HostOp::write),
            system_->map_counters(),
            system_->counters(),
            system_->device.controller.backend.flow_waits(),
            system_->host.driver.block_uses()};
}

SteadyCounts Simulation::steady_counts() const {
    const Ftl& ftl = *system_->device.controller.ftl;
    SteadyCounts c;
    for (const HostOp op : {HostOp::read, HostOp::write, HostOp::trim, HostOp::flush}) {
        c.commands += latency_.all_count(op);
        c.latency += latency_.all_latency(op);
    }
    c.read_bytes = latency_.all_bytes(HostOp::read);
    c.written_bytes = latency_.all_bytes(HostOp::write);
    c.nand_bytes = ftl.counters().pages_programmed() * ftl.geometry().page_bytes;
    c.erased_blocks = ftl.counters().blocks_erased;
    if (std::as_const(*system_->device.controller.firmware).cached_map() != nullptr) {
        const CachedMap::Counters map = system_->map_counters();
        c.map_lookups = map.hits + map.misses;
    }
    if (const ReadCache* const cache = system_->device.controller.firmware->read_cache()) {
        const ReadCache::Counters &now = cache->counters(), &before = system_->device.controller.earlier().read_cache;
        c.cache_hits = now.hits + before.hits;
        c.cache_lookups = c.cache_hits + now.misses + before.misses;
    }
    for (std::uint32_t p = 0; p < ftl.geometry().planes(); ++p) c.free_blocks += ftl.free_blocks(PlaneId{p});
    return c;
}

KeptByDrive Simulation::kept_by_drive() const {
    const SsdController& c = system_->device.controller;
    const FtlConfig& config = system_->config.ftl;
    KeptByDrive kept;
    if (config.buffer_mode != BufferMode::write_through) kept.write_buffer_bytes = config.buffer_bytes;
    kept.read_cache_bytes = config.read_cache.bytes;
    if (read_spread_) kept.read_spread = read_spread_->bytes();
    if (const auto* const slc = c.ftl->feature<SlcFeature>())
        kept.slc_bytes = std::uint64_t{slc->cache().pages()} * (config.slc.blocks + config.slc.dynamic_blocks) *
                         c.ftl->shape().groups() * c.ftl->geometry().page_bytes;
    if (const CachedMap* map = std::as_const(*c.firmware).cached_map()) kept.map_entries = map->table().size();
    return kept;
}

BlockFigures Simulation::summarise_block(const BlockLayer& block) const {
    BlockFigures f;
    f.scheduler = system_->config.host.block.scheduler;
    f.queue_depth = block.queue_depth();
    f.nr_requests = block.nr_requests();
    f.counters = block.counters();
    f.window = end_.busy.at - begin_.busy.at;
    for (std::size_t i = 0; i < end_.block.size(); ++i) {
        BlockFigures::Context c;
        c.name = i < options_.context_names.size() ? options_.context_names[i] : std::to_string(i + 1);
        c.weight = block.contexts().weights()[i];
        c.use = end_.block[i] - (i < begin_.block.size() ? begin_.block[i] : ContextUse{});
        if (const Nass* const nass = block.nass(); nass != nullptr) {
            c.limit = nass->limit(static_cast<std::uint32_t>(i));
            c.least_limit = nass->least_limit(static_cast<std::uint32_t>(i));
        }
        f.contexts.push_back(std::move(c));
    }
    if (block.nass() != nullptr) f.nass_windows = block.nass()->model().windows();
    if (block.scheduler() != nullptr)
        for (const auto& [name, value] : block.scheduler()->figures()) f.scheduler_counts.emplace_back(name, value);
    return f;
}

void Simulation::begin_measurement() {
    begin_ = edge();
    history_.begin(SimTime{begin_.busy.at - system_->host.driver.epoch()}, steady_counts());
    if (die_queues_)
        die_queues_->begin(static_cast<std::uint64_t>((begin_.busy.at - system_->host.driver.epoch()) /
                                                      system_->config.run.timeseries_interval));
}

void Simulation::end_measurement() {
    limits_->stop();
    end_ = edge();
    if (window_ == Window::ramp) begin_ = end_;  // nothing was measured
    history_.end(workload_end_, steady_counts());
    if (series_) series_->stop();
}

namespace {

/// Describes the work of the dies between two sums, except for the host's reads and writes. Kinds below 1 % are left
/// out.
std::string background_of(const BusyMeter::Totals& from, const BusyMeter::Totals& to) {
    static constexpr std::array<const char*, kBusyKinds> kNames = {"",
                                                                   "",
                                                                   "garbage collection",
                                                                   "the map",
                                                                   "erases",
                                                                   "reads of units that the host writes in part",
                                                                   "folding of the SLC cache",
                                                                   "moves for wear, age or failures",
                                                                   "merges of log blocks",
                                                                   "the journal",
                                                                   "parity",
                                                                   "padding",
                                                                   "checkpoints"};
    double all = 0;
    for (std::size_t k = 0; k < kBusyKinds; ++k) all += static_cast<double>(to[k] - from[k]);
    std::string text;
    for (std::size_t k = 0; k < kBusyKinds; ++k) {
        const double share = all > 0 ? static_cast<double>(to[k] - from[k]) / all : 0;
        if (*kNames[k] != 0 && share >= 0.01)
            text += fmt::format("{}{:.0f} % {}{}", text.empty() ? "" : ", ", 100 * share, text.empty() ? "is " : "",
                                kNames[k]);
    }
    return text;
}

/// True: the dies spent at least half of their work between two sums on reads of the host.
bool reads_are_most(const BusyMeter::Totals& from, const BusyMeter::Totals& to) {
    constexpr auto kReads = static_cast<std::size_t>(BusyKind::host_read);
    std::int64_t all = 0;
    for (std::size_t k = 0; k < kBusyKinds; ++k) all += to[k] - from[k];
    return 2 * (to[kReads] - from[kReads]) >= all;
}

/// True: no command spent time at the flash, and none is a flush. So dies and buses only drain the write buffer.
bool only_buffered_writes(const std::vector<LatencyStats::Row>& rows) {
    static const std::array<std::string, 5> kAtTheFlash = {"mapping", "scheduler", "channel", "array", "ecc"};
    const auto of_flash = [](const LatencyStats::Row& row) {
        return row.stage.rfind("die_wait", 0) == 0 || row.stage == "channel_wait" ||
               std::find(kAtTheFlash.begin(), kAtTheFlash.end(), row.stage) != kAtTheFlash.end();
    };
    return !rows.empty() && std::none_of(rows.begin(), rows.end(), [&](const LatencyStats::Row& row) {
        return row.op == "flush" || (of_flash(row) && row.mean > 0);
    });
}

}  // namespace

void Simulation::judge(RunSummary& r) const {
    const SsdSystem& s = *system_;
    const auto& all_taken = limits_->all_taken();
    const bool most = all_taken && 2 * (all_taken->at - begin_.busy.at) > end_.busy.at - begin_.busy.at;
    const SsdSystem::BusySnapshot& end = most ? *all_taken : end_.busy;
    r.resources_limit = s.use(begin_.busy, end);
    WaitShares shares = limits_->shares();
    // A read for an idle plane waits only if a program or an erase waits for the whole die. Without these, the busy
    // shares of the planes are enough.
    if (s.config.nand.independent_plane_read && r.ftl.host_pages + r.ftl.gc_pages == 0)
        shares[static_cast<std::size_t>(WaitKind::flash_work)] = 0;
    const double planes = s.config.nand.geometry.planes(), seconds = to_seconds(end.at - begin_.busy.at);
    const auto counted = [&](WaitKind kind, Ps before, Ps after, double members = 1) {
        if (seconds > 0)
            shares[static_cast<std::size_t>(kind)] =
                std::clamp(to_seconds(after - before) / (members * seconds), 0.0, 1.0);
    };
    const CreditStalls &up = begin_.busy.up_stalls, &down = begin_.busy.down_stalls;
    counted(WaitKind::look_ahead, begin_.busy.look_ahead, end.look_ahead, planes);
    counted(WaitKind::read_credits, up.reads, end.up_stalls.reads);
    counted(WaitKind::headers_up, up.posted_headers, end.up_stalls.posted_headers);
    counted(WaitKind::data_up, up.posted_data, end.up_stalls.posted_data);
    counted(WaitKind::writes_up, up.posted, end.up_stalls.posted);
    counted(WaitKind::headers_down, down.posted_headers, end.down_stalls.posted_headers);
    counted(WaitKind::data_down, down.posted_data, end.down_stalls.posted_data);
    counted(WaitKind::writes_down, down.posted, end.down_stalls.posted);
    LimitContext context;
    context.background = background_of(begin_.busy.die_work, end.die_work);
    context.only_buffered_writes = only_buffered_writes(r.latency);
    context.independent_planes =
        s.config.nand.independent_plane_read && reads_are_most(begin_.busy.die_work, end.die_work);
    const HostConfig& host = s.config.host;
    const auto costs = [&](Ps time, const char* key) {
        if (time != Ps{}) context.host_cpu.emplace_back(key);
    };
    costs(host.submit_page_time.read, "host.submit_page_time_read");
    costs(host.submit_page_time.write, "host.submit_page_time_write");
    costs(host.completion_page_time.read, "host.completion_page_time_read");
    costs(host.completion_page_time.write, "host.completion_page_time_write");
    if (host.completion == CompletionBy::interrupt) costs(host.interrupt_time, "host.interrupt_time");
    if (host.cores != 0 && host.cores < s.host.driver.io().pairs()) context.host_cpu.emplace_back("host.cores");
    context.queue_entries = s.host.queue_slots(s.config);
    if (const BlockLayer* const block = s.host.driver.block()) {
        const std::uint32_t given = host.block.queue_depth;
        context.block_depth = block->nr_requests() <= block->queue_depth()  ? Bound{{"block.nr_requests"}, {}}
                              : given != 0 && given <= block->queue_depth() ? Bound{{"block.queue_depth"}, {}}
                                                                            : context.queue_entries;
    }
    if (const std::string& kind = s.config.front_end.kind; kind != "nvme")
        context.fetch_window = "frontend." + kind + (kind == "raw" ? ".commands" : "");
    if (s.device.controller.firmware && !s.device.controller.firmware->buffer().quotas().shared())
        context.buffer_room = "buffer.quotas";
    double outstanding = 0;
    for (const LatencyStats::Row& row : r.latency)
        if (row.stage == "total") outstanding += row.mean * 1e-6 * static_cast<double>(row.count);
    context.commands = r.measured > Ps{} ? outstanding / to_seconds(r.measured) : 0;
    r.flash_work =
        shares[static_cast<std::size_t>(context.independent_planes ? WaitKind::flash_work : WaitKind::die_work)];
    r.waits = wait_uses(shares, context);
    r.limit = judge_limits(r.resources_limit, shares, context);
}

}  // namespace ssdtlm
