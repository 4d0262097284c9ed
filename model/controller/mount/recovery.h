// SPDX-License-Identifier: Apache-2.0
// Rebuilds the map and all books from flash alone after a loss of power. It takes no simulated time; ../mount models
// how long the reading takes. Every page says in its out-of-band area when it took its place, and every entry of the
// journal says when its units were deallocated or lost. Recovery goes through them in that order; what comes last about
// a unit is true. A checkpoint stands for everything up to its number.
#pragma once

#include <cstdint>
#include <vector>

#include "controller/checkpoint/checkpoint_books.h"
#include "controller/ftl/image.h"
#include "controller/ftl/superblock.h"
#include "controller/journal/found_notes.h"
#include "nand/array/spare_area.h"

namespace ssdtlm {

class Ftl;

class Recovery {
public:
    /// Precondition: nothing was done with the FTL before, except go_on_from().
    explicit Recovery(Ftl& ftl);

    // Once, one of them. They return how many mapping units and entries of the journal were put in order.
    std::uint64_t from_all_pages();
    /// `from`: for each block, the first page that was read, apart from page 0. If it is pages_per_block, the block is
    /// as the checkpoint says.
    std::uint64_t from_checkpoint(const CheckpointBooks& books, const std::vector<std::uint32_t>& from);
    /// Nothing was written since the checkpoint: everything is as it was, open blocks too.
    std::uint64_t from_clean_checkpoint(const CheckpointBooks& books);
    /// Superblocks whose number of erases neither a page nor the checkpoint tells. They are assumed to have as many as
    /// the others of their group.
    std::uint32_t erases_supposed() const { return erases_supposed_; }
    /// Units of features' own that may say other things than the map.
    const std::vector<bool>& suspects() const { return suspects_; }

private:
    template <class Visit>
    void for_each_page_in_order(Visit&& visit) const;
    void find_notes();
    void take_notes(std::uint64_t below);
    void take_pages();
    void take_map(const CheckpointBooks& books);
    bool is_intact(const PageAddress& page_of_notes) const;
    void check_own_units(const CheckpointBooks& books);
    bool is_intact(Lpa own, Ppa at) const;
    void suspect(Lpa lpa);
    void close_all();
    void count_what_is_mapped();
    void find_erases(const CheckpointBooks* books);
    bool holds_journal(SuperblockId b) const;
    std::vector<SuperblockId> failed_logs() const;
    void seal();
    void take_stock_of_failures(bool enough);

    Ftl& ftl_;
    const FtlImage image_;
    FoundNotes notes_;
    std::vector<std::uint32_t> from_;     // by block
    bool all_ = false;                    // pages that were laid out at the start, too, which have no number
    std::uint64_t number_ = 0;            // of the checkpoint: pages up to it are in it
    std::vector<bool> used_;              // superblocks
    std::vector<std::uint64_t> last_of_;  // and their pages' highest numbers
    std::vector<bool> suspects_;          // by own unit
    std::uint64_t put_in_order_ = 0;
    std::uint32_t erases_supposed_ = 0;
};

}  // namespace ssdtlm
