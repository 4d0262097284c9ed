// SPDX-License-Identifier: Apache-2.0
// Runs a ClosedLoop workload in a child process, and returns the numbers that tests compare.
#pragma once

#include <nlohmann/json.hpp>

#include "sim/results/result_writer.h"
#include "sim/simulation.h"
#include "support/closed_loop.h"
#include "support/forked.h"

namespace ssdtlm {

/// Records end-to-end latencies, exact to the picosecond.
class ExactLatency final : public CompletionObserver {
public:
    void on_complete(const HostRequest&, SimTime issued, SimTime, SimTime now, const Timeline& t,
                     bool measured) override {
        if (!measured) return;
        const auto d = (now - issued).count();
        if (d != t.sum().count()) ++unequal;
        min = d < min ? d : min;
        max = d > max ? d : max;
        const auto waited = t.of(Stage::host_queue).count();
        host_queue_min = waited < host_queue_min ? waited : host_queue_min;
        host_queue_max = waited > host_queue_max ? waited : host_queue_max;
        ++commands;
    }
    std::int64_t min = INT64_MAX, max = 0;
    std::int64_t host_queue_min = INT64_MAX, host_queue_max = 0;
    std::uint64_t commands = 0, unequal = 0;
};

/// Returns result.json of the run, with exact_{min,max}_ps and host_queue_{min,max}_ps added.
inline nlohmann::json run_closed_loop(const SsdConfig& config, const ClosedLoop::Spec& spec) {
    return nlohmann::json::parse(in_child([&] {
        ClosedLoop workload(spec);
        ExactLatency exact;
        Simulation::Options options;
        options.workload_name = "closed loop";
        options.observer = &exact;
        Simulation simulation(config, workload, options);
        std::string text;
        try {
            const RunSummary r = simulation.run();
            for (const BookLine& b : r.books)
                if (!b.balances())
                    throw CheckFailed("books: " + b.name + ": " + std::to_string(b.left) + " against " +
                                      std::to_string(b.right));
            if (exact.commands != 0 && exact.unequal != 0) throw CheckFailed("stages do not sum");
            simulation.system().device.controller.ftl->verify_books();
            auto j = nlohmann::json::parse(result_json(r, ""));
            j["exact_min_ps"] = exact.min;
            j["exact_max_ps"] = exact.max;
            j["host_queue_min_ps"] = exact.host_queue_min;
            j["host_queue_max_ps"] = exact.host_queue_max;
            text = j.dump();
        } catch (const std::exception& e) {
            throw std::runtime_error(std::string(e.what()) + "\n" + simulation.state_dump());
        }
        return text;
    }));
}

}  // namespace ssdtlm
