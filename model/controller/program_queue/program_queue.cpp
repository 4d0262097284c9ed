// SPDX-License-Identifier: Apache-2.0
#include "controller/program_queue/program_queue.h"

#include "common/report/error.h"

namespace ssdtlm {

void ProgramQueue::hand_over() {
    if (first_ == nullptr) return;
    SSDTLM_CHECK(!pieces_.empty(), "programs without data");
    batches_.push_back({first_, false});
    first_ = last_ = nullptr;
    dram_.access(pieces_.data(), static_cast<std::uint32_t>(pieces_.size()),
                 Then::to<&ProgramQueue::dram_done>(this, given_ + batches_.size() - 1));
    pieces_.clear();
}

void ProgramQueue::dram_done(std::uint64_t number) {
    batches_[number - given_].read = true;
    while (!batches_.empty() && batches_.front().read) {
        FlashJob* job = batches_.front().first;
        batches_.pop_front();
        ++given_;
        while (job != nullptr) {
            FlashJob* const next = job->next;  // a job handed over may be used again at once
            flash_.submit(job->txn);
            job = next;
        }
    }
}

void ProgramQueue::check_waiters() const {
    if (first_ != nullptr) throw CheckFailed("program queue: programs were put together, and not handed over");
    if (!batches_.empty() && batches_.front().read)
        throw CheckFailed("program queue: programs whose data left the DRAM were not given to the flash");
}

std::string ProgramQueue::dump() const {
    return batches_.empty()
               ? ""
               : "program queue: " + std::to_string(batches_.size()) + " times programs whose data leave the DRAM\n";
}

}  // namespace ssdtlm
