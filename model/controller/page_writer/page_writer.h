// SPDX-License-Identifier: Apache-2.0
// Brings pages to the flash that have their places: their data leave the DRAM, the flash programs them, and a core
// hears of the end. The data of pages that are handed over together leave the DRAM in one access and go to the flash at
// one instant, so that they can become one multi-plane operation. All go in the order in which they took their places,
// in whatever order the DRAM answers.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "controller/ports/core_port.h"
#include "controller/ports/dram_port.h"
#include "controller/ports/firmware_config.h"
#include "controller/ports/flash.h"
#include "controller/ports/organ.h"
#include "controller/ports/program_job.h"

namespace ssdtlm {

class PageWriter final : public Organ {
public:
    /// All must outlive it.
    PageWriter(const FirmwareConfig& costs, const NandGeometry& geometry, CorePort& cores, DramPort& dram,
               FlashPort& flash)
        : costs_(costs), geometry_(geometry), cores_(cores), dram_(dram), flash_(flash) {}

    /// What is written, and where.
    struct Page {
        PageAddress at;
        FlashClass cls = FlashClass::gc_write;
        FlashCause cause = FlashCause::of_class;
        PageRecord record{};
    };
    /// The page is padding until its units are said. `then` comes when it is programmed, or has failed (its status says
    /// so), and the core that looks after its die has done its `end`.
    void set_up(ProgramJob& job, const Page& page, CoreStep end, const Then& then) {
        ssdtlm::set_up(job, FlashOp::program, page.cls, page.at, geometry_,
                       Then::to<&PageWriter::programmed>(this, job));
        job.txn.cause = page.cause;
        job.txn.data_bytes = geometry_.page_bytes;
        job.txn.path = nullptr;
        job.txn.record = page.record;
        job.txn.spare.fill(kPadding);
        job.end = end;
        job.then = then;
    }
    /// One more page of those that are being put together; its link `next` is used until it is handed over. Whose core
    /// is not that of the die sets up the job's transaction without set_up().
    void add(ProgramJob& page) {
        page.next = nullptr;
        (last_ == nullptr ? first_ : last_->next) = &page;
        last_ = &page;
    }
    /// Of its data, those at `address` in the DRAM.
    void add_data(std::uint64_t address, std::uint32_t bytes) { pieces_.push_back({address, bytes, 1}); }
    /// For data that nobody has given a place.
    void add_data(std::uint32_t bytes) { add_data(dram_.place(bytes), bytes); }
    /// A page that is made by the firmware alone, with its data.
    void add_whole(ProgramJob& page) {
        add_data(geometry_.page_bytes);
        add(page);
    }
    /// Those added since the last time are complete; none: nothing happens.
    void hand_over();
    /// Handed over and not yet with the flash.
    std::size_t waiting() const { return batches_.size(); }
    void check_waiters() const override;
    std::string dump() const override;

private:
    struct Batch {
        FlashJob* first = nullptr;
        bool read = false;  ///< its data have left the DRAM
    };
    void dram_done(std::uint64_t batch);
    void programmed(ProgramJob& job);

    const FirmwareConfig& costs_;
    const NandGeometry geometry_;
    CorePort& cores_;
    DramPort& dram_;
    FlashPort& flash_;
    FlashJob *first_ = nullptr, *last_ = nullptr;  // being put together
    std::vector<DramPiece> pieces_;                // of those
    std::deque<Batch> batches_;                    // handed over
    std::uint64_t given_ = 0;                      // batches that the flash has
};

}  // namespace ssdtlm
