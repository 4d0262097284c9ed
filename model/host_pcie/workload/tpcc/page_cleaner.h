// SPDX-License-Identifier: Apache-2.0
// Writes changed pages back, a batch at a time: pages that a buffer pool replaces, and pages whose oldest change has
// become too old for the redo log. It works like InnoDB. First it writes the log up to the latest change. Then it
// writes all pages of the batch into the doublewrite area and flushes, so that a page torn by a loss of power can be
// restored. Finally it writes each page to its place, and flushes.
#pragma once

#include <cstdint>
#include <vector>

#include "host_pcie/ports/host_request.h"
#include "host_pcie/workload/tpcc/buffer_pool.h"
#include "host_pcie/workload/tpcc/redo_log.h"

namespace ssdtlm {

class PageCleaner {
public:
    /// Pages of a batch: the doublewrite area of MySQL 5.7, two blocks of 64 pages, each written at once.
    static constexpr std::uint32_t kBatch = 128;
    static constexpr std::uint32_t kBlock = 64;

    struct Place {
        std::uint32_t page_bytes = 16384;
        std::uint64_t doublewrite = 0;  ///< where kBatch pages have room
        std::uint64_t pages = 0;        ///< where page 0 is
        bool doublewrite_on = true;
        std::uint64_t most_age = 0;  ///< bytes of log behind a change, at which its page is written
    };
    /// Pool and log must outlive this object.
    PageCleaner(BufferPool& pool, RedoLog& log, const Place& place) : pool_(pool), log_(log), place_(place) {}

    /// The next write or flush; false when there is none now. `collect`: may begin a batch.
    bool next(bool collect, HostRequest& request);
    /// One of its requests has completed. Returns true if that was the end of a batch, whose pages are now written.
    bool completed();
    bool idle() const { return phase_ == Phase::idle; }

    const std::vector<std::uint64_t>& batch() const { return batch_; }
    /// Pages written so far because others needed their room, and because of their age.
    std::uint64_t for_room() const { return for_room_; }
    std::uint64_t for_age() const { return for_age_; }

private:
    enum class Phase : std::uint8_t { idle, log, doublewrite, doublewrite_flush, pages, pages_flush };
    void collect();
    void step();
    bool flush(HostRequest& request);

    BufferPool& pool_;
    RedoLog& log_;
    const Place place_;
    Phase phase_ = Phase::idle;
    std::vector<std::uint64_t> batch_;
    std::size_t next_ = 0;  // of the batch, in this phase
    std::uint32_t under_way_ = 0;
    std::uint64_t needs_ = 0;  // LSN
    std::uint64_t for_room_ = 0, for_age_ = 0;
};

}  // namespace ssdtlm
