// SPDX-License-Identifier: Apache-2.0
#include "nand/array/byte_store.h"

#include <cstring>
#include <string>

#include "common/report/error.h"

namespace ssdtlm {

ByteStore::ByteStore(const NandGeometry& geometry, const SpareCodec& codec, const BlockBytes& at_start)
    : geometry_(geometry),
      units_per_page_(geometry.units_per_page()),
      codec_(codec),
      at_start_(at_start),
      blocks_(geometry.blocks()) {
    SSDTLM_CHECK(geometry.unit_bytes % at_start.block_bytes() == 0, "a mapping unit must be whole logical blocks");
}

void ByteStore::program(Ppa first_slot, const Spare* spare, const UnitBytes* bytes) {
    const std::uint32_t per_block = geometry_.units_per_block();
    std::unique_ptr<UnitBytes[]>& block = blocks_[idx(first_slot) / per_block];
    for (std::uint32_t i = 0; i < units_per_page_; ++i) {
        if (!is_somebodys(spare[i])) continue;
        if (!bytes[i]) refuse(Ppa{idx(first_slot) + i});
        if (bytes[i].is_from_start(codec_.lpa(spare[i]))) continue;
        if (block == nullptr) block = std::make_unique<UnitBytes[]>(per_block);
        block[idx(first_slot) % per_block + i] = bytes[i];
        ++kept_;
    }
}

void ByteStore::read(Ppa first_slot, const Spare* spare, UnitBytes* bytes) const {
    const std::uint32_t per_block = geometry_.units_per_block();
    const UnitBytes* const block = blocks_[idx(first_slot) / per_block].get();
    for (std::uint32_t i = 0; i < units_per_page_; ++i) {
        bytes[i].reset();
        if (!is_somebodys(spare[i])) continue;
        if (block != nullptr) bytes[i] = block[idx(first_slot) % per_block + i];
        if (!bytes[i]) bytes[i] = made(codec_.lpa(spare[i]));
    }
}

void ByteStore::erase(BlockId b) {
    std::unique_ptr<UnitBytes[]>& block = blocks_[idx(b)];
    if (block == nullptr) return;
    for (std::uint32_t i = 0; i < geometry_.units_per_block(); ++i) kept_ -= static_cast<bool>(block[i]);
    block.reset();
}

void ByteStore::state(Snapshot& s) {
    // One block of the contents at the start identifies the seed of all of them.
    std::vector<std::uint8_t> sample(at_start_.block_bytes());
    at_start_.fill(0, 1, sample.data());
    std::uint64_t word = 0;
    std::memcpy(&word, sample.data(), sizeof word);
    const std::uint64_t own = word;
    std::uint64_t count = kept_;
    s(word, count);
    s.require(word == own, "bytes of another run.seed");
    const std::uint32_t per_block = geometry_.units_per_block();
    if (!s.reads()) {
        for (std::uint64_t b = 0; b < blocks_.size(); ++b)
            for (std::uint32_t i = 0; blocks_[b] != nullptr && i < per_block; ++i) {
                if (!blocks_[b][i]) continue;
                std::uint64_t slot = b * per_block + i;
                s(slot);
                s.bytes(const_cast<std::uint8_t*>(blocks_[b][i].data()), geometry_.kept_bytes());
            }
        return;
    }
    while (kept_ != count) {
        std::uint64_t slot = 0;
        s(slot);
        s.require(slot / per_block < blocks_.size(), "bytes of a page that there is not");
        std::unique_ptr<UnitBytes[]>& block = blocks_[slot / per_block];
        if (block == nullptr) block = std::make_unique<UnitBytes[]>(per_block);
        UnitBytes& unit = block[slot % per_block];
        s.require(!unit, "bytes of a unit that are there twice");
        unit = UnitBytes::zeros(geometry_.kept_bytes());
        s.bytes(unit.change(), geometry_.kept_bytes());
        ++kept_;
    }
}

UnitBytes ByteStore::made(Lpa lpa) const {
    UnitBytes unit = UnitBytes::zeros(geometry_.kept_bytes());
    std::uint8_t* const out = unit.change();
    const std::uint32_t blocks = geometry_.unit_bytes / at_start_.block_bytes();
    for (std::uint32_t i = 0; i < blocks; ++i)
        at_start_.fill(std::uint64_t{idx(lpa)} * blocks + i, 1, out + std::size_t{i} * at_start_.block_bytes());
    unit.came_from_start(lpa);
    return unit;
}

__attribute__((noinline, cold)) void ByteStore::refuse(Ppa slot) const {
    panic("ByteStore",
          "program of slot " + std::to_string(idx(slot)) + " without bytes; a unit that is somebody's brings them");
}

}  // namespace ssdtlm
