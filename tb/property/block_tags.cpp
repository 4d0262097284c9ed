// SPDX-License-Identifier: Apache-2.0
#include "property/block_tags.h"

#include <array>
#include <cstdio>
#include <cstring>

namespace ssdtlm {

namespace {

using Value = BlockTags::Value;
using Tuple = std::array<std::uint8_t, BlockTags::kBytes>;

std::uint64_t mixed(Value value, std::uint64_t salt) {
    std::uint64_t z = (value + 1) * 0x9E3779B97F4A7C15u + salt * 0xC2B2AE3D27D4EB4Fu;
    z = (z ^ (z >> 29)) * 0xBF58476D1CE4E5B9u;
    return z ^ (z >> 32);
}

/// CRC-16 of T10 DIF, half a byte at a time.
std::uint16_t guard_of(const std::uint8_t* bytes, std::uint32_t count) {
    static const std::array<std::uint16_t, 16> kRest = [] {
        std::array<std::uint16_t, 16> rest{};
        for (std::uint32_t n = 0; n < 16; ++n) {
            std::uint32_t r = n << 16;
            for (int bit = 19; bit >= 16; --bit)
                if ((r >> bit & 1u) != 0) r ^= 0x18BB7u << (bit - 16);
            rest[n] = static_cast<std::uint16_t>(r);
        }
        return rest;
    }();
    std::uint32_t crc = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
        crc = (crc << 4 & 0xFFFFu) ^ kRest[(crc >> 12) ^ (bytes[i] >> 4)];
        crc = (crc << 4 & 0xFFFFu) ^ kRest[(crc >> 12) ^ (bytes[i] & 15u)];
    }
    return static_cast<std::uint16_t>(crc);
}

/// A write whose blocks say that nothing of them is to be checked, and that have no right guard.
bool escapes(Value value) {
    return mixed(value, 1) % 8 == 0;
}

std::uint16_t application_of(Value value) {
    return static_cast<std::uint16_t>(mixed(value, 2) % 0xFFFF);
}

/// Tags of type 1 are the address, those of type 2 count from any number on, and those of type 3 are all the same.
std::uint32_t reference_of(const CaseMetadata& format, Value value, std::uint64_t lba) {
    const auto low = static_cast<std::uint32_t>(lba), any = static_cast<std::uint32_t>(mixed(value, 3));
    return format.type == 1 ? low : format.type == 2 ? any + low : any;
}

std::string text_of(const std::uint8_t* metadata) {
    std::string text;
    char digits[4];
    for (std::uint32_t i = 0; i < BlockTags::kBytes; ++i) {
        std::snprintf(digits, sizeof digits, " %02x", metadata[i]);
        text += digits;
    }
    return text;
}

}  // namespace

bool BlockTags::keeps_tags(const CaseMetadata& format, Value value) {
    return format.type == 0 || escapes(value) || mixed(value, 4) % 2 == 0;
}

/// A copy of a copy has the tags that a single copy would have. So what a block holds decides them.
BlockTags::Origin BlockTags::origin_of(const CaseMetadata& format, Value value) const {
    const BlockContents::Origin text = contents_.origin_of(value);
    if (text.further == 0) return {value, 0, true};
    return keeps_tags(format, text.value) ? Origin{text.value, text.further, true} : Origin{value, 0, false};
}

bool BlockTags::has_guard(const CaseMetadata& format, Value value) const {
    const Origin origin = origin_of(format, value);
    return format.type != 0 && value != 0 && !(origin.is_write && escapes(origin.value));
}

void BlockTags::store(const CaseMetadata& format, std::uint64_t lba, Value value, const std::uint8_t* data,
                      std::uint8_t* metadata) const {
    if (value == 0) {
        std::memset(metadata, format.type != 0 ? 0xFF : 0, kBytes);
        return;
    }
    const Origin origin = origin_of(format, value);
    const std::uint64_t from = lba - static_cast<std::uint64_t>(origin.further);
    if (format.type == 0) {
        const std::uint64_t any = mixed(origin.value, from + 100);
        std::memcpy(metadata, &any, kBytes);
        return;
    }
    const bool escape = origin.is_write && escapes(origin.value);
    const std::uint32_t guard = escape ? static_cast<std::uint32_t>(mixed(origin.value, from + 100)) & 0xFFFFu
                                       : guard_of(data, lba_bytes_),
                        application = escape ? 0xFFFF : application_of(origin.value),
                        reference = escape && format.type == 3 ? 0xFFFFFFFFu : reference_of(format, origin.value, from);
    const Tuple tuple{static_cast<std::uint8_t>(guard >> 8),       static_cast<std::uint8_t>(guard),
                      static_cast<std::uint8_t>(application >> 8), static_cast<std::uint8_t>(application),
                      static_cast<std::uint8_t>(reference >> 24),  static_cast<std::uint8_t>(reference >> 16),
                      static_cast<std::uint8_t>(reference >> 8),   static_cast<std::uint8_t>(reference)};
    std::memcpy(metadata, tuple.data(), kBytes);
}

std::string BlockTags::check(const CaseMetadata& format, std::uint64_t lba, Value value, const std::uint8_t* data,
                             const std::uint8_t* metadata) const {
    Tuple expected{};
    store(format, lba, value, data, expected.data());
    if (std::memcmp(expected.data(), metadata, kBytes) == 0) return "";
    return "LBA " + std::to_string(lba) + " holds number " + std::to_string(value) + ", and its metadata are" +
           text_of(metadata) + ", expected" + text_of(expected.data());
}

CaseProtection BlockTags::of_write(const CaseMetadata& format, std::uint64_t lba, Value value,
                                   std::uint64_t chance) const {
    CaseProtection p;
    if (format.type == 0) return p;
    p.acts = !escapes(value) && mixed(value, 5) % 2 == 0;
    p.checks = static_cast<std::uint8_t>(chance & (format.type == 3 ? 6u : 7u));
    p.application = application_of(value);
    p.mask = 0xFFFF;
    p.reference = reference_of(format, value, lba);
    return p;
}

CaseProtection BlockTags::of_copy(const CaseMetadata& format, std::uint64_t lba, Value from, Value value) const {
    CaseProtection p;
    if (value == 0 || keeps_tags(format, contents_.origin_of(from).value)) return p;
    p.acts = true;
    p.application = application_of(value);
    p.reference = reference_of(format, value, lba);
    return p;
}

}  // namespace ssdtlm
