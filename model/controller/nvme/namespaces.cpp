// SPDX-License-Identifier: Apache-2.0
#include "controller/nvme/namespaces.h"

#include <algorithm>
#include <utility>

#include "common/report/error.h"

namespace ssdtlm {

using namespace nvme;

Namespaces::Namespaces(std::uint64_t drive_bytes, std::uint32_t lba_bytes, const std::vector<std::uint64_t>& sizes,
                       std::uint32_t most, bool metadata)
    : drive_blocks_(drive_bytes / lba_bytes), lba_bytes_(lba_bytes), metadata_(metadata) {
    Namespace next;
    next.lba_bytes = lba_bytes;
    for (const std::uint64_t bytes : sizes) {
        SSDTLM_CHECK(bytes != 0 && bytes % lba_bytes == 0, "a namespace is not a whole number of logical blocks");
        next.blocks = next.extent = bytes / lba_bytes;
        all_.push_back(next);
        ++next.id;
        next.first_block += next.blocks;
    }
    SSDTLM_CHECK(drive_bytes % lba_bytes == 0 && next.first_block < drive_blocks_,
                 "the last namespace has no blocks, or no whole ones");
    next.blocks = next.extent = drive_blocks_ - next.first_block;
    all_.push_back(next);
    for (std::uint32_t id = this->most() + 1; id <= most; ++id) {
        all_.emplace_back();
        all_.back().id = id;
    }
    busy_of_.assign(all_.size(), kStSuccess);
    update();
}

Namespaces::Namespaces(const Namespaces& other, int)
    : drive_blocks_(other.drive_blocks_),
      lba_bytes_(other.lba_bytes_),
      metadata_(other.metadata_),
      created_(other.created_),
      busy_(other.busy_),
      all_(other.all_),
      busy_of_(other.busy_of_) {
    update();  // a copy must point to its own namespaces
}

void Namespaces::update() {
    reached_.assign(all_.size(), nullptr);
    for (std::uint32_t id = 1; id <= most(); ++id)
        if (busy_ == kStSuccess && busy_of_[id - 1] == kStSuccess) reached_[id - 1] = attached(id);
}

std::uint16_t Namespaces::refusal(std::uint32_t id) const {
    if (!is_valid(id)) return kStInvalidNamespace;
    if (attached(id) == nullptr) return kStInvalidField;  // the number is valid, but inactive
    return busy_ != kStSuccess ? busy_ : busy_of_[id - 1];
}

std::uint64_t Namespaces::unallocated_bytes() const {
    std::uint64_t blocks = drive_blocks_;
    for (const Namespace& n : all_) blocks -= n.extent;
    return blocks * lba_bytes_;
}

std::uint32_t Namespaces::create(std::uint64_t blocks, const BlockFormat& format, std::uint32_t granule,
                                 std::uint16_t& status) {
    const auto free = std::find_if(all_.begin(), all_.end(), [](const Namespace& n) { return n.blocks == 0; });
    const std::uint64_t step = std::max<std::uint64_t>(granule / lba_bytes_, 1);
    const std::uint32_t shift = format.lba_bytes == lba_bytes_ ? 0 : 3;  // 512 and 4096 bytes
    status = kStNamespaceCapacity;
    if (blocks == 0 || blocks > drive_blocks_ >> shift) return 0;
    const std::uint64_t wanted = ((blocks << shift) + step - 1) / step * step;
    // Takes the first gap that is large enough, in the order of the drive's blocks.
    std::vector<const Namespace*> in_order;
    for (const Namespace& n : all_)
        if (n.blocks != 0) in_order.push_back(&n);
    std::sort(in_order.begin(), in_order.end(),
              [](const Namespace* a, const Namespace* b) { return a->first_block < b->first_block; });
    std::uint64_t at = 0;
    bool fits = false;
    for (std::size_t i = 0; i <= in_order.size() && !fits; ++i) {
        const std::uint64_t end = i < in_order.size() ? in_order[i]->first_block : drive_blocks_;
        at = (at + step - 1) / step * step;
        fits = at <= end && wanted <= end - at;
        if (!fits && i < in_order.size()) at = in_order[i]->end();
    }
    if (!fits) return 0;
    status = kStNamespaceIdUnavailable;
    if (free == all_.end()) return 0;
    free->first_block = at;
    free->extent = wanted;
    free->blocks = blocks;
    free->lba_bytes = format.lba_bytes;
    free->metadata = format.metadata;
    free->shift = shift;
    free->generation = ++created_;
    free->attached = false;
    status = kStSuccess;
    update();
    return free->id;
}

void Namespaces::remove(std::uint32_t id) {
    all_[id - 1].blocks = all_[id - 1].extent = 0;
    busy_of_[id - 1] = kStSuccess;
    update();
}

void Namespaces::attach(std::uint32_t id, bool attached) {
    all_[id - 1].attached = attached;
    update();
}

void Namespaces::format(std::uint32_t id, const BlockFormat& format) {
    Namespace& n = all_[id - 1];
    n.lba_bytes = format.lba_bytes;
    n.metadata = format.metadata;
    n.shift = format.lba_bytes == lba_bytes_ ? 0 : 3;
    n.blocks = n.extent >> n.shift;  // a rest smaller than a block is not used
}

bool Namespaces::same_as(const Namespaces& other) const {
    const auto same = [](const Namespace& a, const Namespace& b) {
        return a.first_block == b.first_block && a.extent == b.extent && a.blocks == b.blocks &&
               a.lba_bytes == b.lba_bytes && a.metadata.bytes == b.metadata.bytes && a.attached == b.attached;
    };
    return std::equal(all_.begin(), all_.end(), other.all_.begin(), other.all_.end(), same);
}

void Namespaces::state(Snapshot& s) {
    std::uint64_t drive_blocks = drive_blocks_, count = all_.size();
    std::uint32_t lba_bytes = lba_bytes_;
    s(drive_blocks, lba_bytes, count, created_);
    s.require(drive_blocks == drive_blocks_ && lba_bytes == lba_bytes_ && count == all_.size(),
              "namespaces of another drive");
    for (Namespace& n : all_) {
        s(n.first_block, n.extent, n.blocks, n.lba_bytes, n.generation, n.attached, n.remaining);
        s(n.metadata.bytes, n.metadata.extended, n.metadata.type, n.metadata.first);
    }
    if (!s.reads()) return;
    busy_ = kStSuccess;
    busy_of_.assign(all_.size(), kStSuccess);
    check_read(s);
    update();
}

void Namespaces::check_read(Snapshot& s) {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> parts;
    for (Namespace& n : all_) {
        s.require(n.generation <= created_ && n.remaining <= 100, "a namespace that was never created");
        s.require(n.lba_bytes == lba_bytes_ || (n.lba_bytes == 4096 && lba_bytes_ == 512),
                  "a namespace with logical blocks that the drive does not have");
        s.require((n.metadata.bytes == 0 || (metadata_ && n.metadata.bytes == kMetadataBytes)) && n.metadata.type <= 3,
                  "a namespace with metadata that the drive does not have");
        n.shift = n.lba_bytes == lba_bytes_ ? 0 : 3;
        s.require(n.extent <= drive_blocks_ && n.first_block <= drive_blocks_ - n.extent &&
                      n.blocks <= n.extent >> n.shift && (n.blocks != 0 || n.extent == 0),
                  "a namespace that is not in the drive");
        if (n.extent != 0) parts.emplace_back(n.first_block, n.end());
    }
    std::sort(parts.begin(), parts.end());
    for (std::size_t i = 1; i < parts.size(); ++i)
        s.require(parts[i - 1].second <= parts[i].first, "namespaces that overlap");
}

void Namespaces::set_busy(std::uint32_t id, std::uint16_t status) {
    busy_of_[id - 1] = status;
    update();
}

void Namespaces::set_all_busy(std::uint16_t status) {
    busy_ = status;
    update();
}

}  // namespace ssdtlm
