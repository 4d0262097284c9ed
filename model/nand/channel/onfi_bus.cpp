// SPDX-License-Identifier: Apache-2.0
#include "nand/channel/onfi_bus.h"

#include <string>

#include "common/report/error.h"

namespace ssdtlm {
namespace {

std::string ns(SimTime t) { return std::to_string(static_cast<double>(t.time_since_epoch().count()) * 1e-3) + " ns"; }

}  // namespace

OnfiBus::OnfiBus(sc_core::sc_module_name name, const NandConfig& config)
    : sc_module(name),
      controller_target("controller_target"),
      package_initiator("package_initiator", config.geometry.ways),
      turnaround_(config.onfi.t_rhw) {
    controller_target.bind(static_cast<tlm::tlm_fw_transport_if<>&>(*this));
    for (auto& socket : package_initiator) socket.bind(static_cast<tlm::tlm_bw_transport_if<>&>(*this));
    for (std::uint32_t d = 0; d < config.geometry.dies_per_channel(); ++d)
        way_of_.push_back(static_cast<std::uint8_t>(d / config.geometry.dies_per_chip));
}

tlm::tlm_sync_enum OnfiBus::nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                            sc_core::sc_time& delay) {
    const auto* onfi = payload.get_extension<OnfiExtension>();
    SSDTLM_CHECK(onfi != nullptr, std::string(name()) + ": payload without an ONFI extension");
    SSDTLM_CHECK(phase == tlm::BEGIN_REQ, std::string(name()) + ": forward phase is not BEGIN_REQ");
    if (__builtin_expect(
            onfi->die >= way_of_.size() || onfi->bus_begin < free_at_ || onfi->bus_end < onfi->bus_begin, 0))
        refuse(*onfi);
    free_at_ = onfi->sequence == OnfiSequence::read_out ? onfi->bus_end + turnaround_ : onfi->bus_end;
    return package_initiator[way_of_[onfi->die]]->nb_transport_fw(payload, phase, delay);
}

tlm::tlm_sync_enum OnfiBus::nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                            sc_core::sc_time& delay) {
    return controller_target->nb_transport_bw(payload, phase, delay);
}

void OnfiBus::refuse(const OnfiExtension& onfi) const {
    if (onfi.die >= way_of_.size())
        panic(name(), "die " + std::to_string(onfi.die) + " is not on this channel; dies 0 to " +
                          std::to_string(way_of_.size() - 1));
    panic(name(), "sequence for die " + std::to_string(onfi.die) + " begins at " + ns(onfi.bus_begin) +
                      ", but the bus is held until " + ns(free_at_) + "; sequences of one channel may not overlap");
}

}  // namespace ssdtlm
