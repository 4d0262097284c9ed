// SPDX-License-Identifier: Apache-2.0
// Workloads for driver tests: a list of requests with start times, or random requests at a queue depth.
#pragma once

#include <functional>
#include <vector>

#include "common/random/random.h"
#include "host_pcie/ports/host_request.h"

namespace ssdtlm {

struct Outcome {
    HostRequest request;
    SimTime issued, submitted, completed;
    bool ok;
};

/// Requests at given times, in order; no limit on outstanding ones.
struct ListWorkload : Workload {
    struct Item {
        SimTime at;
        HostRequest request;
    };
    std::vector<Item> items;
    std::vector<Outcome> outcomes;
    std::size_t position = 0;
    std::uint64_t calls = 0;
    std::uint32_t job_count = 1;

    void add(HostOp op, std::uint64_t offset, std::uint32_t bytes, SimTime at = SimTime{}, std::uint32_t job = 0) {
        HostRequest r;
        r.op = op;
        r.offset = offset;
        r.bytes = bytes;
        r.job = job;
        r.tag = items.size();
        items.push_back({at, r});
        job_count = std::max(job_count, job + 1);
    }
    Next next(SimTime now) override {
        ++calls;
        Next n;
        if (position == items.size()) return n;
        if (items[position].at > now) {
            n.state = State::wait;
            n.when = items[position].at;
            return n;
        }
        n.state = State::ready;
        n.request = items[position++].request;
        return n;
    }
    void completed(const HostRequest& request, SimTime issued, SimTime submitted, SimTime now, bool ok) override {
        outcomes.push_back({request, issued, submitted, now, ok});
    }
    std::uint32_t jobs() const override { return job_count; }
    std::uint32_t tenant(std::uint32_t job) const override { return job; }
    std::uint32_t depth(std::uint32_t) const override { return 1; }
    double progress(SimTime) const override { return 0; }
    bool measuring(const HostRequest& request, SimTime) const override { return request.tag % 2 == 1; }
};

/// Random reads, writes, trims and flushes of any alignment, `depth` outstanding per job.
struct RandomWorkload : Workload {
    RandomWorkload(std::uint64_t seed, std::uint32_t jobs_, std::uint32_t depth_, std::uint64_t total_,
                   std::uint64_t blocks_, std::uint32_t max_blocks_, std::uint32_t lba_)
        : random(seed),
          open(jobs_),
          job_depth(depth_),
          total(total_),
          blocks(blocks_),
          max_blocks(max_blocks_),
          lba(lba_) {}
    Random random;
    std::vector<std::uint32_t> open;
    std::uint32_t job_depth;
    std::uint64_t total, blocks;
    std::uint32_t max_blocks, lba;
    std::uint64_t issued = 0, done = 0, failed = 0;

    Next next(SimTime) override {
        Next n;
        if (issued == total) return n;
        for (std::uint32_t job = 0; job < open.size(); ++job) {
            if (open[job] == job_depth) continue;
            n.state = State::ready;
            const auto dice = random.below(100);
            n.request.op = dice < 50   ? HostOp::read
                           : dice < 85 ? HostOp::write
                           : dice < 97 ? HostOp::trim
                                       : HostOp::flush;
            n.request.job = job;
            if (n.request.op != HostOp::flush) {
                const auto count = 1 + random.below(max_blocks);
                n.request.bytes = static_cast<std::uint32_t>(count * lba);
                n.request.offset = random.below(blocks - count + 1) * lba;
            }
            ++issued;
            ++open[job];
            return n;
        }
        n.state = State::blocked;
        return n;
    }
    void completed(const HostRequest& request, SimTime, SimTime, SimTime, bool ok) override {
        --open[request.job];
        ++done;
        if (!ok) ++failed;
    }
    std::uint32_t jobs() const override { return static_cast<std::uint32_t>(open.size()); }
    std::uint32_t depth(std::uint32_t) const override { return job_depth; }
    double progress(SimTime) const override { return static_cast<double>(done) / static_cast<double>(total); }
    bool measuring(const HostRequest&, SimTime) const override { return true; }
};

}  // namespace ssdtlm
