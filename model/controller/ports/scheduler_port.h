// SPDX-License-Identifier: Apache-2.0
// The scheduler boundary: small enough to be a hardware block. A request is pushed once; a grant is asked for
// when a channel's bus is free, with the dies that could start now, and names the work to start. The answer may come
// later: then the bus waits for it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

#include "controller/ports/flash.h"

namespace ssdtlm {

inline constexpr std::uint32_t kMaxPlanes = 8;
inline constexpr std::uint32_t kMaxDiesPerChannel = 64;

struct SchedulerRequest {
    std::uint32_t tag = 0;  ///< names the request in the grant
    std::uint16_t channel = 0;
    std::uint16_t die = 0;  ///< in channel
    FlashClass cls = FlashClass::host_read;
    std::uint8_t plane = 0;   ///< in die
    std::uint32_t page = 0;   ///< in block; multi-plane partners must have the same (erase: 0)
    std::uint32_t block = 0;  ///< in plane
    std::uint32_t bytes = 0;  ///< of user data on the bus; erase: 0
    SimTime pushed_at{};      ///< when the scheduler was given it
    WorkTag whose{};          ///< of the command that waits for it, or of the flow that has caused it; see there
};

/// Names of the classes in the set, such as "host_read, erase"; "none" for an empty set.
inline std::string class_names(ClassSet classes) {
    static constexpr const char* kNames[kFlashClassCount] = {"host_read", "mapping_read", "host_write", "mapping_write",
                                                             "gc_read",   "gc_write",     "erase"};
    std::string text;
    for (std::size_t c = 0; c < kFlashClassCount; ++c)
        if ((classes >> c & 1u) != 0) text += (text.empty() ? "" : ", ") + std::string(kNames[c]);
    return text.empty() ? "none" : text;
}

/// What may start on a channel now. In the masks, bit d stands for die d of the channel.
struct GrantQuery {
    std::uint16_t channel = 0;
    SimTime now{};
    /// Only dies whose next class is in this set may be granted; the policy picks the next class from all that the die
    /// has. So data out can go before the long data in of programs, and no die's order changes.
    ClassSet classes = kAllClasses;
    std::uint64_t idle_dies = 0;  ///< no operation in the die's array or registers
    std::array<std::uint64_t, kMaxPlanes>
        idle_read_planes{};  ///< independent plane read: dies whose plane p can start a read
};

struct Grant {
    std::uint16_t die = 0;
    FlashClass cls = FlashClass::host_read;
    std::uint8_t count = 0;  ///< 1, or the planes joined in a multi-plane operation
    std::array<std::uint32_t, kMaxPlanes> tags{};
};

enum class GrantAnswer : std::uint8_t {
    granted,
    nothing,  ///< nothing on this channel can start
    pending   ///< the channel's listener gets the answer
};

/// A scheduler throws it out of push() or grant() when it finds an error in itself, or in the block or policy within.
/// The caller adds name, channel and time, and ends the run with CheckFailed.
class SchedulerFault : public std::runtime_error {
public:
    /// `cycle`: the clock cycle, where there is a clock.
    explicit SchedulerFault(const std::string& what, std::optional<std::uint64_t> cycle = {})
        : std::runtime_error(what), cycle_(cycle) {}
    std::optional<std::uint64_t> cycle() const { return cycle_; }

private:
    std::optional<std::uint64_t> cycle_;
};

/// Planes of one channel that are idle although a read waits for them, or a program that could have come along. That
/// work is hidden behind the requests that a grant looks at.
struct PlanesHeld {
    std::uint32_t planes = 0;  ///< since a question was answered so, or without a program that would have come along,
                               ///< until the next grant on their die
    std::uint64_t cuts = 0;    ///< times that a die came to have one
};

/// Receives a channel's answers that come later.
class GrantListener {
public:
    /// The answer to the pending question: granted or nothing. `grant` holds something only if granted.
    virtual void grant_decided(GrantAnswer answer, const Grant& grant) = 0;

protected:
    ~GrantListener() = default;
};

/// Figures of fairness, where the answers of a scheduler are checked (GrantRules).
struct SchedulerFairness {
    Ps longest_wait{};  ///< of a request, from its push to its grant
    std::uint64_t most_overtakes =
        0;  ///< grants that a class of a die had to let pass in a row, though it could have started

    void operator+=(const SchedulerFairness& other) {
        longest_wait = std::max(longest_wait, other.longest_wait);
        most_overtakes = std::max(most_overtakes, other.most_overtakes);
    }
};

/// Contract (GrantRules checks it in every run, unless the scheduler is proven):
/// - Every pushed request is granted exactly once, for its die and in its class. The question must have asked for that
///   class.
/// - Requests of one die and one class are granted in push order. If planes are joined, the first request is the
///   oldest; the others pass no request of their own plane. The same holds for reads of planes that read independently.
///   Reads of different flows (WorkTag::same_flow) may pass each other; programs and erases may not.
/// - A grant never names a die that is not ready. A die that is ready only for reads of one plane gets a read of that
///   plane.
/// - A grant joins different planes of one die for the same page, and only if the configuration joins planes. It never
///   joins reads of planes that read independently.
/// - The answer is `nothing` only if no idle die has all of its waiting work in the classes that this question and
///   those before it asked for. A die's next work changes only by a push or a grant on the channel.
/// - A channel has at most one pending question. What is pushed meanwhile need not be considered. More dies may become
///   ready while it is pending, but every die that the query named stays ready. grant_decided() is called once for it.
class SchedulerPort {
public:
    virtual ~SchedulerPort() = default;
    virtual void push(const SchedulerRequest& request) = 0;
    /// Does push() and grant() in one, for a read or erase that is the only work on its channel that could start now.
    /// Returns true if it is granted. A scheduler that takes time to decide, or considers other things, returns false
    /// and changes nothing.
    virtual bool grant_at_once(const SchedulerRequest& request) {
        static_cast<void>(request);
        return false;
    }
    /// `out` is written if granted. The query may change after the call.
    virtual GrantAnswer grant(const GrantQuery& query, Grant& out) = 0;
    /// Called once per channel before the first question. A scheduler that decides at once needs no listener.
    virtual void listen(std::uint16_t channel, GrantListener& listener) {
        static_cast<void>(channel);
        static_cast<void>(listener);
    }
    virtual std::uint32_t queued(std::uint16_t channel) const = 0;
    /// Stays up to date after the call. Null: this scheduler does not count it.
    virtual const PlanesHeld* planes_held(std::uint16_t channel) const {
        static_cast<void>(channel);
        return nullptr;
    }
    /// Name for messages. Empty: the name of the class is used.
    virtual std::string name() const { return {}; }
    /// True: tests hold this very class to the contract (tb/unit/scheduler), so runs do not check its grants.
    virtual bool proven() const { return false; }
    /// Empty: the answers of this scheduler are not checked.
    virtual std::optional<SchedulerFairness> fairness() const { return {}; }
    /// What waits on a channel's dies, a line each, for a watchdog's report.
    virtual std::string dump(std::uint16_t channel) const {
        static_cast<void>(channel);
        return {};
    }
    /// Writes the signals of a channel's scheduler to an FST file from now on. False: it has none (no RTL).
    virtual bool open_trace(std::uint16_t channel, const std::string& path) {
        static_cast<void>(channel);
        static_cast<void>(path);
        return false;
    }
};

}  // namespace ssdtlm
