// SPDX-License-Identifier: Apache-2.0
#include "common/latency/critical_path.h"

#include <algorithm>
#include <numeric>

namespace ssdtlm {

namespace {

using Kind = PathResource::Kind;

/// True: the stage is a wait before the first cycle of a flash operation, or before its data.
bool is_before_flash(Stage s) {
    return is_flash_wait(s) || s == Stage::scheduler;
}

class PathBuilder {
public:
    explicit PathBuilder(const Occupancy& occupancy) : occupancy_(occupancy) {
        // A log keeps at most so many operations (occupancy.h), so most paths are built without an allocation.
        steps_.reserve(Timeline::kSteps);
        found_.reserve(512);
        of_die_.reserve(1024);
    }

    void charged(Stage stage, SimTime from, SimTime to) {
        if (is_before_flash(stage)) {
            if (!waiting_) add(from, from);
            waiting_ = true;
            steps_.back().stages.emplace_back(stage, to - from);
            steps_.back().to = to;
            return;
        }
        if (waiting_) end_bus_wait();
        const Stage before =
            steps_.empty() || steps_.back().stages.empty() ? Stage::count : steps_.back().stages.back().first;
        PathStep& s = add(from, to);
        s.stages.emplace_back(stage, to - from);
        switch (stage) {
            case Stage::firmware_wait:
                wait_for_core(s);
                break;
            case Stage::firmware:
                s.resource = core_ending(to);
                break;
            case Stage::channel:
                of_flash(s, {Kind::bus, channel()});
                break;
            case Stage::array:
                of_flash(s, place());
                break;
            case Stage::ecc:
                s.operation = operation_.number;
                break;
            case Stage::buffer:
                // After a transfer from host or flash this stage is the DRAM's transfer. Else the command waits for
                // room in the buffer or for its page, and so for programs.
                if (before != Stage::host_transfer && before != Stage::channel && before != Stage::ecc)
                    wait_for_programs(s);
                break;
            default:
                break;
        }
    }
    void begins(const FlashOperation& operation) {
        operation_ = operation;
        if (waiting_) end_die_wait();
    }
    /// Adds one step for all steps that the timeline has not kept, with the sums of their stages.
    void rest(const Timeline& timeline, SimTime from) {
        if (waiting_) end_bus_wait();
        if (from == timeline.last()) return;
        std::vector<Ps> of(kStageCount);
        timeline.for_each([&](Stage s, std::int64_t ps) { of[static_cast<std::size_t>(s)] = Ps{ps}; });
        for (const PathStep& s : steps_)
            for (const auto& [stage, time] : s.stages) of[static_cast<std::size_t>(stage)] -= time;
        PathStep& s = add(from, timeline.last());
        s.known = false;
        for (std::size_t i = 0; i < kStageCount; ++i)
            if (of[i] != Ps{}) s.stages.emplace_back(static_cast<Stage>(i), of[i]);
    }
    std::vector<PathStep> take() { return std::move(steps_); }

private:
    PathStep& add(SimTime from, SimTime to) {
        PathStep& s = steps_.emplace_back();
        s.from = from;
        s.to = to;
        return s;
    }
    std::uint32_t die() const { return operation_.plane / occupancy_.size().planes_per_die; }
    std::uint32_t channel() const { return die() / occupancy_.size().dies_per_channel; }
    PathResource place() const {
        return operation_.whole_die ? PathResource{Kind::die, die()} : PathResource{Kind::plane, operation_.plane};
    }
    void of_flash(PathStep& s, PathResource resource) {
        s.resource = resource;
        s.operation = operation_.number;
    }

    /// Ends a wait for a die, its bus and the scheduler. The operation begins now.
    void end_die_wait() {
        waiting_ = false;
        PathStep& s = steps_.back();
        of_flash(s, place());
        const Occupancy::Size& size = occupancy_.size();
        const bool several = operation_.whole_die && size.planes_apart;
        const std::uint32_t first = several ? die() * size.planes_per_die : operation_.plane;
        found_.clear();
        for (std::uint32_t p = first; p < first + (several ? size.planes_per_die : 1); ++p)
            collect(occupancy_.plane(p), s.resource, s);
        make_disjoint(s.from);
        found_.swap(of_die_);
        // Holders of the bus count only while the die is known to have been free.
        found_.clear();
        collect(occupancy_.bus(channel()), {Kind::bus, channel()}, s);
        make_disjoint(s.from);
        add_without(of_die_, found_, s.from + s.forgotten);
        choose(of_die_, s);
    }
    /// Ends a wait for the bus. The data are in the die's register.
    void end_bus_wait() {
        waiting_ = false;
        PathStep& s = steps_.back();
        of_flash(s, {Kind::bus, channel()});
        found_.clear();
        collect(occupancy_.bus(channel()), s.resource, s);
        make_disjoint(s.from);
        choose(found_, s);
    }

