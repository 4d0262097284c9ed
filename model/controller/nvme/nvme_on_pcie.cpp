// SPDX-License-Identifier: Apache-2.0
#include "controller/nvme/nvme_on_pcie.h"

#include <utility>

#include "common/report/error.h"

namespace ssdtlm {

NvmeOnPcie::NvmeOnPcie(Agenda& agenda, CommandTracker& stages, const NvmeConfig& config, const DriveFacts& drive,
                       std::uint64_t read_window, bool signed_data)
    : dma("dma", agenda, read_window),
      controller("front_end", agenda, dma, stages, config, drive, signed_data),
      mmio_target(controller.mmio_target),
      dma_initiator(dma.pcie_initiator),
      agenda_(agenda),
      transfers_(agenda, dma) {}

void NvmeOnPcie::function_level_reset(std::function<void()> done) {
    SSDTLM_CHECK(!reset_done_, "a function-level reset while another one is under way");
    reset_done_ = std::move(done);
    dma.cut_off();
    controller.reset_function([this] { dma.reconnect(); });
    dma.end_waiting([this] { quiet(); });
}

void NvmeOnPcie::quiet() {
    agenda_.post(agenda_.now(), Then::to<&NvmeOnPcie::function_reset>(this));
}

void NvmeOnPcie::function_reset() {
    std::exchange(reset_done_, nullptr)();
}

void NvmeOnPcie::host_is_gone() {
    reset_done_ = nullptr;
    controller.host_is_gone();
    dma.host_is_gone();
}

void NvmeOnPcie::lose_power(std::uint64_t host_commands) {
    reset_done_ = nullptr;
    dma.restart();
    transfers_.restart();
    controller.restart(host_commands);
}

bool NvmeOnPcie::owns(const void* object) const {
    const auto* const begin = reinterpret_cast<const char*>(this);
    return object >= begin && object < begin + sizeof *this;
}

FrontEndCounts NvmeOnPcie::counts() const {
    const NvmeCounters& n = controller.counters();
    FrontEndCounts c;
    c.ended = n.ended() - n.dropped_completions;
    c.bytes_written = n.bytes_written;
    c.media_errors = n.media_errors;
    c.resets = n.resets;
    c.unsafe_shutdowns = n.unsafe_shutdowns;
    return c;
}

std::vector<std::pair<const char*, std::uint64_t>> NvmeOnPcie::figures() const {
    const NvmeCounters& n = controller.counters();
    return {{"nvme_fetches", n.fetches},
            {"nvme_sqes", n.sqes},
            {"nvme_cqes", n.cqes},
            {"nvme_prp_list_reads", n.list_reads},
            {"dma_bytes_to_host", dma.counters().bytes_written},
            {"dma_bytes_to_device", dma.counters().bytes_read}};
}

std::vector<std::pair<const char*, std::uint64_t>> NvmeOnPcie::health_figures() const {
    return {{"smart_critical_warning", controller.critical_warning()}};
}

void NvmeOnPcie::check_waiters() const {
    dma.check_waiters();
    controller.check_waiters();
}

}  // namespace ssdtlm
