// SPDX-License-Identifier: Apache-2.0
// The stages through which a command passes. A timeline is always complete: every picosecond since its start is charged
// to exactly one stage. So the stages sum to the end-to-end latency by construction. The recorder checks this sum
// against the host's own clock for every command.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "common/report/error.h"
#include "common/units/units.h"

namespace ssdtlm {

enum class Stage : std::uint8_t {
    block_queue,         ///< issued -> dispatched by the host's I/O scheduler, if there is one
    host_queue,          ///< issued or dispatched -> SQE written: waiting for a slot of the queue or for the host's CPU
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
    die_wait_rmw,         ///< reads for units that the host writes in part
    die_wait_fold,        ///< emptying of the SLC cache
    die_wait_relocation,  ///< wear levelling, refresh, blocks that failed
    die_wait_merge,       ///< merges of log blocks
    die_wait_journal,
    die_wait_parity,
    die_wait_padding,
    die_wait_checkpoint,
    scheduler,      ///< waiting for a scheduler that takes time to decide (a clocked one)
    channel_wait,   ///< die free, waiting for the bus
    channel,        ///< command, address and data cycles
    array,          ///< tR, tPROG, tBERS
    ecc,            ///< decode
    host_transfer,  ///< data over PCIe, including waiting for the link
    completion,     ///< CQE write, MSI-X, handler of the host
    count
};
inline constexpr std::size_t kStageCount = static_cast<std::size_t>(Stage::count);
/// A wait for a die or a bus that another operation held.
constexpr bool is_flash_wait(Stage s) {
    return (s >= Stage::die_wait_host_read && s <= Stage::die_wait_checkpoint) || s == Stage::channel_wait;
}
/// The name of the stage in latency.csv.
const char* stage_name(Stage s);

/// Identifies a flash operation in the logs of Occupancy, by its number and plane. For an operation of the whole die it
/// is the die's first plane.
struct FlashOperation {
    std::uint64_t number = 0;  ///< of the transaction, by submission, from 1 on
    std::uint32_t plane = 0;   ///< global
    bool whole_die = true;     ///< it needed the whole die; false: only its plane (independent plane reads)
};

class Timeline {
public:
    /// The most steps of which the order is kept. Later steps only count in the sums by stage.
    static constexpr std::uint32_t kSteps = 32;

    Timeline() = default;
    Timeline(const Timeline& other) { *this = other; }
    Timeline& operator=(const Timeline& other);  // it copies only the valid steps

