// SPDX-License-Identifier: Apache-2.0
#include "host_vfio/pci_config_space.h"

#include <algorithm>

namespace ssdtlm::vfio {

namespace {

/// Returns the code of a size of 128 << code bytes (Device Capabilities and Device Control).
std::uint32_t size_code(std::uint32_t bytes) {
    std::uint32_t code = 0;
    while (code < 5 && 128u << code < bytes) ++code;
    return code;
}

}  // namespace

PciConfigSpace::PciConfigSpace(const PciFacts& facts) : facts_(facts) {
    reset();
}

void PciConfigSpace::set16(std::uint32_t offset, unsigned value) {
    set8(offset, value & 0xFF);
    set8(offset + 1, value >> 8 & 0xFF);
}
void PciConfigSpace::set32(std::uint32_t offset, std::uint32_t value) {
    set16(offset, value & 0xFFFF);
    set16(offset + 2, value >> 16);
}
void PciConfigSpace::allow16(std::uint32_t offset, unsigned mask) {
    writable_[offset] = static_cast<std::uint8_t>(mask);
    writable_[offset + 1] = static_cast<std::uint8_t>(mask >> 8);
}
void PciConfigSpace::allow32(std::uint32_t offset, std::uint32_t mask) {
    allow16(offset, mask & 0xFFFF);
    allow16(offset + 2, mask >> 16);
}

void PciConfigSpace::reset() {
    bytes_.fill(0);
    writable_.fill(0);
    set16(0x00, facts_.vendor);
    set16(0x02, facts_.device);
    allow16(kCommand, 0x0446);  // memory, bus master, parity error response, INTx disable
    set16(kStatus, 0x0010);     // there is a list of capabilities
    set8(0x08, 1);              // revision
    set8(0x09, 0x02);           // NVMe I/O controller: class 010802h
    set8(0x0A, 0x08);
    set8(0x0B, 0x01);
    allow16(0x0C, 0x00FF);  // cache line size: no effect
    set32(0x10, 0x4);       // 64 bits, not prefetchable
    allow32(0x10, ~(facts_.bar_bytes - 1) & ~0xFu);
    allow32(0x14, ~0u);
    set16(0x2C, facts_.vendor);
    set16(0x2E, facts_.device);
    set8(0x34, kPmCap);
    allow16(0x3C, 0x00FF);  // interrupt line
    set8(0x3D, 1);          // INTA

    set16(kPmCap, 0x01 | kExpCap << 8);
    set16(kPmCap + 2, 0x0003);  // version 3
    set16(kPmCap + 4, 0x0008);  // D0; the state is kept from D3hot to D0
    allow16(kPmCap + 4, 0x0003);

    const std::uint32_t payload = size_code(facts_.max_payload_bytes);
    set16(kExpCap, 0x10 | kMsixCap << 8);
    set16(kExpCap + 0x02, 0x0002);                                   // version 2, endpoint
    set32(kExpCap + 0x04, payload | 1u << 5 | 1u << 15 | 1u << 28);  // extended tags, role-based errors, FLR
    set16(kExpCap + 0x08, size_code(facts_.max_read_request_bytes) << 12 | 1u << 4 | 1u << 8 | 1u << 11);
    allow16(kExpCap + 0x08, 0x7FFF);
    const std::uint32_t link = facts_.generation | facts_.lanes << 4;
    set32(kExpCap + 0x0C, link);
    allow16(kExpCap + 0x10, 0x01CB);  // ASPM, read completion boundary, common clock, extended synch: no effect
    set16(kExpCap + 0x12, link);
    set32(kExpCap + 0x24, 1u << 4);  // the completion timeout can be switched off
    allow16(kExpCap + 0x28, 0x001F);
    set32(kExpCap + 0x2C, ((1u << facts_.generation) - 1) << 1);  // speeds
    set16(kExpCap + 0x30, facts_.generation);
    allow16(kExpCap + 0x30, 0x000F);

    set16(kMsixCap, 0x11);
    set16(kMsixCap + 2, facts_.vectors - 1);
    allow16(kMsixCap + 2, 0xC000);
    set32(kMsixCap + 4, facts_.table_offset);  // in BAR0
    set32(kMsixCap + 8, facts_.pba_offset);
}

void PciConfigSpace::reset_function() {
    constexpr unsigned kMaxPayload = 7u << 5;
    const unsigned device_control = at16(kExpCap + 0x08), link_control = at16(kExpCap + 0x10);
    const unsigned target_speed = at16(kExpCap + 0x30);  // a sticky register
    reset();
    set16(kExpCap + 0x08, (at16(kExpCap + 0x08) & ~kMaxPayload) | (device_control & kMaxPayload));
    set16(kExpCap + 0x10, link_control);
    set16(kExpCap + 0x30, target_speed);
}

void PciConfigSpace::read(std::uint32_t offset, std::uint8_t* to, std::uint32_t bytes) const {
    for (std::uint32_t i = 0; i < bytes; ++i) {
        const std::uint64_t at = std::uint64_t{offset} + i;
        to[i] = at < bytes_.size() ? bytes_[at] : at < kBytes ? std::uint8_t{0} : std::uint8_t{0xFF};
    }
}

PciConfigSpace::Asked PciConfigSpace::write(std::uint32_t offset, const std::uint8_t* from, std::uint32_t bytes) {
    Asked asked;
    for (std::uint32_t i = 0; i < bytes; ++i) {
        const std::uint64_t at = std::uint64_t{offset} + i;
        if (at >= bytes_.size()) break;
        const std::uint8_t mask = writable_[at];
        bytes_[at] = static_cast<std::uint8_t>((bytes_[at] & ~mask) | (from[i] & mask));
        // Initiate Function Level Reset always reads as 0.
        if (at == kExpCap + 0x09 && (from[i] & 0x80) != 0) asked.reset = true;
    }
    return asked;
}

void PciConfigSpace::set_intx(bool asserted) {
    bytes_[kStatus] = static_cast<std::uint8_t>((bytes_[kStatus] & ~8u) | (asserted ? 8u : 0u));
}

}  // namespace ssdtlm::vfio
