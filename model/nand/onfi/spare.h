// SPDX-License-Identifier: Apache-2.0
// The contents of the out-of-band area of a flash page. For the page it has a number, which orders the pages, and the
// purpose. For each mapping unit in the page it has the logical address and the version of the data. The version stands
// for the data, whose contents are not stored.
#pragma once

#include <cstdint>
#include <vector>

#include "common/address/geometry.h"

namespace ssdtlm {

inline constexpr std::uint32_t kMaxUnitsPerPage = 16;  // 64 KiB page of 4 KiB units

/// 32 bits per slot: Lpa in the low bits, version in the rest (see SpareCodec). All ones means erased.
enum class Spare : std::uint32_t {};
inline constexpr Spare kErased{0xFFFFFFFFu};
/// Purpose of a page.
enum class PageKind : std::uint8_t { user, mapping, journal, parity, padding, checkpoint, root, count };

/// The contents of a page that are not user data, as words in a format of the controller.
using PageContent = std::vector<std::uint64_t>;

/// The record of a page. With the owner of each unit it is enough to find the newest copy of all data on the flash.
struct PageRecord {
    std::uint64_t number =
        0;  ///< of the device's pages in the order in which they took their places, from 1; 0: laid out at the start
    PageKind kind = PageKind::user;
    std::uint8_t stream = 0;
    std::uint32_t erases = 0;  ///< erases of its block, as the firmware knows them; kept only for a block's first page
    const PageContent* content =
        nullptr;  ///< program: of a page that is not user data, valid until the program has ended
};

/// A slot that was programmed without user data (padding).
inline constexpr Spare kPadding{0xFFFFFFFEu};
/// A slot of a page that was being programmed when the power was lost, so it cannot be read.
inline constexpr Spare kTorn{0xFFFFFFFDu};

/// Splits the 32 bits by the device's number of logical units, at most 8 bits for the version.
class SpareCodec {
public:
    explicit constexpr SpareCodec(std::uint64_t logical_units) {
        while (lpa_bits_ < 32 && (std::uint64_t{1} << lpa_bits_) <= logical_units + 2)
            ++lpa_bits_;  // + 2: kPadding and kTorn are nobody's
        version_bits_ = 32 - lpa_bits_ < 8 ? 32 - lpa_bits_ : 8;
        lpa_mask_ = static_cast<std::uint32_t>((std::uint64_t{1} << lpa_bits_) - 1);
        version_mask_ = (1u << version_bits_) - 1;
    }
    constexpr unsigned version_bits() const { return version_bits_; }
    constexpr std::uint32_t version_mask() const { return version_mask_; }
    constexpr Spare make(Lpa lpa, std::uint32_t version) const {
        return Spare{static_cast<std::uint32_t>(std::uint64_t{version & version_mask()} << lpa_bits_) | idx(lpa)};
    }
    constexpr Lpa lpa(Spare s) const { return Lpa{idx(s) & lpa_mask_}; }
    constexpr std::uint32_t version(Spare s) const {
        return static_cast<std::uint32_t>(std::uint64_t{idx(s)} >> lpa_bits_) & version_mask();
    }

private:
    unsigned lpa_bits_ = 1;
    unsigned version_bits_ = 0;
    std::uint32_t lpa_mask_ = 0;
    std::uint32_t version_mask_ = 0;
};

}  // namespace ssdtlm
