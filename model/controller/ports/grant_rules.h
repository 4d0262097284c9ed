// SPDX-License-Identifier: Apache-2.0
// Checks the contract of SchedulerPort. It records what one channel's scheduler was given and judges each of its
// answers. It is used for schedulers that others have written; tests hold ours to the contract.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "common/units/units.h"
#include "controller/ports/scheduler_port.h"

namespace ssdtlm {

/// Text of a grant: "die 3, host_read, tags 7 9". If `count` exceeds kMaxPlanes, it names only the tags that a grant
/// can hold.
std::string grant_text(const Grant& grant);

/// Where and when an error was found, and in which scheduler.
struct GrantPlace {
    std::string scheduler;  ///< its module or class
    std::uint16_t channel = 0;
    SimTime at{};
    std::optional<std::uint64_t> cycle;  ///< clock cycle; none: the scheduler has no clock
};
/// Throws CheckFailed that names the place, what was found and what is allowed.
[[noreturn]] void refuse_grant(const GrantPlace& place, const std::string& found);

class GrantRules {
public:
    struct Limits {
        std::uint32_t dies = 1;    ///< of the channel
        std::uint32_t planes = 1;  ///< of a die
        bool independent_plane_read = false;
        bool multi_plane = true;
        std::uint64_t overtake_bound = 0;  ///< see SchedulerConfig::overtake_bound
    };
    explicit GrantRules(const Limits& limits) : limits_(limits), dies_(limits.dies) {}

    void pushed(const SchedulerRequest& request, SimTime now);
    /// A question is put to the scheduler. The next take() is its answer.
    void asked(const GrantQuery& query);
    /// Takes an answer (granted or nothing). Returns the rule that it breaks and what is allowed, as text. An empty
    /// text means that no rule is broken, and the granted requests no longer wait.
    std::string take(GrantAnswer answer, const Grant& grant, SimTime now);
    const SchedulerFairness& fairness() const { return fairness_; }

private:
    struct Waiting {
        std::uint32_t tag;
        std::uint32_t page;
        std::uint8_t plane;
        WorkTag whose;
        SimTime since;
    };
    using Queue = std::deque<Waiting>;
    struct Die {
        std::array<Queue, kFlashClassCount> of;  // class, in order of arrival
        ClassSet classes = 0;                    // that have something
        ClassSet refused = 0;                    // asked for in vain while the die was idle, since changes_
        std::array<std::uint64_t, kFlashClassCount>
            overtaken{};  // grants since the class had one or was empty, that it could have had
    };

    std::string nothing();
    std::string overtaken_by(const Grant& grant);
    void changed();
    std::string broken_by(const Grant& grant) const;
    std::string broken_by_tag(const Grant& grant, std::uint32_t i) const;
    std::string where_is(std::uint32_t tag) const;
    static Queue::const_iterator find(const Queue& queue, std::uint32_t tag);

    const Limits limits_;
    std::vector<Die> dies_;
    std::uint64_t waiting_ = 0;     // bit per die that has something
    std::uint64_t refusing_ = 0;    // bit per die with refused classes
    GrantQuery query_;              // the one under decision, or the last
    std::uint64_t must_start_ = 0;  // dies that it cannot be answered with nothing
    bool changed_ = false;          // something was pushed since it was put
    SchedulerFairness fairness_;
};

}  // namespace ssdtlm
