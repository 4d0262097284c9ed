// SPDX-License-Identifier: Apache-2.0
// kyber: reads, writes, trims and other requests are four domains. Each domain has a depth, the number of its requests
// that may be in the drive. The depths follow the measured latencies. The rules are those of Linux's kyber-iosched.c:
// - In a domain requests go in the order of arrival. Domains take turns: 16 reads, 8 writes, 1 trim, 1 other request. A
//   domain that has no requests, or whose depth is used up, is passed over.
// - The depths start at 256, 128, 64 and 16, and these are their largest values.
// - Each completed read, write and trim is counted twice: by its time in the drive, and by its time since arrival. Both
//   are counted in quarters of the domain's target: read_latency, write_latency, or 5 s.
// - The depths are checked 100 ms after the first completion since the last check. A domain's depth is then multiplied
//   by its 99th percentile since arrival over its target, in quarters. If the 90th percentile in the drive of any
//   domain exceeds its target, this is done for all domains. Else it is done for the domains whose 99th percentile
//   exceeds their targets. A percentile needs 500 samples, or a second.
// - A request may join one of the last eight of its context and domain.
// The kernel calls its targets read_lat_nsec and write_lat_nsec. Not modelled: the part of a depth that asynchronous
// requests may not use (async_depth), one dispatch for each hardware queue, and one common second for the two
// percentiles of a domain.
#include <algorithm>
#include <array>

#include "host_block/io_schedulers.h"
#include "host_block/schedulers/queueing_scheduler.h"
#include "host_block/schedulers/recent_requests.h"

namespace ssdtlm {
namespace {

constexpr std::size_t kDomains = 4, kMeasured = 3;
constexpr std::array<std::uint32_t, kDomains> kDepth{256, 128, 64, 16};  // kyber_depth[]
constexpr std::array<std::uint32_t, kDomains> kBatch{16, 8, 1, 1};       // kyber_batch_size[]
constexpr Ps kTrimTarget = 5s;
constexpr Ps kCheckAfter = 100ms;
constexpr Ps kSampleTime = 1s;
constexpr std::uint32_t kSamples = 500;

/// Counts latencies in quarters of a target, up to twice the target.
class Quarters {
public:
    static constexpr int kGood = 4, kAll = 8;
    void sample(Ps latency, Ps target) {
        const std::int64_t quarter = std::max<std::int64_t>(target.count() / 4, 1);
        const std::int64_t bucket = latency.count() > 0 ? (latency.count() - 1) / quarter : 0;
        ++counts_[static_cast<std::size_t>(std::min<std::int64_t>(bucket, kAll - 1))];
    }
    /// Returns the quarter in which a percentile lies and clears the counts. -1: there are too few samples, and the
    /// counts stay.
    int percentile(std::uint32_t percent, SimTime now) {
        std::uint32_t samples = 0;
        for (const std::uint32_t n : counts_) samples += n;
        if (samples == 0) return -1;
        if (until_ == kNever) until_ = now + kSampleTime;
        if (samples < kSamples && now < until_) return -1;
        until_ = kNever;
        std::uint32_t rank = static_cast<std::uint32_t>(div_ceil(std::uint64_t{samples} * percent, 100));
        int bucket = 0;
        for (; bucket < kAll - 1 && counts_[static_cast<std::size_t>(bucket)] < rank; ++bucket)
            rank -= counts_[static_cast<std::size_t>(bucket)];
        counts_.fill(0);
        return bucket;
    }

private:
    std::array<std::uint32_t, kAll> counts_{};
    SimTime until_ = kNever;
};

class Kyber final : public QueueingScheduler {
public:
    Kyber(Ps read, Ps write) : targets_{read, write, kTrimTarget} { search_own_lists(); }

