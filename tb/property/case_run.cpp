// SPDX-License-Identifier: Apache-2.0
#include "property/case_run.h"

#include <sys/time.h>

#include <memory>
#include <utility>

#include "common/tlm/agenda_process.h"
#include "property/case_host.h"
#include "property/case_side.h"
#include "sim/device/device.h"
#include "support/forked.h"

namespace ssdtlm {

namespace {

ContentsConfig outliving(ContentsConfig c) {
    c.outlives_power = true;
    return c;
}

/// The model's device and link, and the test's host.
struct Netlist {
    const SsdConfig config;
    Agenda agenda;
    AgendaProcess process{"agenda", agenda, config.run.agenda == AgendaMode::lockstep};
    Device device{"device", agenda, config, outliving(config.run)};
    CaseHost host;
    const std::unique_ptr<CaseSide> side;
    bool off = false;

    Netlist(const SsdConfig& c, std::uint32_t depth, const std::vector<DriveOp>& ops)
        : config(c), host(agenda, drive(), depth, ops), side(make_case_side(agenda, config, device, depth, host)) {
        agenda.call_straight(!c.run.through_guards);
        host.set_port(side->port());
        host.set_power_switch([this](bool on) {
            if (!on) supply_fails();
            if (on && off) device.power_on();
            return off;
        });
        host.set_is_read_only([this] { return device.controller.ftl->media().read_only; });
        host.set_on_end([this] { device.controller.firmware->stop_gc(); });
        device.set_on_rebuilt([this] { device.controller.ftl->verify_books(); });
        if (c.run.check_waiters)
            process.add_after_each([](void* self) { static_cast<Netlist*>(self)->check_waiters(); }, this);
    }
    CaseHost::Drive drive() const {
        const Ftl& ftl = *device.controller.ftl;
        return {config.nand.geometry.unit_bytes,
                config.nvme.lba_bytes,
                ftl.logical_units(),
                ftl.mapped_units(),
                config.run.data == DataMode::bytes,
                config.ftl.buffer_mode != BufferMode::write_back,
                config.ftl.buffer_mode == BufferMode::power_protected,
                config.ftl.caches_filled,
                config.faults.page_lost > 0,
                ftl.codec().version_bits(),
                config.run.seed};
    }
    void supply_fails() {
        off = false;
        side->cut_way(agenda);
        device.supply_fails([this] { power_off(); });
    }
    void power_off() {
        off = true;
        const auto* const begin = reinterpret_cast<const char*>(&host);
        agenda.drop_if([this, begin](const void* self) {
            return (self < begin || self >= begin + sizeof(CaseHost)) && !side->keeps(self);
        });
        device.power_off(side->port().commands());
        host.drive_is_off();
    }
    void check_waiters() const {
        side->check_waiters();
        device.controller.check_waiters();
    }
    std::string dump() const { return host.where() + "\n" + side->dump() + device.controller.dump(); }
};

nlohmann::json counts_of(const Netlist& n) {
    const SsdController& c = n.device.controller;
    const FtlCounters& f = c.ftl->counters();
    const CaseHost::Counts& h = n.host.counts();
    nlohmann::json j;
    for (std::size_t k = 0; k < DriveOp::kKinds; ++k) j[DriveOp::kNames[k]] = h.done[k];
    n.side->add_counts(j);
    j["losses of power"] = h.cuts;
    j["losses under load"] = h.under_load;
    j["commands failed"] = h.failed;
    j["commands failed by lost pages"] = h.lost;
    j["read-only in the end"] = c.ftl->media().read_only ? 1 : 0;
    j["resets under load"] = h.resets_under_load;
    j["commands cut off"] = h.cut_off;
    j["commands aborted by the error of another one"] = h.aborted;
    j["commands for blocks that are not there"] = h.beyond;
    j["copies"] = h.copies;
    j["compares"] = h.compares;
    j["compares fused with a write"] = h.pairs;
    j["commands failed by blocks made unreadable"] = h.unreadable;
    j["metadata of blocks compared"] = h.metadata_checked;
    j["writes with a wrong guard"] = h.wrong_guards;
    j["reads of other reference tags"] = h.other_references;
    j["drives erased"] = h.erased;
    j["losses of power while the drive is erased"] = h.in_erasure;
    j["resets while the drive is erased"] = h.resets_in_erasure;
    j["units compared"] = h.looked_at;
    j["reads with several right answers"] = n.host.reference().open_reads();
    j["units moved by collection"] = f.gc_units_moved;
    j["superblocks refreshed"] = f.refresh_victims;
    j["superblocks erased"] = f.blocks_erased;
    j["static levelling"] = f.wear_victims;
    j["pages of the journal"] = f.journal_pages;
    j["parity pages"] = f.parity_pages;
    j["padding pages"] = f.host_padding_pages + f.gc_padding_pages;
    if (c.parity_engine) j["pages rebuilt"] = c.parity_engine->counters().rebuilt + c.earlier().parity.rebuilt;
    j["pages of checkpoints"] = f.checkpoint_pages;
    j["translation pages written"] = f.map_pages;
    j["units folded"] = f.slc_units_folded;
    j["switch merges"] = f.switch_merges;
    j["partial merges"] = f.partial_merges;
    j["full merges"] = f.full_merges;
    j["direct blocks"] = f.direct_blocks;
    if (const ReadCache* cache = std::as_const(*c.firmware).read_cache())
        j["read cache hits"] = c.earlier().read_cache.hits + cache->counters().hits;
    if (const auto* map = std::as_const(*c.firmware).cached_map()) {
        j["map misses"] = c.earlier().map.misses + map->counters().misses;
    }
    for (const PowerCut& cut : n.device.power_cuts()) {
        j["pages torn"] = j.value("pages torn", 0ull) + cut.loss.pages_torn;
        j["lower pages lost"] = j.value("lower pages lost", 0ull) + cut.loss.lower_pages_lost;
        j["erases cut"] = j.value("erases cut", 0ull) + cut.loss.erases_cut;
        j["losses with a buffer to save"] = j.value("losses with a buffer to save", 0ull) + (cut.on_capacitors != Ps{});
        j["losses in the search"] = j.value("losses in the search", 0ull) + (cut.scan_time == Ps{});
        j["starts from checkpoints"] = j.value("starts from checkpoints", 0ull) + (cut.source == MapSource::checkpoint);
        j["starts from clean checkpoints"] =
            j.value("starts from clean checkpoints", 0ull) + (cut.source == MapSource::clean_checkpoint);
        j["dirty entries found"] = j.value("dirty entries found", 0ull) + cut.dirty_entries;
    }
    return j;
}

}  // namespace

nlohmann::json run_case(const SsdConfig& config, std::uint32_t depth, const std::vector<DriveOp>& ops) {
    sc_core::sc_report_handler::set_actions(sc_core::SC_INFO, sc_core::SC_DO_NOTHING);
    Netlist n(config, depth, ops);
    n.host.start();
    try {
        n.process.run();
        if (!n.device.controller.firmware->idle() || !n.host.ended()) throw CheckFailed("nothing is left to happen");
        n.side->check_books();
        n.device.controller.ftl->verify_books();
        if (!n.device.controller.backend.idle()) throw CheckFailed("back end not idle");
    } catch (const std::exception& e) {
        throw std::runtime_error(std::string(e.what()) + "\n" + n.dump());
    }
    return counts_of(n);
}

nlohmann::json run_in_child(const SsdConfig& config, std::uint32_t depth, const std::vector<DriveOp>& ops,
                            unsigned seconds) {
    return nlohmann::json::parse(in_child([&] {
        // Ends the child: one in which things happen for ever. Of the processor, so that what else the machine does is
        // not counted.
        const itimerval limit{{0, 0}, {static_cast<time_t>(seconds), 0}};
        if (setitimer(ITIMER_PROF, &limit, nullptr) != 0) throw std::runtime_error("setitimer");
        return run_case(config, depth, ops).dump();
    }));
}

}  // namespace ssdtlm
