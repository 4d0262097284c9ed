// SPDX-License-Identifier: Apache-2.0
#include "host_files/ext4/ext4_file.h"

#include <algorithm>
#include <iterator>

#include "common/report/error.h"

namespace ssdtlm {

ExtentMap::Piece ExtentMap::at(std::uint64_t block, std::uint64_t most) const {
    const auto behind = extents_.upper_bound(block);
    if (behind != extents_.begin()) {
        const auto& [begin, e] = *std::prev(behind);
        if (block < begin + e.count)
            return {e.first + (block - begin), std::min(most, begin + e.count - block),
                    e.written ? Piece::Kind::written : Piece::Kind::unwritten};
    }
    const std::uint64_t hole = behind == extents_.end() ? most : std::min(most, behind->first - block);
    return {0, hole, Piece::Kind::hole};
}

void ExtentMap::add(std::uint64_t block, BlockRun run, bool written) {
    SSDTLM_CHECK(
        run.count != 0 && at(block, run.count).kind == Piece::Kind::hole && at(block, run.count).count == run.count,
        "blocks of a file get a second place");
    extents_[block] = {run.first, run.count, written};
    join(block);
}

/// Joins an extent with its neighbours if they continue each other both in the file and on the drive.
void ExtentMap::join(std::uint64_t block) {
    auto here = extents_.find(block);
    const auto fits = [](const auto& a, const auto& b) {
        return a.first + a.second.count == b.first && a.second.first + a.second.count == b.second.first &&
               a.second.written == b.second.written;
    };
    if (here != extents_.begin()) {
        const auto before = std::prev(here);
        if (fits(*before, *here)) {
            before->second.count += here->second.count;
            extents_.erase(here);
            here = before;
        }
    }
    const auto next = std::next(here);
    if (next != extents_.end() && fits(*here, *next)) {
        here->second.count += next->second.count;
        extents_.erase(next);
    }
}

bool ExtentMap::mark_written(std::uint64_t block, std::uint64_t count) {
    bool changed = false;
    while (count != 0) {
        const Piece piece = at(block, count);
        SSDTLM_CHECK(piece.kind != Piece::Kind::hole, "data without a place on the drive");
        if (piece.kind == Piece::Kind::unwritten) {
            changed = true;
            auto e = std::prev(extents_.upper_bound(block));
            const std::uint64_t begin = e->first;
            const Extent whole = e->second;
            if (block == begin)
                extents_.erase(e);
            else
                e->second.count = block - begin;
            const std::uint64_t rest = begin + whole.count - (block + piece.count);
            if (rest != 0) extents_[block + piece.count] = {piece.first + piece.count, rest, false};
            extents_[block] = {piece.first, piece.count, true};
            join(block);
        }
        block += piece.count;
        count -= piece.count;
    }
    return changed;
}

std::uint64_t ExtentMap::behind(std::uint64_t block) const {
    const auto at = extents_.lower_bound(block);
    if (at == extents_.begin()) return 0;
    const auto& [begin, e] = *std::prev(at);
    return e.first + e.count + (block - begin - e.count);
}

}  // namespace ssdtlm
