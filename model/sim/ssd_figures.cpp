// SPDX-License-Identifier: Apache-2.0
// Reads figures from both halves and the link: busy times, wear, counters, and the books that must balance.
#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <map>
#include <string_view>

#include "controller/scheduler/clocked/clocked_scheduler.h"
#include "sim/ssd_system.h"

namespace ssdtlm {

SsdSystem::BusySnapshot SsdSystem::busy() const {
    const SsdController& c = device.controller;
    const SsdController::Earlier& earlier = c.earlier();
    const CorePool& cores = c.firmware->cores();
    BusySnapshot s;
    s.at = agenda.now();
    s.up = link.upstream().busy(s.at);
    s.down = link.downstream().busy(s.at);
    s.up_stalls = link.upstream().stalls(s.at);
    s.down_stalls = link.downstream().stalls(s.at);
    s.dram = earlier.dram + c.dram->busy();
    for (std::uint32_t i = 0; i < cores.size(); ++i)
        s.cores.push_back(cores.busy_until(i, s.at) + (earlier.cores.empty() ? Ps{} : earlier.cores[i]));
    const NandGeometry& g = config.nand.geometry;
    for (std::uint32_t ch = 0; ch < g.channels; ++ch) {
        s.channels.push_back(c.backend.channel(ch).counters().bus_busy());
        s.look_ahead += c.backend.channel(ch).counters().look_ahead_idle;
    }
    for (std::uint32_t d = 0; d < g.dies(); ++d) {
        Ps total{};
        const BusyMeter::Totals busy = c.backend.die_busy(DieId{d});
        for (std::size_t kind = 0; kind < kBusyKinds; ++kind) {
            total += Ps{busy[kind]};
            s.die_work[kind] += busy[kind];
        }
        s.dies.push_back(total);
        if (config.nand.independent_plane_read)
            for (std::uint32_t p = 0; p < g.planes_per_die; ++p) s.planes.push_back(c.backend.plane_busy(DieId{d}, p));
    }
    const IoPath& io = host.driver.io();
    for (std::uint32_t core = 0; core < io.cores(); ++core) s.cpus.push_back(io.cpu_busy(core));
    s.between = host.resources();
    return s;
}

std::vector<ResourceUse> SsdSystem::use(const BusySnapshot& from, const BusySnapshot& to) const {
    const double window = to_seconds(to.at - from.at);
    std::vector<ResourceUse> all;
    if (window <= 0) return all;
    // A resource may be reserved beyond the end of the window, but counts as busy only in the window.
    const auto share = [window](Ps a, Ps b) { return std::min(1.0, to_seconds(b - a) / window); };
    const auto single = [&](const char* n, Ps a, Ps b) {
        all.push_back({n, 1, share(a, b), share(a, b), n, {share(a, b)}});
    };
    const auto group = [&](const char* n, const std::vector<Ps>& a, const std::vector<Ps>& b) {
        ResourceUse r;
        r.name = n;
        r.members = static_cast<std::uint32_t>(b.size());
        for (std::size_t i = 0; i < b.size(); ++i) {
            const double u = share(a[i], b[i]);
            r.busy.push_back(u);
            r.mean += u / static_cast<double>(b.size());
            if (u > r.max || r.busiest.empty()) {
                r.max = u;
                r.busiest = fmt::format("{} {}", n, i);
            }
        }
        all.push_back(r);
    };
    // Only cores in use count, because each job has a core of its own, and all other cores are idle.
    if (const HostCpu cpu(config.host); cpu.submits_in_time() || cpu.completes_in_time()) {
        std::vector<Ps> before, after;
        for (std::size_t i = 0; i < to.cpus.size(); ++i)
            if (to.cpus[i] != Ps{}) {
                before.push_back(i < from.cpus.size() ? from.cpus[i] : Ps{});
                after.push_back(to.cpus[i]);
            }
        group("host CPU", before, after);
    }
    single("link to device", from.down, to.down);
    single("link to host", from.up, to.up);
    for (std::size_t i = 0; i < to.between.size(); ++i)
        single(to.between[i].name, i < from.between.size() ? from.between[i].busy : Ps{}, to.between[i].busy);
    group("firmware core", from.cores, to.cores);
    single("DRAM port", from.dram, to.dram);
    group("channel bus", from.channels, to.channels);
    group("die", from.dies, to.dies);
    if (!to.planes.empty()) group("plane", from.planes, to.planes);
    return all;
}

std::vector<DieWear> SsdSystem::wear() const {
    const NandGeometry& g = config.nand.geometry;
    const std::uint32_t blocks = g.planes_per_die * g.blocks_per_plane;
    std::vector<DieWear> all;
    for (std::uint32_t die = 0; die < g.dies(); ++die) {
        DieWear w;
        w.least = ~std::uint32_t{0};
        std::uint64_t sum = 0;
        std::uint32_t used = 0;
        for (std::uint32_t b = 0; b < blocks; ++b) {
            if (device.flash.spare.is_marked_bad(BlockId{die * blocks + b})) continue;
            ++used;
            const std::uint32_t erases = device.flash.spare.erase_count(BlockId{die * blocks + b});
            w.least = std::min(w.least, erases);
            w.most = std::max(w.most, erases);
            sum += erases;
        }
        w.mean = static_cast<double>(sum) / used;
        all.push_back(w);
    }
    return all;
}

std::vector<std::pair<std::uint32_t, std::uint64_t>> SsdSystem::blocks_by_erases() const {
    std::map<std::uint32_t, std::uint64_t> count;
    for (std::uint32_t b = 0; b < config.nand.geometry.blocks(); ++b)
        if (!device.flash.spare.is_marked_bad(BlockId{b})) ++count[device.flash.spare.erase_count(BlockId{b})];
    return {count.begin(), count.end()};
}

std::vector<BookLine> SsdSystem::books(const FtlCounters& before) const {
    const SsdController& c = device.controller;
    const Firmware& firmware = *c.firmware;
    const SsdController::Earlier& earlier = c.earlier();
    const FtlCounters ftl_now = c.ftl->counters() - (device.power_cuts().empty() ? before : earlier.ftl);
    // Work of garbage collection that takes no time has counters of its own (gc.charge_time).
    const GcAtOnce::Counters at_once = firmware.gc().at_once();
    using Cause = FlashCause;
    const auto pages = [&](FlashClass cls, std::initializer_list<Cause> causes) {
        std::uint64_t n = 0;
        for (const Cause cause : causes) n += c.flash_pages(cls, cause) - earlier.pages[flash_work(cause, cls)];
        return n;
    };
    const std::initializer_list<Cause> all = {Cause::of_class,   Cause::rmw,     Cause::fold,
                                              Cause::relocation, Cause::merge,   Cause::journal,
                                              Cause::parity,     Cause::padding, Cause::checkpoint};
    static_assert(kFlashCauseCount == 9);
    const DriverCounters& d = host.driver.counters();
    const FrontEndCounts n = c.front_end->counts();
    const std::uint64_t more = n.ended > d.commands_completed ? n.ended - d.commands_completed : 0;
    const std::uint64_t heard = n.ended - std::min(more, n.unheard_at_most);
    const WriteBuffer& b = firmware.buffer();
    std::vector<BookLine> lines{
        {"requests issued = completed", d.requests_issued - d.requests_dropped, d.requests_completed},
        {"commands submitted = completed", d.commands_submitted - d.commands_cancelled, d.commands_completed},
        {"commands submitted by the host = completed by the controller", d.commands_completed, heard},
        {"units written by the host = inserted in the buffer", firmware.host_units_written(), b.inserted()},
        {"units inserted = mapped + coalesced + deallocated while buffered", b.inserted(),
         firmware.host_units_mapped() + b.coalesced() + b.dropped_dirty() + firmware.host_units_discarded_before_map() +
             firmware.host_units_lost()},
        {"units mapped by firmware = by the FTL", firmware.host_units_mapped(), ftl_now.host_units},
        {"host pages allocated = programmed by the dies", ftl_now.host_pages_allocated,
         pages(FlashClass::host_write, {Cause::of_class})},
        {"GC pages of the FTL = programmed by the dies", ftl_now.gc_pages,
         pages(FlashClass::gc_write, {Cause::of_class, Cause::fold, Cause::relocation, Cause::merge}) + at_once.pages},
        {"journal pages of the FTL = programmed by the dies", ftl_now.journal_pages,
         pages(FlashClass::gc_write, {Cause::journal})},
        {"parity pages of the FTL = programmed by the dies", ftl_now.parity_pages,
         pages(FlashClass::gc_write, {Cause::parity})},
        {"padding pages of the FTL = programmed by the dies", ftl_now.host_padding_pages + ftl_now.gc_padding_pages,
         pages(FlashClass::host_write, {Cause::padding}) + pages(FlashClass::gc_write, {Cause::padding})},
        {"translation pages of the FTL = programmed by the dies", ftl_now.map_pages,
         pages(FlashClass::mapping_write, {Cause::of_class})},
        {"checkpoint pages of the FTL = programmed by the dies", ftl_now.checkpoint_pages,
         pages(FlashClass::mapping_write, {Cause::checkpoint})},
        {"bytes programmed = (host + GC + journal + translation + checkpoint + parity + padding) pages",
         (pages(FlashClass::host_write, all) + pages(FlashClass::gc_write, all) + at_once.pages +
          pages(FlashClass::mapping_write, all)) *
             config.nand.geometry.page_bytes,
         (ftl_now.host_pages + ftl_now.gc_pages + ftl_now.journal_pages + ftl_now.map_pages + ftl_now.checkpoint_pages +
          ftl_now.parity_pages + ftl_now.host_padding_pages + ftl_now.gc_padding_pages) *
             config.nand.geometry.page_bytes},
        {"blocks erased by the FTL = by the dies", ftl_now.blocks_erased,
         pages(FlashClass::erase, all) + at_once.blocks},
        {"write buffer empty", b.used(), 0},
    };
    if (!host.knows_all())
        lines.erase(std::find_if(lines.begin(), lines.end(), [](const BookLine& l) {
            return std::string_view(l.name) == "commands submitted by the host = completed by the controller";
        }));
    if (const BlockLayer* const block = host.driver.block())
        lines.push_back({"requests of the block layer = completed + dropped", block->counters().requests,
                         block->counters().completed + block->counters().dropped});
    return lines;
}

TableCaches::Counters SsdSystem::table_counters() const {
    TableCaches::Counters all = device.controller.earlier().table;
    if (const TableCaches* table = device.controller.firmware->table_caches()) all += table->counters();
    return all;
}

CachedMap::Counters SsdSystem::map_counters() const {
    CachedMap::Counters all = device.controller.earlier().map;
    if (const CachedMap* map = std::as_const(*device.controller.firmware).cached_map()) all += map->counters();
    return all;
}

Counters SsdSystem::counters() const {
    const SsdController& c = device.controller;
    const Firmware& firmware = *c.firmware;
    const SsdController::Earlier& earlier = c.earlier();
    const std::vector<PowerCut>& cuts = device.power_cuts();
    const DriverCounters& d = host.driver.counters();
    const FrontEndCounts n = c.front_end->counts();
    const LinkCounters& up = link.upstream().counters();
    const LinkCounters& down = link.downstream().counters();
    std::uint64_t operations = 0, multi_plane = 0, joined_programs = 0, look_ahead_cuts = 0, merged_reads = 0;
    Ps look_ahead_idle{};
    for (std::uint32_t ch = 0; ch < config.nand.geometry.channels; ++ch) {
        operations += c.backend.channel(ch).counters().operations;
        multi_plane += c.backend.channel(ch).counters().multi_plane;
        joined_programs += c.backend.channel(ch).counters().joined_programs;
        merged_reads += c.backend.channel(ch).counters().merged_reads;
        look_ahead_cuts += c.backend.channel(ch).counters().look_ahead_cuts;
        look_ahead_idle += c.backend.channel(ch).counters().look_ahead_idle;
    }
    Counters all{
        {"host_commands", d.commands_submitted},
        {"host_interrupts", d.interrupts},
    };
    for (const auto& [name, value] : host.figures()) all.push_back({name, value});
    for (const auto& [name, value] : c.front_end->figures()) all.push_back({name, value});
    all.insert(all.end(), {
                              {"link_wire_bytes_to_host", up.wire_bytes()},
                              {"link_wire_bytes_to_device", down.wire_bytes()},
                              {"buffer_units_coalesced", firmware.buffer().coalesced() + earlier.coalesced},
                              {"partial_unit_merge_reads", firmware.merge_reads() + earlier.merge_reads},
                              {"flash_operations", operations},
                              {"flash_multi_plane_operations", multi_plane},
                              {"flash_multi_plane_page_programs", joined_programs},
                              {"flash_host_page_reads", c.flash_pages(FlashClass::host_read, FlashCause::of_class)},
                              {"flash_gc_page_reads", c.flash_pages(FlashClass::gc_read, FlashCause::of_class)},
                              {"flash_host_page_programs", c.flash_pages(FlashClass::host_write, FlashCause::of_class)},
                              {"flash_gc_page_programs", c.flash_pages(FlashClass::gc_write, FlashCause::of_class)},
                              {"flash_block_erases", c.flash_pages(FlashClass::erase)},
                              {"gc_victims", firmware.gc().victims() + earlier.victims},
                          });
    // Kinds of work that few devices have get a counter only if there was any.
    for (std::size_t cause = 1; cause < kFlashCauseCount; ++cause) {
        std::uint64_t read = 0, programmed = 0;
        for (std::size_t cls = 0; cls < kFlashClassCount; ++cls) {
            const std::uint64_t pages = c.flash_pages(static_cast<FlashClass>(cls), static_cast<FlashCause>(cause));
            if ((class_bit(static_cast<FlashClass>(cls)) & kReadClasses) != 0) read += pages;
            if ((class_bit(static_cast<FlashClass>(cls)) & kProgramClasses) != 0) programmed += pages;
        }
        if (read != 0)
            all.push_back({fmt::format("flash_{}_page_reads", cause_name(static_cast<FlashCause>(cause))), read});
        if (programmed != 0)
            all.push_back(
                {fmt::format("flash_{}_page_programs", cause_name(static_cast<FlashCause>(cause))), programmed});
    }
    if (config.nand.independent_plane_read && config.scheduler.implementation == "tlm")
        all.insert(all.end(), {{"flash_look_ahead_cuts", look_ahead_cuts},
                               {"flash_look_ahead_idle_ps", static_cast<std::uint64_t>(look_ahead_idle.count())}});
    if (config.scheduler.merge_reads) all.push_back({"flash_merged_page_reads", merged_reads});
    if (!config.ftl.gc_charge_time)
        all.insert(all.end(), {{"gc_pages_programmed_in_no_time", firmware.gc().at_once().pages},
                               {"gc_blocks_erased_in_no_time", firmware.gc().at_once().blocks}});
    if (const CachedMap* map = firmware.cached_map()) {
        const CachedMap::Counters m = map_counters();
        WriteBacks::Counters w = earlier.map_written;
        w += map->write_backs().counters();
        all.insert(all.end(), {{"map_hits", m.hits},
                               {"map_misses", m.misses},
                               {"map_translation_page_reads", m.reads},
                               {"map_translation_page_merge_reads", w.reads},
                               {"map_translation_page_checkpoint_reads", m.checkpoint_reads},
                               {"map_translation_pages_written", w.written},
                               {"map_entries_written", w.entries},
                               {"map_most_entries", m.most_entries},
                               {"flash_translation_page_programs",
                                c.flash_pages(FlashClass::mapping_write, FlashCause::of_class)}});
        if (config.ftl.map.prefetch > 1)
            all.insert(all.end(), {{"map_entries_prefetched", m.prefetched},
                                   {"map_prefetched_entries_hit", m.prefetch_hits},
                                   {"map_prefetched_entries_dropped", m.prefetch_dropped}});
        if (const DirtyLimit* limit = firmware.dirty_limit())
            all.insert(all.end(), {{"map_protected_pages", limit->most()},
                                   {"map_most_dirty_pages", std::max(limit->most_dirty(), earlier.most_dirty_pages)},
                                   {"map_rows_held_back", limit->waits() + earlier.rows_held_back}});
    }
    if (const ReadCache* cache = firmware.read_cache())
        all.insert(all.end(), {{"read_cache_hits", cache->counters().hits + earlier.read_cache.hits},
                               {"read_cache_misses", cache->counters().misses + earlier.read_cache.misses},
                               {"read_cache_units_filled", cache->counters().filled + earlier.read_cache.filled},
                               {"read_cache_units_evicted", cache->counters().evicted + earlier.read_cache.evicted}});
    if (const ReadCache* cache = firmware.read_cache(); cache != nullptr && config.ftl.read_ahead.bytes != 0)
        all.insert(all.end(),
                   {{"read_ahead_units", cache->counters().ahead + earlier.read_cache.ahead},
                    {"read_ahead_units_hit", cache->counters().ahead_hits + earlier.read_cache.ahead_hits},
                    {"read_ahead_units_wasted", cache->counters().ahead_wasted + earlier.read_cache.ahead_wasted}});
    if (const ReadCache* cache = firmware.read_cache(); cache != nullptr && cache->shares_room())
        all.push_back({"read_cache_units_turned_away", cache->counters().turned_away + earlier.read_cache.turned_away});
    if (firmware.table_caches() != nullptr) {
        const TableCaches::Counters t = table_counters();
        all.insert(all.end(), {{"table_cache_hits", t.hits},
                               {"table_cache_misses", t.misses},
                               {"table_cache_lines_written_back", t.written_back},
                               {"table_cache_wait_ns", static_cast<std::uint64_t>(t.waited.count() / 1000)}});
    }
    if (c.parity_engine) {
        ParityEngine::Counters p = earlier.parity;
        p += c.parity_engine->counters();
        all.insert(all.end(), {{"parity_pages_rebuilt", p.rebuilt},
                               {"parity_pages_not_rebuilt", p.not_rebuilt},
                               {"parity_pages_read", p.reads}});
    }
    FeatureCounters of_features = earlier.features;
    add_counters(of_features, c.ftl->feature_counters());
    all.insert(all.end(), of_features.begin(), of_features.end());
    if (config.ftl.gc_pace != "full") all.push_back({"gc_pauses", firmware.gc().pacing().pauses() + earlier.gc_pauses});
    if (!config.host.reset_at.empty()) all.push_back({"controller_resets", n.resets});
    if (!cuts.empty()) {
        PowerLoss loss;
        std::uint64_t reads = 0;
        for (const PowerCut& cut : cuts) {
            loss += cut.loss;
            reads += cut.scan_reads;
        }
        all.insert(all.end(), {{"power_cuts", cuts.size()},
                               {"flash_pages_torn", loss.pages_torn},
                               {"flash_erases_cut", loss.erases_cut},
                               {"flash_lower_pages_lost", loss.lower_pages_lost},
                               {"mount_page_reads", reads}});
    }
    if (!config.host.reset_at.empty() || !cuts.empty()) {
        all.push_back({"unsafe_shutdowns", n.unsafe_shutdowns});
        all.push_back({"host_commands_cancelled", d.commands_cancelled});
    }
    if (config.scheduler.suspend != "never") {
        std::uint64_t suspends = 0;
        for (std::uint32_t ch = 0; ch < config.nand.geometry.channels; ++ch)
            suspends += c.backend.channel(ch).counters().suspends;
        all.push_back({"flash_suspends", suspends});
    }
    if (device.flash.spare.any_marked_bad())
        all.push_back({"flash_blocks_bad_at_factory", device.flash.spare.marked_bad()});
    if (device.flash.faults->kinds().any()) {
        const MediaHealth& m = c.ftl->media();
        std::uint64_t retries = 0;
        for (std::uint32_t ch = 0; ch < config.nand.geometry.channels; ++ch)
            retries += c.backend.channel(ch).counters().read_retries;
        all.insert(all.end(), {{"flash_read_retries", retries},
                               {"flash_program_failures", m.program_failures},
                               {"flash_erase_failures", m.erase_failures},
                               {"flash_blocks_retired", m.blocks_retired},
                               {"units_lost", m.units_lost},
                               {"commands_unrecovered_read", d.unrecovered_reads},
                               {"commands_write_fault", d.write_faults},
                               {"commands_refused_read_only", d.refused_read_only},
                               {"smart_media_errors", n.media_errors},
                               {"smart_available_spare_percent", m.available_spare}});
        if (config.faults.most_erases != 0) all.push_back({"smart_percentage_used", c.percentage_used()});
        for (const auto& [name, value] : c.front_end->health_figures()) all.push_back({name, value});
    }
    if (const std::optional<SchedulerFairness> fairness = c.backend.fairness()) {
        all.push_back({"scheduler_longest_wait_ns", static_cast<std::uint64_t>(fairness->longest_wait.count() / 1000)});
        all.push_back({"scheduler_most_overtakes", fairness->most_overtakes});
    }
    if (const auto* const clocked = dynamic_cast<const ClockedScheduler*>(&c.backend.scheduler())) {
        const ClockedScheduler::Counters& work = clocked->counters();
        all.push_back({"scheduler_questions", work.questions});
        all.push_back({"scheduler_grants", work.grants});
        all.push_back({"scheduler_cycles", work.cycles});
        all.push_back({"scheduler_requests_held_back", work.held_back});
    }
    return all;
}

}  // namespace ssdtlm
