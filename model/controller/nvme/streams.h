// SPDX-License-Identifier: Apache-2.0
// The Streams directive (NVMe 1.4 §9.3) of the one namespace: whether the host has enabled it, how many streams it may
// have open, and which. A write that names a stream opens it; when there is no room, the one that has not been written
// for longest is closed. What a stream is good for is the FTL's business.
#pragma once

#include <cstdint>
#include <vector>

#include "protocol/nvme.h"

namespace ssdtlm {

class Streams {
public:
    /// `most`: streams open at once, up to 255; 0: the drive has no directives.
    explicit Streams(std::uint32_t most) : most_(most) {}

    bool offered() const { return most_ != 0; }
    bool enabled() const { return enabled_; }
    std::uint32_t open() const { return static_cast<std::uint32_t>(open_.size()); }

    /// Directive Send. Status.
    std::uint16_t send(const nvme::Sqe& sqe);
    /// Directive Receive. Status; `data` is what the host is to be sent, empty when it is told in `dw0`.
    std::uint16_t receive(const nvme::Sqe& sqe, std::uint32_t& dw0, std::vector<std::uint8_t>& data);
    /// The drive's number, 1 to `most`, of the stream that a write names. Precondition: enabled, `id` not 0.
    std::uint8_t number_of(std::uint16_t id) {
        if (!open_.empty() && open_.back().id == id) return open_.back().number;  // as the write before
        return find_or_open(id);
    }
    /// Controller reset: directives are disabled, nothing is open.
    void reset();

private:
    struct Open {
        std::uint16_t id = 0;
        std::uint8_t number = 0;
    };
    std::uint32_t limit() const { return allocated_ != 0 ? allocated_ : most_; }
    std::uint8_t find_or_open(std::uint16_t id);
    std::uint8_t free_number() const;
    void close(std::uint16_t id);

    std::uint32_t most_;
    bool enabled_ = false;
    std::uint32_t allocated_ = 0;  // by the host, for the namespace
    std::vector<Open> open_;       // the one written last is the last
};

}  // namespace ssdtlm
