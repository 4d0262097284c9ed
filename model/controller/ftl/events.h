// SPDX-License-Identifier: Apache-2.0
// What the core of the FTL says about pages and superblocks to those that listen. It does not know who they are: each
// registers for the events that it wants. Listeners of one event are told in the order in which they registered. An
// event to which nobody listens costs a predicted branch.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "common/address/geometry.h"
#include "controller/ftl/superblock.h"
#include "nand/onfi/spare.h"

namespace ssdtlm {

enum class FtlEvent : std::uint8_t {
    pages_handed_out,
    page_drawn,
    units_moving,
    page_ended,
    superblock_sealed,
    superblock_erased,
    unit_superseded
};

/// How the program of a page that had its place has ended.
enum class PageEnd : std::uint8_t {
    programmed,
    failed,  ///< the page holds nothing, and its superblock is closed
    dropped  ///< nobody has programmed it: its superblock had failed before
};

class FtlListener {
public:
    virtual ~FtlListener() = default;
    /// Pages of a superblock have been given to somebody who will program them. They have no numbers yet.
    virtual void pages_handed_out() {}
    /// The page has its place in this superblock, and takes this number.
    virtual void page_drawn(const PageAddress&, SuperblockId, std::uint64_t /*number*/) {}
    /// A page that was drawn will take these units, padding aside, from the places `from`. The map changes when the
    /// program of the page has ended. Whoever keeps contents of its own units on the flash puts them into `content`.
    virtual void units_moving(const PageAddress&, const Spare*, const Ppa* /*from*/, std::uint32_t /*count*/,
                              PageContent& /*content*/) {}
    /// All that the end of a program changes in the books has been changed.
    virtual void page_ended(const PageAddress&, PageEnd) {}
    /// The last program of the superblock has ended. It takes no more pages.
    virtual void superblock_sealed(SuperblockId) {}
    /// All blocks of the superblock are erased.
    virtual void superblock_erased(SuperblockId) {}
    /// The host has written the unit. The copy or the note that was there before is not true any more.
    virtual void unit_superseded(Lpa) {}
};

class FtlEvents {
public:
    /// The listener must outlive the events.
    void listen(FtlListener& listener, std::initializer_list<FtlEvent> events) {
        for (const FtlEvent e : events) listeners_[static_cast<std::size_t>(e)].push_back(&listener);
    }
    void pages_handed_out() const {
        for (FtlListener* const l : of(FtlEvent::pages_handed_out)) l->pages_handed_out();
    }
    void page_drawn(const PageAddress& a, SuperblockId b, std::uint64_t number) const {
        for (FtlListener* const l : of(FtlEvent::page_drawn)) l->page_drawn(a, b, number);
    }
    void units_moving(const PageAddress& a, const Spare* units, const Ppa* from, std::uint32_t count,
                      PageContent& content) const {
        for (FtlListener* const l : of(FtlEvent::units_moving)) l->units_moving(a, units, from, count, content);
    }
    void page_ended(const PageAddress& a, PageEnd end) const {
        for (FtlListener* const l : of(FtlEvent::page_ended)) l->page_ended(a, end);
    }
    void superblock_sealed(SuperblockId b) const {
        for (FtlListener* const l : of(FtlEvent::superblock_sealed)) l->superblock_sealed(b);
    }
    void superblock_erased(SuperblockId b) const {
        for (FtlListener* const l : of(FtlEvent::superblock_erased)) l->superblock_erased(b);
    }
    void unit_superseded(Lpa lpa) const {
        for (FtlListener* const l : of(FtlEvent::unit_superseded)) l->unit_superseded(lpa);
    }

private:
    static constexpr std::size_t kEvents = 7;
    const std::vector<FtlListener*>& of(FtlEvent e) const { return listeners_[static_cast<std::size_t>(e)]; }

    std::array<std::vector<FtlListener*>, kEvents> listeners_;
};

}  // namespace ssdtlm
