// SPDX-License-Identifier: Apache-2.0
#include "controller/cpu/firmware.h"

#include <algorithm>

#include "common/snapshot/snapshot_in_memory.h"
#include "controller/ftl/ftl_check.h"

namespace ssdtlm {

namespace {
WriteOrder order_of(const Ftl& ftl, std::uint32_t units) {
    const FtlConfig& c = ftl.config();
    WriteOrder order;
    order.merges = c.buffer_merges;
    order.coldest_first = c.buffer_order == BufferOrder::lru;
    order.quotas = c.buffer_quotas;
    if (c.buffer_order == BufferOrder::by_translation_page)
        order = {c.buffer_merges, ftl.entries_per_translation_page(), ftl.translation_pages(),
                 std::uint64_t{c.buffer_patience} * units};
    return order;
}

std::unique_ptr<CacheRoom> make_room(const ReadCacheConfig& c, std::uint32_t units) {
    if (!c.shares_room()) return nullptr;
    const std::uint64_t window =
        c.replacement == ReadCacheReplacement::cflru ? std::uint64_t{units} * c.window_percent / 100 : 1;
    return std::make_unique<CacheRoom>(units, std::max(1u, static_cast<std::uint32_t>(window)),
                                       c.replacement != ReadCacheReplacement::fifo);
}
}  // namespace

Firmware::Firmware(const FirmwareConfig& config, const FtlConfig& ftl_config, const NandGeometry& geometry,
                   std::uint32_t lba_bytes, const Surroundings& around, Data data)
    : cores_(around.agenda, config),
      table_caches_(
          config.table_cache_bytes == 0
              ? nullptr
              : std::make_unique<TableCaches>(around.agenda, config, ftl_config.map.entry_bytes, around.dram)),
      jobs_(geometry.page_bytes, data == Data::bytes),
      resident_map_(around.ftl),
      cached_map_(around.ftl.translation_pages() == 0
                      ? nullptr
                      : std::make_unique<CachedMap>(cached_map_surroundings(config, around))),
      dirty_limit_(limits_dirty_pages(ftl_config)
                       ? std::make_unique<DirtyLimit>(cached_map_surroundings(config, around), *cached_map_)
                       : nullptr),
      named_map_(around.ftl.mapping().ask(own_map(), {around.agenda, cores_, around.dram, around.ftl})),
      own_map_(around.map ? around.map(named_map()) : nullptr),
      map_(own_map_ ? *own_map_ : named_map()),
      cache_room_(
          make_room(ftl_config.read_cache, static_cast<std::uint32_t>(ftl_config.buffer_bytes / geometry.unit_bytes))),
      buffer_(static_cast<std::uint32_t>(ftl_config.buffer_bytes / geometry.unit_bytes), &around.ftl.lanes(),
              order_of(around.ftl, static_cast<std::uint32_t>(ftl_config.buffer_bytes / geometry.unit_bytes))),
      bytes_(data == Data::bytes ? std::make_unique<UnitData>(buffer_, geometry.unit_bytes, lba_bytes) : nullptr),
      read_cache_(ftl_config.read_cache.bytes < geometry.unit_bytes && !cache_room_
                      ? nullptr
                      : std::make_unique<ReadCache>(ftl_config.read_cache, geometry.unit_bytes, cache_room_.get())),
      stream_choice_(make_stream_choice(ftl_config, around.ftl.logical_units())),
      waiters_(around.agenda, map_, around.ftl.lanes().count(), buffer_.quotas().parts()),
      activity_(around.agenda, ends_, ftl_config.gc_idle_after),
      feed_(around.dram, around.flash),
      gc_(around.agenda, config, ftl_config, geometry, cores_, around.ftl, around.dram, around.flash, feed_, jobs_,
          activity_),
      merges_(around.ftl.placement() == nullptr
                  ? nullptr
                  : std::make_unique<MergeEngine>(config, ftl_config,
                                                  MergeEngine::Surroundings{around.agenda, cores_, around.ftl,
                                                                            around.dram, around.flash, feed_, jobs_})),
      destage_(
          config, ftl_config,
          {around.agenda, cores_, around.ftl, buffer_, feed_, gc_, jobs_, waiters_, journal_, bytes_.get(),
           map_updates(), read_cache_ && read_cache_->filled_by_writes() ? read_cache_.get() : nullptr, merges_.get()}),
      journal_(config, {around.agenda, cores_, around.ftl, feed_, gc_, jobs_, waiters_}),
      parity_(around.ftl.feature<RowParity>() == nullptr
                  ? nullptr
                  : std::make_unique<ParityWriter>(config, ParityWriter::Surroundings{around.agenda, cores_, around.ftl,
                                                                                      feed_, gc_, jobs_, waiters_})),
      word_lines_(around.word_lines == nullptr
                      ? nullptr
                      : std::make_unique<WordLineCloser>(
                            config, WordLineCloser::Surroundings{around.agenda, cores_, around.ftl, *around.word_lines,
                                                                 feed_, gc_, destage_, buffer_, jobs_, waiters_})),
      read_(services(config, lba_bytes, around, data), around.ftl.codec(), ftl_config.read_ahead,
            around.ftl.logical_units()),
      write_(services(config, lba_bytes, around, data),
             {ftl_config.buffer_mode == BufferMode::write_through,
              ftl_config.buffer_mode == BufferMode::power_protected, ftl_config.rest_reads}),
      flush_(services(config, lba_bytes, around, data), ftl_config.buffer_mode == BufferMode::power_protected),
      power_fail_(services(config, lba_bytes, around, data)),
      deallocate_(services(config, lba_bytes, around, data), {ftl_config.buffer_mode == BufferMode::write_through,
                                                              ftl_config.buffer_mode == BufferMode::power_protected}) {
    cores_.set_table(table_caches_.get());
    if (dirty_limit_ && around.ftl.config().buffer_prefers_dirty) buffer_.prefer(*dirty_limit_);
    if (cache_room_) buffer_.share(*cache_room_);
    if (around.ftl.checkpoints() != nullptr) {
        checkpoints_ = std::make_unique<CheckpointWriter>(
            config, ftl_config,
            CheckpointWriter::Surroundings{around.agenda, cores_, around.ftl, feed_, around.flash, jobs_, journal_,
                                           cached_map_.get()});
        shutdown_ = std::make_unique<CleanShutdown>(CleanShutdown::Surroundings{
            around.agenda, *checkpoints_, gc_, journal_, waiters_, cached_map_.get(), ftl_config.checkpoint_at_shutdown,
            [this, &ftl = around.ftl] { return is_quiet(ftl); }, [this](Command& c) { begin(c); },
            [this](Command& c) { ends_.complete(c); }});
        flush_.on_shutdown([this](Command& c) { shutdown_->flushed(c); });
    }
    if (ftl_config.rest_reads == RestReads::at_write_back) {
        flush_.on_begun([this] { write_.begin_merges(); });
        power_fail_.on_begun([this] { write_.begin_merges(); });
    }
    if (cache_room_) cache_room_->bind(buffer_, [this](std::uint32_t slot) { read_cache_->evict(slot); });
    resident_map_.bind(gc_);
    if (ftl_config.gc_pace != "full" || ftl_config.gc_idle_after != Ps{} || !ftl_config.gc_charge_time)
        ends_.on_end(Then::to<&HostActivity::one_ended>(&activity_), Then::to<&HostActivity::last_ended>(&activity_));
    gc_.on_host_let_go([this] { waiters_.pages_changed(); });
    SSDTLM_CHECK(around.ftl.geometry().two_step == (word_lines_ != nullptr),
                 "word lines are to be closed in flash of two steps, and only there");
    if (word_lines_) {
        gc_.on_wait(Then::to<&WordLineCloser::look>(word_lines_.get()));
        destage_.on_wait(Then::to<&WordLineCloser::look>(word_lines_.get()));
    }
    gc_.on_erase_waits([this](SuperblockId victim) {
        journal_.demand_for(victim);
        if (word_lines_) word_lines_->look();
    });
    if (cached_map_) gc_.set_map(*map_updates());
    const auto freed = [this] {
        journal_.block_freed();
        if (cached_map_) cached_map_->block_freed();
        waiters_.pages_changed();
    };
    gc_.on_block_freed(freed);
    if (!merges_) return;
    gc_.set_merges(*merges_);
    merges_->on_room(freed);
    merges_->on_erase_waits([this](SuperblockId dead) { journal_.demand_for(dead); });
}

CachedMapSurroundings Firmware::cached_map_surroundings(const FirmwareConfig& config, const Surroundings& around) {
    return {config, around.agenda, cores_, around.ftl, resident_map_, around.dram, around.flash, feed_, gc_, jobs_};
}

CommandServices Firmware::services(const FirmwareConfig& config, std::uint32_t lba_bytes, const Surroundings& around,
                                   Data data) {
    const Extents extents(around.ftl.geometry(), lba_bytes);
    return {around.agenda,
            cores_,
            map_,
            buffer_,
            around.dram,
            around.flash,
            around.host,
            jobs_,
            waiters_,
            journal_,
            ends_,
            config,
            around.ftl.media(),
            around.ftl.geometry(),
            extents,
            SignedBlocks(around.ftl.codec(), lba_bytes, extents.blocks_per_unit, data == Data::signatures),
            around.ftl.slc_region(),
            bytes_.get(),
            read_cache_.get(),
            stream_choice_.get(),
            cached_map_ != nullptr};
}

void Firmware::fill_caches(std::uint64_t units, const std::optional<BlockBytes>& bytes, const CacheFill::Next& next) {
    SSDTLM_CHECK(idle(), "caches of a drive at work are filled");
    write_.count(CacheFill(write_.services(), cached_map_.get(), dirty_limit_.get(), bytes).run(units, next));
    waiters_.settle();
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
    for (const std::uint32_t command : released) waiters_.release(command);
    waiters_.settle();
}

void Firmware::put_back(const CacheContents& contents, const std::optional<BlockBytes>& bytes) {
    SSDTLM_CHECK(idle(), "caches of a drive at work are filled");
    write_.count(CacheFill(write_.services(), cached_map_.get(), dirty_limit_.get(), bytes).put_back(contents));
    waiters_.settle();
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

/// Nothing is on its way to the flash, or will be by itself.
bool Firmware::is_quiet(const Ftl& ftl) const {
    return destage_.programs() == 0 && buffer_.used() == 0 && gc_.active() == 0 && journal_.idle() &&
           jobs_.used() == 0 && (!parity_ || parity_->idle()) && (!cached_map_ || cached_map_->idle()) &&
           ftl.checkpoints()->in_flight().none();
}

bool Firmware::idle() const {
    return ends_.under_way() == 0 && (!checkpoints_ || (checkpoints_->idle() && shutdown_->idle())) &&
           destage_.programs() == 0 && buffer_.used() == 0 && gc_.active() == 0 && journal_.idle() &&
           (!parity_ || parity_->idle()) && (!cached_map_ || cached_map_->idle()) &&
           (!read_cache_ || read_cache_->fills() == 0) && jobs_.used() == 0;
}

void Firmware::check_waiters() const {
    buffer_.check_waiters();
    if (cache_room_) cache_room_->check();
    gc_.check_waiters();
    if (merges_) merges_->check_waiters();
    destage_.check_waiters();
    feed_.check_waiters();
    journal_.check_waiters();
    if (parity_) parity_->check_waiters();
    if (word_lines_) word_lines_->check_waiters();
    if (cached_map_) cached_map_->check_waiters();
    if (dirty_limit_) dirty_limit_->check_waiters();
    if (checkpoints_) checkpoints_->check_waiters();
    const bool reads_ahead = read_.ahead() != nullptr && read_.ahead()->under_way() != 0;
    waiters_.check_waiters({destage_.under_way() || reads_ahead || journal_.under_way() ||
                                (parity_ && !parity_->idle()) || (shutdown_ && shutdown_->under_way()),
                            write_.fetching() != 0, write_.merges().under_way() != 0});
    write_.check_waiters();
    flush_.check_waiters();
    power_fail_.check_waiters();
}

std::string Firmware::dump() const {
    return "firmware: " + std::to_string(ends_.under_way()) + " commands\n" + waiters_.dump() + read_.dump() +
           write_.dump() + flush_.dump() + power_fail_.dump() + deallocate_.dump() + destage_.dump() + journal_.dump() +
           (parity_ ? parity_->dump() : "") + (word_lines_ ? word_lines_->dump() : "") +
           (cached_map_ ? cached_map_->dump() : "") + (dirty_limit_ ? dirty_limit_->dump() : "") +
           (checkpoints_ ? checkpoints_->dump() + shutdown_->dump() : "") + feed_.dump() +
           "write buffer: " + std::to_string(buffer_.used()) + " of " + std::to_string(buffer_.capacity()) +
           " units taken, " + std::to_string(buffer_.dirty()) + " dirty, " + std::to_string(buffer_.queued()) +
           " of them may be programmed\n" + gc_.dump() + (merges_ ? merges_->dump() : "");
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
