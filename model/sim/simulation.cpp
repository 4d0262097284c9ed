// SPDX-License-Identifier: Apache-2.0
#include "sim/simulation.h"

#include <sys/resource.h>

#include <ctime>

#include <fmt/format.h>

#include "sim/version.h"

namespace ssdtlm {

namespace {
using WallClock = std::chrono::steady_clock;
double seconds_between(WallClock::time_point a, WallClock::time_point b) { return std::chrono::duration<double>(b - a).count(); }
double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }
}  // namespace

Simulation::Simulation(const SsdConfig& config, Workload& workload, Options options)
    : workload_(workload), options_(std::move(options)), wall_start_(WallClock::now()) {
    CompletionObserver* self = this;
    system_ = std::make_unique<SsdSystem>("ssd", config, workload, self, options_.taps);
    series_ = std::make_unique<TimeSeries>(system_->agenda, config.run.timeseries_interval, latency_, system_->ftl);
    ftl_begin_ = system_->ftl.counters();
}

RunSummary Simulation::run() {
    SsdSystem& s = *system_;
    s.driver.set_on_ready([this] { ready(); });
    s.driver.set_on_finished([this](SimTime at) { finished(at); });
    s.driver.set_on_shutdown([this] {
        shut_down_ = true;
        system_->firmware.stop_gc();
    });
    s.driver.start();
    s.process.run();  // returns when nothing is left to happen
    if (!finished_ || !shut_down_ || !s.firmware.idle())
        throw Stalled(fmt::format("nothing is left to happen, but {} commands are outstanding, the workload is {} and the "
                                  "controller is {}",
                                  s.driver.outstanding(), finished_ ? "done" : "not done", shut_down_ ? "shut down" : "running"));
    s.front_end.check_books();
    return summarise();
}

void Simulation::ready() {
    wall_ready_ = wall_report_ = WallClock::now();
    cpu_ready_ = cpu_seconds();
    busy_begin_ = system_->busy();
    series_->start();
    system_->agenda.post<&Simulation::watch>(system_->agenda.now() + system_->config.run.watchdog, this);
}

void Simulation::finished(SimTime at) {
    finished_ = true;
    workload_end_ = at;
    busy_end_ = system_->busy();
    ftl_end_ = system_->ftl.counters();
    series_->stop();
    system_->driver.shutdown();
}

void Simulation::watch(std::uint64_t) {
    if (shut_down_) return;
    if (completions_ == watched_ && system_->driver.outstanding() > 0)
        throw Stalled(fmt::format("no command completed for {} ms of simulated time with {} outstanding (run.watchdog)",
                                  to_seconds(system_->config.run.watchdog) * 1e3, system_->driver.outstanding()));
    watched_ = completions_;
    poll();
    system_->agenda.post<&Simulation::watch>(system_->agenda.now() + system_->config.run.watchdog, this);
}

void Simulation::on_complete(const HostRequest& request, SimTime issued, SimTime submitted, SimTime now,
                             const Timeline& timeline, bool measured) {
    ++completions_;
    if (__builtin_expect(options_.observer != nullptr || (completions_ & 1023) == 0, 0)) {
        if (options_.observer != nullptr) options_.observer->on_complete(request, issued, submitted, now, timeline, measured);
        if ((completions_ & 1023) == 0) poll();
    }
    latency_.on_complete(request, issued, submitted, now, timeline, measured);
}

void Simulation::poll() {
    if (options_.interrupt != nullptr && *options_.interrupt != 0 && !interrupted_) {
        interrupted_ = true;
        system_->driver.stop_submitting();
    }
    if (!options_.progress) return;
    const auto wall = WallClock::now();
    if (seconds_between(wall_report_, wall) < 0.2) return;
    wall_report_ = wall;
    const SimTime now{system_->agenda.now() - system_->driver.epoch()};
    options_.progress({now.time_since_epoch(), workload_.progress(now), completions_, seconds_between(wall_ready_, wall)});
}

RunSummary Simulation::summarise() {
    const auto wall_end = WallClock::now();
    SsdSystem& s = *system_;
    RunSummary r;
    r.device = s.config.name;
    r.workload = options_.workload_name;
    r.version = kVersion;
    r.seed = s.config.run.seed;
    r.interrupted = interrupted_;
    r.simulated = workload_end_.time_since_epoch();
    r.bring_up = s.driver.epoch().time_since_epoch();
    r.commands = latency_.commands();
    r.commands_all = latency_.all_commands();
    r.measured = r.commands == 0 ? Ps{} : latency_.window_end() - latency_.window_begin();
    r.integrity_checked = s.oracle ? s.oracle->blocks_checked() : 0;
    r.error_status = s.driver.counters().errors;
    r.resources = s.use(busy_begin_, busy_end_);
    r.limiting = limiting_resource(r.resources);
    r.ftl = ftl_end_ - ftl_begin_;
    r.units_per_page = s.config.nand.geometry.units_per_page();
    r.waf = r.ftl.write_amplification(r.units_per_page);
    r.counters = s.counters();
    r.books = s.books(ftl_begin_);
    r.latency = latency_.rows();
    const double window = to_seconds(r.measured);
    const auto direction = [&](HostOp op) {
        RunSummary::Direction d;
        d.ios = latency_.count(op);
        d.bytes = latency_.bytes(op);
        if (window > 0) {
            d.iops = static_cast<double>(d.ios) / window;
            d.mb_per_s = static_cast<double>(d.bytes) / window * 1e-6;
        }
        return d;
    };
    r.read = direction(HostOp::read);
    r.write = direction(HostOp::write);
    r.trim = direction(HostOp::trim);
    r.flush = direction(HostOp::flush);
    r.wall_seconds = seconds_between(wall_ready_, wall_end);
    r.cpu_seconds = cpu_seconds() - cpu_ready_;
    r.start_up_seconds = seconds_between(wall_start_, wall_ready_);
    r.agenda_events = s.agenda.executed();
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    r.peak_memory_bytes = static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
    r.logical_units = s.ftl.logical_units();
    return r;
}

}  // namespace ssdtlm
