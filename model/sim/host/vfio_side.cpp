// SPDX-License-Identifier: Apache-2.0
#include "sim/host/vfio_side.h"

#include "controller/ports/drive_facts.h"
#include "host_vfio/vfio_host.h"

namespace ssdtlm {
namespace {

/// The time for events after the last access, besides CSTS.RDY, such as coalesced interrupts and timers of the
/// firmware: assumed.
constexpr Ps kSettles{10'000'000'000};

VfioHostFacts facts_of(const HostSetup& s) {
    const SsdConfig& c = s.config;
    VfioHostFacts f;
    f.pci.vendor = DriveFacts{}.pci_vendor;
    f.pci.bar_bytes = nvme::kBar0Bytes;
    f.pci.vectors = c.nvme.max_queue_pairs + 1;
    f.pci.table_offset = nvme::kMsixTable;
    f.pci.pba_offset = nvme::kMsixPba;
    f.pci.generation = c.link.generation;
    f.pci.lanes = c.link.lanes;
    f.pci.max_payload_bytes = c.link.max_payload_bytes;
    f.pci.max_read_request_bytes = c.link.max_read_request_bytes;
    f.drive.queue_pairs = c.nvme.max_queue_pairs;
    f.drive.queue_entries = c.nvme.max_queue_entries;
    f.drive.max_transfer_bytes = ~0u;  // nothing is split here, as the guest's driver has split it
    f.drive.lba_bytes = 512;           // the unit of requests, whatever the drive's blocks
    f.drive.blocks = s.device.controller.ftl->logical_units() * std::uint64_t{c.nand.geometry.unit_bytes} / 512;
    f.lba_bytes = c.nvme.lba_bytes;
    f.settles = kSettles + c.nvme.ready_time;
    return f;
}

class VfioSide final : public HostSide {
public:
    VfioSide(const HostSetup& s, GuestService& service)
        : VfioSide(
              s, std::make_unique<VfioHost>(
                     "host", s.agenda, s.config.host, facts_of(s), s.workload, service, s.device.controller.stages,
                     [&device = s.device] {
                         const SsdController& c = device.controller;
                         return !c.looks_for_map() && c.firmware && c.firmware->idle() && c.front_end->transfers() == 0;
                     },
                     [&device = s.device](std::function<void()> done) { device.function_level_reset(std::move(done)); },
                     s.observer)) {}
    std::vector<Bytes> survivors() const override { return {{host_.get(), sizeof *host_}}; }
    Counters figures() const override {
        Counters all;
        for (const auto& [name, value] : host_->figures()) all.push_back({name, value});
        return all;
    }
    Bound queue_slots(const SsdConfig&) const override { return {{"nvme.max_queue_entries"}, {}}; }
    std::string dump() const override { return static_cast<const VfioHost&>(*host_).dump(); }
    std::uint64_t carried_out() const override { return host_->carried_out(); }
    bool knows_all() const override { return false; }

private:
    sc_core::sc_module& module() override { return *host_; }
    VfioSide(const HostSetup& s, std::unique_ptr<VfioHost> host) : HostSide(*host), host_(std::move(host)) {
        s.taps.join_mmio(host_->mmio_initiator, s.link.host_target);
        s.link.device_initiator.bind(s.device.nvme().mmio_target);
        s.taps.join_dma(s.device.nvme().dma_initiator, s.link.device_target);
        s.link.host_initiator.bind(host_->dma_target);
    }
    const std::unique_ptr<VfioHost> host_;
};

}  // namespace

HostMaker make_vfio_side(GuestService& service) {
    return [&service](const HostSetup& setup) { return std::make_unique<VfioSide>(setup, service); };
}

}  // namespace ssdtlm
