// SPDX-License-Identifier: Apache-2.0
#include "controller/page_writer/page_writer.h"

#include "common/report/error.h"

namespace ssdtlm {

void PageWriter::hand_over() {
    if (first_ == nullptr) return;
    SSDTLM_CHECK(!pieces_.empty(), "pages without data");
    batches_.push_back({first_, false});
    first_ = last_ = nullptr;
    dram_.access(pieces_.data(), static_cast<std::uint32_t>(pieces_.size()),
                 Then::to<&PageWriter::dram_done>(this, given_ + batches_.size() - 1));
    pieces_.clear();
}

void PageWriter::dram_done(std::uint64_t batch) {
    batches_[batch - given_].read = true;
    while (!batches_.empty() && batches_.front().read) {
        FlashJob& first = *batches_.front().first;
        batches_.pop_front();
        ++given_;
        submit_all(flash_, first);
    }
}

/// Each core looks after its share of the dies.
void PageWriter::programmed(ProgramJob& job) {
    const CorePort::Slot slot = cores_.reserve(idx(job.txn.die), costs_.flash_complete, job.end);
    job.done_start = slot.start;
    cores_.then(slot.end, job.then);
}

void PageWriter::check_waiters() const {
    if (first_ != nullptr) throw CheckFailed("page writer: pages were put together, and not handed over");
    if (!batches_.empty() && batches_.front().read)
        throw CheckFailed("page writer: pages whose data left the DRAM were not given to the flash");
}

std::string PageWriter::dump() const {
    return batches_.empty()
               ? ""
               : "page writer: " + std::to_string(batches_.size()) + " times pages whose data leave the DRAM\n";
}

}  // namespace ssdtlm
