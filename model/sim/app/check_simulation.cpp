// SPDX-License-Identifier: Apache-2.0
// `config check`: builds the same device and the same workload as a run, but plays no commands.
#include "common/report/all_problems.h"
#include "sim/app/run.h"
#include "sim/app/workload_source.h"
#include "sim/simulation.h"

namespace ssdtlm {

namespace {

/// A workload without commands. It has the jobs of another workload, or one job.
class NoCommands final : public Workload {
public:
    explicit NoCommands(const Workload* of) : of_(of) {}
    Next next(SimTime) override {
        Next n;
        n.state = State::done;
        return n;
    }
    void completed(const HostRequest&, SimTime, SimTime, SimTime, bool) override {}
    std::uint32_t jobs() const override { return of_ == nullptr ? 1 : of_->jobs(); }
    std::uint32_t tenant(std::uint32_t job) const override { return of_ == nullptr ? 0 : of_->tenant(job); }
    std::uint32_t depth(std::uint32_t job) const override { return of_ == nullptr ? 1 : of_->depth(job); }
    double progress(SimTime) const override { return 1; }
    bool measuring(const HostRequest&, SimTime) const override { return true; }

private:
    const Workload* const of_;
};

}  // namespace

void check_simulation(const SsdConfig& config, const RunOptions& options) {
    AllProblems problems;
    const WorkloadSources sources(config, options, problems);
    problems.throw_if_any();
    SsdConfig fresh = config;
    fresh.ftl.initial_state = InitialState::fresh;
    fresh.ftl.until = OverwriteUntil::amount;
    fresh.ftl.caches_filled = false;
    fresh.ftl.precondition_workload.clear();
    fresh.run.drive.clear();
    fresh.run.gc_log = false;
    NoCommands workload(sources.played.workload.get());
    sc_core::sc_report_handler::set_actions(sc_core::SC_INFO, sc_core::SC_DO_NOTHING);
    Simulation(fresh, workload, {}).run();
}

}  // namespace ssdtlm
