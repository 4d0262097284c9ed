// SPDX-License-Identifier: Apache-2.0
#include "controller/nvme/protection/command_metadata.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "common/report/error.h"

namespace ssdtlm {

using namespace nvme;

using OfBlock = std::array<std::uint8_t, kMetadataBytes>;

CommandMetadata::CommandMetadata(const MetadataFormat& format, std::uint32_t lba_bytes, std::uint32_t shift,
                                 std::uint32_t blocks, const ProtectionTerms& terms)
    : format_(format),
      lba_bytes_(lba_bytes),
      shift_(shift),
      blocks_(blocks),
      terms_(terms),
      kept_((std::size_t{blocks} << shift) * kMetadataBytes) {
    SSDTLM_CHECK(format.bytes == kMetadataBytes, "a block has other metadata than the drive keeps");
}

std::uint16_t CommandMetadata::take_pointer(const SglDescriptor& names) {
    if (names.type() != SglDescriptor::kDataBlock || names.subtype() != 0) return kStSglTypeInvalid;
    if (((names.address | names.length) & 3u) != 0) return kStSglGranularity;
    if (names.length != std::uint64_t{blocks_} * format_.bytes || names.address + names.length < names.address)
        return kStMetadataSglLength;
    pointer_ = names.address;
    awaits_pointer_ = false;
    return kStSuccess;
}

void CommandMetadata::load(std::uint64_t block, std::uint8_t* metadata) const {
    const std::uint8_t inverted = format_.type != 0 ? 0xFF : 0;
    for (std::uint32_t i = 0; i < kMetadataBytes; ++i)
        metadata[i] = static_cast<std::uint8_t>(kept_[place(block) + i] ^ inverted);
}

void CommandMetadata::store(std::uint64_t block, const std::uint8_t* metadata) {
    const std::uint8_t inverted = format_.type != 0 ? 0xFF : 0;
    for (std::uint32_t i = 0; i < kMetadataBytes; ++i)
        kept_[place(block) + i] = static_cast<std::uint8_t>(metadata[i] ^ inverted);
}

/// The first block counts, whatever the order in which they come.
bool CommandMetadata::note(std::uint16_t status, std::uint64_t block) {
    if (status == kStSuccess) return true;
    if (status_ == kStSuccess || block < failed_) {
        status_ = status;
        failed_ = static_cast<std::uint32_t>(block);
    }
    return false;
}

bool CommandMetadata::check(std::uint64_t block, const std::uint8_t* data, const ProtectionTerms& terms) {
    OfBlock metadata;
    load(block, metadata.data());
    return note(check_tuple(format_, terms, block, data, lba_bytes_, metadata.data()), block);
}

void CommandMetadata::check_part(std::uint64_t offset, std::uint32_t bytes, const std::uint8_t* data) {
    if (format_.type == 0 || !terms_.checks()) return;
    for_each_whole(offset, bytes, data,
                   [this](std::uint64_t block, const std::uint8_t* d) { check(block, d, terms_); });
}

void CommandMetadata::for_host(std::uint64_t offset, std::uint32_t bytes, const std::uint8_t* data,
                               std::vector<std::uint8_t>& data_out, std::vector<std::uint8_t>& metadata_out) const {
    const std::uint64_t end = offset + bytes;
    for (std::uint64_t at = offset; at < end;) {
        const std::uint64_t block = at / lba_bytes_, behind = (block + 1) * lba_bytes_, next = std::min(end, behind);
        data_out.insert(data_out.end(), data + (at - offset), data + (next - offset));
        at = next;
        if (next != behind || !moves_) continue;
        OfBlock metadata;
        load(block, metadata.data());
        std::vector<std::uint8_t>& to = interleaves() ? data_out : metadata_out;
        to.insert(to.end(), metadata.begin(), metadata.end());
    }
}

void CommandMetadata::unpack(std::uint64_t offset, std::uint32_t bytes, const std::uint8_t* host_data,
                             const std::uint8_t* host_metadata, std::uint8_t* data, std::uint8_t* metadata) const {
    const std::uint64_t end = offset + bytes;
    for (std::uint64_t at = offset; at < end;) {
        const std::uint64_t behind = (at / lba_bytes_ + 1) * lba_bytes_, next = std::min(end, behind);
        std::memcpy(data, host_data, next - at);
        data += next - at;
        host_data += next - at;
        at = next;
        if (next != behind || !moves_) continue;
        const std::uint8_t*& from = interleaves() ? host_data : host_metadata;
        std::memcpy(metadata, from, kMetadataBytes);
        from += kMetadataBytes;
        metadata += kMetadataBytes;
    }
}

bool CommandMetadata::prepare(std::uint64_t block, std::uint64_t index, const std::uint8_t* data,
                              std::uint8_t* metadata, const ProtectionTerms& terms) {
    bool well = true;
    if (format_.type != 0 && terms.acts)
        insert_tuple(format_, terms, index, data, lba_bytes_, metadata);
    else if (format_.type != 0)
        well = note(check_tuple(format_, terms, index, data, lba_bytes_, metadata), block);
    store(block, metadata);
    return well;
}

bool CommandMetadata::take_written(std::uint64_t offset, std::uint32_t bytes, const std::uint8_t* host_data,
                                   const std::uint8_t* host_metadata, std::uint8_t* out) {
    const std::uint64_t first = offset / lba_bytes_, end = (offset + bytes) / lba_bytes_;
    std::vector<std::uint8_t> metadata((end - first) * kMetadataBytes);
    unpack(offset, bytes, host_data, host_metadata, out, metadata.data());
    bool well = true;
    for_each_whole(offset, bytes, out, [&](std::uint64_t block, const std::uint8_t* data) {
        well = prepare(block, block, data, metadata.data() + (block - first) * kMetadataBytes, terms_) && well;
    });
    return well;
}

void CommandMetadata::take_compared(std::uint64_t offset, std::uint32_t bytes, const std::uint8_t* data,
                                    const std::uint8_t* host_data, const std::uint8_t* host_metadata) {
    data_.resize(std::size_t{blocks_} * lba_bytes_);
    host_data_.resize(data_.size());
    host_metadata_.resize(std::size_t{blocks_} * kMetadataBytes);
    std::memcpy(data_.data() + offset, data, bytes);
    unpack(offset, bytes, host_data, host_metadata, host_data_.data() + offset,
           host_metadata_.data() + offset / lba_bytes_ * kMetadataBytes);
}

bool CommandMetadata::compare() {
    bool equal = host_data_ == data_;
    for (std::uint32_t b = 0; b < blocks_ && status_ == kStSuccess; ++b) {
        const std::size_t at = std::size_t{b} * lba_bytes_;
        const std::uint8_t* const theirs = host_metadata_.data() + std::size_t{b} * kMetadataBytes;
        if (format_.type != 0 && check(b, data_.data() + at, terms_))
            note(check_tuple(format_, terms_, b, host_data_.data() + at, lba_bytes_, theirs), b);
        OfBlock metadata;
        load(b, metadata.data());
        equal = equal && std::equal(metadata.begin(), metadata.end(), theirs);
    }
    return equal;
}

bool CommandMetadata::check_copy(const std::uint8_t* data, const ProtectionTerms& terms) {
    for (std::uint32_t b = 0; b < blocks_ && format_.type != 0; ++b)
        if (!check(b, data + std::size_t{b} * lba_bytes_, terms)) return false;
    return true;
}

bool CommandMetadata::prepare_copy(const std::uint8_t* data, const ProtectionTerms& terms, std::uint64_t index) {
    for (std::uint32_t b = 0; b < blocks_; ++b) {
        OfBlock metadata;
        load(b, metadata.data());
        if (!prepare(b, index + b, data + std::size_t{b} * lba_bytes_, metadata.data(), terms)) return false;
    }
    return true;
}

}  // namespace ssdtlm
