// SPDX-License-Identifier: Apache-2.0
#include "property/block_contents.h"

#include <algorithm>
#include <cstring>

#include "protocol/signature.h"

namespace ssdtlm {

void BlockContents::write(std::uint64_t lba, Value value, std::uint8_t* block) const {
    if (!bytes_) return BlockSignature{lba, static_cast<std::uint32_t>(value), BlockSignature::kMagic}.store(block);
    std::memcpy(block, &value, 8);
    for (std::uint32_t i = 8; i < lba_bytes_; i += 8) {
        const std::uint64_t w = word(lba, value, i);
        std::memcpy(block + i, &w, 8);
    }
}

BlockContents::Value BlockContents::read(std::uint64_t lba, const std::uint8_t* block, std::string& wrong) const {
    if (!bytes_) {
        const BlockSignature s = BlockSignature::load(block);
        if (s.magic == 0 && s.lba == 0 && s.version == 0) return 0;
        // Version 0: zeros that were written, by an overwrite that failed in its midst.
        if (s.magic == BlockSignature::kMagic && s.lba == lba) return s.version;
        wrong = "LBA " + std::to_string(lba) + " has a signature of LBA " + std::to_string(s.lba) + ", version " +
                std::to_string(s.version) + ", magic " + std::to_string(s.magic);
        return 0;
    }
    if (std::all_of(block, block + lba_bytes_, [](std::uint8_t b) { return b == 0; })) return 0;
    if (initial_.differs_at(lba, 1, block) == lba_bytes_) return kInitial;
    Value value = 0;
    std::memcpy(&value, block, 8);
    for (const Copied& c : copies_) {
        const std::uint64_t from = lba - static_cast<std::uint64_t>(c.further);
        if (c.of == kInitial ? initial_.differs_at(from, 1, block) == lba_bytes_
                             : c.of == value && is_text(from, value, block))
            return c.name;
    }
    for (std::uint32_t i = 8; i < lba_bytes_; i += 8) {
        std::uint64_t w = 0;
        std::memcpy(&w, block + i, 8);
        if (w == word(lba, value, i)) continue;
        wrong = "LBA " + std::to_string(lba) + " begins with number " + std::to_string(value) + ", and byte " +
                std::to_string(i) + " is none of its";
        return 0;
    }
    return value;
}

bool BlockContents::is_text(std::uint64_t lba, Value value, const std::uint8_t* block) const {
    for (std::uint32_t i = 8; i < lba_bytes_; i += 8) {
        std::uint64_t w = 0;
        std::memcpy(&w, block + i, 8);
        if (w != word(lba, value, i)) return false;
    }
    return true;
}

BlockContents::Value BlockContents::copied(Value value, std::int64_t further) {
    if (value == 0) return 0;
    const auto known = std::find_if(copies_.begin(), copies_.end(), [&](const Copied& c) { return c.name == value; });
    if (known != copies_.end()) {  // a copy of a copy
        value = known->of;
        further += known->further;
    }
    if (further == 0) return value;
    for (const Copied& c : copies_)
        if (c.of == value && c.further == further) return c.name;
    copies_.push_back({value, further, ++last_});
    return last_;
}

void BlockContents::spoil(std::uint8_t* block) const {
    std::memset(block, 0xDB, bytes_ ? lba_bytes_ : sizeof(BlockSignature));
}

}  // namespace ssdtlm
