// SPDX-License-Identifier: Apache-2.0
// The pages of a database that are in memory. It replaces the least recently used pages. Changed pages are written
// before they are replaced, or when their oldest change is too old for the redo log. It works like InnoDB's buffer pool
// with its free, LRU and flush lists, but without the midpoint of the LRU list. It does no I/O itself; the writer
// reports when a page is written.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace ssdtlm {

class BufferPool {
public:
    static constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();

    /// The database has `pages` pages, and memory has `frames` frames. `reserve` of the frames should be free for pages
    /// to come. 1 <= reserve < frames.
    BufferPool(std::uint64_t pages, std::uint32_t frames, std::uint32_t reserve);

    std::uint32_t frames() const { return static_cast<std::uint32_t>(frames_.size()); }
    std::uint32_t free() const { return free_count_; }
    /// Returns true if the page is in memory. It becomes the most recently used one.
    bool lookup(std::uint64_t page);
    /// Makes an absent page the most recently used. False: no frame is free.
    bool take(std::uint64_t page);
    /// A page in memory is changed; the log has the change at `lsn`. LSNs do not decrease.
    void change(std::uint64_t page, std::uint64_t lsn);

    /// True: half of the reserve is used up, so make_room() should be called.
    bool short_of_room() const { return free_count_ + leaving_ < (reserve_ + 1) / 2; }
    /// LSN of the oldest change that no write has taken up; kNone when there is none.
    std::uint64_t oldest_change() const { return flush_.next == kNil ? kNone : frames_[flush_.next].changed_at; }

    /// LSN of the oldest change that is not yet in its page on the drive; kNone if all are. While several pages are
    /// written, it stays at the oldest of these. The log must not overwrite its contents from there on.
    std::uint64_t checkpoint() const { return std::min(oldest_writing_, oldest_change()); }

    /// Frees the least recently used pages until the reserve is whole, or will be when `writes` is written: up to
    /// `most` pages are appended there.
    void make_room(std::vector<std::uint64_t>& writes, std::size_t most);
    /// Appends pages whose oldest change is before `lsn`, the oldest first, until `writes` has `most` pages.
    void write_older(std::uint64_t lsn, std::vector<std::uint64_t>& writes, std::size_t most);
    /// A page of `writes` is on the drive.
    void written(std::uint64_t page);

private:
    static constexpr std::uint32_t kNil = std::numeric_limits<std::uint32_t>::max();
    struct Frame {
        std::uint64_t page = 0;
        std::uint64_t changed_at = 0;  // oldest change that no write has taken up
        std::uint32_t lru_next = kNil, lru_previous = kNil;
        std::uint32_t flush_next = kNil, flush_previous = kNil;
        bool changed = false;
        bool writing = false;
        bool leaving = false;  // free when written, unless somebody wants it before; not in the LRU list
    };
    /// Ends of a list. The most recent page, or the oldest change, is `next`.
    struct Ends {
        std::uint32_t next = kNil, previous = kNil;
    };

    void to_front(std::uint32_t f);
    void leave_lru(std::uint32_t f);
    void leave_flush(std::uint32_t f);
    void set_free(std::uint32_t f);
    void begin_write(std::uint32_t f, std::vector<std::uint64_t>& writes);

    std::vector<std::uint32_t> frame_of_;  // by page
    std::vector<Frame> frames_;
    Ends lru_, flush_;
    std::uint32_t free_ = kNil;  // a stack through lru_next
    std::uint32_t free_count_ = 0;
    std::uint32_t leaving_ = 0;
    std::uint32_t writing_ = 0;
    std::uint64_t oldest_writing_ = kNone;
    std::uint32_t reserve_;
};

}  // namespace ssdtlm
