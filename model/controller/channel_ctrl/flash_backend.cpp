// SPDX-License-Identifier: Apache-2.0
#include "controller/channel_ctrl/flash_backend.h"

#include <utility>

namespace ssdtlm {

FlashBackend::FlashBackend(sc_core::sc_module_name name, Agenda& agenda, const NandConfig& nand, const EccConfig& ecc,
                           bool multi_plane, std::unique_ptr<SchedulerPort> scheduler,
                           std::unique_ptr<BusOrder> order, std::unique_ptr<SuspendPolicy> suspend)
    : sc_module(name), geometry_(nand.geometry), scheduler_(std::move(scheduler)), order_(std::move(order)), suspend_(std::move(suspend)) {
    if (!scheduler_->proven())
        checked_ = std::make_unique<CheckedScheduler>(
            *scheduler_, agenda, geometry_.channels,
            GrantRules::Limits{geometry_.dies_per_channel(), geometry_.planes_per_die, nand.independent_plane_read, multi_plane});
    SchedulerPort& port = checked_ ? *checked_ : *scheduler_;
    for (std::uint32_t c = 0; c < geometry_.channels; ++c)
        channels_.push_back(std::make_unique<ChannelController>(("channel" + std::to_string(c)).c_str(), agenda, nand,
                                                                ecc, static_cast<std::uint16_t>(c), multi_plane,
                                                                port, *order_, suspend_.get(), transactions_));
    for (std::uint32_t d = 0; d < geometry_.dies(); ++d)
        routes_.push_back(Route{channels_[geometry_.channel_of(DieId{d})].get(), geometry_.die_in_channel(DieId{d}),
                                d * geometry_.planes_per_die});
}

bool FlashBackend::idle() const {
    for (const auto& channel : channels_)
        if (!channel->idle()) return false;
    return true;
}

std::string FlashBackend::dump() const {
    std::string text;
    for (const auto& channel : channels_)
        if (!channel->idle()) text += channel->dump();
    return text.empty() ? std::string(name()) + ": idle\n" : text;
}

}  // namespace ssdtlm
