// SPDX-License-Identifier: Apache-2.0
#include "sim/device/ssd_controller.h"

#include <algorithm>
#include <utility>

#include "adapter/rtl_onfi_sequencer.h"
#include "adapter/rtl_schedulers.h"
#include "common/random/random.h"
#include "common/snapshot/snapshot_in_memory.h"
#include "controller/checkpoint/checkpoint_feature.h"
#include "controller/ftl/ftl_check.h"
#include "controller/map/cached/pages/translation_contents.h"
#include "controller/map/cached/translation_search.h"
#include "controller/precondition/precondition.h"
#include "controller/scheduler/bus_orders.h"
#include "controller/scheduler/scheduler_registry.h"
#include "controller/scheduler/suspend_policies.h"
#include "controller/snapshot/ftl_state.h"
#include "sim/device/front_ends.h"
#include "sim/device/longest_times.h"

namespace ssdtlm {

namespace {

// This stream of the seed is independent of the workload's draws.
constexpr std::uint64_t kCacheStream = 0x636163686573;

DriveFacts drive_facts(const DeviceConfig& c, const Ftl& ftl) {
    DriveFacts d;
    d.drive_bytes = ftl.logical_units() * c.nand.geometry.unit_bytes;
    d.shutdown_time = longest_shutdown(c, d.drive_bytes);
    d.scan_time = std::max(MapRebuild::longest(c.nand, c.ecc.decode_time, reads_of_a_page(c), c.firmware, c.ftl),
                           longest_reset(c, d.drive_bytes));
    d.volatile_write_cache = c.ftl.buffer_mode == BufferMode::write_back;
    d.unit_bytes = c.nand.geometry.unit_bytes;
    return d;
}

std::unique_ptr<SchedulerPort> scheduler_of(const DeviceConfig& c, Agenda& agenda) {
    return make_scheduler(c.scheduler, scheduler_shape(c.nand), agenda, rtl_schedulers());
}

/// Drops the records of pages if nothing needs them. A search for the map needs them, and a refresh by age needs the
/// order of writing. A saved drive has them anyway.
SpareArea& as_needed(SpareArea& flash, const DeviceConfig& c, const ContentsConfig& d) {
    if (!d.outlives_power && d.drive.empty() && c.ftl.refresh_age == Age{}) flash.drop_records();
    return flash;
}

Firmware::Data data_of(const ContentsConfig& c) {
    if (c.data == DataMode::bytes) return Firmware::Data::bytes;
    return c.integrity ? Firmware::Data::signatures : Firmware::Data::unchecked_signatures;
}

}  // namespace

SsdController::SsdController(sc_core::sc_module_name name, Agenda& a, const DeviceConfig& c, const ContentsConfig& d,
                             SpareArea& flash, SsdTaps& taps, FunctionalHost* host)
    : sc_module(name),
      config(c),
      data(d),
      agenda(a),
      contents(as_needed(flash, config, data)),
      ftl(std::in_place, config.ftl, config.nand.geometry, contents, data.seed),
      overwrites(data.drive.empty() ? Preconditioner(*ftl).run() : OverwriteRounds()),
      front_end(FrontEnds::instance().make("frontend.kind", config.front_end.kind,
                                           {agenda, stages, config, drive_facts(config, *ftl), data.data},
                                           config.front_end.policies)),
      dram(make_dram(config.dram, agenda)),
      backend("backend", agenda, config.nand, config.ecc, config.scheduler.multi_plane, scheduler_of(config, agenda),
              make_bus_order(config.scheduler), make_suspend_policy(config.scheduler),
              config.ftl.gc_frontier == GcFrontier::shared),
      flash_port(taps.flash(backend)) {
    SSDTLM_CHECK(!config.nvme.metadata || config.front_end.kind != "nvme" ||
                     (data.data == DataMode::bytes && config.nand.geometry.metadata_bytes != 0),
                 "a drive with metadata keeps bytes, and metadata beside them (NandGeometry::metadata_bytes)");
    if (data.outlives_power && ftl->own_units() != 0) keep_translation_pages(*ftl, contents);
    if (host != nullptr && data.drive.empty())
        play(*host);
    else
        build_firmware();
    if (config.scheduler.merge_reads) backend.merge_reads();
    start_ages(false);
    layout_ = FtlState::layout_of(*ftl);
    if (data.data == DataMode::bytes) contents.keep_bytes(ftl->codec(), BlockBytes(data.seed, config.nvme.lba_bytes));
    connect();
    // The programs begin at once, so this waits until all modules exist.
    if (config.ftl.caches_filled && data.drive.empty() && ftl->mapped_units() != 0)
        agenda.post(agenda.now(), Then::to<&SsdController::fill_caches>(this));
}

void SsdController::play(FunctionalHost& host) {
    WorkloadPlay workload(config.ftl, config.nand, config.nvme.lba_bytes, *ftl, contents);
    played = workload.run(host);
    played_caches_ = workload.caches();
    build_firmware();
    workload.hand_over(*firmware);
}

void SsdController::fill_caches() {
    const std::uint64_t units = ftl->mapped_units();
    Random random(data.seed, kCacheStream);
    std::optional<BlockBytes> bytes;
    if (data.data == DataMode::bytes) bytes.emplace(data.seed, config.nvme.lba_bytes);
    if (played.any) return firmware->put_back(std::exchange(played_caches_, {}), bytes);
    firmware->fill_caches(units, bytes, [&] { return Lpa{static_cast<std::uint32_t>(random.below(units))}; });
}

void SsdController::start_ages(bool written_now) {
    auto* const refresh = ftl->feature<Refresh>();
    if (!looks_at_ages(refresh)) return;
    // A saved drive has its ages.
    if (written_now || data.drive.empty()) refresh->start_ages(written_now);
    // After a clean checkpoint nothing is collected. Ages are watched from the first command on, when CleanShutdown
    // allows work again.
    if (checkpoints_of(*ftl) == nullptr || !checkpoints_of(*ftl)->clean()) firmware->watch_ages();
}

void SsdController::build_firmware() {
    ftl->on_victim_due([this](GroupId group) { firmware->victim_due(group); });
    auto* const refresh = ftl->feature<Refresh>();
    if (counts_reads(refresh)) read_counter.emplace(flash_port, ftl->geometry(), *refresh);
    FlashPort& counted = read_counter ? static_cast<FlashPort&>(*read_counter) : flash_port;
    if (ftl->feature<RowParity>() != nullptr) parity_engine.emplace(counted, *ftl);
    if (config.nand.geometry.two_step) word_lines.emplace(agenda, counted, *ftl);
    FlashPort& flash = parity_engine ? static_cast<FlashPort&>(*parity_engine)
                       : word_lines  ? static_cast<FlashPort&>(*word_lines)
                                     : counted;
    firmware.emplace(
        config.firmware, config.ftl, config.nand.geometry, config.nvme.lba_bytes,
        Firmware::Peers{agenda, *ftl, flash, front_end->data(), *dram, word_lines ? &*word_lines : nullptr},
        data_of(data));
}

std::uint8_t SsdController::percentage_used() const {
    if (config.faults.most_erases == 0) return 0;
    const std::uint32_t blocks = config.nand.geometry.blocks();
    std::uint64_t erases = 0;
    for (std::uint32_t b = 0; b < blocks; ++b) erases += contents.erase_count(BlockId{b});
    constexpr std::uint64_t kMost = 255;  // largest value of the SMART log (NVM Express Base Specification)
    return static_cast<std::uint8_t>(
        std::min(kMost, 100 * erases / (std::uint64_t{config.faults.most_erases} * blocks)));
}

/// Connects the parts that are built again after a loss of power.
void SsdController::connect() {
    front_end->bind(*firmware);
    front_end->bind_health([this] {
        DeviceHealth health;
        health.available_spare = ftl->media().available_spare;
        health.percentage_used = percentage_used();
        health.read_only = ftl->media().read_only;
        return health;
    });
    ftl->on_media_change([this] {
        firmware->media_changed();
        front_end->health_changed();
    });
    firmware->bind(front_end->completions());
    for (const std::uint32_t ch : config.channel.rtl_sequencer)
        backend.channel(ch).use_sequencer(
            std::make_unique<RtlOnfiSequencer>(config.nand, config.channel.sequencer_hertz));
    if (occupancy_ != nullptr) record(*occupancy_);
    firmware->set_probe(gc_probe_);
}

void SsdController::watch_gc(GcProbe& probe) {
    gc_probe_ = &probe;
    firmware->set_probe(&probe);
}

void SsdController::record(Occupancy& occupancy) {
    occupancy_ = &occupancy;
    backend.record(occupancy);
    firmware->record(occupancy);
}

std::uint64_t SsdController::flash_pages(FlashClass cls) const {
    std::uint64_t n = 0;
    for (std::size_t cause = 0; cause < kFlashCauseCount; ++cause)
        n += flash_pages(cls, static_cast<FlashCause>(cause));
    return n;
}

std::uint64_t SsdController::flash_pages(FlashClass cls, FlashCause cause) const {
    std::uint64_t n = 0;
    for (std::uint32_t ch = 0; ch < config.nand.geometry.channels; ++ch)
        n += backend.channel(ch).counters().pages[flash_work(cause, cls)];
    return n;
}

void SsdController::supply_fails(std::function<void()> saved) {
    front_end->host_is_gone();
    saved_ = std::move(saved);
    // The next step is in an entry of its own, because the calling firmware may be built again there.
    firmware->supply_fails([this] { agenda.post(agenda.now(), Then::to<&SsdController::buffer_saved>(this)); });
}

void SsdController::lose_power(std::uint64_t host_commands) {
    const SimTime now = agenda.now();
    earlier_.coalesced += firmware->buffer().coalesced();
    earlier_.merge_reads += firmware->merge_reads();
    earlier_.victims += firmware->gc().victims();
    earlier_.gc_pauses += firmware->gc().pacing().pauses();
    if (const CachedMap* map = std::as_const(*firmware).cached_map()) {
        earlier_.map += map->counters();
        earlier_.map_written += map->write_backs().counters();
        if (const DirtyLimit* limit = firmware->dirty_limit()) {
            earlier_.most_dirty_pages = std::max(earlier_.most_dirty_pages, limit->most_dirty());
            earlier_.rows_held_back += limit->waits();
        }
    }
    if (const ReadCache* cache = firmware->read_cache()) earlier_.read_cache += cache->counters();
    if (const TableCaches* table = firmware->table_caches()) earlier_.table += table->counters();
    if (parity_engine) earlier_.parity += parity_engine->counters();
    earlier_.cores.resize(firmware->cores().size());
    for (std::uint32_t i = 0; i < firmware->cores().size(); ++i)
        earlier_.cores[i] += firmware->cores().busy_until(i, now);
    earlier_.ftl = ftl->counters();
    earlier_.sets = ftl->set_counts();
    add_counters(earlier_.features, ftl->feature_counters());
    earlier_.dram += dram->busy();
    const MediaHealth health = ftl->media();

    scan_.reset();
    firmware.reset();
    ftl.emplace(config.ftl, config.nand.geometry, contents, data.seed);
    ftl->go_on_from(earlier_.ftl, earlier_.sets, health);
    backend.restart(scheduler_of(config, agenda));
    dram = make_dram(config.dram, agenda);
    front_end->lose_power(host_commands);
    front_end->drive_is_starting();
    build_firmware();
    if (occupancy_ != nullptr) occupancy_->power_lost(now);
    connect();
}

void SsdController::start_again(std::function<void()> found) {
    for (std::size_t work = 0; work < kFlashWorkCount; ++work)
        earlier_.pages[work] = flash_pages(static_cast<FlashClass>(work % kFlashClassCount),
                                           static_cast<FlashCause>(work / kFlashClassCount));
    const MountPeers peers{
        config.nand.geometry,      contents,         flash_port, firmware->cores(), config.ftl.scan_reads_per_die,
        config.firmware.scan_page, ftl->slc_region()};
    MapRebuild::LastStep last;
    if (firmware->cached_map() != nullptr)
        last = [this, peers](const std::vector<bool>& suspects) {
            return std::make_unique<TranslationSearch>(peers, *ftl, config.firmware.scan_entry, suspects,
                                                       [this](std::uint32_t page, const std::vector<Lpa>& units) {
                                                           firmware->cached_map()->found_stale(page, units);
                                                       });
        };
    scan_.emplace(peers, *ftl, config.firmware.scan_entry, std::move(last));
    looks_for_map_ = true;
    scan_->start([this, found = std::move(found)] {
        looks_for_map_ = false;
        start_ages(true);
        found();
        front_end->drive_is_up();
    });
}

void SsdController::state(Snapshot& s) {
    // The power may be lost in the run that continues with this drive, so the flash must have kept its records.
    if (!s.reads() && !data.outlives_power)
        s.refuse("the flash has not kept what it would have to, because ContentsConfig::outlives_power was not said");
    FtlState::exchange(*ftl, contents, layout_, s);
    firmware->state(s);
    s(*dram);
    front_end_state(s);
}

/// The flash knows no protocol, so a drive may go on with another front end. That one passes over what was kept.
void SsdController::front_end_state(Snapshot& s) {
    s.section("front end");
    const std::vector<char> own(config.front_end.kind.begin(), config.front_end.kind.end());
    std::vector<char> kind = own;
    std::uint64_t bytes = 0;
    if (!s.reads()) {
        SnapshotInMemory kept;
        front_end->state(kept);
        bytes = kept.size();
    }
    s(kind, bytes);
    if (kind == own) return front_end->state(s);
    for (std::uint8_t passed_over = 0; bytes != 0; --bytes) s(passed_over);
}

void SsdController::check_waiters() const {
    front_end->check_waiters();
    backend.check_waiters();
    firmware->check_waiters();
    if (scan_ && scan_->waits_for_flash() && backend.idle())
        throw CheckFailed("the search for the map waits for reads, and the flash back end has none");
}

std::string SsdController::dump() const {
    return front_end->dump() + firmware->dump() + (parity_engine ? parity_engine->dump() : "") +
           (scan_ ? scan_->dump() : "") + backend.dump();
}

}  // namespace ssdtlm
