// SPDX-License-Identifier: Apache-2.0
// A drive that serves commands without simulated time. It is the firmware with all of its parts, over an FTL and flash
// that another firmware uses later. The state it leaves there is what the timed drive would have left: there is no
// second garbage collection, buffer or map.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "controller/cpu/firmware.h"
#include "controller/functional/functional_ports.h"
#include "controller/parity/parity_engine.h"
#include "controller/refresh/read_counter.h"

namespace ssdtlm {

/// A command of a host. Its data are not used.
struct FunctionalCommand {
    IoOp op = IoOp::read;
    bool fua = false;
    std::uint8_t stream = 0;  ///< the drive's number of the one that a write names; 0: none
    std::uint64_t slba = 0;
    std::uint32_t blocks = 0;  ///< more than 0 but for a flush
    std::uint64_t tag = 0;     ///< the host's
};

class FunctionalDrive final : private CompletionSink {
public:
    /// Commands that may be under way at once.
    static constexpr std::uint32_t kCommands = 1024;

    /// All arguments must outlive it. The FTL has been preconditioned, or is as an earlier FunctionalDrive has left it.
    FunctionalDrive(const FtlConfig& config, const NandConfig& nand, std::uint32_t lba_bytes, Ftl& ftl,
                    SpareArea& contents);

    bool has_room() const { return !free_.empty(); }
    std::uint32_t under_way() const { return kCommands - static_cast<std::uint32_t>(free_.size()); }
    /// Precondition: has_room(). It may end within the call.
    void submit(const FunctionalCommand& command) { submit(command, false); }
    /// `callback` is called with the tag of each command that ends.
    void on_end(std::function<void(std::uint64_t)> callback) { ended_ = std::move(callback); }
    /// Runs the next event. False: there is none.
    bool step() { return agenda_.run_one(kNever); }
    /// Runs until there is no event any more.
    void run() { agenda_.run(); }

    /// Comes to rest as in a pause: everything that was written is on the flash, and no victim is begun. Precondition:
    /// nothing is under way. `map_too`: the entries of a cached map are on the flash as well.
    void come_to_rest(bool map_too);
    /// Stops as a host at work leaves the drive: everything that was written is on the flash, and victims are half
    /// emptied. Precondition: nothing is under way.
    void stop_at_work();
    const Firmware& firmware() const { return *firmware_; }
    Firmware& firmware() { return *firmware_; }

private:
    struct Slot {
        Command command;
        Timeline timeline;
        std::uint64_t tag = 0;
    };
    void submit(const FunctionalCommand& command, bool ends_work);
    void flush();
    void settle();
    void complete(Command& command) override;

    const FtlConfig config_;
    const FirmwareConfig costs_;
    const std::uint32_t lba_bytes_;
    Agenda agenda_;
    FunctionalFlash flash_;
    FunctionalTransfers transfers_;
    FunctionalDram dram_;
    Ftl& ftl_;
    std::optional<ReadCounter> read_counter_;    // none: reads are not counted
    std::optional<ParityEngine> parity_engine_;  // none: rows have no parity
    std::optional<Firmware> firmware_;
    std::vector<Slot> slots_;
    std::vector<std::uint32_t> free_;
    std::uint64_t commands_ = 0;
    std::function<void(std::uint64_t)> ended_;
};

}  // namespace ssdtlm
