// SPDX-License-Identifier: Apache-2.0
#include "protocol/sata.h"

#include <fmt/format.h>

namespace ssdtlm::sata {

namespace {

constexpr std::uint8_t kInterrupt = 1u << 6;  // I, in byte 1 of what the device sends
constexpr std::uint8_t kToHost = 1u << 5;     // D
constexpr std::uint8_t kUpdate = 1u << 7;     // C, in byte 1 of Register, host to device; of DMA Setup: auto-activate

template <class Bytes>
void put16(Bytes& b, std::size_t at, std::uint16_t v) {
    b[at] = static_cast<std::uint8_t>(v);
    b[at + 1] = static_cast<std::uint8_t>(v >> 8);
}
template <class Bytes>
void put32(Bytes& b, std::size_t at, std::uint32_t v) {
    put16(b, at, static_cast<std::uint16_t>(v));
    put16(b, at + 2, static_cast<std::uint16_t>(v >> 16));
}
std::uint16_t get16(const std::uint8_t* b) {
    return static_cast<std::uint16_t>(b[0] | b[1] << 8);
}
std::uint32_t get32(const std::uint8_t* b) {
    return get16(b) | std::uint32_t{get16(b + 2)} << 16;
}

/// Bytes 4 to 6 are its low half, 8 to 10 its high one (10.3.4).
template <class Bytes>
void put_lba(Bytes& b, std::uint64_t lba) {
    for (std::size_t i = 0; i < 3; ++i) {
        b[4 + i] = static_cast<std::uint8_t>(lba >> (8 * i));
        b[8 + i] = static_cast<std::uint8_t>(lba >> (24 + 8 * i));
    }
}
std::uint64_t get_lba(const std::uint8_t* b) {
    std::uint64_t lba = 0;
    for (unsigned i = 0; i < 3; ++i) {
        lba |= std::uint64_t{b[4 + i]} << (8 * i);
        lba |= std::uint64_t{b[8 + i]} << (24 + 8 * i);
    }
    return lba;
}

template <class Bytes>
void begin(Bytes& b, FisType type, std::uint8_t flags) {
    b.fill(0);
    b[0] = static_cast<std::uint8_t>(type);
    b[1] = flags;
}

}  // namespace

std::array<std::uint8_t, kRegisterBytes> RegisterH2d::bytes() const {
    std::array<std::uint8_t, kRegisterBytes> b;
    begin(b, FisType::register_h2d, command_update ? kUpdate : std::uint8_t{0});
    b[2] = command;
    b[3] = static_cast<std::uint8_t>(features);
    put_lba(b, lba);
    b[7] = device;
    b[11] = static_cast<std::uint8_t>(features >> 8);
    put16(b, 12, count);
    b[15] = control;
    return b;
}

RegisterH2d RegisterH2d::from(const std::uint8_t* b) {
    RegisterH2d r;
    r.command_update = (b[1] & kUpdate) != 0;
    r.command = b[2];
    r.features = static_cast<std::uint16_t>(b[3] | b[11] << 8);
    r.lba = get_lba(b);
    r.device = b[7];
    r.count = get16(b + 12);
    r.control = b[15];
    return r;
}

std::array<std::uint8_t, kRegisterBytes> RegisterD2h::bytes() const {
    std::array<std::uint8_t, kRegisterBytes> b;
    begin(b, FisType::register_d2h, interrupt ? kInterrupt : std::uint8_t{0});
    b[2] = status;
    b[3] = error;
    put_lba(b, lba);
    b[7] = device;
    put16(b, 12, count);
    return b;
}

RegisterD2h RegisterD2h::from(const std::uint8_t* b) {
    RegisterD2h r;
    r.interrupt = (b[1] & kInterrupt) != 0;
    r.status = b[2];
    r.error = b[3];
    r.lba = get_lba(b);
    r.device = b[7];
    r.count = get16(b + 12);
    return r;
}

/// The tag is the low byte of the DMA buffer identifier (13.6.2.1).
std::array<std::uint8_t, kDmaSetupBytes> DmaSetup::bytes() const {
    std::array<std::uint8_t, kDmaSetupBytes> b;
    begin(b, FisType::dma_setup,
          static_cast<std::uint8_t>((to_host ? kToHost : 0) | (interrupt ? kInterrupt : 0) |
                                    (auto_activate ? kUpdate : 0)));
    b[4] = tag;
    put32(b, 16, buffer_offset);
    put32(b, 20, transfer_bytes);
    return b;
}

DmaSetup DmaSetup::from(const std::uint8_t* b) {
    DmaSetup s;
    s.tag = b[4];
    s.to_host = (b[1] & kToHost) != 0;
    s.interrupt = (b[1] & kInterrupt) != 0;
    s.auto_activate = (b[1] & kUpdate) != 0;
    s.buffer_offset = get32(b + 16);
    s.transfer_bytes = get32(b + 20);
    return s;
}

std::array<std::uint8_t, kPioSetupBytes> PioSetup::bytes() const {
    std::array<std::uint8_t, kPioSetupBytes> b;
    begin(b, FisType::pio_setup, static_cast<std::uint8_t>((to_host ? kToHost : 0) | (interrupt ? kInterrupt : 0)));
    b[2] = status;
    b[3] = error;
    put_lba(b, lba);
    b[7] = device;
    put16(b, 12, count);
    b[15] = end_status;
    put16(b, 16, transfer_bytes);
    return b;
}

PioSetup PioSetup::from(const std::uint8_t* b) {
    PioSetup s;
    s.to_host = (b[1] & kToHost) != 0;
    s.interrupt = (b[1] & kInterrupt) != 0;
    s.status = b[2];
    s.error = b[3];
    s.lba = get_lba(b);
    s.device = b[7];
    s.count = get16(b + 12);
    s.end_status = b[15];
    s.transfer_bytes = get16(b + 16);
    return s;
}

std::array<std::uint8_t, kSetDeviceBitsBytes> SetDeviceBits::bytes() const {
    std::array<std::uint8_t, kSetDeviceBitsBytes> b;
    begin(b, FisType::set_device_bits, interrupt ? kInterrupt : std::uint8_t{0});
    b[2] = status & 0x77;
    b[3] = error;
    put32(b, 4, active);
    return b;
}

SetDeviceBits SetDeviceBits::from(const std::uint8_t* b) {
    SetDeviceBits s;
    s.interrupt = (b[1] & kInterrupt) != 0;
    s.status = b[2] & 0x77;
    s.error = b[3];
    s.active = get32(b + 4);
    return s;
}

std::array<std::uint8_t, kDmaActivateBytes> dma_activate() {
    std::array<std::uint8_t, kDmaActivateBytes> b;
    begin(b, FisType::dma_activate, 0);
    return b;
}

std::array<std::uint8_t, kDataHeaderBytes> data_header() {
    std::array<std::uint8_t, kDataHeaderBytes> b;
    begin(b, FisType::data, 0);
    return b;
}

const char* fis_problem(const std::uint8_t* bytes, std::uint32_t count) {
    if (count < 4 || count % 4 != 0) return "a FIS is one or more whole dwords";
    std::uint32_t expected = 0;
    switch (static_cast<FisType>(bytes[0])) {
        case FisType::register_h2d:
        case FisType::register_d2h:
            expected = kRegisterBytes;
            break;
        case FisType::dma_activate:
            expected = kDmaActivateBytes;
            break;
        case FisType::dma_setup:
            expected = kDmaSetupBytes;
            break;
        case FisType::pio_setup:
            expected = kPioSetupBytes;
            break;
        case FisType::set_device_bits:
            expected = kSetDeviceBitsBytes;
            break;
        case FisType::data:
            if (count == kDataHeaderBytes) return "a Data FIS has no data";
            return count > kDataHeaderBytes + kMostDataBytes ? "a Data FIS has more than 8,192 bytes of data" : nullptr;
        case FisType::bist:
            return "a BIST Activate FIS, which the model does not have";
    }
    if (expected == 0) return "the type of the FIS is not known";
    return count == expected ? nullptr : "the FIS has not the length of its type";
}

std::string describe(const std::uint8_t* bytes, std::uint32_t count) {
    if (count == 0) return "empty frame";
    if (const char* problem = fis_problem(bytes, count))
        return fmt::format("frame of {} bytes, type {:02X}h: {}", count, bytes[0], problem);
    switch (static_cast<FisType>(bytes[0])) {
        case FisType::register_h2d: {
            const RegisterH2d r = RegisterH2d::from(bytes);
            if (!r.command_update) return fmt::format("Register H2D control={:02X}h", r.control);
            return fmt::format("Register H2D command={:02X}h features={:04X}h lba={} count={:04X}h device={:02X}h",
                               r.command, r.features, r.lba, r.count, r.device);
        }
        case FisType::register_d2h: {
            const RegisterD2h r = RegisterD2h::from(bytes);
            return fmt::format("Register D2H status={:02X}h error={:02X}h lba={} count={:04X}h{}", r.status, r.error,
                               r.lba, r.count, r.interrupt ? " I" : "");
        }
        case FisType::dma_activate:
            return "DMA Activate";
        case FisType::dma_setup: {
            const DmaSetup s = DmaSetup::from(bytes);
            return fmt::format("DMA Setup tag={} {} offset={} bytes={}{}", s.tag, s.to_host ? "to host" : "from host",
                               s.buffer_offset, s.transfer_bytes, s.auto_activate ? " A" : "");
        }
        case FisType::data:
            return fmt::format("Data bytes={}", count - kDataHeaderBytes);
        case FisType::pio_setup: {
            const PioSetup s = PioSetup::from(bytes);
            return fmt::format("PIO Setup {} status={:02X}h end_status={:02X}h bytes={}{}",
                               s.to_host ? "to host" : "from host", s.status, s.end_status, s.transfer_bytes,
                               s.interrupt ? " I" : "");
        }
        case FisType::set_device_bits: {
            const SetDeviceBits s = SetDeviceBits::from(bytes);
            return fmt::format("Set Device Bits status={:02X}h error={:02X}h active={:08X}h{}", s.status, s.error,
                               s.active, s.interrupt ? " I" : "");
        }
        case FisType::bist:
            break;
    }
    return "";
}

}  // namespace ssdtlm::sata
