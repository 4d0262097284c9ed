// SPDX-License-Identifier: Apache-2.0
// The pieces that a verifying fio job has written and will read back, in fio's order (iolog.c, log_io_piece). If the
// random map prevents that blocks are written twice, it is the order of writing. Else it is by address, and a rewritten
// piece comes only once.
#pragma once

#include <cstdint>
#include <deque>
#include <map>

namespace ssdtlm {

class FioVerifyHistory {
public:
    explicit FioVerifyHistory(bool in_order) : in_order_(in_order) {}

    /// A write is issued. Returns its number, never 0.
    std::uint64_t add(std::uint64_t offset, std::uint32_t bytes);
    /// Write number `number` at `offset` is on the drive.
    void completed(std::uint64_t number, std::uint64_t offset);
    /// Takes the next piece. False: there is none, or its write is still under way.
    bool take(std::uint64_t& offset, std::uint32_t& bytes);
    std::uint64_t size() const { return in_order_ ? list_.size() : tree_.size(); }
    void clear();

private:
    struct Piece {
        std::uint64_t offset;
        std::uint64_t number;
        std::uint32_t bytes;
        bool written;
    };
    bool in_order_;
    std::uint64_t last_number_ = 0;
    std::deque<Piece> list_;
    std::map<std::uint64_t, Piece> tree_;
};

}  // namespace ssdtlm
