// SPDX-License-Identifier: Apache-2.0
#include "sim/simulation.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <string>

#include "sim/config/over_provisioning.h"
#include "sim/device/longest_times.h"
#include "sim/limits/limits.h"
#include "sim/results/slowest_json.h"
#include "sim/version.h"

namespace ssdtlm {

namespace {
using WallClock = std::chrono::steady_clock;
double seconds_between(WallClock::time_point a, WallClock::time_point b) {
    return std::chrono::duration<double>(b - a).count();
}
/// The peak of this process. It is VmHWM if possible, because ru_maxrss of a child begins at the peak of the process
/// that started it.
std::uint64_t peak_memory_bytes() {
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;) {
        std::uint64_t kib = 0;
        if (word == "VmHWM:" && status >> kib) return kib * 1024;
    }
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}
/// The processor time after which an interrupted run is cut off, so that the user need not wait.
constexpr double kMostSecondsToEnd = 0.12;
double cpu_seconds() {
    return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}
}  // namespace

Simulation::Simulation(const SsdConfig& config, Workload& workload, Options options)
    : workload_(workload), options_(std::move(options)), wall_start_(WallClock::now()) {
    CompletionObserver* self = this;
    system_ = std::make_unique<SsdSystem>("ssd", config, workload, self, options_.taps, options_.before, options_.host);
    if (config.ftl.read_cache.bytes != 0)
        read_spread_.emplace(system_->device.controller.ftl->logical_units() *
                             std::uint64_t{config.nand.geometry.unit_bytes});
    if (options_.series != nullptr) {
        series_ = std::make_unique<TimeSeries>(system_->agenda, config.run.timeseries_interval, latency_,
                                               *system_->device.controller.ftl, *options_.series);
        die_queues_.emplace(config.nand.geometry.dies(), [this](std::uint32_t die) {
            return system_->device.controller.backend.waiting(DieId{die});
        });
        if (system_->device.controller.firmware->cached_map() != nullptr)
            series_->count_lookups([this] {
                const SsdController& c = system_->device.controller;
                const CachedMap::Counters& m = std::as_const(*c.firmware).cached_map()->counters();
                return TimeSeries::Lookups{c.earlier().map.hits + m.hits, c.earlier().map.misses + m.misses};
            });
        series_->ask_for_blocks([this] { return system_->knows_blocks(); });
        if (options_.block_log != nullptr)
            block_log_.emplace(system_->host.driver, options_.context_names, *options_.block_log);
        series_->on_interval([this, interval = config.run.timeseries_interval](std::uint64_t number) {
            die_queues_->look(number);
            if (block_log_) block_log_->look(SimTime{interval * static_cast<std::int64_t>(number)});
        });
    }
    if (options_.gc_log != nullptr) {
        gc_log_.emplace(system_->agenda, system_->device.controller.ftl, *options_.gc_log);
        system_->device.controller.watch_gc(*gc_log_);
    }
    if (config.host.tenants != Tenants::one) {
        std::vector<std::uint32_t> flow_of_job;
        for (std::uint32_t job = 0; job < workload.jobs(); ++job) flow_of_job.push_back(workload.tenant(job));
        auto flows = std::make_unique<FlowStats>(std::move(flow_of_job));
        if (flows->flows() > 1) {
            flow_stats_ = std::move(flows);
            system_->device.controller.backend.tell_flows_apart(flow_stats_->flows());
        }
    }
    limits_.emplace(*system_);
    system_->survives(this, sizeof *this);
    system_->process.on_call([](void* simulation) { static_cast<Simulation*>(simulation)->interrupted(); }, this);
    if (series_) system_->survives(series_.get(), sizeof *series_);
    if (config.run.slowest != 0 || !config.run.explain.empty()) {
        occupancy_ = &system_->record();
        slowest_.emplace(config.run.slowest, config.run.explain, *occupancy_);
    }
    const SsdController& c = system_->device.controller;
    start_ = {config.run.drive,
              config.ftl.precondition_workload,
              config.ftl,
              c.overwrites,
              c.played,
              drive_state(*c.ftl),
              config.nand.geometry.units_per_page(),
              config.nand.geometry.page_bytes};
    ftl_start_ = system_->device.controller.ftl->counters();
    if (config.run.check_waiters)
        system_->process.add_after_each([](void* system) { static_cast<const SsdSystem*>(system)->check_waiters(); },
                                        system_.get());
}

