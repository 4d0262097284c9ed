// SPDX-License-Identifier: Apache-2.0
// The pages of a block of MLC cells that is programmed in two steps. Each word line has a lower page and an upper page,
// which is programmed later into the same cells. The lower page of the next word line comes between the two ("shadow
// sequence" of planar MLC). So the pages of a block have this order: L0 L1 U0 L2 U1 L3 U2 ... U(n-2) U(n-1). The
// distance between the pages of a word line differs among parts; this shortest one is assumed.
#pragma once

#include <cstdint>

namespace ssdtlm {

struct WordLines {
    std::uint32_t pages = 2;  ///< in the block: two for each word line

    constexpr std::uint32_t count() const { return pages / 2; }
    constexpr bool is_upper(std::uint32_t page) const { return page + 1 == pages || (page != 0 && page % 2 == 0); }
    constexpr std::uint32_t word_line_of(std::uint32_t page) const {
        if (page + 1 == pages) return count() - 1;
        return is_upper(page) ? page / 2 - 1 : (page + 1) / 2;
    }
    constexpr std::uint32_t lower_page(std::uint32_t word_line) const { return word_line == 0 ? 0 : 2 * word_line - 1; }
    constexpr std::uint32_t upper_page(std::uint32_t word_line) const {
        return word_line + 1 == count() ? pages - 1 : 2 * word_line + 2;
    }
    /// The lower page in the same cells. It is lost when the program of this upper page is torn.
    constexpr std::uint32_t below(std::uint32_t upper) const { return lower_page(word_line_of(upper)); }
    /// The upper page in the same cells. Once it is programmed, this lower page is safe.
    constexpr std::uint32_t above(std::uint32_t lower) const { return upper_page(word_line_of(lower)); }
};

}  // namespace ssdtlm
