// SPDX-License-Identifier: Apache-2.0
// Reads: plan (map look-up, buffer look-up), cut into parts of one flash page, issue, send each part to the host
// as soon as it is there.
#include <algorithm>
#include <string>

#include "controller/cpu/firmware.h"
#include "host_pcie/protocol/signature.h"

namespace ssdtlm {

void Firmware::start_read(Command& c) {
    std::uint32_t flash_parts = 0;
    CommandState& s = state(c);
    s.latest = SimTime{};
    s.parts = plan_read(c, flash_parts);
    const std::uint64_t units = unit_of_(first_byte(c) + c.bytes + geometry_.unit_bytes - 1) - unit_of_(first_byte(c));
    host_units_read_ += units;
    step<&Firmware::issue_read>(
        c, config_.read_command + config_.map_lookup * units + std::uint64_t{config_.flash_issue} * flash_parts,
        CoreStep::read_command);
}

// Look-ups happen when the command reaches the firmware; a block that holds a planned page is not erased until
// the page has been read. Neighbouring units that share a page become one part.
FlashJob* Firmware::plan_read(Command& c, std::uint32_t& flash_parts) {
    const std::uint64_t unit_bytes = geometry_.unit_bytes;
    const std::uint64_t begin = first_byte(c);
    const std::uint64_t end = begin + c.bytes;
    FlashJob* head = nullptr;
    FlashJob* tail = nullptr;
    std::uint32_t tail_page = 0;
    CommandState& s = state(c);
    for (std::uint64_t at = begin; at < end;) {
        const std::uint64_t unit = unit_of_(at);
        const auto lpa = Lpa{static_cast<std::uint32_t>(unit)};
        const std::uint64_t next = std::min(end, (unit + 1) * unit_bytes);
        const auto bytes = static_cast<std::uint32_t>(next - at);
        const WriteBuffer::Index entry = buffer_.find(lpa);
        FlashJob::Source source = FlashJob::Source::zeros;
        Ppa ppa = kUnmapped;
        std::uint32_t overlay = 0;  // version + 1 when the buffer has newer bytes
        if (entry != WriteBuffer::kNone && !buffer_.entry(entry).dropped) {
            overlay = buffer_.entry(entry).version + 1;
            source = FlashJob::Source::buffer;
            // The rest of a partly written unit is still in flash.
            if (buffer_.entry(entry).state == WriteBuffer::State::merging) ppa = ftl_.lookup(lpa);
        } else {
            ppa = ftl_.lookup(lpa);
        }
        const std::uint32_t page = decode_.page_number(ppa);  // means nothing when unmapped
        if (ppa != kUnmapped) source = FlashJob::Source::flash;
        const bool joins = tail != nullptr && tail->source == source && tail->units < units_per_page_ &&
                           (source != FlashJob::Source::flash || page == tail_page);
        if (!joins) {
            FlashJob& job = jobs_.acquire(FlashJob::Kind::host_read, agenda_.now());
            job.source = source;
            job.command = &c;
            job.sibling = nullptr;
            job.byte_offset = static_cast<std::uint32_t>(at - begin);
            job.bytes = 0;
            job.first_unit = idx(lpa);
            job.units = 0;
            (tail != nullptr ? tail->sibling : head) = &job;
            tail = &job;
            ++s.remaining;
            if (source == FlashJob::Source::flash) {
                ++flash_parts;
                tail_page = page;
                job.txn.op = FlashOp::read;
                job.txn.cls = FlashClass::host_read;
                job.txn.address = decode_.page_of(page);
                job.txn.die = decode_.die_of(job.txn.address.plane);
                job.txn.client = this;
                job.txn.cookie = job.index;
                ftl_.read_started(geometry_.block_of(job.txn.address));
            }
        }
        tail->slot[tail->units] = ppa == kUnmapped ? std::uint8_t{0} : static_cast<std::uint8_t>(decode_.slot_of(ppa, page));
        tail->item[tail->units] = overlay;
        ++tail->units;
        tail->bytes += bytes;
        at = next;
    }
    return head;
}

void Firmware::issue_read(std::uint64_t command) {
    CommandState& s = states_[command];
    FlashJob* job = s.parts;
    s.parts = nullptr;
    while (job != nullptr) {
        FlashJob* next = job->sibling;
        if (job->source == FlashJob::Source::flash) {
            job->txn.data_bytes = job->bytes;
            flash_.submit(job->txn);
        } else {
            job->txn.timeline.begin(agenda_.now());
            if (job->source == FlashJob::Source::buffer)
                agenda_.post<&Firmware::send_part>(dram_.access(agenda_.now(), job->bytes), this, job->index);
            else
                send_part(job->index);
        }
        job = next;
    }
}

void Firmware::read_part_done(FlashJob& job) {
    const BlockId block = geometry_.block_of(job.txn.address);
    ftl_.read_finished(block);
    gc_.read_finished(block);
    send_part(job.index);
}

// Each logical block carries its signature; the device writes what its flash or buffer says.
void Firmware::stamp(FlashJob& job) {
    jobs_.provide_data(job);
    const std::uint64_t begin = first_byte(*job.command) + job.byte_offset;
    std::uint8_t* out = job.data.data();
    std::uint64_t lba = block_of_(begin);
    std::uint64_t at = begin;
    for (std::uint32_t i = 0; i < job.units; ++i) {
        const Lpa lpa{job.first_unit + i};
        const std::uint64_t stop = std::min<std::uint64_t>(begin + job.bytes, (std::uint64_t{idx(lpa)} + 1) * geometry_.unit_bytes);
        BlockSignature signature;  // zeros: deallocated
        std::uint32_t version = 0;
        if (job.source == FlashJob::Source::flash) {
            const Spare spare = job.txn.spare[job.slot[i]];
            if (spare == kErased || spare == kPadding || codec_.lpa(spare) != lpa)
                throw CheckFailed("integrity: logical unit " + std::to_string(idx(lpa)) + " was read from plane " +
                                  std::to_string(idx(job.txn.address.plane)) + " block " + std::to_string(job.txn.address.block) +
                                  " page " + std::to_string(job.txn.address.page) + " slot " + std::to_string(job.slot[i]) +
                                  ", whose spare area holds " + std::to_string(idx(spare)));
            version = codec_.version(spare);
        }
        if (job.item[i] != 0) version = job.item[i] - 1;
        const bool present = job.source != FlashJob::Source::zeros;
        for (; at < stop; at += lba_bytes_, ++lba, out += lba_bytes_) {
            if (present) {
                signature.lba = lba;
                signature.version = version;
                signature.magic = BlockSignature::kMagic;
            }
            signature.store(out);
        }
    }
}

void Firmware::send_part(std::uint64_t index) {
    FlashJob& job = jobs_.at(static_cast<std::uint32_t>(index));
    job.txn.timeline.charge(Stage::buffer, agenda_.now());  // buffer and zero parts; flash parts end at now
    stamp(job);
    const auto& list = segments(*job.command, job.byte_offset, job.bytes);
    dma_.write_host(list.data(), static_cast<std::uint32_t>(list.size()), job.data.data(), this, job.index,
                    signatures_of(lba_bytes_));
}

void Firmware::part_delivered(FlashJob& job, SimTime at) {
    Command& c = *job.command;
    CommandState& s = state(c);
    job.txn.timeline.charge(Stage::host_transfer, at);
    const bool last = --s.remaining == 0;
    if (at >= s.latest) {
        s.latest = at;
        if (!last) s.critical = job.txn.timeline;
    }
    if (last) c.timeline->append(at == s.latest ? job.txn.timeline : s.critical);
    jobs_.release_at(job, at);
    if (last) complete(c);
}

}  // namespace ssdtlm
