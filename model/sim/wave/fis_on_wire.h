// SPDX-License-Identifier: Apache-2.0
// Describes frames on a Serial ATA link for waveform and timeline. Kernel-free.
#pragma once

#include <cstdint>

namespace ssdtlm {

/// The value of a FIS type in fis_names().
std::uint64_t fis_value(std::uint8_t type);

/// Finds the tags of frames in the order of the wire. Data and DMA Activate have no tag of their own, so they get that
/// of the DMA Setup before them.
class FisTags {
public:
    /// The tag of a frame that belongs to no queued command. It is also the key of a command that is not queued, see
    /// SataFrontEnd.
    static constexpr std::uint64_t kNoTag = 32;

    std::uint64_t tag_of(const std::uint8_t* fis, std::uint32_t bytes);
    /// The link went down or came up.
    void forget() { phase_ = kNoTag; }

private:
    std::uint64_t phase_ = kNoTag;  // tag whose data are being transferred
};

}  // namespace ssdtlm
