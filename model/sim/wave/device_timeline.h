// SPDX-License-Identifier: Apache-2.0
// The transaction timeline of a device: a track for each queue slot, link direction, core, channel and die; a slice for
// all that occupies one of them; and for each command a flow from its wait in the host, if any, and its slice in the
// queue through the slices that served it (core step, flash command, array, data out, data on the link, CQE). What is
// told ahead of its time is held back until then: the power may go. Kernel-free.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "controller/cpu/core_probe.h"
#include "controller/dma/host_data.h"
#include "controller/ports/command.h"
#include "host_pcie/link/link_probe.h"
#include "host_pcie/ports/host_request.h"
#include "nand/onfi/nand_config.h"
#include "sim/wave/flash_observer.h"
#include "sim/wave/trace_writer.h"

namespace ssdtlm {

class DeviceTimeline final : public FlashListener {
public:
    /// Slices that begin before `from` or after `to` are left out.
    DeviceTimeline(TraceWriter& writer, const NandConfig& nand, std::uint32_t cores, SimTime from, SimTime to);

    /// The firmware takes a command from the front end. The host has issued and submitted it at these times. `memory`:
    /// where its data lie in the host; null: this is not known.
    void command_begins(const Command& command, SimTime issued, SimTime submitted, const HostData* memory);
    /// The firmware has ended the command.
    void command_ends(const Command& command, SimTime now);
    /// The host's handler has seen the completion of the command with this timeline, which stands for the whole
    /// request.
    void request_ends(const HostRequest& request, const Timeline& timeline, SimTime now);

    void on_step(std::uint32_t core, CoreStep step, std::uint64_t command, SimTime start, SimTime end);
    /// A DMA write is given to the link. Its command is known by its address or, for a CQE, by its contents. `bulk`:
    /// others may pass it, and its data are there from `at` on.
    void dma_write(std::uint64_t address, std::uint32_t bytes, const std::uint8_t* data, bool bulk, SimTime at);
    void on_wire(bool up, const WireBurst& burst);
    /// Names the tracks of a Serial ATA link.
    void name_sata_link();
    /// The host sends a command with this tag. The drive says which command it is when it has decoded it.
    void sata_command_comes(std::uint32_t tag) { by_id_.erase(kSataQueue << 16 | tag); }
    /// A frame was on the Serial ATA link. `tag`: that of its command; empty: the frame is for no command, or for
    /// several.
    void sata_frame(SimTime begin, SimTime end, const char* name, const std::string& arguments,
                    std::optional<std::uint32_t> tag);

    void submitted(std::uint32_t, std::uint32_t, const FlashWork&, SimTime) override {}
    void sequence(const BusSequence& s) override;
    void control(const BusSequence& s) override;
    void suspended(std::uint32_t channel, std::uint32_t die, std::uint32_t planes, SimTime now) override;
    void array_done(std::uint32_t channel, std::uint32_t die, std::uint32_t planes, SimTime now) override;
    void data_done(std::uint32_t, std::uint32_t, std::uint32_t, SimTime) override {}
    /// All operations of the drive end now, and what it was to do later does not come.
    void power_lost(SimTime now) override;
    /// The host resets the controller, and has given up its commands.
    void reset(SimTime now);
    /// The host has given up its commands, and nothing is on the link any more.
    void supply_fails(SimTime now);
    void power_back(SimTime now);

    /// The run ends: writes what has not been written yet.
    void finish(SimTime now);

private:
    static constexpr std::size_t kAhead = 1024;
    static constexpr std::uint32_t kSataQueue = 1;  // a Serial ATA drive's only one
    struct Record {
        std::uint64_t number = 0;
        const char* name = "";
        std::uint16_t sqid = 0;
        std::uint16_t cid = 0;
        std::uint64_t slba = 0;
        std::uint64_t bytes = 0;
        SimTime submitted{};
        SimTime ended{};
        bool flow_begun = false;  ///< at its wait in the host
    };
    struct Operation {
        FlashWork work;
        FlashClass cls = FlashClass::host_read;
        FlashCause cause = FlashCause::of_class;
        std::uint32_t count = 0;
        SimTime busy_from = kNever;  ///< kNever: none
    };
    /// A slice of a serial resource whose time has not come, with the flow that passes it.
    struct Ahead {
        TrackId track;
        SimTime begin, end;
        std::string name, arguments;
        std::uint64_t command;  ///< 0: no flow
    };
    void ahead(TrackId track, SimTime begin, SimTime end, std::string name, std::string arguments,
               std::uint64_t command);
    void write(const Ahead& a);
    void catch_up(SimTime now);
    void cut(SimTime now, bool link);
    void end_commands(SimTime now, const char* why);
    void end_busy(std::size_t plane, SimTime now, const char* more);
    void will_end(std::size_t plane, SimTime at);
    static std::string operation_arguments(const Operation& o, const char* more = "");
    bool wanted(SimTime begin) const { return begin >= from_ && begin <= to_; }
    void write(const Record& r, SimTime end, const Timeline* stages, const char* more = "");
    bool write_wait(const Command& command, SimTime issued, SimTime submitted);
    using Lanes = std::vector<std::vector<SimTime>>;  // by queue: when each lane is free
    /// The track of the queue that has been free for the shortest time at `begin`. Ends must not go back; then no more
    /// tracks are made than there are slices at a time.
    TrackId lane(Lanes& queues, std::uint32_t first, const char* name, std::uint16_t queue, SimTime begin, SimTime end);
    TrackId die_track(std::uint32_t channel, std::uint32_t die, std::uint32_t plane) const;

    TraceWriter& writer_;
    const NandGeometry geometry_;
    const bool plane_tracks_;  // planes of a die work on their own
    const SimTime from_;
    const SimTime to_;
    std::unordered_map<const Timeline*, Record> records_;          // looked up only
    std::unordered_map<std::uint64_t, const Timeline*> slots_of_;  // by command; who ends a request may have a copy
    std::unordered_map<std::uint32_t, std::uint64_t> by_id_;       // SQ << 16 | CID
    std::unordered_map<std::uint64_t, std::uint64_t> by_page_;     // host page -> command that it belongs to
    Lanes slots_, waiting_;
    std::vector<Ahead> ahead_;
    std::size_t look_at_ = kAhead;                          // entries of ahead_ that are worth a look
    SimTime supply_failed_ = kNever, power_lost_ = kNever;  // kNever: it has not
    bool has_supply_track_ = false;
    bool has_sata_link_ = false;         // then PCIe ends at the host's adapter, which has the host's power
    std::vector<Operation> operations_;  // by global plane
    std::deque<std::uint64_t> writes_;   // given to the link, not yet on the wire: their commands
    std::deque<std::pair<SimTime, std::uint64_t>> bulk_;  // the same of bulk writes, with the times of their data
};

}  // namespace ssdtlm
