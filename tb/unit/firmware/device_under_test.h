// SPDX-License-Identifier: Apache-2.0
// The firmware with an FTL below it, fake flash and host memory around it, and a host above it that checks contents
// with the integrity oracle and the timeline of each command.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "controller/cpu/firmware.h"
#include "controller/dma/dma_transfers.h"
#include "controller/ftl/ftl_check.h"
#include "controller/parity/parity_engine.h"
#include "controller/precondition/precondition.h"
#include "controller/snapshot/ftl_state.h"
#include "fake_ports.h"
#include "host_pcie/driver/integrity_oracle.h"
#include "late_map.h"
#include "lost_units.h"
#include "nand/array/random_faults.h"

namespace ssdtlm {

struct DeviceShape {
    NandGeometry geometry;
    FtlConfig ftl;
    FirmwareConfig firmware;
    std::uint32_t lba_bytes = 512;
    std::uint32_t host_offset = 0;
    std::uint32_t slots = 32;              ///< commands at once
    std::uint32_t slot_bytes = 256 << 10;  ///< largest transfer
    Ps flash_longest{1'000'000'000};
    Ps dma_longest{5'000'000};
    FaultRates faults;                       ///< of the flash
    std::optional<LateMap::Shape> late_map;  ///< none: the map is all in memory
    bool bytes = false;                      ///< contents are bytes; else signatures
    std::uint64_t seed = 1;
    /// What is done to the drive behind its state at start, before its firmware is built, and then with that; empty:
    /// nothing.
    std::function<void(Ftl&, SpareArea&)> before_firmware{};
    std::function<void(Firmware&)> with_firmware{};
};

/// 1 channel, 1 die, 2 planes of 24 blocks of 16 pages; all the capacity that GC can serve.
inline DeviceShape tiny_device(std::uint32_t page_bytes = 8192, std::uint32_t unit_bytes = 4096) {
    DeviceShape d;
    d.geometry.planes_per_die = 2;
    d.geometry.blocks_per_plane = 24;
    d.geometry.pages_per_block = 16;
    d.geometry.page_bytes = page_bytes;
    d.geometry.unit_bytes = unit_bytes;
    d.ftl.gc_soft_free_blocks = 4;
    d.ftl.gc_hard_free_blocks = 2;
    d.ftl.user_capacity_bytes = most_logical_units(d.ftl, d.geometry) * unit_bytes;
    d.ftl.buffer_bytes = 64ull * unit_bytes;
    return d;
}

/// Blocks of each plane in SLC mode, beside those that the drive has.
inline DeviceShape with_slc_cache(DeviceShape d, std::uint32_t blocks, std::uint32_t fold_free_blocks,
                                  Ps idle_after = {}) {
    d.geometry.blocks_per_plane += blocks;
    d.ftl.slc = {blocks, fold_free_blocks};
    d.ftl.gc_idle_after = idle_after;
    return d;
}

/// And up to so many free ones, where one more can be open.
inline DeviceShape with_dynamic_slc(DeviceShape d, std::uint32_t most) {
    d.geometry.blocks_per_plane += 1;
    d.ftl.slc.dynamic_blocks = most;
    return d;
}

class DeviceUnderTest : private CompletionSink {
public:
    explicit DeviceUnderTest(const DeviceShape& s)
        : shape(s),
          spare(s.geometry),
          ftl(s.ftl, s.geometry, spare, s.seed),
          flash(agenda, spare, s.seed, s.flash_longest),
          dma(agenda, std::size_t{s.slots} * slot_stride(), s.seed, s.dma_longest),
          dram(agenda, dram_config),
          oracle((Preconditioner(ftl).run(), shape.before_firmware ? shape.before_firmware(ftl, spare) : void(),
                  oracle_geometry())),
          firmware(shape.firmware, shape.ftl, shape.geometry, shape.lba_bytes, surroundings(),
                   s.bytes ? Firmware::Data::bytes : Firmware::Data::signatures),
          lost(ftl, spare, firmware.buffer(), agenda),
          faults_(s.faults, s.seed),
          slots_(s.slots) {
        flash.moves_with_host = s.ftl.gc_frontier == GcFrontier::shared;
        before = ftl.counters();
        if (s.bytes) spare.keep_bytes(ftl.codec(), BlockBytes(s.seed, s.lba_bytes));
        if (s.faults.any()) {
            flash.faults = &faults_;
            flash.on_program = [this](const FlashTransaction& t) { lost.programs(t); };
            flash.on_lost = [this](const PageAddress& page) { lost.cannot_read(page); };
        }
        if (shape.before_firmware)
            for (std::uint64_t u = 0; u < ftl.logical_units(); ++u)
                oracle.at_start(u, ftl.lookup(Lpa{static_cast<std::uint32_t>(u)}) != kUnmapped);
        firmware.bind(*this);
        ftl.on_media_change([this] { firmware.media_changed(); });
        for (std::uint32_t i = 0; i < s.slots; ++i) {
            slots_[i].command.index = i;
            slots_[i].command.timeline = &slots_[i].timeline;
            free_.push_back(s.slots - 1 - i);
        }
        if (s.with_firmware) s.with_firmware(firmware);
    }

