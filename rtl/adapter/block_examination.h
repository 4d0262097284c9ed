// SPDX-License-Identifier: Apache-2.0
// Puts a foreign scheduler block under stress before the run, because the traffic of a run does not show all of its
// faults. The stress is: answers that are taken late, work for every die at all times, pushes into a full block, and
// resets in the middle of work. All of it is repeated with several random values of the registers before the first
// reset. It takes no simulated time.
//
// A fault that shows without stress is left to the run, whose message has a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "controller/ports/grant_rules.h"
#include "controller/scheduler/scheduler_config.h"

namespace ssdtlm::rtl {

/// Core: a VerilatedCore.
template <class Core>
class BlockExamination {
public:
    /// `depth`: requests that the block holds.
    BlockExamination(const SchedulerConfig& config, const SchedulerShape& shape, std::uint32_t depth)
        : config_(config), shape_(shape), depth_(depth) {}

    /// SchedulerFault for what was found.
    void run() const {
        for (int seed = 1; seed <= kSeeds; ++seed) {
            try {
                Block block(*this, seed);
                if (!block.works_without_stress()) return;
                block.answers_taken_late();
                block.every_die_has_work();
                block.pushes_when_full();
                block.resets_in_work();
            } catch (const SchedulerFault& e) {
                throw SchedulerFault(
                    "when it was examined before the run (its registers began with random bits of seed " +
                    std::to_string(seed) + "): " + e.what());
            }
        }
    }

private:
    static constexpr int kSeeds = 4;
    static constexpr std::uint32_t kFew = 48;  // requests of a phase; more than a block has dies or queues, as a rule
    static constexpr std::uint64_t kOvertakes = 1'000;  // far more than a fair order of up to 64 dies needs
    static constexpr std::uint64_t kOfferEdges =
        64;  // longer than a decision between pushes, far shorter than a grant needs

    class Block {
    public:
        Block(const BlockExamination& of, int seed) : of_(of), core_(of.config_, of.shape_, seed) {
            rules_.emplace(limits());
            begin_with(seed);
        }

        bool works_without_stress() {
            try {
                for (int round = 0; round < 2; ++round) {
                    push(few());
                    grant_all("without stress");
                }
                return true;
            } catch (const SchedulerFault&) {
                return false;
            }
        }
        void answers_taken_late() {
            for (std::uint32_t edges = 0; edges <= 5; ++edges) {
                core_.stall_answers(edges);
                push(few());
                grant_all("while answers are taken late");
            }
            core_.stall_answers(0);
        }
        /// Reads wait for all dies, which are idle, and for each that is granted another one comes.
        void every_die_has_work() {
            GrantRules::Limits fair = limits();
            fair.overtake_bound = kOvertakes;
            rules_.emplace(fair);
            const std::uint32_t dies = of_.shape_.dies_per_channel;
            for (std::uint32_t i = 0; i < few(); ++i) read(i % dies);
            for (std::uint64_t grants = 0; grants < 2 * kOvertakes; ++grants) {
                const Grant granted = grant_one("while every die has work");
                for (std::uint32_t i = 0; i < granted.count; ++i) read(granted.die);
            }
            grant_all("while every die has work");
            rules_.emplace(limits());
        }
        void pushes_when_full() {
            for (const bool one_die : {false, true}) {
                std::uint32_t taken = 0;
                while (taken < of_.depth_ + kFew && offer(one_die ? 0 : taken % of_.shape_.dies_per_channel)) ++taken;
                grant_all("when it was given requests until it was full");
            }
        }
        void resets_in_work() {
            for (const bool question : {false, true}) {
                push(few());
                if (question) core_.begin_question(everything_idle(), ++edge_);
                core_.reset_in_work(of_.config_, of_.shape_);
                rules_.emplace(limits());
                waiting_ = 0;
                grant_all("after a reset, which has to empty it");
                push(few());
                grant_all("after a reset in the middle of work");
            }
        }

