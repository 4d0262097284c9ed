// SPDX-License-Identifier: Apache-2.0
// A workload of one's own.
#pragma once

#include "host_pcie/ports/host_request.h"

/// 1000 reads of 4 KiB, one after the other.
class Reads final : public ssdtlm::Workload {
public:
    Next next(ssdtlm::SimTime) override {
        if (busy_) return {State::blocked, {}, {}};
        if (issued_ == 1000) return {State::done, {}, {}};
        busy_ = true;
        Next n{State::ready, {}, {}};
        n.request.op = ssdtlm::HostOp::read;
        n.request.offset = issued_++ * 4096;
        n.request.bytes = 4096;
        return n;
    }
    void completed(const ssdtlm::HostRequest&, ssdtlm::SimTime, ssdtlm::SimTime, ssdtlm::SimTime, bool) override {
        busy_ = false;
    }
    std::uint32_t jobs() const override { return 1; }
    std::uint32_t depth(std::uint32_t) const override { return 1; }
    double progress(ssdtlm::SimTime) const override { return static_cast<double>(issued_) / 1000; }
    bool measuring(const ssdtlm::HostRequest&, ssdtlm::SimTime) const override { return true; }

private:
    std::uint64_t issued_ = 0;
    bool busy_ = false;
};
