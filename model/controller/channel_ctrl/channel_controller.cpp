// SPDX-License-Identifier: Apache-2.0
#include "controller/channel_ctrl/channel_controller.h"

#include <algorithm>
#include <string>

#include "common/report/error.h"

namespace ssdtlm {
namespace {

constexpr std::uint8_t bit(FlashClass c) { return static_cast<std::uint8_t>(1u << static_cast<unsigned>(c)); }
constexpr std::uint8_t kPrograms =
    bit(FlashClass::host_write) | bit(FlashClass::mapping_write) | bit(FlashClass::gc_write);
constexpr std::uint8_t kShorts = kAllClasses & ~kPrograms;
constexpr std::uint16_t kNothingSelected = 0xFFFF;

constexpr std::uint64_t die_bit(std::uint32_t die) { return std::uint64_t{1} << die; }

FlashTransaction& transaction_of(std::uint64_t handle) { return *reinterpret_cast<FlashTransaction*>(handle); }

}  // namespace

ChannelController::ChannelController(sc_core::sc_module_name name, Agenda& agenda, const NandConfig& nand,
                                     const EccConfig& ecc, std::uint16_t channel, bool multi_plane,
                                     SchedulerPort& scheduler, TransactionTable& transactions)
    : sc_module(name),
      onfi_initiator("onfi_initiator"),
      agenda_(agenda),
      independent_plane_read_(nand.independent_plane_read),
      may_join_(multi_plane && nand.geometry.planes_per_die > 1),
      channel_(channel),
      first_die_(channel * nand.geometry.dies_per_channel()),
      read_cycles_(OnfiBusTiming(nand).read_issue(1)),
      decode_time_(ecc.decode_time),
      dies_(nand.geometry.dies_per_channel()),
      plane_meters_(nand.independent_plane_read ? dies_.size() * nand.geometry.planes_per_die : 0),
      selected_(nand.geometry.ways, kNothingSelected),
      scheduler_(scheduler),
      transactions_(transactions),
      timing_(nand),
      geometry_(nand.geometry) {
    SSDTLM_CHECK(dies_.size() <= kMaxDiesPerChannel, "more dies per channel than a grant query can name");
    onfi_initiator.bind(static_cast<tlm::tlm_bw_transport_if<>&>(*this));
    scheduler_.listen(channel_, *this);
    for (std::size_t d = 0; d < dies_.size(); ++d)
        dies_[d].way = static_cast<std::uint8_t>(d / geometry_.dies_per_chip);
    ready_.channel = channel;
    ready_.idle_dies = ~std::uint64_t{0} >> (64 - dies_.size());
    if (independent_plane_read_)
        for (std::uint32_t p = 0; p < geometry_.planes_per_die; ++p) ready_.idle_read_planes[p] = ready_.idle_dies;
}

void ChannelController::end_of_elaboration() { bus_ = onfi_initiator.operator->(); }

// --- what is waiting -------------------------------------------------------------------------------------------------

void ChannelController::submit(FlashTransaction& txn, std::uint32_t die) {
    const SimTime now = agenda_.now();
    const bool program = txn.op == FlashOp::program;
    SSDTLM_CHECK(((bit(txn.cls) & kPrograms) != 0) == program, "flash class does not fit the operation");
    txn.begin(now);
    ++outstanding_;
    SchedulerRequest request;
    request.channel = channel_;
    request.die = static_cast<std::uint16_t>(die);
    request.cls = txn.cls;
    request.plane = txn.plane;
    request.page = txn.op == FlashOp::erase ? 0 : txn.address.page;
    if (start_at_once(txn, request)) return;
    txn.busy_snapshot = meter_of(txn, die).settled(now);
    transactions_.add(txn);
    request.tag = txn.tag;
    scheduler_.push(request);

    ++(program ? programs_waiting_ : shorts_waiting_);
    ++dies_[die].waiting;
    dies_waiting_ |= die_bit(die);
    if ((dies_accepting() & die_bit(die)) == 0) return;  // its release calls service()
    if (waits_for_partners(txn) && now >= bus_free_at_)
        request_kick(now);
    else
        service();
}

/// A read that finds its die idle, the bus free and nothing else that could start need not be queued first.
inline bool ChannelController::start_at_once(FlashTransaction& txn, const SchedulerRequest& request) {
    if (txn.op != FlashOp::read || (ready_.idle_dies & die_bit(request.die)) == 0 || agenda_.now() < bus_free_at_ ||
        deciding_ || programs_waiting_ != 0 || could_start() || waits_for_partners(txn) ||
        !scheduler_.grant_at_once(request))
        return false;
    asked_at_ = agenda_.now();
    start_read(request.die, txn);
    come_again();
    return true;
}

std::uint64_t ChannelController::dies_with_idle_plane() const {
    std::uint64_t dies = 0;
    for (const std::uint64_t planes : ready_.idle_read_planes) dies |= planes;
    return dies;
}

void ChannelController::post_kick(SimTime at) {
    kick_at_ = at;
    agenda_.post<&ChannelController::kick>(at, this);
}

void ChannelController::kick(std::uint64_t) {
    kick_at_ = kNever;
    service();
}

void ChannelController::service_free_bus() {
    if (__builtin_expect(deciding_, 0)) {
        changed_ = true;
        return;
    }
    asked_at_ = agenda_.now();
    if (use_bus(Turn::due_programs)) come_again();
}

/// Starts the first that can use the bus, from `first` on. False: none can, or the scheduler's answer is pending.
inline bool ChannelController::use_bus(Turn first) {
    const bool askable = could_start();
    const bool programs = askable && programs_waiting_ != 0;
    if (first <= Turn::due_programs && programs && program_passed_ >= kProgramTurns) {
        const GrantAnswer answer = ask(Turn::due_programs, kPrograms);
        if (answer != GrantAnswer::nothing) return answer == GrantAnswer::granted;
    }
    if (first <= Turn::shorts && askable && shorts_waiting_ != 0) {
        const GrantAnswer answer = ask(Turn::shorts, kShorts);
        if (answer != GrantAnswer::nothing) return answer == GrantAnswer::granted;
    }
    if (first <= Turn::data_out && data_out_head_ != nullptr) {
        start_data_out();
        program_passed_ += programs_waiting_ != 0;
        return true;
    }
    return programs && ask(Turn::programs, kPrograms) == GrantAnswer::granted;
}

/// The same, not in line: after the answer of a scheduler that takes time.
__attribute__((noinline)) bool ChannelController::use_bus_from(Turn first) { return use_bus(first); }

// --- what starts -----------------------------------------------------------------------------------------------------

/// Asks the scheduler, and starts what it grants at once.
inline GrantAnswer ChannelController::ask(Turn turn, std::uint8_t classes) {
    ready_.classes = classes;
    const GrantAnswer answer = scheduler_.grant(ready_, granted_);
    if (answer == GrantAnswer::granted) {
        start();
    } else if (answer == GrantAnswer::pending) {
        deciding_ = true;
        answers_later_ = true;
        changed_ = false;
        turn_ = turn;
    }
    return answer;
}

void ChannelController::grant_decided(GrantAnswer answer, const Grant& grant) {
    deciding_ = false;
    const bool changed = changed_;
    bool started = answer == GrantAnswer::granted;
    if (started) {
        granted_ = grant;
        start();
    } else if (turn_ != Turn::programs) {
        started = use_bus_from(static_cast<Turn>(static_cast<std::uint8_t>(turn_) + 1));
        if (deciding_) changed_ = changed;  // this question does not cover the classes of the one before
    }
    if (!started && !deciding_ && changed) started = use_bus_from(Turn::due_programs);
    if (started) come_again();
}

inline void ChannelController::start() {
    const Grant& grant = granted_;
    FlashTransaction& first = transactions_.remove(grant.tags[0]);
    if (first.op == FlashOp::read && grant.count == 1) {
        leaves_scheduler(grant.die, 1);
        --shorts_waiting_;
        program_passed_ += programs_waiting_ != 0;
        start_read(grant.die, first);
    } else {
        start_any(first);
    }
}

/// One plane: what nearly every start is.
void ChannelController::start_read(std::uint32_t d, FlashTransaction& txn) {
    const SimTime now = agenda_.now();
    OnfiPayload& payload = payloads_.acquire();
    OnfiExtension& onfi = payload.onfi;
    onfi.sequence = OnfiSequence::read;
    onfi.die = static_cast<std::uint16_t>(d);
    onfi.count = 1;
    onfi.bus_begin = now;
    onfi.target[0] = OnfiTarget{txn.plane, txn.address.block, txn.address.page, txn.data_bytes, nullptr};
    onfi.bus_end = bus_free_at_ = now + read_cycles_;
    if (__builtin_expect(sequencer_ != nullptr, 0)) bus_free_at_ = play(onfi, PinSelect::none);
    selected(d) = selection(d, txn.plane);
    if (now != txn.queued_at) charge_wait(txn, d);
    txn.path->charge(Stage::channel, onfi.bus_end + timing_.busy_delay());
    occupy(d, txn);
    counters_.pages[static_cast<std::size_t>(txn.cls)] += 1;
    ++counters_.operations;
    counters_.command += onfi.bus_end - now;
    send(payload);
}

void ChannelController::start_any(FlashTransaction& first) {
    const Grant& grant = granted_;
    const SimTime now = agenda_.now();
    const FlashOp op = first.op;
    std::array<FlashTransaction*, kMaxPlanes> txns{&first};
    for (std::uint32_t i = 1; i < grant.count; ++i) txns[i] = &transactions_.remove(grant.tags[i]);
    OnfiPayload& payload = payloads_.acquire();
    OnfiExtension* const onfi = &payload.onfi;
    onfi->die = grant.die;
    onfi->count = grant.count;
    onfi->bus_begin = now;

    Ps data_in{};
    for (std::uint32_t i = 0; i < grant.count; ++i) {
        FlashTransaction& txn = *txns[i];
        OnfiTarget& target = onfi->target[i];
        target.plane = txn.plane;
        target.block = txn.address.block;
        target.page = op == FlashOp::erase ? 0 : txn.address.page;
        target.data_bytes = txn.data_bytes;
        target.spare = op == FlashOp::program ? txn.spare.data() : nullptr;
        if (op == FlashOp::program) {
            const OnfiBusTiming::Burst burst = timing_.burst(txn.data_bytes);
            data_in += burst.in;
            counters_.bytes_in += burst.bytes;
        }
    }
    Ps cycles{};
    switch (op) {
        case FlashOp::read:
            onfi->sequence = OnfiSequence::read;
            cycles = timing_.read_issue(grant.count);
            break;
        case FlashOp::program:
            onfi->sequence = OnfiSequence::program;
            cycles = timing_.program_issue(grant.count);
            break;
        case FlashOp::erase:
            onfi->sequence = OnfiSequence::erase;
            cycles = timing_.erase_issue(grant.count);
            break;
    }
    onfi->bus_end = bus_free_at_ = now + cycles + data_in;
    if (__builtin_expect(sequencer_ != nullptr, 0)) {
        bus_free_at_ = play(*onfi, PinSelect::none);
        cycles = onfi->bus_end - now - data_in;
    }
    selected(grant.die) = grant.count == 1 ? selection(grant.die, onfi->target[0].plane) : kNothingSelected;
    for (std::uint32_t i = 0; i < grant.count; ++i)
        if (now != txns[i]->queued_at) charge_wait(*txns[i], grant.die);
    for (std::uint32_t i = 0; i < grant.count; ++i) {
        txns[i]->path->charge(Stage::channel, onfi->bus_end + timing_.busy_delay());
        occupy(grant.die, *txns[i]);
    }
    leaves_scheduler(grant.die, grant.count);
    if (op == FlashOp::program) {
        programs_waiting_ -= grant.count;
        program_passed_ = 0;
        if (grant.count > 1) counters_.joined_programs += grant.count;
    } else {
        shorts_waiting_ -= grant.count;
        program_passed_ += programs_waiting_ != 0;
    }
    counters_.command += cycles;
    counters_.data_in += data_in;
    counters_.pages[static_cast<std::size_t>(grant.cls)] += grant.count;
    ++counters_.operations;
    counters_.multi_plane += grant.count > 1;
    send(payload);
}

inline void ChannelController::leaves_scheduler(std::uint32_t d, std::uint32_t transactions) {
    Die& die = dies_[d];
    die.waiting -= transactions;
    if (die.waiting == 0) dies_waiting_ &= ~die_bit(d);
}

void ChannelController::charge_wait(FlashTransaction& txn, std::uint32_t die) {
    const SimTime now = agenda_.now();
    const BusyMeter::Totals& totals = meter_of(txn, die).settled(now);
    SimTime until = txn.queued_at;
    for (std::size_t k = 0; k < kBusyKinds; ++k) {
        if (totals[k] == txn.busy_snapshot[k]) continue;
        until += Ps{totals[k] - txn.busy_snapshot[k]};
        txn.path->charge(wait_stage(k), until);
    }
    if (asked_at_ > txn.path->last()) txn.path->charge(Stage::channel_wait, asked_at_);
    txn.path->charge(Stage::scheduler, now);
}

inline void ChannelController::start_data_out() {
    FlashTransaction& txn = *data_out_head_;
    data_out_head_ = txn.next;
    const SimTime now = agenda_.now();
    const std::uint32_t die = die_of(txn);

    OnfiPayload& payload = payloads_.acquire();
    OnfiExtension* const onfi = &payload.onfi;
    onfi->sequence = OnfiSequence::read_out;
    onfi->die = static_cast<std::uint16_t>(die);
    onfi->count = 1;
    onfi->bus_begin = now;
    onfi->target[0] =
        OnfiTarget{txn.plane, txn.address.block, txn.address.page, txn.data_bytes, txn.spare.data()};
    std::uint16_t& last_selected = selected(die);
    const bool reselect = last_selected != selection(die, txn.plane);
    last_selected = selection(die, txn.plane);
    const Ps select = reselect ? timing_.select() : Ps{0};
    const OnfiBusTiming::Burst burst = timing_.burst(txn.data_bytes);
    onfi->bus_end = now + select + burst.out;
    bus_free_at_ = onfi->bus_end + timing_.turnaround();
    if (__builtin_expect(sequencer_ != nullptr, 0))
        bus_free_at_ = play(*onfi, select == Ps{0} ? PinSelect::none : PinSelect::enhanced);

    txn.path->charge(Stage::channel_wait, now);
    txn.path->charge(Stage::channel, onfi->bus_end);
    counters_.command += select;
    counters_.data_out += onfi->bus_end - now - select;
    counters_.turnaround += bus_free_at_ - onfi->bus_end;
    counters_.bytes_out += burst.bytes;
    send(payload);
}

/// The sequence's end comes from the sequencer; returns when the next one may begin.
SimTime ChannelController::play(OnfiExtension& onfi, PinSelect select) {
    PinCommand command;
    command.sequence = onfi.sequence;
    command.select = select;
    command.die = onfi.die;
    command.count = onfi.count;
    command.target = onfi.target.data();
    command.begin = onfi.bus_begin;
    const BusSequencer::Held held = sequencer_->play(command, pins_ != nullptr);
    onfi.bus_end = held.end;
    return held.free;
}

inline void ChannelController::send(OnfiPayload& payload) {
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    const tlm::tlm_sync_enum answered = bus_->nb_transport_fw(payload, phase, delay);
    if (__builtin_expect(answered != tlm::TLM_UPDATED || phase != tlm::END_REQ, 0)) refuse_answer();
    if (__builtin_expect(pins_ != nullptr, 0)) pins_->issued(payload.onfi, sequencer_.get());
}

__attribute__((noinline, cold)) void ChannelController::refuse_answer() const {
    panic(name(), "BEGIN_REQ was not answered with END_REQ");
}

// --- what ends -------------------------------------------------------------------------------------------------------

tlm::tlm_sync_enum ChannelController::nb_transport_bw(tlm::tlm_generic_payload& answered, tlm::tlm_phase& phase,
                                                      sc_core::sc_time&) {
    SSDTLM_CHECK(phase == tlm::BEGIN_RESP, std::string(name()) + ": backward phase is not BEGIN_RESP");
    auto& payload = static_cast<OnfiPayload&>(answered);  // this initiator sends no others
    const OnfiExtension& onfi = payload.onfi;
    if (onfi.sequence == OnfiSequence::read_out) {
        data_ended(onfi);
    } else {
        if (__builtin_expect(pins_ != nullptr, 0)) pins_->ready(onfi, agenda_.now());
        if (onfi.sequence == OnfiSequence::read)
            reads_ended(onfi);
        else
            operation_ended(onfi);
    }
    payloads_.release(payload);
    return tlm::TLM_COMPLETED;
}

inline void ChannelController::reads_ended(const OnfiExtension& onfi) {
    const std::uint32_t count = onfi.count;
    std::uint32_t i = 0;
    do {
        FlashTransaction& txn = *dies_[onfi.die].active[onfi.target[i].plane];
        txn.path->charge(Stage::array, agenda_.now());
        txn.next = nullptr;
        (data_out_head_ == nullptr ? data_out_head_ : data_out_tail_->next) = &txn;
        data_out_tail_ = &txn;
    } while (++i < count);
    service();
}

inline void ChannelController::data_ended(const OnfiExtension& onfi) {
    FlashTransaction& txn = release(onfi.die, onfi.target[0].plane);
    service();
    if (decode_time_ == Ps{0})
        finish(txn);
    else
        agenda_.post<&ChannelController::decoded>(agenda_.now() + decode_time_, this,
                                                  reinterpret_cast<std::uintptr_t>(&txn));
}

void ChannelController::decoded(std::uint64_t handle) {
    FlashTransaction& txn = transaction_of(handle);
    txn.path->charge(Stage::ecc, agenda_.now());
    finish(txn);
}

void ChannelController::operation_ended(const OnfiExtension& onfi) {
    std::array<FlashTransaction*, kMaxPlanes> txns{};  // the die's own list may be taken over by what starts next
    for (std::uint32_t i = 0; i < onfi.count; ++i) {
        txns[i] = &release(onfi.die, onfi.target[i].plane);
        txns[i]->path->charge(Stage::array, agenda_.now());
    }
    service();
    for (std::uint32_t i = 0; i < onfi.count; ++i) finish(*txns[i]);
}

inline void ChannelController::finish(FlashTransaction& txn) {
    --outstanding_;
    txn.client->flash_done(txn);
}

// --- what the dies are doing -----------------------------------------------------------------------------------------

inline void ChannelController::occupy(std::uint32_t d, FlashTransaction& txn) {
    Die& die = dies_[d];
    SSDTLM_CHECK(die.active[txn.plane] == nullptr, "grant for a plane that is not idle");
    die.active[txn.plane] = &txn;
    ++die.running;
    ready_.idle_dies &= ~die_bit(d);
    die.meter.start(busy_kind(txn.cls), agenda_.now());
    if (independent_plane_read_) occupy_planes(d, txn);
}

void ChannelController::occupy_planes(std::uint32_t d, const FlashTransaction& txn) {
    for (std::uint32_t p = 0; p < geometry_.planes_per_die; ++p) {
        if (txn.op == FlashOp::read && p != txn.plane) continue;
        ready_.idle_read_planes[p] &= ~die_bit(d);
        plane_meter(d, p).start(busy_kind(txn.cls), agenda_.now());
    }
}

inline FlashTransaction& ChannelController::release(std::uint32_t d, std::uint32_t plane) {
    Die& die = dies_[d];
    FlashTransaction& txn = *die.active[plane];
    die.active[plane] = nullptr;
    if (--die.running == 0) ready_.idle_dies |= die_bit(d);
    die.meter.stop(busy_kind(txn.cls), agenda_.now());
    if (independent_plane_read_) release_planes(d, txn);
    return txn;
}

void ChannelController::release_planes(std::uint32_t d, const FlashTransaction& txn) {
    for (std::uint32_t p = 0; p < geometry_.planes_per_die; ++p) {
        if (txn.op == FlashOp::read && p != txn.plane) continue;
        BusyMeter& meter = plane_meter(d, p);
        meter.stop(busy_kind(txn.cls), agenda_.now());
        if (!meter.busy()) ready_.idle_read_planes[p] |= die_bit(d);
    }
}

void ChannelController::check_waiters() const {
    const bool asked = deciding_ || (kick_at_ != kNever && kick_at_ >= agenda_.now());
    if (!asked && data_out_head_ != nullptr)
        throw CheckFailed(std::string(name()) + ": data of a finished read waits for the bus, and nobody will use it");
    // A block of hardware holds a bounded number of requests: what is still behind them has to wait for a die of theirs.
    const bool held_outside = answers_later_ && std::any_of(dies_.begin(), dies_.end(), [](const Die& d) { return d.running != 0; });
    if (!asked && !held_outside && (dies_waiting_ & ready_.idle_dies) != 0)
        throw CheckFailed(std::string(name()) + ": work waits for an idle die, and nobody will ask the scheduler");
    std::uint32_t waiting = 0;
    for (std::size_t d = 0; d < dies_.size(); ++d) {
        const Die& die = dies_[d];
        waiting += die.waiting;
        const auto active = static_cast<std::uint32_t>(
            std::count_if(die.active.begin(), die.active.end(), [](const FlashTransaction* t) { return t != nullptr; }));
        if (active != die.running || (die.running == 0) != ((ready_.idle_dies & die_bit(static_cast<std::uint32_t>(d))) != 0) ||
            (die.waiting == 0) != ((dies_waiting_ & die_bit(static_cast<std::uint32_t>(d))) == 0))
            throw CheckFailed(std::string(name()) + ": die " + std::to_string(d) + " has " + std::to_string(active) +
                              " planes with work, but is counted with " + std::to_string(die.running));
    }
    // A scheduler that is deciding may have taken out what it is about to grant.
    if (waiting != shorts_waiting_ + programs_waiting_ || (!deciding_ && waiting != scheduler_.queued(channel_)))
        throw CheckFailed(std::string(name()) + ": " + std::to_string(waiting) + " transactions wait for dies, but " +
                          std::to_string(shorts_waiting_) + " reads and erases and " + std::to_string(programs_waiting_) +
                          " programs are counted, and the scheduler has " + std::to_string(scheduler_.queued(channel_)));
}

std::string ChannelController::dump() const {
    std::string text = std::string(name()) + ": bus " +
                       (bus_free_at_ > agenda_.now()
                            ? "held for " + std::to_string((bus_free_at_ - agenda_.now()).count()) + " ps more"
                            : std::string("free")) +
                       ", outstanding " + std::to_string(outstanding_) + ", waiting reads and erases " +
                       std::to_string(shorts_waiting_) + ", waiting programs " + std::to_string(programs_waiting_) +
                       "\n";
    constexpr const char* kOps[] = {"read", "program", "erase"};
    for (std::size_t d = 0; d < dies_.size(); ++d) {
        const Die& die = dies_[d];
        if (die.waiting == 0 && die.running == 0) continue;
        text += "  die " + std::to_string(d) + ": waiting " + std::to_string(die.waiting);
        for (std::size_t p = 0; p < kMaxPlanes; ++p) {
            const FlashTransaction* txn = die.active[p];
            if (txn == nullptr) continue;
            text += "; plane " + std::to_string(p) + " " + kOps[static_cast<std::size_t>(txn->op)] + " block " +
                    std::to_string(txn->address.block) + " page " + std::to_string(txn->address.page) + " since " +
                    std::to_string((agenda_.now() - txn->queued_at).count()) + " ps";
        }
        text += "\n";
    }
    const std::string waiting = scheduler_.dump(channel_);
    if (!waiting.empty()) text += std::string("  scheduler") + (deciding_ ? ", deciding" : "") + ":\n" + waiting;
    return text;
}

}  // namespace ssdtlm
