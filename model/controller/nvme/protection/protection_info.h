// SPDX-License-Identifier: Apache-2.0
// End-to-end protection information of one logical block (NVMe 1.4 §8.3): where it stands in the metadata, how a
// controller makes it, and how it checks it. It knows no command and takes no time.
#pragma once

#include <cstdint>

#include "protocol/nvme.h"

namespace ssdtlm {

inline constexpr std::uint32_t kTupleBytes = 8;

/// Metadata of the blocks of a namespace (Identify FLBAS and DPS).
struct MetadataFormat {
    std::uint8_t bytes = 0;  ///< of each block; 0: none
    bool extended = false;   ///< they follow the data of their block; else they have a buffer of their own
    std::uint8_t type = 0;   ///< of protection information, 1 to 3; 0: none
    bool first = false;      ///< it is in the first eight bytes of the metadata; else in the last eight

    std::uint32_t tuple_at() const { return first ? 0 : bytes - kTupleBytes; }
};

/// The three fields, big-endian in the metadata.
struct ProtectionTuple {
    std::uint16_t guard = 0;
    std::uint16_t application = 0;
    std::uint32_t reference = 0;

    static ProtectionTuple load(const std::uint8_t* from);
    void store(std::uint8_t* to) const;
};

/// What a command says about the protection information of its blocks: PRINFO and dwords 14 and 15.
struct ProtectionTerms {
    bool acts = false;  ///< PRACT: the controller makes the information of a write, and keeps that of a read to itself
    bool checks_guard = false;
    bool checks_application = false;
    bool checks_reference = false;
    std::uint16_t application = 0;  ///< LBAT, ELBAT
    std::uint16_t mask = 0;         ///< LBATM, ELBATM: the bits of it that are compared
    std::uint32_t reference = 0;    ///< ILBRT, EILBRT: of the first block

    /// `info`: PRINFO, PRACT in bit 3.
    static ProtectionTerms of(std::uint32_t info, std::uint32_t reference, std::uint16_t application,
                              std::uint16_t mask);
    /// Those of Read, Write, Compare, Verify and Write Zeroes.
    static ProtectionTerms of(const nvme::Sqe& sqe) {
        return of(sqe.cdw12 >> 26, sqe.cdw14, static_cast<std::uint16_t>(sqe.cdw15),
                  static_cast<std::uint16_t>(sqe.cdw15 >> 16));
    }
    bool checks() const { return checks_guard || checks_application || checks_reference; }
};

/// Returns success, or Invalid Protection Information (1/81h) for terms that no block can meet: a check of reference
/// tags of type 3, or a first tag of type 1 that is not the lower half of `slba`.
std::uint16_t refuse_terms(const MetadataFormat& format, const ProtectionTerms& terms, std::uint64_t slba);

/// Returns the guard of a block: of its data, and of the metadata before the tuple.
std::uint16_t guard_of(const MetadataFormat& format, const std::uint8_t* data, std::uint32_t data_bytes,
                       const std::uint8_t* metadata);

/// Makes the tuple of the `index`-th block of the command, and puts it into the metadata.
void insert_tuple(const MetadataFormat& format, const ProtectionTerms& terms, std::uint64_t index,
                  const std::uint8_t* data, std::uint32_t data_bytes, std::uint8_t* metadata);

/// Checks the tuple of the `index`-th block of the command. Returns success, or the first that fails of 2/82h guard,
/// 2/83h application tag and 2/84h reference tag.
std::uint16_t check_tuple(const MetadataFormat& format, const ProtectionTerms& terms, std::uint64_t index,
                          const std::uint8_t* data, std::uint32_t data_bytes, const std::uint8_t* metadata);

}  // namespace ssdtlm