RunSummary Simulation::run() {
    SsdSystem& s = *system_;
    s.host.driver.set_on_ready([this] { ready(); });
    s.host.driver.set_on_finished([this](SimTime at) { finished(at); });
    s.host.driver.set_on_shutdown([this] {
        shut_down_ = true;
        system_->device.controller.firmware->stop_gc();
    });
    s.host.driver.start();
    s.process.run();  // returns when the agenda is empty
    if (!finished_ || !shut_down_ || !s.device.controller.firmware->idle())
        throw Stalled(fmt::format(
            "nothing is left to happen, but {} commands are outstanding, the workload is {} and the "
            "controller is {}",
            s.host.driver.outstanding(), finished_ ? "done" : "not done", shut_down_ ? "shut down" : "running"));
    s.device.controller.front_end->check_books();
    return summarise();
}

void Simulation::ready() {
    wall_ready_ = wall_report_ = WallClock::now();
    cpu_ready_ = cpu_seconds();
    begin_measurement();
    limits_->start();
    if (series_) series_->start();
    if (gc_log_) gc_log_->start();
    watchdog_.emplace(watchdog_limits());
    watch();
}

void Simulation::finished(SimTime at) {
    finished_ = true;
    workload_end_ = at;
    end_measurement();
    system_->host.driver.shutdown();
}

RunSummary Simulation::so_far() {
    if (!system_->host.driver.ready()) {
        begin_ = end_ = edge();
        wall_ready_ = WallClock::now();
        cpu_ready_ = cpu_seconds();
    } else if (!finished_) {
        workload_end_ = SimTime{system_->agenda.now() - system_->host.driver.epoch()};
        end_measurement();
    }
    RunSummary r = summarise();
    r.books.clear();
    return r;
}

// The patience is the user's, plus all times in which nothing moves in a correct run.
Watchdog::Limits Simulation::watchdog_limits() const {
    const SsdConfig& c = system_->config;
    const DriveInfo& info = system_->host.driver.drive();
    Watchdog::Limits l;
    l.patience = c.run.watchdog + longest_held_back(c) + c.host.interrupt_latency +
                 HostCpu(c.host).longest(info.max_transfer_bytes) +
                 (c.host.power_cut_at.empty() ? Ps{} : c.host.power_off_time) + c.link.device_to_host_latency +
                 c.link.host_to_device_latency;
    l.queue_slots = std::uint64_t{info.queue_pairs} * (info.queue_entries - 1);
    l.device_pages = c.nand.geometry.raw_bytes() / c.nand.geometry.page_bytes;
    return l;
}

