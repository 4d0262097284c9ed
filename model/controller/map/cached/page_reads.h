// SPDX-License-Identifier: Apache-2.0
// Reads translation pages for a checkpoint. The pages of the checkpoint are put together from them and from what is in
// memory. The Ftl knows what they say; the reads only take their time.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "controller/map/cached/cached_map_peers.h"

namespace ssdtlm {

class PageReads final {
public:
    /// `in_dram`: tells whether a page's contents are on their way to the flash, so that it need not be read. `reads`:
    /// counts the reads.
    PageReads(const CachedMapPeers& peers, std::function<bool(std::uint32_t)> in_dram, std::uint64_t& reads)
        : peers_(peers), jobs_(peers.jobs), in_dram_(std::move(in_dram)), reads_(reads) {}

    /// Starts to read. `done` is called later. Precondition: idle(), and `pages` is not empty.
    void start(std::vector<std::uint32_t> pages, std::function<void()> done);
    bool idle() const { return !done_; }

private:
    void begin();
    void go_on();
    void read(std::uint64_t page);
    void ended();
    void flash_done(TranslationRead& job);
    void page_read(TranslationRead& job);

    const CachedMapPeers peers_;
    JobPool<TranslationRead> jobs_;
    const std::function<bool(std::uint32_t)> in_dram_;
    std::vector<std::uint32_t> pages_;
    std::size_t next_ = 0;
    std::uint32_t under_way_ = 0;
    std::uint64_t& reads_;
    std::function<void()> done_;
};

}  // namespace ssdtlm
