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

class Timeline {
public:
    /// Restarts the timeline at `t` with nothing charged.
    void begin(SimTime t) {
        start_ = last_ = t;
        charged_ = 0;
        ps_ = {};
    }
    /// Charges everything since the last mark up to `until` to `s`. Marks never go back.
    void charge(Stage s, SimTime until) {
        const auto d = (until - last_).count();
        SSDTLM_CHECK(d >= 0, "latency mark goes back in time");
        if (d == 0) return;
        add(static_cast<std::size_t>(s), d);
        last_ = until;
    }
    /// Adds a part that began exactly at this timeline's last mark (a flash transaction on the critical path).
    void append(const Timeline& part) {
        SSDTLM_CHECK(part.start_ == last_, "appended latency part leaves a gap");
        part.for_each([this](Stage s, std::int64_t ps) { add(static_cast<std::size_t>(s), ps); });
        last_ = part.last_;
    }
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
    Ps sum() const {
        std::int64_t sum = 0;
        for_each([&sum](Stage, std::int64_t ps) { sum += ps; });
        return Ps{sum};
    }

private:
    void add(std::size_t i, std::int64_t ps) {
        ps_[i] += ps;
        charged_ |= 1u << i;
    }

    SimTime start_{};
    SimTime last_{};
    std::uint32_t charged_ = 0;  // bit per stage with time in it
    std::array<std::int64_t, kStageCount> ps_{};
    static_assert(kStageCount <= 32);
};

}  // namespace ssdtlm
