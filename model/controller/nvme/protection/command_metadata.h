// SPDX-License-Identifier: Apache-2.0
// The metadata of one command, and the checks of its blocks as their data pass. Three forms meet here. The host has the
// metadata behind the data of each block, or in a buffer of their own. The drive keeps eight bytes for each of its own
// blocks; a larger block of a namespace uses those of its last one, which arrive with its end. Deallocated blocks are
// zeros to the drive. The host must read their protection information as FFh (NVMe 1.4 §6.7), so the drive gets
// protection information inverted.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <vector>

#include "controller/nvme/namespaces.h"
#include "controller/nvme/protection/protection_info.h"

namespace ssdtlm {

class CommandMetadata {
public:
    /// The host's command for `blocks` blocks of `of`.
    CommandMetadata(const Namespace& of, std::uint32_t blocks, const ProtectionTerms& terms, std::uint64_t pointer)
        : CommandMetadata(of.metadata, of.lba_bytes, of.shift, blocks, terms) {
        pointer_ = pointer;
        moves_ = of.metadata.type == 0 || !terms.acts;
    }
    /// A part of a Copy: its data are somewhere else, and nothing goes to the host.
    CommandMetadata(const CommandMetadata& copy, std::uint32_t blocks)
        : CommandMetadata(copy.format_, copy.lba_bytes_, copy.shift_, blocks, copy.terms_) {
        moves_ = false;
    }

    const MetadataFormat& format() const { return format_; }
    std::uint32_t blocks() const { return blocks_; }
    std::uint32_t shift() const { return shift_; }
    std::uint32_t lba_bytes() const { return lba_bytes_; }
    const ProtectionTerms& terms() const { return terms_; }

    /// In the form of the drive: eight bytes for each of its blocks (Command::metadata).
    std::uint8_t* kept() { return kept_.data(); }

    // --- The host's form. Offsets count the command's data without metadata. ---
    /// Data and metadata follow each other.
    bool interleaves() const { return moves_ && format_.extended; }
    /// The metadata have a buffer of their own.
    bool has_buffer() const { return moves_ && !format_.extended; }
    /// Returns where the byte at `offset` is in what the host's data pointer names.
    std::uint64_t in_host_data(std::uint64_t offset) const {
        return interleaves() ? offset + offset / lba_bytes_ * format_.bytes : offset;
    }
    /// Returns the bytes that the data pointer names.
    std::uint64_t host_bytes() const { return in_host_data(std::uint64_t{blocks_} * lba_bytes_); }
    /// The metadata of the blocks that end in a part of the data. `address`: in the host's buffer.
    struct Span {
        std::uint64_t address;
        std::uint32_t bytes;
    };
    Span span(std::uint64_t offset, std::uint32_t bytes) const {
        const std::uint64_t first = offset / lba_bytes_, end = (offset + bytes) / lba_bytes_;
        return {pointer_ + first * format_.bytes, static_cast<std::uint32_t>((end - first) * format_.bytes)};
    }

    /// Appends what the host gets of this part to `data_out` and, if it has a buffer, to `metadata_out`.
    void for_host(std::uint64_t offset, std::uint32_t bytes, const std::uint8_t* data,
                  std::vector<std::uint8_t>& data_out, std::vector<std::uint8_t>& metadata_out) const;
    /// Checks the blocks that this part of a read completes. Parts come in any order.
    void check_part(std::uint64_t offset, std::uint32_t bytes, const std::uint8_t* data);
    /// Takes a part of a write as it came from the host, checks the blocks that end in it or makes their protection
    /// information, and writes the data alone to `out`. Parts come in order. Returns false if a check has failed.
    bool take_written(std::uint64_t offset, std::uint32_t bytes, const std::uint8_t* host_data,
                      const std::uint8_t* host_metadata, std::uint8_t* out);
    /// Takes a part of a Compare: the drive's data, and what came from the host.
    void take_compared(std::uint64_t offset, std::uint32_t bytes, const std::uint8_t* data,
                       const std::uint8_t* host_data, const std::uint8_t* host_metadata);
    /// Checks the blocks of a Compare on both sides, and compares them if none has failed. Returns true if all bytes
    /// are equal, metadata included.
    bool compare();
    /// Checks all blocks of a Copy that have been read. Returns false if one has failed.
    bool check_copy(const std::uint8_t* data, const ProtectionTerms& terms);
    /// Checks the data of a Copy that are to be written, or makes their protection information. `index`: of their
    /// first block among those that are written. Returns false if a check has failed.
    bool prepare_copy(const std::uint8_t* data, const ProtectionTerms& terms, std::uint64_t index);

