// SPDX-License-Identifier: Apache-2.0
// The Streams directive (NVMe 1.4 §9.3) of the only namespace: whether it is enabled, how many streams may be open, and
// which are. A write that names a stream opens it. If there is no room, the stream with the oldest write is closed. The
// FTL decides how streams affect the placement.
#pragma once

#include <cstdint>
#include <vector>

#include "protocol/nvme.h"

namespace ssdtlm {

class Streams {
public:
    /// `most` is the number of streams open at once, up to 255. With 0 the drive has no directives.
    explicit Streams(std::uint32_t most) : most_(most) {}

    bool offered() const { return most_ != 0; }
    bool enabled() const { return enabled_; }
    std::uint32_t open() const { return static_cast<std::uint32_t>(open_.size()); }

    /// Carries out Directive Send and returns the status.
    std::uint16_t send(const nvme::Sqe& sqe);
    /// Carries out Directive Receive and returns the status. `data` is what the host is to be sent. It is empty if
    /// `dw0` holds the answer.
    std::uint16_t receive(const nvme::Sqe& sqe, std::uint32_t& dw0, std::vector<std::uint8_t>& data);
    /// Returns the drive's number, 1 to `most`, of the stream that a write names. Precondition: enabled, and `id` is
    /// not 0.
    std::uint8_t number_of(std::uint16_t id) {
        if (!open_.empty() && open_.back().id == id) return open_.back().number;  // the stream of the write before
        return find_or_open(id);
    }
    /// Carries out a controller reset, which disables directives and closes all streams.
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
    std::uint32_t allocated_ = 0;  // number of streams allocated by the host for the namespace
    std::vector<Open> open_;       // ordered by last write, the newest at the end
};

}  // namespace ssdtlm
