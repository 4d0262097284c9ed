// SPDX-License-Identifier: Apache-2.0
// Starts and stops a Serial ATA drive behind an AHCI adapter, and recovers it from errors. Its register accesses and
// commands are in the order of Linux drivers/ata (libahci.c, libata-core.c, libata-eh.c, libata-sata.c), reduced to
// what the model has. A drive that refuses a step ends the run. It needs no SystemC kernel.
//
// Start: CAP, GHC.AE, PI, PxCMD.ST=0 and CR=0, PxCMD.FRE=0, PxCLB, PxFB, PxSERR, PxIS, IS, PxCMD.FRE, GHC.IE; COMRESET
// (PxSCTL.DET=1 for 1 ms), PxSSTS.DET=3 for the time of the debounce, PxCMD.ST, PxTFD.BSY=0, PxSIG, PxIE; IDENTIFY
// DEVICE, SET FEATURES (transfer mode, write cache if asked for), IDENTIFY DEVICE again if that has changed.
// Reset: PxIE=0, PxCMD.ST=0 and CR=0, then the start.
// Shutdown: when the drive has ended all commands, FLUSH CACHE EXT and STANDBY IMMEDIATE.
// Error (PxIS.TFES): PxIE=0, PxCMD.ST=0 and CR=0, PxCMD.ST; READ LOG EXT 10h names the failed tag of queued commands.
// The others are submitted again. After an error of the interface or of the bus the start follows, and all commands are
// submitted again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "common/tlm/agenda.h"
#include "host_pcie/driver/host_memory.h"
#include "host_pcie/driver/mmio_port.h"
#include "host_sata/driver/ahci_driver_config.h"
#include "host_sata/driver/ahci_memory.h"
#include "host_sata/driver/ahci_queue.h"

namespace ssdtlm {

class AhciControl final : private MmioClient {
public:
    /// `max_bytes` is the limit of a command that the host's memory sets.
    AhciControl(Agenda& agenda, HostMemory& memory, AhciMemory& commands, const AhciDriverConfig& config,
                AhciQueue& queue, MmioPort& mmio);

    // See DriveControl.
    void start(std::function<void()> done);
    void stop(std::function<void()> done);
    void reset(bool shutdown_first, std::function<void()> stopped, std::function<void()> done);
    void power_lost();
    const DriveInfo& info() const { return info_; }
    const char* doing() const { return doing_; }

