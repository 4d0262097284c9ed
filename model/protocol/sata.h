// SPDX-License-Identifier: Apache-2.0
// What goes over a Serial ATA link, as both ends see it: frame information structures (FIS) and what a frame costs on
// the wire. Facts only: no state, no policy.
// Sources: Serial ATA Revision 3.0, 10.3 (FIS types and layouts) and 7.4, 9.4 (primitives, frames); those marked
// "assumed" are not in the specification.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string>

namespace ssdtlm::sata {

/// First byte of each FIS (Serial ATA 3.0, 10.3.1).
enum class FisType : std::uint8_t {
    register_h2d = 0x27,
    register_d2h = 0x34,
    dma_activate = 0x39,
    dma_setup = 0x41,
    data = 0x46,
    bist = 0x58,  ///< known, and refused
    pio_setup = 0x5F,
    set_device_bits = 0xA1
};

/// Bytes of each FIS, header included, CRC excluded. Data: its header of one dword.
inline constexpr std::uint32_t kRegisterBytes = 20;
inline constexpr std::uint32_t kDmaActivateBytes = 4;
inline constexpr std::uint32_t kDmaSetupBytes = 28;
inline constexpr std::uint32_t kDataHeaderBytes = 4;
inline constexpr std::uint32_t kMostDataBytes = 8192;  ///< payload of one Data FIS (2,048 dwords)
inline constexpr std::uint32_t kPioSetupBytes = 20;
inline constexpr std::uint32_t kSetDeviceBitsBytes = 8;

/// CRC, SOF and EOF of a frame, a dword each.
inline constexpr std::uint32_t kFrameDwords = 3;
/// Primitives around a frame that no other frame can share: X_RDY and R_RDY before it, WTRM, R_IP and R_OK behind it,
/// with the turn-around of a half-duplex link. Ten dwords: assumed (experiments of the model's users, not the
/// specification).
inline constexpr std::uint32_t kHandshakeDwords = 10;
/// Bytes on the wire of a frame whose FIS has this many bytes (a multiple of 4), the handshake included.
constexpr std::uint32_t wire_bytes(std::uint32_t fis_bytes) {
    return fis_bytes + 4 * (kFrameDwords + kHandshakeDwords);
}

/// CRC-32 of a frame's dwords: polynomial 04C11DB7h, seed 52325032h, not reflected (Serial ATA 3.0, 9.5).
constexpr std::uint32_t crc(const std::uint8_t* bytes, std::uint32_t count) {
    std::uint32_t crc = 0x52325032;
    for (std::uint32_t at = 0; at + 4 <= count; at += 4) {
        crc ^= static_cast<std::uint32_t>(bytes[at]) | static_cast<std::uint32_t>(bytes[at + 1]) << 8 |
               static_cast<std::uint32_t>(bytes[at + 2]) << 16 | static_cast<std::uint32_t>(bytes[at + 3]) << 24;
        for (int bit = 0; bit < 32; ++bit) crc = crc << 1 ^ ((crc >> 31) != 0 ? 0x04C11DB7u : 0u);
    }
    return crc;
}

/// Register FIS, host to device. Fields that 48-bit commands use twice are whole here.
struct RegisterH2d {
    bool command_update = true;  ///< C: a command; else the control register (software reset)
    std::uint8_t command = 0;
    std::uint16_t features = 0;  ///< of a queued command: the count of sectors
    std::uint64_t lba = 0;       ///< 48 bits
    std::uint8_t device = 0x40;  ///< bit 6: LBA; of a queued command also bit 7: FUA
    std::uint16_t count = 0;     ///< of a queued command: bits 7 to 3 are its tag, bits 15 and 14 its priority
    std::uint8_t control = 0;    ///< bit 2: SRST

    std::array<std::uint8_t, kRegisterBytes> bytes() const;
    static RegisterH2d from(const std::uint8_t* fis);
};

/// Register FIS, device to host.
struct RegisterD2h {
    bool interrupt = true;
    std::uint8_t status = 0;
    std::uint8_t error = 0;
    std::uint64_t lba = 0;
    std::uint8_t device = 0;
    std::uint16_t count = 0;

    std::array<std::uint8_t, kRegisterBytes> bytes() const;
    static RegisterD2h from(const std::uint8_t* fis);
};

/// First-party DMA Setup, device to host.
struct DmaSetup {
    std::uint8_t tag = 0;
    bool to_host = true;  ///< D
    bool interrupt = false;
    bool auto_activate = false;        ///< of a write: the host sends its first Data FIS without a DMA Activate
    std::uint32_t buffer_offset = 0;   ///< bytes, a multiple of 4
    std::uint32_t transfer_bytes = 0;  ///< even

    std::array<std::uint8_t, kDmaSetupBytes> bytes() const;
    static DmaSetup from(const std::uint8_t* fis);
};

/// PIO Setup, device to host: one Data FIS follows.
struct PioSetup {
    bool to_host = true;
    bool interrupt = true;
    std::uint8_t status = 0;  ///< before the data
    std::uint8_t error = 0;
    std::uint64_t lba = 0;
    std::uint8_t device = 0;
    std::uint16_t count = 0;
    std::uint8_t end_status = 0;  ///< behind them
    std::uint16_t transfer_bytes = 0;

    std::array<std::uint8_t, kPioSetupBytes> bytes() const;
    static PioSetup from(const std::uint8_t* fis);
};

/// Set Device Bits, device to host: tags that have ended.
struct SetDeviceBits {
    bool interrupt = true;
    std::uint8_t status = 0;  ///< bits 6 to 4 and 2 to 0 only: BSY and DRQ do not change
    std::uint8_t error = 0;
    std::uint32_t active = 0;  ///< a bit for each tag that has ended: SActive loses it

    std::array<std::uint8_t, kSetDeviceBitsBytes> bytes() const;
    static SetDeviceBits from(const std::uint8_t* fis);
};

/// DMA Activate, device to host: the host sends its next Data FIS.
std::array<std::uint8_t, kDmaActivateBytes> dma_activate();
/// The first dword of a Data FIS, of either direction.
std::array<std::uint8_t, kDataHeaderBytes> data_header();

/// Null when these bytes are a FIS of the model: known type, right length; else what is wrong with them.
const char* fis_problem(const std::uint8_t* bytes, std::uint32_t count);
/// Name and fields in one line, for dumps, messages and waves.
std::string describe(const std::uint8_t* bytes, std::uint32_t count);

}  // namespace ssdtlm::sata
