// SPDX-License-Identifier: Apache-2.0
// Constrained random streams of requests and questions for a scheduler core, what they covered, and whether each grant
// kept the contract of SchedulerPort.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "common/random/random.h"
#include "common/report/error.h"
#include "controller/scheduler/clocked/scheduler_core.h"
#include "controller/scheduler/scheduler_registry.h"

namespace ssdtlm {

/// Bins of the functional coverage and how often each was hit.
class SchedulerCoverage {
public:
    enum DieState { idle, some_planes_idle, busy, kDieStates };
    static constexpr std::size_t kLevels = 4;  // requests of the class on the die: 1, 2..3, 4..15, 16 and more
    enum GrantKind { single, joined, all_planes, behind_the_head, kGrantKinds };

    static std::size_t level(std::size_t requests) {
        return requests >= 16 ? 3 : requests >= 4 ? 2 : requests >= 2 ? 1 : 0;
    }

    void question(FlashClass cls, DieState die, std::size_t requests) { ++question_[idx(cls)][die][level(requests)]; }
    void grant(FlashClass cls, GrantKind kind) { ++grant_[idx(cls)][kind]; }
    void answer(GrantAnswer a, bool something_waits) {
        ++answer_[a == GrantAnswer::granted ? 0 : something_waits ? 1 : 2];
    }
    void full() { ++full_; }
    /// The oldest request of a class that was overtaken as often as allowed.
    void starved(FlashClass cls) { ++starved_[idx(cls)]; }

    std::size_t bins() const { return visit(nullptr); }
    /// Names of the bins never hit.
    std::vector<std::string> missed() const {
        std::vector<std::string> names;
        visit(&names);
        return names;
    }

private:
    static std::size_t idx(FlashClass c) { return static_cast<std::size_t>(c); }
    static bool read(std::size_t c) { return c == 0 || c == 1 || c == 4; }

    std::size_t visit(std::vector<std::string>* missed) const {
        static constexpr const char* kDie[] = {"idle", "some planes idle", "busy"};
        static constexpr const char* kLevel[] = {"1", "2..3", "4..15", "16.."};
        static constexpr const char* kKind[] = {"single", "joined", "all planes", "behind the head"};
        std::size_t n = 0;
        const auto bin = [&](std::uint64_t hits, const std::string& name) {
            ++n;
            if (hits == 0 && missed != nullptr) missed->push_back(name);
        };
        for (std::size_t c = 0; c < kFlashClassCount; ++c) {
            const std::string name = class_names(1u << c);
            for (std::size_t d = 0; d < kDieStates; ++d)
                for (std::size_t l = 0; l < kLevels; ++l)
                    bin(question_[c][d][l], name + " x die " + kDie[d] + " x " + kLevel[l] + " queued");
            for (std::size_t k = 0; k < kGrantKinds; ++k)
                if (k != behind_the_head || read(c)) bin(grant_[c][k], name + " granted " + kKind[k]);
            bin(starved_[c], name + " starved");
        }
        bin(answer_[0], "granted");
        bin(answer_[1], "nothing, though something waits");
        bin(answer_[2], "nothing waits");
        bin(full_, "core full");
        return n;
    }

    std::array<std::array<std::array<std::uint64_t, kLevels>, kDieStates>, kFlashClassCount> question_{};
    std::array<std::array<std::uint64_t, kGrantKinds>, kFlashClassCount> grant_{};
    std::array<std::uint64_t, kFlashClassCount> starved_{};
    std::array<std::uint64_t, 3> answer_{};
    std::uint64_t full_ = 0;
};

/// One stream: a configuration drawn at random within the block's limits, then phases with weights of their own.
class SchedulerStream {
public:
    SchedulerStream(std::uint64_t seed, std::uint32_t most_dies, std::uint32_t most_planes, std::uint32_t most_depth)
        : random_(seed), whose_(seed, 1) {
        static constexpr std::uint32_t kLimits[] = {0, 1, 2, 7, 64};
        config.policy = random_.below(4) == 0 ? "fifo" : "read_first";
        config.multi_plane = random_.below(4) != 0;
        config.starvation_limit = kLimits[random_.below(5)];
        static constexpr std::uint32_t kLooks[] = {1, 2, 3, 16, 1024};
        config.look_ahead = kLooks[Random(seed, 2).below(5)];
        config.queue_depth = random_.below(3) == 0 ? 1 + draw(most_depth) : most_depth;
        shape.channels = 1;
        shape.dies_per_channel = random_.below(3) == 0 ? 1 : 1 + draw(most_dies);
        shape.planes_per_die = 1u << random_.below(log2(most_planes) + 1);
        shape.independent_plane_read = random_.below(3) == 0;
        waiting_.resize(shape.dies_per_channel);
    }

