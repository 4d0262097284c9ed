// SPDX-License-Identifier: Apache-2.0
#include "nand/channel/onfi_bus.h"

#include <string>

#include "common/report/error.h"
#include "common/tlm/tlm_guard.h"
#include "nand/onfi/onfi_timing.h"

namespace ssdtlm {
namespace {

std::string ns(SimTime t) {
    return std::to_string(static_cast<double>(t.time_since_epoch().count()) * 1e-3) + " ns";
}

}  // namespace

OnfiBus::OnfiBus(sc_core::sc_module_name name, const NandConfig& config)
    : sc_module(name),
      controller_target("controller_target"),
      package_initiator("package_initiator", config.geometry.ways),
      turnaround_(OnfiBusTiming(config).turnaround()),
      dies_(config.geometry.dies_per_channel()),
      dies_per_package_(config.geometry.dies_per_chip),
      package_of_(dies_) {
    controller_target.bind(static_cast<tlm::tlm_fw_transport_if<OnfiProtocol>&>(*this));
    for (auto& socket : package_initiator) socket.bind(static_cast<tlm::tlm_bw_transport_if<OnfiProtocol>&>(*this));
}

// Keeps pointers to the bound interfaces, so that no sequence needs a look-up in the sockets. A bus is wires and has no
// guard of its own. It connects a foreign module to the guards of the far ends, and bypasses these guards if both ends
// use the same agenda.
void OnfiBus::end_of_elaboration() {
    auto* const controller = dynamic_cast<InitiatorGuard<OnfiProtocol>*>(controller_target.operator->());
    bool all_straight = controller != nullptr;
    for (std::uint32_t d = 0; d < dies_; ++d) {
        tlm::tlm_fw_transport_if<OnfiProtocol>* const bound = package_initiator[d / dies_per_package_].operator->();
        auto* const package = controller != nullptr ? straight<OnfiProtocol>(bound, controller->agenda()) : bound;
        all_straight = all_straight && package != bound;
        package_of_[d] = package;
    }
    controller_ = all_straight ? &controller->module() : controller_target.operator->();
}

tlm::tlm_sync_enum OnfiBus::nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                            sc_core::sc_time& delay) {
    if (__builtin_expect(!is_onfi_payload(payload), 0)) return forward_any(payload, phase, delay);
    return forward(&static_cast<OnfiPayload&>(payload).onfi, payload, phase, delay);
}

__attribute__((noinline)) tlm::tlm_sync_enum OnfiBus::forward_any(tlm::tlm_generic_payload& payload,
                                                                  tlm::tlm_phase& phase, sc_core::sc_time& delay) {
    return forward(payload.get_extension<OnfiExtension>(), payload, phase, delay);
}

inline tlm::tlm_sync_enum OnfiBus::forward(OnfiExtension* onfi, tlm::tlm_generic_payload& payload,
                                           tlm::tlm_phase& phase, sc_core::sc_time& delay) {
    if (__builtin_expect(onfi == nullptr || phase != tlm::BEGIN_REQ || onfi->die >= dies_ ||
                             onfi->bus_begin < free_at_ || onfi->bus_end < onfi->bus_begin,
                         0))
        refuse(onfi, phase);
    free_at_ = onfi->op == FlashOp::read_out ? onfi->bus_end + turnaround_ : onfi->bus_end;
    return package_of_[onfi->die]->nb_transport_fw(payload, phase, delay);
}

tlm::tlm_sync_enum OnfiBus::nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                            sc_core::sc_time& delay) {
    return controller_->nb_transport_bw(payload, phase, delay);
}

__attribute__((noinline, cold)) void OnfiBus::refuse(const OnfiExtension* onfi, unsigned phase) const {
    SSDTLM_CHECK(onfi != nullptr, std::string(name()) + ": payload without an ONFI extension");
    SSDTLM_CHECK(phase == tlm::BEGIN_REQ, std::string(name()) + ": forward phase is not BEGIN_REQ");
    if (onfi->die >= dies_)
        panic(name(),
              "die " + std::to_string(onfi->die) + " is not on this channel; dies 0 to " + std::to_string(dies_ - 1));
    panic(name(), "sequence for die " + std::to_string(onfi->die) + " begins at " + ns(onfi->bus_begin) +
                      ", but the bus is held until " + ns(free_at_) + "; sequences of one channel may not overlap");
}

}  // namespace ssdtlm
