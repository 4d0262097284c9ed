// SPDX-License-Identifier: Apache-2.0
// Writes placed pages to the flash. Their data leave the DRAM, the flash programs them, and a core is told of the end.
// The data of pages that are handed over together leave the DRAM in one access. They go to the flash at the same time,
// so that they can become one multi-plane operation. All go in the order in which they got their places, whatever the
// order of the DRAM's answers is.
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
    /// All arguments must outlive it.
    PageWriter(const FirmwareConfig& costs, const NandGeometry& geometry, CorePort& cores, DramPort& dram,
               FlashPort& flash)
        : costs_(costs), geometry_(geometry), cores_(cores), dram_(dram), flash_(flash) {}

    /// The content of a page and its place.
    struct Page {
        PageAddress at;
        FlashClass cls = FlashClass::gc_write;
        FlashCause cause = FlashCause::of_class;
        PageRecord record{};
    };
    /// Makes the job the program of a whole page. All its units are padding until the caller sets them. When the
    /// program has ended or failed, the core that looks after the die does the step `end`. Then `then` is called. The
    /// job's status says whether the program failed.
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
    /// Adds a page to those that will be handed over together. Its link `next` is in use until then. A writer whose
    /// pages end on another core than that of the die fills in the transaction without set_up().
    void add(ProgramJob& page) {
        page.next = nullptr;
        (last_ == nullptr ? first_ : last_->next) = &page;
        last_ = &page;
    }
    /// Adds data at `address` in the DRAM to what leaves the DRAM for these pages.
    void add_data(std::uint64_t address, std::uint32_t bytes) { pieces_.push_back({address, bytes, 1}); }
    /// Adds data that nobody has given a place in the DRAM.
    void add_data(std::uint32_t bytes) { add_data(dram_.place(bytes), bytes); }
    /// Adds a page that the firmware alone has made, with its data.
    void add_whole(ProgramJob& page) {
        add_data(geometry_.page_bytes);
        add(page);
    }
    /// Hands over the pages added since the last call. It does nothing if there are none.
    void hand_over();
    /// Groups of pages that are handed over and not yet with the flash.
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