    std::vector<std::pair<const char*, std::uint64_t>> figures() const override {
        return {{"kyber_read_depth", depth_[0]}, {"kyber_write_depth", depth_[1]}, {"kyber_trim_depth", depth_[2]}};
    }

protected:
    void add(Waiting& w, SimTime) override {
        const std::size_t d = domain(*w.request);
        fifo_[d].push_back(w);
        recent_.add(w, recent_queue(*w.request));
    }
    Waiting* find(const BlockRequest& candidate, bool& front) override {
        return recent_.find(candidate, recent_queue(candidate), front);
    }
    Waiting* take(SimTime now, OpenContexts& open) override {
        check(now);
        if (batched_ < kBatch[turn_]) {
            if (Waiting* const w = from(turn_, now, open)) return w;
        }
        batched_ = 0;
        for (std::size_t i = 0; i < kDomains; ++i) {
            turn_ = (turn_ + 1) % kDomains;
            if (Waiting* const w = from(turn_, now, open)) return w;
        }
        return nullptr;
    }
    void ended(Waiting& w, SimTime now) override {
        check(now);
        const std::size_t d = domain(*w.request);
        --in_drive_[d];
        if (d >= kMeasured) return;
        from_arrival_[d].sample(now - w.request->arrived, targets_[d]);
        in_drive_time_[d].sample(now - w.time, targets_[d]);
        if (check_at_ == kNever) check_at_ = now + kCheckAfter;
    }
    void returned(Waiting& w, SimTime) override { --in_drive_[domain(*w.request)]; }
    std::string state() const override {
        std::string text;
        for (std::size_t d = 0; d < kDomains; ++d)
            text += "domain " + std::to_string(d) + ": " + std::to_string(fifo_[d].size()) + " wait, " +
                    std::to_string(in_drive_[d]) + " of " + std::to_string(depth_[d]) + " in the drive\n";
        return text;
    }

private:
    static std::size_t domain(const BlockRequest& r) { return static_cast<std::size_t>(r.op); }
    static std::uint32_t recent_queue(const BlockRequest& r) {
        return r.context.number * static_cast<std::uint32_t>(kDomains) + static_cast<std::uint32_t>(r.op);
    }
    Waiting* from(std::size_t d, SimTime now, OpenContexts& open) {
        if (in_drive_[d] >= depth_[d]) return nullptr;
        Waiting* const w = open.first(fifo_[d]);
        if (w == nullptr) return nullptr;
        fifo_[d].erase(fifo_[d].iterator_to(*w));
        recent_.remove(*w, recent_queue(*w->request));
        w->time = now;
        ++in_drive_[d];
        ++batched_;
        return w;
    }
    void check(SimTime now) {
        if (check_at_ > now) return;
        const SimTime at = check_at_;
        check_at_ = kNever;
        bool bad = false;
        for (Quarters& q : in_drive_time_) bad |= q.percentile(90, at) >= Quarters::kGood;
        for (std::size_t d = 0; d < kMeasured; ++d) {
            int p99 = from_arrival_[d].percentile(99, at);
            // Domains have enough samples at different checks. A percentile from a good check is kept for the next bad
            // one.
            if (bad) {
                if (p99 < 0) p99 = kept_[d];
                kept_[d] = -1;
            } else if (p99 >= 0) {
                kept_[d] = p99;
            }
            if (p99 < 0 || (!bad && p99 < Quarters::kGood)) continue;
            const std::uint32_t depth = depth_[d] * static_cast<std::uint32_t>(p99 + 1) / Quarters::kGood;
            depth_[d] = std::clamp(depth, 1u, kDepth[d]);
        }
    }

    const std::array<Ps, kMeasured> targets_;
    std::array<WaitingList, kDomains> fifo_;
    RecentRequests recent_;
    std::array<std::uint32_t, kDomains> depth_ = kDepth, in_drive_{};
    std::array<Quarters, kMeasured> in_drive_time_, from_arrival_;
    std::array<int, kMeasured> kept_{-1, -1, -1};
    std::size_t turn_ = 0;
    std::uint32_t batched_ = 0;
    SimTime check_at_ = kNever;
};

static_assert(static_cast<int>(HostOp::read) == 0 && static_cast<int>(HostOp::write) == 1 &&
                  static_cast<int>(HostOp::trim) == 2 && static_cast<int>(HostOp::flush) == 3,
              "the domains are in the order of the operations");

const IoSchedulers::Registered kKyber{{"kyber",
                                       "depths of reads and writes follow their latencies",
                                       {policy_quantity("read_latency", Dimension::time, 2'000'000'000)
                                            .range("1us", "10s")
                                            .says("Latency that reads are to have; the kernel's read_lat_nsec")
                                            .from("Linux Documentation/block/kyber-iosched.rst"),
                                        policy_quantity("write_latency", Dimension::time, 10'000'000'000)
                                            .range("1us", "10s")
                                            .says("Latency that writes are to have; the kernel's write_lat_nsec")
                                            .from("Linux Documentation/block/kyber-iosched.rst")},
                                       [](const IoSchedulerSetup&, const PolicySettings& own) {
                                           return std::make_unique<Kyber>(Ps{own.number("read_latency")},
                                                                          Ps{own.number("write_latency")});
                                       }}};

}  // namespace
}  // namespace ssdtlm
