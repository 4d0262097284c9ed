// SPDX-License-Identifier: Apache-2.0
#include "controller/ftl/allocation/nvm_sets.h"

#include <array>
#include <cctype>
#include <optional>

namespace ssdtlm {

namespace {
constexpr std::uint32_t kNoSet = 0xFFFFFFFFu;

/// The first and the last index of a set along each dimension.
struct Box {
    std::array<std::uint32_t, 4> first{}, last{};
};

std::array<std::uint32_t, 4> sizes_of(const NandGeometry& g) {
    return {g.channels, g.ways, g.dies_per_chip, g.planes_per_die};
}

std::array<std::uint32_t, 4> position_of(PlaneId plane, const NandGeometry& g) {
    const std::uint32_t die = idx(plane) / g.planes_per_die, way = die / g.dies_per_chip;
    return {way / g.ways, way % g.ways, die % g.dies_per_chip, idx(plane) % g.planes_per_die};
}

std::string trimmed(const std::string& text) {
    std::size_t begin = 0, end = text.size();
    while (begin != end && std::isspace(static_cast<unsigned char>(text[begin])) != 0) ++begin;
    while (end != begin && std::isspace(static_cast<unsigned char>(text[end - 1])) != 0) --end;
    return text.substr(begin, end - begin);
}

std::vector<std::string> split(const std::string& text) {
    std::vector<std::string> parts;
    for (std::size_t from = 0;;) {
        const std::size_t comma = text.find(',', from);
        parts.push_back(trimmed(text.substr(from, comma == std::string::npos ? comma : comma - from)));
        if (comma == std::string::npos) return parts;
        from = comma + 1;
    }
}

/// Reads a number of at least one digit and moves `at` behind it. Returns nothing for a number that no geometry has.
std::optional<std::uint32_t> number_at(const std::string& text, std::size_t& at) {
    const std::size_t begin = at;
    std::uint32_t value = 0;
    for (; at != text.size() && std::isdigit(static_cast<unsigned char>(text[at])) != 0; ++at) {
        value = value * 10 + static_cast<std::uint32_t>(text[at] - '0');
        if (value > 0xFFFF) return std::nullopt;
    }
    return at == begin ? std::nullopt : std::optional(value);
}

/// Nothing: it is not written as a set of this drive is.
std::optional<Box> box_of(const std::string& text, const NandGeometry& g) {
    const auto sizes = sizes_of(g);
    Box box;
    for (std::size_t d = 0; d < 4; ++d) box.last[d] = sizes[d] - 1;
    std::array<bool, 4> named{};
    if (text.empty()) return std::nullopt;
    for (std::size_t at = 0; at != text.size();) {
        if (text[at] == ' ') {
            ++at;
            continue;
        }
        const std::string letters = kDimensionLetters;
        const std::size_t d = letters.find(text[at]);
        if (d == std::string::npos || named[d]) return std::nullopt;
        named[d] = true;
        const auto first = number_at(text, ++at);
        auto last = first;
        if (first && at != text.size() && text[at] == '-') last = number_at(text, ++at);
        if (!first || !last || *last < *first || *last >= sizes[d]) return std::nullopt;
        box.first[d] = *first;
        box.last[d] = *last;
    }
    return box;
}

bool holds(const Box& box, const std::array<std::uint32_t, 4>& position) {
    for (std::size_t d = 0; d < 4; ++d)
        if (position[d] < box.first[d] || position[d] > box.last[d]) return false;
    return true;
}
}  // namespace

NvmSets::NvmSets(const std::string& text, const NandGeometry& geometry) {
    if (text.empty()) return;
    names_ = split(text);
    set_of_plane_.resize(geometry.planes(), kNoSet);
    for (std::uint32_t set = 0; set < names_.size(); ++set) {
        const std::optional<Box> box = box_of(names_[set], geometry);
        SSDTLM_CHECK(box.has_value(), "NVM Sets that were not checked");
        std::uint32_t planes = 0;
        for (std::uint32_t p = 0; p < geometry.planes(); ++p)
            if (holds(*box, position_of(PlaneId{p}, geometry))) {
                set_of_plane_[p] = set;
                ++planes;
            }
        planes_.push_back(planes);
        names_planes_ = names_planes_ || box->last[3] - box->first[3] + 1 != geometry.planes_per_die;
    }
}

std::vector<std::uint64_t> NvmSets::ranges(std::uint64_t units) const {
    std::vector<std::uint64_t> first;
    std::uint64_t before = 0;
    for (std::uint32_t set = 0; set < count(); before += planes_[set++])
        first.push_back(units * before / set_of_plane_.size());
    first.push_back(units);
    return first;
}

void NvmSets::check(std::vector<Problem>& out, const char* key, const std::string& text, const NandGeometry& g) {
    if (text.empty()) return;
    const auto sizes = sizes_of(g);
    std::string allowed = "sets like \"C0-1, C2W0\", of channels C0-" + std::to_string(sizes[0] - 1) + ", ways W0-" +
                          std::to_string(sizes[1] - 1) + ", dies D0-" + std::to_string(sizes[2] - 1) +
                          " and planes P0-" + std::to_string(sizes[3] - 1);
    std::vector<Box> boxes;
    for (const std::string& name : split(text)) {
        const std::optional<Box> box = box_of(name, g);
        if (!box) {
            out.push_back({key, "\"" + text + "\": \"" + name + "\" is no set of this drive", allowed,
                           "write each set as letters with a number or a range, and sets with a comma in between"});
            return;
        }
        boxes.push_back(*box);
    }
    for (std::uint32_t p = 0; p < g.planes(); ++p) {
        const auto at = position_of(PlaneId{p}, g);
        std::uint32_t in = 0;
        for (const Box& box : boxes) in += holds(box, at);
        if (in == 1) continue;
        std::string where;
        for (std::size_t d = 0; d < 4; ++d) where += kDimensionLetters[d] + std::to_string(at[d]);
        out.push_back({key,
                       "\"" + text + "\": " + where +
                           (in == 0 ? " is in none of the sets" : " is in " + std::to_string(in) + " of the sets"),
                       "each plane in one set", "change the sets, or add one"});
        return;
    }
}

}  // namespace ssdtlm
