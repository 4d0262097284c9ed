// SPDX-License-Identifier: Apache-2.0
// The firmware. It takes commands from the front end, gives each to the handler of its kind, and holds the parts that
// serve them: cores, map, write buffer, wait queues, destaging and garbage collection. It connects them and does
// nothing itself. Not modelled: instruction fetch, interrupts between cores.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "controller/checkpoint/checkpoint_writer.h"
#include "controller/checkpoint/clean_shutdown.h"
#include "controller/commands/deallocate_command.h"
#include "controller/commands/flush_command.h"
#include "controller/commands/power_fail_flush.h"
#include "controller/commands/read_command.h"
#include "controller/commands/write_command.h"
#include "controller/cpu/cache_fill.h"
#include "controller/cpu/core_pool.h"
#include "controller/cpu/table_caches.h"
#include "controller/destage/destage.h"
#include "controller/ftl/ftl.h"
#include "controller/gc/gc_engine.h"
#include "controller/gc/host_activity.h"
#include "controller/journal/journal_writer.h"
#include "controller/map/cached/cached_map.h"
#include "controller/map/cached/dirty_limit.h"
#include "controller/map/resident/resident_map.h"
#include "controller/page_writer/page_writer.h"
#include "controller/ports/feature_organ.h"
#include "controller/shared_cache/shared_cache.h"
#include "controller/streams/stream_choices.h"
#include "controller/wait_queues/wait_queues.h"
#include "controller/word_lines/padding_writer.h"
#include "controller/write_buffer/write_buffer.h"

namespace ssdtlm {

class Firmware final : public CommandSink {
public:
    /// The organs and ports that the firmware uses. All must outlive it.
    struct Peers {
        Agenda& agenda;
        Ftl& ftl;
        FlashPort& flash;
        HostPort& host;
        DramPort& dram;
        WordLineGuard* word_lines = nullptr;  ///< which is `flash`; null: each program ends by itself
        /// Makes the map that commands ask, over the firmware's own; empty: that one itself.
        std::function<std::unique_ptr<MapPort>(MapPort& own)> map{};
    };
    /// How the host's data are represented.
    enum class Data : std::uint8_t {
        signatures,           ///< what the host signs; that of another logical block is refused
        bytes,                ///< all of it; the flash has to keep bytes
        unchecked_signatures  ///< what the host signs, and nothing is refused
    };
    Firmware(const FirmwareConfig& config, const FtlConfig& ftl_config, const NandGeometry& geometry,
             std::uint32_t lba_bytes, const Peers& peers, Data data = Data::signatures);

    void bind(CompletionSink& completions) { ends_.bind(completions); }
    void submit(Command& command) override;
    void abort_waits(bool aborts) override {
        write_.abort_waits(aborts);
        flush_.abort_waits(aborts);
        deallocate_.abort_waits(aborts);
        if (!aborts) return;
        // The last command that is let go ends the reset, and with it the aborting.
        write_.let_go();
        flush_.let_go();
        deallocate_.let_go();
    }

    /// Ftl::on_media_change() calls it.
    void media_changed() {
        for (Organ* const organ : organs_) organ->media_changed();
    }
    /// Fills the caches as a host leaves them that has written units `next()` among the first `units`. Precondition:
    /// nothing was submitted yet.
    void fill_caches(std::uint64_t units, const std::optional<BlockBytes>& bytes, const CacheFill::Next& next);
    /// Returns the present contents of its caches, for put_back() in another firmware. Units on their way to the flash
    /// are left out.
    CacheContents cache_contents() const;
    /// Forgets units in the write buffer of which the flash has an older copy. Another drive holds them, and will write
    /// them.
    void drop_copied(const Ftl& ftl);
    void put_back(const CacheContents& contents, const std::optional<BlockBytes>& bytes);
    /// Continues where another firmware of the same configuration has stopped, over the same FTL. Precondition: both
    /// are idle, and nothing was submitted to this one yet. The write buffer and the read cache are left as they are.
    void take_over(Firmware& other);
    /// Ftl::on_victim_due() calls it.
    void victim_due(GroupId group) { gc_.check(group); }
    /// The drive works: what it holds grows old (refresh.age).
    void watch_ages() { gc_.watch_ages(); }
    /// Begins no new GC victims and finishes those under way. It is for the end of a run.
    void stop_gc() {
        gc_.stop();
        if (word_lines_) word_lines_->drain();
    }
    /// Begins no new GC victims and leaves those under way partly collected. It is for a run that continues elsewhere.
    void stop_gc_in_midst() { gc_.stop_in_midst(); }
    /// The supply fails, and capacitors protect the write buffer. Calls `saved` when the contents of buffer and journal
    /// are in flash. The host is gone by then.
    void supply_fails(std::function<void()> saved) { power_fail_.start(std::move(saved)); }
    /// Begins to write what the DRAM alone has of a map on the flash.
    void write_out_map() {
        if (cached_map_) cached_map_->write_all([] {});
    }
    /// True: nothing is in flight and nothing is dirty.
    bool idle() const;

