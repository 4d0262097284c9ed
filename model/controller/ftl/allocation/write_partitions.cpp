// SPDX-License-Identifier: Apache-2.0
#include "controller/ftl/allocation/write_partitions.h"

#include <algorithm>

namespace ssdtlm {

namespace {

/// Packs a plane's values of the static dimensions into one number. Groups of one share have the same number.
std::uint32_t key_of(const std::string& fixed, PlaneId plane, const NandGeometry& g) {
    const std::uint32_t p = idx(plane), die = p / g.planes_per_die, way = die / g.dies_per_chip;
    const auto digit = [&](char letter, std::uint32_t value, std::uint32_t count, std::uint32_t key) {
        return fixed.find(letter) == std::string::npos ? key : key * count + value;
    };
    std::uint32_t key = digit('C', way / g.ways, g.channels, 0);
    key = digit('W', way % g.ways, g.ways, key);
    key = digit('D', die % g.dies_per_chip, g.dies_per_chip, key);
    return digit('P', p % g.planes_per_die, g.planes_per_die, key);
}
}  // namespace

std::vector<std::string> static_dimensions() {
    std::vector<std::string> all{"none"};
    for (unsigned chosen = 1; chosen < 16; ++chosen) {
        std::string letters;
        for (unsigned i = 0; i < 4; ++i)
            if ((chosen >> i & 1) != 0) letters += kDimensionLetters[i];
        all.push_back(letters);
    }
    return all;
}

WritePartitions::WritePartitions(const std::string& fixed, const std::vector<PlaneId>& rows,
                                 const NandGeometry& geometry, const SuperblockShape& shape, std::uint32_t streams,
                                 const NvmSets& sets, std::uint64_t logical_units)
    : units_per_row_(shape.planes() * geometry.units_per_page()),
      by_row_(units_per_row_),
      by_groups_(shape.groups()),
      streams_(streams),
      share_of_group_(shape.groups()) {
    std::vector<std::uint32_t> keys;  // by share
    std::vector<std::vector<PlaneId>> rows_of(sets.count());
    for (std::uint32_t set = 0; set < sets.count(); ++set) keys.push_back(set);
    positions_of_.resize(sets.count());
    if (sets.count() > 1) ranges_ = sets.ranges(logical_units);
    for (std::size_t i = 0; i < rows.size(); i += shape.planes()) {
        const GroupId group = shape.group_of(rows[i]);
        const std::uint32_t key = sets.any()        ? sets.of(rows[i])
                                  : fixed == "none" ? 0
                                                    : key_of(fixed, rows[i], geometry);
        const auto share = static_cast<std::uint32_t>(std::find(keys.begin(), keys.end(), key) - keys.begin());
        if (share == keys.size()) {
            keys.push_back(key);
            rows_of.emplace_back();
            positions_of_.emplace_back();
        }
        positions_of_[share].push_back(static_cast<std::uint32_t>(sequence_.size()));
        rows_of[share].insert(rows_of[share].end(), &rows[i], &rows[i] + shape.planes());
        share_of_group_[idx(group)] = share;
        share_of_position_.push_back(share);
        sequence_.push_back(group);
    }
    shares_ = static_cast<std::uint32_t>(keys.size());
    for (std::uint32_t stream = 0; stream <= streams; ++stream)
        for (const auto& of_share : rows_of) cursors_.emplace_back(of_share, shape);
    count_ = static_cast<std::uint32_t>(cursors_.size());
}

std::uint32_t WritePartitions::ragged_count() const {
    std::uint32_t n = 0;
    for (const GroupCursor& c : cursors_) n += c.ragged_count();
    return n;
}

void WritePartitions::move_to(std::uint64_t rows) {
    const std::uint64_t position = rows % sequence_.size();
    for (std::uint32_t partition = 0; partition < count(); ++partition) {
        const auto& mine = positions_of_[partition % shares_];
        cursors_[partition].move_to(
            static_cast<std::size_t>(std::lower_bound(mine.begin(), mine.end(), position) - mine.begin()));
    }
}

std::uint32_t WritePartitions::share_of_range(std::uint32_t unit) const {
    std::uint32_t share = 0;
    while (unit >= ranges_[share + 1] && share + 1 != shares_) ++share;
    return share;
}

std::uint64_t WritePartitions::first_units(std::uint32_t share, std::uint64_t units) const {
    if (!ranges_.empty()) return std::max(std::min(units, ranges_[share + 1]), ranges_[share]) - ranges_[share];
    if (nth(share, 0) >= units) return 0;
    const std::uint64_t round = units_per_row_ * sequence_.size(), rounds = (units + round - 1) / round;
    return rounds * units_per_row_ * positions_of_[share].size();
}

std::uint64_t WritePartitions::nth(std::uint32_t share, std::uint64_t x) const {
    if (!ranges_.empty()) return ranges_[share] + x;
    const auto& mine = positions_of_[share];
    const std::uint64_t row = x / units_per_row_, round = row / mine.size();
    return (round * sequence_.size() + mine[row % mine.size()]) * units_per_row_ + x % units_per_row_;
}

}  // namespace ssdtlm
