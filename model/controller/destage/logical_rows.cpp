// SPDX-License-Identifier: Apache-2.0
#include "controller/destage/logical_rows.h"

#include <algorithm>

namespace ssdtlm {

LogicalRows::LogicalRows(const Ftl& ftl, WriteBuffer& buffer, const RowChoice& choice)
    : ftl_(ftl),
      buffer_(buffer),
      choice_(choice),
      placement_(*ftl.placement()),
      logical_(ftl.placement()->logical()),
      per_page_(ftl.geometry().units_per_page()),
      next_(ftl.shape().groups()) {}

/// Returns true if all units of the page may be programmed now.
bool LogicalRows::is_whole(const LogicalPage& page) const {
    const std::uint32_t first = idx(logical_.first_unit(page)), units = logical_.units(page);
    for (std::uint32_t i = 0; i < units; ++i) {
        const WriteBuffer::Index entry = buffer_.find(Lpa{first + i});
        if (entry == WriteBuffer::kNone || !buffer_.may_be_programmed(entry)) return false;
    }
    return units != 0;
}

/// Takes this page, which is whole, and the whole pages behind it, up to the end of its row.
void LogicalRows::take_run(LogicalPage page) {
    const std::uint32_t first = idx(logical_.first_unit(page)), units = logical_.units(page);
    for (std::uint32_t i = 0; i < units; ++i) take_unit(buffer_.find(Lpa{first + i}));
    go_on_behind(page);
}

/// Takes whole pages behind this one, which was taken, up to the end of its row.
void LogicalRows::go_on_behind(LogicalPage page) {
    const std::uint32_t pages = logical_.pages(page.group, page.block), planes = ftl_.shape().planes();
    const std::uint32_t end =
        std::min({pages, page.page - page.page % planes + planes, page.page + choice_.row_pages()});
    while (++page.page < end && is_whole(page)) {
        const std::uint32_t first = idx(logical_.first_unit(page)), units = logical_.units(page);
        for (std::uint32_t i = 0; i < units; ++i) take_unit(buffer_.find(Lpa{first + i}));
    }
    next_[idx(page.group)] = page.page < pages ? page : LogicalPage{page.group, 0, 0};
}

/// With block mapping, this choice makes the fewest copies.
LogicalPage LogicalRows::nearest_page(GroupId group, std::uint32_t partition) const {
    const LogicalPage& next = next_[idx(group)];
    LogicalPage best;
    bool goes_on = false;
    std::uint32_t most = looked_at();
    for (WriteBuffer::Index i = buffer_.first_dirty(partition); i != WriteBuffer::kNone && most != 0;
         i = buffer_.dirty_behind(i), --most) {
        const LogicalPage page = logical_.page_of(buffer_.unit(i).lpa);
        const bool is_behind = next.page != 0 && page.block == next.block && page.page >= next.page;
        if (most == looked_at() || (is_behind && !goes_on) ||
            (is_behind == goes_on && page.block == best.block && page.page < best.page))
            best = page;
        goes_on = goes_on || is_behind;
    }
    return best;
}

/// Takes the units of the page that are in the buffer. A unit may have a newer write in the buffer, which comes later.
void LogicalRows::take_page(const LogicalPage& page, std::uint32_t partition) {
    WriteBuffer::Index in_slot[kMaxUnitsPerPage];
    const std::uint32_t first = idx(logical_.first_unit(page)), units = logical_.units(page);
    for (std::uint32_t i = 0; i < units; ++i) {
        in_slot[i] = buffer_.find(Lpa{first + i});
        if (in_slot[i] != WriteBuffer::kNone && !buffer_.may_be_programmed(in_slot[i])) in_slot[i] = WriteBuffer::kNone;
    }
    std::uint32_t most = looked_at();
    for (WriteBuffer::Index i = buffer_.first_dirty(partition); i != WriteBuffer::kNone && most != 0;
         i = buffer_.dirty_behind(i), --most) {
        const Lpa lpa = buffer_.unit(i).lpa;
        if (logical_.page_of(lpa) == page) in_slot[logical_.slot_of(lpa)] = i;
    }
    for (std::uint32_t i = 0; i < units; ++i)
        if (in_slot[i] != WriteBuffer::kNone) take_unit(in_slot[i]);
}

bool LogicalRows::is_soon_whole(const LogicalPage& page) const {
    const LogicalPage& next = next_[idx(page.group)];
    return page.page == 0 ? is_whole(page) : next.page != 0 && page.block == next.block && page.page >= next.page;
}

const std::vector<WriteBuffer::Index>& LogicalRows::take(std::uint32_t partition) {
    taken_.clear();
    left_.clear();
    const GroupId group = ftl_.partitions().groups(partition)[0];
    // When nothing is on its way, the page that was placed last is the one that was taken last.
    if (choice_.programs(partition) == 0) next_[idx(group)] = placement_.next_sequential(group);
    if (next_[idx(group)].page != 0 && is_whole(next_[idx(group)])) {
        take_run(next_[idx(group)]);
        return taken_;
    }
    if (!placement_.takes_any_units()) {
        const LogicalPage page = nearest_page(group, partition);
        take_page(page, partition);
        go_on_behind(page);
        return taken_;
    }
    const std::uint32_t wanted = std::min(buffer_.queued(partition), choice_.row_units());
    std::uint32_t most = looked_at();
    for (WriteBuffer::Index i = buffer_.first_dirty(partition);
         i != WriteBuffer::kNone && taken_.size() < wanted && most != 0; --most) {
        const WriteBuffer::Index behind = buffer_.dirty_behind(i);
        const LogicalPage page = logical_.page_of(buffer_.unit(i).lpa);
        if (taken_.empty() && page.page == 0 && is_whole(page)) {
            take_run(page);
            return taken_;
        }
        if (is_soon_whole(page))
            left_.push_back(i);
        else
            take_unit(i);
        i = behind;
    }
    for (const WriteBuffer::Index i : left_)
        if (taken_.size() < wanted) take_unit(i);
    while (taken_.size() < wanted) take_unit(buffer_.first_dirty(partition));
    return taken_;
}

std::uint32_t LogicalRows::units_of_page(std::uint32_t from) const {
    const auto left = static_cast<std::uint32_t>(taken_.size()) - from;
    if (placement_.takes_any_units()) return std::min(left, per_page_);
    const LogicalPage page = logical_.page_of(buffer_.unit(taken_[from]).lpa);
    std::uint32_t n = 1;
    while (n < left && logical_.page_of(buffer_.unit(taken_[from + n]).lpa) == page) ++n;
    return n;
}

/// Returns true if the program has all units of one page, in their order.
bool LogicalRows::page_of(const HostProgram& job, LogicalPage& page) const {
    page = logical_.page_of(buffer_.unit(job.entry[0]).lpa);
    const std::uint32_t first = idx(logical_.first_unit(page));
    bool whole = job.units == logical_.units(page);
    for (std::uint32_t i = 0; i < job.units && whole; ++i) whole = idx(buffer_.unit(job.entry[i]).lpa) == first + i;
    return whole;
}

std::uint32_t LogicalRows::place(const HostProgram* jobs, std::uint32_t most, PageAddress* out) const {
    LogicalPage first, other;
    const GroupId group = logical_.page_of(buffer_.unit(jobs->entry[0]).lpa).group;
    const bool all = page_of(*jobs, first);
    if (!all && !placement_.takes_any_units()) {
        std::uint32_t slots = 0;
        for (std::uint32_t i = 0; i < jobs->units; ++i) slots |= 1u << jobs->slot[i];
        return placement_.take_part(first, slots, *out) ? 1 : 0;
    }
    const bool sequential = all && placement_.is_sequential(first);
    std::uint32_t n = 1;
    for (const HostProgram* job = next_of(*jobs); n < most; job = next_of(*job), ++n) {
        const bool whole = page_of(*job, other);
        if (sequential ? !whole || other != LogicalPage{group, first.block, first.page + n}
                       : whole && placement_.is_sequential(other))
            break;
    }
    return placement_.take_pages(group, sequential ? &first : nullptr, n, out);
}

}  // namespace ssdtlm
