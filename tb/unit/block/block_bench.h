// SPDX-License-Identifier: Apache-2.0
// A block layer between a workload and a drive that ends its commands when the test says so. The drive stands for the
// I/O path: it asks for requests while there are any, and tells of completions as IoPath does.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/random/random.h"
#include "host_block/block_layer.h"
#include "host_block/io_schedulers.h"

namespace ssdtlm {

constexpr Ps kEpoch{7'000'000};  // bring-up took so long

struct DriveOfTest final : CompletionObserver {
    struct InDrive {
        HostRequest request;
        SimTime issued;
    };
    struct Seen {
        HostRequest request;
        SimTime issued, now;
        Ps block_queue;
    };
    BlockLayer& layer;
    Workload& workload;
    std::vector<InDrive> in_drive;
    std::vector<HostRequest> commands;  // as they came
    std::vector<Seen> seen;
    SimTime now{};
    SimTime wake = kNever;
    bool done = false;

    DriveOfTest(BlockLayer& l, Workload& w) : layer(l), workload(w) {}

    /// As IoPath::pump().
    void pump() {
        wake = kNever;
        while (!done) {
            const Workload::Next n = layer.next(now);
            if (n.state == Workload::State::ready) {
                in_drive.push_back({n.request, now});
                commands.push_back(n.request);
                continue;
            }
            if (n.state == Workload::State::wait) {
                ASSERT_GT(n.when, now);
                wake = n.when;
            }
            done = n.state == Workload::State::done;
            break;
        }
        layer.check_waiters();
    }
    /// The i-th of those in the drive ends at `at`.
    void end(std::size_t i, SimTime at, bool ok = true) {
        now = at;
        const InDrive c = in_drive[i];
        in_drive.erase(in_drive.begin() + static_cast<std::ptrdiff_t>(i));
        Timeline line;
        line.begin(c.issued + kEpoch);
        line.charge(Stage::array, now + kEpoch);
        layer.on_complete(c.request, c.issued, c.issued, now, line, true);
        layer.completed(c.request, c.issued, c.issued, now, ok);
    }
    void reset() {
        std::vector<InDrive> all;
        all.swap(in_drive);
        for (const InDrive& c : all) layer.cancelled(c.request, now);
    }
    /// Each command takes `service`, one after the other.
    void run(Ps service) {
        pump();
        while (!in_drive.empty() || wake != kNever) {
            if (in_drive.empty())
                now = wake;
            else
                end(0, now + service);
            pump();
        }
    }
    void on_complete(const HostRequest& request, SimTime issued, SimTime, SimTime at, const Timeline& line,
                     bool) override {
        EXPECT_EQ(line.sum(), at - issued);
        EXPECT_EQ(line.start(), issued + kEpoch);
        seen.push_back({request, issued, at, line.of(Stage::block_queue)});
    }
};

/// Requests that a test wrote down, each job with so many outstanding.
struct Jobs final : Workload {
    explicit Jobs(std::vector<HostRequest> list, std::uint32_t depth = ~0u) : requests(std::move(list)), most(depth) {
        for (std::size_t i = 0; i < requests.size(); ++i) {
            requests[i].tag = i;
            job_count = std::max(job_count, requests[i].job + 1);
        }
        ended.assign(requests.size(), 0);
        open.assign(job_count, 0);
        issued_at.resize(requests.size());
    }
    std::vector<HostRequest> requests;
    std::uint32_t most, job_count = 1;
    std::vector<std::uint32_t> ended, open;
    std::vector<SimTime> issued_at;
    std::vector<IoPriority> priorities;
    std::size_t position = 0;
    std::uint64_t failed = 0;

    Next next(SimTime now) override {
        Next n;
        if (position == requests.size()) return n;
        if (open[requests[position].job] == most) {
            n.state = State::blocked;
            return n;
        }
        n.state = State::ready;
        n.request = requests[position];
        issued_at[position++] = now;
        ++open[n.request.job];
        return n;
    }
    void completed(const HostRequest& r, SimTime issued, SimTime submitted, SimTime now, bool ok) override {
        const HostRequest& own = requests.at(r.tag);
        ++ended[r.tag];
        --open[r.job];
        failed += !ok;
        EXPECT_EQ(r.bytes, own.bytes);
        EXPECT_EQ(r.offset, own.offset);
        EXPECT_EQ(r.job, own.job);
        EXPECT_EQ(issued, issued_at[r.tag]);
        EXPECT_LE(issued, submitted);
        EXPECT_LE(submitted, now);
    }
    std::uint32_t jobs() const override { return job_count; }
    std::uint32_t tenant(std::uint32_t job) const override { return job / 2; }
    std::uint32_t depth(std::uint32_t) const override { return most; }
    double progress(SimTime) const override { return 0; }
    bool measuring(const HostRequest&, SimTime) const override { return true; }
    IoPriority priority(std::uint32_t job) const override {
        return job < priorities.size() ? priorities[job] : IoPriority{};
    }
};

inline HostRequest request_of(HostOp op, std::uint64_t offset, std::uint32_t bytes, std::uint32_t job = 0) {
    HostRequest r;
    r.op = op;
    r.offset = offset;
    r.bytes = bytes;
    r.job = job;
    return r;
}

inline DriveInfo drive_info() {
    DriveInfo info;
    info.queue_pairs = 2;
    info.queue_entries = 33;
    info.max_transfer_bytes = 128 * 1024;
    info.lba_bytes = 512;
    info.blocks = 1 << 20;
    return info;
}

/// Layer, drive and workload of one run.
struct BlockBench {
    BlockConfig config;
    DriveInfo info = drive_info();
    Jobs jobs;
    std::optional<DriveOfTest> drive;
    std::unique_ptr<BlockLayer> layer;

    explicit BlockBench(Jobs w) : jobs(std::move(w)) { config.scheduler = "noop"; }
    DriveOfTest& make(bool by_tenant = false) {
        observer_.to = &drive;
        layer = std::make_unique<BlockLayer>(config, jobs, &observer_, by_tenant);
        std::vector<std::uint16_t> queues;
        for (std::uint32_t j = 0; j < jobs.jobs(); ++j) queues.push_back(static_cast<std::uint16_t>(1 + j % 2));
        layer->prepare(info, queues);
        return drive.emplace(*layer, jobs);
    }

private:
    // The layer is made before the drive.
    struct Relay final : CompletionObserver {
        std::optional<DriveOfTest>* to = nullptr;
        void on_complete(const HostRequest& r, SimTime issued, SimTime submitted, SimTime now, const Timeline& line,
                         bool measured) override {
            (*to)->on_complete(r, issued, submitted, now, line, measured);
        }
    } observer_;
};

}  // namespace ssdtlm