    /// Finds the core by its next work, which began when the wait ended.
    void wait_for_core(PathStep& s) {
        for (std::uint32_t c = 0; c < occupancy_.size().cores; ++c) {
            bool here = false;
            occupancy_.core(c).between(s.to, s.to + Ps{1}, [&](const Occupation& o) { here = here || o.from == s.to; });
            if (!here) continue;
            s.resource = {Kind::core, c};
            found_.clear();
            collect(occupancy_.core(c), s.resource, s);
            choose(found_, s);
            return;
        }
    }
    PathResource core_ending(SimTime to) const {
        for (std::uint32_t c = 0; c < occupancy_.size().cores; ++c) {
            bool here = false;
            occupancy_.core(c).ended_between(to - Ps{1}, to, [&](const Occupation&) { here = true; });
            if (here) return {Kind::core, c};
        }
        return {};
    }
    /// Names the programs that ended in the wait as its holders, as each of them made room.
    void wait_for_programs(PathStep& s) {
        s.resource = {Kind::write_buffer, 0};
        found_.clear();
        const SimTime known = occupancy_.programs().ended_between(s.from, s.to, [&](const Occupation& o) {
            found_.push_back({s.resource, o, std::max(o.from, s.from), o.to});
        });
        s.forgotten = known - s.from;
        choose(found_, s);
    }

    void collect(const OccupancyLog& log, PathResource resource, PathStep& s) {
        const SimTime known = log.between(s.from, s.to, [&](const Occupation& o) {
            found_.push_back({resource, o, std::max(o.from, s.from), std::min(o.to, s.to)});
        });
        s.forgotten = std::max(s.forgotten, std::min(known, s.to) - s.from);
    }
    static void by_time(std::vector<Holder>& holders) {
        const auto earlier = [](const Holder& a, const Holder& b) { return a.from < b.from; };
        // Most holders come from one log and are sorted already.
        if (!std::is_sorted(holders.begin(), holders.end(), earlier))
            std::stable_sort(holders.begin(), holders.end(), earlier);
    }
    /// Makes the found holders disjoint: a time that two of them share belongs to the earlier one.
    void make_disjoint(SimTime from) {
        by_time(found_);
        SimTime covered = from;
        for (Holder& h : found_) {
            h.from = std::max(h.from, covered);
            covered = std::max(covered, h.to);
        }
        found_.erase(std::remove_if(found_.begin(), found_.end(), [](const Holder& h) { return h.from >= h.to; }),
                     found_.end());
    }
    /// Adds to `holders` the parts of `others` from `known` on that no holder covers. Both lists are sorted by time and
    /// have no overlaps.
    static void add_without(std::vector<Holder>& holders, const std::vector<Holder>& others, SimTime known) {
        const std::size_t count = holders.size();
        std::size_t first = 0;
        const auto add = [&holders](const Holder& h, SimTime from, SimTime to) {
            if (from < to) holders.push_back({h.resource, h.operation, from, to});
        };
        for (const Holder& h : others) {
            SimTime from = std::max(h.from, known);
            while (first != count && holders[first].to <= from) ++first;
            for (std::size_t i = first; i != count && holders[i].from < h.to; ++i) {
                const SimTime until = holders[i].from, after = holders[i].to;
                add(h, from, until);
                from = after;
            }
            add(h, from, h.to);
        }
    }
    /// Gives the step the longest holders of `all`. If holders are equally long, the earliest go first.
    static void choose(std::vector<Holder>& all, PathStep& s) {
        if (all.size() > kMostHolders) {
            const auto length = [](const Holder& h) { return h.to - h.from; };
            std::vector<std::uint32_t> order(all.size());
            std::iota(order.begin(), order.end(), 0u);
            const auto last = order.begin() + kMostHolders;
            std::nth_element(order.begin(), last, order.end(), [&](std::uint32_t a, std::uint32_t b) {
                const Holder &x = all[a], &y = all[b];
                if (length(x) != length(y)) return length(x) > length(y);
                return x.from != y.from ? x.from < y.from : a < b;
            });
            for (auto i = last; i != order.end(); ++i) s.more_time += length(all[*i]);
            s.more = all.size() - kMostHolders;
            std::sort(order.begin(), last);
            for (std::size_t i = 0; i < kMostHolders; ++i) all[i] = all[order[i]];  // safe, as order[i] >= i
            all.resize(kMostHolders);
        }
        by_time(all);
        s.holders = all;
    }

    const Occupancy& occupancy_;
    FlashOperation operation_;
    bool waiting_ = false;  // the last step is a wait for a die or a bus, which has not ended
    std::vector<PathStep> steps_;
    std::vector<Holder> found_, of_die_;  // holders of the current step
};

}  // namespace

std::vector<PathStep> critical_path(const Timeline& timeline, const Occupancy& occupancy) {
    PathBuilder builder(occupancy);
    const SimTime known =
        timeline.for_each_step([&](Stage s, SimTime from, SimTime to) { builder.charged(s, from, to); },
                               [&](const FlashOperation& o) { builder.begins(o); });
    builder.rest(timeline, known);
    return builder.take();
}

}  // namespace ssdtlm
