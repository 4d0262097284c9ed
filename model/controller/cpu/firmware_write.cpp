// SPDX-License-Identifier: Apache-2.0
// Writes into the buffer, flush, deallocate, write zeroes.
#include <algorithm>

#include "controller/cpu/firmware.h"
#include "host_pcie/protocol/nvme.h"
#include "host_pcie/protocol/signature.h"

namespace ssdtlm {

void Firmware::start_write(Command& c) {
    CommandState& s = state(c);
    s.offset = 0;
    s.piece = c.bytes;
    s.remaining = units_of_piece(s);
    step<&Firmware::space_wanted>(c, config_.write_command + std::uint64_t{config_.buffer_insert} * s.remaining,
                                  CoreStep::write_command);
}

// A command that would take more than half of the buffer passes it in pieces. Returns the units of the next one.
std::uint32_t Firmware::choose_piece(CommandState& s) {
    const std::uint64_t begin = first_byte(*s.command) + s.offset;
    const std::uint64_t last_unit = begin / geometry_.unit_bytes + std::max(buffer_.capacity() / 2, 1u);
    s.piece = std::min(s.command->bytes - s.offset, last_unit * geometry_.unit_bytes - begin);
    return units_of_piece(s);
}

// Space is given in arrival order: a large write is not overtaken by small ones.
void Firmware::space_wanted(std::uint64_t command) {
    CommandState& s = states_[command];
    const std::uint32_t units = choose_piece(s);
    if (space_waiters_.empty() && buffer_.reserve(units)) {
        fetch_data(*s.command);
        return;
    }
    space_waiters_.push_back(static_cast<std::uint32_t>(command));
    pump();
}

void Firmware::space_freed() {
    while (!space_waiters_.empty()) {
        CommandState& s = states_[space_waiters_.front()];
        if (!buffer_.reserve(units_of_piece(s))) return;
        space_waiters_.pop_front();
        s.command->timeline->charge(Stage::buffer, agenda_.now());
        fetch_data(*s.command);
    }
}

void Firmware::fetch_data(Command& c) {
    CommandState& s = state(c);
    fetching_ += units_of_piece(s);
    if (staging_free_.empty()) {
        staging_.emplace_back();
        staging_free_.push_back(&staging_.back());
    }
    s.staging = staging_free_.back();
    staging_free_.pop_back();
    if (s.staging->size() < s.piece) s.staging->resize(s.piece);
    const Segments list = segments(c, s.offset, s.piece);
    dma_.read_host(list.first, list.count, s.staging->data(), this, kWriteData | c.index,
                   signatures_of(lba_bytes_));
}

void Firmware::data_fetched(Command& c, SimTime at) {
    c.timeline->charge(Stage::host_transfer, at);
    const SimTime in_dram = dram_.access(agenda_.now(), state(c).piece);
    c.timeline->charge(Stage::buffer, in_dram);
    agenda_.post<&Firmware::insert_units>(in_dram, this, c.index);
}

// The piece has no data: the command ends without it and what follows it. Pieces before it stay.
void Firmware::data_failed(Command& c) {
    CommandState& s = state(c);
    c.timeline->charge(Stage::host_transfer, agenda_.now());
    const std::uint32_t units = units_of_piece(s);
    buffer_.cancel(units);
    fetching_ -= units;
    staging_free_.push_back(s.staging);
    s.staging = nullptr;
    s.piece = c.bytes - s.offset;
    s.remaining -= units_of_piece(s);
    if (s.remaining == 0) complete(c);
    space_freed();
    pump();
}

void Firmware::insert_units(std::uint64_t command) {
    CommandState& s = states_[command];
    Command& c = *s.command;
    const std::uint64_t unit_bytes = geometry_.unit_bytes;
    const std::uint64_t begin = first_byte(c) + s.offset;
    const std::uint64_t end = begin + s.piece;
    const bool waits = waits_for_flash(c);
    const std::uint32_t waiter = waits ? c.index : WriteBuffer::kNoWaiter;
    const std::uint32_t units = units_of_piece(s);
    host_units_written_ += units;
    fetching_ -= units;
    for (std::uint64_t at = begin; at < end;) {
        const auto lpa = Lpa{static_cast<std::uint32_t>(at / unit_bytes)};
        const std::uint64_t next = std::min(end, (at / unit_bytes + 1) * unit_bytes);
        const BlockSignature signature = BlockSignature::load(s.staging->data() + (at - begin));
        // A host that does not sign leaves whatever its buffer held: nothing to check, and one version for all.
        const bool is_signed = check_integrity_ && signature.magic == BlockSignature::kMagic;
        const std::uint32_t version = is_signed ? signature.version : 0;
        if (is_signed && signature.lba != at / lba_bytes_)
            throw CheckFailed("integrity: write to LBA " + std::to_string(at / lba_bytes_) + " brought the data of LBA " +
                              std::to_string(signature.lba));
        const bool partial = next - at != unit_bytes;
        const bool merges = partial && buffer_.find(lpa) == WriteBuffer::kNone && ftl_.lookup(lpa) != kUnmapped;
        const WriteBuffer::Index entry = buffer_.insert(lpa, version, waiter, merges);
        if (merges) start_merge(lpa, entry);
        at = next;
    }
    staging_free_.push_back(s.staging);
    s.staging = nullptr;
    s.offset += s.piece;
    if (!waits) s.remaining -= units;
    if (s.offset != c.bytes)
        space_wanted(command);
    else if (!waits)
        complete(c);
    space_freed();  // coalescing gives slots back
    pump();
}

// A write of part of a mapped unit needs the rest of it before it can be programmed.
void Firmware::start_merge(Lpa lpa, WriteBuffer::Index entry) {
    ++merge_reads_;
    ++merging_;
    const Ppa ppa = ftl_.lookup(lpa);
    FlashJob& job = jobs_.acquire(FlashJob::Kind::merge_read, agenda_.now());
    job.item[0] = entry;
    job.txn.op = FlashOp::read;
    job.txn.cls = FlashClass::host_read;
    job.txn.address = geometry_.page_of(ppa);
    job.txn.die = geometry_.die_of(job.txn.address.plane);
    job.txn.data_bytes = geometry_.unit_bytes;
    job.txn.client = this;
    job.txn.cookie = handle_of(job);
    ftl_.read_started(geometry_.block_of(job.txn.address));
    flash_.submit(job.txn);
}

void Firmware::start_other(Command& c) {
    if (c.op == IoOp::flush) {
        step<&Firmware::run_flush>(c, config_.other_command, CoreStep::flush);
        return;
    }
    std::uint64_t units = 0;
    if (c.op == IoOp::write_zeroes) {
        units = c.bytes / geometry_.unit_bytes;
    } else {
        for (const LbaRange& r : c.ranges) units += std::uint64_t{r.blocks} * lba_bytes_ / geometry_.unit_bytes;
    }
    step<&Firmware::run_deallocate>(c, config_.other_command + config_.map_update * units, CoreStep::deallocate);
}

// A flush covers what was inserted before it; later writes do not delay it.
void Firmware::run_flush(std::uint64_t command) {
    states_[command].flush_generation = buffer_.begin_flush();
    flushes_.push_back(static_cast<std::uint32_t>(command));
    pump();
    check_flushes(nullptr);
}

void Firmware::run_deallocate(std::uint64_t command) {
    Command& c = *states_[command].command;
    waiters_.clear();
    if (c.op == IoOp::write_zeroes) {
        const std::uint64_t begin = first_byte(c);
        if (begin % geometry_.unit_bytes != 0 || c.bytes % geometry_.unit_bytes != 0)
            c.status = nvme::kStInvalidField;  // see README: zeroing part of a mapping unit is not modelled
        else
            deallocate(LbaRange{c.slba, c.blocks});
    } else {
        for (const LbaRange& r : c.ranges) deallocate(r);
    }
    release_waiters(nullptr);
    if (!stalled_.empty()) gc_.check_all();  // what was deallocated may have made the first victim
    space_freed();
    check_flushes(nullptr);
    complete(c);
    pump();
}

// Deallocation is advisory: a unit that is only partly covered keeps its data.
void Firmware::deallocate(const LbaRange& range) {
    const std::uint64_t begin = range.slba * lba_bytes_;
    const std::uint64_t end = begin + std::uint64_t{range.blocks} * lba_bytes_;
    const std::uint64_t first = div_ceil(begin, geometry_.unit_bytes);
    const std::uint64_t last = end / geometry_.unit_bytes;
    for (std::uint64_t u = first; u < last; ++u) {
        const Lpa lpa{static_cast<std::uint32_t>(u)};
        if (!buffer_.empty()) buffer_.drop(lpa, waiters_);
        ftl_.trim(lpa);
    }
}

// Commands that waited for units which no longer have to reach flash, or which did.
void Firmware::release_waiters(const FlashJob* last) {
    for (const std::uint32_t w : waiters_) {
        CommandState& s = states_[w];
        if (--s.remaining != 0) continue;
        if (last != nullptr)
            charge_path(*s.command->timeline, *last);
        else
            s.command->timeline->charge(Stage::buffer, agenda_.now());
        complete(*s.command);
    }
}

}  // namespace ssdtlm
