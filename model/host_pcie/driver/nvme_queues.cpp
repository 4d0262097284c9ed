// SPDX-License-Identifier: Apache-2.0
#include "host_pcie/driver/nvme_queues.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "host_pcie/driver/nvme_status.h"
#include "protocol/nvme.h"

namespace ssdtlm {
namespace {

/// The opcodes by HostOp.
constexpr std::uint8_t kOpcodes[] = {nvme::kIoRead, nvme::kIoWrite, nvme::kIoDatasetMgmt, nvme::kIoFlush};

}  // namespace

/// Writes the doorbell in memory. Returns true if the register must be written as well, because the value passes the
/// event index of the controller (NVMe 1.4 §7.13, as in Linux drivers/nvme/host/pci.c nvme_dbbuf_need_event).
bool NvmeQueues::shadow(std::uint32_t doorbell, std::uint32_t value) {
    std::uint8_t* const at = memory_.at(info_->shadows + (doorbell - nvme::kRegDoorbells), nvme::kPageBytes + 4);
    const auto before = static_cast<std::uint16_t>(nvme::load<std::uint32_t>(at));
    nvme::store(at, value);
    const auto passed = static_cast<std::uint16_t>(value - nvme::load<std::uint32_t>(at + nvme::kPageBytes) - 1);
    return passed < static_cast<std::uint16_t>(value - before);
}

void NvmeQueues::take(const ControllerInfo& info, std::vector<QueuePair> pairs) {
    info_ = &info;
    namespaces_ = info.namespaces;
    lba_shift_ = static_cast<unsigned>(__builtin_ctz(info.lba_bytes));
    queues_.reserve(pairs.size());
    for (QueuePair& pair : pairs) queues_.push_back({std::move(pair), {}});
}

// The search works because the rings were allocated in the order of the queues, and devices only read the memory
// between them.
std::uint16_t NvmeQueues::completing(std::uint64_t address) const {
    const auto after = std::upper_bound(queues_.begin(), queues_.end(), address,
                                        [](std::uint64_t a, const Queue& q) { return a < q.pair.cq_base(); });
    return static_cast<std::uint16_t>(after - queues_.begin());
}

void NvmeQueues::make_prp(Slot& slot, std::uint32_t bytes) {
    slot.buffer.reserve(memory_, bytes, config_.page_bytes, config_.buffer_offset);
    slot.prp = (info_->sgls ? build_sgl : build_prp)(memory_, config_.page_bytes, slot.buffer.address, bytes,
                                                     slot.buffer.lists);
    slot.prp_bytes = bytes;
}

/// Returns the namespace of a command, and makes `slba` relative to it. A flush is for all namespaces, because its
/// request has no address.
std::uint32_t NvmeQueues::in_namespace(const HostRequest& request, std::uint64_t& slba) const {
    if (request.op == HostOp::flush) return nvme::kNsidAll;
    const auto behind = std::upper_bound(namespaces_.begin(), namespaces_.end(), slba,
                                         [](std::uint64_t at, const DriveNamespace& n) { return at < n.first_block; });
    const DriveNamespace& of = *std::prev(behind);
    slba -= of.first_block;
    return of.nsid;
}

CommandQueues::Submitted NvmeQueues::submit(std::uint16_t queue, const HostRequest& request) {
    Queue& q = queues_[queue - 1u];
    nvme::Sqe& sqe = q.pair.take_entry();
    if (__builtin_expect(sqe.cid >= q.slots.size(), 0)) q.slots.resize(sqe.cid + 1u);
    Slot& slot = q.slots[sqe.cid];
    sqe.opc = kOpcodes[static_cast<std::size_t>(request.op)];
    std::uint64_t slba = request.offset >> lba_shift_;
    sqe.nsid = namespaces_.front().nsid;
    if (__builtin_expect(namespaces_.size() != 1, 0)) sqe.nsid = in_namespace(request, slba);
    const std::uint32_t blocks = request.bytes >> lba_shift_;
    if (__builtin_expect(request.op == HostOp::read || request.op == HostOp::write, 1)) {
        sqe.set_slba(slba);
        sqe.cdw12 = (blocks - 1) | (request.fua ? nvme::kRwFua : 0u);
        if (__builtin_expect(request.stream != 0, 0) && config_.streams && request.op == HostOp::write) {
            sqe.cdw12 |= nvme::kRwStreams;
            sqe.cdw13 = std::uint32_t{request.stream} << 16;
        }
        // Buffer and list are still valid if the slot's last command had the same size.
        if (__builtin_expect(slot.prp_bytes != request.bytes, 0)) make_prp(slot, request.bytes);
        sqe.flags = slot.prp.flags;
        sqe.prp1 = slot.prp.prp1;
        sqe.prp2 = slot.prp.prp2;
    } else if (request.op == HostOp::trim) {
        sqe.cdw10 = 0;  // one range, 0-based
        sqe.cdw11 = nvme::kDsmDeallocate;
        make_prp(slot, sizeof(nvme::DsmRange));
        nvme::store(slot.buffer.data, nvme::DsmRange{0, blocks, slba});
        sqe.prp1 = slot.prp.prp1;
        sqe.prp2 = slot.prp.prp2;
    }
    return {sqe.cid, slot.buffer.data};
}

CommandQueues::Ended NvmeQueues::take_ended(std::uint16_t queue) {
    const nvme::Cqe& cqe = queues_[queue - 1u].pair.take_completion();
    const std::uint16_t code = cqe.status();
    return {cqe.cid, __builtin_expect(code == nvme::kStSuccess, 1) ? DriveStatus::ok : drive_status_of(code), code};
}

std::string NvmeQueues::status_text(std::uint32_t code) const {
    return "status SCT " + std::to_string(code >> 8) + " SC " + std::to_string(code & 0xFF);
}

std::string NvmeQueues::dump(std::uint16_t queue) const {
    const QueuePair& p = pair(queue);
    return ", SQ tail " + std::to_string(p.tail()) + ", SQ head " + std::to_string(p.sq_head()) + ", CQ head " +
           std::to_string(p.head());
}

}  // namespace ssdtlm
