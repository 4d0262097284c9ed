// SPDX-License-Identifier: Apache-2.0
#include "property/case_side.h"

#include <variant>

#include "common/report/error.h"
#include "controller/sata/sata_front_end.h"
#include "host_pcie/link/pcie_link.h"
#include "property/nvme_case_port.h"
#include "property/sata_case_port.h"

namespace ssdtlm {

namespace {

template <class T>
bool lies_in(const T& object, const void* address) {
    const auto* const begin = reinterpret_cast<const char*>(&object);
    return address >= begin && address < begin + sizeof object;
}

class NvmeCaseSide final : public CaseSide {
public:
    NvmeCaseSide(Agenda& agenda, const SsdConfig& c, Device& device, std::uint32_t depth, CasePortClient& host)
        : device_(device),
          link_("link", agenda, c.link),
          port_("host", agenda, c.host, c.nvme.lba_bytes, c.nvme.metadata, depth, host) {
        port_.mmio_initiator.bind(link_.host_target);
        link_.device_initiator.bind(device.nvme().mmio_target);
        device.nvme().dma_initiator.bind(link_.device_target);
        link_.host_initiator.bind(port_.root_complex().link_target);
        port_.set_reset_function(
            [&device](std::function<void()> done) { device.function_level_reset(std::move(done)); });
    }
    CasePort& port() override { return port_; }
    void cut_way(Agenda& agenda) override {
        agenda.drop_if([this](const void* object) { return lies_in(link_, object); });
        link_.restart();
    }
    bool keeps(const void* object) const override { return lies_in(port_, object); }
    void check_waiters() const override { link_.check_waiters(); }
    void check_books() const override {
        device_.nvme().controller.check_books();
        if (port_.root_complex().unsupported_requests() != 0) throw CheckFailed("DMA outside of host memory");
    }
    void add_counts(nlohmann::json&) const override {}
    std::string dump() const override { return link_.dump(); }

private:
    Device& device_;
    PcieLink link_;
    mutable NvmeCasePort port_;
};

SataCasePort::Config port_config(const SsdConfig& c, std::uint32_t depth) {
    SataCasePort::Config p;
    p.lba_bytes = c.nvme.lba_bytes;
    p.max_transfer_bytes = static_cast<std::uint32_t>(c.nvme.max_transfer_bytes);
    p.depth = depth;
    if (const auto host = c.host_sides.find("sata"); host != c.host_sides.end()) {
        if (const auto cache = host->second.find("write_cache"); cache != host->second.end())
            p.cache_off = std::get<std::string>(cache->second) == "off";
        if (const auto most = host->second.find("max_transfer"); most != host->second.end())
            p.max_transfer_bytes = static_cast<std::uint32_t>(std::get<std::int64_t>(most->second));
    }
    return p;
}

SataLinkConfig link_config(const SataFrontEnd& drive) {
    SataLinkConfig c;
    c.device_generation = drive.config().generation;
    return c;
}

class SataCaseSide final : public CaseSide {
public:
    SataCaseSide(Agenda& agenda, const SsdConfig& c, Device& device, std::uint32_t depth, CasePortClient& host)
        : drive_(device.controller.front_end_as<SataFrontEnd>()),
          link_("link", agenda, link_config(drive_)),
          port_("host", agenda, port_config(c, depth), link_, host) {
        port_.initiator.bind(link_.host_target);
        link_.host_initiator.bind(port_.target);
        drive_.link_initiator.bind(link_.device_target);
        link_.device_initiator.bind(drive_.link_target);
    }
    CasePort& port() override { return port_; }
    void cut_way(Agenda& agenda) override {
        agenda.drop_if([this](const void* object) { return link_.owns(object); });
        link_.restart();
    }
    bool keeps(const void* object) const override { return port_.owns(object); }
    void check_waiters() const override { link_.check_waiters(); }
    void check_books() const override {
        drive_.check_books();
        const FrontEndCounts c = drive_.counts();
        if (port_.commands() > c.ended || c.ended > port_.commands() + c.unheard_at_most)
            throw CheckFailed("the host has heard of " + std::to_string(port_.commands()) +
                              " commands, of which the drive has ended " + std::to_string(c.ended) + ", with " +
                              std::to_string(c.unheard_at_most) + " unheard at most");
    }
    void add_counts(nlohmann::json& counts) const override {
        const SataDevice::Counts& d = drive_.device().counts();
        const SataWireCounts& wire = link_.counts();
        counts["queues aborted"] = d.aborted_queues;
        counts["recoveries"] = port_.counts().recoveries;
        counts["software resets"] = port_.counts().soft_resets;
        counts["commands dropped"] = d.dropped;
        counts["frames broken"] = wire.errors[0] + wire.errors[1];
        counts["frames cut off"] = wire.cut[0] + wire.cut[1];
    }
    std::string dump() const override { return link_.dump(); }

private:
    SataFrontEnd& drive_;
    SataLink link_;
    mutable SataCasePort port_;
};

}  // namespace

std::unique_ptr<CaseSide> make_case_side(Agenda& agenda, const SsdConfig& c, Device& device, std::uint32_t depth,
                                         CasePortClient& host) {
    if (c.front_end.kind == "nvme") return std::make_unique<NvmeCaseSide>(agenda, c, device, depth, host);
    if (c.front_end.kind == "sata") return std::make_unique<SataCaseSide>(agenda, c, device, depth, host);
    throw UserError(Problem{"frontend.kind", "\"" + c.front_end.kind + "\" in a case", "\"nvme\" or \"sata\"", ""});
}

}  // namespace ssdtlm
