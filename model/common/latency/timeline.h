// SPDX-License-Identifier: Apache-2.0
// The stages one command passes. A timeline is always complete: every picosecond since its start is
// charged to exactly one stage, so the stages sum to the end-to-end latency by construction, and the
// recorder checks that sum against the host's own clock for every command.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "common/report/error.h"
#include "common/units/units.h"

namespace ssdtlm {

enum class Stage : std::uint8_t {
    block_queue,         ///< issued -> dispatched by the host's I/O scheduler, where there is one
    host_queue,          ///< from there -> SQE written: waiting for a slot of the queue pair or for the host's CPU
    submit,              ///< SQE written -> doorbell reaches the controller
    arbitration,         ///< doorbell seen -> fetch of this SQE granted
    fetch,               ///< SQE (and PRP list) read over PCIe
    firmware_wait,       ///< waiting for a core
    firmware,            ///< cycles on a core
    mapping,             ///< waiting for a translation page
    buffer,              ///< waiting for write-buffer or DRAM space; DRAM transfer
    die_wait_host_read,  ///< queued while the die served host reads
    die_wait_host_write,
    die_wait_gc,
    die_wait_mapping,
    die_wait_erase,
    die_wait_rmw,         ///< reads of the rest of units that the host writes in part
    die_wait_fold,        ///< the SLC cache is emptied
    die_wait_relocation,  ///< wear levelling, refresh, blocks that failed
    die_wait_merge,       ///< of log blocks
    die_wait_journal,
    die_wait_parity,
    die_wait_padding,
    die_wait_checkpoint,
    scheduler,      ///< bus asked for, the scheduler decides (a clocked one; the others decide at once)
    channel_wait,   ///< die free, waiting for the bus
    channel,        ///< command, address and data cycles
    array,          ///< tR, tPROG, tBERS
    ecc,            ///< decode
    host_transfer,  ///< data over PCIe, including waiting for the link
    completion,     ///< CQE write, MSI-X, host's handler
    count
};
inline constexpr std::size_t kStageCount = static_cast<std::size_t>(Stage::count);
/// A wait for a die or a bus that another operation held.
constexpr bool is_flash_wait(Stage s) {
    return (s >= Stage::die_wait_host_read && s <= Stage::die_wait_checkpoint) || s == Stage::channel_wait;
}
/// The stage's name as in latency.csv.
const char* stage_name(Stage s);

/// A flash operation as those who waited for it find it again: its number and its plane, or its die's first plane when
/// it took the whole die.
struct FlashOperation {
    std::uint64_t number = 0;  ///< of the transaction, by submission from 1
    std::uint32_t plane = 0;   ///< global
    bool whole_die = true;     ///< it needed all of the die; else (independent plane reads) its plane only
};

class Timeline {
public:
    /// Most steps whose order is kept. Later steps only count in the sums by stage.
    static constexpr std::uint32_t kSteps = 32;

    Timeline() = default;
    Timeline(const Timeline& other) { *this = other; }
    Timeline& operator=(const Timeline& other);  // the steps that mean something, not all 32

