// SPDX-License-Identifier: Apache-2.0
// Whose flash work is, seen by a policy in the whole SSD: what a tenant reads is its own, with the reads of the map for
// it; what it writes stays its own through the buffer; collection, erases and pages of the map belong to whose writes
// have caused them. And what a policy remembers goes with the power.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "common/random/random.h"
#include "controller/scheduler/flow_queues.h"
#include "sim/ssd_system.h"
#include "support/devices.h"
#include "support/forked.h"

namespace ssdtlm {
namespace {

/// As read_first; counts whose requests of each class it was told of, and how many policies were made.
class Owners final : public FlowPolicy {
public:
    using Counts = std::map<std::pair<std::uint16_t, FlashClass>, std::uint64_t>;
    Owners() { ++made; }
    std::uint32_t flow_of(const WorkTag& whose) const override { return whose.tenant; }
    bool goes_before(const FlowQueue& a, const FlowQueue& b, SimTime) const override {
        return std::pair{group_of(a.first.cls), a.arrival} < std::pair{group_of(b.first.cls), b.arrival};
    }
    void granted(const SchedulerRequest& r, std::uint32_t, SimTime now) override {
        ++counts[{r.whose.tenant, r.cls}];
        wrong += r.whose.tenant != 0 && (r.whose.is_nobodys() || r.whose.submitted > r.pushed_at || r.pushed_at > now);
        wrong += r.whose.tenant != 0 && r.whose.priority != r.whose.tenant % 4;
        wrong += (r.bytes == 0) != (r.cls == FlashClass::erase);
        wrong += (kProgramClasses & class_bit(r.cls)) != 0 && r.whose.deadline != kNever;
        wrong += r.cls == FlashClass::host_read && r.whose.deadline == kNever;
    }
    static inline Counts counts;
    static inline std::uint64_t wrong = 0, made = 0;
};
const SchedulerPolicies::Registered kOwners{
    {"owners", "for this test", {}, [](const SchedulerSetup& s, const PolicySettings&) {
         return flow_scheduler(s, [] { return std::make_unique<Owners>(); });
     }}};

/// Jobs of one operation each, at random in all of the drive. Whose request comes next is drawn, so that the order says
/// nothing.
class Jobs final : public Workload {
public:
    struct Job {
        HostOp op;
        std::uint32_t weight;  ///< in the draw; outstanding are, of all, as many as the sum
    };
    Jobs(std::vector<Job> jobs, std::uint64_t span, std::uint64_t requests)
        : jobs_(std::move(jobs)), span_(span), requests_(requests) {
        for (const Job& job : jobs_) depth_ += job.weight;
    }
    Next next(SimTime) override {
        Next n;
        if (issued_ == requests_) return n;
        n.state = outstanding_ == depth_ ? State::blocked : State::ready;
        if (n.state == State::blocked) return n;
        ++outstanding_;
        std::uint32_t job = 0;
        for (auto left = static_cast<std::uint32_t>(random_.below(depth_)); left >= jobs_[job].weight; ++job)
            left -= jobs_[job].weight;
        n.request.op = jobs_[job].op;
        n.request.job = job;
        n.request.bytes = 4096;
        n.request.offset = random_.below(span_ / 4096) * 4096;
        n.request.tag = issued_++;
        return n;
    }
    void completed(const HostRequest&, SimTime, SimTime, SimTime, bool) override { --outstanding_; }
    std::uint32_t jobs() const override { return static_cast<std::uint32_t>(jobs_.size()); }
    std::uint32_t tenant(std::uint32_t job) const override { return job; }
    std::uint32_t depth(std::uint32_t) const override { return depth_; }
    double progress(SimTime) const override { return static_cast<double>(issued_) / static_cast<double>(requests_); }
    bool measuring(const HostRequest&, SimTime) const override { return true; }

private:
    const std::vector<Job> jobs_;
    const std::uint64_t span_, requests_;
    Random random_{5};
    std::uint64_t issued_ = 0;
    std::uint32_t depth_ = 0, outstanding_ = 0;
};

/// A full small drive whose map is on the flash.
SsdConfig drive(std::uint32_t tenants) {
    SsdConfig c = grid(2, 2);
    c.nand.geometry.spare_bytes = 448;
    c.nand.geometry.blocks_per_plane = 64;
    c.nand.geometry.pages_per_block = 32;
    c.ftl.user_capacity_bytes = c.nand.geometry.raw_bytes() / 100 * 70 / 4096 * 4096;
    c.ftl.mapping = "dftl";
    c.ftl.map.cache_bytes = 8192;
    c.ftl.initial_state = InitialState::sequential;
    c.ftl.buffer_bytes = 1 << 20;
    c.scheduler.policy = "owners";
    c.host.queue_pairs = tenants;
    c.host.tenants = Tenants::by_job;
    for (std::uint32_t t = 1; t <= tenants; ++t) c.host.queue_priorities.push_back(static_cast<std::uint8_t>(t % 4));
    c.nvme.latency_targets = {Ps{1'000'000'000}, Ps{1'000'000'000}, Ps{1'000'000'000}, Ps{1'000'000'000}};
    return c;
}

struct Seen {
    Owners::Counts counts;
    std::uint64_t wrong = 0, made = 0;
    std::uint64_t of(std::uint16_t tenant, FlashClass cls) const {
        const auto found = counts.find({tenant, cls});
        return found == counts.end() ? 0 : found->second;
    }
};

Seen run(const SsdConfig& c, const std::vector<Jobs::Job>& jobs, std::uint64_t requests) {
    const std::string text = in_child([&] {
        Jobs workload(jobs, c.ftl.user_capacity_bytes, requests);
        SsdSystem ssd("ssd", c, workload, nullptr);
        ssd.host.driver.start();
        ssd.process.run();
        std::ostringstream out;
        out << Owners::wrong << ' ' << Owners::made;
        for (const auto& [key, count] : Owners::counts)
            out << ' ' << key.first << ' ' << static_cast<int>(key.second) << ' ' << count;
        return out.str();
    });
    Seen seen;
    std::istringstream in(text);
    in >> seen.wrong >> seen.made;
    for (std::uint64_t tenant, cls, count; in >> tenant >> cls >> count;)
        seen.counts[{static_cast<std::uint16_t>(tenant), static_cast<FlashClass>(cls)}] = count;
    return seen;
}

TEST(Owners, OneWritesAndAllThatComesOfItIsItsOwn) {
    const Seen seen = run(drive(2), {{HostOp::read, 4}, {HostOp::write, 4}}, 30'000);
    EXPECT_EQ(seen.wrong, 0u);
    constexpr std::uint16_t kReader = 1, kWriter = 2;
    for (const auto& [key, count] : seen.counts) {
        const auto& [tenant, cls] = key;
        const bool for_a_read = cls == FlashClass::host_read || cls == FlashClass::mapping_read;
        EXPECT_TRUE(tenant == kWriter || (tenant == kReader && for_a_read))
            << "tenant " << tenant << ", class " << static_cast<int>(cls) << ": " << count;
    }
    EXPECT_GT(seen.of(kReader, FlashClass::host_read), 10'000u);
    EXPECT_EQ(seen.of(kWriter, FlashClass::host_read), 0u);
    for (const FlashClass cls : {FlashClass::mapping_read, FlashClass::host_write, FlashClass::mapping_write,
                                 FlashClass::gc_read, FlashClass::gc_write, FlashClass::erase})
        EXPECT_GT(seen.of(kWriter, cls), 50u) << static_cast<int>(cls);
    EXPECT_GT(seen.of(kReader, FlashClass::mapping_read), 1'000u);
}

// Two writers: each block that is collected belongs to who has taken the last page, so collection follows the writes.
TEST(Owners, CollectionIsSharedAsTheWritesAre) {
    const Seen seen = run(drive(3), {{HostOp::write, 1}, {HostOp::read, 2}, {HostOp::write, 6}}, 60'000);
    EXPECT_EQ(seen.wrong, 0u);
    const auto share = [&](FlashClass cls) {
        const auto a = static_cast<double>(seen.of(1, cls)), b = static_cast<double>(seen.of(3, cls));
        return a / (a + b);
    };
    const double written = share(FlashClass::host_write);
    EXPECT_GT(written, 0.05);
    EXPECT_LT(written, 0.45);
    for (const FlashClass cls :
         {FlashClass::gc_read, FlashClass::gc_write, FlashClass::erase, FlashClass::mapping_write}) {
        const double n = static_cast<double>(seen.of(1, cls) + seen.of(3, cls)) /
                         (cls == FlashClass::erase || cls == FlashClass::mapping_write ? 1 : 8);
        // Of n collections (of some eight pages each) that fall to one or the other.
        EXPECT_NEAR(share(cls), written, 4 * std::sqrt(written * (1 - written) / n))
            << "class " << static_cast<int>(cls);
        EXPECT_EQ(seen.of(2, cls), 0u);
        std::printf("[   FIGURE ] class %d: %.3f of tenant 1, which has %.3f of the programs\n", static_cast<int>(cls),
                    share(cls), written);
    }
}

// Volatile memory: with the power, each channel's policy goes and another one comes.
TEST(Owners, PoliciesBeginAnewWhenThePowerReturns) {
    for (const std::size_t cuts : {0u, 1u, 2u}) {
        SsdConfig c = drive(2);
        for (std::size_t i = 0; i < cuts; ++i)
            c.host.power_cut_at.push_back(Ps{static_cast<std::int64_t>(50 + 150 * i) * 1'000'000'000});
        EXPECT_EQ(run(c, {{HostOp::read, 4}, {HostOp::write, 4}}, 20'000).made, c.nand.geometry.channels * (1 + cuts))
            << cuts << " cuts";
    }
}

}  // namespace
}  // namespace ssdtlm
