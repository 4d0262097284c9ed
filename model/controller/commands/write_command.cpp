// SPDX-License-Identifier: Apache-2.0
#include "controller/commands/write_command.h"

#include <algorithm>

#include "common/report/error.h"
#include "controller/commands/command_dump.h"

namespace ssdtlm {

WriteCommand::WriteCommand(const CommandServices& services, const Options& options)
    : services_(services), options_(options), most_asked_(services.map.most_units()), merges_(services) {
    services_.wait_queues.on_durable(ThenOf<void, std::uint32_t>::to<&WriteCommand::unit_durable>(this));
    services_.wait_queues.on_failed(ThenOf<void, std::uint32_t, CommandStatus>::to<&WriteCommand::unit_failed>(this));
}

void WriteCommand::start(Command& c) {
    State& s = state(c);
    s.command = &c;
    s.offset = 0;
    s.remaining = services_.extents.units(services_.extents.first_byte(c), c.bytes);
    const std::uint32_t of_unit =
        services_.costs.buffer_insert + (services_.streams != nullptr ? services_.costs.stream_choice : 0);
    services_.cores.run(c, services_.costs.write_command + std::uint64_t{of_unit} * s.remaining,
                        CoreStep::write_command, Then::to<&WriteCommand::wants_room>(this, c.index));
}

// A command passes the buffer in pieces if it would take more than half of it, or of its tenant's part of it. A piece
// has at most as many units as the map answers for at a time.
inline void WriteCommand::choose_piece(State& s) {
    s.begin = services_.extents.first_byte(*s.command) + s.offset;
    const std::uint32_t room = std::max(services_.buffer.capacity_of(s.command->whose.tenant) / 2, 1u);
    const std::uint64_t last_unit = services_.extents.unit_of(s.begin) + std::min(room, most_asked_);
    s.piece = std::min(s.command->bytes - s.offset, last_unit * services_.extents.unit_bytes - s.begin);
    s.units = services_.extents.units(s.begin, s.piece);
}

void WriteCommand::wants_room(std::uint64_t command) {
    if (take_room(states_[command])) return;
    merges_.look();
    services_.wait_queues.settle();
}

// Room is given in order of arrival, so that small writes do not overtake a large one. Only tenants with another part
// of the buffer may overtake.
bool WriteCommand::take_room(State& s) {
    choose_piece(s);
    if (__builtin_expect(services_.media.read_only, 0)) {
        refuse_rest(s, CommandStatus::read_only);
        return true;
    }
    const std::uint16_t tenant = s.command->whose.tenant;
    const std::uint32_t part = services_.buffer.quotas().part_of(tenant);
    if (!services_.wait_queues.anybody_for_room(part) && services_.buffer.reserve(s.units, tenant)) {
        fetch_data(s);
        return true;
    }
    if (__builtin_expect(aborts_, 0)) {
        refuse_rest(s, CommandStatus::aborted);
        return true;
    }
    services_.wait_queues.wait_for_room(part, Attempt::to<&WriteCommand::try_again>(this, s.command->index));
    return false;
}

bool WriteCommand::try_again(std::uint64_t command) {
    State& s = states_[command];
    if (!services_.media.read_only && !aborts_ && !services_.buffer.reserve(s.units, s.command->whose.tenant))
        return false;
    s.command->timeline->charge(Stage::buffer, services_.agenda.now());
    if (__builtin_expect(services_.media.read_only || aborts_, 0))
        refuse_rest(s, services_.media.read_only ? CommandStatus::read_only : CommandStatus::aborted);
    else
        fetch_data(s);
    return true;
}

// Ends the piece at hand and what follows it. Pieces before it stay.
__attribute__((noinline, cold)) void WriteCommand::refuse_rest(State& s, CommandStatus status) {
    s.command->status = status;
    s.remaining -= services_.extents.units(s.begin, s.command->bytes - s.offset);
    s.offset = s.command->bytes;
    if (s.remaining == 0)
        complete(s);
    else if (aborts_)
        services_.ends.let_go(*s.command);
}

void WriteCommand::let_go() {
    if (services_.wait_queues.anybody_for_room()) services_.wait_queues.settle();
    for (State& s : states_)
        if (s.command != nullptr && s.offset == s.command->bytes) services_.ends.let_go(*s.command);
}

void WriteCommand::fetch_data(State& s) {
    fetching_ += s.units;
    if (staging_free_.empty()) {
        staging_.emplace_back();
        staging_free_.push_back(&staging_.back());
    }
    s.staging = staging_free_.back();
    staging_free_.pop_back();
    if (s.staging->size() < s.piece) s.staging->resize(s.piece);
    services_.host.from_host(*s.command, s.offset, static_cast<std::uint32_t>(s.piece), s.staging->data(),
                             DmaThen::to<&WriteCommand::dma_done>(this, s.command->index), services_.moved());
}

void WriteCommand::dma_done(std::uint64_t command, DmaEnd end) {
    State& s = states_[command];
    s.command->timeline->charge(Stage::host_transfer, end.at);
    if (__builtin_expect(end.failed, 0)) return data_failed(s);
    const std::uint32_t unit = services_.extents.unit_bytes;
    const std::uint64_t place = services_.dram.place(std::uint64_t{s.units} * unit);
    s.dram_unit = static_cast<std::uint32_t>(place / unit);
    services_.dram.access({place + s.begin % unit, static_cast<std::uint32_t>(s.piece)},
                          Then::to<&WriteCommand::dram_done>(this, command));
}

// The piece has no data: the command ends without it and what follows it. Pieces before it stay.
__attribute__((noinline, cold)) void WriteCommand::data_failed(State& s) {
    Command& c = *s.command;
    c.status = CommandStatus::transfer_error;
    services_.buffer.cancel(s.units, c.whose.tenant);
    fetching_ -= s.units;
    free_staging(s);
    s.remaining -= services_.extents.units(s.begin, c.bytes - s.offset);
    s.offset = c.bytes;
    if (s.remaining == 0)
        complete(s);
    else if (aborts_)
        services_.ends.let_go(c);
    services_.wait_queues.settle();
}

// Inserts `bytes` from byte `at` of the device, all in one unit. `place`: its old copy, held by the map's answer.
// False: the old copy is lost, and with it the unit's other bytes.
__attribute__((always_inline)) inline bool WriteCommand::insert_unit(const Command& c, std::uint64_t at,
                                                                     std::uint64_t bytes, const std::uint8_t* data,
                                                                     Ppa place, std::uint32_t dram_unit) {
    const auto lpa = Lpa{static_cast<std::uint32_t>(services_.extents.unit_of(at))};
    const bool with_bytes = __builtin_expect(services_.bytes != nullptr, 0);
    const std::uint32_t version =
        with_bytes ? 0 : services_.signatures.version_of(services_.extents.block_of(at), data);
    if (__builtin_expect(services_.cache != nullptr, 0)) services_.cache->drop(lpa);
    if (__builtin_expect(merges_.anything_waits(), 0) && bring_rest(c, at, bytes, data, version, place, dram_unit))
        return true;
    const WriteBuffer::Index before = with_bytes ? services_.buffer.find(lpa) : WriteBuffer::kNone;
    const bool needs_rest = place != kUnmapped && bytes != services_.extents.unit_bytes &&
                            services_.buffer.find(lpa) == WriteBuffer::kNone &&
                            __builtin_expect(options_.rest_reads != RestReads::never, 1);
    if (__builtin_expect(needs_rest && place == kLost, 0)) return false;
    using Bytes = WriteBuffer::Bytes;
    const Bytes has = needs_rest ? Bytes::merging : bytes != services_.extents.unit_bytes ? Bytes::part : Bytes::whole;
    const std::uint32_t waiter = waits_for_flash(c) ? c.index : WriteBuffer::kNoWaiter;
    const WriteBuffer::Index entry =
        services_.buffer.insert(lpa, version, waiter, has, stream_of(c, lpa), dram_unit, c.whose);
    if (with_bytes)
        services_.bytes->insert(entry, before, static_cast<std::uint32_t>(at % services_.extents.unit_bytes),
                                static_cast<std::uint32_t>(bytes), data, needs_rest, metadata_of(c, at));
    if (needs_rest && __builtin_expect(options_.rest_reads == RestReads::at_write_back, 0) &&
        waiter == WriteBuffer::kNoWaiter)
        merges_.wait(place, entry, at % services_.extents.unit_bytes, bytes);
    else if (needs_rest)
        merges_.start(place, entry, waits_for_flash(c) ? c.whose : c.whose.without_deadline());
    else if (is_place(place))
        services_.map.let_go(services_.geometry.page_of(place).plane, services_.geometry.block_of(place), 1);
    return true;
}

/// The unit may be in the buffer and wait for its rest, which has not been read yet: false, if it is not. `place` is
/// held by the map's answer.
__attribute__((noinline)) bool WriteCommand::bring_rest(const Command& c, std::uint64_t at, std::uint64_t bytes,
                                                        const std::uint8_t* data, std::uint32_t version, Ppa place,
                                                        std::uint32_t dram_unit) {
    const auto lpa = Lpa{static_cast<std::uint32_t>(services_.extents.unit_of(at))};
    const WriteBuffer::Index entry = services_.buffer.find(lpa);
    if (entry == WriteBuffer::kNone || !merges_.waits(entry)) return false;
    if (waits_for_flash(c) || services_.buffer.unit(entry).dropped) {
        merges_.begin(entry);
        return false;
    }
    const std::uint64_t from = at % services_.extents.unit_bytes;
    services_.buffer.fill_up(entry, version, stream_of(c, lpa), dram_unit, c.whose);
    if (services_.bytes != nullptr)
        services_.bytes->insert(entry, entry, static_cast<std::uint32_t>(from), static_cast<std::uint32_t>(bytes), data,
                                false, metadata_of(c, at));
    merges_.brought(entry, from, bytes);
    if (is_place(place))
        services_.map.let_go(services_.geometry.page_of(place).plane, services_.geometry.block_of(place), 1);
    return true;
}

// A partial write needs the rest of the unit's old copy, unless the buffer has it when the units are inserted. The map
// is asked once, so that all units of the piece enter the buffer at the same time.
void WriteCommand::dram_done(std::uint64_t command) {
    State& s = states_[command];
    s.command->timeline->charge(Stage::buffer, services_.agenda.now());
    const std::uint64_t begin = s.begin, end = begin + s.piece, unit = services_.extents.unit_bytes;
    const std::uint64_t first = services_.extents.unit_of(begin), last = services_.extents.unit_of(end - 1);
    const bool last_in_part = end != (last + 1) * unit;
    const bool first_in_part = begin != first * unit || (first == last && last_in_part);
    s.asked.units = 0;
    if (first_in_part || last_in_part) {
        const std::uint64_t from = first_in_part ? first : last, to = last_in_part ? last : first;
        s.asked = MapExtent{Lpa{static_cast<std::uint32_t>(from)}, static_cast<std::uint32_t>(to - from + 1),
                            s.command->whose};
        if (places_.size() < s.asked.units) places_.resize(s.asked.units);
        if (!services_.wait_queues.ask_map(*s.command, s.asked, MapUse::read, places_.data(),
                                           MapThen::to<&WriteCommand::insert_units>(this, s.command->index)))
            return;
    }
    insert_units(static_cast<std::uint32_t>(command), places_.data());
}

void WriteCommand::insert_units(std::uint32_t command, const Ppa* places) {
    State& s = states_[command];
    Command& c = *s.command;
    const std::uint64_t begin = s.begin, end = begin + s.piece;
    const bool waits = waits_for_flash(c);
    fetching_ -= s.units;
    std::uint32_t refused = 0;
    const std::uint64_t first = services_.extents.unit_of(begin);
    std::uint64_t u = first;
    for (std::uint64_t at = begin; at < end; ++u) {
        const std::uint64_t bytes = std::min(end, (u + 1) * services_.extents.unit_bytes) - at;
        const std::uint64_t asked = u - idx(s.asked.first);
        const auto in_dram = static_cast<std::uint32_t>(s.dram_unit + (u - first));
        refused += !insert_unit(c, at, bytes, s.staging->data() + (at - begin),
                                asked < s.asked.units ? places[asked] : kUnmapped, in_dram);
        at += bytes;
    }
    free_staging(s);
    s.offset += s.piece;
    units_written_ += s.units - refused;
    if (__builtin_expect(refused != 0, 0)) {
        services_.buffer.cancel(refused, c.whose.tenant);
        c.status = CommandStatus::unrecovered_read;
    }
    s.remaining -= waits ? refused : s.units;
    if (s.offset != c.bytes)
        take_room(s);
    else if (s.remaining == 0)
        complete(s);
    else if (__builtin_expect(aborts_, 0))
        services_.ends.let_go(c);
    if (__builtin_expect(merges_.anything_waits(), 0)) merges_.look();
    services_.wait_queues.settle();  // coalescing gives room back
}

void WriteCommand::unit_durable(std::uint32_t command) {
    State& s = states_[command];
    if (--s.remaining != 0) return;
    services_.wait_queues.charge_durability(*s.command->timeline);
    complete(s);
}

bool WriteCommand::anybody_forced() const {
    return std::any_of(states_.begin(), states_.end(),
                       [this](const State& s) { return s.command != nullptr && waits_for_flash(*s.command); });
}

void WriteCommand::check_waiters() const {
    if (fetching_ + services_.buffer.held() != services_.buffer.used())
        throw CheckFailed("firmware: " + std::to_string(services_.buffer.used()) + " units of the buffer are taken, " +
                          std::to_string(fetching_) + " by data on its way and " +
                          std::to_string(services_.buffer.held()) + " by data");
    merges_.check_waiters();
}

std::string WriteCommand::dump() const {
    return std::to_string(fetching_) + " units on their way from the host, " + merges_.dump() + "\n" +
           dump_commands(states_);
}

}  // namespace ssdtlm
