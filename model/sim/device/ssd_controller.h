// SPDX-License-Identifier: Apache-2.0
// The controller of a drive, between its end of the link and its flash channels:
//
//   host <-> FrontEnd -Command-> Firmware -FlashTransaction-> FlashBackend -channel(i)->
//               ^------ data --------'  |  '- DramPort
//                                      Ftl
//
// The front end is chosen by name (frontend.kind). It has sockets of its own; front_end_as() returns it to the code
// that binds them. A loss of power destroys the firmware's organs, the memory and the map (reached by ->), and they are
// built again in their places. The other parts reset themselves, so their sockets stay bound.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "common/latency/command_tracker.h"
#include "common/latency/occupancy.h"
#include "common/snapshot/snapshot.h"
#include "common/tlm/agenda.h"
#include "controller/channel_ctrl/flash_backend.h"
#include "controller/cpu/firmware.h"
#include "controller/dram/dram_models.h"
#include "controller/ftl/ftl.h"
#include "controller/functional/workload_play.h"
#include "controller/mount/map_rebuild.h"
#include "controller/parity/parity_engine.h"
#include "controller/ports/front_end.h"
#include "controller/precondition/overwrite_rounds.h"
#include "controller/refresh/read_counter.h"
#include "controller/snapshot/ftl_state.h"
#include "controller/word_lines/word_line_guard.h"
#include "nand/array/spare_area.h"
#include "sim/sim_config.h"
#include "sim/taps.h"

namespace ssdtlm {

class SsdController : public sc_core::sc_module {
public:
    /// Builds and preconditions the drive. `flash`: the contents of the flash behind the channels. `flash` and `taps`
    /// must outlive the controller. `host`: its commands are carried out after the configured state is made, unless the
    /// drive is a saved one; null: there are none.
    SsdController(sc_core::sc_module_name name, Agenda& agenda, const DeviceConfig& config, const ContentsConfig& data,
                  SpareArea& flash, SsdTaps& taps = SsdTaps::none(), FunctionalHost* host = nullptr);

    /// Returns the front end by its type, to bind it to a host. Throws CheckFailed when it has another type.
    template <class T>
    T& front_end_as() const {
        T* const it = dynamic_cast<T*>(front_end.get());
        if (it == nullptr)
            throw CheckFailed("controller: frontend.kind is '" + config.front_end.kind +
                              "', and a front end of another type is asked for");
        return *it;
    }
    /// The socket to be bound to the flash of that channel.
    OnfiInitiatorSocket& channel(std::uint32_t ch) { return backend.channel(ch).onfi_initiator; }

    /// The host's power is lost, and capacitors protect the write buffer. Data to and from the host are lost from now
    /// on. Calls `saved`, in an entry of the agenda, when buffer and journal are in flash. Precondition: the agenda has
    /// no entry of the front end.
    void supply_fails(std::function<void()> saved);
    /// True: the drive searches for its map. Its buffer is empty meanwhile.
    bool looks_for_map() const { return looks_for_map_; }
    /// Carries out a loss of power. Precondition: the agenda has no entry of the controller. `host_commands`: number of
    /// commands whose completion has reached the host.
    void lose_power(std::uint64_t host_commands);
    /// The power returns. The controller finds the map on the flash, calls `found`, and serves the host.
    void start_again(std::function<void()> found);
    /// The last search for the map; null: the power was never lost.
    const MapRebuild* scan() const { return scan_ ? &*scan_ : nullptr; }

    /// Pages programmed, pages read, blocks erased since the start, over all channels.
    std::uint64_t flash_pages(FlashClass cls) const;  ///< whatever the cause
    std::uint64_t flash_pages(FlashClass cls, FlashCause cause) const;
    /// Share of a block's erase limit that is used up, in per cent (nand.faults.pe_limit); 0 if no limit is known.
    std::uint8_t percentage_used() const;
    /// Counts up to the last loss of power.
    struct Earlier {
        FtlCounters ftl;
        std::vector<SetCounts> sets;
        FeatureCounters features;
        std::array<std::uint64_t, kFlashWorkCount> pages{};  ///< by flash_work()
        Ps dram{};
        std::uint64_t coalesced = 0, merge_reads = 0, victims = 0, gc_pauses = 0;
        ReadCache::Counters read_cache;
        TableCaches::Counters table;
        ParityEngine::Counters parity;
        CachedMap::Counters map;
        WriteBacks::Counters map_written;
        std::uint32_t most_dirty_pages = 0;
        std::uint64_t rows_held_back = 0;
        std::vector<Ps> cores;
    };
    const Earlier& earlier() const { return earlier_; }

    /// `probe` is told of each victim of garbage collection from now on. It must outlive the controller.
    void watch_gc(GcProbe& probe);
    /// From now on `occupancy` records what holds dies, buses and cores.
    void record(Occupancy& occupancy);
    /// Reads or writes the state when nothing is under way. It is read into a drive that was not preconditioned.
    void state(Snapshot& s);
    std::string dump() const;
    void dump(std::ostream& out) const override { out << dump(); }
    /// Throws CheckFailed if somebody waits for an event that will never come. Call it between two entries of the
    /// agenda.
    void check_waiters() const;

    const DeviceConfig config;
    const ContentsConfig data;
    Agenda& agenda;
    SpareArea& contents;
    CommandTracker stages;  ///< timelines of the commands, for observers
    std::optional<Ftl> ftl;
    const OverwriteRounds overwrites;  ///< overwrites of preconditioning; none for a saved drive
    WorkloadBooks played;              ///< books of the workload of preconditioning
    const std::unique_ptr<FrontEnd> front_end;
    std::unique_ptr<DramPort> dram;
    FlashBackend backend;
    FlashPort& flash_port;                      ///< the back end, or a part in front of it
    std::optional<ReadCounter> read_counter;    ///< in front of the back end; none: reads are not counted
    std::optional<ParityEngine> parity_engine;  ///< in front of both; none: rows have no parity
    std::optional<WordLineGuard> word_lines;    ///< in front of all; none: the flash is programmed in one step
    std::optional<Firmware> firmware;

private:
    void connect();
    void build_firmware();
    void start_ages(bool written_now);
    void fill_caches();
    void front_end_state(Snapshot& s);
    void buffer_saved() { saved_(); }
    void play(FunctionalHost& host);

    GcProbe* gc_probe_ = nullptr;     // null: nobody wants to know
    Occupancy* occupancy_ = nullptr;  // null: nobody wants to know
    std::optional<MapRebuild> scan_;
    bool looks_for_map_ = false;
    std::function<void()> saved_;
    FlashLayout layout_;  // layout of the flash at the start
    Earlier earlier_;
    CacheContents played_caches_;
};

}  // namespace ssdtlm
