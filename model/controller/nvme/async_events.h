// SPDX-License-Identifier: Apache-2.0
// Asynchronous Event Requests held by the controller (NVMe 1.4 §5.2). An event without a request to carry it, or of a
// type whose last event the host has not acknowledged, is dropped; nothing is queued.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "controller/nvme/identify.h"
#include "protocol/nvme.h"

namespace ssdtlm {

class AsyncEvents {
public:
    static constexpr std::uint32_t kTypeError = 0;
    static constexpr std::uint32_t kTypeSmart = 1;
    static constexpr std::uint32_t kInfoInvalidDoorbellRegister = 0;
    static constexpr std::uint32_t kInfoInvalidDoorbellValue = 1;
    static constexpr std::uint32_t kInfoReliability = 0;  ///< read-only media among its causes
    static constexpr std::uint32_t kInfoTemperature = 1;
    static constexpr std::uint32_t kInfoSpare = 2;

    /// False: the limit is reached (status 1/05h).
    bool hold(std::uint16_t cid) {
        if (count_ == held_.size()) return false;
        held_[count_++] = cid;
        return true;
    }
    std::uint32_t held() const { return count_; }

    /// True: complete request `cid` with result `dw0`. The type stays masked until its log page is read.
    bool raise(std::uint32_t type, std::uint32_t info, std::uint16_t& cid, std::uint32_t& dw0) {
        if (count_ == 0 || (masked_ >> type & 1) != 0) return false;
        masked_ |= 1u << type;
        cid = held_[0];
        remove(0);
        dw0 = type | info << 8 | std::uint32_t{log_of(type)} << 16;
        return true;
    }
    /// The log page was read with RAE = 0.
    void log_read(std::uint8_t lid) {
        for (const std::uint32_t type : {kTypeError, kTypeSmart})
            if (log_of(type) == lid) masked_ &= ~(1u << type);
    }
    /// True: the request was held and is now removed.
    bool abort(std::uint16_t cid) {
        for (std::uint32_t i = 0; i < count_; ++i) {
            if (held_[i] != cid) continue;
            remove(i);
            return true;
        }
        return false;
    }
    void reset() {
        count_ = 0;
        masked_ = 0;
    }

private:
    static std::uint8_t log_of(std::uint32_t type) { return type == kTypeSmart ? nvme::kLogSmart : nvme::kLogError; }
    void remove(std::uint32_t at) {
        std::copy(held_.begin() + at + 1, held_.begin() + count_, held_.begin() + at);
        --count_;
    }

    std::array<std::uint16_t, kAsyncEventLimit + 1> held_{};
    std::uint32_t count_ = 0;
    std::uint32_t masked_ = 0;
};

}  // namespace ssdtlm
