// SPDX-License-Identifier: Apache-2.0
#include "controller/cpu/firmware.h"

#include <algorithm>
#include <initializer_list>

#include "common/snapshot/snapshot_in_memory.h"
#include "controller/checkpoint/checkpoint_feature.h"
#include "controller/map/cached/pages/translation_sizes.h"

namespace ssdtlm {

namespace {
WriteOrder order_of(const Ftl& ftl, std::uint32_t units) {
    const FtlConfig& c = ftl.config();
    WriteOrder order;
    order.merges = c.buffer_merges;
    order.coldest_first = c.buffer_order == BufferOrder::lru;
    order.quotas = c.buffer_quotas;
    if (c.buffer_order == BufferOrder::by_translation_page)
        order = {c.buffer_merges, ftl.needs().units_per_own, ftl.own_units(), std::uint64_t{c.buffer_patience} * units};
    return order;
}

std::unique_ptr<SharedCache> make_room(const ReadCacheConfig& c, std::uint32_t units) {
    if (!c.shares_room()) return nullptr;
    const std::uint64_t window =
        c.replacement == ReadCacheReplacement::cflru ? std::uint64_t{units} * c.window_percent / 100 : 1;
    return std::make_unique<SharedCache>(units, std::max(1u, static_cast<std::uint32_t>(window)),
                                         c.replacement != ReadCacheReplacement::fifo);
}
}  // namespace

Firmware::Firmware(const FirmwareConfig& config, const FtlConfig& ftl_config, const NandGeometry& geometry,
                   std::uint32_t lba_bytes, const Peers& peers, Data data)
    : cores_(peers.agenda, config),
      table_caches_(config.table_cache_bytes == 0
                        ? nullptr
                        : std::make_unique<TableCaches>(peers.agenda, config, ftl_config.map.entry_bytes, peers.dram)),
      jobs_(geometry.page_bytes, data == Data::bytes),
      resident_map_(peers.ftl),
      cached_map_(TranslationPages::of(peers.ftl) == nullptr
                      ? nullptr
                      : std::make_unique<CachedMap>(cached_map_peers(config, peers))),
      dirty_limit_(limits_dirty_pages(ftl_config)
                       ? std::make_unique<DirtyLimit>(cached_map_peers(config, peers), *cached_map_)
                       : nullptr),
      named_map_(peers.ftl.mapping().ask(own_map(), {peers.agenda, cores_, peers.dram, peers.ftl})),
      own_map_(peers.map ? peers.map(named_map()) : nullptr),
      map_(own_map_ ? *own_map_ : named_map()),
      shared_cache_(
          make_room(ftl_config.read_cache, static_cast<std::uint32_t>(ftl_config.buffer_bytes / geometry.unit_bytes))),
      buffer_(static_cast<std::uint32_t>(ftl_config.buffer_bytes / geometry.unit_bytes), &peers.ftl.partitions(),
              order_of(peers.ftl, static_cast<std::uint32_t>(ftl_config.buffer_bytes / geometry.unit_bytes))),
      bytes_(data == Data::bytes
                 ? std::make_unique<UnitData>(buffer_, geometry.unit_bytes, lba_bytes, geometry.metadata_bytes)
                 : nullptr),
      read_cache_(ftl_config.read_cache.bytes < geometry.unit_bytes && !shared_cache_
                      ? nullptr
                      : std::make_unique<ReadCache>(ftl_config.read_cache, geometry.unit_bytes, shared_cache_.get())),
      stream_choice_(make_stream_choice(ftl_config, peers.ftl.logical_units())),
      wait_queues_(peers.agenda, map_, peers.ftl.partitions().count(), buffer_.quotas().parts()),
      activity_(peers.agenda, ends_, ftl_config.gc_idle_after),
      writer_(config, geometry, cores_, peers.dram, peers.flash),
      gc_(peers.agenda, config, ftl_config, geometry, cores_, peers.ftl, peers.dram, peers.flash, writer_, jobs_,
          activity_),
      merges_(peers.ftl.placement() == nullptr
                  ? nullptr
                  : std::make_unique<MergeEngine>(
                        config, ftl_config,
                        MergeEngine::Peers{peers.agenda, cores_, peers.ftl, peers.dram, peers.flash, writer_, jobs_})),
      destage_(
          config, ftl_config,
          {peers.agenda, cores_, peers.ftl, buffer_, writer_, gc_, jobs_, wait_queues_, journal_, bytes_.get(),
           map_updates(), read_cache_ && read_cache_->filled_by_writes() ? read_cache_.get() : nullptr, merges_.get()}),
      journal_(config, {peers.agenda, cores_, peers.ftl, writer_, gc_, jobs_, wait_queues_}),
      features_(feature_organs(
          {config, peers.agenda, cores_, peers.ftl, peers.dram, peers.flash, writer_, gc_, jobs_, wait_queues_})),
      word_lines_(peers.word_lines == nullptr
                      ? nullptr
                      : std::make_unique<PaddingWriter>(
                            config, PaddingWriter::Peers{peers.agenda, cores_, peers.ftl, *peers.word_lines, writer_,
                                                         gc_, jobs_, wait_queues_})),
      read_(services(config, lba_bytes, peers, data), peers.ftl.codec(), ftl_config.read_ahead,
            peers.ftl.logical_units()),
      write_(services(config, lba_bytes, peers, data),
             {ftl_config.buffer_mode == BufferMode::write_through,
              ftl_config.buffer_mode == BufferMode::power_protected, ftl_config.rest_reads}),
      flush_(services(config, lba_bytes, peers, data), ftl_config.buffer_mode == BufferMode::power_protected),
      power_fail_(services(config, lba_bytes, peers, data)),
      deallocate_(services(config, lba_bytes, peers, data), {ftl_config.buffer_mode == BufferMode::write_through,
                                                             ftl_config.buffer_mode == BufferMode::power_protected}) {
    cores_.set_table(table_caches_.get());
    if (dirty_limit_ && peers.ftl.config().buffer_prefers_dirty) buffer_.prefer(*dirty_limit_);
    if (shared_cache_) buffer_.share(*shared_cache_);
    if (checkpoints_of(peers.ftl) != nullptr) {
        checkpoints_ = std::make_unique<CheckpointWriter>(
            config, ftl_config,
            CheckpointWriter::Peers{peers.agenda, cores_, peers.ftl, writer_, peers.flash, jobs_, journal_,
                                    cached_map_.get()});
        shutdown_ = std::make_unique<CleanShutdown>(CleanShutdown::Peers{
            peers.agenda, *checkpoints_, gc_, journal_, wait_queues_, cached_map_.get(),
            ftl_config.checkpoint_at_shutdown,
            [this, &in_flight = checkpoints_of(peers.ftl)->in_flight()] { return organs_idle() && in_flight.none(); },
            [this](Command& c) { begin(c); }, [this](Command& c) { ends_.complete(c); }});
        flush_.on_shutdown([this](Command& c) { shutdown_->flushed(c); });
    }
    organs_ = organs();
    if (ftl_config.rest_reads == RestReads::at_write_back) {
        flush_.on_begun([this] { write_.begin_merges(); });
        power_fail_.on_begun([this] { write_.begin_merges(); });
    }
    if (shared_cache_) shared_cache_->bind(buffer_, [this](std::uint32_t slot) { read_cache_->evict(slot); });
    resident_map_.bind(gc_);
    if (ftl_config.gc_pace != "full" || ftl_config.gc_idle_after != Ps{} || !ftl_config.gc_charge_time)
        ends_.on_end(Then::to<&HostActivity::one_ended>(&activity_), Then::to<&HostActivity::last_ended>(&activity_));
    gc_.on_host_let_go([this] { wait_queues_.pages_changed(); });
    SSDTLM_CHECK(peers.ftl.geometry().two_step == (word_lines_ != nullptr),
                 "word lines are to be closed in flash of two steps, and only there");
    if (word_lines_) {
        gc_.on_wait(Then::to<&PaddingWriter::look>(word_lines_.get()));
        destage_.on_wait(Then::to<&PaddingWriter::look>(word_lines_.get()));
    }
    gc_.on_erase_waits([this](SuperblockId victim) {
        journal_.demand_for(victim);
        if (word_lines_) word_lines_->look();
    });
    if (cached_map_) gc_.set_map(*map_updates());
    const auto freed = [this] {
        for (Organ* const organ : organs_) organ->block_freed();
        wait_queues_.pages_changed();
    };
    gc_.on_block_freed(freed);
    if (!merges_) return;
    gc_.set_merges(*merges_);
    merges_->on_room(freed);
    merges_->on_erase_waits([this](SuperblockId dead) { journal_.demand_for(dead); });
}

CachedMapPeers Firmware::cached_map_peers(const FirmwareConfig& config, const Peers& peers) {
    return {config,      peers.agenda, cores_, peers.ftl, *TranslationPages::of(peers.ftl), resident_map_, peers.dram,
            peers.flash, writer_,      gc_,    jobs_};
}

CommandServices Firmware::services(const FirmwareConfig& config, std::uint32_t lba_bytes, const Peers& peers,
                                   Data data) {
    const Extents extents(peers.ftl.geometry(), lba_bytes);
    return {peers.agenda,
            cores_,
            map_,
            buffer_,
            peers.dram,
            peers.flash,
            peers.host,
            jobs_,
            wait_queues_,
            journal_,
            ends_,
            config,
            peers.ftl.media(),
            peers.ftl.geometry(),
            extents,
            SignedBlocks(peers.ftl.codec(), lba_bytes, extents.blocks_per_unit, data == Data::signatures),
            peers.ftl.slc_region(),
            bytes_.get(),
            read_cache_.get(),
            stream_choice_.get(),
            cached_map_ != nullptr};
}

void Firmware::fill_caches(std::uint64_t units, const std::optional<BlockBytes>& bytes, const CacheFill::Next& next) {
    SSDTLM_CHECK(idle(), "caches of a drive at work are filled");
    write_.count(CacheFill(write_.services(), cached_map_.get(), dirty_limit_.get(), bytes).run(units, next));
    wait_queues_.settle();
}

CacheContents Firmware::cache_contents() const {
    CacheContents contents;
    for (const WriteBuffer::Unit& u : buffer_.dirty_units()) contents.buffered.push_back({u.lpa, u.stream});
    if (read_cache_) contents.cached = read_cache_->units();
    return contents;
}

void Firmware::drop_copied(const Ftl& ftl) {
    std::vector<std::uint32_t> released;
    for (const WriteBuffer::Unit& u : buffer_.dirty_units())
        if (is_place(ftl.lookup(u.lpa))) buffer_.drop(u.lpa, released);
    for (const std::uint32_t command : released) wait_queues_.release(command);
    wait_queues_.settle();
}

void Firmware::put_back(const CacheContents& contents, const std::optional<BlockBytes>& bytes) {
    SSDTLM_CHECK(idle(), "caches of a drive at work are filled");
    write_.count(CacheFill(write_.services(), cached_map_.get(), dirty_limit_.get(), bytes).put_back(contents));
    wait_queues_.settle();
}

void Firmware::take_over(Firmware& other) {
    SnapshotInMemory told;
    other.state_but_read_cache(told);
    SnapshotInMemory taken(std::move(told));
    state_but_read_cache(taken);
    SSDTLM_CHECK(taken.at_end(), "a firmware remembers less than the one before it");
}

void Firmware::submit(Command& c) {
    ends_.begun();
    if (__builtin_expect(shutdown_ != nullptr, 0) && shutdown_->holds(c)) return;
    begin(c);
}

void Firmware::begin(Command& c) {
    switch (c.op) {
        case IoOp::read:
            return read_.start(c);
        case IoOp::write:
            return write_.start(c);
        case IoOp::flush:
            return flush_.start(c);
        case IoOp::deallocate:
        case IoOp::write_zeroes:
            return deallocate_.start(c);
    }
}

std::vector<Organ*> Firmware::organs() {
    std::vector<Organ*> all;
    const auto add = [&all](std::initializer_list<Organ*> organs) {
        for (Organ* const organ : organs)
            if (organ != nullptr) all.push_back(organ);
    };
    add({&gc_, merges_.get(), &destage_, &writer_, &journal_});
    for (const auto& feature : features_) all.push_back(feature.get());
    add({word_lines_.get(), cached_map_.get(), dirty_limit_.get(), checkpoints_.get()});
    return all;
}

/// True: nothing is on its way to the flash, nor will it be by itself.
bool Firmware::organs_idle() const {
    return buffer_.used() == 0 && jobs_.used() == 0 &&
           std::all_of(organs_.begin(), organs_.end(), [](const Organ* organ) { return organ->idle(); });
}

bool Firmware::idle() const {
    return ends_.under_way() == 0 && organs_idle() && (!shutdown_ || shutdown_->idle()) &&
           (!read_cache_ || read_cache_->fills() == 0);
}

bool Firmware::anybody_waits_for_programs() const {
    return wait_queues_.anybody_for_room() || wait_queues_.anybody(WaitQueues::For::flush) ||
           wait_queues_.anybody(WaitQueues::For::journal) || write_.anybody_forced();
}

void Firmware::check_waiters() const {
    buffer_.check_waiters();
    if (shared_cache_) shared_cache_->check();
    for (const Organ* const organ : organs_) organ->check_waiters();
    const bool reads_ahead = read_.ahead() != nullptr && read_.ahead()->under_way() != 0;
    const bool programs =
        std::any_of(organs_.begin(), organs_.end(), [](const Organ* organ) { return organ->under_way(); });
    wait_queues_.check_waiters({programs || reads_ahead || (shutdown_ && shutdown_->under_way()),
                                write_.fetching() != 0, write_.merges().under_way() != 0});
    write_.check_waiters();
    flush_.check_waiters();
    power_fail_.check_waiters();
}

std::string Firmware::dump() const {
    std::string s = "firmware: " + std::to_string(ends_.under_way()) + " commands\n" + wait_queues_.dump() +
                    read_.dump() + write_.dump() + flush_.dump() + power_fail_.dump() + deallocate_.dump() +
                    "write buffer: " + std::to_string(buffer_.used()) + " of " + std::to_string(buffer_.capacity()) +
                    " units taken, " + std::to_string(buffer_.dirty()) + " dirty, " + std::to_string(buffer_.queued()) +
                    " of them may be programmed\n";
    for (const Organ* const organ : organs_) s += organ->dump();
    return s + (shutdown_ ? shutdown_->dump() : "");
}

void Firmware::state(Snapshot& s) {
    state_but_read_cache(s);
    if (read_cache_) {
        s.section("read cache");
        s(*read_cache_);
    }
    if (AheadReader* const ahead = read_.ahead()) {
        s.section("sequential streams");
        ahead->streams().state(s);
    }
    if (!table_caches_) return;
    s.section("caches of the cores");
    s(*table_caches_);
}

void Firmware::state_but_read_cache(Snapshot& s) {
    SSDTLM_CHECK(idle(), "a snapshot of a firmware that is not idle");
    s.section("firmware");
    s(destage_, journal_, gc_);
    if (checkpoints_) s(*checkpoints_);
    if (stream_choice_) {
        s.section("choice of streams");
        s(*stream_choice_);
    }
    if (cached_map_) {
        s.section("cached map");
        s(*cached_map_);
    }
    if (dirty_limit_) {
        s.section("limit of dirty translation pages");
        s(*dirty_limit_);
    }
}

}  // namespace ssdtlm
