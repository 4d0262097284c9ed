// SPDX-License-Identifier: Apache-2.0
#include "controller/functional/functional_drive.h"

#include <algorithm>

#include "common/report/error.h"
#include "controller/ftl/mapping/mapping.h"

namespace ssdtlm {

namespace {
/// A pause of the host is no time here, and data grow no older.
FtlConfig without_time(FtlConfig config) {
    config.gc_idle_after = Ps{};
    config.refresh_age = config.refresh_interval = Age{};
    return config;
}

/// All steps that an untimed drive does are free. With a map on the flash, handing work to the flash costs one cycle,
/// so that such steps come one after the other and not within each other. The costs refresh_look, scan_page and
/// scan_entry keep their defaults, because an untimed drive does no such steps.
FirmwareConfig free_of_charge(bool map_on_flash) {
    FirmwareConfig c;
    c.read_command = c.write_command = c.other_command = 0;
    c.table_cache_bytes = 0;
    c.map_lookup = c.map_update = c.buffer_insert = c.stream_choice = c.reorder = 0;
    c.flash_complete = c.gc_victim = 0;
    c.flash_issue = map_on_flash ? 1 : 0;
    return c;
}
}  // namespace

FunctionalDrive::FunctionalDrive(const FtlConfig& config, const NandConfig& nand, std::uint32_t lba_bytes, Ftl& ftl,
                                 SpareArea& contents)
    : config_(without_time(config)),
      costs_(free_of_charge(ftl.mapping().is_on_flash())),
      lba_bytes_(lba_bytes),
      flash_(agenda_, contents, nand),
      transfers_(agenda_, nand.geometry.unit_bytes, lba_bytes),
      dram_(agenda_),
      ftl_(ftl),
      slots_(kCommands) {
    ftl.on_victim_due([this](GroupId group) { firmware_->victim_due(group); });
    if (auto* const refresh = ftl.feature<Refresh>(); counts_reads(refresh))
        read_counter_.emplace(flash_, ftl.geometry(), *refresh);
    FlashPort& counted = read_counter_ ? static_cast<FlashPort&>(*read_counter_) : flash_;
    if (ftl.feature<RowParity>() != nullptr) parity_engine_.emplace(counted, ftl);
    FlashPort& flash = parity_engine_ ? static_cast<FlashPort&>(*parity_engine_) : counted;
    firmware_.emplace(costs_, config_, nand.geometry, lba_bytes,
                      Firmware::Peers{agenda_, ftl, flash, transfers_, dram_});
    firmware_->bind(*this);
    ftl.on_media_change([this] { firmware_->media_changed(); });
    for (std::uint32_t i = 0; i < kCommands; ++i) {
        slots_[i].command.index = i;
        slots_[i].command.timeline = &slots_[i].timeline;
        free_.push_back(kCommands - 1 - i);
    }
}

void FunctionalDrive::submit(const FunctionalCommand& asked, bool ends_work) {
    SSDTLM_CHECK(has_room(), "more commands at once than an untimed drive takes");
    // Time goes on by 1 ps at least, because buffers that a host reads are free only when time has gone on.
    agenda_.advance_to(std::min(agenda_.now() + Ps{1}, agenda_.next_time()));
    Slot& s = slots_[free_.back()];
    free_.pop_back();
    Command& c = s.command;
    c.op = asked.op;
    c.fua = asked.fua;
    c.ends_work = ends_work;
    c.status = CommandStatus::success;
    c.slba = asked.slba;
    c.blocks = asked.blocks;
    c.bytes = std::uint64_t{asked.blocks} * lba_bytes_;
    c.whose.stream = asked.stream;
    c.ranges.clear();
    if (c.op == IoOp::deallocate) c.ranges.assign(1, LbaRange{c.slba, c.blocks});
    s.tag = asked.tag;
    s.timeline.begin(agenda_.now());
    s.timeline.set_number(++commands_);
    firmware_->submit(c);
}

void FunctionalDrive::complete(Command& c) {
    SSDTLM_CHECK(c.status == CommandStatus::success,
                 std::string("a command of preconditioning has failed: ") + status_name(c.status));
    free_.push_back(c.index);
    if (ended_) ended_(slots_[c.index].tag);
}

void FunctionalDrive::flush() {
    FunctionalCommand flush;
    flush.op = IoOp::flush;
    const auto told = std::exchange(ended_, nullptr);
    submit(flush, ftl_.config().buffer_mode == BufferMode::power_protected);  // for which there would be nothing to do
    while (under_way() != 0 && step()) {
    }
    ended_ = told;
}

void FunctionalDrive::settle() {
    run();
    if (!firmware_->idle()) throw CheckFailed("preconditioning does not come to its end\n" + firmware_->dump());
}

void FunctionalDrive::come_to_rest(bool map_too) {
    flush();
    // Collection makes entries dirty again, so it ends before.
    firmware_->stop_gc();
    run();
    if (map_too) firmware_->write_out_map();
    settle();
}

void FunctionalDrive::stop_at_work() {
    flush();
    firmware_->stop_gc_in_midst();
    settle();
}

}  // namespace ssdtlm
