// SPDX-License-Identifier: Apache-2.0
// deadline: requests go in batches of one direction by rising addresses, reads before writes. Each request has a
// deadline. The rules are those of Linux's deadline-iosched.c until 5.0:
// - A batch goes on with the next higher address of its direction. It has up to fifo_batch requests.
// - The next batch has reads if any wait. It has writes if writes wait and writes_starved batches of reads have gone
//   since their last batch. Trims count as writes.
// - A batch begins where the last one of its direction ended. It begins with the oldest request of the direction
//   instead in two cases: if a batch of the other direction was between, or if the oldest request is older than
//   read_expire or write_expire.
// - A request may join any waiting one by a back merge, and by a front merge if front_merges is set.
#include <array>

#include "host_block/io_schedulers.h"
#include "host_block/schedulers/deadline_parameters.h"
#include "host_block/schedulers/queueing_scheduler.h"

namespace ssdtlm {
namespace {

class Deadline final : public QueueingScheduler {
public:
    explicit Deadline(const DeadlineSettings& settings) : settings_(settings) {}

    std::vector<std::pair<const char*, std::uint64_t>> figures() const override {
        return {{"deadline_batches", batches_}, {"deadline_expired", expired_}};
    }

protected:
    void add(Waiting& w, SimTime) override {
        const std::size_t d = direction(*w.request);
        w.time = w.request->arrived + settings_.expire[d];
        fifo_[d].push_back(w);
        sorted_[d].insert(w);
    }
    Waiting* find(const BlockRequest& candidate, bool& front) override {
        return index().find(candidate, settings_.front_merges, front);
    }
    void grown(Waiting& w) override {
        WaitingTree& tree = sorted_[direction(*w.request)];
        tree.erase(tree.iterator_to(w));
        tree.insert(w);
    }
    Waiting* take(SimTime now, OpenContexts& open) override {
        const std::size_t last = next_[kWrites] != nullptr ? kWrites : kReads;
        Waiting* w = following(last, open);
        if (w != nullptr && batched_ < settings_.fifo_batch) return go(*w, last);
        Waiting* const oldest[2] = {open.first(fifo_[kReads]), open.first(fifo_[kWrites])};
        if (oldest[kReads] == nullptr && oldest[kWrites] == nullptr) return nullptr;
        const bool reads =
            oldest[kReads] != nullptr && !(oldest[kWrites] != nullptr && starved_++ >= settings_.writes_starved);
        if (!reads) starved_ = 0;
        const std::size_t d = reads ? kReads : kWrites;
        const bool expired = oldest[d]->time <= now;
        w = expired ? nullptr : following(d, open);
        ++batches_;
        if (expired) ++expired_;
        batched_ = 0;
        return go(w != nullptr ? *w : *oldest[d], d);
    }
    std::string state() const override {
        return std::to_string(fifo_[kReads].size()) + " reads, " + std::to_string(fifo_[kWrites].size()) +
               " writes; batch of " + std::to_string(batched_) + "\n";
    }

private:
    Waiting* following(std::size_t d, OpenContexts& open) {
        return next_[d] == nullptr ? nullptr : open.first(sorted_[d], sorted_[d].iterator_to(*next_[d]));
    }
    Waiting* go(Waiting& w, std::size_t d) {
        ++batched_;
        next_[kReads] = next_[kWrites] = nullptr;
        const auto after = sorted_[d].erase(sorted_[d].iterator_to(w));
        if (after != sorted_[d].end()) next_[d] = &*after;
        fifo_[d].erase(fifo_[d].iterator_to(w));
        return &w;
    }

    const DeadlineSettings settings_;
    std::array<WaitingList, 2> fifo_;
    std::array<WaitingTree, 2> sorted_;
    std::array<Waiting*, 2> next_{};
    std::uint32_t batched_ = 0, starved_ = 0;
    std::uint64_t batches_ = 0, expired_ = 0;
};

const IoSchedulers::Registered kDeadline{{"deadline", "batches by address, reads before writes, with deadlines",
                                          deadline_parameters(),
                                          [](const IoSchedulerSetup&, const PolicySettings& own) {
                                              return std::make_unique<Deadline>(deadline_settings(own));
                                          }}};

}  // namespace
}  // namespace ssdtlm
