// SPDX-License-Identifier: Apache-2.0
#include "controller/commands/read_command.h"

#include <algorithm>

#include "common/report/error.h"
#include "controller/commands/command_dump.h"

namespace ssdtlm {

ReadCommand::ReadCommand(const CommandServices& services, SpareCodec codec, const ReadAheadConfig& ahead,
                         std::uint64_t logical_units)
    : services_(services),
      jobs_(services.jobs),
      codec_(codec),
      decode_(services.geometry),
      ahead_(ahead.bytes == 0 ? nullptr
                              : std::make_unique<AheadReader>(services, codec, ahead, logical_units,
                                                              AheadReader::Came::to<&ReadCommand::ahead_came>(this))),
      units_per_page_(services.geometry.units_per_page()),
      most_asked_(services.map.most_units()),
      places_(1) {}

inline ReadCommand::Located ReadCommand::locate(Lpa lpa, Ppa place) {
    Located found;
    if (!services_.buffer.empty()) {
        const WriteBuffer::Index entry = services_.buffer.find(lpa);
        if (entry != WriteBuffer::kNone) {
            const WriteBuffer::Unit unit = services_.buffer.unit(entry);
            if (!unit.dropped) {
                found.source = HostRead::Source::buffer;
                found.newer = true;
                found.version = unit.version;
                found.dram_unit = unit.dram_unit;
                found.entry = entry;
                if (__builtin_expect(services_.cache != nullptr, 0) && services_.cache->shares_room())
                    services_.buffer.touch(entry);
                if (!unit.merging) {
                    if (is_place(place))
                        services_.map.let_go(services_.geometry.page_of(place).plane,
                                             services_.geometry.block_of(place), 1);
                    return found;
                }
                // The rest of a partly written unit is still in flash.
            }
        }
    }
    found.ppa = place;
    if (is_place(place)) {
        found.source = HostRead::Source::flash;
        if (__builtin_expect(services_.cache != nullptr, 0) && !found.newer) look_into_cache(lpa, found);
    } else if (place == kLost)
        found.source = HostRead::Source::lost;
    return found;
}

// A hit is read like data of the buffer.
__attribute__((noinline)) void ReadCommand::look_into_cache(Lpa lpa, Located& found) {
    const ReadCache::Unit* const cached = services_.cache->look_up(lpa);
    if (cached == nullptr) {
        if (ahead_ == nullptr || (found.ahead = ahead_->on_its_way(lpa)) == nullptr) return;
        services_.map.let_go(services_.geometry.page_of(found.ppa).plane, services_.geometry.block_of(found.ppa), 1);
        found.source = HostRead::Source::ahead;
        return;
    }
    services_.map.let_go(services_.geometry.page_of(found.ppa).plane, services_.geometry.block_of(found.ppa), 1);
    found.source = HostRead::Source::buffer;
    found.newer = true;
    found.version = cached->version;
    found.dram_unit = cached->dram_unit;
}

/// Takes the bytes that the buffer or the read cache has of the unit.
__attribute__((noinline)) void ReadCommand::take_bytes(HostRead& part, std::uint32_t unit,
                                                       WriteBuffer::Index entry) const {
    if (entry == WriteBuffer::kNone)
        part.bytes->buffered[unit] = {services_.cache->find(Lpa{part.first_unit + unit})->bytes, {}};
    else
        services_.bytes->take(part, unit, entry);
}

/// The read brings all of the unit: it may enter the cache.
__attribute__((noinline)) void ReadCommand::begin_fill(HostRead& part, std::uint32_t unit, std::uint32_t bytes) {
    const bool fills = services_.cache->filled_by_reads() && bytes == services_.extents.unit_bytes;
    part.fill[unit] = fills ? services_.cache->begin_fill(Lpa{part.first_unit + unit}) : ReadCache::kNoFill;
}

/// `place`: address of the part's data in the DRAM.
__attribute__((noinline)) void ReadCommand::end_fills(const HostRead& part, std::uint64_t place) {
    const auto dram_unit = static_cast<std::uint32_t>(place / services_.extents.unit_bytes);
    const bool readable = part.txn.status.result == FlashResult::ok;
    for (std::uint32_t i = 0; i < part.units; ++i) {
        const Lpa lpa{part.first_unit + i};
        if ((part.newer >> i & 1u) != 0 || part.fill[i] == ReadCache::kNoFill) continue;
        if (!readable) {
            services_.cache->cancel_fill(part.fill[i], lpa);
            continue;
        }
        const std::uint32_t slot = part.slot[i];
        services_.cache->end_fill(part.fill[i],
                                  {lpa, codec_.version(part.txn.spare[slot]), dram_unit + i,
                                   part.bytes != nullptr ? part.bytes->page[slot] : UnitBytes{}},
                                  part.command->whose.tenant);
    }
    if (services_.buffer.is_wanted()) services_.wait_queues.settle();  // what makes room may be programmed
}

inline HostRead& ReadCommand::start_part(Command& c, const Located& unit, std::uint32_t page, Lpa lpa,
                                         std::uint32_t byte_offset) {
    HostRead& job = jobs_.acquire(services_.agenda.now());
    job.source = unit.source;
    job.command = &c;
    job.next = nullptr;
    job.byte_offset = byte_offset;
    job.first_unit = idx(lpa);
    job.units = 0;
    job.newer = 0;
    job.txn.data_bytes = 0;
    if (unit.source == HostRead::Source::flash) {
        job.txn.op = FlashOp::read;
        job.txn.cls = FlashClass::host_read;
        job.txn.address = decode_.page_of(page);
        job.txn.die = decode_.die_of(job.txn.address.plane);
        job.txn.slc = services_.slc.holds(job.txn.address);
        job.txn.first_byte = static_cast<std::uint32_t>(decode_.slot_of(unit.ppa, page) * services_.extents.unit_bytes +
                                                        services_.extents.first_byte(c) + byte_offset -
                                                        std::uint64_t{idx(lpa)} * services_.extents.unit_bytes);
        job.txn.then = Then::to<&ReadCommand::flash_done>(this, job);
        job.txn.owner = c.timeline->number();
        job.txn.whose = c.whose;
    } else if (__builtin_expect(unit.source == HostRead::Source::ahead, 0)) {
        ahead_->wait(*unit.ahead, job);
    }
    return job;
}

inline void ReadCommand::add_unit(HostRead& part, const Located& unit, std::uint32_t page, std::uint32_t bytes) {
    const std::uint32_t i = part.units++;
    if (unit.source == HostRead::Source::flash)
        part.slot[i] = static_cast<std::uint8_t>(decode_.slot_of(unit.ppa, page));
    if (unit.newer) {
        part.newer = static_cast<std::uint16_t>(part.newer | 1u << i);
        part.version[i] = unit.version;
        part.dram_unit[i] = unit.dram_unit;
        if (__builtin_expect(services_.bytes != nullptr, 0)) take_bytes(part, i, unit.entry);
    } else if (__builtin_expect(services_.cache != nullptr, 0) && unit.source == HostRead::Source::flash) {
        begin_fill(part, i, bytes);
    }
    if (__builtin_expect(unit.source == HostRead::Source::ahead, 0))
        ahead_->asked(*unit.ahead, Lpa{part.first_unit + i});
    part.txn.data_bytes += bytes;
}

__attribute__((always_inline)) inline void ReadCommand::plan(Command& c, State& s, const Span& span,
                                                             const Ppa* places) {
    std::uint32_t flash_parts;
    if (span.first == span.last) {
        const Lpa lpa{static_cast<std::uint32_t>(span.first)};
        const Located unit = locate(lpa, places[0]);
        const std::uint32_t page = decode_.page_number(unit.ppa);  // means nothing when unmapped
        HostRead& part =
            start_part(c, unit, page, lpa, static_cast<std::uint32_t>(span.begin - services_.extents.first_byte(c)));
        add_unit(part, unit, page, static_cast<std::uint32_t>(span.end - span.begin));
        s.parts = &part;
        s.remaining = s.unsent = 1;
        flash_parts = unit.source == HostRead::Source::flash;
    } else {
        flash_parts = plan_parts(c, s, span, places);
    }
    services_.cores.run(c, std::uint64_t{services_.costs.flash_issue} * flash_parts, CoreStep::read_issue,
                        Then::to<&ReadCommand::issue>(this, c.index));
}

void ReadCommand::start(Command& c) {
    State& s = state(c);
    s.command = &c;
    s.parts = nullptr;
    s.remaining = s.unsent = 0;
    const Span span = span_of(c);
    const std::uint64_t units = span.last - span.first + 1;
    units_read_ += units;
    services_.cores.run(c, services_.costs.read_command + services_.costs.map_lookup * units, CoreStep::read_command,
                        Then::to<&ReadCommand::look_up>(this, c.index),
                        services_.cores.wait_for(c.index, {span.first, units}, false));
    if (__builtin_expect(ahead_ != nullptr, 0)) ahead_->read(c, span.begin, span.end);
}

// The map is asked when the core has done the look-up's cycles; a block that holds a planned page is not erased until
// the page has been read.
void ReadCommand::look_up(std::uint64_t command) {
    State& s = states_[command];
    Command& c = *s.command;
    const Span span = span_of(c);
    const auto units = static_cast<std::uint32_t>(span.last - span.first + 1);
    if (__builtin_expect(places_.size() < units, 0)) return look_up_more(c, units);
    if (__builtin_expect(services_.buffer_first, 0) && buffer_has(span)) {
        std::fill_n(places_.begin(), units, kUnmapped);
        return plan(c, s, span, places_.data());
    }
    const MapExtent extent{Lpa{static_cast<std::uint32_t>(span.first)}, units, c.whose};
    if (services_.wait_queues.ask_map(c, extent, MapUse::read, places_.data(),
                                      MapThen::to<&ReadCommand::located>(this, c.index)))
        plan(c, s, span, places_.data());
}

/// No read so far had so many units.
__attribute__((noinline)) void ReadCommand::look_up_more(Command& c, std::uint32_t units) {
    places_.resize(std::min(units, most_asked_));
    if (units <= most_asked_) return look_up(c.index);
    states_[c.index].behind = c.bytes;
    look_up_piece(c.index);
}

/// The piece begins with what is behind the one before it.
ReadCommand::Span ReadCommand::next_piece(const Command& c, const State& s) const {
    const Span all = span_of(c);
    const std::uint64_t begin = all.end - s.behind, first = services_.extents.unit_of(begin),
                        last = std::min(all.last, first + most_asked_ - 1);
    return {begin, std::min(all.end, (last + 1) * services_.extents.unit_bytes), first, last};
}

void ReadCommand::look_up_piece(std::uint64_t command) {
    const State& s = states_[command];
    Command& c = *s.command;
    const Span piece = next_piece(c, s);
    const auto units = static_cast<std::uint32_t>(piece.last - piece.first + 1);
    if (services_.wait_queues.ask_map(c, {Lpa{static_cast<std::uint32_t>(piece.first)}, units, c.whose}, MapUse::read,
                                      places_.data(), MapThen::to<&ReadCommand::piece_located>(this, c.index)))
        piece_located(c.index, places_.data());
}

void ReadCommand::piece_located(std::uint32_t command, const Ppa* places) {
    State& s = states_[command];
    Command& c = *s.command;
    const Span piece = next_piece(c, s);
    s.behind -= piece.end - piece.begin;
    plan(c, s, piece, places);
}

/// A piece has arrived, perhaps at a time that is still to come.
__attribute__((noinline)) void ReadCommand::go_on(Command& c, State& s) {
    if (c.status != CommandStatus::success) {
        s.behind = 0;
        return complete(c, s);
    }
    s.parts = nullptr;
    s.remaining = s.unsent = 0;
    services_.agenda.post(std::max(services_.agenda.now(), c.timeline->last()),
                          Then::to<&ReadCommand::look_up_piece>(this, c.index));
}

/// True: the buffer has all of the span, so that no old copy is needed.
__attribute__((noinline)) bool ReadCommand::buffer_has(const Span& span) const {
    for (std::uint64_t u = span.first; u <= span.last; ++u) {
        const WriteBuffer::Index entry = services_.buffer.find(Lpa{static_cast<std::uint32_t>(u)});
        if (entry == WriteBuffer::kNone) return false;
        const WriteBuffer::Unit unit = services_.buffer.unit(entry);
        if (unit.dropped || unit.merging) return false;
    }
    return true;
}

void ReadCommand::located(std::uint32_t command, const Ppa* places) {
    State& s = states_[command];
    plan(*s.command, s, span_of(*s.command), places);
}

// Neighbouring units that share a page become one part. Returns how many parts are read from flash.
std::uint32_t ReadCommand::plan_parts(Command& c, State& s, const Span& span, const Ppa* places) {
    std::uint64_t at = span.begin;
    std::uint32_t flash_parts = 0;
    HostRead* part = nullptr;
    std::uint32_t page_of_part = 0;
    s.sent_from = SimTime{};
    for (std::uint64_t u = span.first; u <= span.last; ++u) {
        const Lpa lpa{static_cast<std::uint32_t>(u)};
        const Located unit = locate(lpa, places[u - span.first]);
        const std::uint32_t page = decode_.page_number(unit.ppa);  // means nothing when unmapped
        const bool in_flash = unit.source == HostRead::Source::flash;
        const bool joins = part != nullptr && part->source == unit.source && part->units < units_per_page_ &&
                           (!in_flash || page == page_of_part) &&
                           (unit.source != HostRead::Source::ahead || part->ahead == unit.ahead);
        if (!joins) {
            HostRead& started =
                start_part(c, unit, page, lpa, static_cast<std::uint32_t>(at - services_.extents.first_byte(c)));
            if (part == nullptr)
                s.parts = &started;
            else
                part->next = &started;
            part = &started;
            page_of_part = page;
            ++s.remaining;
            ++s.unsent;
            flash_parts += in_flash;
        }
        const std::uint64_t next = std::min(span.end, (u + 1) * services_.extents.unit_bytes);
        add_unit(*part, unit, page, static_cast<std::uint32_t>(next - at));
        at = next;
    }
    return flash_parts;
}

void ReadCommand::issue(std::uint64_t command) {
    State& s = states_[command];
    HostRead& part = *s.parts;
    if (part.next == nullptr && part.source == HostRead::Source::flash) {  // nearly all
        part.txn.path = s.command->timeline;
        services_.flash.submit(part.txn);
    } else {
        issue_parts(s);
    }
}

__attribute__((noinline)) void ReadCommand::issue_parts(State& s) {
    HostRead* job = s.parts;
    // A single part is charged to the command itself. The last of several parts is known when all have arrived.
    Timeline* const path = job->next == nullptr ? s.command->timeline : nullptr;
    s.last = nullptr;
    while (job != nullptr) {
        HostRead* const next = next_of(*job);
        job->txn.path = path;
        if (job->source == HostRead::Source::flash) {
            services_.flash.submit(job->txn);
        } else {
            job->txn.begin(services_.agenda.now());
            if (job->source == HostRead::Source::buffer)
                read_buffer(*job);
            else if (job->source == HostRead::Source::lost)
                fail_part(*job);
            else if (job->source == HostRead::Source::ahead)
                ;  // ahead_came()
            else
                send_part(*job, services_.agenda.now());
        }
        job = next;
    }
}

/// The part goes on like one whose data are in the buffer, as soon as it has been issued.
void ReadCommand::ahead_came(HostRead& part, const FlashTransaction& read, bool readable) {
    part.source = readable ? HostRead::Source::buffer : HostRead::Source::lost;
    part.ahead = nullptr;
    if (part.txn.path == nullptr) return;
    part.txn.path->begins({read.number, idx(read.address.plane), true});
    part.txn.path->charge(Stage::array, services_.agenda.now());
    readable ? read_buffer(part) : fail_part(part);
}

void ReadCommand::flash_done(HostRead& job) {
    const FlashTransaction& txn = job.txn;
    services_.map.let_go(txn.address.plane, services_.geometry.block_of(txn.address), job.units);
    // The data go into the DRAM, and out of it to the host.
    const std::uint64_t place = services_.dram.place(std::uint64_t{job.units} * services_.extents.unit_bytes);
    if (__builtin_expect(services_.cache != nullptr, 0)) end_fills(job, place);
    if (__builtin_expect(txn.status.result != FlashResult::ok, 0)) return fail_part(job);
    const DramPiece piece{place, txn.data_bytes, 2};
    through_dram(job, &piece, 1);
}

/// Reads a part whose newest data are all in the buffer. Only a part of the first and the last unit may be wanted.
__attribute__((noinline)) void ReadCommand::read_buffer(HostRead& job) {
    std::uint64_t at = services_.extents.first_byte(*job.command) + job.byte_offset;
    const std::uint64_t end = at + job.txn.data_bytes;
    pieces_.clear();
    for (std::uint32_t i = 0; i < job.units; ++i) {
        const std::uint64_t unit = (std::uint64_t{job.first_unit} + i) * services_.extents.unit_bytes;
        const std::uint64_t until = std::min(end, unit + services_.extents.unit_bytes);
        pieces_.push_back({std::uint64_t{job.dram_unit[i]} * services_.extents.unit_bytes + (at - unit),
                           static_cast<std::uint32_t>(until - at)});
        at = until;
    }
    through_dram(job, pieces_.data(), job.units);
}

__attribute__((noinline, cold)) void ReadCommand::fail_part(HostRead& job) {
    job.command->status = CommandStatus::unrecovered_read;
    --states_[job.command->index].unsent;
    part_delivered(job, services_.agenda.now());
}

/// If the command has several parts, nothing has to be decided when one ends. So the DMA engine gets the data at once
/// if the end is known.
inline void ReadCommand::through_dram(HostRead& job, const DramPiece* pieces, std::uint32_t count) {
    const Then then = Then::to<&ReadCommand::dram_done>(this, job);
    if (!is_one_of_several(job)) return services_.dram.access(pieces, count, then);
    const SimTime end = services_.dram.begin(pieces, count, then);
    if (__builtin_expect(end == kNever, 0)) return;  // dram_done() comes
    job.txn.path->charge(Stage::buffer, end);
    send_part(job, end);
}

void ReadCommand::dram_done(HostRead& job) {
    job.txn.path->charge(Stage::buffer, services_.agenda.now());
    send_part(job, services_.agenda.now());
}

// Several parts go in the order in which they are handed over, so the last one is the last to arrive.
inline void ReadCommand::send_part(HostRead& job, SimTime from) {
    fill(job);
    const DmaThen then = DmaThen::to<&ReadCommand::dma_done>(this, job);
    if (!is_one_of_several(job))
        return services_.host.to_host(*job.command, job.byte_offset, job.txn.data_bytes, job.data.get(), then,
                                      services_.moved());
    State& s = states_[job.command->index];
    s.sent_from = std::max(s.sent_from, from);
    const bool last = --s.unsent == 0;
    services_.host.to_host(*job.command, job.byte_offset, job.txn.data_bytes, job.data.get(), then, services_.moved(),
                           {s.sent_from, last, true});
}

// Fills in the data of the flash or the buffer for the host.
inline void ReadCommand::fill(HostRead& job) {
    jobs_.provide_data(job);
    if (__builtin_expect(services_.bytes != nullptr, 0)) return fill_bytes(job);
    const std::uint64_t lba = job.command->slba + services_.extents.block_of(job.byte_offset);
    services_.signatures.sign(job, lba, services_.extents.block_of(job.txn.data_bytes), job.data.get(),
                              [this, &job](std::uint32_t unit) { check_contents(job, unit); });
}

__attribute__((noinline)) void ReadCommand::fill_bytes(HostRead& job) {
    for (std::uint32_t i = 0; job.source == HostRead::Source::flash && i < job.units; ++i) check_contents(job, i);
    const std::uint64_t begin = services_.extents.first_byte(*job.command) + job.byte_offset;
    std::uint8_t* metadata = job.command->metadata;
    if (metadata != nullptr)
        metadata += services_.extents.block_of(job.byte_offset) * services_.bytes->metadata_of_block();
    services_.bytes->put_together(job, begin, begin + job.txn.data_bytes, job.data.get(), metadata);
}

inline void ReadCommand::check_contents(const HostRead& job, std::uint32_t unit) const {
    const Spare spare = job.txn.spare[job.slot[unit]];
    if (__builtin_expect(codec_.lpa(spare) != Lpa{job.first_unit + unit}, 0))
        refuse_contents(job, unit);  // nobody's if erased or padding
}

__attribute__((noinline, cold)) void ReadCommand::refuse_contents(const HostRead& job, std::uint32_t unit) const {
    throw CheckFailed("integrity: logical unit " + std::to_string(job.first_unit + unit) + " was read from plane " +
                      std::to_string(idx(job.txn.address.plane)) + " block " + std::to_string(job.txn.address.block) +
                      " page " + std::to_string(job.txn.address.page) + " slot " + std::to_string(job.slot[unit]) +
                      ", whose spare area holds " + std::to_string(idx(job.txn.spare[job.slot[unit]])));
}

void ReadCommand::dma_done(HostRead& job, DmaEnd end) {
    if (__builtin_expect(end.failed, 0)) job.command->status = CommandStatus::transfer_error;
    part_delivered(job, end.at);
}

inline void ReadCommand::part_delivered(HostRead& job, SimTime at) {
    Command& c = *job.command;
    State& s = states_[c.index];
    Timeline& path = *job.txn.path;
    path.charge(Stage::host_transfer, at);
    if (&path == c.timeline) {
        jobs_.release_at(job, at);
        complete(c, s);
    } else {
        gather(s, job, at);
    }
}

/// One of several parts has arrived. The last to arrive is charged to the command.
__attribute__((noinline)) void ReadCommand::gather(State& s, HostRead& job, SimTime at) {
    HostRead* passed = &job;  // the one whose timeline is not wanted any more
    if (s.last == nullptr || at >= s.latest) {
        passed = s.last;
        s.last = &job;
        s.latest = at;
    }
    if (passed != nullptr) jobs_.release_at(*passed, s.latest);
    if (--s.remaining != 0) return;
    s.command->timeline->append(s.last->txn.timeline);
    jobs_.release_at(*s.last, s.latest);
    s.last = nullptr;
    complete(*s.command, s);
}

std::string ReadCommand::dump() const {
    return dump_commands(states_);
}

}  // namespace ssdtlm
