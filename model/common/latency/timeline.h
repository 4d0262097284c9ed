// SPDX-License-Identifier: Apache-2.0
// The stages one command passes. A timeline is always complete: every picosecond since its start is
// charged to exactly one stage, so the stages sum to the end-to-end latency by construction, and the
// recorder checks that sum against the host's own clock for every command.
#pragma once

#include <array>
#include <cstdint>

#include "common/report/error.h"
#include "common/units/units.h"

namespace ssdtlm {

enum class Stage : std::uint8_t {
    host_queue,           ///< issued -> SQE written: waiting for a slot of the queue pair or for the host's CPU
    submit,               ///< SQE written -> doorbell reaches the controller
    arbitration,          ///< doorbell seen -> fetch of this SQE granted
    fetch,                ///< SQE (and PRP list) read over PCIe
    firmware_wait,        ///< waiting for a core
    firmware,             ///< cycles on a core
    mapping,              ///< waiting for a translation page
    buffer,               ///< waiting for write-buffer or DRAM space; DRAM transfer
    die_wait_host_read,   ///< queued while the die served host reads
    die_wait_host_write,
    die_wait_gc,
    die_wait_mapping,
    die_wait_erase,
    scheduler,            ///< bus asked for, the scheduler decides (a clocked one; the others decide at once)
    channel_wait,         ///< die free, waiting for the bus
    channel,              ///< command, address and data cycles
    array,                ///< tR, tPROG, tBERS
    ecc,                  ///< decode
    host_transfer,        ///< data over PCIe, including waiting for the link
    completion,           ///< CQE write, MSI-X, host's handler
    count
};
inline constexpr std::size_t kStageCount = static_cast<std::size_t>(Stage::count);
/// Name as in latency.csv.
const char* stage_name(Stage s);

/// A flash operation as those who waited for it find it again: its number, and the plane whose or whose die's work it was.
struct FlashOperation {
    std::uint64_t number = 0;   ///< of the transaction, by submission from 1
    std::uint32_t plane = 0;    ///< global
    bool whole_die = true;      ///< it needed all of the die; else (independent plane reads) its plane only
};

class Timeline {
public:
    /// Steps whose order is kept; of what comes later the stages' sums remain.
    static constexpr std::uint32_t kSteps = 32;

    /// Restarts the timeline at `t` with nothing charged.
    void begin(SimTime t) {
        start_ = last_ = t;
        charged_ = 0;
        steps_ = 0;
        number_ = 0;
        ps_ = {};
    }
    /// Charges everything since the last mark up to `until` to `s`. Marks never go back.
    void charge(Stage s, SimTime until) {
        const auto d = (until - last_).count();
        SSDTLM_CHECK(d >= 0, "latency mark goes back in time");
        if (d == 0) return;
        add(static_cast<std::size_t>(s), d);
        last_ = until;
        log(static_cast<std::uint8_t>(s), static_cast<std::uint64_t>(until.time_since_epoch().count()));
    }
    /// What follows is the work of this flash operation; what it waited for has been charged.
    void begins(const FlashOperation& op) {
        log(kOperation, (op.number << kPlaneBits | op.plane) << 1 | std::uint64_t{op.whole_die});
    }
    /// Adds a part that began exactly at this timeline's last mark (a flash transaction on the critical path).
    void append(const Timeline& part) {
        SSDTLM_CHECK(part.start_ == last_, "appended latency part leaves a gap");
        part.for_each([this](Stage s, std::int64_t ps) { add(static_cast<std::size_t>(s), ps); });
        last_ = part.last_;
        for (std::uint32_t i = 0; i < part.kept(); ++i) log(part.what_[i], part.value_[i]);
        if (part.steps_ > kSteps) steps_ = kSteps + 1;
    }
    /// Of the command that it belongs to, by arrival at the firmware from 1; 0: none, or not there yet.
    std::uint64_t number() const { return number_; }
    void set_number(std::uint64_t number) { number_ = number; }
    SimTime start() const { return start_; }
    /// When the SQE was written: the part before is the host's.
    SimTime submitted() const { return start_ + of(Stage::host_queue); }
    SimTime last() const { return last_; }
    Ps of(Stage s) const {
        const auto i = static_cast<std::size_t>(s);
        return Ps{ps_[i]};
    }
    /// Calls visit(stage, picoseconds) for every stage that time was charged to, in order.
    template <class Visit>
    void for_each(Visit visit) const {
        for (std::uint32_t left = charged_; left != 0; left &= left - 1) {
            const auto i = static_cast<std::size_t>(__builtin_ctz(left));
            visit(static_cast<Stage>(i), ps_[i]);
        }
    }
    /// In order: charged(stage, from, to) for time and begins(FlashOperation) for what the steps from there on belong to.
    /// Returns until when steps were kept: before last(), if there were more than kSteps.
    template <class Charged, class Begins>
    SimTime for_each_step(Charged charged, Begins begins) const {
        SimTime from = start_;
        for (std::uint32_t i = 0; i < kept(); ++i) {
            const std::uint64_t value = value_[i];
            if (what_[i] == kOperation) {
                begins(FlashOperation{value >> (kPlaneBits + 1), static_cast<std::uint32_t>(value >> 1) & kPlaneMask, (value & 1) != 0});
                continue;
            }
            const SimTime to{Ps{static_cast<std::int64_t>(value)}};
            charged(static_cast<Stage>(what_[i]), from, to);
            from = to;
        }
        return from;
    }
    Ps sum() const {
        std::int64_t sum = 0;
        for_each([&sum](Stage, std::int64_t ps) { sum += ps; });
        return Ps{sum};
    }

private:
    static constexpr std::uint8_t kOperation = 31;  // what_ beside the stages
    static constexpr unsigned kPlaneBits = 20;
    static constexpr std::uint32_t kPlaneMask = (1u << kPlaneBits) - 1;
    static_assert(kStageCount < kOperation);

    void add(std::size_t i, std::int64_t ps) {
        ps_[i] += ps;
        charged_ |= 1u << i;
    }
    void log(std::uint8_t what, std::uint64_t value) {
        if (__builtin_expect(steps_ < kSteps, 1)) {
            value_[steps_] = value;
            what_[steps_] = what;
        }
        ++steps_;
    }
    std::uint32_t kept() const { return steps_ < kSteps ? steps_ : kSteps; }

    SimTime start_{};
    SimTime last_{};
    std::uint32_t charged_ = 0;  // bit per stage with time in it
    std::uint32_t steps_ = 0;    // more than kSteps: not all are in the log
    std::uint64_t number_ = 0;
    std::array<std::int64_t, kStageCount> ps_{};
    // The first kept() mean something: a stage with the time of its end, or kOperation with number, plane and extent.
    std::array<std::uint64_t, kSteps> value_{};
    std::array<std::uint8_t, kSteps> what_{};
};

}  // namespace ssdtlm
