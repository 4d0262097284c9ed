// SPDX-License-Identifier: Apache-2.0
#include "sim/host/workload_host.h"

#include <algorithm>

#include "host_pcie/driver/prp_builder.h"

namespace ssdtlm {

namespace {
std::uint32_t most_bytes(std::uint32_t max_transfer) {
    return max_transfer == 0 ? SlotBuffer::kMaxBytes : std::min(max_transfer, SlotBuffer::kMaxBytes);
}
}  // namespace

WorkloadHost::WorkloadHost(Workload& workload, const SsdConfig& config)
    : workload_(workload),
      lba_bytes_(config.nvme.lba_bytes),
      most_bytes_(most_bytes(config.nvme.max_transfer_bytes)),
      names_streams_(config.host.streams && config.nvme.streams != 0),
      streams_(config.nvme.streams) {}

FunctionalHost::State WorkloadHost::next(FunctionalCommand& c) {
    if (!parted_)
        if (const State state = take(); state != State::ready) return state;
    c = next_part();
    return State::ready;
}

FunctionalHost::State WorkloadHost::take() {
    Workload::Next n;
    while ((n = workload_.next(now_)).state == Workload::State::wait) {
        // The time advances only if the workload waits for nothing else.
        if (free_.size() != requests_.size() || n.when == kNever) return State::blocked;
        now_ = std::max(now_ + Ps{1}, n.when);
    }
    if (n.state == Workload::State::done) return State::done;
    if (n.state == Workload::State::blocked) return State::blocked;
    if (free_.empty()) {
        free_.push_back(requests_.size());
        requests_.emplace_back();
    }
    tag_ = free_.back();
    free_.pop_back();
    requests_[tag_] = Request{n.request};
    parted_ = true;
    return State::ready;
}

FunctionalCommand WorkloadHost::next_part() {
    Request& request = requests_[tag_];
    const HostRequest& r = request.whole;
    FunctionalCommand c;
    c.tag = tag_;
    ++request.commands;
    const bool data = r.op == HostOp::read || r.op == HostOp::write;
    const std::uint32_t bytes = data ? std::min(most_bytes_, r.bytes - request.asked) : r.bytes;
    c.slba = (r.offset + request.asked) / lba_bytes_;
    request.asked += bytes;
    parted_ = request.asked != r.bytes;
    switch (r.op) {
        case HostOp::read:
            c.op = IoOp::read;
            break;
        case HostOp::write:
            c.op = IoOp::write;
            break;
        case HostOp::trim:
            c.op = IoOp::deallocate;
            break;
        case HostOp::flush:
            c.op = IoOp::flush;
            c.slba = 0;
            return c;
    }
    c.fua = r.fua;
    c.blocks = bytes / lba_bytes_;
    if (names_streams_ && r.op == HostOp::write && r.stream != 0) c.stream = streams_.number_of(r.stream);
    return c;
}

void WorkloadHost::ended(std::uint64_t tag) {
    Request& of_tag = requests_[tag];
    if (--of_tag.commands != 0 || of_tag.asked != of_tag.whole.bytes) return;
    const HostRequest request = of_tag.whole;
    free_.push_back(tag);
    workload_.completed(request, now_, now_, now_, true);
}

}  // namespace ssdtlm
