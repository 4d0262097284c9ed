// SPDX-License-Identifier: Apache-2.0
// What the test writes into logical blocks, and what it makes of what it reads: the value that the reference map knows,
// or why it is none.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/random/block_bytes.h"
#include "property/reference_map.h"

namespace ssdtlm {

class BlockContents {
public:
    using Value = ReferenceMap::Value;
    /// Before anything was written.
    static constexpr Value kInitial = 1;

    /// `bytes`: else signatures, whose version stands for the value of the whole unit. `seed`: of what the drive was
    /// filled with.
    BlockContents(bool bytes, std::uint32_t lba_bytes, std::uint32_t version_bits, std::uint64_t seed)
        : bytes_(bytes), lba_bytes_(lba_bytes), versions_((1u << version_bits) - 1), initial_(seed, lba_bytes) {}

    bool are_bytes() const { return bytes_; }
    /// For a write of units from `first` on: bytes: a new one; signatures: one that none of them has.
    template <class Known>
    Value next(Known known) {
        if (bytes_) return ++last_;
        for (std::uint32_t i = 0; i < versions_; ++i) {
            last_ = last_ % versions_ + 1;
            if (!known(last_)) return last_;
        }
        return last_;
    }
    /// The value that was written, and how many blocks further its copy is.
    struct Origin {
        Value value;
        std::int64_t further;
    };
    Origin origin_of(Value value) const {
        for (const Copied& c : copies_)
            if (c.name == value) return {c.of, c.further};
        return {value, 0};
    }
    /// What `value` is called `further` blocks from where it was written. Bytes only.
    Value copied(Value value, std::int64_t further);
    void write(std::uint64_t lba, Value value, std::uint8_t* block) const;
    /// `wrong`: why it has no value.
    Value read(std::uint64_t lba, const std::uint8_t* block, std::string& wrong) const;
    void spoil(std::uint8_t* block) const;

private:
    std::uint64_t word(std::uint64_t lba, Value value, std::uint32_t i) const {
        std::uint64_t z = value * 0xD6E8FEB86659FD93u + lba * 0xA0761D6478BD642Fu + i * 0xE7037ED1A0B428DBu;
        z = (z ^ (z >> 32)) * 0xD6E8FEB86659FD93u;
        return z ^ (z >> 32);
    }
    bool is_text(std::uint64_t lba, Value value, const std::uint8_t* block) const;

    const bool bytes_;
    const std::uint32_t lba_bytes_, versions_;
    const BlockBytes initial_;
    /// The text of a value, copied so far from its place.
    struct Copied {
        Value of;
        std::int64_t further;
        Value name;
    };
    std::vector<Copied> copies_;
    Value last_ = kInitial;
};

}  // namespace ssdtlm
