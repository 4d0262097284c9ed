// SPDX-License-Identifier: Apache-2.0
#include "controller/nvme/controller.h"

#include <fmt/format.h>

namespace ssdtlm {

using namespace nvme;

namespace {

const NvmeConfig& checked(const NvmeConfig& c, const NvmeDevice& device) {
    SSDTLM_CHECK(c.max_queue_pairs >= 1 && c.max_queue_pairs <= 64, "NVMe queue pairs outside 1..64");
    SSDTLM_CHECK(c.max_queue_entries >= 2 && c.max_queue_entries <= 65536, "NVMe queue entries outside 2..65536");
    SSDTLM_CHECK(c.lba_bytes == 512 || c.lba_bytes == 4096, "LBA size is neither 512 nor 4096");
    SSDTLM_CHECK(c.fetch_burst >= 1 && c.fetch_burst <= kPageBytes / kSqeBytes, "NVMe fetch burst outside 1..64");
    SSDTLM_CHECK(c.fetch_window >= 1 && c.fetch_depth >= 1, "NVMe fetch window or depth is 0");
    SSDTLM_CHECK(c.max_transfer_bytes != kPageBytes, "MDTS cannot say one page: 0 is no limit");
    SSDTLM_CHECK(device.namespace_bytes != 0 && device.namespace_bytes % c.lba_bytes == 0,
                 "namespace is not a whole number of logical blocks");
    return c;
}

}  // namespace

NvmeController::NvmeController(Agenda& agenda, DmaPort& dma, CommandTracker& tracker, const NvmeConfig& config,
                               const NvmeDevice& device)
    : config_(checked(config, device)),
      device_(device),
      agenda_(agenda),
      dma_(dma),
      tracker_(tracker),
      registers_(config_),
      queues_(config_.max_queue_pairs, config_.max_queue_entries),
      features_(config_, device_.volatile_write_cache),
      admin_(config_, device_, registers_, queues_, features_, events_, errors_, counters_),
      decoder_(device_.namespace_bytes / config_.lba_bytes, config_.lba_bytes, config_.max_transfer_bytes),
      msix_(config_.max_queue_pairs + 1),
      coalescer_(config_.max_queue_pairs + 1),
      fetches_(config_.fetch_depth),
      timelines_(config_.max_queue_pairs + 1) {
    for (std::uint32_t i = config_.fetch_depth; i-- > 0;) {
        fetches_[i].sqes = std::make_unique<Sqe[]>(config_.fetch_burst);
        fetches_[i].next = free_fetch_;
        free_fetch_ = static_cast<std::int32_t>(i);
    }
    apply_features();
}

std::uint64_t NvmeController::mmio_read(std::uint32_t offset, std::uint32_t bytes) const {
    if (offset < kRegDoorbells) return registers_.read(offset, bytes);
    if (offset < kMsixTable || (bytes != 4 && bytes != 8) || offset % bytes != 0) return 0;  // doorbells read 0
    const auto dword = [this](std::uint32_t at) {
        return at < kMsixPba ? msix_.read_table(at - kMsixTable) : msix_.read_pba(at - kMsixPba);
    };
    std::uint64_t value = dword(offset);
    if (bytes == 8) value |= std::uint64_t{dword(offset + 4)} << 32;
    return value;
}

void NvmeController::write_other(std::uint32_t offset, std::uint32_t bytes, std::uint64_t value) {
    if (offset < kRegDoorbells) {
        act(registers_.write(offset, bytes, value));
    } else if (offset < kMsixPba && (bytes == 4 || bytes == 8) && offset % bytes == 0) {
        write_msix_table(offset - kMsixTable, static_cast<std::uint32_t>(value));
        if (bytes == 8) write_msix_table(offset - kMsixTable + 4, static_cast<std::uint32_t>(value >> 32));
    }
}

void NvmeController::write_msix_table(std::uint32_t offset, std::uint32_t value) {
    const int vector = msix_.write_table(offset, value);
    if (vector >= 0) unmasked(static_cast<std::uint16_t>(vector));
}

void NvmeController::write_doorbell(std::uint32_t offset, std::uint32_t bytes, std::uint64_t value) {
    if (bytes != 4 || offset % 4 != 0 || !serving()) return;
    const std::uint32_t index = (offset - kRegDoorbells) / 4;
    const auto qid = static_cast<std::uint16_t>(index / 2);
    const auto pointer = static_cast<std::uint32_t>(value & 0xFFFF);
    if ((index & 1) != 0) {
        const DoorbellResult result = queues_.ring_head(qid, pointer);
        if (__builtin_expect(result != DoorbellResult::ok, 0)) return bad_doorbell(result);
        ++counters_.doorbells;
        if (__builtin_expect(queues_.cq(qid).has_held(), 0)) send_held(qid);
    } else {
        const DoorbellResult result = queues_.ring_tail(qid, pointer, agenda_.now());
        if (__builtin_expect(result != DoorbellResult::ok, 0)) return bad_doorbell(result);
        ++counters_.doorbells;
        arbiter_.set_ready(qid, may_fetch(queues_.sq(qid)));
        pump();
    }
}

__attribute__((noinline, cold)) void NvmeController::bad_doorbell(DoorbellResult result) {
    ++counters_.doorbell_errors;
    raise_event(AsyncEvents::kTypeError, result == DoorbellResult::no_queue ? AsyncEvents::kInfoInvalidDoorbellRegister
                                                                            : AsyncEvents::kInfoInvalidDoorbellValue);
}

void NvmeController::act(NvmeRegisters::Action action) {
    switch (action) {
        case NvmeRegisters::Action::none:
            // CC.SHN may have been taken back, which lets the fetching go on.
            if (!registers_.is_shutting_down()) flush_wanted_ = false;
            pump();
            break;
        case NvmeRegisters::Action::enable: {
            const std::uint32_t aqa = registers_.aqa();
            queues_.create_cq(0, registers_.acq(), Aqa::acqs(aqa) + 1, 0, true);
            queues_.create_sq(0, 0, registers_.asq(), Aqa::asqs(aqa) + 1);
            agenda_.post<&NvmeController::become_ready>(agenda_.now() + config_.ready_time, this, ++enable_epoch_);
            break;
        }
        case NvmeRegisters::Action::disable:
            ++counters_.resets;
            ++enable_epoch_;
            flush_wanted_ = false;
            settling_ = true;
            settle();
            break;
        case NvmeRegisters::Action::shutdown:
            flush_wanted_ = true;
            settling_ = true;
            settle();
            break;
    }
}

void NvmeController::become_ready(std::uint64_t epoch) {
    if (epoch == enable_epoch_) registers_.ready();
}

std::size_t NvmeController::free_fetches() const {
    std::size_t n = 0;
    for (std::int32_t i = free_fetch_; i >= 0; i = fetches_[static_cast<std::size_t>(i)].next) ++n;
    return n;
}

bool NvmeController::idle() const {
    return free_fetches() == fetches_.size() && free_lists_.size() == lists_.size() &&
           free_admin_ops_.size() == admin_ops_.size() && in_firmware_ == 0;
}

void NvmeController::settle_slow() {
    if (!idle()) return;
    if (registers_.is_stopping()) {
        settling_ = false;
        flush_running_ = false;
        // What never got its CQE: held event requests, completions that waited for room, a waiting Delete SQ.
        for (std::uint32_t q = 0; q < queues_.count(); ++q)
            counters_.dropped += queues_.sq(static_cast<std::uint16_t>(q)).in_flight;
        queues_.clear();
        arbiter_.reset();
        events_.reset();
        coalescer_.reset();
        features_.reset();
        apply_features();
        act(registers_.stopped());
    } else if (flush_wanted_) {
        flush_wanted_ = false;
        flush_running_ = true;
        Command& flush = acquire_command();
        flush.op = IoOp::flush;
        flush.sqid = 0;
        flush.cid = 0;
        flush.status = kStSuccess;
        flush.fua = false;
        flush.slba = flush.bytes = 0;
        flush.blocks = 0;
        flush_timeline_.begin(agenda_.now());
        flush.timeline = &flush_timeline_;
        hand_over(flush);
    } else if (!flush_running_) {
        settling_ = false;
    }
}

void NvmeController::apply_features() {
    arbiter_.set_burst_code(features_.arbitration_burst());
    decoder_.set_write_through(device_.volatile_write_cache && !features_.write_cache_enabled());
    coalescing_ = features_.coalescing_threshold() != 0 && features_.coalescing_time() != 0;
}

void NvmeController::raise_event(std::uint32_t type, std::uint32_t info) {
    std::uint16_t cid = 0;
    std::uint32_t dw0 = 0;
    if (!events_.raise(type, info, cid, dw0)) return;
    queues_.sq(0).free_cid(cid);
    post(0, cid, kStSuccess, dw0);
}

void NvmeController::check_temperature() {
    constexpr std::uint32_t kTemperatureEvents = 1u << 1;  // Feature 0Bh, bits as the SMART critical warning
    if ((features_.async_events() & kTemperatureEvents) != 0 && temperature_warning(admin_.health(), features_))
        raise_event(AsyncEvents::kTypeSmart, AsyncEvents::kInfoTemperature);
}

std::string NvmeController::dump() const {
    std::string out = fmt::format(
        "nvme: CC={:08x} CSTS={:08x} in_firmware={} fetches={}/{} lists={} held_events={}\n", registers_.cc(),
        registers_.csts(), in_firmware_, fetches_.size() - free_fetches(), fetches_.size(),
        lists_.size() - free_lists_.size(), events_.held());
    for (std::uint32_t i = 0; i < queues_.count(); ++i) {
        const auto qid = static_cast<std::uint16_t>(i);
        if (queues_.has_sq(i)) {
            const SubmissionQueue& q = queues_.sq(qid);
            out += fmt::format("nvme: SQ {} entries={} head={} fetch={} tail={} in_flight={} cq={}{}\n", i, q.entries,
                               q.head, q.fetch, q.tail, q.in_flight, q.cqid, q.deleting ? " deleting" : "");
        }
        if (queues_.has_cq(i)) {
            const CompletionQueue& q = queues_.cq(qid);
            out += fmt::format("nvme: CQ {} entries={} head={} tail={} held={}{}\n", i, q.entries, q.head, q.tail,
                               q.held.size() - q.held_first, q.full() ? " full" : "");
        }
    }
    return out;
}

void NvmeController::check_waiters() const {
    const auto fail = [](std::uint32_t queue, const char* what) {
        throw CheckFailed(fmt::format("nvme: queue {}: {}", queue, what));
    };
    for (std::uint32_t i = 0; i < queues_.count(); ++i) {
        const auto qid = static_cast<std::uint16_t>(i);
        if (queues_.has_sq(i)) {
            const SubmissionQueue& q = queues_.sq(qid);
            if (q.waiting() != 0 && may_fetch(q) && !arbiter_.is_ready(qid))
                fail(i, "commands are behind the doorbell and may be fetched, but the arbiter does not know");
            if (q.deleting && q.in_flight == 0) fail(i, "Delete SQ waits for commands in flight, and there are none");
        }
        if (queues_.has_cq(i)) {
            const CompletionQueue& q = queues_.cq(qid);
            if (q.has_held() && !q.full()) fail(i, "CQEs are held, and the completion queue has room");
        }
    }
    if (arbiter_.any() && registers_.is_running() && free_fetch_ >= 0)
        throw CheckFailed("nvme: a submission queue is ready and a fetch is free, but nobody fetches");
    if (settling_ && idle() && !flush_running_)
        throw CheckFailed("nvme: a reset or shutdown waits for work to end, and there is none");
}

void NvmeController::check_books() const {
    const std::uint64_t ended = counters_.cqes + counters_.dropped + events_.held();
    if (counters_.sqes != ended || in_firmware_ != 0) {
        throw CheckFailed(fmt::format("nvme: {} commands fetched, but {} completed, {} dropped, {} event requests held "
                                      "and {} still in the firmware\n{}",
                                      counters_.sqes, counters_.cqes, counters_.dropped, events_.held(), in_firmware_,
                                      dump()));
    }
}

}  // namespace ssdtlm
