// SPDX-License-Identifier: Apache-2.0
// The scan by which a drive finds its map after the power was off, in time. The spare area of each programmed page is
// read, block by block in the order of the pages, up to the first page that is erased. Pages of the journal are read
// whole. With a checkpoint, the first page of a block tells whether the block has pages that the checkpoint does not
// know. A core looks at each page before the next one of the block is read. Where blocks change their cell mode (a
// dynamic SLC cache), a page that cannot be read is read again in the other mode, until one of its block tells the
// mode. Others put together what the scan finds. Kernel-free.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/address/geometry.h"
#include "controller/ports/core_port.h"
#include "controller/ports/flash.h"
#include "controller/ports/mount_step.h"
#include "nand/array/spare_area.h"
#include "nand/onfi/nand_config.h"

namespace ssdtlm {

class Mount final {
public:
    explicit Mount(const MountPeers& peers);
    Mount(const Mount&) = delete;
    Mount& operator=(const Mount&) = delete;

    /// Returns the number of the page from which on a block is read behind its first page, or pages_per_block for none.
    /// The first page was `readable` and holds this record.
    using GoOnAt = std::function<std::uint32_t(BlockId, bool readable, const PageRecord&)>;
    /// Returns at once. `done` is called when the last page has been looked at, and may destroy this. `skips`: blocks
    /// that are not looked at, by number; empty: none. `go_on_at`: empty: all pages are read. `likely_slc`: blocks that
    /// are tried in SLC mode first, where it may be either; empty: none.
    void start(std::function<void()> done, std::vector<bool> skips = {}, GoOnAt go_on_at = nullptr,
               std::vector<bool> likely_slc = {});
    /// By block: the page from which on it was read, up to the first erased one. The first page of the block does not
    /// count. pages_per_block or more: nothing was read.
    const std::vector<std::uint32_t>& read_from() const { return from_; }
    /// Page reads that have ended.
    std::uint64_t reads() const { return reads_; }
    bool over() const { return at_work_ == 0; }
    /// True: it waits for reads. False: it waits for a core.
    bool waits_for_flash() const { return at_work_ > on_core_; }
    /// Text for the watchdog.
    std::string dump() const;

    /// A bound on the time of any scan: each read of a die's pages waits for the same of all dies of the channel, and
    /// one page in each block is read whole. `reads`: reads of a page, those with other voltages among them.
    /// `page_time`: time of a core, one page after the other. `pages_twice`: pages of a block that may be read in both
    /// cell modes.
    static Ps longest(const NandConfig& nand, Ps decode_time, std::uint32_t reads, Ps page_time = {},
                      std::uint32_t pages_twice = 0);

private:
    /// Reads one block after the other of its die.
    struct Reader {
        FlashTransaction txn;
        bool whole = false;  ///< the page is read a second time
        bool readable = false;
        bool mode_known = true;  ///< the cell mode of the block
        bool tried_both = false;
        std::uint32_t next = 0;  ///< page of the block after this one; 0: none
    };
    bool next_block(Reader& reader);
    std::uint32_t pages_of(const Reader& r) const {
        return r.mode_known && r.txn.slc ? peers_.slc.pages : geometry_.pages_per_block;
    }
    void read(Reader& reader, bool whole);
    void first_try(Reader& reader) const;
    bool try_other_mode(Reader& reader) const;
    void page_read(Reader& reader);
    void go_on(Reader& reader);
    void look(Reader& reader);

    const MountPeers peers_;
    const NandGeometry& geometry_;
    std::vector<bool> skips_;
    GoOnAt go_on_at_;
    std::vector<bool> likely_slc_;
    std::vector<std::uint32_t> from_;
    std::vector<std::uint32_t> next_block_;  // by die, of all its planes; those with the same number follow each other
    std::vector<Reader> readers_;            // of die 0, die 1, ...
    std::uint32_t at_work_ = 0;
    std::uint32_t on_core_ = 0;  // of those
    std::uint64_t reads_ = 0;
    std::function<void()> done_;
};

}  // namespace ssdtlm
