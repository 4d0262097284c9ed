// SPDX-License-Identifier: Apache-2.0
// A drive that always has work: contexts with so many requests each, which ask again as soon as one has ended.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "common/random/random.h"
#include "host_block/io_schedulers.h"
#include "unit/block/request_streams.h"

namespace ssdtlm {

struct FullDrive {
    struct Tenant {
        IoContext context;
        std::uint32_t requests = 16;  ///< outstanding
        HostOp op = HostOp::read;
        std::uint32_t bytes = 4096;
        bool sync = true;
        Ps pause{};                ///< from an end to the next request
        std::uint64_t served = 0;  ///< requests dispatched
        std::uint64_t served_bytes = 0;
        Ps longest{};  ///< wait for dispatch
    };
    std::vector<Tenant> tenants;
    std::uint32_t depth = 8;
    Ps latency{100'000'000};  ///< of a request in the drive
    Ps busy{12'500'000};      ///< from one completion to the next at least
    SimTime now{};
    std::unique_ptr<IoScheduler> scheduler;

    Tenant& add(std::uint32_t weight = 100, std::uint8_t level = 4, IoClass io_class = IoClass::best_effort) {
        tenants.emplace_back();
        tenants.back().context = {static_cast<std::uint32_t>(tenants.size() - 1), weight, io_class, level};
        return tenants.back();
    }
    void make(const std::string& name, const PolicyTable& table = {}) {
        IoSchedulerSetup setup;
        setup.queue_depth = depth;
        scheduler = make_io_scheduler(name, setup, table);
    }
    void run(SimTime until) {
        if (requests_.empty()) start();
        for (;;) {
            while (in_drive_ < depth) {
                BlockRequest* const r = scheduler->dispatch(now, gate_);
                if (r == nullptr) break;
                Tenant& t = tenants[r->context.number];
                ++t.served;
                t.served_bytes += r->bytes;
                t.longest = std::max(t.longest, now - r->arrived);
                ++in_drive_;
                free_ = std::max(free_, now) + busy;
                events_.emplace(std::max(now + latency, free_), Event{r, true});
            }
            SimTime next = events_.empty() ? kNever : events_.begin()->first;
            next = std::min(next, std::max(scheduler->ask_again(), now));
            if (next >= until) return;
            now = next;
            while (!events_.empty() && events_.begin()->first == now) {
                const Event e = events_.begin()->second;
                events_.erase(events_.begin());
                Tenant& t = tenants[e.request->context.number];
                if (e.ends) {
                    --in_drive_;
                    scheduler->completed(*e.request, now);
                    if (t.pause > Ps{0}) {
                        events_.emplace(now + t.pause, Event{e.request, false});
                        continue;
                    }
                }
                issue(*e.request);
            }
        }
    }

private:
    struct Event {
        BlockRequest* request;
        bool ends;
    };
    void start() {
        gate_.open.assign(tenants.size(), true);
        for (const Tenant& t : tenants)
            for (std::uint32_t i = 0; i < t.requests; ++i) {
                BlockRequest& r = requests_.emplace_back();
                r.handle = static_cast<std::uint32_t>(requests_.size() - 1);
                r.context = t.context;
                issue(r);
            }
    }
    void issue(BlockRequest& r) {
        const Tenant& t = tenants[r.context.number];
        r.op = t.op;
        r.bytes = t.bytes;
        r.sync = t.sync;
        r.offset = random_.below(1u << 16) * (1u << 20);
        r.arrived = now;
        r.order = ++order_;
        scheduler->insert(r, now);
    }
    TestGate gate_;
    Random random_{4};
    std::deque<BlockRequest> requests_;
    std::multimap<SimTime, Event> events_;
    std::uint32_t in_drive_ = 0;
    SimTime free_{};
    std::uint64_t order_ = 0;
};

}  // namespace ssdtlm
