// SPDX-License-Identifier: Apache-2.0
// Placed programs on their way from the DRAM to the flash. The data of those that are handed over together leave the
// DRAM in one access and go to the flash at one instant, so that they can become one multi-plane operation; all go in
// the order in which they took their pages, in whatever order the DRAM answers.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "controller/ports/dram_port.h"
#include "controller/ports/flash.h"
#include "controller/ports/flash_job.h"

namespace ssdtlm {

class ProgramQueue final {
public:
    /// Both must outlive it.
    ProgramQueue(DramPort& dram, FlashPort& flash) : dram_(dram), flash_(flash) {}

    /// One more program of those that are being put together, with its page; its link `next` is used until it is handed
    /// over.
    void add(FlashJob& program) {
        program.next = nullptr;
        (last_ == nullptr ? first_ : last_->next) = &program;
        last_ = &program;
    }
    /// Of its data, those at `address` in the DRAM.
    void add_data(std::uint64_t address, std::uint32_t bytes) { pieces_.push_back({address, bytes, 1}); }
    /// For data that nobody has given a place.
    void add_data(std::uint32_t bytes) { add_data(dram_.place(bytes), bytes); }
    /// Those added since the last time are complete; none: nothing happens.
    void hand_over();
    /// Handed over and not yet with the flash.
    std::size_t waiting() const { return batches_.size(); }
    /// Nobody waits for nothing. CheckFailed with a sentence. Between two events.
    void check_waiters() const;
    std::string dump() const;

private:
    struct Batch {
        FlashJob* first = nullptr;
        bool read = false;  ///< its data have left the DRAM
    };
    void dram_done(std::uint64_t number);

    DramPort& dram_;
    FlashPort& flash_;
    FlashJob *first_ = nullptr, *last_ = nullptr;  // being put together
    std::vector<DramPiece> pieces_;                // of those
    std::deque<Batch> batches_;                    // handed over
    std::uint64_t given_ = 0;                      // batches that the flash has
};

}  // namespace ssdtlm
