// SPDX-License-Identifier: Apache-2.0
#include "controller/nvme/protection/protection_info.h"

#include "controller/nvme/protection/guard_crc.h"

namespace ssdtlm {

using namespace nvme;

namespace {

/// Type 3 gives no meaning to the reference tag, so it does not count.
std::uint32_t reference_of(const MetadataFormat& format, const ProtectionTerms& terms, std::uint64_t index) {
    return format.type == 3 ? terms.reference : terms.reference + static_cast<std::uint32_t>(index);
}

/// The values with which a host says that a block is not to be checked (NVMe 1.4 §8.3).
bool is_escape(const MetadataFormat& format, const ProtectionTuple& tuple) {
    return tuple.application == 0xFFFF && (format.type != 3 || tuple.reference == 0xFFFFFFFF);
}

}  // namespace

ProtectionTuple ProtectionTuple::load(const std::uint8_t* p) {
    return {static_cast<std::uint16_t>(p[0] << 8 | p[1]), static_cast<std::uint16_t>(p[2] << 8 | p[3]),
            std::uint32_t{p[4]} << 24 | std::uint32_t{p[5]} << 16 | std::uint32_t{p[6]} << 8 | p[7]};
}

void ProtectionTuple::store(std::uint8_t* p) const {
    p[0] = static_cast<std::uint8_t>(guard >> 8);
    p[1] = static_cast<std::uint8_t>(guard);
    p[2] = static_cast<std::uint8_t>(application >> 8);
    p[3] = static_cast<std::uint8_t>(application);
    for (unsigned i = 0; i < 4; ++i) p[4 + i] = static_cast<std::uint8_t>(reference >> (24 - 8 * i));
}

ProtectionTerms ProtectionTerms::of(std::uint32_t info, std::uint32_t reference, std::uint16_t application,
                                    std::uint16_t mask) {
    ProtectionTerms t;
    t.acts = (info & kPrAct) != 0;
    t.checks_guard = (info & kPrCheckGuard) != 0;
    t.checks_application = (info & kPrCheckApplication) != 0;
    t.checks_reference = (info & kPrCheckReference) != 0;
    t.application = application;
    t.mask = mask;
    t.reference = reference;
    return t;
}

std::uint16_t refuse_terms(const MetadataFormat& format, const ProtectionTerms& terms, std::uint64_t slba) {
    if (!terms.checks_reference || format.type == 0) return kStSuccess;
    const bool met = format.type == 2 || (format.type == 1 && terms.reference == static_cast<std::uint32_t>(slba));
    return met ? kStSuccess : kStInvalidProtection;
}

std::uint16_t guard_of(const MetadataFormat& format, const std::uint8_t* data, std::uint32_t data_bytes,
                       const std::uint8_t* metadata) {
    return guard_crc(metadata, format.tuple_at(), guard_crc(data, data_bytes));
}

void insert_tuple(const MetadataFormat& format, const ProtectionTerms& terms, std::uint64_t index,
                  const std::uint8_t* data, std::uint32_t data_bytes, std::uint8_t* metadata) {
    const ProtectionTuple tuple{guard_of(format, data, data_bytes, metadata), terms.application,
                                reference_of(format, terms, index)};
    tuple.store(metadata + format.tuple_at());
}

std::uint16_t check_tuple(const MetadataFormat& format, const ProtectionTerms& terms, std::uint64_t index,
                          const std::uint8_t* data, std::uint32_t data_bytes, const std::uint8_t* metadata) {
    const ProtectionTuple tuple = ProtectionTuple::load(metadata + format.tuple_at());
    if (is_escape(format, tuple)) return kStSuccess;
    if (terms.checks_guard && tuple.guard != guard_of(format, data, data_bytes, metadata)) return kStGuardCheck;
    if (terms.checks_application && ((tuple.application ^ terms.application) & terms.mask) != 0)
        return kStApplicationTagCheck;
    if (terms.checks_reference && format.type != 3 && tuple.reference != reference_of(format, terms, index))
        return kStReferenceTagCheck;
    return kStSuccess;
}

}  // namespace ssdtlm