    /// Runs `steps` steps of pushes and questions on a core, then grants all that is left. Returns the grants; throws
    /// CheckFailed when the contract is broken.
    std::uint64_t run(SchedulerCore& core, std::uint64_t steps, SchedulerCoverage& coverage) {
        std::uint64_t grants = 0;
        for (std::uint64_t s = 0; s < steps; ++s) {
            if (s % 512 == 0) new_phase();
            edge_ += random_.below(3) == 0 ? random_.below(5) : 0;  // the clock stands still in between
            if (random_.percent(push_percent_)) {
                if (core.full())
                    coverage.full();
                else
                    push(core);
            } else {
                grants += ask(core, draw_query(), coverage);
            }
        }
        GrantQuery all;
        all.idle_dies = ~std::uint64_t{0} >> (64 - shape.dies_per_channel);
        if (shape.independent_plane_read)
            for (std::uint32_t p = 0; p < shape.planes_per_die; ++p) all.idle_read_planes[p] = all.idle_dies;
        for (std::uint64_t n; (n = ask(core, all, coverage)) != 0;) grants += n;
        require(held_ == 0, "requests were never granted, though all dies were idle");
        return grants;
    }

    SchedulerConfig config;
    SchedulerShape shape;

private:
    struct Waiting {
        std::uint32_t tag = 0;
        std::uint8_t plane = 0;
        std::uint32_t overtaken = 0;
        std::uint64_t arrival = 0;
        std::uint32_t page = 0;
        WorkTag whose;
    };
    using Queues = std::array<std::deque<Waiting>, kFlashClassCount>;

    static bool is_read(std::size_t cls) { return (kReadClasses >> cls & 1u) != 0; }
    static std::uint32_t log2(std::uint32_t v) { return v <= 1 ? 0 : 1 + log2(v / 2); }
    std::uint32_t draw(std::uint32_t below) { return static_cast<std::uint32_t>(random_.below(below)); }

    void new_phase() {
        static constexpr unsigned kPush[] = {20, 50, 55, 80};
        push_percent_ = kPush[random_.below(4)];
        idle_percent_ = static_cast<unsigned>(5 + random_.below(95));
        pages_ = 1 + draw(4);
        page_[0] = draw(0x10000);
        for (std::size_t i = 1; i < page_.size(); ++i)
            page_[i] = page_[0] ^ 1u << draw(32);  // each bit can tell two apart
        for (auto& w : class_weight_) w = random_.below(3) == 0 ? 0 : 1 + random_.below(10);
        class_weight_[random_.below(kFlashClassCount)] = 20;
        hot_die_ = draw(shape.dies_per_channel);
        skewed_ = random_.below(2) == 0;
        realistic_ = random_.below(2) == 0;
    }

    void push(SchedulerCore& core) {
        std::uint64_t total = 0;
        for (const auto w : class_weight_) total += w;
        std::uint64_t at = random_.below(total);
        std::size_t c = 0;
        while (at >= class_weight_[c]) at -= class_weight_[c++];
        SchedulerRequest r;
        r.tag = next_tag_++ * 2654435761u;  // all bits of a tag are in use
        r.die = static_cast<std::uint16_t>(skewed_ && random_.below(2) == 0 ? hot_die_ : draw(shape.dies_per_channel));
        r.cls = static_cast<FlashClass>(c);
        r.plane = static_cast<std::uint8_t>(draw(shape.planes_per_die));
        r.page = r.cls == FlashClass::erase ? 0 : page_[draw(pages_)];
        r.whose.tenant = static_cast<std::uint16_t>(whose_.below(3));
        r.whose.priority = static_cast<std::uint8_t>(whose_.below(4));
        r.whose.stream = static_cast<std::uint8_t>(whose_.below(5));
        if (whose_.below(2) == 0) r.whose.deadline = SimTime{Ps{static_cast<std::int64_t>(whose_.below(1u << 30))}};
        if (whose_.below(4) != 0) r.whose.submitted = SimTime{Ps{static_cast<std::int64_t>(whose_.below(1u << 30))}};
        r.bytes = r.cls == FlashClass::erase ? 0 : 512u << whose_.below(6);
        r.block = static_cast<std::uint32_t>(whose_.below(4096));
        edge_ = core.push(r, edge_) + 1;
        waiting_[r.die][c].push_back(Waiting{r.tag, r.plane, 0, next_tag_, r.page, r.whose});
        ++held_;
    }

    GrantQuery draw_query() {
        static constexpr ClassSet kShorts = kAllClasses & ~kProgramClasses;
        GrantQuery q;
        for (std::uint32_t d = 0; d < shape.dies_per_channel; ++d)
            if (random_.percent(idle_percent_)) q.idle_dies |= std::uint64_t{1} << d;
        if (realistic_)
            q.classes = random_.below(2) == 0 ? kProgramClasses : kShorts;
        else if (random_.below(3) == 0)
            q.classes = draw(kAllClasses + 1u);
        if (shape.independent_plane_read)
            for (std::uint32_t p = 0; p < shape.planes_per_die; ++p)
                for (std::uint32_t d = 0; d < shape.dies_per_channel; ++d)
                    if ((q.idle_dies >> d & 1u) != 0 || random_.percent(idle_percent_ / 2))
                        q.idle_read_planes[p] |= std::uint64_t{1} << d;
        return q;
    }

