// SPDX-License-Identifier: Apache-2.0
// A run of uniformly random overwrites in the state `random`, cut into tenths: what a user measures in steady state.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <vector>

#include "sim/simulation.h"
#include "support/closed_loop.h"
#include "support/devices.h"
#include "support/forked.h"

namespace ssdtlm {

struct Tenth {
    double iops = 0;
    double waf = 0;          ///< in mapping units, as formulas count
    double free_blocks = 0;  ///< of a plane, mean over planes and time
};
struct Equilibrium {
    std::array<Tenth, 10> tenth;
    double iops = 0, waf = 0;
    double joined = 0;  ///< share of the page programs that were part of a multi-plane operation
    double gap = 0;     ///< longest time without a completion, s
    double worst = 0;   ///< longest write, s
    std::uint64_t writes = 0;
    /// Means over the tenths from `from` on.
    Tenth rest(std::size_t from) const {
        Tenth r;
        double time = 0, pages = 0;
        for (std::size_t i = from; i < 10; ++i) {
            time += 1 / tenth[i].iops;
            pages += tenth[i].waf;
            r.free_blocks += tenth[i].free_blocks / static_cast<double>(10 - from);
        }
        r.iops = static_cast<double>(10 - from) / time;
        r.waf = pages / static_cast<double>(10 - from);
        return r;
    }
};

/// `writes` random overwrites of one mapping unit each at queue depth `depth`.
inline Equilibrium equilibrium(const SsdConfig& config, std::uint64_t writes, std::uint32_t depth) {
    class Observer final : public CompletionObserver {
    public:
        /// The first `skip` fill the write buffer and are not counted.
        Observer(std::uint64_t writes, std::uint64_t skip, const NandGeometry& g)
            : tenth_(writes / 10), skip_(skip), geometry_(g) {}
        void watch(const Ftl& ftl) { ftl_ = &ftl; }
        void on_complete(const HostRequest&, SimTime, SimTime submitted, SimTime now, const Timeline&, bool) override {
            if (skip_ != 0) {
                if (--skip_ != 0) return;
                begin_ = last_ = now;
                before_ = ftl_->counters();
                return;
            }
            worst = std::max(worst, to_seconds(now - submitted));
            gap = std::max(gap, to_seconds(now - last_));
            last_ = now;
            if (++count_ % 256 == 0) {
                double free = 0;
                for (std::uint32_t p = 0; p < geometry_.planes(); ++p) free += ftl_->free_blocks(PlaneId{p});
                free_ += free / geometry_.planes();
                ++samples_;
            }
            if (count_ % tenth_ != 0 || at_ == 10) return;
            const FtlCounters d = ftl_->counters() - before_;
            tenths[at_++] =
                Tenth{static_cast<double>(tenth_) / to_seconds(now - begin_),
                      d.unit_write_amplification(geometry_.units_per_page()), free_ / static_cast<double>(samples_)};
            before_ = ftl_->counters();
            begin_ = now;
            free_ = 0;
            samples_ = 0;
        }
        std::array<Tenth, 10> tenths;
        double gap = 0, worst = 0;

    private:
        const std::uint64_t tenth_;
        std::uint64_t skip_;
        const NandGeometry geometry_;
        const Ftl* ftl_ = nullptr;
        FtlCounters before_;
        SimTime begin_{}, last_{};
        std::uint64_t count_ = 0, samples_ = 0;
        std::size_t at_ = 0;
        double free_ = 0;
    };
    const auto j = nlohmann::json::parse(in_child([&] {
        const NandGeometry& g = config.nand.geometry;
        ClosedLoop::Spec spec;
        spec.op = HostOp::write;
        spec.bytes = g.unit_bytes;
        spec.depth = depth;
        const std::uint64_t skip = config.ftl.buffer_bytes / g.unit_bytes;
        spec.requests = writes + skip;
        spec.skip = skip;
        spec.span = config.ftl.user_capacity_bytes / g.unit_bytes * g.unit_bytes;
        spec.seed = 9;
        ClosedLoop workload(spec);
        Observer observer(writes, skip, g);
        Simulation::Options options;
        options.observer = &observer;
        Simulation simulation(config, workload, options);
        const SsdController& c = simulation.system().device.controller;
        observer.watch(*c.ftl);
        const RunSummary r = simulation.run();
        for (const BookLine& b : r.books)
            if (!b.balances()) throw CheckFailed("books: " + b.name);
        c.ftl->verify_books();
        nlohmann::json out{{"gap", observer.gap},
                           {"worst", observer.worst},
                           {"waf", r.ftl.unit_write_amplification(g.units_per_page())},
                           {"iops", r.write.iops}};
        for (const Tenth& t : observer.tenths) out["tenths"].push_back({t.iops, t.waf, t.free_blocks});
        double joined = 0, programs = 0;
        for (std::uint32_t ch = 0; ch < g.channels; ++ch)
            joined += static_cast<double>(c.backend.channel(ch).counters().joined_programs);
        programs = static_cast<double>(c.flash_pages(FlashClass::host_write) + c.flash_pages(FlashClass::gc_write));
        out["joined"] = joined / programs;
        return out.dump();
    }));
    Equilibrium e;
    for (std::size_t i = 0; i < 10; ++i) e.tenth[i] = Tenth{j["tenths"][i][0], j["tenths"][i][1], j["tenths"][i][2]};
    e.iops = j["iops"];
    e.waf = j["waf"];
    e.joined = j["joined"];
    e.gap = j["gap"];
    e.worst = j["worst"];
    e.writes = writes;
    return e;
}

}  // namespace ssdtlm
