// SPDX-License-Identifier: Apache-2.0
// A host of a drive that offers metadata. It makes and reads tuples itself.
#pragma once

#include <vector>

#include "unit/nvme/memory_drive.h"

namespace ssdtlm::test {

using ByteVector = std::vector<std::uint8_t>;

/// CRC-16 by division, bit by bit: not the table of the controller.
inline std::uint16_t guard_by_division(const std::uint8_t* bytes, std::size_t count) {
    std::uint32_t rest = 0;
    for (std::size_t i = 0; i < count * 8 + 16; ++i) {
        const std::uint32_t bit = i < count * 8 ? bytes[i / 8] >> (7 - i % 8) & 1u : 0;
        rest = rest << 1 | bit;
        if ((rest & 0x10000u) != 0) rest ^= 0x18BB7u;
    }
    return static_cast<std::uint16_t>(rest);
}

struct ProtectionHost : DriveBench {
    static constexpr std::uint64_t kMetadata = 0xE0000;  ///< buffer of the host
    static constexpr std::uint32_t k512 = 2, k4096 = 3;  ///< LBA formats with metadata, of a drive of 512-byte blocks

    static NvmeConfig offers() {
        NvmeConfig c = NvmeBench::small();
        c.metadata = true;
        c.sgls = true;
        return c;
    }
    explicit ProtectionHost(const NvmeConfig& c = offers()) : DriveBench(c) {
        enable();
        p = create_pair(1);
    }
    std::uint16_t format(std::uint32_t number, std::uint32_t type, bool extended = false, bool first = false) {
        lba = number % 2 == 0 ? 512 : 4096;
        is_extended = extended;
        return run_admin(admin_command(nvme::kAdminFormat, 1,
                                       number | (extended ? nvme::kFormatExtended : 0) | nvme::format_protection(type) |
                                           (first ? nvme::kFormatFirst : 0)))
            .status();
    }
    /// An entry for `count` blocks, whose metadata are at kMetadata. Extended blocks follow each other at `at`.
    nvme::Sqe entry(std::uint8_t opcode, std::uint64_t slba, std::uint32_t count, std::uint32_t prinfo = 0,
                    std::uint64_t at = kData) const {
        nvme::Sqe s = io(opcode, slba, count, at);
        s.mptr = kMetadata;
        s.cdw12 |= nvme::rw_protection(prinfo);
        s.cdw14 = static_cast<std::uint32_t>(slba);
        return s;
    }
    std::uint16_t ends(const nvme::Sqe& s) { return run(p, s).status(); }

    std::uint64_t data_of(std::uint32_t block, std::uint64_t at = kData) const {
        return at + std::uint64_t{block} * (lba + (is_extended ? 8u : 0));
    }
    std::uint64_t metadata_of(std::uint32_t block, std::uint64_t at = kData) const {
        return is_extended ? data_of(block, at) + lba : kMetadata + 8u * block;
    }
    /// Fills the data of `count` blocks, and makes their tuples as a driver does.
    void fill_blocks(std::uint32_t count, std::uint8_t first, std::uint32_t reference, std::uint16_t application = 0) {
        for (std::uint32_t b = 0; b < count; ++b) {
            fill(data_of(b), lba, static_cast<std::uint8_t>(first + b));
            put_tuple(metadata_of(b), guard_by_division(&dma.memory[data_of(b)], lba), application, reference + b);
        }
    }
    void put_tuple(std::uint64_t at, std::uint16_t guard, std::uint16_t application, std::uint32_t reference) {
        const std::uint64_t all = std::uint64_t{guard} << 48 | std::uint64_t{application} << 32 | reference;
        for (unsigned i = 0; i < 8; ++i) dma.memory[at + i] = static_cast<std::uint8_t>(all >> (56 - 8 * i));
    }
    ByteVector host_bytes(std::uint64_t at, std::size_t n) const {
        return {dma.memory.begin() + static_cast<std::ptrdiff_t>(at),
                dma.memory.begin() + static_cast<std::ptrdiff_t>(at + n)};
    }
    void clear_host() {
        std::fill(dma.memory.begin() + kData, dma.memory.begin() + kMetadata + 0x10000, std::uint8_t{0xEE});
    }

    Pair p;
    std::uint32_t lba = 512;
    bool is_extended = false;
};

}  // namespace ssdtlm::test
