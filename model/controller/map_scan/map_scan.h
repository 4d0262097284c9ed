// SPDX-License-Identifier: Apache-2.0
// The full scan by which a drive finds its map after the power was off, in time: the spare area of each programmed page is
// read, block by block in the order of the pages, up to the first page that is erased; pages of the journal are
// read whole. What the scan finds is for others to put together. Kernel-free.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/address/geometry.h"
#include "controller/ports/flash.h"
#include "nand/array/spare_area.h"
#include "nand/onfi/nand_config.h"

namespace ssdtlm {

class MapScan final : private FlashClient {
public:
    /// `reads_per_die`: blocks of a die that are gone through at once.
    MapScan(const NandGeometry& geometry, const SpareArea& spare, FlashPort& flash, std::uint32_t reads_per_die);
    MapScan(const MapScan&) = delete;
    MapScan& operator=(const MapScan&) = delete;

    /// Returns at once; `done` is called when the last page has been read, and may destroy this.
    void start(std::function<void()> done);
    /// Page reads that have ended.
    std::uint64_t reads() const { return reads_; }
    bool over() const { return at_work_ == 0; }
    /// State for the watchdog.
    std::string dump() const;

    /// No scan of a device takes longer: each read of a die's pages waits for the same of all dies of the channel, and one
    /// page in each block is read whole. `reads`: of a page, those with other voltages among them.
    static Ps longest(const NandConfig& nand, Ps decode_time, std::uint32_t reads);

private:
    /// Goes through one block after the other of its die.
    struct Reader {
        FlashTransaction txn;
        bool whole = false;  ///< the page is read a second time
    };
    bool next_block(Reader& reader);
    void read(Reader& reader, bool whole);
    void go_on(Reader& reader);
    void flash_done(FlashTransaction& txn) override;

    const NandGeometry geometry_;
    const SpareArea& spare_;
    FlashPort& flash_;
    const std::uint32_t reads_per_die_;
    std::vector<std::uint32_t> next_block_;  // by die, of all its planes; those with the same number follow each other
    std::vector<Reader> readers_;            // of die 0, die 1, ...
    std::uint32_t at_work_ = 0;
    std::uint64_t reads_ = 0;
    std::function<void()> done_;
};

}  // namespace ssdtlm