    std::uint64_t blocks() const { return ftl.logical_units() * shape.geometry.unit_bytes / shape.lba_bytes; }
    std::uint32_t blocks_per_unit() const { return shape.geometry.unit_bytes / shape.lba_bytes; }
    bool has_room() const { return !free_.empty(); }
    std::uint32_t outstanding() const { return shape.slots - static_cast<std::uint32_t>(free_.size()); }

    /// Returns the slot. `bad_address`: the host's data lies where no memory is.
    std::uint32_t read(std::uint64_t slba, std::uint32_t n) {
        Slot& s = start(IoOp::read, slba, n);
        s.token = oracle.begin_read(n, data(s));
        return submit(s);
    }
    std::uint32_t write(std::uint64_t slba, std::uint32_t n, bool fua = false, bool bad_address = false) {
        Slot& s = start(IoOp::write, slba, n);
        s.command.fua = fua || shape.ftl.buffer_mode == BufferMode::write_through;
        oracle.begin_write(slba, n, data(s));
        each_unit(s.command, [this](std::uint32_t u) { lost.write_begins(u); });
        if (bad_address) lose_first_page(s.command);
        return submit(s);
    }
    std::uint32_t flush(bool ends_work = false) {
        Slot& s = start(IoOp::flush, 0, 0);
        s.command.ends_work = ends_work;
        return submit(s);
    }
    std::uint32_t trim(std::uint64_t slba, std::uint32_t n) {
        Slot& s = start(IoOp::deallocate, slba, n);
        s.command.ranges.assign(1, LbaRange{slba, n});
        oracle.begin_trim(slba, n);
        return submit(s);
    }
    std::uint32_t write_zeroes(std::uint64_t slba, std::uint32_t n, bool fua = false) {
        Slot& s = start(IoOp::write_zeroes, slba, n);
        s.command.fua = fua;
        s.aligned = slba % blocks_per_unit() == 0 && n % blocks_per_unit() == 0;
        if (s.aligned) oracle.begin_trim(slba, n);
        return submit(s);
    }
    bool done(std::uint32_t slot) const { return !slots_[slot].busy; }
    CommandStatus status(std::uint32_t slot) const { return slots_[slot].command.status; }
    const Timeline& timeline(std::uint32_t slot) const { return slots_[slot].timeline; }

    /// Runs until nothing is left to happen; after each event, everyone who waits must have someone to wake it.
    void run() {
        while (agenda.run_one(kNever)) firmware.check_waiters();
    }
    /// The same; throws with the state when a command is stuck.
    void drain() {
        run();
        if (outstanding() != 0)
            throw std::runtime_error("stuck: " + std::to_string(outstanding()) + " commands\n" + firmware.dump());
    }
    /// Ends the run as a shutdown does: flush, no new victims, everything ends; then the books.
    void shut_down() {
        drain();
        flush(shape.ftl.buffer_mode == BufferMode::power_protected);  // for which others do nothing
        drain();
        firmware.stop_gc();
        run();
        if (!firmware.idle()) throw std::runtime_error("not idle\n" + firmware.dump());
        ftl.verify_books();
        const WriteBuffer& b = firmware.buffer();
        equal("units inserted", firmware.host_units_written(), b.inserted());
        equal("units accounted for", b.inserted(),
              firmware.host_units_mapped() + b.coalesced() + b.dropped_dirty() +
                  firmware.host_units_discarded_before_map() + firmware.host_units_lost());
        const FtlCounters f = ftl.counters() - before;
        equal("units mapped", firmware.host_units_mapped(), f.host_units);
        equal("host pages", f.host_pages, flash.ended[static_cast<std::size_t>(FlashClass::host_write)]);
        equal("host pages allocated", f.host_pages_allocated, f.host_pages);
        const GcAtOnce::Counters at_once = firmware.gc().at_once();
        equal("GC, journal and parity pages", f.gc_pages + f.journal_pages + f.parity_pages,
              flash.ended[static_cast<std::size_t>(FlashClass::gc_write)] + at_once.pages);
        equal("translation pages", f.map_pages, flash.ended[static_cast<std::size_t>(FlashClass::mapping_write)]);
        equal("erases", f.blocks_erased, flash.ended[static_cast<std::size_t>(FlashClass::erase)] + at_once.blocks);
        equal("units left in the buffer", b.used(), 0);
        equal("dirty units left", b.dirty(), 0);
    }
    /// Reads the whole device, unit by unit.
    void read_all() {
        for (std::uint64_t lba = 0; lba < blocks(); lba += blocks_per_unit()) {
            if (!has_room()) drain();
            read(lba, blocks_per_unit());
        }
        drain();
    }

