// SPDX-License-Identifier: Apache-2.0
// Reads: plan (map look-up, buffer look-up), cut into parts of one flash page, issue, send each part to the host
// as soon as it is there.
#include <algorithm>
#include <string>

#include "controller/cpu/firmware.h"
#include "host_pcie/protocol/signature.h"

namespace ssdtlm {

inline Firmware::Located Firmware::locate(Lpa lpa) const {
    Located found;
    const WriteBuffer::Index entry = buffer_.find(lpa);
    if (entry != WriteBuffer::kNone && !buffer_.entry(entry).dropped) {
        found.source = FlashJob::Source::buffer;
        found.newer = true;
        found.version = buffer_.entry(entry).version;
        // The rest of a partly written unit is still in flash.
        if (buffer_.entry(entry).state != WriteBuffer::State::merging) return found;
    }
    found.ppa = ftl_.lookup(lpa);
    if (found.ppa != kUnmapped) found.source = FlashJob::Source::flash;
    return found;
}

inline FlashJob& Firmware::start_part(Command& c, const Located& unit, std::uint32_t page, Lpa lpa,
                                      std::uint32_t byte_offset) {
    FlashJob& job = jobs_.acquire(FlashJob::Kind::host_read, agenda_.now());
    job.source = unit.source;
    job.command = &c;
    job.next = nullptr;
    job.byte_offset = byte_offset;
    job.first_unit = idx(lpa);
    job.units = 0;
    job.newer = 0;
    job.txn.data_bytes = 0;
    if (unit.source == FlashJob::Source::flash) {
        job.txn.op = FlashOp::read;
        job.txn.cls = FlashClass::host_read;
        job.txn.address = decode_.page_of(page);
        job.txn.die = decode_.die_of(job.txn.address.plane);
        job.txn.client = this;
        job.txn.cookie = handle_of(job);
        ftl_.read_started(geometry_.block_of(job.txn.address));
    }
    return job;
}

inline void Firmware::add_unit(FlashJob& part, const Located& unit, std::uint32_t page, std::uint32_t bytes) {
    const std::uint32_t i = part.units++;
    if (unit.source == FlashJob::Source::flash) part.slot[i] = static_cast<std::uint8_t>(decode_.slot_of(unit.ppa, page));
    if (unit.newer) {
        part.newer = static_cast<std::uint16_t>(part.newer | 1u << i);
        part.item[i] = unit.version;
    }
    part.txn.data_bytes += bytes;
}

// Look-ups happen when the command reaches the firmware; a block that holds a planned page is not erased until
// the page has been read.
void Firmware::start_read(Command& c, CommandState& s) {
    const std::uint64_t begin = first_byte(c);
    const std::uint64_t first = unit_of_(begin);
    const std::uint64_t last = unit_of_(begin + c.bytes - 1);
    std::uint32_t flash_parts;
    if (first == last) {
        const Lpa lpa{static_cast<std::uint32_t>(first)};
        const Located located = locate(lpa);
        const std::uint32_t page = decode_.page_number(located.ppa);  // means nothing when unmapped
        FlashJob& part = start_part(c, located, page, lpa, 0);
        add_unit(part, located, page, static_cast<std::uint32_t>(c.bytes));
        s.parts = &part;
        s.remaining = 1;
        flash_parts = located.source == FlashJob::Source::flash;
    } else {
        flash_parts = plan_parts(c, s, first, last);
    }
    const std::uint64_t units = last - first + 1;
    host_units_read_ += units;
    step<&Firmware::issue_read>(
        c, config_.read_command + config_.map_lookup * units + std::uint64_t{config_.flash_issue} * flash_parts,
        CoreStep::read_command);
}

// Neighbouring units that share a page become one part. Returns how many parts are read from flash.
std::uint32_t Firmware::plan_parts(Command& c, CommandState& s, std::uint64_t first, std::uint64_t last) {
    const std::uint64_t begin = first_byte(c);
    const std::uint64_t end = begin + c.bytes;
    std::uint64_t at = begin;
    std::uint32_t flash_parts = 0;
    FlashJob* part = nullptr;
    std::uint32_t page_of_part = 0;
    for (std::uint64_t unit = first; unit <= last; ++unit) {
        const Lpa lpa{static_cast<std::uint32_t>(unit)};
        const Located located = locate(lpa);
        const std::uint32_t page = decode_.page_number(located.ppa);  // means nothing when unmapped
        const bool in_flash = located.source == FlashJob::Source::flash;
        const bool joins = part != nullptr && part->source == located.source && part->units < units_per_page_ &&
                           (!in_flash || page == page_of_part);
        if (!joins) {
            FlashJob& started = start_part(c, located, page, lpa, static_cast<std::uint32_t>(at - begin));
            (part != nullptr ? part->next : s.parts) = &started;
            part = &started;
            page_of_part = page;
            ++s.remaining;
            flash_parts += in_flash;
        }
        const std::uint64_t next = std::min(end, (unit + 1) * geometry_.unit_bytes);
        add_unit(*part, located, page, static_cast<std::uint32_t>(next - at));
        at = next;
    }
    return flash_parts;
}

void Firmware::issue_read(std::uint64_t command) {
    CommandState& s = states_[command];
    FlashJob& part = *s.parts;
    if (part.next == nullptr && part.source == FlashJob::Source::flash) {  // nearly all
        part.txn.path = s.command->timeline;
        flash_.submit(part.txn);
    } else {
        issue_parts(s);
    }
}

__attribute__((noinline)) void Firmware::issue_parts(CommandState& s) {
    FlashJob* job = s.parts;
    // One part is charged to the command itself; of several, the last to arrive is found when all have.
    Timeline* const path = job->next == nullptr ? s.command->timeline : nullptr;
    s.latest = SimTime{};
    while (job != nullptr) {
        FlashJob* next = job->next;
        job->txn.path = path;
        if (job->source == FlashJob::Source::flash) {
            flash_.submit(job->txn);
        } else {
            job->txn.begin(agenda_.now());
            if (job->source == FlashJob::Source::buffer)
                agenda_.post<&Firmware::send_unread_part>(dram_.access(agenda_.now(), job->txn.data_bytes), this,
                                                          handle_of(*job));
            else
                send_part(*job);
        }
        job = next;
    }
}

void Firmware::read_part_done(FlashJob& job) {
    const BlockId block = geometry_.block_of(job.txn.address);
    ftl_.read_finished(block);
    gc_.read_finished(job.txn.address.plane, block);
    send_part(job);
}

void Firmware::send_unread_part(std::uint64_t handle) {
    FlashJob& job = job_of(handle);
    job.txn.path->charge(Stage::buffer, agenda_.now());
    send_part(job);
}

inline void Firmware::send_part(FlashJob& job) {
    stamp(job);
    const Segments list = segments(*job.command, job.byte_offset, job.txn.data_bytes);
    dma_.write_host(list.first, list.count, job.data.get(), this, handle_of(job), signatures_of(lba_bytes_));
}

// Each logical block carries its signature; the device writes what its flash or buffer says.
inline void Firmware::stamp(FlashJob& job) {
    jobs_.provide_data(job);
    std::uint8_t* out = job.data.get();
    const std::uint32_t step = lba_bytes_;
    std::uint64_t lba = job.command->slba + block_of_(job.byte_offset);
    const std::uint64_t end = lba + block_of_(job.txn.data_bytes);
    BlockSignature signature;  // zeros: deallocated
    if (job.source == FlashJob::Source::zeros) {
        for (; lba < end; ++lba, out += step) signature.store(out);
        return;
    }
    signature.magic = BlockSignature::kMagic;
    for (std::uint32_t i = 0; i < job.units; ++i) {
        const Lpa lpa{job.first_unit + i};
        const Spare spare = job.txn.spare[job.slot[i]];  // means nothing when not from flash
        if (job.source == FlashJob::Source::flash) {
            if (__builtin_expect(spare == kErased || spare == kPadding || codec_.lpa(spare) != lpa, 0))
                refuse_contents(job, i);
            signature.version = codec_.version(spare);
        }
        if ((job.newer >> i & 1u) != 0) signature.version = job.item[i];
        const std::uint64_t stop = std::min(end, (std::uint64_t{idx(lpa)} + 1) * blocks_per_unit_);
        for (; lba < stop; ++lba, out += step) {
            signature.lba = lba;
            signature.store(out);
        }
    }
}

__attribute__((noinline, cold)) void Firmware::refuse_contents(const FlashJob& job, std::uint32_t unit) const {
    throw CheckFailed("integrity: logical unit " + std::to_string(job.first_unit + unit) + " was read from plane " +
                      std::to_string(idx(job.txn.address.plane)) + " block " + std::to_string(job.txn.address.block) +
                      " page " + std::to_string(job.txn.address.page) + " slot " + std::to_string(job.slot[unit]) +
                      ", whose spare area holds " + std::to_string(idx(job.txn.spare[job.slot[unit]])));
}

void Firmware::part_delivered(FlashJob& job, SimTime at) {
    Command& c = *job.command;
    CommandState& s = states_[c.index];
    Timeline& path = *job.txn.path;
    path.charge(Stage::host_transfer, at);
    jobs_.release_at(job, at);
    if (&path == c.timeline)
        complete(c, s);
    else
        gather(s, job, at);
}

/// One of several parts has arrived. The command is charged with the last to arrive.
__attribute__((noinline)) void Firmware::gather(CommandState& s, FlashJob& job, SimTime at) {
    const bool all = --s.remaining == 0;
    if (at >= s.latest) {
        s.latest = at;
        if (!all) s.critical = job.txn.timeline;
    }
    if (!all) return;
    s.command->timeline->append(at == s.latest ? job.txn.timeline : s.critical);
    complete(*s.command, s);
}

}  // namespace ssdtlm
