// SPDX-License-Identifier: Apache-2.0
#include "controller/nvme/admin_commands.h"

#include <algorithm>

namespace ssdtlm {

using namespace nvme;

namespace {

AdminResult only(std::uint16_t status) {
    AdminResult r;
    r.status = status;
    return r;
}

/// Status of a command that has data for the host when it succeeds.
AdminResult with_data(std::uint16_t status) {
    AdminResult r = only(status);
    if (status == kStSuccess) r.then = AdminResult::Then::send_data;
    return r;
}

bool known_opcode(std::uint8_t opcode, bool has_directives) {
    switch (opcode) {
        case kAdminDirectiveSend:
        case kAdminDirectiveReceive:
            return has_directives;
        case kAdminDeleteSq:
        case kAdminCreateSq:
        case kAdminGetLogPage:
        case kAdminDeleteCq:
        case kAdminCreateCq:
        case kAdminIdentify:
        case kAdminAbort:
        case kAdminSetFeatures:
        case kAdminGetFeatures:
        case kAdminAsyncEvent:
            return true;
        default:
            return false;
    }
}

}  // namespace

AdminCommands::AdminCommands(const NvmeConfig& config, const DriveFacts& device, const NvmeRegisters& registers,
                             QueueSet& queues, NvmeFeatures& features, AsyncEvents& events, const ErrorLog& errors,
                             const NvmeCounters& counters)
    : config_(config),
      device_(device),
      namespaces_(device.drive_bytes, config.lba_bytes, config.namespaces),
      registers_(registers),
      queues_(queues),
      features_(features),
      events_(events),
      errors_(errors),
      counters_(counters),
      streams_(config.streams) {}

AdminResult AdminCommands::execute(const Sqe& sqe, bool cid_in_use, SimTime now, std::vector<std::uint8_t>& data) {
    if (!known_opcode(sqe.opc, streams_.offered())) return only(kStInvalidOpcode);
    if (cid_in_use) return only(kStCidConflict);
    if (sqe.fuse() != 0 || sqe.psdt() != 0) return only(kStInvalidField);
    switch (sqe.opc) {
        case kAdminCreateCq:
            return only(create_cq(sqe));
        case kAdminCreateSq:
            return only(create_sq(sqe));
        case kAdminDeleteSq:
            return delete_sq(sqe);
        case kAdminDeleteCq:
            return only(delete_cq(sqe));
        case kAdminIdentify:
            return with_data(identify(sqe, data));
        case kAdminGetLogPage:
            return with_data(get_log(sqe, now, data));
        case kAdminAbort:
            return abort(sqe);
        case kAdminDirectiveSend:
            return only(streams_.send(sqe));
        case kAdminDirectiveReceive:
            return receive_directive(sqe, data);
        case kAdminSetFeatures: {
            AdminResult r;
            r.status = features_.set(sqe, queues_.any_io_queue(), r.dw0);
            return r;
        }
        case kAdminGetFeatures: {
            AdminResult r;
            r.status = features_.get(sqe, r.dw0);
            return r;
        }
        default:
            break;
    }
    AdminResult r;  // asynchronous event request
    if (!events_.hold(sqe.cid)) return only(kStAsyncEventLimit);
    r.then = AdminResult::Then::hold;
    return r;
}

// The checks of queue creation come in the order of QEMU 10.1 hw/nvme/ctrl.c.
std::uint16_t AdminCommands::create_cq(const Sqe& sqe) {
    const auto qid = static_cast<std::uint16_t>(sqe.cdw10);
    const std::uint32_t size = sqe.cdw10 >> 16;  // 0-based
    const auto vector = static_cast<std::uint16_t>(sqe.cdw11 >> 16);
    if (Cc::iosqes(registers_.cc()) != 6 || Cc::iocqes(registers_.cc()) != 4) return kStInvalidQueueSize;
    if (qid == 0 || qid > features_.granted_cqs() || queues_.has_cq(qid)) return kStInvalidQid;
    if (size == 0 || size > Cap::mqes(registers_.cap())) return kStInvalidQueueSize;
    if ((sqe.prp1 & kPageMask) != 0) return kStInvalidPrpOffset;
    if (vector > queues_.io_pairs()) return kStInvalidVector;  // one vector per pair and one for the admin queue
    if ((sqe.cdw11 & kQueuePhysContig) == 0) return kStInvalidField;
    queues_.create_cq(qid, sqe.prp1, size + 1, vector, (sqe.cdw11 & kCqInterruptEnable) != 0);
    return kStSuccess;
}

std::uint16_t AdminCommands::create_sq(const Sqe& sqe) {
    const auto qid = static_cast<std::uint16_t>(sqe.cdw10);
    const std::uint32_t size = sqe.cdw10 >> 16;  // 0-based
    const auto cqid = static_cast<std::uint16_t>(sqe.cdw11 >> 16);
    if (cqid == 0 || !queues_.has_cq(cqid)) return kStInvalidCq;
    if (qid == 0 || qid > features_.granted_sqs() || queues_.has_sq(qid)) return kStInvalidQid;
    if (Cc::iosqes(registers_.cc()) != 6 || size == 0 || size > Cap::mqes(registers_.cap())) return kStInvalidQueueSize;
    if ((sqe.prp1 & kPageMask) != 0) return kStInvalidPrpOffset;
    if ((sqe.cdw11 & kQueuePhysContig) == 0) return kStInvalidField;
    queues_.create_sq(qid, cqid, sqe.prp1, size + 1, {sq_priority(sqe.cdw11), sq_tenant(sqe.cdw12)});
    return kStSuccess;
}

AdminResult AdminCommands::delete_sq(const Sqe& sqe) const {
    const auto qid = static_cast<std::uint16_t>(sqe.cdw10);
    if (qid == 0 || !queues_.has_sq(qid) || queues_.sq(qid).deleting) return only(kStInvalidQid);
    AdminResult r;
    r.then = AdminResult::Then::delete_sq;
    r.qid = qid;
    return r;
}

std::uint16_t AdminCommands::delete_cq(const Sqe& sqe) {
    const auto qid = static_cast<std::uint16_t>(sqe.cdw10);
    if (qid == 0 || !queues_.has_cq(qid)) return kStInvalidQid;
    if (queues_.cq(qid).bound_sqs != 0) return kStInvalidQueueDeletion;
    queues_.delete_cq(qid);
    return kStSuccess;
}

std::uint16_t AdminCommands::identify(const Sqe& sqe, std::vector<std::uint8_t>& data) const {
    IdentifyData page;
    const Namespace* const of = namespaces_.find(sqe.nsid);
    switch (static_cast<std::uint8_t>(sqe.cdw10)) {
        case kCnsNamespace:
            if (of == nullptr) return kStInvalidNamespace;
            identify_namespace(*of, device_, page);
            break;
        case kCnsController:
            identify_controller(config_, device_, page);
            break;
        case kCnsActiveNamespaces:
            if (sqe.nsid >= 0xFFFFFFFEu) return kStInvalidNamespace;
            page.fill(0);
            // Of a list of 1,024 numbers, those above the one that was named.
            for (std::uint32_t id = sqe.nsid + 1; namespaces_.find(id) != nullptr; ++id)
                store(page.data() + 4 * (id - sqe.nsid - 1), id);
            break;
        case kCnsNamespaceDescriptors:
            if (of == nullptr) return kStInvalidNamespace;
            identify_descriptors(*of, device_, page);
            break;
        default:
            return kStInvalidField;
    }
    data.assign(page.begin(), page.end());
    return kStSuccess;
}

std::uint16_t AdminCommands::get_log(const Sqe& sqe, SimTime now, std::vector<std::uint8_t>& data) {
    const auto lid = static_cast<std::uint8_t>(sqe.cdw10);
    const bool retain_event = (sqe.cdw10 >> 15 & 1) != 0;
    const std::uint64_t dwords = (std::uint64_t{sqe.cdw11 & 0xFFFF} << 16 | sqe.cdw10 >> 16) + 1;
    const std::uint64_t offset = std::uint64_t{sqe.cdw13} << 32 | sqe.cdw12;
    std::vector<std::uint8_t> page;
    switch (lid) {
        case kLogError:
            errors_.write(page);
            break;
        case kLogSmart:
            // SMART per namespace is not offered (LPA bit 0).
            if (sqe.nsid != 0 && sqe.nsid != kNsidAll) return kStInvalidField;
            smart_log(counters_, health(), features_, errors_.total(), now, page);
            break;
        case kLogFirmwareSlot:
            firmware_log(device_, page);
            break;
        case kLogEffects:
            effects_log(streams_.offered(), page);
            break;
        default:
            return kStInvalidLogPage;
    }
    if (offset % 4 != 0 || offset > page.size()) return kStInvalidField;
    // Without MDTS a length beyond any log page is still refused, so that a bad NUMD cannot ask for 16 GiB of zeros.
    constexpr std::uint64_t kLongest = 1u << 20;
    if (dwords * 4 > (config_.max_transfer_bytes != 0 ? config_.max_transfer_bytes : kLongest)) return kStInvalidField;
    // Beyond the end of the page zeros are returned.
    data.assign(dwords * 4, 0);
    const std::size_t copied = std::min<std::size_t>(data.size(), page.size() - offset);
    std::copy_n(page.begin() + static_cast<std::ptrdiff_t>(offset), copied, data.begin());
    if (!retain_event) events_.log_read(lid);
    return kStSuccess;
}

AdminResult AdminCommands::receive_directive(const Sqe& sqe, std::vector<std::uint8_t>& data) {
    AdminResult r;
    data.clear();
    r.status = streams_.receive(sqe, r.dw0, data);
    if (r.status == kStSuccess && !data.empty()) r.then = AdminResult::Then::send_data;
    return r;
}

AdminResult AdminCommands::abort(const Sqe& sqe) {
    const auto sqid = static_cast<std::uint16_t>(sqe.cdw10);
    const auto cid = static_cast<std::uint16_t>(sqe.cdw10 >> 16);
    if (!queues_.has_sq(sqid)) return only(kStInvalidField);
    AdminResult r;
    r.dw0 = 1;  // not aborted: commands handed to the firmware are not recalled
    if (sqid == 0 && events_.abort(cid)) {
        r.dw0 = 0;
        r.then = AdminResult::Then::abort_event;
        r.aborted_cid = cid;
    }
    return r;
}

}  // namespace ssdtlm