    /// Restarts the timeline at `t`, with nothing charged.
    void begin(SimTime t) {
        start_ = last_ = t;
        first_ = steps_ = kInFront;
        limit_ = kInFront + kSteps;
        owned_ = 0;
        number_ = 0;
        if (__builtin_expect(!rest_.empty(), 0)) rest_.clear();
    }
    /// Charges the time from the last mark to `until` to the stage `s`. `until` is then the last mark. Marks must not
    /// decrease.
    void charge(Stage s, SimTime until) {
        const auto d = (until - last_).count();
        SSDTLM_CHECK(d >= 0, "latency mark goes back in time");
        if (d == 0) return;
        last_ = until;
        log(static_cast<std::uint64_t>(s), static_cast<std::uint64_t>(d));
    }
    /// Charges a wait for operations that this flow owns or has caused. If it is used for one wait of a timeline, it
    /// must be used for all of them.
    void charge_wait(Stage s, SimTime until, std::uint8_t flow);
    /// The following time belongs to this flash operation. The wait before it must have been charged.
    void begins(const FlashOperation& op) {
        log(kOperation, (op.number << kPlaneBits | op.plane) << 1 | std::uint64_t{op.whole_die});
    }
    /// Adds the timeline of a part of the command, such as a flash transaction. It must begin at the last mark.
    void append(const Timeline& part);
    /// Adds the host's part in front of the device's part: `host_queue` from `issued` to `submitted`, and `submit` from
    /// there to start(). It may be called once.
    void precede(SimTime issued, SimTime submitted) {
        const auto d = static_cast<std::uint64_t>((start_ - submitted).count());
        if (__builtin_expect(issued != submitted || steps_ > kSteps || !fits(d) || d == 0, 0))
            return precede_slowly(issued, submitted);
        first_ = kInFront - 1;
        steps_log_[kInFront - 1] = d << kWhatBits | static_cast<std::uint64_t>(Stage::submit);
        start_ = issued;
    }
    /// Adds `block_queue` in front of that, from `issued` on. It may be called once. The start differs among the
    /// requests of one command, so each request needs a timeline of its own.
    void precede_block(SimTime issued) { put_in_front(Stage::block_queue, issued); }
    /// Number of the command by arrival at the firmware, from 1 on. 0: it has not arrived yet, or there is no command.
    std::uint64_t number() const { return number_; }
    void set_number(std::uint64_t number) { number_ = number; }
    SimTime start() const { return start_; }
    /// The time at which the SQE was written. The part before it belongs to the host.
    SimTime submitted() const { return start_ + of(Stage::block_queue) + of(Stage::host_queue); }
    SimTime last() const { return last_; }
    Ps of(Stage s) const;
    /// Calls visit(stage, picoseconds) for every stage with charged time, in the order of the enumeration.
    template <class Visit>
    void for_each(Visit visit) const {
        // The entry of kOperation is never read. The type is unsigned, because sums of operation numbers may overflow.
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
    /// Calls visit(stage, flow, picoseconds) for all time that charge_wait() has charged, in any order.
    template <class Visit>
    void for_each_wait(Visit visit) const {
        if (owned_ == 0) return;
        for (std::uint32_t i = first_; i < steps_; ++i)
            if (const auto s = static_cast<Stage>(what(steps_log_[i])); is_flash_wait(s))
                visit(s, flow_[i], static_cast<std::int64_t>(value(steps_log_[i])));
        for_each_rest(visit);
    }
    /// Visits the steps in order. It calls charged(stage, from, to) for time, and begins(FlashOperation) for the
    /// operation to which the following steps belong. Returns the time up to which steps were kept: before last() if
    /// there were more than kSteps.
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
    /// Visits the waits that are not in a step.
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
    /// True: the value fits into a step. A duration of 6.7 days does not fit, nor does the operation number 2^38.
    static bool fits(std::uint64_t value) { return value >> (64 - kWhatBits) == 0; }
    void log(std::uint64_t what, std::uint64_t value) {
        if (__builtin_expect(steps_ < limit_ && fits(value), 1))
            steps_log_[steps_++] = value << kWhatBits | what;
        else
            log_sum(what, value);
    }
    /// Adds to the sums by stage. The order of this and all later steps is lost.
    void log_sum(std::uint64_t what, std::uint64_t value, std::uint8_t flow = 0);
    void precede_slowly(SimTime issued, SimTime submitted);
    void put_in_front(Stage s, SimTime from);

    SimTime start_{};
    SimTime last_{};
    std::uint64_t number_ = 0;
    std::uint16_t first_ = kInFront;
    std::uint16_t steps_ = kInFront;
    std::uint16_t limit_ = kInFront + kSteps;  // equal to steps_ once the order is lost
    std::uint16_t owned_ = 0;                  // charge_wait() was called, so flow_ is valid
    // The time that is not in a step, by stage; mostly empty. Behind these sums lie sums of the same time by flow and
    // stage, if flows are known.
    std::vector<std::int64_t> rest_;
    // The entries from first_ to steps_ are valid. Each is a stage with its duration, or kOperation with number, plane
    // and extent. Most timelines write nothing else. Sums by stage beside them would double the cache lines of a flash
    // transaction.
    std::array<std::uint64_t, kInFront + kSteps> steps_log_;
    std::array<std::uint8_t, kInFront + kSteps> flow_;  // by step, the flow of a wait; valid with owned_
};

}  // namespace ssdtlm
