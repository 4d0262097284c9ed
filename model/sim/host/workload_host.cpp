// SPDX-License-Identifier: Apache-2.0
#include "sim/host/workload_host.h"

#include <algorithm>

namespace ssdtlm {

WorkloadHost::WorkloadHost(Workload& workload, const SsdConfig& config)
    : workload_(workload),
      lba_bytes_(config.nvme.lba_bytes),
      names_streams_(config.host.streams && config.nvme.streams != 0),
      streams_(config.nvme.streams) {}

UntimedHost::State WorkloadHost::next(UntimedCommand& c) {
    Workload::Next n;
    while ((n = workload_.next(now_)).state == Workload::State::wait) {
        // Time goes on when it is all that the workload waits for.
        if (free_.size() != requests_.size() || n.when == kNever) return State::blocked;
        now_ = std::max(now_ + Ps{1}, n.when);
    }
    if (n.state == Workload::State::done) return State::done;
    if (n.state == Workload::State::blocked) return State::blocked;
    if (free_.empty()) {
        free_.push_back(requests_.size());
        requests_.emplace_back();
    }
    c = UntimedCommand{};
    c.tag = free_.back();
    free_.pop_back();
    const HostRequest& r = requests_[c.tag] = n.request;
    switch (r.op) {
        case HostOp::read: c.op = IoOp::read; break;
        case HostOp::write: c.op = IoOp::write; break;
        case HostOp::trim: c.op = IoOp::deallocate; break;
        case HostOp::flush: c.op = IoOp::flush; return State::ready;
    }
    c.fua = r.fua;
    c.slba = r.offset / lba_bytes_;
    c.blocks = r.bytes / lba_bytes_;
    if (names_streams_ && r.op == HostOp::write && r.stream != 0) c.stream = streams_.number_of(r.stream);
    return State::ready;
}

void WorkloadHost::ended(std::uint64_t tag) {
    const HostRequest request = requests_[tag];
    free_.push_back(tag);
    workload_.completed(request, now_, now_, now_, true);
}

}  // namespace ssdtlm
