// SPDX-License-Identifier: Apache-2.0
#include "controller/data/unit_data.h"

#include <algorithm>
#include <cstring>

#include "common/report/error.h"

namespace ssdtlm {

UnitData::UnitData(WriteBuffer& buffer, std::uint32_t unit_bytes, std::uint32_t lba_bytes, std::uint32_t metadata_bytes)
    : buffer_(buffer),
      unit_bytes_(unit_bytes),
      lba_bytes_(lba_bytes),
      blocks_(unit_bytes / lba_bytes),
      metadata_of_block_(metadata_bytes / blocks_),
      kept_bytes_(unit_bytes + metadata_bytes) {
    SSDTLM_CHECK(unit_bytes % lba_bytes == 0 && blocks_ <= kMaxBlocksPerUnit, "logical blocks of a mapping unit");
}

void UnitData::insert(WriteBuffer::Index entry, WriteBuffer::Index before, std::uint32_t from, std::uint32_t bytes,
                      const std::uint8_t* data, bool needs_rest, const std::uint8_t* metadata) {
    if (entry >= held_.size()) held_.resize(entry + 1);
    Held& unit = held_[entry];
    const bool coalesced = before == entry;
    if (!coalesced) unit.leans = WriteBuffer::kNone;
    if (bytes == unit_bytes_) {
        if (metadata_of_block_ == 0) {
            unit.bytes = UnitBytes::copy_of(data, bytes);
        } else {
            unit.bytes = UnitBytes::zeros(kept_bytes_);
            std::memcpy(unit.bytes.change(), data, bytes);
            put_metadata(unit.bytes.change(), 0, bytes, metadata);
        }
        unit.missing.reset();
        return;
    }
    // A deallocated unit reads as zeros for later writes.
    const bool over = before != WriteBuffer::kNone && !buffer_.unit(before).dropped;
    if (over && !coalesced) {
        Held& older = held_[before];
        unit.bytes = older.bytes;
        unit.missing = older.missing;
        if (older.missing.any()) older.leans = entry;
    } else if (!over) {
        unit.bytes = UnitBytes::zeros(kept_bytes_);
        unit.missing.reset();
        for (std::uint32_t b = 0; needs_rest && b < blocks_; ++b) unit.missing.set(b);
    }
    std::memcpy(unit.bytes.change() + from, data, bytes);
    put_metadata(unit.bytes.change(), from, bytes, metadata);
    for (std::uint32_t b = from / lba_bytes_; b < (from + bytes) / lba_bytes_; ++b) unit.missing.reset(b);
}

void UnitData::join(WriteBuffer::Index entry, const UnitBytes& old_copy) {
    for (WriteBuffer::Index i = entry; i != WriteBuffer::kNone; i = held_[i].leans) {
        Held& unit = held_[i];
        if (unit.missing.none()) continue;
        SSDTLM_CHECK(static_cast<bool>(old_copy), "a unit was read without its bytes");
        std::uint8_t* const to = unit.bytes.change();
        for (std::uint32_t b = 0; b < blocks_; ++b) {
            if (!unit.missing.test(b)) continue;
            std::memcpy(to + b * lba_bytes_, old_copy.data() + b * lba_bytes_, lba_bytes_);
            std::memcpy(to + metadata_at(b), old_copy.data() + metadata_at(b), metadata_of_block_);
        }
        unit.missing.reset();
    }
}

void UnitData::take(HostRead& read, std::uint32_t i, WriteBuffer::Index entry) const {
    read.bytes->buffered[i] = held_[entry];
}

void UnitData::place(FlashJob& program, std::uint32_t slot, WriteBuffer::Index entry) const {
    SSDTLM_CHECK(held_[entry].missing.none(), "program of a unit whose rest has not been read");
    program.bytes->page[slot] = held_[entry].bytes;
}

void UnitData::put_metadata(std::uint8_t* unit, std::uint32_t from, std::uint32_t bytes,
                            const std::uint8_t* metadata) const {
    std::uint8_t* const to = unit + metadata_at(from / lba_bytes_);
    const std::uint32_t n = bytes / lba_bytes_ * metadata_of_block_;
    if (metadata != nullptr)
        std::memcpy(to, metadata, n);
    else
        std::memset(to, 0, n);
}

void UnitData::put_together(const HostRead& read, std::uint64_t begin, std::uint64_t end, std::uint8_t* out,
                            std::uint8_t* metadata) const {
    if (read.source == HostRead::Source::zeros) {
        std::memset(out, 0, end - begin);
        if (metadata != nullptr) std::memset(metadata, 0, (end - begin) / lba_bytes_ * metadata_of_block_);
        return;
    }
    for (std::uint32_t i = 0; i < read.units; ++i) {
        const std::uint64_t first = (std::uint64_t{read.first_unit} + i) * unit_bytes_;
        const std::uint64_t from = std::max(begin, first), stop = std::min(end, first + unit_bytes_);
        copy_unit(read, i, static_cast<std::uint32_t>(from - first), static_cast<std::uint32_t>(stop - from),
                  out + (from - begin),
                  metadata != nullptr ? metadata + (from - begin) / lba_bytes_ * metadata_of_block_ : nullptr);
    }
}

void UnitData::copy_unit(const HostRead& read, std::uint32_t i, std::uint32_t from, std::uint32_t bytes,
                         std::uint8_t* out, std::uint8_t* metadata) const {
    const std::uint32_t first = from / lba_bytes_, blocks = bytes / lba_bytes_;
    const bool newer = (read.newer >> i & 1u) != 0;
    const BufferedUnit& buffered = read.bytes->buffered[i];
    if (newer && buffered.missing.none()) {
        std::memcpy(out, buffered.bytes.data() + from, bytes);
        if (metadata != nullptr)
            std::memcpy(metadata, buffered.bytes.data() + metadata_at(first), blocks * metadata_of_block_);
        return;
    }
    const UnitBytes& in_flash = read.bytes->page[read.slot[i]];
    SSDTLM_CHECK(read.source == HostRead::Source::flash && in_flash, "a unit was read without its bytes");
    std::memcpy(out, in_flash.data() + from, bytes);
    if (metadata != nullptr) std::memcpy(metadata, in_flash.data() + metadata_at(first), blocks * metadata_of_block_);
    if (!newer) return;
    for (std::uint32_t b = first; b < first + blocks; ++b) {
        if (buffered.missing.test(b)) continue;
        std::memcpy(out + (b - first) * lba_bytes_, buffered.bytes.data() + b * lba_bytes_, lba_bytes_);
        if (metadata != nullptr)
            std::memcpy(metadata + (b - first) * metadata_of_block_, buffered.bytes.data() + metadata_at(b),
                        metadata_of_block_);
    }
}

}  // namespace ssdtlm
