// SPDX-License-Identifier: Apache-2.0
// Random streams of calls for I/O schedulers: contexts of all classes, all operations and sizes, barriers, gates that
// open and close, requests that the drive gives back, times from nothing to seconds.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "common/random/random.h"
#include "host_block/io_schedulers.h"

namespace ssdtlm {

struct TestGate final : DispatchGate {
    std::vector<bool> open;
    bool fills = false;
    bool may_dispatch(std::uint32_t context) const override { return open[context]; }
    bool fills_waits() const override { return fills; }
};

/// The block layer of a test: requests by handle, what is in the drive, gates, and the time. A stream is played against
/// one scheduler or two, which must answer alike.
class StreamPlayer {
public:
    struct Shape {
        std::uint32_t contexts = 1, depth = 1;
        bool one_class = false;  ///< all best effort
        std::uint32_t places = 64;
        bool cancels = true;
    };
    StreamPlayer(const Shape& shape, std::uint64_t seed) : shape_(shape), random_(seed) {
        gate.open.assign(shape.contexts, true);
        for (std::uint32_t c = 0; c < shape.contexts; ++c) {
            IoContext context;
            context.number = c;
            static constexpr std::uint32_t kWeights[] = {100, 100, 1, 50, 300, 1000};
            if (random_.percent(50)) context.weight = kWeights[random_.below(6)];
            if (random_.percent(50)) context.level = static_cast<std::uint8_t>(random_.below(8));
            if (!shape.one_class && random_.percent(40)) context.io_class = static_cast<IoClass>(random_.below(3));
            contexts_.push_back(context);
            sync_only_.push_back(random_.percent(60));
            next_place_.push_back(random_.below(shape.places));
        }
    }

    BlockRequest draw() {
        BlockRequest r;
        const auto c = static_cast<std::uint32_t>(random_.below(shape_.contexts));
        r.context = contexts_[c];
        const std::uint64_t kind = random_.below(100);
        r.op = kind < 50 ? HostOp::read : kind < 90 ? HostOp::write : kind < 96 ? HostOp::trim : HostOp::flush;
        r.barrier = random_.percent(r.op == HostOp::flush ? 60 : 1);
        r.sync = r.op != HostOp::write || sync_only_[c] || random_.percent(20);
        r.fua = r.op == HostOp::write && random_.percent(5);
        if (r.op != HostOp::flush) {
            const std::uint64_t units = 1 + random_.below(random_.percent(80) ? 2 : 16);
            std::uint64_t place = random_.below(shape_.places);
            if (random_.percent(40)) place = next_place_[c];
            if (random_.percent(10) && next_place_[c] > units) place = next_place_[c] - units - 1;
            next_place_[c] = place + units;
            r.offset = (place + c * shape_.places) * 4096;
            r.bytes = static_cast<std::uint32_t>(units * 4096);
        }
        r.arrived = now;
        r.order = ++order_;
        return r;
    }
    /// A place for a request; its address stays.
    BlockRequest& store(const BlockRequest& r) {
        std::uint32_t handle = 0;
        if (free_.empty()) {
            handle = static_cast<std::uint32_t>(requests_.size());
            requests_.emplace_back();
        } else {
            handle = free_.back();
            free_.pop_back();
        }
        requests_[handle] = r;
        requests_[handle].handle = handle;
        return requests_[handle];
    }
    void release(std::uint32_t handle) { free_.push_back(handle); }
    BlockRequest& at(std::uint32_t handle) { return requests_[handle]; }
    static void enlarge(BlockRequest& r, const BlockRequest& candidate, bool front) {
        if (front) r.offset = candidate.offset;
        r.bytes += candidate.bytes;
    }
    void pass_time() {
        const std::uint64_t kind = random_.below(100);
        if (kind < 30) return;
        const std::int64_t most = kind < 80 ? 100'000'000 : kind < 96 ? 5'000'000'000 : 300'000'000'000;
        now += Ps{static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(most)))};
        if (random_.below(1000) == 0) now += Ps{8'000'000'000'000};
    }
    void turn_a_gate() {
        gate.fills = random_.percent(20);
        const auto c = random_.below(shape_.contexts);
        gate.open[c] = !gate.open[c];
    }

    enum class Step { insert, dispatch, complete, gate, cancel, ask };
    Step draw_step() {
        const std::uint64_t kind = random_.below(1000);
        if (kind < 400) return Step::insert;
        if (kind < 670) return Step::dispatch;
        if (kind < 900) return Step::complete;
        if (kind < 950) return Step::gate;
        if (kind < 960 && shape_.cancels) return Step::cancel;
        return Step::ask;
    }
    Random& random() { return random_; }

    TestGate gate;
    SimTime now{};
    std::vector<std::uint32_t> in_drive;

private:
    const Shape shape_;
    Random random_;
    std::vector<IoContext> contexts_;
    std::vector<bool> sync_only_;
    std::vector<std::uint64_t> next_place_;
    std::deque<BlockRequest> requests_;
    std::vector<std::uint32_t> free_;
    std::uint64_t order_ = 0;
};

}  // namespace ssdtlm