    std::uint64_t ask(SchedulerCore& core, const GrantQuery& q, SchedulerCoverage& coverage) {
        for (std::uint32_t d = 0; d < shape.dies_per_channel; ++d) {
            std::uint64_t planes = 0;
            for (const std::uint64_t dies : q.idle_read_planes) planes |= dies;
            const auto state = (q.idle_dies >> d & 1u) != 0 ? SchedulerCoverage::idle
                               : (planes >> d & 1u) != 0    ? SchedulerCoverage::some_planes_idle
                                                            : SchedulerCoverage::busy;
            for (std::size_t c = 0; c < kFlashClassCount; ++c)
                if (!waiting_[d][c].empty())
                    coverage.question(static_cast<FlashClass>(c), state, waiting_[d][c].size());
        }
        core.decide(q, edge_, decision_);
        edge_ += decision_.cycles + 1;
        coverage.answer(decision_.answer, held_ != 0);
        if (decision_.answer != GrantAnswer::granted) return 0;
        take(q, decision_.grant, coverage);
        return 1;
    }

    static void require(bool kept, const char* contract) {
        if (!kept) throw CheckFailed(std::string("contract broken: ") + contract);
    }

    void take(const GrantQuery& q, const Grant& g, SchedulerCoverage& coverage) {
        require(g.die < shape.dies_per_channel && g.count >= 1 && g.count <= shape.planes_per_die &&
                    g.cls < FlashClass::count,
                "a grant names a die, class or number of requests that there is not");
        const auto cls = static_cast<std::size_t>(g.cls);
        require((q.classes >> cls & 1u) != 0, "a class was granted that was not asked for");
        const bool whole_die_idle = (q.idle_dies >> g.die & 1u) != 0;
        const bool plane_by_plane = shape.independent_plane_read && is_read(cls);
        require(whole_die_idle || plane_by_plane, "a busy die was granted");
        require(g.count == 1 || (config.multi_plane && !plane_by_plane), "planes were joined that may not be");
        Queues& queues = waiting_[g.die];
        auto& queue = queues[cls];
        const bool head = !queue.empty() && queue.front().tag == g.tags[0];
        std::uint64_t first_arrival = 0;
        std::uint32_t page = 0;
        std::uint32_t planes = 0;
        for (std::uint32_t i = 0; i < g.count; ++i) {
            const auto it =
                std::find_if(queue.begin(), queue.end(), [&](const Waiting& w) { return w.tag == g.tags[i]; });
            require(it != queue.end(), "a request was granted that does not wait in this class on this die");
            require(whole_die_idle || (q.idle_read_planes[it->plane] >> g.die & 1u) != 0, "a busy plane was granted");
            require(std::none_of(queue.begin(), it,
                                 [&](const Waiting& w) {
                                     return w.plane == it->plane && (!is_read(cls) || w.whose.same_flow(it->whose));
                                 }),
                    "a request passed an older one of its class and plane, and of its flow");
            if (i == 0) {
                first_arrival = it->arrival;
                page = it->page;
            }
            require(it->page == page && (planes >> it->plane & 1u) == 0,
                    "requests were joined that do not fit together");
            planes |= 1u << it->plane;
            queue.erase(it);
            --held_;
        }
        coverage.grant(g.cls, g.count == 1 ? head ? SchedulerCoverage::single : SchedulerCoverage::behind_the_head
                              : g.count == shape.planes_per_die ? SchedulerCoverage::all_planes
                                                                : SchedulerCoverage::joined);
        for (std::size_t c = 0; c < kFlashClassCount; ++c) {
            if (c == static_cast<std::size_t>(g.cls) || queues[c].empty() || queues[c].front().arrival > first_arrival)
                continue;
            if (++queues[c].front().overtaken == config.starvation_limit) coverage.starved(static_cast<FlashClass>(c));
        }
    }

    Random random_;
    Random whose_;                 // what the order of ours must not look at
    std::vector<Queues> waiting_;  // by die
    std::array<std::uint64_t, kFlashClassCount> class_weight_{};
    unsigned push_percent_ = 50;
    unsigned idle_percent_ = 50;
    std::uint32_t pages_ = 1;
    std::array<std::uint32_t, 4> page_{};
    std::uint32_t hot_die_ = 0;
    bool skewed_ = false;
    bool realistic_ = false;
    std::uint32_t next_tag_ = 0;
    std::uint64_t held_ = 0;
    std::uint64_t edge_ = 1;
    CoreDecision decision_;
};

}  // namespace ssdtlm
