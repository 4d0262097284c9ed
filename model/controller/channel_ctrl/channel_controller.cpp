// SPDX-License-Identifier: Apache-2.0
#include "controller/channel_ctrl/channel_controller.h"

#include <algorithm>
#include <array>
#include <string>

#include "common/report/error.h"

namespace ssdtlm {

ChannelController::ChannelController(OnfiInitiatorSocket& socket, Agenda& agenda, const NandConfig& nand,
                                     const EccConfig& ecc, std::uint16_t channel, bool multi_plane,
                                     SchedulerPort& scheduler, const BusOrder& order, const SuspendPolicy* suspend,
                                     TransactionTable& transactions, bool moves_with_host, const History& earlier)
    : onfi_initiator(socket),
      agenda_(agenda),
      independent_plane_read_(nand.independent_plane_read),
      may_join_(multi_plane && nand.geometry.planes_per_die > 1),
      moves_with_host_(moves_with_host),
      cache_program_(nand.cache_program),
      channel_(channel),
      page_bytes_(nand.geometry.page_bytes),
      first_die_(channel * nand.geometry.dies_per_channel()),
      ecc_(ecc),
      scheduler_(scheduler),
      transactions_(transactions),
      arbiter_(order),
      dies_(nand, channel, may_join_),
      waits_(nand, earlier.busy),
      sequences_(nand, earlier.counters),
      door_(agenda, *this) {
    scheduler_.listen(channel_, *this);
    held_ = scheduler_.planes_held(channel_);
    if (cache_program_) {
        running_.resize(dies_.size());
        behind_.resize(dies_.size());
    }
    if (suspend != nullptr) suspends_ = std::make_unique<Suspender>(*suspend, nand, dies_, waits_, sequences_);
}

ChannelController::History ChannelController::history() const {
    return {counters(), waits_.history(agenda_.now())};
}

// --- what is waiting -------------------------------------------------------------------------------------------------

void ChannelController::submit(FlashTransaction& txn, std::uint32_t die) {
    const SimTime now = agenda_.now();
    SSDTLM_CHECK(((class_bit(txn.cls) & kProgramClasses) != 0) == (txn.op == FlashOp::program),
                 "flash class does not fit the operation");
    txn.begin(now);
    ++outstanding_;
    if (__builtin_expect(shared_ != nullptr, 0) && txn.op == FlashOp::read && share_running(txn, die)) return;
    SchedulerRequest request = request_of(txn, die);
    if (!start_at_once(txn, request)) queue(txn, request);
}

inline SchedulerRequest ChannelController::request_of(const FlashTransaction& txn, std::uint32_t die) const {
    SchedulerRequest request;
    request.channel = channel_;
    request.die = static_cast<std::uint16_t>(die);
    request.cls =
        __builtin_expect(moves_with_host_, 0) && txn.cls == FlashClass::gc_write ? FlashClass::host_write : txn.cls;
    request.plane = txn.plane;
    request.page = txn.op == FlashOp::erase ? 0 : txn.address.page;
    request.block = txn.address.block;
    request.bytes = txn.op == FlashOp::erase ? 0 : txn.data_bytes;
    request.pushed_at = agenda_.now();
    request.whose = txn.whose;
    return request;
}

inline void ChannelController::queue(FlashTransaction& txn, SchedulerRequest& request) {
    const SimTime now = agenda_.now();
    waits_.begin(txn, request.die, now);
    if (__builtin_expect(shared_ != nullptr, 0) && share_waiting(txn, request.die)) return;
    transactions_.add(txn);
    request.tag = txn.tag;
    scheduler_.push(request);

    arbiter_.queued(txn.op);
    dies_.queued(request.die);
    if (__builtin_expect(cache_program_, 0) && txn.op == FlashOp::program) dies_.program_queued(request.die);
    if (__builtin_expect(suspends_ != nullptr, 0)) suspends_->queued(request.cls, request.die);
    if (!dies_.accepts(request.die)) {  // its release calls service()
        if (__builtin_expect(suspends_ != nullptr, 0) && suspends_->concerns(request.die))
            request_kick(std::max(now, bus_free_at()));
        return;
    }
    if (waits_for_partners(txn) && now >= bus_free_at())
        request_kick(now);
    else
        service();
}

/// A read need not be queued first if its die is idle, the bus is free and nothing else could start. While a question
/// is pending, the requests that it concerns could start.
inline bool ChannelController::start_at_once(FlashTransaction& txn, const SchedulerRequest& request) {
    if (txn.op != FlashOp::read || !dies_.idle(request.die) || agenda_.now() < bus_free_at() ||
        arbiter_.programs() != 0 || dies_.could_start() || waits_for_partners(txn) ||
        !scheduler_.grant_at_once(request))
        return false;
    asked_at_ = agenda_.now();
    FlashTransaction* const only = &txn;
    start(FlashOp::read, request.die, &only, 1);
    come_again();
    return true;
}

void ChannelController::post_kick(SimTime at) {
    kick_at_ = at;
    agenda_.post(at, Then::to<&ChannelController::kick>(this));
}

void ChannelController::kick() {
    kick_at_ = kNever;
    service();
}

void ChannelController::service_free_bus() {
    if (__builtin_expect(deciding_, 0)) {
        changed_ = true;
        return;
    }
    asked_at_ = agenda_.now();
    if ((__builtin_expect(suspends_ != nullptr, 0) && serve_suspends()) || use_bus(0)) come_again();
}

/// Starts the first that can use the bus, of the turns not in `tried`. False: none can, or the scheduler's answer is
/// pending.
inline bool ChannelController::use_bus(std::uint32_t tried) {
    const bool could_start = dies_.could_start();
    for (BusPick pick = arbiter_.next(tried, could_start); pick.turn != BusTurn::none;
         pick = arbiter_.next(tried, could_start)) {
        if (pick.turn == BusTurn::data_out) {
            start_data_out(pick.data);
            return true;
        }
        tried |= BusArbiter::bit(pick.turn);
        const GrantAnswer answer = ask(pick.turn, tried);
        if (answer != GrantAnswer::nothing) return answer == GrantAnswer::granted;
    }
    return false;
}

/// As use_bus(), but not in line. It serves a scheduler that answers later.
__attribute__((noinline)) bool ChannelController::use_bus_again(std::uint32_t tried) {
    return use_bus(tried);
}

// --- what starts -----------------------------------------------------------------------------------------------------

inline GrantAnswer ChannelController::ask_scheduler(const GrantQuery& query) {
    const GrantAnswer answer = scheduler_.grant(query, granted_);
    if (held_ != nullptr && __builtin_expect((held_->planes | held_before_.planes) != 0, 0)) count_held();
    return answer;
}

__attribute__((noinline, cold)) void ChannelController::count_held() {
    const SimTime now = agenda_.now();
    sequences_.count_look_ahead(held_->cuts - held_before_.cuts, held_before_.planes * (now - held_since_));
    held_before_ = *held_;
    held_since_ = now;
}

/// Asks the scheduler, and starts what it grants at once.
inline GrantAnswer ChannelController::ask(BusTurn turn, std::uint32_t tried) {
    GrantQuery& query = dies_.query();
    query.now = agenda_.now();
    query.classes = BusArbiter::classes(turn);
    const bool registers = turn == BusTurn::programs && __builtin_expect(dies_.taking() != 0, 0);
    const GrantAnswer answer = registers ? ask_for_programs(query) : ask_scheduler(query);
    if (answer == GrantAnswer::granted) {
        start_granted();
    } else if (answer == GrantAnswer::pending) {
        deciding_ = true;
        answers_later_ = true;
        changed_ = false;
        tried_ = tried;
    }
    return answer;
}

/// Asks for programs. Dies whose cache registers are free count as idle, too.
__attribute__((noinline)) GrantAnswer ChannelController::ask_for_programs(GrantQuery query) {
    query.idle_dies |= dies_.taking();
    return ask_scheduler(query);
}

void ChannelController::grant_decided(GrantAnswer answer, const Grant& grant) {
    deciding_ = false;
    const bool changed = changed_;
    bool started = answer == GrantAnswer::granted;
    if (started) {
        granted_ = grant;
        start_granted();
    } else {
        started = use_bus_again(tried_);
        if (deciding_) changed_ = changed;  // this question does not cover the classes of the one before
    }
    if (!started && !deciding_ && changed) started = use_bus_again(0);
    if (started) come_again();
}

inline void ChannelController::start_granted() {
    FlashTransaction* const first = &transactions_.remove(granted_.tags[0]);
    if (__builtin_expect(suspends_ != nullptr, 0)) suspends_->granted(first->cls, granted_.die, granted_.count);
    if (first->op != FlashOp::read || granted_.count != 1) return start_joined(*first);
    dies_.left(granted_.die, 1);
    arbiter_.started(FlashOp::read, 1);
    start(FlashOp::read, granted_.die, &first, 1);  // nearly all are: start() for constant arguments
}

void ChannelController::start_joined(FlashTransaction& first) {
    std::array<FlashTransaction*, kMaxPlanes> txns{&first};
    for (std::uint32_t i = 1; i < granted_.count; ++i) txns[i] = &transactions_.remove(granted_.tags[i]);
    if (__builtin_expect(cache_program_, 0) && first.op == FlashOp::program)
        dies_.programs_left(granted_.die, granted_.count);
    dies_.left(granted_.die, granted_.count);
    arbiter_.started(first.op, granted_.count);
    if (__builtin_expect(cache_program_, 0) && first.op == FlashOp::program)
        return start_cached(granted_.die, txns.data(), granted_.count);
    start(first.op, granted_.die, txns.data(), granted_.count);
}

__attribute__((always_inline)) inline void ChannelController::start(FlashOp op, std::uint32_t die,
                                                                    FlashTransaction* const* txns,
                                                                    std::uint32_t count) {
    const SimTime now = agenda_.now();
    OnfiPayload& payload = sequences_.operation(op, die, txns, count, now);
    const SimTime busy_from = payload.onfi.bus_end + sequences_.busy_delay();
    if (__builtin_expect(shared_ != nullptr, 0) && (op != FlashOp::read || !independent_plane_read_))
        shared_->forget(die);
    for (std::uint32_t i = 0; i < count; ++i) {
        FlashTransaction& txn = *txns[i];
        if (now != txn.queued_at)
            waits_.end(txn, die, asked_at_, now);
        else
            waits_.at_once(txn, die);
        txn.path->begins({txn.number, idx(txn.address.plane), !independent_plane_read_ || op != FlashOp::read});
        txn.path->charge(stage(txn, Stage::channel), busy_from);
        dies_.occupy(die, txn);
        waits_.busy(txn, die, now);
        if (op == FlashOp::read && __builtin_expect(shared_ != nullptr, 0)) start_shared(txn, die, busy_from);
    }
    waits_.hold(txns, count, die, now, bus_free_at());
    if (op != FlashOp::read && __builtin_expect(suspends_ != nullptr, 0))
        suspends_->started(die, txns, count, busy_from);
    send(payload);
}

// --- cache program ---------------------------------------------------------------------------------------------------

/// Starts a program on a die whose array is idle or works on another program. It is sent with 15h, because more may
/// follow while the array works. At the end of a stream it is sent with 10h: other work waits for the die, and no
/// program.
__attribute__((noinline)) void ChannelController::start_cached(std::uint32_t die, FlashTransaction* const* txns,
                                                               std::uint32_t count) {
    const SimTime now = agenda_.now();
    const bool behind = dies_.anything_runs(die);
    if (shared_ != nullptr) shared_->forget(die);
    // With 10h neither this program nor the one before could be suspended.
    const bool ends = dies_.programs_waiting(die) == 0 && dies_.waiting(die) != 0 && suspends_ == nullptr;
    OnfiPayload& payload = sequences_.operation(FlashOp::program, die, txns, count, now);
    OnfiExtension& onfi = payload.onfi;
    onfi.more = !ends;
    onfi.array_begins = onfi.array_ends = onfi.ready_at = SimTime{};
    const SimTime busy_from = onfi.bus_end + sequences_.busy_delay();
    const Stage waits_for_array =
        wait_stage(static_cast<std::size_t>(behind ? busy_kind(dies_.first_active(die)) : BusyKind::host_write));
    const std::uint8_t flow_ahead = FlowWaits::flow_of(behind ? dies_.first_active(die) : *txns[0]);
    for (std::uint32_t i = 0; i < count; ++i) {
        FlashTransaction& txn = *txns[i];
        if (now != txn.queued_at)
            waits_.end(txn, die, asked_at_, now);
        else
            waits_.at_once(txn, die);
        txn.path->begins({txn.number, idx(txn.address.plane), true});
        txn.path->charge(Stage::channel, busy_from);
        if (behind) {
            dies_.put_behind(die, txn);
        } else {
            dies_.occupy(die, txn);
            waits_.busy(txn, die, now);
        }
    }
    dies_.set_register_free(die, false);
    waits_.hold_registers(*txns[0], die, now);
    if (behind)
        waits_.hold_bus(txns, count, now, bus_free_at());
    else
        waits_.hold(txns, count, die, now, bus_free_at());
    if (__builtin_expect(suspends_ != nullptr, 0))
        behind ? suspends_->page_behind(die) : suspends_->started(die, txns, count, busy_from);
    send(payload);
    const SimTime begins = std::max(onfi.array_begins, busy_from);  // a module that knows no cache program does not say
    for (std::uint32_t i = 0; i < count; ++i) waits_.wait_for_array(*txns[i], waits_for_array, flow_ahead, begins);
    Generation& generation = (behind ? behind_ : running_)[die];
    generation = {onfi.more, begins, kNever};
    if (behind || !onfi.more || onfi.ready_at <= now) return;
    generation.ready_at = onfi.ready_at;
    agenda_.post(onfi.ready_at, Then::to<&ChannelController::registers_free>(this, die));
}

/// R/B# rises although the array is at work; unless the program has been suspended since, or has ended.
void ChannelController::registers_free(std::uint64_t at) {
    const auto die = static_cast<std::uint32_t>(at);
    Generation& running = running_[die];
    if (running.ready_at != agenda_.now()) return;
    running.ready_at = kNever;
    if (__builtin_expect(pins_ != nullptr, 0)) pins_->ready(die, agenda_.now());
    waits_.free_registers(die, agenda_.now());
    dies_.set_register_free(die, true);
    service();
}

/// A program's result is known, while the next one may be at work.
__attribute__((noinline)) void ChannelController::cached_ended(const OnfiExtension& onfi) {
    const SimTime now = agenda_.now();
    const std::uint32_t die = onfi.die;
    const bool more_runs = dies_.page_behind(die);
    std::array<FlashTransaction*, kMaxPlanes> txns{};
    for (std::uint32_t i = 0; i < onfi.count; ++i) {
        txns[i] = &dies_.active(die, onfi.target[i].plane);
        txns[i]->path->charge(Stage::array, now);
        txns[i]->status.result = onfi.target[i].status.result;
        waits_.idle(*txns[i], die, now);
        waits_.let_go(*txns[i], die, now);
        if (!more_runs) dies_.release(die, onfi.target[i].plane);
    }
    if (__builtin_expect(suspends_ != nullptr, 0)) suspends_->ended(die);
    // With 15h and nothing behind it R/B# is high already.
    if (__builtin_expect(pins_ != nullptr, 0) && (!more_runs || behind_[die].more)) pins_->ready_if_low(die, now);
    if (more_runs) {
        goes_on(die);
    } else {
        running_[die].ready_at = kNever;
        waits_.free_registers(die, now);
        dies_.set_register_free(die, false);
    }
    service();
    for (std::uint32_t i = 0; i < onfi.count; ++i) finish(*txns[i]);
}

/// The program in the cache registers now runs. R/B# rises for it now, unless it was sent with 10h.
void ChannelController::goes_on(std::uint32_t die) {
    const SimTime now = agenda_.now();
    dies_.advance(die);
    running_[die] = behind_[die];
    std::array<FlashTransaction*, kMaxPlanes> txns{};
    std::uint32_t count = 0;
    for (std::uint32_t p = 0; p < kMaxPlanes; ++p)
        if (FlashTransaction* const txn = dies_.active_or_null(die, p); txn != nullptr) txns[count++] = txn;
    for (std::uint32_t i = 0; i < count; ++i) waits_.busy(*txns[i], die, now);
    waits_.hold_die(txns.data(), count, die, now);
    if (__builtin_expect(suspends_ != nullptr, 0))
        suspends_->started(die, txns.data(), count, running_[die].array_begins);
    if (!running_[die].more) return;
    waits_.free_registers(die, now);
    dies_.set_register_free(die, true);
}

inline void ChannelController::start_data_out(FlashTransaction* picked) {
    FlashTransaction& txn = arbiter_.start_data_out(picked);
    const SimTime now = agenda_.now();
    OnfiPayload& payload = sequences_.data_out(idx(txn.die) - first_die_, txn, now);
    waits_.end_data_wait(txn, now);
    txn.path->charge(stage(txn, Stage::channel), payload.onfi.bus_end);
    waits_.hold_bus(txn, now, bus_free_at());
    send(payload);
}

inline void ChannelController::send(OnfiPayload& payload) {
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    const tlm::tlm_sync_enum answered = bus_->nb_transport_fw(payload, phase, delay);
    if (__builtin_expect(answered != tlm::TLM_UPDATED || phase != tlm::END_REQ, 0)) refuse_answer();
    if (__builtin_expect(pins_ != nullptr, 0)) pins_->issued(payload.onfi, sequences_.sequencer());
}

__attribute__((noinline, cold)) void ChannelController::refuse_answer() const {
    panic(name(), "BEGIN_REQ was not answered with END_REQ");
}

// --- what is suspended -----------------------------------------------------------------------------------------------

/// Uses the free bus for a suspended operation, if one needs it. Returns false if there is nothing to do now.
__attribute__((noinline)) bool ChannelController::serve_suspends() {
    if (read_beside_suspended()) return true;
    SimTime again_at;
    if (OnfiPayload* const payload = suspends_->next(agenda_.now(), again_at)) {
        if (cache_program_) running_[payload->onfi.die].ready_at = kNever;
        send(*payload);
        return true;
    }
    if (again_at != kNever) look_at_suspends(again_at);
    return false;
}

/// Sets a timer for the suspends. It does not kick the bus: kicks come often until then, and each would ask for this
/// time again.
void ChannelController::look_at_suspends(SimTime at) {
    if (suspends_due_at_ <= at) return;
    suspends_due_at_ = at;
    agenda_.post(at, Then::to<&ChannelController::suspends_due>(this));
}

void ChannelController::suspends_due() {
    if (suspends_due_at_ != agenda_.now()) return;  // an earlier time came up, and asked again
    suspends_due_at_ = kNever;
    service();
}

bool ChannelController::read_beside_suspended() {
    const Suspender::Question question = suspends_->reads_beside(agenda_.now());
    if (!question.any) return false;
    const GrantAnswer answer = ask_scheduler(question.query);
    SSDTLM_CHECK(answer != GrantAnswer::pending, "a scheduler that takes time does not suspend");
    if (answer == GrantAnswer::granted) {
        start_granted();
        return true;
    }
    suspends_->give_up(question.query);
    return false;
}

/// A suspend's answer comes when the array has stopped, or the operation has ended; a resume's with its last cycle.
void ChannelController::suspend_answered(const OnfiExtension& onfi) {
    const bool stopped =
        onfi_operation(onfi.op).effect == ArrayEffect::suspends && suspends_->stopped(onfi, agenda_.now());
    if (stopped && __builtin_expect(pins_ != nullptr, 0)) pins_->ready(onfi.die, agenda_.now());
    service();
}

__attribute__((noinline, cold)) void ChannelController::refuse_response(const OnfiPayload& payload) const {
    throw CheckFailed(
        std::string(name()) + ": the flash answered a " + onfi_operation(payload.onfi.op).name + " of die " +
        std::to_string(payload.onfi.die) + " with " + payload.get_response_string() +
        "; allowed is TLM_OK_RESPONSE (what fails in the array is said by the status of each OnfiTarget)");
}

// --- what ends -------------------------------------------------------------------------------------------------------

tlm::tlm_sync_enum ChannelController::nb_transport_bw(tlm::tlm_generic_payload& answered, tlm::tlm_phase& phase,
                                                      sc_core::sc_time&) {
    SSDTLM_CHECK(phase == tlm::BEGIN_RESP, std::string(name()) + ": backward phase is not BEGIN_RESP");
    auto& payload = static_cast<OnfiPayload&>(answered);  // this initiator sends no others
    if (__builtin_expect(answered.get_response_status() != tlm::TLM_OK_RESPONSE, 0)) refuse_response(payload);
    const OnfiExtension& onfi = payload.onfi;
    if (onfi.op == FlashOp::read_out) {
        data_ended(onfi);
    } else {
        const bool cached = __builtin_expect(cache_program_, 0) && onfi.op == FlashOp::program;
        if (__builtin_expect(pins_ != nullptr, 0) && is_array_operation(onfi.op) && !cached)
            pins_->ready(onfi.die, agenda_.now());
        if (onfi.op == FlashOp::read)
            reads_ended(onfi);
        else if (cached)
            cached_ended(onfi);
        else if (is_array_operation(onfi.op))
            operation_ended(onfi);
        else
            suspend_answered(onfi);
    }
    sequences_.release(payload);
    return tlm::TLM_COMPLETED;
}

inline void ChannelController::reads_ended(const OnfiExtension& onfi) {
    const std::uint32_t count = onfi.count;
    std::uint32_t i = 0;
    do {
        FlashTransaction& txn = dies_.active(onfi.die, onfi.target[i].plane);
        txn.path->charge(stage(txn, Stage::array), agenda_.now());
        waits_.data_ready(agenda_.now());
        arbiter_.data_ready(txn);
        if (__builtin_expect(shared_ != nullptr, 0)) shared_ready(txn, onfi.die);
    } while (++i < count);
    service();
}

inline void ChannelController::data_ended(const OnfiExtension& onfi) {
    FlashTransaction& txn =
        __builtin_expect(shared_ != nullptr, 0) ? shared_data_ended(onfi) : release(onfi.die, onfi.target[0].plane);
    txn.status.bits = onfi.target[0].status.bits;
    service();
    if (ecc_.decode_time == Ps{0})
        decoded(txn);
    else
        agenda_.post(agenda_.now() + ecc_.decode_time, Then::to<&ChannelController::decoding_over>(this, txn));
}

void ChannelController::decoding_over(FlashTransaction& txn) {
    txn.path->charge(Stage::ecc, agenda_.now());
    decoded(txn);
}

inline void ChannelController::decoded(FlashTransaction& txn) {
    if (__builtin_expect(ecc_.corrects(txn.status.bits), 1) || !read_again(txn)) finish(txn);
}

/// False: it was read often enough, and its status says so.
__attribute__((noinline)) bool ChannelController::read_again(FlashTransaction& txn) {
    if (ecc_.gives_up(txn.status.retries)) {
        txn.status.result = FlashResult::uncorrectable;
        return false;
    }
    ++txn.status.retries;
    sequences_.count_retry();
    txn.queued_at = agenda_.now();
    SchedulerRequest request = request_of(txn, idx(txn.die) - first_die_);
    queue(txn, request);
    return true;
}

void ChannelController::operation_ended(const OnfiExtension& onfi) {
    std::array<FlashTransaction*, kMaxPlanes> txns{};  // the die's own list may be taken over by what starts next
    for (std::uint32_t i = 0; i < onfi.count; ++i) {
        txns[i] = &release(onfi.die, onfi.target[i].plane);
        txns[i]->path->charge(Stage::array, agenda_.now());
        txns[i]->status.result = onfi.target[i].status.result;
    }
    if (__builtin_expect(suspends_ != nullptr, 0)) suspends_->ended(onfi.die);
    service();
    for (std::uint32_t i = 0; i < onfi.count; ++i) finish(*txns[i]);
}

inline void ChannelController::finish(FlashTransaction& txn) {
    --outstanding_;
    txn.then();
}

}  // namespace ssdtlm