    /// Slots are used in the order of a new host. Precondition: drained.
    void sort_slots() { std::sort(free_.rbegin(), free_.rend()); }
    /// What the drive remembers, and what the host knows of it. Precondition: drained, with firmware.idle(); reading:
    /// of a device whose state at start was fresh.
    void state(Snapshot& s) {
        FtlState::exchange(ftl, spare, s);
        firmware.state(s);
        oracle.state(s);
        s(dram, faults_, writes_);
        if (s.reads()) before = ftl.counters();
    }

    const DeviceShape shape;
    Agenda agenda;
    SpareArea spare;
    Ftl ftl;
    FakeFlash flash;
    FakeDma dma;
    DmaTransfers transfers{dma};
    DramConfig dram_config;
    WatchedDram dram;
    IntegrityOracle oracle;
    LateMap* late_map = nullptr;                ///< the firmware's; null: none
    std::optional<ParityEngine> parity_engine;  ///< none: rows have no parity
    Firmware firmware;
    LostUnits lost;
    FtlCounters before;
    std::array<std::uint64_t, 4> failed{};  ///< commands: unrecovered read, write fault, read-only, other
    std::uint64_t completed = 0;
    std::set<std::uint32_t> only_wait_for_flash;  ///< slots whose commands the firmware has let go
    /// Called for each command at the host's end.
    std::function<void(std::uint32_t)> on_end;

private:
    struct Slot {
        AddressedCommand command;
        Timeline timeline;
        IntegrityOracle::ReadToken token = 0;
        SimTime begun{};
        bool aligned = true;
        bool busy = false;
    };
    static void equal(const char* what, std::uint64_t a, std::uint64_t b) {
        if (a != b)
            throw std::runtime_error(std::string(what) + ": " + std::to_string(a) + " against " + std::to_string(b));
    }
    static constexpr std::uint64_t kHostPage = 4096;
    /// The host's memory ends before it.
    void lose_first_page(AddressedCommand& c) {
        const std::uint64_t at = c.data.address_of(0), first = std::min(c.bytes, kHostPage - shape.host_offset);
        c.data.clear();
        c.data.add(dma.memory.size() + at, first);
        if (c.bytes > first) c.data.add(at + first, c.bytes - first);
    }
    std::uint64_t slot_stride() const { return shape.slot_bytes + 2 * kHostPage; }
    std::uint8_t* data(Slot& s) { return dma.memory.data() + s.command.index * slot_stride() + shape.host_offset; }
    Firmware::Peers surroundings() {
        if (ftl.feature<RowParity>() != nullptr) parity_engine.emplace(flash, ftl);
        FlashPort& below = parity_engine ? static_cast<FlashPort&>(*parity_engine) : flash;
        Firmware::Peers peers{agenda, ftl, below, transfers, dram};
        if (shape.late_map)
            peers.map = [this](MapPort& resident) {
                auto map = std::make_unique<LateMap>(agenda, resident, *shape.late_map, shape.seed);
                late_map = map.get();
                return map;
            };
        return peers;
    }
    IntegrityOracle::Geometry oracle_geometry() const {
        IntegrityOracle::Geometry g{ftl.logical_units(), shape.geometry.unit_bytes, shape.lba_bytes, ftl.mapped_units(),
                                    ftl.codec().version_bits()};
        if (shape.bytes) g.bytes_of_seed = shape.seed;
        return g;
    }
    Slot& start(IoOp op, std::uint64_t slba, std::uint32_t n) {
        if (free_.empty()) throw std::logic_error("no free slot");
        Slot& s = slots_[free_.back()];
        free_.pop_back();
        AddressedCommand& c = s.command;
        c.op = op;
        c.fua = c.ends_work = false;
        c.status = CommandStatus::success;
        c.slba = slba;
        c.blocks = n;
        c.whose.tenant = static_cast<std::uint16_t>(c.index % 5);
        // Each stream in turn, one of which has no superblocks of its own.
        c.whose.stream = static_cast<std::uint8_t>(
            shape.ftl.stream_frontiers == 0 ? 0 : writes_++ % (shape.ftl.stream_frontiers + 2));
        c.bytes = std::uint64_t{n} * shape.lba_bytes;
        c.ranges.clear();
        c.data.clear();
        if (op == IoOp::read || op == IoOp::write) {
            if (c.bytes > shape.slot_bytes) throw std::logic_error("transfer larger than a slot");
            c.data.add(c.index * slot_stride() + shape.host_offset, c.bytes);
        }
        s.busy = true;
        s.begun = agenda.now();
        s.timeline.begin(agenda.now());
        return s;
    }
    std::uint32_t submit(Slot& s) {
        firmware.submit(s.command);
        return s.command.index;
    }
    void let_go(Command& c) override { only_wait_for_flash.insert(c.index); }
    void complete(Command& c) override {
        Slot& s = slots_[c.index];
        if (!s.busy) throw std::logic_error("command completed twice");
        if (s.timeline.start() != s.begun || s.timeline.start() + s.timeline.sum() != s.timeline.last())
            throw std::logic_error("stages do not sum");
        if (c.op != IoOp::read && s.timeline.last() != agenda.now())
            throw std::logic_error("completed at another time than its mark");
        const SimTime at = std::max(agenda.now(), s.timeline.last());
        agenda.post(at, Then::to<&DeviceUnderTest::end>(this, c.index));
    }
    std::uint32_t unit_of(std::uint64_t lba) const { return static_cast<std::uint32_t>(lba / blocks_per_unit()); }
    template <class F>
    void each_unit(const Command& c, F f) {
        for (std::uint32_t u = unit_of(c.slba); u <= unit_of(c.slba + c.blocks - 1); ++u) f(u);
    }
    void end(std::uint64_t index) {
        Slot& s = slots_[index];
        Command& c = s.command;
        const bool ok = c.status == CommandStatus::success;
        if (!ok)
            ++failed[c.status == CommandStatus::unrecovered_read ? 0
                     : c.status == CommandStatus::write_fault    ? 1
                     : c.status == CommandStatus::read_only      ? 2
                                                                 : 3];
        lost.gave_up = firmware.buffer().given_up() != 0;
        if (c.op == IoOp::read && shape.faults.any())
            lost.read_ended(unit_of(c.slba), unit_of(c.slba + c.blocks - 1),
                            c.status == CommandStatus::unrecovered_read, s.begun);
        switch (c.op) {
            case IoOp::read:
                if (ok)
                    oracle.check_read(s.token, c.slba, c.blocks, data(s),
                                      {0, static_cast<std::uint16_t>(index), agenda.now()});
                else
                    oracle.abandon_read();
                break;
            case IoOp::write:
                oracle.end_write(c.slba, c.blocks, ok);
                each_unit(c, [this](std::uint32_t u) { lost.write_ended(u); });
                break;
            case IoOp::deallocate:
                oracle.end_trim(c.slba, c.blocks, ok);
                break;
            case IoOp::write_zeroes:
                if (s.aligned) oracle.end_trim(c.slba, c.blocks, ok);
                break;
            case IoOp::flush:
                break;
        }
        s.busy = false;
        free_.push_back(static_cast<std::uint32_t>(index));
        ++completed;
        if (on_end) on_end(static_cast<std::uint32_t>(index));
    }

    RandomFaults faults_;
    std::vector<Slot> slots_;
    std::vector<std::uint32_t> free_;
    std::uint64_t writes_ = 0;
};

}  // namespace ssdtlm