    /// False while the port is being stopped: interrupts are then ignored.
    bool listens() const { return listens_; }
    /// Slots in use in the drive, by the driver's own command or by the queue's.
    std::uint32_t active() const { return command_ ? 1u : queue_.active(); }
    bool queued() const { return !command_ && queue_.queued(); }
    /// The handler has read PxIS and the slots that are still active. Returns true if commands of the queue have ended.
    bool interrupted(std::uint32_t port_status, std::uint32_t still_active);
    /// Sets a function that is called when a recovery has ended commands of the queue without interrupted().
    void set_on_ended(std::function<void()> f) { on_ended_ = std::move(f); }
    std::uint64_t recoveries() const { return recoveries_; }

private:
    using Next = void (AhciControl::*)(std::uint32_t);
    static constexpr Ps kMillisecond{1'000'000'000};
    static constexpr Ps kEngineLimit = 500 * kMillisecond;    // libahci.c ahci_stop_engine()
    static constexpr Ps kResetHold = kMillisecond;            // libata-sata.c sata_link_hardreset(): 1 ms
    static constexpr Ps kPhyLimit = 2000 * kMillisecond;      // libata-sata.c sata_deb_timing_normal: 2 s
    static constexpr Ps kReadyStep = 50 * kMillisecond;       // libata-core.c ata_wait_ready()
    static constexpr std::uint32_t kBusyLooks = 100;          // polls of a millisecond before a reset. assumed
    static constexpr Ps kReadyLimit = 60'000 * kMillisecond;  // libata-eh.c ata_eh_reset_timeouts, in sum

    static std::uint32_t port(std::uint32_t offset) { return ahci::port_register(offset); }
    void write(std::uint32_t offset, std::uint32_t value) { mmio_.write32(offset, value); }
    void read(std::uint32_t offset, Next next);
    void mmio_read_done(std::uint32_t value) override;
    void poll(std::uint32_t offset, std::uint32_t mask, std::uint32_t expected, Ps step, Ps limit, const char* doing,
              Next next);
    void look();
    void looked(std::uint32_t value);
    void wait(Ps time, const char* doing, Next next);
    void waited() { (this->*after_wait_)(0); }
    /// Sends a command in slot 0, with `bytes` bytes from the drive into buffer_. A failure ends the run unless it may
    /// fail.
    void command(const sata::RegisterH2d& command, std::uint32_t bytes, bool may_fail, const char* doing, Next next);
    void command_failed(std::uint32_t tfd);
    void give_up_what_is_done();
    [[noreturn]] void fail(const std::string& what) const;

    void capabilities(std::uint32_t cap);
    void ports(std::uint32_t pi);
    void stop_engine(const char* doing, Next next);
    void engine_was(std::uint32_t cmd);
    void engine_stopped(std::uint32_t);
    void set_up(std::uint32_t);
    void comreset(std::uint32_t);
    void end_comreset(std::uint32_t);
    void phy_up(std::uint32_t);
    void debounced(std::uint32_t ssts);
    void start_engine();
    void is_ready(std::uint32_t);
    void thaw(std::uint32_t signature);
    void identify(std::uint32_t);
    void identified(std::uint32_t);
    void mode_set(std::uint32_t);
    void cache_set(std::uint32_t);
    void identified_again(std::uint32_t);
    void learn();
    void running();
    std::uint16_t word(std::size_t n);

    void when_idle(Next next);
    void flushed(std::uint32_t);
    void standing_by(std::uint32_t);
    void flush_and_stand_by(std::uint32_t);

    void recover(std::uint32_t port_status);
    void failed_with(std::uint32_t tfd);
    void engine_off_after_error(std::uint32_t);
    void look_whether_busy(std::uint32_t tfd);
    void ask_whether_busy(std::uint32_t) { read(port(ahci::kPxTfd), &AhciControl::look_whether_busy); }
    void find_the_failed(std::uint32_t);
    void error_log_read(std::uint32_t);
    void recovered();
    void reset_after_error(std::uint32_t);
    void comreset_after_stop(std::uint32_t);
    void restart_after_failed_command(std::uint32_t);

    Agenda& agenda_;
    HostMemory& memory_;
    AhciMemory& commands_;
    const AhciDriverConfig& config_;
    AhciQueue& queue_;
    MmioPort& mmio_;
    std::uint64_t buffer_;  // a block for the driver's own commands
    DriveInfo info_;
    AtaDrive drive_;

    std::function<void()> done_;
    std::function<void()> stopped_;
    std::function<void()> on_ended_;
    const char* doing_ = "off";
    std::uint32_t reads_ = 0;          // reads under way
    std::uint32_t reads_ignored_ = 0;  // the first of these, whose requester has been given up
    Next after_read_ = nullptr;
    Next after_poll_ = nullptr;
    Next after_wait_ = nullptr;
    Next after_command_ = nullptr;
    Next after_engine_ = nullptr;
    Next when_idle_ = nullptr;
    std::uint32_t poll_offset_ = 0, poll_mask_ = 0, poll_expected_ = 0;
    Ps poll_step_{};
    SimTime poll_limit_{};
    Agenda::Entry timer_;
    bool listens_ = false;
    bool command_ = false;  // the driver's own command is in the drive
    bool may_fail_ = false;
    bool recovering_ = false;
    std::uint32_t failed_tfd_ = 0;
    std::uint32_t looks_ = 0;  // polls of a busy drive after an error
    bool failed_queued_ = false;
    bool identified_ = false;  // at least once
    std::uint32_t slots_ = 0;  // slots of the adapter
    bool adapter_queues_ = false;
    std::uint64_t recoveries_ = 0;
};

}  // namespace ssdtlm
