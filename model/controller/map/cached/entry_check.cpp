// SPDX-License-Identifier: Apache-2.0
#include "controller/map/cached/entry_check.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "common/report/error.h"
#include "controller/map/cached/pages/translation_contents.h"

namespace ssdtlm {

void EntryCheck::written(std::uint64_t first, std::uint64_t units) {
    const std::uint64_t end = std::min(first + units, ftl_.logical_units());
    for (std::uint64_t u = first; u < end; ++u) stale_[u / 64] &= ~(std::uint64_t{1} << (u % 64));
}

bool EntryCheck::is_stale(std::uint64_t first, std::uint64_t units) const {
    const std::uint64_t end = std::min(first + units, ftl_.logical_units());
    for (std::uint64_t u = first; u < end; ++u)
        if ((stale_[u / 64] >> (u % 64) & 1) != 0) return true;
    return false;
}

void EntryCheck::require_unmapped(std::uint64_t first, std::uint64_t units) const {
    const std::uint64_t end = std::min(first + units, ftl_.logical_units());
    for (std::uint64_t u = first; u < end; ++u)
        if (ftl_.lookup(Lpa{static_cast<std::uint32_t>(u)}) != kUnmapped) refuse(u);
}

UnitBytes EntryCheck::bytes_of(std::uint32_t page) const {
    const std::uint32_t n = ftl_.needs().units_per_own, unit_bytes = ftl_.geometry().unit_bytes;
    UnitBytes unit = UnitBytes::zeros(ftl_.geometry().kept_bytes());
    std::uint8_t* const to = unit.change();
    for (std::uint32_t i = 0; i < n && std::uint64_t{page} * n + i < ftl_.logical_units(); ++i) {
        const std::uint32_t place = idx(ftl_.lookup(Lpa{page * n + i}));
        std::memcpy(to + std::size_t{i} * (unit_bytes / n), &place, sizeof place);
    }
    return unit;
}

bool EntryCheck::has_bytes(const TranslationRead& read) const {  // laid out: without
    return read.bytes != nullptr && !read.bytes->page[read.slot[0]].is_from_start(ftl_.own_unit(read.page));
}

bool EntryCheck::has_entries(const TranslationRead& read) const {
    return (has_bytes(read) || ftl_.flash().keeps_map()) &&
           ftl_.lookup(ftl_.own_unit(read.page)) == ftl_.geometry().ppa_of(read.txn.address, read.slot[0]);
}

void EntryCheck::compare(const TranslationRead& read, Lpa lpa) const {
    const std::uint32_t n = ftl_.needs().units_per_own, entry = idx(lpa) - read.page * n;
    const Ppa is = ftl_.lookup(lpa);
    if (ftl_.flash().keeps_map() && entry_at(ftl_, ftl_.lookup(ftl_.own_unit(read.page)), entry) != is)
        refuse(idx(lpa));
    if (!has_bytes(read)) return;
    std::uint32_t place = 0;
    std::memcpy(&place, read.bytes->page[read.slot[0]].data() + std::size_t{entry} * (ftl_.geometry().unit_bytes / n),
                sizeof place);
    if (place != idx(is)) refuse(idx(lpa));
}

void EntryCheck::compare_page(const TranslationRead& read) const {
    const std::uint32_t n = ftl_.needs().units_per_own;
    for (std::uint32_t u = read.page * n; u < (read.page + 1) * n && u < ftl_.logical_units(); ++u)
        if (!is_stale(u, 1)) compare(read, Lpa{u});
}

__attribute__((noinline, cold)) void EntryCheck::refuse(std::uint64_t unit) {
    throw CheckFailed("cached map: what came from the flash about logical unit " + std::to_string(unit) +
                      ", or its neighbours, is older than what the map says");
}

}  // namespace ssdtlm
