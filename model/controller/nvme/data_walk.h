// SPDX-License-Identifier: Apache-2.0
// Finds the data of a command from its data pointer: PRPs, or an SGL if PSDT says so.
#pragma once

#include <cstdint>

#include "controller/nvme/prp.h"
#include "controller/nvme/sgl.h"

namespace ssdtlm {

class DataWalk {
public:
    /// For `to_host`, see SglWalk. The other parameters are those of PrpWalk.
    WalkStep start(const nvme::Sqe& sqe, std::uint64_t bytes, bool to_host, HostData& data) {
        if (__builtin_expect(sqe.psdt() == 0, 1)) return prp_.start(sqe.prp1, sqe.prp2, bytes, data);
        is_sgl_ = true;
        return sgl_.start(nvme::sgl_of(sqe), bytes, to_host, data);
    }
    WalkStep feed(const std::uint8_t* list, HostData& data) {
        return is_sgl_ ? sgl_.feed(list, data) : prp_.feed(list, data);
    }
    std::uint64_t list_address() const { return is_sgl_ ? sgl_.list_address() : prp_.list_address(); }
    std::uint32_t list_bytes() const { return is_sgl_ ? sgl_.list_bytes() : prp_.list_bytes(); }
    /// Status with which the walk was refused.
    std::uint16_t status() const { return is_sgl_ ? sgl_.status() : nvme::kStInvalidPrpOffset; }

private:
    PrpWalk prp_;
    SglWalk sgl_;
    bool is_sgl_ = false;
};

}  // namespace ssdtlm