Watchdog::Sight Simulation::sight() const {
    const SsdSystem& s = *system_;
    const SsdController& c = s.device.controller;
    const DriverCounters& d = s.host.driver.counters();
    Watchdog::Sight v;
    v.now = s.agenda.now();
    v.oldest = s.host.driver.oldest();
    v.outstanding = s.host.driver.outstanding();
    v.workload_waits_for_nothing = s.host.driver.waits_for_nothing();
    v.ends_in_nothing = finished_ && s.agenda.empty();
    v.host_work = d.requests_issued + d.commands_submitted + d.commands_completed;
    if (s.host.driver.block() != nullptr) v.host_work += s.host.driver.block()->counters().requests;
    v.completed = d.commands_completed;
    v.link_busy = s.link.upstream().busy(v.now) + s.link.downstream().busy(v.now);
    v.host_pages = c.flash_pages(FlashClass::host_write);
    v.gc_pages = c.flash_pages(FlashClass::gc_write) + c.firmware->gc().at_once().pages;
    for (std::uint32_t ch = 0; ch < s.config.nand.geometry.channels; ++ch) {
        const ChannelController& channel = c.backend.channel(ch);
        for (const std::uint64_t pages : channel.counters().pages) v.flash_work += pages;
        v.flash_work += channel.counters().operations + channel.counters().bytes_in + channel.counters().bytes_out;
        v.flash_held = v.flash_held || channel.bus_free_at() > v.now;
    }
    for (const auto& package : s.device.flash.packages)
        for (std::uint32_t lun = 0; lun < s.config.nand.geometry.dies_per_chip; ++lun)
            v.flash_held = v.flash_held || package->die(lun).earliest_ready(FlashOp::erase, 0) > v.now;
    for (std::uint32_t core = 0; core < c.firmware->cores().size(); ++core)
        v.others_held = v.others_held || c.firmware->cores().free_at(core) > v.now;
    v.others_held = v.others_held || !c.dram->idle(v.now);
    v.flash_idle = c.backend.idle();
    return v;
}

/// Names the part that still has work. It begins with the part nearest to the flash, because work would resume there
/// first.
std::string Simulation::where_work_lies() const {
    const SsdSystem& s = *system_;
    const SsdController& c = s.device.controller;
    if (!c.backend.idle()) return "transactions wait in the flash back end";
    if (s.link.upstream().waiting() + s.link.downstream().waiting() != 0) return "bursts wait for the link";
    if (c.front_end->transfers() != 0) return "transfers wait in the DMA engine or the link";
    if (!c.firmware->idle()) return "commands wait in the firmware";
    return s.host.driver.outstanding() != 0 ? "nothing waits in the flash or the firmware: the command is in the front "
                                              "end, the link or the driver"
                                            : "the device is idle";
}

void Simulation::watch() {
    if (shut_down_) return;
    const std::string reason = watchdog_->look(sight());
    if (!reason.empty()) throw Stalled(reason + "; " + where_work_lies());
    poll();
    system_->agenda.post(system_->agenda.now() + watchdog_->interval(), Then::to<&Simulation::watch>(this));
}

void Simulation::on_complete(const HostRequest& request, SimTime issued, SimTime submitted, SimTime now,
                             const Timeline& timeline, bool measured) {
    ++completions_;
    if (__builtin_expect(window_ != Window::open, 0)) look_for_window(measured);
    if (__builtin_expect(options_.observer != nullptr || (completions_ & 1023) == 0, 0)) {
        if (options_.observer != nullptr)
            options_.observer->on_complete(request, issued, submitted, now, timeline, measured);
        if ((completions_ & 1023) == 0) poll();
    }
    if (__builtin_expect(history_.is_due(now), 0)) history_.look(now, steady_counts());
    if (__builtin_expect(read_spread_.has_value(), 0) && request.op == HostOp::read) read_spread_->read(request.offset);
    latency_.on_complete(request, issued, submitted, now, timeline, measured);
    if (__builtin_expect(flow_stats_ != nullptr, 0))
        flow_stats_->on_complete(request, issued, submitted, now, timeline, measured);
    if (slowest_) slowest_->on_complete(request, issued, submitted, now, timeline, measured);
}

/// Opens the window. With a ramp, the window begins at the end of the first measured command.
void Simulation::look_for_window(bool measured) {
    if (!measured) {
        window_ = Window::ramp;
        return;
    }
    if (window_ == Window::ramp) {
        begin_measurement();
        limits_->forget();
    }
    window_ = Window::open;
}

std::string Simulation::slowest() const {
    if (!slowest_) return {};
    return slowest_json(
        slowest_->all(), occupancy_->size(),
        flow_stats_ != nullptr ? SlowestFlows{options_.flow_names, flow_stats_->flow_of_job()} : SlowestFlows{});
}

