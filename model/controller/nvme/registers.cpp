// SPDX-License-Identifier: Apache-2.0
#include "controller/nvme/registers.h"

#include <algorithm>
#include <utility>

namespace ssdtlm {

using namespace nvme;

NvmeRegisters::NvmeRegisters(const NvmeConfig& config, Ps scan_time) {
    // CAP.TO is in units of 500 ms. It is rounded up and at least 1, so that a driver's limit is never zero.
    const std::uint64_t half_seconds =
        div_ceil(static_cast<std::uint64_t>((config.ready_time + scan_time).count()), 500'000'000'000u);
    const std::uint64_t to = std::clamp<std::uint64_t>(half_seconds, 1, 255);
    cap_ = std::uint64_t{config.max_queue_entries - 1} | Cap::kCqr | to << Cap::kToShift | Cap::kCssNvm;
    if (config.weighted_round_robin) cap_ |= Cap::kAmsWeighted;
}

std::uint64_t NvmeRegisters::read(std::uint32_t offset, std::uint32_t bytes) const {
    if ((bytes != 4 && bytes != 8) || offset % bytes != 0) return 0;
    std::uint64_t value = read_dword(offset);
    if (bytes == 8) value |= std::uint64_t{read_dword(offset + 4)} << 32;
    return value;
}

std::uint32_t NvmeRegisters::read_dword(std::uint32_t offset) const {
    switch (offset) {
        case kRegCap:
            return static_cast<std::uint32_t>(cap_);
        case kRegCap + 4:
            return static_cast<std::uint32_t>(cap_ >> 32);
        case kRegVs:
            return kVersion14;
        case kRegIntms:
        case kRegIntmc:
            return interrupt_mask_;
        case kRegCc:
            return cc_;
        case kRegCsts:
            return csts_;
        case kRegAqa:
            return aqa_;
        case kRegAsq:
            return static_cast<std::uint32_t>(asq_);
        case kRegAsq + 4:
            return static_cast<std::uint32_t>(asq_ >> 32);
        case kRegAcq:
            return static_cast<std::uint32_t>(acq_);
        case kRegAcq + 4:
            return static_cast<std::uint32_t>(acq_ >> 32);
        default:
            return 0;  // NSSR reads 0; CMB, PMR and boot partitions are absent
    }
}

NvmeRegisters::Action NvmeRegisters::write(std::uint32_t offset, std::uint32_t bytes, std::uint64_t value) {
    if ((bytes != 4 && bytes != 8) || offset % bytes != 0) return Action::none;
    Action action = write_dword(offset, static_cast<std::uint32_t>(value));
    if (bytes == 8) {
        const Action high = write_dword(offset + 4, static_cast<std::uint32_t>(value >> 32));
        if (high != Action::none) action = high;  // only the dword with CC acts
    }
    return action;
}

NvmeRegisters::Action NvmeRegisters::write_dword(std::uint32_t offset, std::uint32_t value) {
    // The admin queue registers may change only while the controller is disabled (§3.1.8). Other writes are ignored.
    const bool disabled = !Cc::en(cc_);
    const auto low = [value](std::uint64_t r) { return (r & ~0xFFFFFFFFull) | value; };
    const auto high = [value](std::uint64_t r) { return (r & 0xFFFFFFFFull) | std::uint64_t{value} << 32; };
    switch (offset) {
        case kRegIntms:
            interrupt_mask_ |= value;
            break;
        case kRegIntmc:
            interrupt_mask_ &= ~value;
            break;
        case kRegCc:
            return write_cc(value);
        case kRegAqa:
            if (disabled) aqa_ = value & 0x0FFF0FFFu;
            break;
        case kRegAsq:
            if (disabled) asq_ = low(asq_);
            break;
        case kRegAsq + 4:
            if (disabled) asq_ = high(asq_);
            break;
        case kRegAcq:
            if (disabled) acq_ = low(acq_);
            break;
        case kRegAcq + 4:
            if (disabled) acq_ = high(acq_);
            break;
        default:
            break;
    }
    return Action::none;
}

NvmeRegisters::Action NvmeRegisters::write_cc(std::uint32_t value) {
    constexpr std::uint32_t kWritable = 0x00FFFFF1u;
    // CSS, MPS and AMS cannot change while the controller is enabled.
    constexpr std::uint32_t kFrozen = 7u << 4 | 15u << 7 | 7u << 11;
    const std::uint32_t before = cc_;
    const bool was_enabled = Cc::en(before);
    cc_ = was_enabled && Cc::en(value) ? (value & kWritable & ~kFrozen) | (before & kFrozen) : value & kWritable;

    if (was_enabled && !Cc::en(value)) {
        stopping_ = true;
        shuts_down_next_ = false;
        return Action::disable;
    }
    if (!was_enabled && Cc::en(value)) return stopping_ ? Action::none : try_enable();
    if (Cc::shn(value) == 0) {
        csts_ &= ~Csts::kShstMask;
        shuts_down_next_ = false;
    } else if (Cc::shn(before) == 0) {
        csts_ = (csts_ & ~Csts::kShstMask) | Csts::kShstOccurring;
        shuts_down_next_ = stopping_;
        return Action::shutdown;
    }
    return Action::none;
}

NvmeRegisters::Action NvmeRegisters::try_enable() {
    const bool arbitration = Cc::ams(cc_) == 0 || (Cc::ams(cc_) == Cc::kAmsWeighted && (cap_ & Cap::kAmsWeighted) != 0);
    const bool good = arbitration && Cc::mps(cc_) >= Cap::mps_min(cap_) && Cc::mps(cc_) <= Cap::mps_max(cap_) &&
                      Cc::css(cc_) == 0 && (asq_ & kPageMask) == 0 && (acq_ & kPageMask) == 0 && Aqa::asqs(aqa_) != 0 &&
                      Aqa::acqs(aqa_) != 0;
    if (good) return Action::enable;
    fatal();
    return Action::none;
}

void NvmeRegisters::ready() {
    csts_ |= Csts::kReady;
}

void NvmeRegisters::reset_function() {
    cc_ = csts_ = aqa_ = interrupt_mask_ = 0;
    asq_ = acq_ = 0;
    stopping_ = true;
    shuts_down_next_ = false;
}

NvmeRegisters::Action NvmeRegisters::stopped() {
    stopping_ = false;
    csts_ = std::exchange(shuts_down_next_, false) ? Csts::kShstOccurring : 0;
    return Cc::en(cc_) ? try_enable() : Action::none;
}

void NvmeRegisters::shutdown_complete() {
    if (!is_shutting_down()) return;  // the host has cleared SHN
    csts_ = (csts_ & ~Csts::kShstMask) | Csts::kShstComplete;
}

}  // namespace ssdtlm
