// SPDX-License-Identifier: Apache-2.0
// Placed programs on their way from the DRAM to the flash. The data of programs that are handed over together leave the
// DRAM in one access. They go to the flash at one instant, so that they can become one multi-plane operation. All go in
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
    /// Both arguments must outlive it.
    ProgramQueue(DramPort& dram, FlashPort& flash) : dram_(dram), flash_(flash) {}

    /// Adds a program with its page to those that will be handed over together. Its link `next` is in use until then.
    void add(FlashJob& program) {
        program.next = nullptr;
        (last_ == nullptr ? first_ : last_->next) = &program;
        last_ = &program;
    }
    /// Data of the program at `address` in the DRAM.
    void add_data(std::uint64_t address, std::uint32_t bytes) { pieces_.push_back({address, bytes, 1}); }
    /// Data that nobody has given a place in the DRAM.
    void add_data(std::uint32_t bytes) { add_data(dram_.place(bytes), bytes); }
    /// Hands over the programs added since the last time. Without any, nothing happens.
    void hand_over();
    /// Groups of programs that are handed over and not yet with the flash.
    std::size_t waiting() const { return batches_.size(); }
    /// Throws CheckFailed if a program waits for an event that will never come. Call it between two events.
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
