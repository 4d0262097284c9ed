// SPDX-License-Identifier: Apache-2.0
// A flash back end with its buses and packages, and a client that records completions. Build all benches of a program,
// then call elaborate() once (the SystemC kernel is global); after that only the agenda moves.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <systemc>
#include <vector>

#include "common/tlm/agenda.h"
#include "controller/channel_ctrl/flash_backend.h"
#include "controller/scheduler/bus_orders.h"
#include "controller/scheduler/scheduler_registry.h"
#include "controller/scheduler/suspend_policies.h"
#include "nand/channel/onfi_bus.h"
#include "nand/onfi/onfi_timing.h"
#include "nand/package/nand_package.h"

namespace ssdtlm {

class FlashBench {
public:
    virtual ~FlashBench() = default;
    /// Makes a scheduler in place of the registered policy.
    using OwnScheduler = std::function<std::unique_ptr<SchedulerPort>(Agenda&)>;

    FlashBench(const std::string& name, const NandConfig& config, const EccConfig& ecc = {},
               const SchedulerConfig& scheduler = {}, const OwnScheduler& own = {}, bool moves_with_host = false)
        : nand(config), geometry(config.geometry), area(config.geometry) {
        backend = std::make_unique<FlashBackend>(
            (name + "_backend").c_str(), agenda, nand, ecc, scheduler.multi_plane,
            own ? own(agenda)
                : make_scheduler_policy(scheduler, SchedulerShape{geometry.channels, geometry.dies_per_channel(),
                                                                  nand.independent_plane_read}),
            make_bus_order(scheduler), make_suspend_policy(scheduler), moves_with_host);
        for (std::uint32_t c = 0; c < geometry.channels; ++c) {
            buses_.push_back(std::make_unique<OnfiBus>((name + "_bus" + std::to_string(c)).c_str(), nand));
            backend->channel(c).onfi_initiator.bind(buses_.back()->controller_target);
            for (std::uint32_t w = 0; w < geometry.ways; ++w) {
                const std::uint32_t package = c * geometry.ways + w;
                packages_.push_back(std::make_unique<NandPackage>((name + "_package" + std::to_string(package)).c_str(),
                                                                  agenda, nand, DieId{package * geometry.dies_per_chip},
                                                                  area));
                buses_.back()->package_initiator[w].bind(packages_.back()->bus_target);
            }
        }
    }
    /// Ends elaboration of everything built so far.
    static void elaborate() { sc_core::sc_start(sc_core::SC_ZERO_TIME); }

    FlashTransaction& make(FlashOp op, FlashClass cls, std::uint32_t die, std::uint32_t plane, std::uint32_t block,
                           std::uint32_t page, std::uint32_t bytes) {
        FlashTransaction& t = pool_.emplace_back();
        t.op = op;
        t.cls = cls;
        t.die = DieId{die};
        t.address = PageAddress{PlaneId{die * geometry.planes_per_die + plane}, block, page};
        t.data_bytes = bytes;
        t.then = Then::to<&FlashBench::ended>(this, t);
        for (std::uint32_t i = 0; i < geometry.units_per_page(); ++i)
            t.spare[i] = op == FlashOp::program ? Spare{1000 * (block + 1) + 10 * page + i} : kErased;
        return t;
    }
    FlashTransaction& read(std::uint32_t die, std::uint32_t plane, std::uint32_t block, std::uint32_t page,
                           std::uint32_t bytes, FlashClass cls = FlashClass::host_read) {
        return submit(make(FlashOp::read, cls, die, plane, block, page, bytes));
    }
    FlashTransaction& program(std::uint32_t die, std::uint32_t plane, std::uint32_t block, std::uint32_t page,
                              FlashClass cls = FlashClass::host_write) {
        return submit(make(FlashOp::program, cls, die, plane, block, page, geometry.page_bytes));
    }
    FlashTransaction& erase(std::uint32_t die, std::uint32_t plane, std::uint32_t block) {
        return submit(make(FlashOp::erase, FlashClass::erase, die, plane, block, 0, 0));
    }
    FlashTransaction& submit(FlashTransaction& t) {
        backend->submit(t);
        return t;
    }
    /// Contents as make() gives them, without simulated time.
    void fill(std::uint32_t die, std::uint32_t plane, std::uint32_t block, std::uint32_t pages) {
        for (std::uint32_t p = 0; p < pages; ++p) {
            const FlashTransaction t =
                make(FlashOp::program, FlashClass::host_write, die, plane, block, p, geometry.page_bytes);
            area.program_page(t.address, t.spare.data());
            pool_.pop_back();
        }
    }
    /// From now on this goes wrong in all dies.
    void inject(ArrayFaults* faults) {
        for (const auto& package : packages_) package->inject(faults);
    }
    /// Forgets the past: nothing recorded, bus turned round.
    void settle() {
        done.clear();
        agenda.advance_to(agenda.now() + 1us);
    }
    virtual void ended(FlashTransaction& t) { done.push_back(&t); }
    SimTime now() const { return agenda.now(); }

    Agenda agenda;
    const NandConfig nand;
    const NandGeometry geometry;
    SpareArea area;
    std::unique_ptr<FlashBackend> backend;
    std::vector<FlashTransaction*> done;

private:
    std::vector<std::unique_ptr<OnfiBus>> buses_;
    std::vector<std::unique_ptr<NandPackage>> packages_;
    std::deque<FlashTransaction> pool_;
};

}  // namespace ssdtlm
