// SPDX-License-Identifier: Apache-2.0
#include "host_pcie/workload/tpcc/buffer_pool.h"

#include <algorithm>

#include "common/report/error.h"

namespace ssdtlm {

BufferPool::BufferPool(std::uint64_t pages, std::uint32_t frames, std::uint32_t reserve)
    : frame_of_(pages, kNil), frames_(frames), reserve_(reserve) {
    SSDTLM_CHECK(reserve >= 1 && reserve < frames, "a buffer pool without room");
    for (std::uint32_t f = frames; f-- > 0;) set_free(f);
}

void BufferPool::set_free(std::uint32_t f) {
    frames_[f].lru_next = free_;
    free_ = f;
    ++free_count_;
}

void BufferPool::to_front(std::uint32_t f) {
    Frame& frame = frames_[f];
    frame.lru_previous = kNil;
    frame.lru_next = lru_.next;
    (lru_.next == kNil ? lru_.previous : frames_[lru_.next].lru_previous) = f;
    lru_.next = f;
}

void BufferPool::leave_lru(std::uint32_t f) {
    const Frame& frame = frames_[f];
    (frame.lru_previous == kNil ? lru_.next : frames_[frame.lru_previous].lru_next) = frame.lru_next;
    (frame.lru_next == kNil ? lru_.previous : frames_[frame.lru_next].lru_previous) = frame.lru_previous;
}

void BufferPool::leave_flush(std::uint32_t f) {
    const Frame& frame = frames_[f];
    (frame.flush_previous == kNil ? flush_.next : frames_[frame.flush_previous].flush_next) = frame.flush_next;
    (frame.flush_next == kNil ? flush_.previous : frames_[frame.flush_next].flush_previous) = frame.flush_previous;
}

bool BufferPool::lookup(std::uint64_t page) {
    const std::uint32_t f = frame_of_[page];
    if (f == kNil) return false;
    if (f == lru_.next) return true;
    if (frames_[f].leaving) {
        frames_[f].leaving = false;
        --leaving_;
    } else {
        leave_lru(f);
    }
    to_front(f);
    return true;
}

bool BufferPool::take(std::uint64_t page) {
    if (free_ == kNil) return false;
    const std::uint32_t f = free_;
    free_ = frames_[f].lru_next;
    --free_count_;
    frames_[f] = Frame{};
    frames_[f].page = page;
    frame_of_[page] = f;
    to_front(f);
    return true;
}

void BufferPool::change(std::uint64_t page, std::uint64_t lsn) {
    const std::uint32_t f = frame_of_[page];
    SSDTLM_CHECK(f != kNil && !frames_[f].leaving, "a page is changed that is not in memory");
    Frame& frame = frames_[f];
    if (frame.changed) return;
    frame.changed = true;
    frame.changed_at = lsn;
    frame.flush_next = kNil;
    frame.flush_previous = flush_.previous;
    (flush_.previous == kNil ? flush_.next : frames_[flush_.previous].flush_next) = f;
    flush_.previous = f;
}

void BufferPool::begin_write(std::uint32_t f, std::vector<std::uint64_t>& writes) {
    leave_flush(f);
    oldest_writing_ = std::min(oldest_writing_, frames_[f].changed_at);
    ++writing_;
    frames_[f].changed = false;
    frames_[f].writing = true;
    writes.push_back(frames_[f].page);
}

void BufferPool::make_room(std::vector<std::uint64_t>& writes, std::size_t most) {
    for (std::uint32_t f = lru_.previous; f != kNil && free_count_ + leaving_ < reserve_;) {
        Frame& frame = frames_[f];
        const std::uint32_t before = frame.lru_previous;
        if (frame.changed && frame.writing) {  // changed again since that write began: it stays
            f = before;
            continue;
        }
        if (frame.changed && writes.size() >= most) return;
        leave_lru(f);
        if (frame.changed) begin_write(f, writes);
        if (frame.writing) {
            frame.leaving = true;
            ++leaving_;
        } else {
            frame_of_[frame.page] = kNil;
            set_free(f);
        }
        f = before;
    }
}

void BufferPool::write_older(std::uint64_t lsn, std::vector<std::uint64_t>& writes, std::size_t most) {
    for (std::uint32_t f = flush_.next; f != kNil && writes.size() < most && frames_[f].changed_at < lsn;) {
        const std::uint32_t next = frames_[f].flush_next;
        if (!frames_[f].writing) begin_write(f, writes);
        f = next;
    }
}

void BufferPool::written(std::uint64_t page) {
    const std::uint32_t f = frame_of_[page];
    SSDTLM_CHECK(f != kNil && frames_[f].writing, "a page was written that nobody writes");
    frames_[f].writing = false;
    if (--writing_ == 0) oldest_writing_ = kNone;
    if (!frames_[f].leaving) return;
    frames_[f].leaving = false;
    --leaving_;
    frame_of_[page] = kNil;
    set_free(f);
}

}  // namespace ssdtlm
