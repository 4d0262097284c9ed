// SPDX-License-Identifier: Apache-2.0
// Reads of one page that share one read of the array (scheduler.merge_reads). A read joins another one of its page that
// waits in the scheduler, that the array works on, or whose data are not yet out. The page stays in the register of its
// plane until the die does something else there. A read that comes before that needs no array read at all. Reads that
// share an array read have the same class, cause and flow, so that transactions waiting for the die wait for the same
// work. Kernel-free.
#pragma once

#include <cstdint>
#include <vector>

#include "common/containers/key_table.h"
#include "controller/ports/flash.h"
#include "nand/onfi/nand_config.h"

namespace ssdtlm {

class SharedReads {
public:
    explicit SharedReads(const NandGeometry& geometry)
        : geometry_(geometry),
          reads_per_page_(geometry.page_bytes / geometry.unit_bytes),
          planes_(geometry.dies_per_channel() * geometry.planes_per_die) {}

    /// The read has to wait. True: it shares the array read of one that waits, and need not be queued.
    bool join_waiting(FlashTransaction& txn, std::uint32_t die) {
        txn.joined = nullptr;
        bool fresh = false;
        Waiting& page = waiting_.insert(page_of(txn, die), fresh);
        if (fresh) {
            page.first = page.last = &txn;
            page.reads = 1;
            return false;
        }
        if (!alike(*page.first, txn) || txn.whose.deadline < page.first->whose.deadline) return false;
        page.last->joined = &txn;
        page.last = &txn;
        ++page.reads;
        return true;
    }
    /// Returns true if the read shares the array read of `running`, which holds its plane. When others wait for the
    /// die, at most as many reads as a page has units share an array read. Another read must then wait behind the
    /// others.
    bool join_running(FlashTransaction& running, FlashTransaction& txn, std::uint32_t die, bool others_wait) {
        Plane& p = plane(die, txn.plane);
        if (p.page != page_of(txn, die) || !alike(running, txn) || (others_wait && p.reads >= reads_per_page_))
            return false;
        txn.joined = nullptr;
        p.last->joined = &txn;
        p.last = &txn;
        ++p.reads;
        return true;
    }
    /// True: the read's page is still in the register of its plane, where nothing runs. The read has the register from
    /// now on.
    bool take_register(FlashTransaction& txn, std::uint32_t die) {
        Plane& p = plane(die, txn.plane);
        if (p.page != page_of(txn, die) || p.slc != txn.slc) return false;
        txn.joined = nullptr;
        p.last = &txn;
        p.reads = 1;
        return true;
    }

    /// The array reads the page, also for the reads that share it.
    void started(FlashTransaction& txn, std::uint32_t die) {
        Plane& p = plane(die, txn.plane);
        p = Plane{page_of(txn, die), 1, &txn, txn.slc, false};
        Waiting* const page = waiting_.find(p.page);
        if (page != nullptr && page->first == &txn) {
            p.last = page->last;
            p.reads = page->reads;
            waiting_.erase(*page);
        } else {
            txn.joined = nullptr;
        }
        if (txn.status.retries != 0 || txn.spare_only) p.page = kNoPage;  // other voltages; nothing but the spare area
    }
    /// The page is in the register.
    void loaded(std::uint32_t die, std::uint32_t in_plane) { plane(die, in_plane).in_register = true; }
    bool in_register(std::uint32_t die, std::uint32_t in_plane) { return plane(die, in_plane).in_register; }
    /// The contents of the registers are not known any more.
    void forget(std::uint32_t die, std::uint32_t in_plane) { plane(die, in_plane).page = kNoPage; }
    void forget(std::uint32_t die) {
        for (std::uint32_t p = 0; p < geometry_.planes_per_die; ++p) forget(die, p);
    }

private:
    static constexpr std::uint32_t kNoPage = 0xFFFFFFFF;
    struct Waiting {
        std::uint32_t key = 0;  // the page
        std::uint32_t reads = 0;
        FlashTransaction* first = nullptr;
        FlashTransaction* last = nullptr;
    };
    /// Page that the array of a plane reads, or that its register holds.
    struct Plane {
        std::uint32_t page = kNoPage;
        std::uint32_t reads = 0;  // that share it, so far
        FlashTransaction* last = nullptr;
        bool slc = false;
        bool in_register = false;
    };
    static bool alike(const FlashTransaction& a, const FlashTransaction& b) {
        return a.cls == b.cls && a.cause == b.cause && a.slc == b.slc && a.whose.same_flow(b.whose);
    }
    Plane& plane(std::uint32_t die, std::uint32_t in_plane) {
        return planes_[die * geometry_.planes_per_die + in_plane];
    }
    std::uint32_t page_of(const FlashTransaction& txn, std::uint32_t die) const {
        return ((die * geometry_.planes_per_die + txn.plane) * geometry_.blocks_per_plane + txn.address.block) *
                   geometry_.pages_per_block +
               txn.address.page;
    }

    const NandGeometry geometry_;
    const std::uint32_t reads_per_page_;
    KeyTable<Waiting, 64> waiting_;
    std::vector<Plane> planes_;  // by die and plane
};

}  // namespace ssdtlm
