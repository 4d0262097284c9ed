// SPDX-License-Identifier: Apache-2.0
// The metadata of the logical blocks of a case: eight bytes that follow from what a block holds and where it is. So a
// block has the right metadata, or those of another write. Rules and CRC are the test's own.
#pragma once

#include <cstdint>
#include <string>

#include "property/block_contents.h"
#include "property/case_port.h"

namespace ssdtlm {

class BlockTags {
public:
    using Value = ReferenceMap::Value;
    static constexpr std::uint32_t kBytes = 8;

    BlockTags(const BlockContents& contents, std::uint32_t lba_bytes) : contents_(contents), lba_bytes_(lba_bytes) {}

    /// The metadata of block `lba` with these data, which are `value`.
    void store(const CaseMetadata& format, std::uint64_t lba, Value value, const std::uint8_t* data,
               std::uint8_t* metadata) const;
    /// Empty, or why these are not they.
    std::string check(const CaseMetadata& format, std::uint64_t lba, Value value, const std::uint8_t* data,
                      const std::uint8_t* metadata) const;
    /// A command that writes `value` from `lba` on. The drive makes the protection information of some values. Of
    /// others some blocks have a broken guard, and say that nothing is to be checked.
    CaseProtection of_write(const CaseMetadata& format, std::uint64_t lba, Value value, std::uint64_t chance) const;
    /// One that copies `from` blocks, which become `value` from `lba` on. The metadata of some values are copied; those
    /// of others the drive makes anew.
    CaseProtection of_copy(const CaseMetadata& format, std::uint64_t lba, Value from, Value value) const;
    /// Not of a block that says that nothing is to be checked.
    bool has_guard(const CaseMetadata& format, Value value) const;

private:
    /// The write whose tags a block has: of `value`, so many blocks before.
    struct Origin {
        Value value;
        std::int64_t further;
        bool is_write;
    };
    Origin origin_of(const CaseMetadata& format, Value value) const;
    static bool keeps_tags(const CaseMetadata& format, Value value);

    const BlockContents& contents_;
    const std::uint32_t lba_bytes_;
};

}  // namespace ssdtlm