/// It is called after each entry of the agenda, once a signal handler has called interrupt().
void Simulation::interrupted() {
    if (!interrupted_) {
        interrupted_ = true;
        give_up_at_ = cpu_seconds() + kMostSecondsToEnd;
        if (!finished_) system_->host.driver.stop_submitting();
    } else if (++entries_since_ % 64 == 0 && cpu_seconds() > give_up_at_) {
        throw CutOff();
    }
}

void Simulation::poll() {
    if (!options_.progress) return;
    const auto wall = WallClock::now();
    if (seconds_between(wall_report_, wall) < 0.2) return;
    wall_report_ = wall;
    const SimTime now{system_->agenda.now() - system_->host.driver.epoch()};
    options_.progress(
        {now.time_since_epoch(), workload_.progress(now), completions_, seconds_between(wall_ready_, wall)});
}

Ps Simulation::active_time(HostOp op) const {
    return time_with(
        [&](std::uint32_t job) { return (latency_.jobs()[job].ops >> static_cast<unsigned>(op) & 1u) != 0; });
}

Ps Simulation::time_with(const std::function<bool(std::uint32_t job)>& counts) const {
    std::vector<Workload::JobTime> lives;
    const auto& jobs = latency_.jobs();
    for (std::uint32_t j = 0; j < jobs.size(); ++j)
        if (counts(j)) lives.push_back(workload_.job_time(j).value_or(Workload::JobTime{jobs[j].begin, jobs[j].end}));
    std::sort(lives.begin(), lives.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
    Ps active{};
    SimTime covered{};
    for (const auto& life : lives) {
        const SimTime begin = std::max(life.begin, covered);
        if (life.end <= begin) continue;
        active += life.end - begin;
        covered = life.end;
    }
    return active;
}

void Simulation::summarise_flows(RunSummary& r) const {
    r.flow_names = options_.flow_names;
    r.flows = flow_stats_->figures();
    r.flow_waits = flow_stats_->waits();
    for (std::uint32_t f = 0; f < r.flows.size(); ++f) {
        FlowFigures& flow = r.flows[f];
        flow.name = f < r.flow_names.size() ? r.flow_names[f] : std::to_string(f + 1);
        flow.active_s = to_seconds(time_with(
            [&](std::uint32_t job) { return latency_.jobs()[job].ops != 0 && flow_stats_->flow_of_job()[job] == f; }));
        if (flow.active_s > 0 && f + 1 < end_.flow_waits.waited_ps.size())
            flow.chip_queue =
                static_cast<double>(end_.flow_waits.waited_ps[f + 1] - begin_.flow_waits.waited_ps[f + 1]) * 1e-12 /
                flow.active_s;
        for (const RunSummary::MapUse& m : r.map_by_tenant)
            if (m.tenant == f + 1) {
                flow.map_hits = m.hits;
                flow.map_misses = m.misses;
            }
    }
}

// The verdict on limits leaves out the time of the last commands, when the workload has no more requests. A workload
// that issues all commands at once is judged as a whole.
RunSummary Simulation::summarise() {
    const auto wall_end = WallClock::now();
    SsdSystem& s = *system_;
    RunSummary r;
    r.device = s.config.name;
    r.workload = options_.workload_name;
    r.workload_digest = options_.workload_digest;
    r.version = kVersion;
    r.seed = s.config.run.seed;
    r.start = start_;
    r.interrupted = interrupted_;
    r.simulated = workload_end_.time_since_epoch();
    r.bring_up = s.host.driver.epoch().time_since_epoch();
    r.commands = latency_.commands();
    r.commands_all = latency_.all_commands();
    r.measured = latency_.window();
    r.integrity_checked = s.oracle ? s.oracle->blocks_checked() : 0;
    r.error_status = s.host.driver.counters().errors;
    r.resources = s.use(begin_.busy, end_.busy);
    r.ftl = end_.ftl - begin_.ftl;
    if (r.commands != 0) r.steady = ssdtlm::judge(history_, kept_by_drive());
    r.units_per_page = s.config.nand.geometry.units_per_page();
    r.page_bytes = s.config.nand.geometry.page_bytes;
    r.slc_blocks = s.config.ftl.slc.blocks + s.config.ftl.slc.dynamic_blocks;
    r.log_blocks = s.device.controller.ftl->placement() != nullptr;
    const NvmSets sets(s.config.ftl.nvm_sets, s.config.nand.geometry);
    const std::vector<std::uint64_t> ranges = sets.ranges(s.device.controller.ftl->logical_units());
    for (std::uint32_t set = 0; set < sets.count(); ++set)
        r.nvm_sets.push_back({sets.name(set), ranges[set] * s.config.nand.geometry.unit_bytes,
                              (ranges[set + 1] - ranges[set]) * s.config.nand.geometry.unit_bytes,
                              end_.sets[set].host_units - begin_.sets[set].host_units,
                              end_.sets[set].pages - begin_.sets[set].pages});
    if (sets.any()) {
        std::uint64_t pages = r.ftl.checkpoint_pages;
        for (const RunSummary::NvmSetFigures& set : r.nvm_sets) pages += set.pages;
        SSDTLM_CHECK(pages == r.ftl.pages_programmed(), "pages of the NVM Sets do not add up to those of the drive");
    }
    r.map_on_flash = s.device.controller.ftl->own_units() != 0;
    r.written = {end_.written - begin_.written, r.ftl.pages_programmed() * s.config.nand.geometry.page_bytes};
    r.wear = s.wear();
    r.blocks_by_erases = s.blocks_by_erases();
    if (die_queues_) {
        r.queues = die_queues_->queues();
        r.queue_looks = die_queues_->looks();
    }
    r.counters = counted_between(begin_.counters, end_.counters);
    r.counters_whole_run = s.counters();
    r.power_cuts = s.power_cuts();
    r.capacitors = capacitors_of(s.config);
    r.books = s.books(ftl_start_);
    r.latency = latency_.rows();
    judge(r);
    r.latency_bins = latency_.bins();
    r.by_job = latency_.by_job();
    if (s.config.host.streams) r.by_stream = latency_.by_stream();
    if (s.config.host.tenants != Tenants::one) {
        for (std::uint32_t job = 0; job < workload_.jobs(); ++job) r.tenant_of_job.push_back(workload_.tenant(job));
        r.by_tenant = latency_.by_tenant(r.tenant_of_job);
        for (std::uint32_t t = 0; t < end_.map.of_tenant.size(); ++t) {
            const CachedMap::Asked now = end_.map.of_tenant[t], before = t < begin_.map.of_tenant.size()
                                                                             ? begin_.map.of_tenant[t]
                                                                             : CachedMap::Asked{};
            if (now.hits + now.misses != before.hits + before.misses)
                r.map_by_tenant.push_back({t, now.hits - before.hits, now.misses - before.misses});
        }
    }
    if (flow_stats_ != nullptr) summarise_flows(r);
    if (const BlockLayer* const block = s.host.driver.block()) r.block = summarise_block(*block);
    const auto direction = [&](HostOp op) {
        RunSummary::Direction d;
        d.ios = latency_.count(op);
        d.bytes = latency_.bytes(op);
        d.active = active_time(op);
        if (d.active > Ps{}) {
            d.iops = static_cast<double>(d.ios) / to_seconds(d.active);
            d.mb_per_s = static_cast<double>(d.bytes) / to_seconds(d.active) * 1e-6;
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
    r.peak_memory_bytes = peak_memory_bytes();
    r.logical_units = s.device.controller.ftl->logical_units();
    r.raw_bytes = s.config.nand.geometry.raw_bytes();
    r.user_bytes = s.config.ftl.user_capacity_bytes;
    r.over_provisioning = over_provisioning_of(s.config);
    return r;
}

}  // namespace ssdtlm
