// SPDX-License-Identifier: Apache-2.0
#include "controller/channel_ctrl/channel_controller.h"

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
      scheduler_(scheduler),
      transactions_(transactions),
      geometry_(nand.geometry),
      timing_(nand),
      decode_time_(ecc.decode_time),
      channel_(channel),
      first_die_(channel * nand.geometry.dies_per_channel()),
      independent_plane_read_(nand.independent_plane_read),
      may_join_(multi_plane && nand.geometry.planes_per_die > 1),
      meters_per_die_(nand.independent_plane_read ? 1 + nand.geometry.planes_per_die : 1),
      dies_(nand.geometry.dies_per_channel()),
      meters_(dies_.size() * meters_per_die_),
      selected_(nand.geometry.ways, kNothingSelected) {
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

// --- what is waiting -------------------------------------------------------------------------------------------------

void ChannelController::submit(FlashTransaction& txn, std::uint32_t die) {
    const SimTime now = agenda_.now();
    txn.queued_at = now;
    txn.timeline.begin(now);
    txn.busy_snapshot = meter_of(txn, die).totals(now);
    transactions_.add(txn);
    SchedulerRequest request;
    request.tag = txn.tag;
    request.channel = channel_;
    request.die = static_cast<std::uint16_t>(die);
    request.cls = txn.cls;
    request.plane = static_cast<std::uint8_t>(plane_of(txn));
    request.page = txn.op == FlashOp::erase ? 0 : txn.address.page;
    SSDTLM_CHECK(((bit(txn.cls) & kPrograms) != 0) == (txn.op == FlashOp::program),
                 "flash class does not fit the operation");
    scheduler_.push(request);

    ++outstanding_;
    ++(txn.op == FlashOp::program ? programs_waiting_ : shorts_waiting_);
    ++dies_[die].waiting;
    dies_waiting_ |= die_bit(die);
    if ((dies_accepting() & die_bit(die)) == 0) return;  // its release calls service()
    if (waits_for_partners(txn) && now >= bus_free_at_)
        request_kick(now);
    else
        service();
}

/// Work for several planes of a die is submitted one by one at one instant. Started at once, the first would go alone;
/// a whole page, a program or an erase therefore waits for the end of the instant. Small reads save that event.
bool ChannelController::waits_for_partners(const FlashTransaction& txn) const {
    if (!may_join_) return false;
    return txn.op != FlashOp::read || (!independent_plane_read_ && txn.data_bytes >= geometry_.page_bytes);
}

std::uint64_t ChannelController::dies_accepting() const {
    std::uint64_t dies = ready_.idle_dies;
    if (independent_plane_read_)
        for (const std::uint64_t planes : ready_.idle_read_planes) dies |= planes;
    return dies;
}

void ChannelController::request_kick(SimTime at) {
    if (kick_at_ <= at) return;  // that one asks again
    kick_at_ = at;
    agenda_.post<&ChannelController::kick>(at, this);
}

void ChannelController::kick(std::uint64_t) {
    kick_at_ = kNever;
    service();
}

void ChannelController::service() {
    if (deciding_) {
        changed_ = true;
        return;
    }
    if (agenda_.now() >= bus_free_at_) {
        asked_at_ = agenda_.now();
        if (!use_bus(Turn::due_programs)) return;
    }
    if (data_out_head_ != nullptr || could_start()) request_kick(bus_free_at_);
}

/// Starts the first that can use the bus, from `first` on. False: none can, or the scheduler's answer is pending.
bool ChannelController::use_bus(Turn first) {
    const bool askable = could_start();
    switch (first) {
        case Turn::due_programs:
            if (askable && programs_waiting_ != 0 && program_passed_ >= kProgramTurns) {
                const GrantAnswer answer = ask(Turn::due_programs, kPrograms);
                if (answer != GrantAnswer::nothing) return answer == GrantAnswer::granted;
            }
            [[fallthrough]];
        case Turn::shorts:
            if (askable && shorts_waiting_ != 0) {
                const GrantAnswer answer = ask(Turn::shorts, kShorts);
                if (answer != GrantAnswer::nothing) return answer == GrantAnswer::granted;
            }
            [[fallthrough]];
        case Turn::data_out:
            if (data_out_head_ != nullptr) {
                start_data_out();
                program_passed_ += programs_waiting_ != 0;
                return true;
            }
            [[fallthrough]];
        case Turn::programs:
            if (askable && programs_waiting_ != 0) return ask(Turn::programs, kPrograms) == GrantAnswer::granted;
    }
    return false;
}

// --- what starts -----------------------------------------------------------------------------------------------------

/// Asks the scheduler, and starts what it grants at once.
GrantAnswer ChannelController::ask(Turn turn, std::uint8_t classes) {
    ready_.classes = classes;
    const GrantAnswer answer = scheduler_.grant(ready_, granted_);
    if (answer == GrantAnswer::granted) {
        start();
    } else if (answer == GrantAnswer::pending) {
        deciding_ = true;
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
        started = use_bus(static_cast<Turn>(static_cast<std::uint8_t>(turn_) + 1));
        if (deciding_) changed_ = changed;  // this question does not cover the classes of the one before
    }
    if (!started && !deciding_ && changed) started = use_bus(Turn::due_programs);
    if (started && (data_out_head_ != nullptr || could_start())) request_kick(bus_free_at_);
}

void ChannelController::start() {
    const Grant& grant = granted_;
    const SimTime now = agenda_.now();
    Die& die = dies_[grant.die];
    OnfiPayload& payload = payloads_.acquire();
    OnfiExtension* const onfi = &payload.onfi;
    onfi->die = grant.die;
    onfi->count = grant.count;
    onfi->bus_begin = now;

    std::array<FlashTransaction*, kMaxPlanes> txns{};
    Ps data_in{};
    for (std::uint32_t i = 0; i < grant.count; ++i) {
        FlashTransaction& txn = transactions_.remove(grant.tags[i]);
        txns[i] = &txn;
        OnfiTarget& target = onfi->target[i];
        target.plane = static_cast<std::uint8_t>(plane_of(txn));
        target.block = txn.address.block;
        target.page = txn.op == FlashOp::erase ? 0 : txn.address.page;
        target.data_bytes = txn.data_bytes;
        target.spare = txn.op == FlashOp::program ? txn.spare.data() : nullptr;
        if (txn.op == FlashOp::program) {
            data_in += timing_.data_in(txn.data_bytes);
            counters_.bytes_in += timing_.bus_bytes(txn.data_bytes);
        }
    }
    Ps cycles{};
    switch (txns[0]->op) {
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
        txns[i]->timeline.charge(Stage::channel, onfi->bus_end + timing_.busy_delay());
        occupy(grant.die, *txns[i]);
    }

    if (txns[0]->op == FlashOp::program) {
        programs_waiting_ -= grant.count;
        program_passed_ = 0;
    } else {
        shorts_waiting_ -= grant.count;
        program_passed_ += programs_waiting_ != 0;
    }
    die.waiting -= grant.count;
    if (die.waiting == 0) dies_waiting_ &= ~die_bit(grant.die);
    counters_.command += cycles;
    counters_.data_in += data_in;
    counters_.pages[static_cast<std::size_t>(grant.cls)] += grant.count;
    ++counters_.operations;
    counters_.multi_plane += grant.count > 1;
    send(payload);
    if (__builtin_expect(pins_ != nullptr, 0)) pins_->issued(*onfi, sequencer_.get());
}

void ChannelController::charge_wait(FlashTransaction& txn, std::uint32_t die) {
    const SimTime now = agenda_.now();
    const BusyMeter::Totals totals = meter_of(txn, die).totals(now);
    SimTime until = txn.queued_at;
    for (std::size_t k = 0; k < kBusyKinds; ++k) {
        if (totals[k] == txn.busy_snapshot[k]) continue;
        until += Ps{totals[k] - txn.busy_snapshot[k]};
        txn.timeline.charge(wait_stage(k), until);
    }
    if (asked_at_ > txn.timeline.last()) txn.timeline.charge(Stage::channel_wait, asked_at_);
    txn.timeline.charge(Stage::scheduler, now);
}

void ChannelController::start_data_out() {
    FlashTransaction& txn = *data_out_head_;
    data_out_head_ = txn.next;
    txn.next = nullptr;
    const SimTime now = agenda_.now();
    const std::uint32_t die = die_of(txn);
    const std::uint32_t plane = plane_of(txn);

    OnfiPayload& payload = payloads_.acquire();
    OnfiExtension* const onfi = &payload.onfi;
    onfi->sequence = OnfiSequence::read_out;
    onfi->die = static_cast<std::uint16_t>(die);
    onfi->count = 1;
    onfi->target[0] = OnfiTarget{static_cast<std::uint8_t>(plane), txn.address.block, txn.address.page, txn.data_bytes,
                                 txn.spare.data()};
    onfi->bus_begin = now;
    const Ps select = selected(die) == selection(die, plane) ? Ps{0} : timing_.select();
    Ps data = timing_.data_out(txn.data_bytes);
    onfi->bus_end = now + select + data;
    bus_free_at_ = onfi->bus_end + timing_.turnaround();
    if (__builtin_expect(sequencer_ != nullptr, 0)) {
        bus_free_at_ = play(*onfi, select == Ps{0} ? PinSelect::none : PinSelect::enhanced);
        data = onfi->bus_end - now - select;
    }
    selected(die) = selection(die, plane);

    txn.timeline.charge(Stage::channel_wait, now);
    txn.timeline.charge(Stage::channel, onfi->bus_end);
    counters_.command += select;
    counters_.data_out += data;
    counters_.turnaround += bus_free_at_ - onfi->bus_end;
    counters_.bytes_out += timing_.bus_bytes(txn.data_bytes);
    send(payload);
    if (__builtin_expect(pins_ != nullptr, 0)) pins_->issued(*onfi, sequencer_.get());
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

void ChannelController::send(tlm::tlm_generic_payload& payload) {
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    const tlm::tlm_sync_enum answered = onfi_initiator->nb_transport_fw(payload, phase, delay);
    SSDTLM_CHECK(answered == tlm::TLM_UPDATED && phase == tlm::END_REQ,
                 std::string(name()) + ": BEGIN_REQ was not answered with END_REQ");
}

// --- what ends -------------------------------------------------------------------------------------------------------

tlm::tlm_sync_enum ChannelController::nb_transport_bw(tlm::tlm_generic_payload& answered, tlm::tlm_phase& phase,
                                                      sc_core::sc_time&) {
    SSDTLM_CHECK(phase == tlm::BEGIN_RESP, std::string(name()) + ": backward phase is not BEGIN_RESP");
    auto& payload = static_cast<OnfiPayload&>(answered);  // this initiator sends no others
    const OnfiExtension& onfi = payload.onfi;
    if (__builtin_expect(pins_ != nullptr && onfi.sequence != OnfiSequence::read_out, 0))
        pins_->ready(onfi, agenda_.now());
    switch (onfi.sequence) {
        case OnfiSequence::read: array_ended(onfi); break;
        case OnfiSequence::read_out: data_ended(onfi); break;
        case OnfiSequence::program:
        case OnfiSequence::erase: operation_ended(onfi); break;
    }
    payloads_.release(payload);
    return tlm::TLM_COMPLETED;
}

void ChannelController::array_ended(const OnfiExtension& onfi) {
    for (std::uint32_t i = 0; i < onfi.count; ++i) {
        FlashTransaction& txn = *dies_[onfi.die].active[onfi.target[i].plane];
        txn.timeline.charge(Stage::array, agenda_.now());
        txn.next = nullptr;
        (data_out_head_ == nullptr ? data_out_head_ : data_out_tail_->next) = &txn;
        data_out_tail_ = &txn;
    }
    service();
}

void ChannelController::data_ended(const OnfiExtension& onfi) {
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
    txn.timeline.charge(Stage::ecc, agenda_.now());
    finish(txn);
}

void ChannelController::operation_ended(const OnfiExtension& onfi) {
    std::array<FlashTransaction*, kMaxPlanes> txns{};  // the die's own list may be taken over by what starts next
    for (std::uint32_t i = 0; i < onfi.count; ++i) {
        txns[i] = &release(onfi.die, onfi.target[i].plane);
        txns[i]->timeline.charge(Stage::array, agenda_.now());
    }
    service();
    for (std::uint32_t i = 0; i < onfi.count; ++i) finish(*txns[i]);
}

void ChannelController::finish(FlashTransaction& txn) {
    --outstanding_;
    txn.client->flash_done(txn);
}

// --- what the dies are doing -----------------------------------------------------------------------------------------

const BusyMeter& ChannelController::meter_of(const FlashTransaction& txn, std::uint32_t die) const {
    const std::uint32_t offset = independent_plane_read_ && txn.op == FlashOp::read ? 1 + plane_of(txn) : 0;
    return meters_[die * meters_per_die_ + offset];
}

void ChannelController::occupy(std::uint32_t d, FlashTransaction& txn) {
    const SimTime now = agenda_.now();
    const std::uint32_t plane = plane_of(txn);
    const BusyKind kind = busy_kind(txn.cls);
    Die& die = dies_[d];
    SSDTLM_CHECK(die.active[plane] == nullptr, "grant for a plane that is not idle");
    die.active[plane] = &txn;
    ++die.running;
    ready_.idle_dies &= ~die_bit(d);
    whole(d).start(kind, now);
    if (!independent_plane_read_) return;
    for (std::uint32_t p = 0; p < geometry_.planes_per_die; ++p) {
        if (txn.op == FlashOp::read && p != plane) continue;
        ready_.idle_read_planes[p] &= ~die_bit(d);
        meters_[d * meters_per_die_ + 1 + p].start(kind, now);
    }
}

FlashTransaction& ChannelController::release(std::uint32_t d, std::uint32_t plane) {
    const SimTime now = agenda_.now();
    Die& die = dies_[d];
    FlashTransaction& txn = *die.active[plane];
    const BusyKind kind = busy_kind(txn.cls);
    die.active[plane] = nullptr;
    --die.running;
    if (die.running == 0) ready_.idle_dies |= die_bit(d);
    whole(d).stop(kind, now);
    if (!independent_plane_read_) return txn;
    for (std::uint32_t p = 0; p < geometry_.planes_per_die; ++p) {
        if (txn.op == FlashOp::read && p != plane) continue;
        BusyMeter& meter = meters_[d * meters_per_die_ + 1 + p];
        meter.stop(kind, now);
        if (!meter.busy()) ready_.idle_read_planes[p] |= die_bit(d);
    }
    return txn;
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
