// SPDX-License-Identifier: Apache-2.0
// kyber a second time, from the rules in the kernel's documentation; percentiles by sorting.
#include <algorithm>

#include "unit/block/naive_scheduler.h"

namespace ssdtlm::naive {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000'000;

class Kyber final : public NaiveScheduler {
public:
    explicit Kyber(const Settings& s) : target_{s.at("read_latency"), s.at("write_latency"), 5 * kSecond} {}

    BlockRequest* merge(const BlockRequest& c, bool& front) override { return merge_with_last(c, front, true); }
    BlockRequest* choose(SimTime now) override {
        tick(now);
        static constexpr int kTurns[4] = {16, 8, 1, 1};
        for (int tries = 0; tries <= 4; ++tries) {
            if (tries > 0) {
                domain_ = (domain_ + 1) % 4;
                turns_ = 0;
            }
            if (turns_ >= kTurns[domain_]) continue;
            int busy = 0;
            for (const BlockRequest* r : in_drive) busy += static_cast<int>(r->op) == domain_;
            if (busy >= tokens_[domain_]) continue;
            for (BlockRequest* r : open)
                if (static_cast<int>(r->op) == domain_) {
                    ++turns_;
                    sent_[r->handle] = now;
                    return r;
                }
        }
        return nullptr;
    }
    void ends(const BlockRequest& r, SimTime now, bool unserved) override {
        if (unserved) return;
        tick(now);
        const int d = static_cast<int>(r.op);
        if (d == 3) return;
        total_[d].latencies.push_back((now - r.arrived).count());
        drive_[d].latencies.push_back((now - sent_[r.handle]).count());
        if (!armed_) {
            armed_ = true;
            due_ = now + Ps{kSecond / 10};
        }
    }

private:
    struct Samples {
        std::vector<std::int64_t> latencies;
        bool timed = false;
        SimTime until{};
    };
    int percentile(Samples& s, std::int64_t target, std::size_t percent, SimTime at) {
        if (s.latencies.empty()) return -1;
        if (!s.timed) s.until = at + Ps{kSecond};
        s.timed = true;
        if (s.latencies.size() < 500 && at < s.until) return -1;
        std::sort(s.latencies.begin(), s.latencies.end());
        const std::size_t rank = (s.latencies.size() * percent + 99) / 100;
        const std::int64_t latency = s.latencies[rank - 1];
        s.latencies.clear();
        s.timed = false;
        const std::int64_t quarter = std::max<std::int64_t>(1, target / 4);
        return static_cast<int>(std::min<std::int64_t>(7, latency <= 0 ? 0 : (latency - 1) / quarter));
    }
    void tick(SimTime now) {
        if (!armed_ || now < due_) return;
        armed_ = false;
        bool congested = false;
        for (int d = 0; d < 3; ++d)
            if (percentile(drive_[d], target_[d], 90, due_) >= 4) congested = true;
        for (int d = 0; d < 3; ++d) {
            int p = percentile(total_[d], target_[d], 99, due_);
            if (congested && p < 0) p = remembered_[d];
            if (congested) remembered_[d] = -1;
            if (!congested && p >= 0) remembered_[d] = p;
            if (p >= 4 || (congested && p >= 0)) tokens_[d] = std::max(1, std::min(kMost[d], tokens_[d] * (p + 1) / 4));
        }
    }
    static constexpr int kMost[4] = {256, 128, 64, 16};
    std::int64_t target_[3];
    int tokens_[4] = {256, 128, 64, 16};
    int remembered_[3] = {-1, -1, -1};
    Samples total_[3], drive_[3];
    std::map<std::uint32_t, SimTime> sent_;
    bool armed_ = false;
    SimTime due_{};
    int domain_ = 0, turns_ = 0;
};

}  // namespace

std::unique_ptr<IoScheduler> kyber(const Settings& s) {
    return std::make_unique<Kyber>(s);
}

}  // namespace ssdtlm::naive