    /// MPTR is the address of an SGL descriptor, which is to be read first. It must name one data block of the
    /// metadata's length. take_pointer() returns the status that refuses it, or success.
    void await_pointer() { awaits_pointer_ = true; }
    bool awaits_pointer() const { return awaits_pointer_; }
    std::uint64_t pointer() const { return pointer_; }
    std::uint16_t take_pointer(const nvme::SglDescriptor& names);

    /// Status of the check that has failed, or success.
    std::uint16_t status() const { return status_; }
    /// Number of the first block that has failed.
    std::uint32_t failed_block() const { return failed_; }

    /// Copy: the terms by which each range is read.
    std::vector<ProtectionTerms> ranges;

private:
    CommandMetadata(const MetadataFormat& format, std::uint32_t lba_bytes, std::uint32_t shift, std::uint32_t blocks,
                    const ProtectionTerms& terms);
    /// Splits a part as it came from the host into its data and the metadata of the blocks that end in it.
    void unpack(std::uint64_t offset, std::uint32_t bytes, const std::uint8_t* host_data,
                const std::uint8_t* host_metadata, std::uint8_t* data, std::uint8_t* metadata) const;
    std::size_t place(std::uint64_t block) const { return (((block + 1) << shift_) - 1) * nvme::kMetadataBytes; }
    void load(std::uint64_t block, std::uint8_t* metadata) const;
    void store(std::uint64_t block, const std::uint8_t* metadata);
    bool note(std::uint16_t status, std::uint64_t block);
    bool check(std::uint64_t block, const std::uint8_t* data, const ProtectionTerms& terms);
    bool prepare(std::uint64_t block, std::uint64_t index, const std::uint8_t* data, std::uint8_t* metadata,
                 const ProtectionTerms& terms);

    /// Calls f(block, data) for each block that this part completes.
    template <class F>
    void for_each_whole(std::uint64_t offset, std::uint32_t bytes, const std::uint8_t* data, F f) {
        const std::uint64_t end = offset + bytes;
        for (std::uint64_t at = offset; at < end;) {
            const std::uint64_t block = at / lba_bytes_, next = std::min(end, (block + 1) * lba_bytes_);
            const std::uint8_t* const from = data + (at - offset);
            const auto n = static_cast<std::uint32_t>(next - at);
            if (n == lba_bytes_) {
                f(block, from);
            } else {
                Partial& partial = partial_[block];
                partial.data.resize(lba_bytes_);
                std::memcpy(partial.data.data() + at % lba_bytes_, from, n);
                partial.bytes += n;
                if (partial.bytes == lba_bytes_) {
                    f(block, static_cast<const std::uint8_t*>(partial.data.data()));
                    partial_.erase(block);
                }
            }
            at = next;
        }
    }

    MetadataFormat format_;
    std::uint32_t lba_bytes_, shift_, blocks_;
    ProtectionTerms terms_;
    std::uint64_t pointer_ = 0;    // of the host's metadata
    bool moves_ = true;            // the metadata go over the link
    bool awaits_pointer_ = false;  // pointer_ is that of an SGL descriptor
    std::vector<std::uint8_t> kept_;
    struct Partial {
        std::vector<std::uint8_t> data;
        std::uint32_t bytes = 0;  // that have come
    };
    std::map<std::uint64_t, Partial> partial_;                    // blocks whose data come in several parts
    std::vector<std::uint8_t> data_, host_data_, host_metadata_;  // of a Compare
    std::uint16_t status_ = nvme::kStSuccess;
    std::uint32_t failed_ = 0;
};

}  // namespace ssdtlm
