// SPDX-License-Identifier: Apache-2.0
#include "controller/channel_ctrl/flash_backend.h"

#include <utility>

namespace ssdtlm {

FlashBackend::FlashBackend(sc_core::sc_module_name name, Agenda& agenda, const NandConfig& nand, const EccConfig& ecc,
                           bool multi_plane, std::unique_ptr<SchedulerPort> scheduler, std::unique_ptr<BusOrder> order,
                           std::unique_ptr<SuspendPolicy> suspend, bool moves_with_host, std::uint64_t overtake_bound)
    : sc_module(name),
      agenda_(agenda),
      nand_(nand),
      ecc_(ecc),
      multi_plane_(multi_plane),
      moves_with_host_(moves_with_host),
      overtake_bound_(overtake_bound),
      geometry_(nand.geometry),
      order_(std::move(order)),
      suspend_(std::move(suspend)) {
    take(std::move(scheduler));
    for (std::uint32_t c = 0; c < geometry_.channels; ++c) {
        channels_.push_back(std::make_unique<Channel>(("channel" + std::to_string(c)).c_str()));
        build(c, {});
        channels_[c]->onfi_initiator.bind(channel(c).guard());
    }
    for (std::uint32_t d = 0; d < geometry_.dies(); ++d)
        routes_.push_back(Route{&channel(geometry_.channel_of(DieId{d})), geometry_.die_in_channel(DieId{d}),
                                d * geometry_.planes_per_die});
}

void FlashBackend::take(std::unique_ptr<SchedulerPort> scheduler) {
    checked_ = nullptr;
    scheduler_ = std::move(scheduler);
    if (!scheduler_->proven())
        checked_ = std::make_unique<CheckedScheduler>(
            *scheduler_, agenda_, geometry_.channels,
            GrantRules::Limits{geometry_.dies_per_channel(), geometry_.planes_per_die, nand_.independent_plane_read,
                               multi_plane_, overtake_bound_});
}

std::optional<SchedulerFairness> FlashBackend::fairness() const {
    std::optional<SchedulerFairness> all = checked_ ? checked_->fairness() : scheduler_->fairness();
    if (all && earlier_fairness_) *all += *earlier_fairness_;
    return all;
}

/// Builds the controller in its old place, so that what is bound to it stays bound.
void FlashBackend::build(std::uint32_t c, const ChannelController::History& earlier) {
    SchedulerPort& port = checked_ ? *checked_ : *scheduler_;
    channels_[c]->controller.emplace(channels_[c]->onfi_initiator, agenda_, nand_, ecc_, static_cast<std::uint16_t>(c),
                                     multi_plane_, port, *order_, suspend_.get(), transactions_, moves_with_host_,
                                     earlier);
    if (merge_reads_) channels_[c]->controller->merge_reads(geometry_);
    if (!flow_waits_.waited_ps.empty()) channels_[c]->controller->tell_flows_apart(flow_waits_);
}

void FlashBackend::restart(std::unique_ptr<SchedulerPort> scheduler) {
    std::vector<ChannelController::History> history;
    for (const auto& channel : channels_) {
        history.push_back(channel->controller->history());
        channel->controller.reset();
    }
    earlier_fairness_ = fairness();
    take(std::move(scheduler));
    transactions_ = TransactionTable();
    for (std::uint32_t c = 0; c < geometry_.channels; ++c) {
        build(c, history[c]);
        channel(c).bound();
    }
}

bool FlashBackend::idle() const {
    for (const auto& channel : channels_)
        if (!channel->controller->idle()) return false;
    return true;
}

std::string FlashBackend::dump() const {
    std::string text;
    for (const auto& channel : channels_)
        if (!channel->controller->idle()) text += channel->controller->dump();
    return text.empty() ? std::string(name()) + ": idle\n" : text;
}

}  // namespace ssdtlm
