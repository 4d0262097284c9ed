// SPDX-License-Identifier: Apache-2.0
// mq-deadline: deadline with classes of priority. The rules are those of Linux's mq-deadline.c since 5.14:
// - Within a class the rules of deadline hold, with two differences. The next request of a batch is the first at or
//   above the last one's address. Each class remembers this address for each direction.
// - Best effort goes only when no realtime request waits or is in the drive. Idle goes only when neither class has such
//   requests.
// - While two classes have requests, the next request of best effort or idle goes before all if it is prio_aging_expire
//   old.
// Not modelled: async_depth, zones, and one queue of dispatch for each hardware queue.
#include <algorithm>
#include <array>

#include "host_block/io_schedulers.h"
#include "host_block/schedulers/deadline_parameters.h"
#include "host_block/schedulers/queueing_scheduler.h"

namespace ssdtlm {
namespace {

class MqDeadline final : public QueueingScheduler {
public:
    MqDeadline(const DeadlineSettings& settings, Ps aging)
        : settings_(settings), aging_(aging), batched_(settings.fifo_batch) {}

    SimTime ask_again() const override { return again_; }
    std::vector<std::pair<const char*, std::uint64_t>> figures() const override {
        return {{"mq_deadline_batches", batches_}, {"mq_deadline_expired", expired_}, {"mq_deadline_aged", aged_}};
    }

protected:
    void add(Waiting& w, SimTime) override {
        Class& c = class_of(w);
        const std::size_t d = direction(*w.request);
        w.time = w.request->arrived + settings_.expire[d];
        c.fifo[d].push_back(w);
        c.sorted[d].insert(w);
    }
    Waiting* find(const BlockRequest& candidate, bool& front) override {
        return index().find(candidate, settings_.front_merges, front);
    }
    void grown(Waiting& w) override {
        WaitingTree& tree = class_of(w).sorted[direction(*w.request)];
        tree.erase(tree.iterator_to(w));
        tree.insert(w);
    }
    Waiting* take(SimTime now, OpenContexts& open) override {
        again_ = kNever;
        std::array<Oldest, 3> oldest;
        int busy = 0;
        for (std::size_t i = 0; i < 3; ++i) {
            for (const std::size_t d : {kReads, kWrites}) oldest[i][d] = open.first(classes_[i].fifo[d]);
            busy += oldest[i][kReads] != nullptr || oldest[i][kWrites] != nullptr || classes_[i].in_drive != 0;
        }
        if (busy > 1) {
            for (std::size_t i = 1; i < 3; ++i) {
                const Choice choice = choose(classes_[i], oldest[i], now, open);
                if (choice.w == nullptr || choice.w->request->arrived + aging_ > now) continue;
                ++aged_;
                return go(classes_[i], choice);
            }
        }
        for (std::size_t i = 0; i < 3; ++i) {
            const Choice choice = choose(classes_[i], oldest[i], now, open);
            if (choice.w != nullptr) return go(classes_[i], choice);
            if (classes_[i].in_drive == 0) continue;
            // The lower classes wait until the drive has ended these requests, or until their own requests are old.
            for (std::size_t j = i + 1; j < 3; ++j)
                for (const Waiting* w : oldest[j])
                    if (w != nullptr && w->request->arrived + aging_ > now)
                        again_ = std::min(again_, w->request->arrived + aging_);
            return nullptr;
        }
        return nullptr;
    }
    void ended(Waiting& w, SimTime) override { --class_of(w).in_drive; }
    std::string state() const override {
        std::string text;
        for (std::size_t i = 0; i < 3; ++i)
            text += "class " + std::to_string(i) + ": " + std::to_string(classes_[i].fifo[kReads].size()) + " reads, " +
                    std::to_string(classes_[i].fifo[kWrites].size()) + " writes, " +
                    std::to_string(classes_[i].in_drive) + " in the drive\n";
        return text;
    }

private:
    struct Class {
        std::array<WaitingList, 2> fifo;
        std::array<WaitingTree, 2> sorted;
        std::array<std::uint64_t, 2> last_place{};
        std::uint32_t in_drive = 0;
    };
    using Oldest = std::array<Waiting*, 2>;
    struct Choice {
        Waiting* w = nullptr;
        std::size_t direction = kReads;
        bool new_batch = false, passes_writes = false, expired = false;
    };

    Class& class_of(const Waiting& w) { return classes_[static_cast<std::size_t>(w.request->context.io_class)]; }
    Waiting* following(Class& c, std::size_t d, OpenContexts& open) {
        return open.first(c.sorted[d], c.sorted[d].lower_bound(ByPlace::type{c.last_place[d], 0}));
    }
    Choice choose(Class& c, const Oldest& oldest, SimTime now, OpenContexts& open) {
        if (oldest[kReads] == nullptr && oldest[kWrites] == nullptr) return {};
        Choice choice;
        if (batched_ < settings_.fifo_batch) {
            choice.w = following(c, last_direction_, open);
            choice.direction = last_direction_;
            if (choice.w != nullptr) return choice;
        }
        choice.new_batch = true;
        choice.passes_writes = oldest[kReads] != nullptr && oldest[kWrites] != nullptr;
        const bool reads = oldest[kReads] != nullptr && !(choice.passes_writes && starved_ >= settings_.writes_starved);
        choice.direction = reads ? kReads : kWrites;
        choice.expired = oldest[choice.direction]->time <= now;
        if (!choice.expired) choice.w = following(c, choice.direction, open);
        if (choice.w == nullptr) choice.w = oldest[choice.direction];
        return choice;
    }
    Waiting* go(Class& c, const Choice& choice) {
        const std::size_t d = choice.direction;
        if (choice.new_batch) {
            if (d == kWrites)
                starved_ = 0;
            else if (choice.passes_writes)
                ++starved_;
            ++batches_;
            if (choice.expired) ++expired_;
            last_direction_ = d;
            batched_ = 0;
        }
        ++batched_;
        Waiting& w = *choice.w;
        c.last_place[d] = w.request->offset;
        c.sorted[d].erase(c.sorted[d].iterator_to(w));
        c.fifo[d].erase(c.fifo[d].iterator_to(w));
        ++c.in_drive;
        return &w;
    }

    const DeadlineSettings settings_;
    const Ps aging_;
    std::array<Class, 3> classes_;
    std::size_t last_direction_ = kReads;
    std::uint32_t batched_;  // starts at fifo_batch, so that the first request begins a batch
    std::uint32_t starved_ = 0;
    SimTime again_ = kNever;
    std::uint64_t batches_ = 0, expired_ = 0, aged_ = 0;
};

std::vector<PolicyParameter> mq_deadline_parameters() {
    std::vector<PolicyParameter> all = deadline_parameters();
    all.push_back(policy_quantity("prio_aging_expire", Dimension::time, 10'000'000'000'000)
                      .range("1us", "100s")
                      .says("Age at which a request goes before those of higher classes")
                      .from("Linux block/mq-deadline.c"));
    return all;
}

const IoSchedulers::Registered kMqDeadline{
    {"mq-deadline", "deadline with classes of priority", mq_deadline_parameters(),
     [](const IoSchedulerSetup&, const PolicySettings& own) {
         return std::make_unique<MqDeadline>(deadline_settings(own), Ps{own.number("prio_aging_expire")});
     }}};

}  // namespace
}  // namespace ssdtlm
