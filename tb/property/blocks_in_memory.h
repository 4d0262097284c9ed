// SPDX-License-Identifier: Apache-2.0
// The blocks of one command with metadata: data and metadata apart, as the host of a case has them, and in host memory
// in the form that the drive's format asks for.
#pragma once

#include <cstdint>
#include <vector>

#include "common/random/random.h"
#include "host_pcie/driver/host_memory.h"
#include "property/case_port.h"
#include "protocol/nvme.h"

namespace ssdtlm {

class BlocksInMemory {
public:
    std::uint8_t* data(std::uint32_t bytes) {
        data_.resize(bytes);
        return data_.data();
    }
    std::uint8_t* metadata(std::uint32_t bytes) {
        metadata_.resize(bytes);
        return metadata_.data();
    }
    /// The command that moves them. Returns how many bytes its data pointer names. Metadata with a buffer of their own
    /// go there, and `sqe` names it.
    std::uint32_t begin(HostMemory& memory, Random& random, const CaseMetadata& format, std::uint32_t lba_bytes,
                        const CaseCommand& command, nvme::Sqe& sqe);
    /// An SGL descriptor names the metadata from now on, if they have a buffer.
    void name_metadata(HostMemory& memory, nvme::Sqe& sqe);
    /// Puts what the data pointer names into `to`.
    void pack(std::uint8_t* to) const;
    bool is_read() const { return is_read_; }
    /// A read has ended: `from` is what its data pointer names.
    void unpack(HostMemory& memory, const std::uint8_t* from);
    void forget() {
        is_read_ = false;
        address_ = 0;
    }

private:
    static constexpr std::uint32_t kMostOffset = 60;  ///< of the metadata in their buffer

    std::vector<std::uint8_t> data_, metadata_;
    std::uint32_t lba_bytes_ = 0, blocks_ = 0;
    std::uint32_t between_ = 0;              ///< bytes behind the data of each block
    std::uint64_t place_ = 0, address_ = 0;  ///< buffer for metadata; of this command, 0: none
    std::uint64_t descriptor_ = 0;           ///< memory for one
    std::uint32_t capacity_ = 0;
    bool is_read_ = false;
};

}  // namespace ssdtlm
