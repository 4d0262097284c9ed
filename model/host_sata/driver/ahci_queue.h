// SPDX-License-Identifier: Apache-2.0
// The AHCI driver's only queue: it turns requests into ATA commands in the slots of the command list. Tag and slot are
// the same. It needs no SystemC kernel and uses MmioPort. Sources: Linux drivers/ata: libata-core.c ata_build_rw_tf(),
// libata-sata.c ata_std_qc_defer(), libahci.c ahci_qc_issue(), libata-scsi.c (UNMAP as DATA SET MANAGEMENT).
//
// - Reads and writes are queued commands (NCQ), or DMA EXT commands one at a time.
// - FLUSH CACHE EXT and DATA SET MANAGEMENT are not queued. One of them goes to an empty drive, and no other command
//   follows before its end. Announced commands keep their order behind it.
// - A request may need several commands, one after the other in its slot. Examples are a trim of more blocks than the
//   drive takes at once, and a FUA write for a drive without FUA (a flush follows, as in Linux).
// - After an error the failed command ends with its status. Commands that the drive has aborted go there again, ahead
//   of waiting ones.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "common/latency/command_tracker.h"
#include "host_pcie/driver/host_config.h"
#include "host_pcie/driver/mmio_port.h"
#include "host_pcie/driver/prp_builder.h"
#include "host_pcie/ports/command_queues.h"
#include "host_sata/driver/ahci_driver_config.h"
#include "host_sata/driver/ahci_memory.h"

namespace ssdtlm {

/// What the driver knows from IDENTIFY.
struct AtaDrive {
    bool ncq = false;
    bool forces_writes = false;          ///< WRITE DMA FUA EXT; queued writes always have FUA
    std::uint32_t most_trim_blocks = 1;  ///< of 512 bytes, with ranges
};

class AhciQueue final : public CommandQueues {
public:
    /// Key in CommandTracker of the drive's timeline for commands that are not queued: their frame has no tag.
    static constexpr std::uint16_t kNotQueued = ahci::kSlots;

    /// `stages` is the drive's tracker and may be null.
    AhciQueue(HostMemory& memory, AhciMemory& commands, const HostConfig& host, const AhciDriverConfig& config,
              MmioPort& mmio, CommandTracker* stages);

    /// Takes what IDENTIFY has returned, for the first time or again.
    void take(const DriveInfo& info, const AtaDrive& drive);
    /// hold() stops sending commands to the drive, and go_on() continues.
    void hold() { held_ = true; }
    void go_on() {
        held_ = false;
        issue();
    }
    /// True if no command is in the drive or waits to go there.
    bool idle() const { return active_ == 0 && waiting_.empty() && written_.empty(); }

    /// active() has a bit for each slot in the drive; queued() says whether they are queued commands.
    std::uint32_t active() const { return active_; }
    bool queued() const { return active_ != 0 && queued_; }
    /// Only these slots are still in the drive; the others have ended well. Returns true if some have.
    bool still_active(std::uint32_t slots);
    /// The slot has failed with these registers, and ends. After an error of the interface it stays in the drive
    /// instead, and is taken back with the others.
    void fail(std::uint32_t slot, std::uint8_t status, std::uint8_t error);
    /// Sends all commands in the drive again. With `tried`, the drive was reset because it did not name the failed
    /// command. A command that was tried too often then ends with an error (libata-eh.c, ATA_EH_MAX_TRIES).
    void take_back_all(bool tried);

    // CommandQueues
    std::uint32_t count() const override { return depth_ != 0 ? 1 : 0; }
    bool has_room(std::uint16_t) const override { return !free_.empty(); }
    Submitted submit(std::uint16_t queue, const HostRequest& request) override;
    void announce(std::uint16_t queue) override;
    bool has_ended(std::uint16_t) const override { return !ended_.empty(); }
    std::uint16_t next_ended(std::uint16_t) const override { return ended_.front().tag; }
    Ended take_ended(std::uint16_t queue) override;
    void acknowledge(std::uint16_t) override {}  // the handler has acknowledged it by PxIS
    std::uint32_t outstanding(std::uint16_t) const override {
        return depth_ - static_cast<std::uint32_t>(free_.size());
    }
    std::optional<std::uint16_t> tag_in_host(std::uint16_t queue, std::uint16_t tag) const override;
    bool is_outstanding(std::uint16_t, std::uint16_t tag) const override { return slots_[tag].busy; }
    void forget(std::uint16_t queue) override;
    std::string status_text(std::uint32_t code) const override;
    std::string dump(std::uint16_t queue) const override;

    std::uint64_t submitted_again() const { return submitted_again_; }

private:
    struct Slot {
        HostRequest request;
        SlotBuffer buffer;
        std::uint64_t order = 0;  // order of submission
        std::uint64_t done = 0;   // blocks of a trim that are done
        std::uint64_t doing = 0;  // blocks of the command in the drive
        std::uint32_t tries = 0;  // number of attempts that ended with a reset
        bool flushing = false;    // a FUA write is written, and its flush follows
        bool busy = false;
    };
    static constexpr std::uint32_t kMostTries = 5;
    static std::uint32_t bit(std::uint32_t tag) { return 1u << tag; }
    bool is_queued(const Slot& slot) const {
        return ncq_ && (slot.request.op == HostOp::read || slot.request.op == HostOp::write);
    }
    void issue();
    void start(std::uint16_t tag);
    void start_transfer(std::uint16_t tag, sata::RegisterH2d& command);
    void start_trim(std::uint16_t tag, sata::RegisterH2d& command);
    bool goes_on(Slot& slot);
    void end_badly(std::uint16_t tag, std::uint8_t status, std::uint8_t error);
    DriveStatus status_of(const Slot& slot, std::uint8_t status, std::uint8_t error) const;

    HostMemory& memory_;
    AhciMemory& commands_;
    const HostConfig& host_;
    const AhciDriverConfig& config_;
    MmioPort& mmio_;
    CommandTracker* const stages_;
    std::array<Slot, ahci::kSlots> slots_;
    std::uint32_t depth_ = 0;  // 0: not identified yet
    unsigned lba_shift_ = 9;
    AtaDrive drive_;
    bool ncq_ = true;
    bool held_ = true;
    bool queued_ = true;  // active_ are queued commands
    std::uint32_t active_ = 0;
    std::uint64_t next_order_ = 1;
    std::uint64_t submitted_again_ = 0;
    std::vector<std::uint16_t> free_;     // stack
    std::vector<std::uint16_t> written_;  // written, but not announced
    std::deque<std::uint16_t> waiting_;   // announced, in order
    std::deque<Ended> ended_;             // ended, but not taken
};

}  // namespace ssdtlm
