// SPDX-License-Identifier: Apache-2.0
#include "sim/host/host_side.h"

#include <algorithm>
#include <string>
#include <vector>

#include "sim/host/host.h"

namespace ssdtlm {

namespace {

/// A host that speaks NVMe over the PCIe link.
class NvmeSide final : public HostSide {
public:
    explicit NvmeSide(const HostSetup& s)
        : NvmeSide(s, std::make_unique<Host>("host", s.agenda, s.config.host, s.workload, &s.device.controller.stages,
                                             s.oracle, s.observer)) {}
    std::vector<Bytes> survivors() const override { return {{host_.get(), sizeof *host_}}; }
    void check_waiters() const override {
        HostSide::check_waiters();
        host_->root_complex.check_waiters();
    }

private:
    sc_core::sc_module& module() override { return *host_; }
    NvmeSide(const HostSetup& s, std::unique_ptr<Host> host) : HostSide(host->driver), host_(std::move(host)) {
        s.taps.join_mmio(host_->mmio_initiator, s.link.host_target);
        s.link.device_initiator.bind(s.device.nvme().mmio_target);
        s.taps.join_dma(s.device.nvme().dma_initiator, s.link.device_target);
        s.link.host_initiator.bind(host_->dma_target);
    }
    const std::unique_ptr<Host> host_;
};

// Both are registered here, so every program that links the run has them.
const HostSides::Registered kNvme{
    {"nvme", "a host that speaks NVMe over PCIe", {}, [](const HostSetup& s, const PolicySettings&) {
         return std::make_unique<NvmeSide>(s);
     }}};
const HostSides::Registered kRaw{{"raw",
                                  "a host whose commands are payloads at the drive's TLM target",
                                  {},
                                  [](const HostSetup& s, const PolicySettings&) { return make_raw_side(s); }}};

}  // namespace

void HostSide::cut_way(Agenda& agenda, PcieLink& link) {
    const auto* const begin = reinterpret_cast<const char*>(&link);
    agenda.drop_if([begin](const void* self) { return self >= begin && self < begin + sizeof link; });
    link.restart();
}

Counters HostSide::figures() const {
    return {{"host_sq_doorbells", driver.counters().announcements},
            {"host_cq_doorbells", driver.counters().acknowledgements}};
}

Bound HostSide::queue_slots(const SsdConfig& config) const {
    return {
        {driver.drive().queue_entries < config.host.queue_entries ? "nvme.max_queue_entries" : "host.queue_entries"},
        {}};
}

std::unique_ptr<HostSide> make_host_side(const HostSetup& setup) {
    const std::string& kind = setup.config.front_end.kind;
    const std::vector<std::string> names = HostSides::instance().names();
    if (std::find(names.begin(), names.end(), kind) != names.end())
        return HostSides::instance().make("frontend.kind", kind, setup, setup.config.host_sides);
    std::string allowed;
    for (const std::string& name : names) allowed += (allowed.empty() ? "\"" : ", \"") + name + "\"";
    throw UserError(Problem{"frontend.kind", "\"" + kind + "\" in a program without a host for it", allowed,
                            "set it to \"nvme\", or bring a host of your own (docs/extending.md)"});
}

}  // namespace ssdtlm
