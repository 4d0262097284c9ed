// SPDX-License-Identifier: Apache-2.0
// Serial ATA AHCI: registers of a host bus adapter (HBA) in its memory space (ABAR), and what lies in host memory:
// command list, command tables, received FIS. Facts only: no state, no policy. One port is what the model has; the
// registers of more would follow it.
// Sources: Serial ATA AHCI 1.3.1, by section. Names are those of the specification.
#pragma once

#include <cstdint>

namespace ssdtlm::ahci {

// --- Generic host control (3.1) ---

inline constexpr std::uint32_t kRegCap = 0x00;       // 3.1.1
inline constexpr std::uint32_t kRegGhc = 0x04;       // 3.1.2
inline constexpr std::uint32_t kRegIs = 0x08;        // 3.1.3, a bit for each port; write 1 to clear
inline constexpr std::uint32_t kRegPi = 0x0C;        // 3.1.4
inline constexpr std::uint32_t kRegVs = 0x10;        // 3.1.5
inline constexpr std::uint32_t kRegCccCtl = 0x14;    // 3.1.6
inline constexpr std::uint32_t kRegCccPorts = 0x18;  // 3.1.7
inline constexpr std::uint32_t kRegCap2 = 0x24;      // 3.1.10
inline constexpr std::uint32_t kVersion131 = 0x00010301;

struct Cap {
    static constexpr std::uint32_t kNpMask = 0x1F;             ///< ports, less one
    static constexpr std::uint32_t kCccs = 1u << 7;            ///< command completion coalescing
    static constexpr unsigned kNcsShift = 8;                   ///< command slots, less one
    static constexpr std::uint32_t kSam = 1u << 18;            ///< AHCI only
    static constexpr unsigned kIssShift = 20;                  ///< speed: 1, 2, 3 for 1.5, 3, 6 Gb/s
    static constexpr std::uint32_t kSclo = 1u << 24;           ///< PxCMD.CLO
    static constexpr std::uint32_t kSss = 1u << 27;            ///< staggered spin-up: PxCMD.SUD is the driver's
    static constexpr std::uint32_t kSncq = 1u << 30;           ///< native command queueing
    static constexpr std::uint32_t kS64a = 1u << 31;           ///< 64-bit addresses
    static constexpr std::uint32_t slots(std::uint32_t cap) {  // NCS + 1
        return (cap >> kNcsShift & 0x1F) + 1;
    }
};

struct Ghc {
    static constexpr std::uint32_t kHr = 1u << 0;   ///< reset of the HBA; reads 1 until it is done
    static constexpr std::uint32_t kIe = 1u << 1;   ///< interrupts
    static constexpr std::uint32_t kAe = 1u << 31;  ///< AHCI enable; always 1 with CAP.SAM
};

struct CccCtl {
    static constexpr std::uint32_t kEn = 1u << 0;
    static constexpr unsigned kIntShift = 3;  ///< bit of IS that a coalesced interrupt sets; read only
    static constexpr unsigned kCcShift = 8;   ///< command completions; 0: timeout only
    static constexpr unsigned kTvShift = 16;  ///< timeout in ms, at least 1
    static constexpr std::uint32_t of(std::uint32_t completions, std::uint32_t ms) {
        return ms << kTvShift | completions << kCcShift | kEn;
    }
    static constexpr std::uint32_t completions(std::uint32_t r) { return r >> kCcShift & 0xFF; }
    static constexpr std::uint32_t milliseconds(std::uint32_t r) { return r >> kTvShift; }
};

// --- Registers of a port (3.3), from 100h on, 80h each ---

inline constexpr std::uint32_t kPortBase = 0x100;
inline constexpr std::uint32_t kPortBytes = 0x80;
inline constexpr std::uint32_t port_register(std::uint32_t offset) {
    return kPortBase + offset;
}
inline constexpr std::uint32_t kPxClb = 0x00;
inline constexpr std::uint32_t kPxClbu = 0x04;
inline constexpr std::uint32_t kPxFb = 0x08;
inline constexpr std::uint32_t kPxFbu = 0x0C;
inline constexpr std::uint32_t kPxIs = 0x10;
inline constexpr std::uint32_t kPxIe = 0x14;
inline constexpr std::uint32_t kPxCmd = 0x18;
inline constexpr std::uint32_t kPxTfd = 0x20;
inline constexpr std::uint32_t kPxSig = 0x24;
inline constexpr std::uint32_t kPxSsts = 0x28;
inline constexpr std::uint32_t kPxSctl = 0x2C;
inline constexpr std::uint32_t kPxSerr = 0x30;
inline constexpr std::uint32_t kPxSact = 0x34;
inline constexpr std::uint32_t kPxCi = 0x38;

/// PxIS and PxIE (3.3.5, 3.3.6).
struct PxIs {
    static constexpr std::uint32_t kDhrs = 1u << 0;   ///< D2H Register FIS with I
    static constexpr std::uint32_t kPss = 1u << 1;    ///< PIO Setup FIS with I, and its data
    static constexpr std::uint32_t kDss = 1u << 2;    ///< DMA Setup FIS with I
    static constexpr std::uint32_t kSdbs = 1u << 3;   ///< Set Device Bits FIS with I
    static constexpr std::uint32_t kUfs = 1u << 4;    ///< unknown FIS: PxSERR.DIAG.F
    static constexpr std::uint32_t kPcs = 1u << 6;    ///< port connect change: PxSERR.DIAG.X
    static constexpr std::uint32_t kPrcs = 1u << 22;  ///< PhyRdy change: PxSERR.DIAG.N
    static constexpr std::uint32_t kOfs = 1u << 24;   ///< overflow: more data than the PRDT has room for
    static constexpr std::uint32_t kInfs = 1u << 26;  ///< interface, not fatal
    static constexpr std::uint32_t kIfs = 1u << 27;   ///< interface, fatal
    static constexpr std::uint32_t kHbds = 1u << 28;  ///< host bus data error
    static constexpr std::uint32_t kHbfs = 1u << 29;  ///< host bus fatal error
    static constexpr std::uint32_t kTfes = 1u << 30;  ///< task file error: ERR in a status
    static constexpr std::uint32_t kFatal = kIfs | kHbds | kHbfs | kTfes;  // 6.1: the port stops
    static constexpr std::uint32_t kBySerr = kUfs | kPcs | kPrcs;          // read only: they follow PxSERR
    static constexpr std::uint32_t kWritable = kDhrs | kPss | kDss | kSdbs | kOfs | kInfs | kFatal;
    static constexpr std::uint32_t kAll = kWritable | kBySerr;
};

/// PxCMD (3.3.7).
struct PxCmd {
    static constexpr std::uint32_t kSt = 1u << 0;   ///< commands are carried out
    static constexpr std::uint32_t kSud = 1u << 1;  ///< spin up: COMRESET when it is set
    static constexpr std::uint32_t kPod = 1u << 2;  ///< power on; read only 1 here (no cold presence detect)
    static constexpr std::uint32_t kClo = 1u << 3;  ///< command list override: clears BSY and DRQ, then itself
    static constexpr std::uint32_t kFre = 1u << 4;  ///< received FISes go to memory
    static constexpr unsigned kCcsShift = 8;        ///< current command slot
    static constexpr std::uint32_t kFr = 1u << 14;  ///< they do
    static constexpr std::uint32_t kCr = 1u << 15;  ///< the command list is running
};

/// PxTFD: status in bits 7 to 0, error in 15 to 8 (3.3.8).
struct Tfd {
    static constexpr std::uint32_t kErr = 1u << 0;
    static constexpr std::uint32_t kDrq = 1u << 3;
    static constexpr std::uint32_t kBsy = 1u << 7;
    static constexpr std::uint32_t kReset = 0x7F;  ///< before the device has told its status
};

/// PxSSTS and PxSCTL (3.3.10, 3.3.11).
struct Phy {
    static constexpr std::uint32_t kDetMask = 0xF;
    static constexpr std::uint32_t kDetNone = 0;
    static constexpr std::uint32_t kDetPresent = 1;  ///< PxSSTS: a device, and no communication yet
    static constexpr std::uint32_t kDetReady = 3;    ///< PxSSTS: communication
    static constexpr std::uint32_t kDetReset = 1;    ///< PxSCTL: COMRESET as long as it stands
    static constexpr std::uint32_t kDetOffline = 4;  ///< PxSCTL: the phy is off
    static constexpr unsigned kSpdShift = 4;
    static constexpr std::uint32_t kIpmActive = 1u << 8;
    static constexpr std::uint32_t ready(std::uint32_t generation) {
        return kIpmActive | generation << kSpdShift | kDetReady;
    }
};

/// PxSERR (3.3.12).
struct Serr {
    static constexpr std::uint32_t kErrP = 1u << 10;   ///< protocol
    static constexpr std::uint32_t kErrE = 1u << 11;   ///< internal: host bus
    static constexpr std::uint32_t kDiagN = 1u << 16;  ///< PhyRdy change
    static constexpr std::uint32_t kDiagC = 1u << 21;  ///< CRC
    static constexpr std::uint32_t kDiagH = 1u << 22;  ///< handshake: R_ERR
    static constexpr std::uint32_t kDiagF = 1u << 25;  ///< unknown FIS
    static constexpr std::uint32_t kDiagX = 1u << 26;  ///< exchanged: COMINIT
};

inline constexpr std::uint32_t kSignatureAta = 0x00000101;  // Serial ATA 3.0, 11.2: LBA 1, count 1
inline constexpr std::uint32_t kAbarBytes = kPortBase + kPortBytes;

// --- Host memory (4) ---

inline constexpr std::uint32_t kSlots = 32;
inline constexpr std::uint32_t kHeaderBytes = 32;  // 4.2.2
inline constexpr std::uint32_t kListBytes = kSlots * kHeaderBytes;
inline constexpr std::uint32_t kTableBytes = 0x80;  // 4.2.3: CFIS, ACMD and what is reserved; the PRDT follows
inline constexpr std::uint32_t kPrdBytes = 16;
inline constexpr std::uint32_t kMostPrdBytes = 4u << 20;  // 4.2.3.3, DBC
inline constexpr std::uint32_t kTableAlignment = 128;
inline constexpr std::uint32_t kListAlignment = 1024;

/// Bits of the first dword of a command header.
struct Header {
    static constexpr std::uint32_t kCflMask = 0x1F;   ///< CFIS, in dwords
    static constexpr std::uint32_t kWrite = 1u << 6;  ///< to the device
    static constexpr std::uint32_t kPrefetch = 1u << 7;
    static constexpr std::uint32_t kReset = 1u << 8;       ///< the CFIS is part of a software reset
    static constexpr std::uint32_t kClearBusy = 1u << 10;  ///< BSY goes when the device has taken the CFIS
    static constexpr unsigned kPrdtlShift = 16;
    static constexpr std::uint32_t kPrdbc = 4;  ///< offset of the count of bytes, which the HBA writes
    static constexpr std::uint32_t kCtba = 8;   ///< offset of the table's address
};

/// An entry of the physical region descriptor table: the address, then in the last dword the count of bytes less one,
/// and whether an interrupt is wanted.
struct Prd {
    static constexpr std::uint32_t kCount = 12;  ///< offset
    static constexpr std::uint32_t kDbcMask = 0x3FFFFF;
};

/// Places of received FISes in the area that PxFB names (4.2.1).
struct ReceivedFis {
    static constexpr std::uint32_t kDmaSetup = 0x00;
    static constexpr std::uint32_t kPioSetup = 0x20;
    static constexpr std::uint32_t kRegister = 0x40;
    static constexpr std::uint32_t kSetDeviceBits = 0x58;
    static constexpr std::uint32_t kUnknown = 0x60;
    static constexpr std::uint32_t kMostUnknownBytes = 64;
    static constexpr std::uint32_t kBytes = 256;
};

}  // namespace ssdtlm::ahci
