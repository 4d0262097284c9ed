// SPDX-License-Identifier: Apache-2.0
#include "host_vfio/guest_queues.h"

#include <algorithm>

namespace ssdtlm::vfio {

using namespace nvme;

namespace {

/// No ring has more entries. It limits how many commands a driver may announce at once.
constexpr std::uint32_t kMostEntries = 65536;
/// Number of commands under way that are kept.
constexpr std::size_t kMostOpen = 4096;
constexpr std::uint32_t kMostSpaces = 1024;

std::uint64_t with_low(std::uint64_t r, std::uint32_t v) {
    return (r & ~0xFFFFFFFFull) | v;
}
std::uint64_t with_high(std::uint64_t r, std::uint32_t v) {
    return (r & 0xFFFFFFFFull) | std::uint64_t{v} << 32;
}

}  // namespace

GuestQueues::Asked GuestQueues::register_written(std::uint32_t offset, std::uint32_t value) {
    const bool was = enabled();
    switch (offset) {
        case kRegIntms:
            mask_ |= value;
            break;
        case kRegIntmc:
            mask_ &= ~value;
            break;
        case kRegAqa:
            if (!was) aqa_ = value;
            break;
        case kRegAsq:
            if (!was) asq_ = with_low(asq_, value);
            break;
        case kRegAsq + 4:
            if (!was) asq_ = with_high(asq_, value);
            break;
        case kRegAcq:
            if (!was) acq_ = with_low(acq_, value);
            break;
        case kRegAcq + 4:
            if (!was) acq_ = with_high(acq_, value);
            break;
        case kRegCc:
            cc_ = value;
            if (!was && enabled()) {
                create_admin();
                return Asked::enable;
            }
            if (was && !enabled()) return Asked::disable;
            break;
        default:
            break;
    }
    return Asked::nothing;
}

void GuestQueues::create_admin() {
    submission_ = {};
    completion_ = {};
    admin_open_.clear();
    shadows_ = 0;
    submission_[0] = {asq_, Aqa::asqs(aqa_) + 1, 0, 0};
    completion_[0].base = acq_;
    completion_[0].entries = Aqa::acqs(aqa_) + 1;
    completion_[0].interrupts = true;
}

std::vector<Sqe> GuestQueues::rung(std::uint16_t queue, std::uint32_t tail) {
    std::vector<Sqe> entries;
    if (!enabled() || queue >= kQueues) return entries;
    Ring& ring = submission_[queue];
    if (tail >= ring.entries) return entries;  // the drive refuses it as well
    for (; ring.tail != tail; ring.tail = (ring.tail + 1) % ring.entries) {
        Sqe sqe;
        if (!read_(ring.base + std::uint64_t{kSqeBytes} * ring.tail, &sqe, sizeof sqe)) {
            ring.tail = tail;
            break;
        }
        if (queue == 0) admin(sqe);
        entries.push_back(sqe);
    }
    return entries;
}

void GuestQueues::head_moved(std::uint16_t queue, std::uint32_t head) {
    if (queue < kQueues && head < completion_[queue].entries) completion_[queue].head = head;
}

void GuestQueues::admin(const Sqe& sqe) {
    const bool identify = sqe.opc == kAdminIdentify && (sqe.cdw10 & 0xFF) == kCnsNamespace;
    if (sqe.opc != kAdminCreateCq && sqe.opc != kAdminCreateSq && sqe.opc != kAdminDeleteCq &&
        sqe.opc != kAdminDeleteSq && sqe.opc != kAdminDoorbellBuffer && !identify)
        return;
    if (admin_open_.size() < kMostOpen) admin_open_.push_back(sqe);
}

void GuestQueues::admin_done(const Cqe& cqe) {
    const auto found =
        std::find_if(admin_open_.begin(), admin_open_.end(), [&](const Sqe& s) { return s.cid == cqe.cid; });
    if (found == admin_open_.end()) return;
    const Sqe sqe = *found;
    admin_open_.erase(found);
    if (sqe.opc == kAdminIdentify) {
        if (cqe.status() == kStSuccess) identified(sqe);
        return;
    }
    if (sqe.opc == kAdminDoorbellBuffer) {
        if (cqe.status() == kStSuccess) shadows_ = sqe.prp1;
        return;
    }
    const std::uint32_t queue = sqe.cdw10 & 0xFFFF;
    if (cqe.status() != kStSuccess || queue == 0 || queue >= kQueues) return;
    const std::uint32_t entries = std::min((sqe.cdw10 >> 16) + 1, kMostEntries);
    if (sqe.opc == kAdminCreateCq) {
        completion_[queue] = {};
        completion_[queue].base = sqe.prp1;
        completion_[queue].entries = entries;
        completion_[queue].interrupts = (sqe.cdw11 & 2) != 0;
        completion_[queue].vector = sqe.cdw11 >> 16;
    } else if (sqe.opc == kAdminCreateSq) {
        submission_[queue] = {sqe.prp1, entries, 0, 0};
    } else if (sqe.opc == kAdminDeleteCq) {
        completion_[queue] = {};
    } else {
        submission_[queue] = {};
    }
}

/// Reads the size of a namespace from the answer to Identify. The needed fields lie at the beginning of the page, so
/// the driver's first page has them.
void GuestQueues::identified(const Sqe& sqe) {
    std::uint8_t page[IdNs::kLbaf0 + 64];
    if (sqe.nsid == 0 || sqe.nsid > kMostSpaces || (sqe.prp1 & 4095) + sizeof page > 4096 ||
        !read_(sqe.prp1, page, sizeof page))
        return;
    const unsigned shift = load<std::uint32_t>(page + IdNs::kLbaf0 + 4 * (page[IdNs::kFlbas] & 15u)) >> 16 & 0xFF;
    if (shift < 9 || shift > 16) return;
    if (spaces_.size() < sqe.nsid) spaces_.resize(sqe.nsid);
    spaces_[sqe.nsid - 1] = {1u << shift, load<std::uint64_t>(page + IdNs::kNsze) << shift};
}

std::optional<GuestQueues::Completed> GuestQueues::written(std::uint64_t address, const std::uint8_t* data,
                                                           std::uint32_t bytes) {
    if (bytes != kCqeBytes || !enabled()) return std::nullopt;
    for (std::uint32_t q = 0; q < kQueues; ++q) {
        CompletionRing& ring = completion_[q];
        if (ring.entries == 0 || address - ring.base >= std::uint64_t{ring.entries} * kCqeBytes) continue;
        Completed c;
        c.entry = load<Cqe>(data);
        c.queue = static_cast<std::uint16_t>(q);
        ring.tail = static_cast<std::uint32_t>((address - ring.base) / kCqeBytes + 1) % ring.entries;
        if (q == 0) admin_done(c.entry);
        return c;
    }
    return std::nullopt;
}

/// The driver may have moved a head in its memory alone.
std::uint32_t GuestQueues::head_of(std::uint32_t queue) const {
    std::uint32_t head = 0;
    const bool read = shadowed(queue) && read_(shadow_address(queue, true), &head, sizeof head);
    return read && head < completion_[queue].entries ? head : completion_[queue].head;
}

bool GuestQueues::pin() const {
    for (std::uint32_t q = 0; q < kQueues; ++q) {
        const CompletionRing& ring = completion_[q];
        if (ring.entries != 0 && ring.interrupts && (mask_ >> std::min(ring.vector, 31u) & 1) == 0 &&
            head_of(q) != ring.tail)
            return true;
    }
    return false;
}

void GuestQueues::reset() {
    submission_ = {};
    completion_ = {};
    admin_open_.clear();
    cc_ = aqa_ = mask_ = 0;
    asq_ = acq_ = shadows_ = 0;
}

std::optional<GuestRequest> request_of(const Sqe& sqe, const GuestQueues::ReadMemory& read) {
    GuestRequest r;
    switch (sqe.opc) {
        case kIoFlush:
            r.kind = GuestRequest::Kind::flush;
            return r;
        case kIoRead:
        case kIoWrite:
        case kIoWriteZeroes:
            r.kind = sqe.opc == kIoRead    ? GuestRequest::Kind::read
                     : sqe.opc == kIoWrite ? GuestRequest::Kind::write
                                           : GuestRequest::Kind::trim;
            r.first_block = sqe.slba();
            r.blocks = (sqe.cdw12 & 0xFFFF) + 1;
            r.fua = sqe.opc != kIoWriteZeroes && (sqe.cdw12 & kRwFua) != 0;
            return r;
        case kIoDatasetMgmt: {
            if ((sqe.cdw11 & kDsmDeallocate) == 0) return std::nullopt;  // a hint
            DsmRange ranges[256];
            const std::uint32_t count = (sqe.cdw10 & 0xFF) + 1;
            // Only lists inside one page are read, because Linux makes only such lists.
            const std::uint32_t bytes = count * static_cast<std::uint32_t>(sizeof(DsmRange));
            if ((sqe.prp1 & 4095) + bytes > 4096 || !read(sqe.prp1, ranges, bytes)) return std::nullopt;
            r.kind = GuestRequest::Kind::trim;
            r.first_block = ranges[0].slba;
            std::uint64_t blocks = 0;
            for (std::uint32_t i = 0; i < count; ++i) blocks += ranges[i].blocks;
            if (blocks == 0) return std::nullopt;
            r.blocks = static_cast<std::uint32_t>(std::min<std::uint64_t>(blocks, 0x7FFFFF));
            return r;
        }
        default:
            return std::nullopt;
    }
}

}  // namespace ssdtlm::vfio
