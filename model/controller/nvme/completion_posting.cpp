// SPDX-License-Identifier: Apache-2.0
#include "controller/nvme/completion_posting.h"

#include <fmt/format.h>

namespace ssdtlm {

using namespace nvme;

void CompletionPosting::post(std::uint16_t sqid, std::uint16_t cid, std::uint16_t status, std::uint32_t dw0) {
    Cqe cqe;
    cqe.dw0 = dw0;
    cqe.sqid = sqid;
    cqe.cid = cid;
    cqe.set_status(status, do_not_retry(status), false);
    post(queues_.sq(sqid), cqe);
}

__attribute__((noinline, cold)) void CompletionPosting::hold(std::uint16_t cqid, const Cqe& cqe) {
    ++counters_.cqes_held;
    queues_.cq(cqid).held.push_back(cqe);
    sink_.full(cqid);
}

void CompletionPosting::send_held(std::uint16_t cqid) {
    CompletionQueue& cq = queues_.cq(cqid);
    while (cq.has_held() && !cq.full()) {
        Cqe cqe = cq.held[cq.held_first++];
        send(cq, queues_.sq(cqe.sqid), cqe);
    }
    // Removes the entries that were sent once they are at least half of the list.
    if (cq.held_first * 2 >= cq.held.size()) {
        cq.held.erase(cq.held.begin(), cq.held.begin() + static_cast<std::ptrdiff_t>(cq.held_first));
        cq.held_first = 0;
    }
}

void CompletionPosting::signal_coalesced(std::uint16_t vector) {
    if (!features_.coalescing_disabled(vector)) {
        switch (coalescer_.posted(vector, features_.coalescing_threshold() + 1)) {
            case InterruptCoalescer::Due::now:
                break;
            case InterruptCoalescer::Due::start_timer:
                timers_[vector] =
                    agenda_.post_cancellable(agenda_.now() + features_.coalescing_time() * Ps{100us},
                                             Then::to<&CompletionPosting::coalescing_timer>(this, vector));
                return;
            case InterruptCoalescer::Due::later:
                return;
        }
    }
    signal(vector);
}

void CompletionPosting::coalescing_timer(std::uint64_t vector) {
    coalescer_.sent(static_cast<std::uint32_t>(vector));  // even if coalescing has been turned off meanwhile
    signal(static_cast<std::uint16_t>(vector));
}

/// A message announces all completions that the vector has coalesced.
void CompletionPosting::announced(std::uint16_t vector) {
    coalescer_.sent(vector);
    agenda_.cancel(timers_[vector]);
}

void CompletionPosting::reset() {
    coalescer_.reset();
    for (const Agenda::Entry timer : timers_) agenda_.cancel(timer);
}

void CompletionPosting::write_vectors(std::uint32_t offset, std::uint32_t value) {
    if (offset >= kMsixPba) return;  // the host cannot write pending bits
    const int vector = msix_.write_table(offset - kMsixTable, value);
    if (vector >= 0) signal(static_cast<std::uint16_t>(vector));  // it was unmasked while a message was pending
}

void CompletionPosting::check_waiters() const {
    for (std::uint32_t i = 0; i < queues_.count(); ++i) {
        if (!queues_.has_cq(i)) continue;
        const CompletionQueue& q = queues_.cq(static_cast<std::uint16_t>(i));
        if (q.has_held() && !q.full())
            throw CheckFailed(fmt::format("nvme: queue {}: CQEs are held, and the completion queue has room", i));
    }
}

}  // namespace ssdtlm
