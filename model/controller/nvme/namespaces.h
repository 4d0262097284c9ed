// SPDX-License-Identifier: Apache-2.0
// The namespaces of the drive: parts of its blocks, each with a number. The logical block of a namespace is that of the
// drive or a multiple of it. Firmware and flash know only the blocks of the drive. With namespace management the host
// creates and deletes namespaces. A command reaches those that are attached and not busy.
#pragma once

#include <cstdint>
#include <vector>

#include "common/snapshot/snapshot.h"
#include "controller/nvme/protection/protection_info.h"
#include "protocol/nvme.h"

namespace ssdtlm {

/// Form of the logical blocks of a namespace.
struct BlockFormat {
    std::uint32_t lba_bytes = 0;  ///< 0: there is no such format
    MetadataFormat metadata{};
};

struct Namespace {
    std::uint32_t id = 1;           ///< NSID
    std::uint64_t first_block = 0;  ///< of the drive, in its blocks
    std::uint64_t extent = 0;       ///< size of its part, in blocks of the drive
    std::uint64_t blocks = 0;       ///< in its own blocks; 0: there is no such namespace
    std::uint32_t lba_bytes = 4096;
    MetadataFormat metadata{};
    std::uint32_t shift = 0;       ///< one of its blocks is 2^shift blocks of the drive
    std::uint32_t generation = 0;  ///< 0: from the factory; else its place in the order of creation by the host
    bool attached = true;
    std::uint8_t remaining = 0;  ///< percent of a format that is still to do

    std::uint64_t bytes() const { return blocks * lba_bytes; }
    std::uint64_t end() const { return first_block + extent; }
    bool has(std::uint64_t slba, std::uint64_t count) const { return slba <= blocks && count <= blocks - slba; }
};

/// All namespaces, numbered from 1 on.
class Namespaces {
public:
    /// `sizes` are the bytes of all namespaces but the last, which has the rest of the drive. `most` is the count of
    /// numbers; a number beyond the list has no namespace yet. Preconditions (checked): all sizes are whole logical
    /// blocks, and the last namespace has at least one.
    /// With `metadata`, there are formats with metadata too.
    Namespaces(std::uint64_t drive_bytes, std::uint32_t lba_bytes, const std::vector<std::uint64_t>& sizes = {},
               std::uint32_t most = 0, bool metadata = false);

    /// Returns the namespace that a command reaches. If it is null, refusal() returns the status.
    const Namespace* find(std::uint32_t id) const { return id - 1 < reached_.size() ? reached_[id - 1] : nullptr; }
    std::uint16_t refusal(std::uint32_t id) const;
    /// Returns the status that all commands to the media get now, or success.
    std::uint16_t busy() const { return busy_; }

    bool is_valid(std::uint32_t id) const { return id - 1 < all_.size(); }
    /// Returns the namespace whether it is attached or not, or null if there is none.
    const Namespace* allocated(std::uint32_t id) const {
        return is_valid(id) && all_[id - 1].blocks != 0 ? &all_[id - 1] : nullptr;
    }
    /// Returns null also if it is not attached.
    const Namespace* attached(std::uint32_t id) const {
        const Namespace* const n = allocated(id);
        return n != nullptr && n->attached ? n : nullptr;
    }
    /// Returns the highest number.
    std::uint32_t most() const { return static_cast<std::uint32_t>(all_.size()); }
    std::uint64_t unallocated_bytes() const;
    std::uint32_t drive_lba_bytes() const { return lba_bytes_; }
    bool offers_metadata() const { return metadata_; }
    std::uint64_t drive_blocks() const { return drive_blocks_; }
    /// True if they are the same parts of the drive, with the same blocks.
    bool same_as(const Namespaces& other) const;
    /// Reads or writes them. None is busy then.
    void state(Snapshot& s);

    /// Creates a namespace of `blocks` blocks, not attached. Its place begins and ends at multiples of `granule` bytes.
    /// Returns its number, or 0 with the reason in `status`.
    std::uint32_t create(std::uint64_t blocks, const BlockFormat& format, std::uint32_t granule, std::uint16_t& status);
    void remove(std::uint32_t id);
    void attach(std::uint32_t id, bool attached);
    /// Its logical block size must be a multiple of the drive's.
    void format(std::uint32_t id, const BlockFormat& format);
    std::uint8_t remaining(std::uint32_t id) const { return all_[id - 1].remaining; }
    void set_remaining(std::uint32_t id, std::uint8_t percent) { all_[id - 1].remaining = percent; }
    /// From now on commands to this namespace, or to all, end with `status`. With success they are served again.
    void set_busy(std::uint32_t id, std::uint16_t status);
    void set_all_busy(std::uint16_t status);

private:
    Namespaces(const Namespaces& other, int);
    void update();
    void check_read(Snapshot& s);

    std::uint64_t drive_blocks_;
    std::uint32_t lba_bytes_;  // of the drive
    bool metadata_;
    std::uint32_t created_ = 0;
    std::uint16_t busy_ = nvme::kStSuccess;
    std::vector<Namespace> all_;          // by number
    std::vector<std::uint16_t> busy_of_;  // by number
    std::vector<const Namespace*> reached_;
};

}  // namespace ssdtlm
