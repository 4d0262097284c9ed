// SPDX-License-Identifier: Apache-2.0
#include "sim/device/device.h"

#include <utility>

namespace ssdtlm {

Device::Device(sc_core::sc_module_name name, Agenda& agenda, const DeviceConfig& config, const ContentsConfig& contents,
               SsdTaps& taps, FunctionalHost* host)
    : sc_module(name),
      flash("flash", agenda, config.nand, config.faults, contents.seed),
      controller("controller", agenda, config, contents, flash.spare, taps, host) {
    for (std::uint32_t ch = 0; ch < config.nand.geometry.channels; ++ch)
        taps.join_onfi(ch, controller.channel(ch), flash.channel(ch));
}

void Device::supply_fails(std::function<void()> off) {
    if (controller.config.ftl.buffer_mode != BufferMode::power_protected || controller.looks_for_map()) return off();
    on_capacitors_since_ = controller.agenda.now();
    controller.agenda.drop_if([this](const void* self) { return controller.front_end->owns(self); });
    controller.supply_fails(std::move(off));
}

void Device::power_off(std::uint64_t host_commands) {
    if (!controller.data.outlives_power)
        throw CheckFailed("device: the power goes, and contents.outlives_power was not said when the device was built");
    PowerCut cut;
    cut.at = on_capacitors_since_.value_or(controller.agenda.now());
    cut.on_capacitors = controller.agenda.now() - cut.at;
    on_capacitors_since_.reset();
    cut.loss = flash.lose_power();
    cut.after_shutdown = controller.front_end->is_shut_down();
    power_cuts_.push_back(cut);
    controller.lose_power(host_commands);
}

void Device::power_on() {
    scan_began_ = controller.agenda.now();
    controller.start_again([this] { rebuilt(); });
}

void Device::rebuilt() {
    const MapRebuild& scan = *controller.scan();
    power_cuts_.back().scan_reads = scan.reads();
    power_cuts_.back().checkpoint_reads = scan.checkpoint_reads();
    power_cuts_.back().translation_reads = scan.last_reads();
    power_cuts_.back().dirty_entries = scan.dirty_entries();
    power_cuts_.back().entries = scan.entries();
    power_cuts_.back().erases_supposed = scan.erases_supposed();
    power_cuts_.back().source = scan.source();
    power_cuts_.back().scan_time = controller.agenda.now() - scan_began_;
    if (on_rebuilt_) on_rebuilt_();
}

}  // namespace ssdtlm