    const WriteBuffer& buffer() const { return buffer_; }
    const CorePool& cores() const { return cores_; }
    CorePool& cores() { return cores_; }
    /// Null: cores have no data caches.
    const TableCaches* table_caches() const { return table_caches_.get(); }
    void set_core_probe(CoreProbe* probe) { cores_.set_probe(probe); }
    /// From now on the work of the cores is kept in a log.
    void record(Occupancy& log) { cores_.record(log); }
    const GcEngine& gc() const { return gc_; }
    void set_probe(GcProbe* probe) { gc_.set_probe(probe); }
    const WaitQueues& wait_queues() const { return wait_queues_; }
    const Destage& destage() const { return destage_; }
    /// True: a command waits for programs of the write buffer or of the journal: for room, or for what it wrote to be
    /// in flash. It looks at every command.
    bool anybody_waits_for_programs() const;
    /// Null: the map is all in memory.
    const CachedMap* cached_map() const { return cached_map_.get(); }
    CachedMap* cached_map() { return cached_map_.get(); }
    /// Null: all of its pages may be dirty.
    const DirtyLimit* dirty_limit() const { return dirty_limit_.get(); }
    /// Null: there is none.
    const ReadCache* read_cache() const { return read_cache_.get(); }
    ReadCache* read_cache() { return read_cache_.get(); }
    std::uint64_t host_units_written() const { return write_.units_written(); }
    std::uint64_t host_units_read() const { return read_.units_read(); }
    std::uint64_t host_units_mapped() const { return destage_.units_mapped(); }
    /// Units that were deallocated between leaving the dirty queue and taking a flash page.
    std::uint64_t host_units_discarded_before_map() const { return destage_.units_discarded(); }
    /// Units that vanished from the buffer because their rest cannot be read, or because the flash takes no more pages.
    std::uint64_t host_units_lost() const { return buffer_.merges_failed() + destage_.units_given_up(); }
    std::uint64_t merge_reads() const { return write_.merges().reads(); }
    /// Throws CheckFailed if somebody waits and nothing under way will wake it. Call it between two events. It looks at
    /// every group of planes.
    void check_waiters() const;
    /// Text for the watchdog and for panics.
    std::string dump() const;
    /// Reads or writes what remains when there is nothing to do. Precondition (checked): idle().
    void state(Snapshot& s);

private:
    std::vector<Organ*> organs();
    bool organs_idle() const;
    void begin(Command& command);
    void state_but_read_cache(Snapshot& s);
    /// Null: the map is all in memory.
    MapUpdates* map_updates() {
        if (dirty_limit_) return dirty_limit_.get();
        return cached_map_.get();
    }
    MapPort& own_map() { return cached_map_ ? static_cast<MapPort&>(*cached_map_) : resident_map_; }
    MapPort& named_map() { return named_map_ ? *named_map_ : own_map(); }
    CachedMapPeers cached_map_peers(const FirmwareConfig& config, const Peers& peers);
    CommandServices services(const FirmwareConfig& config, std::uint32_t lba_bytes, const Peers& peers, Data data);

    CorePool cores_;
    std::unique_ptr<TableCaches> table_caches_;  // null: an access to the map's table is part of a step's cycles
    FlashJobs jobs_;
    ResidentMap resident_map_;
    std::unique_ptr<CachedMap> cached_map_;    // null: the map is all in memory
    std::unique_ptr<DirtyLimit> dirty_limit_;  // null: none
    std::unique_ptr<MapPort> named_map_;       // of the mapping (ftl.mapping); null: own_map()
    std::unique_ptr<MapPort> own_map_;
    MapPort& map_;
    std::unique_ptr<SharedCache> shared_cache_;  // null: write buffer and read cache have their own
    WriteBuffer buffer_;
    std::unique_ptr<UnitData> bytes_;              // null: signatures stand for the data
    std::unique_ptr<ReadCache> read_cache_;        // null: none
    std::unique_ptr<StreamChoice> stream_choice_;  // null: the host says which stream
    WaitQueues wait_queues_;
    CommandEnds ends_;
    HostActivity activity_;
    PageWriter writer_;
    GcEngine gc_;
    std::unique_ptr<MergeEngine> merges_;  // null: there are none
    Destage destage_;
    JournalWriter journal_;
    std::vector<std::unique_ptr<Organ>> features_;  // of the FTL, what they do in time
    std::unique_ptr<PaddingWriter> word_lines_;     // null: each program ends by itself
    ReadCommand read_;
    WriteCommand write_;
    FlushCommand flush_;
    PowerFailFlush power_fail_;
    DeallocateCommand deallocate_;
    std::unique_ptr<CheckpointWriter> checkpoints_;  // null: the drive has none
    std::unique_ptr<CleanShutdown> shutdown_;        // null as well
    std::vector<Organ*> organs_;  // those of the organs above that exist, in the order in which they are asked
};

}  // namespace ssdtlm
