// SPDX-License-Identifier: Apache-2.0
#include "controller/cpu/firmware.h"

#include <algorithm>

#include "host_pcie/protocol/nvme.h"

namespace ssdtlm {

Firmware::Firmware(const FirmwareConfig& config, const FtlConfig& ftl_config, const NandGeometry& geometry,
                   std::uint32_t lba_bytes, const Surroundings& around, bool check_integrity)
    : config_(config),
      ftl_config_(ftl_config),
      geometry_(geometry),
      lba_bytes_(lba_bytes),
      check_integrity_(check_integrity),
      units_per_page_(geometry.units_per_page()),
      decode_(geometry),
      unit_of_(geometry.unit_bytes),
      block_of_(lba_bytes),
      blocks_per_unit_(geometry.unit_bytes / lba_bytes),
      agenda_(around.agenda),
      ftl_(around.ftl),
      flash_(around.flash),
      dma_(around.dma),
      dram_(around.dram),
      codec_(around.ftl.logical_units()),
      cores_(config),
      jobs_(geometry.page_bytes),
      buffer_(static_cast<std::uint32_t>(ftl_config.buffer_bytes / geometry.unit_bytes)),
      gc_(around.agenda, config, ftl_config, geometry, cores_, around.ftl, around.flash, jobs_),
      program_limit_(geometry.dies() * ftl_config.flush_depth_per_die),
      row_pages_(std::min(around.ftl.shape().planes(), program_limit_)),
      row_(row_pages_),
      flush_threshold_(static_cast<std::uint32_t>(std::uint64_t{buffer_.capacity()} * ftl_config.flush_start_percent / 100)) {
    gc_.on_block_freed([this] {
        retry_stalled();
        pump();
    });
}

void Firmware::submit(Command& c) {
    ++commands_;
    CommandState& s = state(c);
    s.command = &c;
    s.remaining = 0;
    if (c.op == IoOp::read)
        start_read(c, s);
    else if (c.op == IoOp::write)
        start_write(c);
    else
        start_other(c);
}

Firmware::Segments Firmware::cut(const Command& c, std::uint64_t offset, std::uint64_t bytes) {
    segments_.clear();
    const std::uint64_t page = c.host_page_bytes;
    const std::uint64_t at = (c.pages.front() & (page - 1)) + offset;  // from the start of the first host page
    std::size_t i = at / page;
    std::uint64_t within = at % page;
    while (bytes > 0) {
        const std::uint64_t n = std::min(page - within, bytes);
        const std::uint64_t address = (c.pages[i] & ~(page - 1)) + within;
        if (!segments_.empty() && segments_.back().address + segments_.back().bytes == address)
            segments_.back().bytes += static_cast<std::uint32_t>(n);
        else
            segments_.push_back({address, static_cast<std::uint32_t>(n)});
        bytes -= n;
        within = 0;
        ++i;
    }
    return {segments_.data(), static_cast<std::uint32_t>(segments_.size())};
}

void Firmware::dma_done(std::uint64_t cookie, SimTime at) {
    if ((cookie & kWriteData) != 0)
        data_fetched(*states_[cookie & 0xFFFFFFFFu].command, at);
    else
        part_delivered(job_of(cookie), at);
}

void Firmware::dma_failed(std::uint64_t cookie) {
    if ((cookie & kWriteData) != 0) {
        Command& c = *states_[cookie & 0xFFFFFFFFu].command;
        c.status = nvme::kStDataTransferError;
        data_failed(c);
    } else {
        FlashJob& job = job_of(cookie);
        job.command->status = nvme::kStDataTransferError;
        part_delivered(job, agenda_.now());
    }
}

void Firmware::flash_done(FlashTransaction& txn) {
    FlashJob& job = job_of(txn.cookie);
    if (job.kind == FlashJob::Kind::host_read)
        read_part_done(job);
    else if (job.kind == FlashJob::Kind::merge_read)
        merge_read_done(job);
    else
        complete_program(job);
}

void Firmware::merge_read_done(FlashJob& job) {
    const BlockId block = geometry_.block_of(job.txn.address);
    --merging_;
    ftl_.read_finished(block);
    gc_.read_finished(job.txn.address.plane, block);
    waiters_.clear();
    const std::uint32_t waiter = buffer_.merged(job.item[0]);
    if (waiter != WriteBuffer::kNoWaiter) waiters_.push_back(waiter);
    jobs_.release(job);
    release_waiters(nullptr);
    space_freed();
    check_flushes(nullptr);
    pump();
}

void Firmware::complete_program(FlashJob& job) {
    const auto slot = cores_.run(core_of(job.index), config_.flash_complete, agenda_.now(), CoreStep::program_done);
    job.done_start = slot.start;
    if (slot.end == agenda_.now())
        program_done(job.index);
    else
        agenda_.post<&Firmware::program_done>(slot.end, this, job.index);
}

bool Firmware::idle() const {
    return commands_ == 0 && programs_ == 0 && buffer_.used() == 0 && gc_.active() == 0 && jobs_.used() == 0;
}

std::string Firmware::dump() const {
    static constexpr const char* kOps[] = {"read", "write", "flush", "deallocate", "write zeroes"};
    std::string text = "firmware: " + std::to_string(commands_) + " commands, " + std::to_string(programs_) +
                       " programs in flight, " + std::to_string(stalled_.size()) + " without a free page, " +
                       std::to_string(space_waiters_.size()) + " commands waiting for buffer space, " +
                       std::to_string(fetching_) + " units on their way from the host, " + std::to_string(flushes_.size()) +
                       " flushes waiting\n";
    std::uint32_t shown = 0;
    for (const CommandState& s : states_) {
        if (s.command == nullptr || ++shown > 8) continue;
        text += std::string("  ") + kOps[static_cast<std::size_t>(s.command->op)] + (s.command->fua ? " forced" : "") +
                " of " + std::to_string(s.command->blocks) + " blocks at LBA " + std::to_string(s.command->slba) + ": " +
                std::to_string(s.remaining) + " parts or units to go\n";
    }
    if (shown > 8) text += "  and " + std::to_string(shown - 8) + " more\n";
    return text + "write buffer: " + std::to_string(buffer_.used()) + " of " + std::to_string(buffer_.capacity()) +
           " units taken, " + std::to_string(buffer_.dirty()) + " dirty, " + std::to_string(buffer_.queued()) +
           " of them may be programmed\n" + gc_.dump();
}

}  // namespace ssdtlm
