// SPDX-License-Identifier: Apache-2.0
#include "controller/nvme/controller.h"

#include <fmt/format.h>

#include <utility>

#include "controller/nvme/admin/sanitize.h"

namespace ssdtlm {

using namespace nvme;

namespace {

const NvmeConfig& checked(const NvmeConfig& c, const DriveFacts& device) {
    SSDTLM_CHECK(c.max_queue_pairs >= 1 && c.max_queue_pairs <= 64, "NVMe queue pairs outside 1..64");
    SSDTLM_CHECK(c.max_queue_entries >= 2 && c.max_queue_entries <= 65536, "NVMe queue entries outside 2..65536");
    SSDTLM_CHECK(c.lba_bytes == 512 || c.lba_bytes == 4096, "LBA size is neither 512 nor 4096");
    SSDTLM_CHECK(c.fetch_burst >= 1 && c.fetch_burst <= kPageBytes / kSqeBytes, "NVMe fetch burst outside 1..64");
    SSDTLM_CHECK(c.fetch_window >= 1 && c.fetch_depth >= 1, "NVMe fetch window or depth is 0");
    SSDTLM_CHECK(c.max_transfer_bytes != kPageBytes, "MDTS cannot say one page: 0 is no limit");
    SSDTLM_CHECK(device.drive_bytes != 0 && device.drive_bytes % c.lba_bytes == 0,
                 "the drive is not a whole number of logical blocks");
    return c;
}

}  // namespace

NvmeController::NvmeController(Agenda& agenda, DmaPort& dma, CommandTracker& tracker, const NvmeConfig& config,
                               const DriveFacts& device, bool signed_data)
    : NvmeController(agenda, dma, tracker, checked(config, device), device, signed_data,
                     Before{NvmeCounters{}, NvmeMemory(config, device)}) {}

NvmeController::NvmeController(Agenda& agenda, DmaPort& dma, CommandTracker& tracker, const NvmeConfig& config,
                               const DriveFacts& device, bool signed_data, const Before& before)
    : config_(config),
      device_(device),
      agenda_(agenda),
      counters_(before.counters),
      memory_(before.memory),
      queues_(config_.max_queue_pairs, config_.max_queue_entries),
      features_(config_, device_.volatile_write_cache),
      state_(agenda, config_, counters_, *this, device_.scan_time),
      posting_(agenda, dma, queues_, features_, counters_, *this),
      lists_(dma, state_, counters_),
      media_(agenda, state_),
      admin_(config_, device_, {agenda, dma, state_, queues_, features_, posting_, lists_, memory_, counters_, *this}),
      io_({agenda, tracker, state_, queues_, posting_, lists_, memory_, counters_, media_, signed_data},
          config_.latency_targets,
          IoDecoder(memory_.namespaces, config_.max_transfer_bytes, admin_.streams(), config_.sgls)),
      fetch_(agenda, dma, config_, queues_, state_, counters_, admin_, io_),
      shadows_(dma, queues_, counters_, *this) {
    media_.bind(io_, admin_);
    admin_.bind(media_);
    admin_.bind(shadows_);
    features_changed();
}

/// Continues the work that a loss of power has interrupted. The flash is available from now on.
void NvmeController::go_on() {
    AdminContext& c = admin_.context();
    memory_.after_power_loss(agenda_.now(), memory_.former.power_cycles + counters_.power_cycles, device_);
    if (memory_.sanitize.state == SanitizeStatus::failed) memory_.namespaces.set_all_busy(kStSanitizeFailed);
    if (memory_.sanitize.state == SanitizeStatus::running && !media_.any()) begin_sanitize(c);
}

/// The end of the run is a loss of power.
void NvmeController::state(Snapshot& s) {
    const NvmeLifetime former = memory_.former;
    if (!s.reads()) {
        memory_.former = former.with(counters_, agenda_.now());
        if (!registers().is_shut_down()) ++memory_.former.unsafe_shutdowns;
    }
    memory_.state(s);
    if (s.reads())
        go_on();
    else
        memory_.former = former;
}

bool NvmeController::is_as_configured() const {
    const SanitizeStatus::State sanitize = memory_.sanitize.state;
    return memory_.namespaces.same_as(NvmeMemory(config_, device_).namespaces) && sanitize != SanitizeStatus::running &&
           sanitize != SanitizeStatus::failed;
}

std::uint64_t NvmeController::mmio_read(std::uint32_t offset, std::uint32_t bytes) const {
    if (offset < kRegDoorbells) return registers().read(offset, bytes);
    if (offset < kMsixTable || (bytes != 4 && bytes != 8) || offset % bytes != 0) return 0;  // doorbells read 0
    std::uint64_t value = posting_.read_vectors(offset);
    if (bytes == 8) value |= std::uint64_t{posting_.read_vectors(offset + 4)} << 32;
    return value;
}

void NvmeController::write_other(std::uint32_t offset, std::uint32_t bytes, std::uint64_t value) {
    if (offset < kRegDoorbells) {
        state_.write(offset, bytes, value);
    } else if ((bytes == 4 || bytes == 8) && offset % bytes == 0) {
        posting_.write_vectors(offset, static_cast<std::uint32_t>(value));
        if (bytes == 8) posting_.write_vectors(offset + 4, static_cast<std::uint32_t>(value >> 32));
    }
}

void NvmeController::reset_function(std::function<void()> stopped) {
    posting_.reset_vectors();
    state_.reset_function(std::move(stopped));
}

inline void NvmeController::rung(std::uint16_t qid, bool head) {
    if (head)
        posting_.head_moved(qid);
    else
        fetch_.rung(qid);
}

void NvmeController::write_doorbell(std::uint32_t offset, std::uint32_t bytes, std::uint64_t value) {
    if (bytes != 4 || offset % 4 != 0 || !state_.serving()) return;
    const std::uint32_t index = (offset - kRegDoorbells) / 4;
    const auto qid = static_cast<std::uint16_t>(index / 2);
    const auto pointer = static_cast<std::uint32_t>(value & 0xFFFF);
    const bool head = (index & 1) != 0;
    const DoorbellResult result =
        head ? queues_.ring_head(qid, pointer) : queues_.ring_tail(qid, pointer, agenda_.now());
    if (__builtin_expect(result != DoorbellResult::ok, 0)) return admin_.report_doorbell(result);
    ++counters_.doorbells;
    rung(qid, head);
    if (__builtin_expect(!head && shadows_.configured(), 0)) shadows_.look_at_tail(qid);
}

void NvmeController::shadow_rung(std::uint16_t qid, bool head, std::uint32_t value) {
    if (!state_.serving()) return;
    const DoorbellResult result = head ? queues_.ring_head(qid, value) : queues_.ring_tail(qid, value, agenda_.now());
    if (result != DoorbellResult::ok) return admin_.report_doorbell(result);
    rung(qid, head);
}

void NvmeController::create_admin_queues(const NvmeRegisters& registers) {
    const std::uint32_t aqa = registers.aqa();
    fetch_.set_weighted(Cc::ams(registers.cc()) == Cc::kAmsWeighted);
    queues_.create_cq(0, registers.acq(), Aqa::acqs(aqa) + 1, 0, true);
    queues_.create_sq(0, 0, registers.asq(), Aqa::asqs(aqa) + 1, {});
}

bool NvmeController::idle() const {
    return fetch_.under_way() == 0 && shadows_.under_way() == 0 && lists_.under_way() == 0 && admin_.under_way() == 0 &&
           io_.in_firmware() == 0;
}

void NvmeController::drop_queues() {
    // Counts what never got its CQE: held event requests, completions that waited for room, and a waiting Delete SQ.
    for (std::uint32_t q = 0; q < queues_.count(); ++q)
        counters_.dropped += queues_.sq(static_cast<std::uint16_t>(q)).in_flight;
    for (std::uint32_t q = 1; q < queues_.count(); ++q) {
        const CompletionQueue& cq = queues_.cq(static_cast<std::uint16_t>(q));
        counters_.dropped_completions += cq.held.size() - cq.held_first;
    }
    shadows_.reset();
    io_.reset();
    queues_.clear();
    fetch_.reset();
    posting_.reset();
    admin_.reset();
}

void NvmeController::features_changed() {
    fetch_.set_arbitration(features_.arbitration());
    io_.set_write_through(device_.volatile_write_cache && !features_.write_cache_enabled());
    posting_.apply_features();
}

void NvmeController::posted(std::uint16_t sqid, SubmissionQueue& queue) {
    if (queue.deleting && queue.in_flight == 0)
        admin_.queue_drained(sqid, queue);
    else if (queue.waiting() != 0)
        fetch_.window_moved(sqid);
    if (queue.shadowed) shadows_.look_at_tail(sqid);
}

std::string NvmeController::dump() const {
    std::string out = fmt::format("nvme: CC={:08x} CSTS={:08x} in_firmware={} fetches={}/{} lists={} held_events={}\n",
                                  registers().cc(), registers().csts(), in_firmware(), fetch_.under_way(),
                                  fetch_.depth(), lists_.under_way(), admin_.held_events());
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
    fetch_.check_waiters();
    admin_.check_waiters();
    posting_.check_waiters();
    media_.check_waiters();
    state_.check_waiters();
}

void NvmeController::check_books() const {
    const std::uint64_t ended = counters_.cqes + counters_.dropped + admin_.held_events();
    if (counters_.sqes != ended || in_firmware() != 0) {
        throw CheckFailed(fmt::format(
            "nvme: {} commands fetched, but {} completed, {} dropped, {} event requests held "
            "and {} still in the firmware\n{}",
            counters_.sqes, counters_.cqes, counters_.dropped, admin_.held_events(), in_firmware(), dump()));
    }
}

}  // namespace ssdtlm
