// SPDX-License-Identifier: Apache-2.0
// Interrupts, shutdown, reset and errors of the AHCI driver.
#include <utility>

#include "common/report/error.h"
#include "host_sata/driver/ahci_control.h"
#include "protocol/ata.h"

namespace ssdtlm {

using namespace ahci;

bool AhciControl::interrupted(std::uint32_t port_status, std::uint32_t still_active) {
    constexpr std::uint32_t kErrors = PxIs::kFatal | PxIs::kUfs | PxIs::kPcs | PxIs::kPrcs | PxIs::kOfs;
    const bool failed = (port_status & kErrors) != 0;
    if (command_) {
        if (failed) {
            read(port(kPxTfd), &AhciControl::command_failed);
            listens_ = false;
        } else if ((still_active & 1) == 0) {
            command_ = false;
            (this->*after_command_)(0);
        }
        return false;
    }
    if (failed) queue_.hold();
    const bool ended = queue_.still_active(still_active);
    if (failed)
        recover(port_status);
    else if (when_idle_ != nullptr && queue_.idle())
        (this->*std::exchange(when_idle_, nullptr))(0);
    return ended;
}

// ---------------------------------------------------------------------------------------------------------------
// Shutdown.

void AhciControl::when_idle(Next next) {
    if (queue_.idle() && !recovering_) return (this->*next)(0);
    when_idle_ = next;
}

void AhciControl::stop(std::function<void()> done) {
    done_ = std::move(done);
    doing_ = "wait for the end of commands";
    when_idle(&AhciControl::flush_and_stand_by);
}

void AhciControl::flush_and_stand_by(std::uint32_t) {
    queue_.hold();
    if (config_.coalescing_commands != 0) write(port(kPxIe), PxIs::kAll);
    sata::RegisterH2d c;
    c.command = ata::kFlushCacheExt;
    c.device = ata::kDeviceLba;
    command(c, 0, true, "FLUSH CACHE EXT", &AhciControl::flushed);
}

void AhciControl::flushed(std::uint32_t) {
    sata::RegisterH2d c;
    c.command = ata::kStandbyImmediate;
    command(c, 0, true, "STANDBY IMMEDIATE", &AhciControl::standing_by);
}

void AhciControl::standing_by(std::uint32_t) {
    doing_ = "shut down";
    if (stopped_) return stop_engine("reset", &AhciControl::comreset_after_stop);
    std::exchange(done_, nullptr)();
}

/// A command of the driver itself has failed, as it may. The port starts again, and the next command follows.
void AhciControl::command_failed(std::uint32_t tfd) {
    command_ = false;
    if (!may_fail_) {
        failed_tfd_ = tfd;
        fail("it ends with " + queue_.status_text(tfd & 0xFFFF));
    }
    stop_engine(doing_, &AhciControl::restart_after_failed_command);
}

void AhciControl::restart_after_failed_command(std::uint32_t) {
    write(port(kPxSerr), ~0u);
    write(port(kPxIs), ~0u);
    write(kRegIs, ~0u);
    start_engine();
    listens_ = true;
    (this->*after_command_)(0);
}

// ---------------------------------------------------------------------------------------------------------------
// Reset and loss of power.

void AhciControl::reset(bool shutdown_first, std::function<void()> stopped, std::function<void()> done) {
    stopped_ = std::move(stopped);
    done_ = std::move(done);
    if (shutdown_first && !recovering_) {
        doing_ = "wait for the end of commands";
        return when_idle(&AhciControl::flush_and_stand_by);
    }
    give_up_what_is_done();
    write(port(kPxIe), 0);
    stop_engine("reset", &AhciControl::comreset_after_stop);
}

void AhciControl::comreset_after_stop(std::uint32_t) {
    listens_ = false;
    set_up(0);
}

void AhciControl::power_lost() {
    give_up_what_is_done();
    done_ = stopped_ = nullptr;
    doing_ = "without power";
}

// ---------------------------------------------------------------------------------------------------------------
// Errors.

void AhciControl::recover(std::uint32_t port_status) {
    ++recoveries_;
    recovering_ = true;
    listens_ = false;
    write(port(kPxIe), 0);
    const bool of_device = (port_status & PxIs::kTfes) != 0 && (port_status & (PxIs::kFatal & ~PxIs::kTfes)) == 0;
    if (!of_device) {
        doing_ = "recovery";
        return stop_engine("recovery", &AhciControl::reset_after_error);
    }
    failed_queued_ = queue_.queued();
    doing_ = "recovery";
    read(port(kPxTfd), &AhciControl::failed_with);
}

void AhciControl::failed_with(std::uint32_t tfd) {
    failed_tfd_ = tfd;
    stop_engine("recovery", &AhciControl::engine_off_after_error);
}

void AhciControl::engine_off_after_error(std::uint32_t) {
    looks_ = 0;
    ask_whether_busy(0);
}

/// A command may have been on its way to the drive when another failed. The drive then answers it as well. A drive that
/// does not answer is reset.
void AhciControl::look_whether_busy(std::uint32_t tfd) {
    if ((tfd & (Tfd::kBsy | Tfd::kDrq)) == 0) return find_the_failed(0);
    if (++looks_ == kBusyLooks) return reset_after_error(0);
    wait(kMillisecond, "recovery", &AhciControl::ask_whether_busy);
}

void AhciControl::find_the_failed(std::uint32_t) {
    write(port(kPxSerr), ~0u);
    write(port(kPxIs), ~0u);
    write(kRegIs, ~0u);
    start_engine();
    if (!failed_queued_) {
        const std::uint32_t active = queue_.active();
        if (active != 0)
            queue_.fail(static_cast<std::uint32_t>(__builtin_ctz(active)), static_cast<std::uint8_t>(failed_tfd_),
                        static_cast<std::uint8_t>(failed_tfd_ >> 8));
        return recovered();
    }
    listens_ = true;
    write(port(kPxIe), PxIs::kAll);
    sata::RegisterH2d c;
    c.command = ata::kReadLogExt;
    c.lba = ata::kLogNcqError;
    c.count = 1;
    command(c, ata::kPageBytes, false, "READ LOG EXT 10h", &AhciControl::error_log_read);
}

void AhciControl::error_log_read(std::uint32_t) {
    namespace error = ata::ncq_error;
    const std::uint8_t* const log = memory_.at(buffer_, ata::kPageBytes);
    if ((log[error::kTag] & error::kNotQueued) == 0)
        queue_.fail(log[error::kTag] & 0x1Fu, log[error::kStatus], log[error::kError]);
    recovered();
}

void AhciControl::recovered() {
    queue_.take_back_all(false);
    recovering_ = false;
    listens_ = true;
    write(port(kPxIe), PxIs::kAll);
    running();
    if (on_ended_ && queue_.has_ended(1)) on_ended_();
    if (when_idle_ != nullptr && queue_.idle()) (this->*std::exchange(when_idle_, nullptr))(0);
}

/// Recovers from an error of the interface or the bus, or from a drive that does not answer. It repeats the start, and
/// all commands go there again.
void AhciControl::reset_after_error(std::uint32_t) {
    queue_.take_back_all(true);
    const Next after = when_idle_;
    std::function<void()> done = std::exchange(done_, nullptr);
    done_ = [this, after, done = std::move(done)]() mutable {
        recovering_ = false;
        when_idle_ = after;
        done_ = std::move(done);
        if (on_ended_ && queue_.has_ended(1)) on_ended_();
        if (when_idle_ != nullptr && queue_.idle()) (this->*std::exchange(when_idle_, nullptr))(0);
    };
    set_up(0);
}

}  // namespace ssdtlm
