// SPDX-License-Identifier: Apache-2.0
// The transaction timeline of a device. It has a track for each queue slot, link direction, core, channel and die, and
// a slice for each use of one of them. Each command has a flow. It begins at the wait in the host, if any, or at the
// slice in the queue, and goes through all slices that served the command (core step, flash command, array, data out,
// data on the link, CQE). Slices that are reported ahead of their time are held back until then, because the power may
// be lost. Kernel-free.
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
    /// It leaves out slices that begin before `from` or after `to`.
    DeviceTimeline(TraceWriter& writer, const NandConfig& nand, std::uint32_t cores, SimTime from, SimTime to);

    /// The firmware takes a command from the front end. `issued` and `submitted`: when the host did so. `memory`: where
    /// its data lie in the host; null: not known.
    void command_begins(const Command& command, SimTime issued, SimTime submitted, const HostData* memory);
    /// The firmware has ended the command.
    void command_ends(const Command& command, SimTime now);
    /// The host's handler has seen the completion of the command with this timeline. With it the whole request ends.
    void request_ends(const HostRequest& request, const Timeline& timeline, SimTime now);

    void on_step(std::uint32_t core, CoreStep step, std::uint64_t command, SimTime start, SimTime end);
    /// A DMA write is given to the link. Its command is found by the address or, for a CQE, by the contents. `bulk`:
    /// other writes may pass it, and its data are there from `at` on.
    void dma_write(std::uint64_t address, std::uint32_t bytes, const std::uint8_t* data, bool bulk, SimTime at);
    void on_wire(bool up, const WireBurst& burst);
    /// Names the tracks of a Serial ATA link.
    void name_sata_link();
    /// The host sends a command with this tag. Its number is not known until the drive has decoded it.
    void sata_command_comes(std::uint32_t tag) { by_id_.erase(kSataQueue << 16 | tag); }
    /// A frame was on the Serial ATA link. `tag`: the tag of its command; empty: the frame belongs to no command or to
    /// several.
    void sata_frame(SimTime begin, SimTime end, const char* name, const std::string& arguments,
                    std::optional<std::uint32_t> tag);

    void submitted(std::uint32_t, std::uint32_t, const FlashWork&, SimTime) override {}
    void sequence(const BusSequence& s) override;
    void control(const BusSequence& s) override;
    void suspended(std::uint32_t channel, std::uint32_t die, std::uint32_t planes, SimTime now) override;
    void array_done(std::uint32_t channel, std::uint32_t die, std::uint32_t planes, SimTime now) override;
    void data_done(std::uint32_t, std::uint32_t, std::uint32_t, SimTime) override {}
    /// All operations of the drive end now, and slices that were to come later are dropped.
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
    static constexpr std::uint32_t kSataQueue = 1;  // the only queue of a Serial ATA drive
    struct Record {
        std::uint64_t number = 0;
        const char* name = "";
        std::uint16_t sqid = 0;
        std::uint16_t cid = 0;
        std::uint64_t slba = 0;
        std::uint64_t bytes = 0;
        SimTime submitted{};
        SimTime ended{};
        bool flow_begun = false;  ///< its flow began at the wait in the host
    };
    struct Operation {
        FlashWork work;
        FlashClass cls = FlashClass::host_read;
        FlashCause cause = FlashCause::of_class;
        std::uint32_t count = 0;
        SimTime busy_from = kNever;  ///< kNever: none
    };
    /// A slice of a serial resource that was reported ahead of its time, with the flow that passes it.
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
    /// Returns the track of the queue that was free for the shortest time at `begin`. If ends never decrease, it makes
    /// no more tracks than there are slices at a time.
    TrackId lane(Lanes& queues, std::uint32_t first, const char* name, std::uint16_t queue, SimTime begin, SimTime end);
    TrackId die_track(std::uint32_t channel, std::uint32_t die, std::uint32_t plane) const;

    TraceWriter& writer_;
    const NandGeometry geometry_;
    const bool plane_tracks_;  // planes of a die read independently
    const SimTime from_;
    const SimTime to_;
    std::unordered_map<const Timeline*, Record> records_;          // looked up only
    std::unordered_map<std::uint64_t, const Timeline*> slots_of_;  // by command; who ends a request may have a copy
    std::unordered_map<std::uint32_t, std::uint64_t> by_id_;       // SQ << 16 | CID
    std::unordered_map<std::uint64_t, std::uint64_t> by_page_;     // host page -> command that it belongs to
    Lanes slots_, waiting_;
    std::vector<Ahead> ahead_;
    std::size_t look_at_ = kAhead;                          // catch_up() looks at ahead_ from this size on
    SimTime supply_failed_ = kNever, power_lost_ = kNever;  // kNever: it has not
    bool has_supply_track_ = false;
    bool has_sata_link_ = false;         // if so, PCIe ends at the host's adapter, which keeps its power
    std::vector<Operation> operations_;  // by global plane
    std::deque<std::uint64_t> writes_;   // commands of writes that were given to the link, but are not on the wire
    std::deque<std::pair<SimTime, std::uint64_t>> bulk_;  // as writes_, for bulk writes, with the times of their data
};

}  // namespace ssdtlm
