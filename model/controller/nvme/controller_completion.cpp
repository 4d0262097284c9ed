// SPDX-License-Identifier: Apache-2.0
// From the firmware to the host: CQEs, interrupts, the end of DMA requests.
#include "controller/nvme/controller.h"

namespace ssdtlm {

using namespace nvme;

// What every command passes on its way out is inline, so that it is one function without frames in between.

inline void NvmeController::count_completion(const Command& command) {
    if (command.status == kStInvalidOpcode) return;  // has no operation
    const std::uint64_t bytes = command.status == kStSuccess ? command.bytes : 0;
    if (command.op == IoOp::read) {
        ++counters_.reads;
        counters_.bytes_read += bytes;
        return;
    }
    switch (command.op) {
        case IoOp::read: break;
        case IoOp::write:
            ++counters_.writes;
            counters_.bytes_written += bytes;
            break;
        case IoOp::flush: ++counters_.flushes; break;
        case IoOp::deallocate: ++counters_.deallocates; break;
        case IoOp::write_zeroes: ++counters_.write_zeroes; break;
    }
}

inline void NvmeController::send_interrupt(std::uint16_t vector) {
    if (__builtin_expect(coalescing_, 0)) coalescer_.sent(vector);
    if (__builtin_expect(!msix_.fire(vector), 0)) {
        ++counters_.interrupts_masked;
        return;
    }
    ++counters_.interrupts;
    const MsixMessage message = msix_.message(vector);
    dma_.post_host(message.address, reinterpret_cast<const std::uint8_t*>(&message.data), sizeof message.data);
}

void NvmeController::unmasked(std::uint16_t vector) { send_interrupt(vector); }

void NvmeController::signal_coalesced(std::uint16_t vector) {
    if (!features_.coalescing_disabled(vector)) {
        switch (coalescer_.posted(vector, features_.coalescing_threshold() + 1)) {
            case InterruptCoalescer::Due::now: break;
            case InterruptCoalescer::Due::start_timer:
                agenda_.post<&NvmeController::coalescing_timer>(agenda_.now() + features_.coalescing_time() * Ps{100us},
                                                                this, coalescer_.timer(vector));
                return;
            case InterruptCoalescer::Due::later: return;
        }
    }
    send_interrupt(vector);
}

void NvmeController::coalescing_timer(std::uint64_t timer) {
    if (coalescer_.expired(timer)) send_interrupt(InterruptCoalescer::vector_of(timer));
}

inline __attribute__((always_inline)) void NvmeController::send_cqe(CompletionQueue& cq, SubmissionQueue& sq, Cqe& cqe) {
    bool phase = false;
    const std::uint64_t address = cq.push(phase);
    cqe.sqhd = static_cast<std::uint16_t>(sq.head);
    cqe.status_phase = static_cast<std::uint16_t>(cqe.status_phase | (phase ? 1u : 0u));
    --sq.in_flight;
    ++counters_.cqes;
    dma_.post_host(address, reinterpret_cast<const std::uint8_t*>(&cqe), kCqeBytes);
    if (cq.interrupts) {
        if (__builtin_expect(coalescing_ && sq.cqid != 0, 0))
            signal_coalesced(cq.vector);
        else
            send_interrupt(cq.vector);
    }
    // Whether a queue waits for its last command, or the fetch window was closed.
    if (__builtin_expect(sq.deleting || (sq.waiting() != 0 && !arbiter_.is_ready(cqe.sqid)), 0)) after_cqe(cqe.sqid, sq);
}

__attribute__((noinline)) void NvmeController::after_cqe(std::uint16_t sqid, SubmissionQueue& sq) {
    if (sq.deleting && sq.in_flight == 0) {
        const std::uint16_t delete_cid = sq.delete_cid;
        queues_.delete_sq(sqid);
        queues_.sq(0).free_cid(delete_cid);
        post(0, delete_cid, kStSuccess, 0);
    } else if (sq.waiting() != 0 && !arbiter_.is_ready(sqid)) {
        refresh(sqid);
        pump();
    }
}

inline __attribute__((always_inline)) void NvmeController::post_to(SubmissionQueue& sq, Cqe& cqe) {
    CompletionQueue& cq = queues_.cq(sq.cqid);
    if (__builtin_expect(cq.full() || cq.has_held(), 0)) {
        ++counters_.cqes_held;
        cq.held.push_back(cqe);
        return;
    }
    send_cqe(cq, sq, cqe);
}

void NvmeController::post(std::uint16_t sqid, std::uint16_t cid, std::uint16_t status, std::uint32_t dw0) {
    Cqe cqe;
    cqe.dw0 = dw0;
    cqe.sqid = sqid;
    cqe.cid = cid;
    cqe.set_status(status, do_not_retry(status), false);
    post_to(queues_.sq(sqid), cqe);
}

inline __attribute__((always_inline)) void NvmeController::end_io(Command& command) {
    if (__builtin_expect(!serving(), 0)) {
        drop(command);
        return;
    }
    count_completion(command);
    Cqe cqe;
    cqe.sqid = command.sqid;
    cqe.cid = command.cid;
    if (__builtin_expect(command.status != kStSuccess, 0))
        cqe.set_status(command.status, do_not_retry(command.status), false);
    SubmissionQueue& sq = queues_.sq(command.sqid);
    sq.free_cid(command.cid);
    release_command(command);
    post_to(sq, cqe);
}

void NvmeController::finish_io(Command& command) { end_io(command); }

void NvmeController::complete(Command& command) {
    SSDTLM_CHECK(in_firmware_ != 0, "firmware completed a command that it does not have");
    if (--in_firmware_ == 0) counters_.busy += agenda_.now() - busy_since_;
    if (__builtin_expect(command.sqid == 0, 0)) {  // the flush of a shutdown
        release_command(command);
        flush_running_ = false;
        if (!registers_.is_stopping()) registers_.shutdown_complete();
    } else {
        if (__builtin_expect(command.status != kStSuccess, 0)) {
            ++counters_.failed;
            if (command.status >> 8 == 2) ++counters_.media_errors;
            errors_.add(command.sqid, command.cid, command.status, command.slba, 1);
        }
        end_io(command);
    }
    settle();
}

void NvmeController::send_held(std::uint16_t cqid) {
    CompletionQueue& cq = queues_.cq(cqid);
    while (cq.has_held() && !cq.full()) {
        Cqe cqe = cq.held[cq.held_first++];
        send_cqe(cq, queues_.sq(cqe.sqid), cqe);
    }
    // Forget what was sent once that is at least half of the list.
    if (cq.held_first * 2 >= cq.held.size()) {
        cq.held.erase(cq.held.begin(), cq.held.begin() + static_cast<std::ptrdiff_t>(cq.held_first));
        cq.held_first = 0;
    }
}

void NvmeController::dma_done(std::uint64_t cookie, SimTime at) {
    const auto index = static_cast<std::uint32_t>(cookie);
    const auto kind = static_cast<Dma>(cookie >> 32);
    if (__builtin_expect(kind == Dma::fetch, 1)) return fetch_arrived(index);
    switch (kind) {
        case Dma::fetch: break;
        case Dma::list: list_arrived(index); break;
        case Dma::ranges: ranges_arrived(index); break;
        case Dma::admin_data:
            // The data buffer must stay unchanged until the last TLP is visible.
            agenda_.post<&NvmeController::admin_data_visible>(at, this, index);
            break;
    }
}

void NvmeController::dma_failed(std::uint64_t cookie) {
    const auto index = static_cast<std::uint32_t>(cookie);
    switch (static_cast<Dma>(cookie >> 32)) {
        case Dma::fetch:
            registers_.fatal();  // no CQE can report it
            fetch_arrived(index);
            break;
        case Dma::list:
        case Dma::ranges: list_failed(index, kStDataTransferError); break;
        case Dma::admin_data: panic("nvme", "a posted write failed");
    }
}

}  // namespace ssdtlm