    /// Restarts the timeline at `t` with nothing charged.
    void begin(SimTime t) {
        start_ = last_ = t;
        first_ = steps_ = kInFront;
        limit_ = kInFront + kSteps;
        owned_ = 0;
        number_ = 0;
        if (__builtin_expect(!rest_.empty(), 0)) rest_.clear();
    }
    /// Charges everything since the last mark up to `until` to `s`. Marks never go back.
    void charge(Stage s, SimTime until) {
        const auto d = (until - last_).count();
        SSDTLM_CHECK(d >= 0, "latency mark goes back in time");
        if (d == 0) return;
        last_ = until;
        log(static_cast<std::uint64_t>(s), static_cast<std::uint64_t>(d));
    }
    /// As charge(), for a wait for operations that this flow owns or has caused. A timeline that is charged this way
    /// once must be charged this way for all of its waits.
    void charge_wait(Stage s, SimTime until, std::uint8_t flow);
    /// The following time is the work of this flash operation. The wait before it has been charged.
    void begins(const FlashOperation& op) {
        log(kOperation, (op.number << kPlaneBits | op.plane) << 1 | std::uint64_t{op.whole_die});
    }
    /// Adds a part that began exactly at this timeline's last mark (a flash transaction on the critical path).
    void append(const Timeline& part);
    /// Adds the host's part in front, once, to what a device told of from start() on: `host_queue` from `issued` to
    /// `submitted`, and `submit` from there.
    void precede(SimTime issued, SimTime submitted) {
        const auto d = static_cast<std::uint64_t>((start_ - submitted).count());
        if (__builtin_expect(issued != submitted || steps_ > kSteps || !fits(d) || d == 0, 0))
            return precede_slowly(issued, submitted);
        first_ = kInFront - 1;
        steps_log_[kInFront - 1] = d << kWhatBits | static_cast<std::uint64_t>(Stage::submit);
        start_ = issued;
    }
    /// Adds the part before precede()'s, once: `block_queue` from `issued` on. One command may answer several requests.
    void precede_block(SimTime issued) { put_in_front(Stage::block_queue, issued); }
    /// Number of the command that it belongs to, by arrival at the firmware from 1; 0: there is none, or it has not
    /// arrived yet.
    std::uint64_t number() const { return number_; }
    void set_number(std::uint64_t number) { number_ = number; }
    SimTime start() const { return start_; }
    /// When the SQE was written. The part before is the host's.
    SimTime submitted() const { return start_ + of(Stage::block_queue) + of(Stage::host_queue); }
    SimTime last() const { return last_; }
    Ps of(Stage s) const;
    /// Calls visit(stage, picoseconds) for every stage that time was charged to, in order.
    template <class Visit>
    void for_each(Visit visit) const {
        // Operations have a place too, which nobody reads; unsigned, as their numbers may overflow it.
        std::array<std::uint64_t, kOperation + 1> ps{};
        std::uint32_t charged = 0;
        for (std::uint32_t i = first_; i < steps_; ++i) {
            ps[what(steps_log_[i])] += value(steps_log_[i]);
            charged |= 1u << what(steps_log_[i]);
        }
        charged &= kStages;
        for (std::size_t i = 0; i < rest_.size() && i < kStageCount; ++i) {
            ps[i] += static_cast<std::uint64_t>(rest_[i]);
            if (rest_[i] != 0) charged |= 1u << i;
        }
        for (; charged != 0; charged &= charged - 1) {
            const auto i = static_cast<std::size_t>(__builtin_ctz(charged));
            visit(static_cast<Stage>(i), static_cast<std::int64_t>(ps[i]));
        }
    }
    bool knows_flows() const { return owned_ != 0; }
    /// Calls visit(stage, flow, picoseconds) for what charge_wait() has charged, in any order.
    template <class Visit>
    void for_each_wait(Visit visit) const {
        if (owned_ == 0) return;
        for (std::uint32_t i = first_; i < steps_; ++i)
            if (const auto s = static_cast<Stage>(what(steps_log_[i])); is_flash_wait(s))
                visit(s, flow_[i], static_cast<std::int64_t>(value(steps_log_[i])));
        for_each_rest(visit);
    }
    /// Visits in order: charged(stage, from, to) for time, and begins(FlashOperation) for the operation to which the
    /// steps from there on belong. Returns the time until which steps were kept; it is before last() if there were more
    /// than kSteps.
    template <class Charged, class Begins>
    SimTime for_each_step(Charged charged, Begins begins) const {
        SimTime from = start_;
        for (std::uint32_t i = first_; i < steps_; ++i) {
            const std::uint64_t v = value(steps_log_[i]);
            if (what(steps_log_[i]) == kOperation) {
                begins(FlashOperation{v >> (kPlaneBits + 1), static_cast<std::uint32_t>(v >> 1) & kPlaneMask,
                                      (v & 1) != 0});
                continue;
            }
            const SimTime to = from + Ps{static_cast<std::int64_t>(v)};
            charged(static_cast<Stage>(what(steps_log_[i])), from, to);
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
    /// Visits the waits that are in no step.
    template <class Visit>
    void for_each_rest(Visit visit) const {
        for (std::size_t i = kStageCount; i < rest_.size(); ++i)
            if (rest_[i] != 0)
                visit(static_cast<Stage>(i % kStageCount), static_cast<std::uint8_t>(i / kStageCount - 1), rest_[i]);
    }
    void append_owned(const Timeline& part);
    void log_for(std::uint64_t what, std::uint64_t value, std::uint8_t flow);
    static constexpr std::uint16_t kInFront = 3;  // block_queue, host_queue, submit
    static constexpr unsigned kWhatBits = 5;
    static constexpr std::uint64_t kOperation = (1u << kWhatBits) - 1;  // beside the stages
    static constexpr unsigned kPlaneBits = 20;
    static constexpr std::uint32_t kPlaneMask = (1u << kPlaneBits) - 1;
    static_assert(kStageCount < kOperation);
    static constexpr std::uint32_t kStages = (1u << kStageCount) - 1;

    static std::size_t what(std::uint64_t step) { return step & kOperation; }
    static std::uint64_t value(std::uint64_t step) { return step >> kWhatBits; }
    /// True: the value fits into a step. A duration of 6.7 days, or the operation 2^38, does not.
    static bool fits(std::uint64_t value) { return value >> (64 - kWhatBits) == 0; }
    void log(std::uint64_t what, std::uint64_t value) {
        if (__builtin_expect(steps_ < limit_ && fits(value), 1))
            steps_log_[steps_++] = value << kWhatBits | what;
        else
            log_sum(what, value);
    }
    /// Adds to the sums. From here on the order is lost.
    void log_sum(std::uint64_t what, std::uint64_t value, std::uint8_t flow = 0);
    void precede_slowly(SimTime issued, SimTime submitted);
    void put_in_front(Stage s, SimTime from);

    SimTime start_{};
    SimTime last_{};
    std::uint64_t number_ = 0;
    std::uint16_t first_ = kInFront;
    std::uint16_t steps_ = kInFront;
    std::uint16_t limit_ = kInFront + kSteps;  // steps_ again when the order is lost
    std::uint16_t owned_ = 0;                  // charge_wait() was called: flow_ says for whom each wait was
    // By stage: the time that is in no step; mostly empty. Behind it, the same time by flow and stage, as far as flows
    // are known.
    std::vector<std::int64_t> rest_;
    // The entries from first_ to steps_ are valid: a stage with its duration, or kOperation with number, plane and
    // extent. Most timelines write nothing else. With sums by stage beside them a flash transaction would take twice
    // the cache lines.
    std::array<std::uint64_t, kInFront + kSteps> steps_log_;
    std::array<std::uint8_t, kInFront + kSteps> flow_;  // of the waits among the steps, with owned_; else untouched
};

}  // namespace ssdtlm
