// SPDX-License-Identifier: Apache-2.0
// Asynchronous Event Requests held by the controller (NVMe 1.4 §5.2). The host acknowledges an event by reading the log
// page that it named; until then its type is masked. One notice and one event of the I/O command set may wait for a
// request, and for the end of the mask. An error or a warning without a request is dropped: the log has the error, and
// a lasting warning is raised again.
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
    static constexpr std::uint32_t kTypeNotice = 2;
    static constexpr std::uint32_t kTypeCommandSet = 6;
    static constexpr std::uint32_t kInfoInvalidDoorbellRegister = 0;
    static constexpr std::uint32_t kInfoInvalidDoorbellValue = 1;
    static constexpr std::uint32_t kInfoReliability = 0;  ///< SMART; read-only media is one of its causes
    static constexpr std::uint32_t kInfoTemperature = 1;
    static constexpr std::uint32_t kInfoSpare = 2;
    static constexpr std::uint32_t kInfoNamespaces = 0;  ///< of a notice
    static constexpr std::uint32_t kInfoSanitized = 1;   ///< of the command set

    struct Event {
        std::uint32_t type = 0;
        std::uint32_t info = 0;
        std::uint8_t log = nvme::kLogError;  ///< log page that says more

        std::uint32_t dw0() const { return type | info << 8 | std::uint32_t{log} << 16; }
    };

    /// Returns false if the limit of held requests is reached (status 1/05h).
    bool hold(std::uint16_t cid) {
        if (count_ == held_.size()) return false;
        held_[count_++] = cid;
        return true;
    }
    std::uint32_t held() const { return count_; }

    /// Returns true if request `cid` must be completed with result `dw0`. The type then stays masked until its log page
    /// is read.
    bool raise(const Event& event, std::uint16_t& cid, std::uint32_t& dw0) {
        const bool waits = event.type == kTypeNotice || event.type == kTypeCommandSet;
        if (count_ == 0 || is_masked(event.type)) {
            if (waits) {
                waiting_[event.type] = event;
                waits_ |= 1u << event.type;
            }
            return false;
        }
        masked_ |= 1u << event.type;
        log_[event.type] = event.log;
        cid = held_[0];
        remove(0);
        dw0 = event.dw0();
        return true;
    }
    /// Raises an error or a warning.
    bool raise(std::uint32_t type, std::uint32_t info, std::uint16_t& cid, std::uint32_t& dw0) {
        return raise({type, info, type == kTypeSmart ? nvme::kLogSmart : nvme::kLogError}, cid, dw0);
    }
    /// Raises an event that has waited, if there is a request for it now.
    bool raise_waiting(std::uint16_t& cid, std::uint32_t& dw0) {
        for (std::uint32_t type = 0; waits_ != 0 && type < kTypes; ++type) {
            if ((waits_ >> type & 1) == 0 || is_masked(type) || count_ == 0) continue;
            waits_ &= ~(1u << type);
            return raise(waiting_[type], cid, dw0);
        }
        return false;
    }
    /// The log page was read with RAE = 0.
    void log_read(std::uint8_t lid) {
        for (std::uint32_t type = 0; type < kTypes; ++type)
            if (is_masked(type) && log_[type] == lid) masked_ &= ~(1u << type);
    }
    /// Removes a held request. Returns false if it is not held.
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
        waits_ = 0;
    }

private:
    static constexpr std::uint32_t kTypes = 8;  // three bits
    bool is_masked(std::uint32_t type) const { return (masked_ >> type & 1) != 0; }
    void remove(std::uint32_t at) {
        std::copy(held_.begin() + at + 1, held_.begin() + count_, held_.begin() + at);
        --count_;
    }

    std::array<std::uint16_t, kAsyncEventLimit + 1> held_{};
    std::uint32_t count_ = 0;
    std::uint32_t masked_ = 0;
    std::array<std::uint8_t, kTypes> log_{};
    std::array<Event, kTypes> waiting_{};
    std::uint32_t waits_ = 0;
};

}  // namespace ssdtlm
