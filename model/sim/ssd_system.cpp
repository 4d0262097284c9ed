// SPDX-License-Identifier: Apache-2.0
#include "sim/ssd_system.h"

#include <algorithm>
#include <map>
#include <fmt/format.h>

#include "adapter/rtl_onfi_sequencer.h"
#include "adapter/rtl_schedulers.h"
#include "controller/scheduler/bus_orders.h"
#include "controller/scheduler/clocked/clocked_scheduler.h"
#include "controller/scheduler/scheduler_registry.h"
#include "controller/scheduler/suspend_policies.h"

namespace ssdtlm {

namespace {

// A full buffer on a full drive: every page programmed once, and as often again as collection moves pages for it. A
// victim holds at most the mean share of valid data, so with s the spare share, a page costs at most 1/s programs.
Ps longest_shutdown(const SsdConfig& c, std::uint64_t namespace_bytes) {
    const NandGeometry& g = c.nand.geometry;
    const auto longest = [](const std::vector<Ps>& times) { return *std::max_element(times.begin(), times.end()); };
    const int reads = c.faults.any() ? 1 + c.ecc.read_retries : 1;
    const double page = to_seconds(longest(c.nand.t_program) + reads * longest(c.nand.t_read)) + to_seconds(c.nand.t_erase) / g.pages_per_block;
    const double in_use = static_cast<double>(g.raw_bytes()) * (1.0 - static_cast<double>(c.ftl.spare_blocks) / g.blocks_per_plane);
    const double spare = 1.0 - static_cast<double>(namespace_bytes) / in_use;
    const double pages = static_cast<double>(c.ftl.buffer_bytes) / g.page_bytes / g.dies();
    return Ps{static_cast<std::int64_t>(pages * page / std::max(spare, 0.01) * 1e12)};
}

NvmeDevice device_of(const SsdConfig& c, const Ftl& ftl) {
    NvmeDevice d;
    d.namespace_bytes = ftl.logical_units() * c.nand.geometry.unit_bytes;
    d.shutdown_time = longest_shutdown(c, d.namespace_bytes);
    d.scan_time = MapScan::longest(c.nand, c.ecc.decode_time, 1);
    d.volatile_write_cache = c.ftl.buffer_mode == BufferMode::write_back;
    d.unit_bytes = c.nand.geometry.unit_bytes;
    return d;
}

std::unique_ptr<IntegrityOracle> make_oracle(const SsdConfig& c, const Ftl& ftl) {
    if (!c.run.integrity) return nullptr;
    IntegrityOracle::Geometry g;
    g.units = ftl.logical_units();
    g.unit_bytes = c.nand.geometry.unit_bytes;
    g.lba_bytes = c.nvme.lba_bytes;
    g.filled_units = ftl.mapped_units();  // preconditioning fills from unit 0
    g.version_bits = ftl.codec().version_bits();
    if (c.run.data == DataMode::bytes) g.bytes_of_seed = c.run.seed;
    g.power_cuts = !c.host.power_cut_at.empty();
    g.durable_writes = c.ftl.buffer_mode == BufferMode::write_through;
    return std::make_unique<IntegrityOracle>(g);
}

}  // namespace

// Data reads leave an eighth of the tags, at least two, to SQE fetches and PRP lists. assumed.
std::uint64_t SsdSystem::read_window(const LinkConfig& link) {
    const std::uint64_t spare = std::max<std::uint64_t>(2, link.read_tags / 8);
    return (link.read_tags > spare ? link.read_tags - spare : 1) * std::uint64_t{link.max_read_request_bytes};
}

Firmware::Data SsdSystem::data_of(const RunConfig& run) {
    if (run.data == DataMode::bytes) return Firmware::Data::bytes;
    return run.integrity ? Firmware::Data::signatures : Firmware::Data::unchecked_signatures;
}

SsdSystem::SsdSystem(sc_core::sc_module_name name, const SsdConfig& c, Workload& workload, CompletionObserver* observer,
                     SsdTaps* taps)
    : sc_module(name),
      config(c),
      process("agenda", agenda, c.run.agenda == AgendaMode::lockstep),
      spare(config.nand.geometry),
      ftl_(std::in_place, config.ftl, config.nand.geometry, spare, config.run.seed),
      ftl(*ftl_),
      oracle((ftl.precondition(), make_oracle(config, ftl))),
      driver("driver", agenda, memory, config.host, workload, tracker, oracle.get(), observer),
      root_complex("root_complex", memory, &driver),
      link("link", agenda, config.link),
      dma("dma", agenda, read_window(config.link)),
      front_end("front_end", agenda, dma, tracker, config.nvme, device_of(config, ftl)),
      dram(make_dram(config.dram, agenda)),
      backend("backend", agenda, config.nand, config.ecc, config.scheduler.multi_plane,
              make_scheduler(config.scheduler, scheduler_shape(config.nand.geometry, config.nand.independent_plane_read),
                             agenda, rtl_schedulers()),
              make_bus_order(config.scheduler), make_suspend_policy(config.scheduler)),
      flash_(taps != nullptr ? taps->flash(backend) : backend),
      firmware_(std::in_place, config.firmware, config.ftl, config.nand.geometry, config.nvme.lba_bytes, surroundings(), data_of(config.run)),
      firmware(*firmware_) {
    if (config.run.data == DataMode::bytes) spare.keep_bytes(ftl.codec(), BlockBytes(config.run.seed, config.nvme.lba_bytes));
    if (taps != nullptr)
        taps->join_mmio(driver.mmio_initiator, link.host_target);
    else
        driver.mmio_initiator.bind(link.host_target);
    link.device_initiator.bind(front_end.mmio_target);
    if (taps != nullptr)
        taps->join_dma(dma.pcie_initiator, link.device_target);
    else
        dma.pcie_initiator.bind(link.device_target);
    link.host_initiator.bind(root_complex.link_target);
    if (config.faults.any()) faults = std::make_unique<RandomFaults>(config.faults, config.run.seed);
    // A random look-up in a forward map of hundreds of megabytes is the dearest single step of a read on the host.
    if (is_power_of_two(config.nand.geometry.unit_bytes))
        driver.set_prefetch(
            [](void* self, std::uint64_t offset) {
                const SsdSystem& s = *static_cast<SsdSystem*>(self);
                const std::uint64_t unit = offset >> __builtin_ctz(s.config.nand.geometry.unit_bytes);
                if (unit < s.ftl.logical_units()) s.ftl.prefetch(Lpa{static_cast<std::uint32_t>(unit)});
            },
            this);
    connect();
    survives(&driver, sizeof driver);
    driver.set_power_switch([this](bool on) { on ? power_on() : power_off(); });
    const NandGeometry& g = config.nand.geometry;
    for (std::uint32_t ch = 0; ch < g.channels; ++ch) {
        buses.push_back(std::make_unique<OnfiBus>(fmt::format("bus_{}", ch).c_str(), config.nand));
        if (taps != nullptr)
            taps->join_onfi(ch, backend.channel(ch).onfi_initiator, buses.back()->controller_target);
        else
            backend.channel(ch).onfi_initiator.bind(buses.back()->controller_target);
        for (std::uint32_t way = 0; way < g.ways; ++way) {
            const DieId first{ch * g.dies_per_channel() + way * g.dies_per_chip};
            packages.push_back(
                std::make_unique<NandPackage>(fmt::format("package_{}_{}", ch, way).c_str(), agenda, config.nand, first, spare));
            packages.back()->inject(faults.get());
            buses.back()->package_initiator[way].bind(packages.back()->bus_target);
        }
    }
}

/// What has to be said to each other by organs that are built again after a loss of power.
void SsdSystem::connect() {
    front_end.bind(firmware);
    front_end.bind_health([this] {
        DeviceHealth health;
        health.available_spare = ftl.media().available_spare;
        health.read_only = ftl.media().read_only;
        return health;
    });
    ftl.on_media_change([this] { front_end.health_changed(); });
    firmware.bind(front_end.completions());
    for (const std::uint32_t ch : config.channel.rtl_sequencer)
        backend.channel(ch).use_sequencer(std::make_unique<RtlOnfiSequencer>(config.nand, config.channel.sequencer_hertz));
    if (!occupancy_) return;
    backend.record(*occupancy_);
    firmware.record(*occupancy_);
}

const Occupancy& SsdSystem::record() {
    const NandGeometry& g = config.nand.geometry;
    occupancy_ = std::make_unique<Occupancy>(Occupancy::Size{g.channels, g.dies_per_channel(), g.planes_per_die,
                                                             config.nand.independent_plane_read, config.firmware.cores});
    backend.record(*occupancy_);
    firmware.record(*occupancy_);
    return *occupancy_;
}

SsdSystem::BusySnapshot SsdSystem::busy() const {
    BusySnapshot s;
    s.at = agenda.now();
    s.up = link.upstream().busy(s.at);
    s.down = link.downstream().busy(s.at);
    s.dram = earlier_.dram + dram->busy();
    for (std::uint32_t i = 0; i < firmware.cores().size(); ++i) s.cores.push_back(firmware.cores().busy(i) + (earlier_.cores.empty() ? Ps{} : earlier_.cores[i]));
    const NandGeometry& g = config.nand.geometry;
    for (std::uint32_t ch = 0; ch < g.channels; ++ch) s.channels.push_back(backend.channel(ch).counters().bus_busy());
    for (std::uint32_t d = 0; d < g.dies(); ++d) {
        Ps total{};
        for (const std::int64_t ps : backend.die_busy(DieId{d})) total += Ps{ps};
        s.dies.push_back(total);
    }
    return s;
}

std::vector<ResourceUse> SsdSystem::use(const BusySnapshot& from, const BusySnapshot& to) const {
    const double window = to_seconds(to.at - from.at);
    std::vector<ResourceUse> all;
    if (window <= 0) return all;
    // A resource that was reserved ahead of the window's end counts as busy for no more than the window.
    const auto share = [window](Ps a, Ps b) { return std::min(1.0, to_seconds(b - a) / window); };
    const auto single = [&](const char* n, Ps a, Ps b) { all.push_back({n, 1, share(a, b), share(a, b), n, {share(a, b)}}); };
    const auto group = [&](const char* n, const std::vector<Ps>& a, const std::vector<Ps>& b) {
        ResourceUse r;
        r.name = n;
        r.members = static_cast<std::uint32_t>(b.size());
        for (std::size_t i = 0; i < b.size(); ++i) {
            const double u = share(a[i], b[i]);
            r.busy.push_back(u);
            r.mean += u / static_cast<double>(b.size());
            if (u > r.max || r.busiest.empty()) {
                r.max = u;
                r.busiest = fmt::format("{} {}", n, i);
            }
        }
        all.push_back(r);
    };
    single("link to device", from.down, to.down);
    single("link to host", from.up, to.up);
    group("firmware core", from.cores, to.cores);
    single("DRAM port", from.dram, to.dram);
    group("channel bus", from.channels, to.channels);
    group("die", from.dies, to.dies);
    return all;
}

std::uint64_t SsdSystem::flash_pages(FlashClass cls) const {
    std::uint64_t n = 0;
    for (std::uint32_t ch = 0; ch < config.nand.geometry.channels; ++ch)
        n += backend.channel(ch).counters().pages[static_cast<std::size_t>(cls)];
    return n;
}

std::vector<DieWear> SsdSystem::wear() const {
    const NandGeometry& g = config.nand.geometry;
    const std::uint32_t blocks = g.planes_per_die * g.blocks_per_plane;
    std::vector<DieWear> all;
    for (std::uint32_t die = 0; die < g.dies(); ++die) {
        DieWear w;
        w.least = ~std::uint32_t{0};
        std::uint64_t sum = 0;
        for (std::uint32_t b = 0; b < blocks; ++b) {
            const std::uint32_t erases = spare.erase_count(BlockId{die * blocks + b});
            w.least = std::min(w.least, erases);
            w.most = std::max(w.most, erases);
            sum += erases;
        }
        w.mean = static_cast<double>(sum) / blocks;
        all.push_back(w);
    }
    return all;
}

std::vector<std::pair<std::uint32_t, std::uint64_t>> SsdSystem::blocks_by_erases() const {
    std::map<std::uint32_t, std::uint64_t> count;
    for (std::uint32_t b = 0; b < config.nand.geometry.blocks(); ++b) ++count[spare.erase_count(BlockId{b})];
    return {count.begin(), count.end()};
}

std::vector<BookLine> SsdSystem::books(const FtlCounters& before) const {
    const FtlCounters ftl_now = ftl.counters() - (power_cuts_.empty() ? before : earlier_.ftl);
    const auto pages = [this](FlashClass cls) { return flash_pages(cls) - earlier_.pages[static_cast<std::size_t>(cls)]; };
    const DriverCounters& d = driver.counters();
    const NvmeCounters& n = front_end.counters();
    const BufferPort& b = firmware.buffer();
    return {
        {"requests issued = completed", d.requests_issued, d.requests_completed},
        {"commands submitted = completed", d.commands_submitted - d.commands_cancelled, d.commands_completed},
        {"commands submitted by the host = completed by the controller", d.commands_completed,
         n.reads + n.writes + n.flushes + n.deallocates + n.write_zeroes - n.dropped_completions},
        {"units written by the host = inserted in the buffer", firmware.host_units_written(), b.inserted()},
        {"units inserted = mapped + coalesced + deallocated while buffered", b.inserted(),
         firmware.host_units_mapped() + b.coalesced() + b.dropped_dirty() + firmware.host_units_discarded_before_map() + firmware.host_units_lost()},
        {"units mapped by firmware = by the FTL", firmware.host_units_mapped(), ftl_now.host_units},
        {"host pages allocated = programmed by the dies", ftl_now.host_pages_allocated, pages(FlashClass::host_write)},
        {"GC and journal pages of the FTL = programmed by the dies", ftl_now.gc_pages + ftl_now.journal_pages,
         pages(FlashClass::gc_write)},
        {"bytes programmed = (host + GC + journal) pages", (pages(FlashClass::host_write) + pages(FlashClass::gc_write)) *
                                                     config.nand.geometry.page_bytes,
         (ftl_now.host_pages + ftl_now.gc_pages + ftl_now.journal_pages) * config.nand.geometry.page_bytes},
        {"blocks erased by the FTL = by the dies", ftl_now.blocks_erased, pages(FlashClass::erase)},
        {"write buffer empty", b.used(), 0},
    };
}

std::vector<std::pair<std::string, std::uint64_t>> SsdSystem::counters() const {
    const DriverCounters& d = driver.counters();
    const NvmeCounters& n = front_end.counters();
    const LinkCounters& up = link.upstream().counters();
    const LinkCounters& down = link.downstream().counters();
    std::uint64_t operations = 0, multi_plane = 0, joined_programs = 0;
    for (std::uint32_t ch = 0; ch < config.nand.geometry.channels; ++ch) {
        operations += backend.channel(ch).counters().operations;
        multi_plane += backend.channel(ch).counters().multi_plane;
        joined_programs += backend.channel(ch).counters().joined_programs;
    }
    std::vector<std::pair<std::string, std::uint64_t>> all{
        {"host_commands", d.commands_submitted},
        {"host_interrupts", d.interrupts},
        {"host_sq_doorbells", d.sq_doorbells},
        {"host_cq_doorbells", d.cq_doorbells},
        {"nvme_fetches", n.fetches},
        {"nvme_sqes", n.sqes},
        {"nvme_cqes", n.cqes},
        {"nvme_prp_list_reads", n.list_reads},
        {"dma_bytes_to_host", dma.counters().bytes_written},
        {"dma_bytes_to_device", dma.counters().bytes_read},
        {"link_wire_bytes_to_host", up.wire_bytes()},
        {"link_wire_bytes_to_device", down.wire_bytes()},
        {"buffer_units_coalesced", firmware.buffer().coalesced() + earlier_.coalesced},
        {"partial_unit_merge_reads", firmware.merge_reads() + earlier_.merge_reads},
        {"flash_operations", operations},
        {"flash_multi_plane_operations", multi_plane},
        {"flash_multi_plane_page_programs", joined_programs},
        {"flash_host_page_reads", flash_pages(FlashClass::host_read)},
        {"flash_gc_page_reads", flash_pages(FlashClass::gc_read)},
        {"flash_host_page_programs", flash_pages(FlashClass::host_write)},
        {"flash_gc_page_programs", flash_pages(FlashClass::gc_write)},
        {"flash_block_erases", flash_pages(FlashClass::erase)},
        {"gc_victims", firmware.gc().victims() + earlier_.victims},
    };
    if (!config.host.reset_at.empty()) all.push_back({"controller_resets", n.resets});
    if (!power_cuts_.empty()) {
        PowerLoss loss;
        std::uint64_t reads = 0;
        for (const PowerCut& cut : power_cuts_) {
            loss += cut.loss;
            reads += cut.scan_reads;
        }
        all.insert(all.end(), {{"power_cuts", power_cuts_.size()},
                               {"flash_pages_torn", loss.pages_torn},
                               {"flash_erases_cut", loss.erases_cut},
                               {"map_scan_page_reads", reads}});
    }
    if (!config.host.reset_at.empty() || !power_cuts_.empty()) {
        all.push_back({"unsafe_shutdowns", n.unsafe_shutdowns});
        all.push_back({"host_commands_cancelled", d.commands_cancelled});
    }
    if (config.scheduler.suspend != "never") {
        std::uint64_t suspends = 0;
        for (std::uint32_t ch = 0; ch < config.nand.geometry.channels; ++ch) suspends += backend.channel(ch).counters().suspends;
        all.push_back({"flash_suspends", suspends});
    }
    if (config.faults.any()) {
        const MediaHealth& m = ftl.media();
        std::uint64_t retries = 0;
        for (std::uint32_t ch = 0; ch < config.nand.geometry.channels; ++ch) retries += backend.channel(ch).counters().read_retries;
        all.insert(all.end(), {{"flash_read_retries", retries},
                               {"flash_program_failures", m.program_failures},
                               {"flash_erase_failures", m.erase_failures},
                               {"flash_blocks_retired", m.blocks_retired},
                               {"units_lost", m.units_lost},
                               {"commands_unrecovered_read", d.unrecovered_reads},
                               {"commands_write_fault", d.write_faults},
                               {"commands_refused_read_only", d.refused_read_only},
                               {"smart_media_errors", n.media_errors},
                               {"smart_available_spare_percent", m.available_spare},
                               {"smart_critical_warning", front_end.critical_warning()}});
    }
    if (const auto* const clocked = dynamic_cast<const ClockedScheduler*>(&backend.scheduler())) {
        const ClockedScheduler::Counters& c = clocked->counters();
        all.push_back({"scheduler_questions", c.questions});
        all.push_back({"scheduler_grants", c.grants});
        all.push_back({"scheduler_cycles", c.cycles});
        all.push_back({"scheduler_requests_held_back", c.held_back});
    }
    return all;
}

void SsdSystem::check_waiters() const {
    driver.check_waiters();
    link.check_waiters();
    dma.check_waiters();
    front_end.check_waiters();
    backend.check_waiters();
    firmware.check_waiters();
    check_scan();
}

std::string SsdSystem::dump() const {
    return fmt::format("state at {} ps, {} agenda entries pending\n", agenda.now().time_since_epoch().count(), agenda.pending()) +
           driver.dump() + link.dump() + dma.dump() + front_end.dump() + firmware.dump() +
           (scan_ ? scan_->dump() : "") + backend.dump();
}

}  // namespace ssdtlm