    private:
        GrantRules::Limits limits() const {
            return {of_.shape_.dies_per_channel, of_.shape_.planes_per_die, of_.shape_.independent_plane_read,
                    of_.config_.multi_plane};
        }
        /// Without stress a block may hold as many requests as the configuration allows.
        std::uint32_t few() const { return of_.config_.queue_depth < kFew ? of_.config_.queue_depth : kFew; }
        void begin_with(int seed) { random_ = static_cast<std::uint32_t>(seed) * 2654435761u; }
        std::uint32_t draw(std::uint32_t below) {
            random_ = random_ * 1664525u + 1013904223u;  // Numerical Recipes, 2nd edition, 7.1
            return (random_ >> 16) % below;
        }
        SchedulerRequest request(std::uint32_t die) {
            SchedulerRequest r;
            r.tag = ++tag_ * 2654435761u;  // all bits of a tag are in use
            r.die = static_cast<std::uint16_t>(die);
            r.cls = static_cast<FlashClass>(draw(kFlashClassCount));
            r.plane = static_cast<std::uint8_t>(draw(of_.shape_.planes_per_die));
            r.page = r.cls == FlashClass::erase ? 0 : draw(4);
            r.block = draw(1024);
            r.bytes = r.cls == FlashClass::erase ? 0 : 4096u << draw(3);
            if (draw(4) != 0)
                r.whose = {static_cast<std::uint16_t>(draw(3)), static_cast<std::uint8_t>(draw(4)), 0, kNever,
                           SimTime{}};
            return r;
        }
        void push(std::uint32_t count) {
            for (; count != 0; --count) {
                const SchedulerRequest r = request(draw(of_.shape_.dies_per_channel));
                edge_ = core_.push(r, edge_ + 1);
                given(r);
            }
        }
        void read(std::uint32_t die) {
            SchedulerRequest r = request(die);
            r.cls = FlashClass::host_read;
            edge_ = core_.push(r, edge_ + 1);
            given(r);
        }
        bool offer(std::uint32_t die) {
            const SchedulerRequest r = request(die);
            const bool taken = core_.offer(r, edge_ + 1, kOfferEdges);
            edge_ = core_.last_edge();
            if (taken) given(r);
            return taken;
        }
        void given(const SchedulerRequest& r) {
            rules_->pushed(r, SimTime{});
            ++waiting_;
        }
        GrantQuery everything_idle() const {
            GrantQuery all;
            all.classes = kAllClasses;
            all.idle_dies = ~std::uint64_t{0} >> (64 - of_.shape_.dies_per_channel);
            if (of_.shape_.independent_plane_read)
                for (std::uint32_t p = 0; p < of_.shape_.planes_per_die; ++p) all.idle_read_planes[p] = all.idle_dies;
            return all;
        }
        /// Returns a count of 0 if nothing was granted.
        Grant grant_one(const char* when) {
            CoreDecision answer;
            const GrantQuery all = everything_idle();
            rules_->asked(all);
            core_.decide(all, edge_ + 1, answer);
            edge_ = edge_ + 1 + answer.cycles;
            const std::string broken = rules_->take(answer.answer, answer.grant, SimTime{});
            if (!broken.empty()) throw SchedulerFault(broken + ", " + when, edge_);
            if (answer.answer != GrantAnswer::granted) return {};
            waiting_ -= answer.grant.count;
            return answer.grant;
        }
        /// All dies are idle: each request must be granted once, and nothing else.
        void grant_all(const char* when) {
            while (grant_one(when).count != 0) {
            }
            if (waiting_ != 0)
                throw SchedulerFault(std::to_string(waiting_) + " requests that it took are never granted " + when,
                                     edge_);
        }

        const BlockExamination& of_;
        Core core_;
        std::optional<GrantRules> rules_;
        std::uint32_t random_ = 0;
        std::uint32_t tag_ = 0;
        std::uint64_t waiting_ = 0;
        std::uint64_t edge_ = 0;
    };

    const SchedulerConfig& config_;
    const SchedulerShape shape_;
    const std::uint32_t depth_;
};

}  // namespace ssdtlm::rtl
