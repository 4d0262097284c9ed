// SPDX-License-Identifier: Apache-2.0
// FEMU's black-box FTL as arithmetic, after MoatLab/FEMU hw/femu/bbssd/ftl.c: one write pointer (channel, then LUN,
// then page, then the next free line), lines by valid count, and for each LUN one time at which it is available. Of
// equals the victim is the line that had its count first: FEMU's is what its binary heap has on top.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <vector>

namespace ssdtlm {

struct Femu {
    struct Line {
        std::vector<std::int64_t> lpns;  ///< by page; -1: invalid
        std::uint32_t valid = 0;
        std::uint64_t since = 0;  ///< has this count
        bool full = false;
        std::uint32_t erases = 0;
    };
    std::uint32_t channels, luns, pages, lines;  ///< luns: of a channel; pages: of a block
    std::uint32_t soft, hard, least_invalid;
    std::vector<Line> line = std::vector<Line>(lines, Line{std::vector<std::int64_t>(per_line(), -1)});
    std::vector<std::int64_t> map{};  ///< by lpn: line * per_line() + page; -1: unmapped
    std::deque<std::uint32_t> free{};
    std::vector<std::int64_t> available = std::vector<std::int64_t>(channels * luns);
    std::uint32_t open = 0, at = 0;
    std::uint64_t moved = 0, erased = 0, stamp = 0;

    std::uint32_t per_line() const { return channels * luns * pages; }
    /// Of page n of a line; dies are numbered channel by channel.
    std::uint32_t die(std::uint32_t n) const { return n % channels * luns + n / channels % luns; }
    void power_on(std::uint64_t units) {
        map.assign(units, -1);
        for (std::uint32_t l = 1; l < lines; ++l) free.push_back(l);
    }
    std::int64_t put(std::uint64_t lpn) {
        if (map[lpn] >= 0) {
            Line& old = line[static_cast<std::size_t>(map[lpn] / per_line())];
            old.lpns[static_cast<std::size_t>(map[lpn] % per_line())] = -1;
            --old.valid;
            old.since = ++stamp;
        }
        const std::int64_t place = std::int64_t{open} * per_line() + at;
        line[open].lpns[at] = static_cast<std::int64_t>(lpn);
        ++line[open].valid;
        map[lpn] = place;
        if (++at != per_line()) return place;
        line[open].full = true;
        line[open].since = ++stamp;
        open = free.front();
        free.pop_front();
        at = 0;
        return place;
    }
    /// -1: none.
    std::int64_t victim(bool forced) const {
        std::int64_t best = -1;
        for (std::uint32_t l = 0; l < lines; ++l)
            if (line[l].full && line[l].valid < per_line() &&
                (best < 0 || std::make_pair(line[l].valid, line[l].since) <
                                 std::make_pair(line[static_cast<std::size_t>(best)].valid,
                                                line[static_cast<std::size_t>(best)].since)))
                best = l;
        return best >= 0 && !forced && per_line() - line[static_cast<std::size_t>(best)].valid < least_invalid ? -1
                                                                                                               : best;
    }
    void move_out_of(std::uint32_t l) {
        line[l].full = false;
        for (std::uint32_t c = 0; c < channels; ++c)
            for (std::uint32_t d = 0; d < luns; ++d)
                for (std::uint32_t p = 0; p < pages; ++p)
                    if (const std::int64_t lpn = line[l].lpns[(p * luns + d) * channels + c]; lpn >= 0) {
                        put(static_cast<std::uint64_t>(lpn));
                        ++moved;
                    }
    }
    void erase(std::uint32_t l) {
        ++line[l].erases;
        ++erased;
        free.push_back(l);
    }
    /// When an operation of this length ends that is given to the LUN at `s`.
    std::int64_t run(std::uint32_t lun, std::int64_t s, std::int64_t length) {
        return available[lun] = std::max(available[lun], s) + length;
    }
};

}  // namespace ssdtlm
