// SPDX-License-Identifier: Apache-2.0
// A flash transaction with what the firmware must remember about it, and the pool it comes from.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "controller/ports/command.h"
#include "controller/ports/flash.h"

namespace ssdtlm {

struct FlashJob {
    enum class Kind : std::uint8_t { host_read, merge_read, host_program, gc_read, gc_program, erase };
    enum class Source : std::uint8_t { flash, buffer, zeros };  ///< host_read: where the data comes from

    FlashTransaction txn;
    std::uint32_t index = 0;  ///< in the pool
    Kind kind = Kind::host_read;
    Source source = Source::flash;
    Command* command = nullptr;
    FlashJob* sibling = nullptr;       ///< host_read: next part of the same command, until issued
    std::uint32_t byte_offset = 0;     ///< host_read: first byte in the command's data
    std::uint32_t bytes = 0;           ///< host_read: bytes of this part
    std::uint32_t first_unit = 0;      ///< host_read: first Lpa
    std::uint8_t units = 0;
    std::array<std::uint8_t, kMaxUnitsPerPage> slot{};      ///< page slot of unit i
    std::array<std::uint32_t, kMaxUnitsPerPage> item{};     ///< read: version overlay; program: buffer entry; gc: source Ppa
    // Host program: when it was formed and when a core worked on it, for those who wait for it.
    SimTime formed{};
    SimTime core_start{};
    SimTime core_end{};
    SimTime done_start{};              ///< completion step
    std::vector<std::uint8_t> data;    ///< one page of host data on its way out
};

class FlashJobPool {
public:
    explicit FlashJobPool(std::uint32_t page_bytes) : page_bytes_(page_bytes) {}

    FlashJob& acquire(FlashJob::Kind kind, SimTime now) {
        while (!parked_.empty() && parked_.front().until < now) {
            free_.push_back(parked_.front().job);
            parked_.pop_front();
        }
        FlashJob* job;
        if (!free_.empty()) {
            job = free_.back();
            free_.pop_back();
        } else {
            all_.push_back(std::make_unique<FlashJob>());
            job = all_.back().get();
            job->index = static_cast<std::uint32_t>(all_.size() - 1);
        }
        job->kind = kind;
        ++used_;
        return *job;
    }
    void release(FlashJob& job) {
        --used_;
        free_.push_back(&job);
    }
    /// Releases the job when `until` has passed: its data is still being read by the link.
    void release_at(FlashJob& job, SimTime until) {
        --used_;
        parked_.push_back({until, &job});
    }
    void provide_data(FlashJob& job) const {
        if (job.data.empty()) job.data.resize(page_bytes_);
    }
    FlashJob& at(std::uint32_t index) { return *all_[index]; }
    const FlashJob& at(std::uint32_t index) const { return *all_[index]; }
    std::size_t used() const { return used_; }

private:
    struct Parked {
        SimTime until;
        FlashJob* job;
    };
    std::uint32_t page_bytes_;
    std::vector<std::unique_ptr<FlashJob>> all_;
    std::vector<FlashJob*> free_;
    std::deque<Parked> parked_;
    std::size_t used_ = 0;
};

}  // namespace ssdtlm
