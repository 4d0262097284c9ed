// SPDX-License-Identifier: Apache-2.0
// The bytes of the mapping units inside the controller: those in the write buffer, by entry, and those of a read on
// their way to the host. A unit that was written in part is joined with the rest of its old copy when that has been
// read; a later write of part of it that came meanwhile leans on it and is joined with the same rest.
#pragma once

#include <cstdint>
#include <vector>

#include "controller/ports/host_read.h"
#include "controller/ports/job_bytes.h"
#include "controller/write_buffer/write_buffer.h"

namespace ssdtlm {

class UnitData {
public:
    /// `metadata_bytes`: metadata of the logical blocks of a unit. They lie behind its data.
    UnitData(WriteBuffer& buffer, std::uint32_t unit_bytes, std::uint32_t lba_bytes, std::uint32_t metadata_bytes = 0);

    /// A write has been inserted as `entry`. `from`, `bytes`: the bytes of the unit that it has. `before`: the newest
    /// write of the unit until then, kNone if there was none. `needs_rest`: the other bytes have to be read from flash.
    /// `metadata`: those of its blocks; null: zeros.
    void insert(WriteBuffer::Index entry, WriteBuffer::Index before, std::uint32_t from, std::uint32_t bytes,
                const std::uint8_t* data, bool needs_rest, const std::uint8_t* metadata = nullptr);
    /// The old copy of a unit that was written in part has been read.
    void join(WriteBuffer::Index entry, const UnitBytes& old_copy);
    /// A read that is being planned takes what the buffer has now of its i-th unit.
    void take(HostRead& read, std::uint32_t i, WriteBuffer::Index entry) const;
    /// A page to be programmed gets what the buffer has.
    void place(FlashJob& program, std::uint32_t slot, WriteBuffer::Index entry) const;
    /// Puts a read's part together, from byte `begin` of the device to before `end`, from its pages and what the buffer
    /// had. `metadata`: where those of its blocks go; null: nowhere.
    void put_together(const HostRead& read, std::uint64_t begin, std::uint64_t end, std::uint8_t* out,
                      std::uint8_t* metadata = nullptr) const;
    /// Bytes of metadata of a logical block.
    std::uint32_t metadata_of_block() const { return metadata_of_block_; }

private:
    struct Held : BufferedUnit {
        WriteBuffer::Index leans =
            WriteBuffer::kNone;  ///< the next write of the unit, which has taken over what is missing here
    };
    void copy_unit(const HostRead& read, std::uint32_t i, std::uint32_t from, std::uint32_t bytes, std::uint8_t* out,
                   std::uint8_t* metadata) const;
    /// Place of a block's metadata in the bytes that are kept of a unit.
    std::uint32_t metadata_at(std::uint32_t block) const { return unit_bytes_ + block * metadata_of_block_; }
    void put_metadata(std::uint8_t* unit, std::uint32_t from, std::uint32_t bytes, const std::uint8_t* metadata) const;

    WriteBuffer& buffer_;
    const std::uint32_t unit_bytes_;
    const std::uint32_t lba_bytes_;
    const std::uint32_t blocks_;  ///< of a unit
    const std::uint32_t metadata_of_block_;
    const std::uint32_t kept_bytes_;  ///< data and metadata
    std::vector<Held> held_;          ///< by entry; of an entry that is free, what it held last
};

}  // namespace ssdtlm
