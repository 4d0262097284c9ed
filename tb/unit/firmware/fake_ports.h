// SPDX-License-Identifier: Apache-2.0
// What stands around the firmware in its tests: flash and host memory whose answers take a random time, on the agenda,
// without SystemC. The flash refuses what a die would refuse and what the firmware must never ask for.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/random/random.h"
#include "common/tlm/agenda.h"
#include "controller/dram/serial_dram.h"
#include "controller/ports/dma_port.h"
#include "controller/ports/flash.h"
#include "nand/array/array_faults.h"
#include "nand/array/spare_area.h"

namespace ssdtlm {

/// Reads end in any order. Programs and erases of one plane and class end in submission order, classes overtake each
/// other. Contents are sampled and changed at the end of an operation, the latest possible moment.
class FakeFlash final : public FlashPort {
public:
    FakeFlash(Agenda& agenda, SpareArea& spare, std::uint64_t seed, Ps longest)
        : agenda_(agenda),
          spare_(spare),
          random_(seed, 7),
          longest_(longest),
          partitions_(spare.geometry().planes()),
          reads_of_(spare.geometry().blocks()),
          failed_(spare.geometry().blocks()),
          mode_(spare.geometry().blocks(), Mode::any) {}

    void submit(FlashTransaction& t) override {
        t.begin(agenda_.now());
        t.tag = take(t);
        const BlockId block = spare_.geometry().block_of(t.address);
        if (erasing_.count(idx(block)) != 0) throw std::logic_error("work for a block whose erase was submitted");
        check_mode(t, idx(block));
        if (spare_.geometry().die_of(t.address.plane) != t.die) throw std::logic_error("plane of another die");
        if (t.op == FlashOp::erase && failed_[idx(block)]) throw std::logic_error("erase of a block that has failed");
        if (t.op == FlashOp::program && on_program) on_program(t);
        SimTime start = agenda_.now();
        Ps time = latency();
        if (t.cls == FlashClass::host_write) time = time * host_programs_slower;
        if (t.op == FlashOp::program && t.record.kind == PageKind::mapping) time = time * map_programs_slower;
        if (t.op == FlashOp::program && t.record.kind == PageKind::journal) time = time * journal_programs_slower;
        if (t.op == FlashOp::read) {
            if (t.data_bytes == 0 || t.data_bytes > spare_.geometry().page_bytes)
                throw std::logic_error("read of " + std::to_string(t.data_bytes) + " bytes");
            ++reads_of_[idx(block)];
        } else {
            const FlashClass order = moves_with_host && t.cls == FlashClass::gc_write ? FlashClass::host_write : t.cls;
            SimTime& partition = partitions_[idx(t.address.plane)][static_cast<std::size_t>(order)];
            start = std::max(start, partition);
            partition = start + time;
            if (t.op == FlashOp::erase) {
                if (reads_of_[idx(block)] != 0) throw std::logic_error("erase of a block that is being read");
                erasing_[idx(block)] = true;
            }
        }
        started_[t.tag] = start;
        t.path->charge(Stage::die_wait_host_write, start);
        agenda_.post(start + time, Then::to<&FakeFlash::end>(this, t.tag));
    }

    std::array<std::uint64_t, kFlashClassCount> ended{};
    std::array<std::uint64_t, kFlashClassCount> bytes{};  ///< of these, their data
    ArrayFaults* faults = nullptr;                        ///< null: none
    std::uint32_t read_retries = 5;
    bool moves_with_host = false;  ///< programs of GC end in submission order with those of the host
    std::int64_t host_programs_slower = 1, map_programs_slower = 1, journal_programs_slower = 1;  ///< so many times
    std::uint64_t retried = 0, lost = 0, programs_failed = 0, erases_failed = 0;
    std::uint64_t map_programs_failed = 0, map_reads_lost = 0;  ///< of these, of translation pages
    std::function<void(const FlashTransaction&)> on_program;    ///< at its submission
    std::function<void(const PageAddress&)> on_lost;            ///< a read of the page ends as uncorrectable
    std::function<void(const FlashTransaction&)> on_program_failed;
    std::function<void(const FlashTransaction&)> on_programmed;  ///< when its array operation has ended well
    /// The power goes: pages that are being programmed are torn, blocks that are being erased still whole, torn, or
    /// erased. Nothing ends any more.
    void cut(Random& chance) {
        for (std::size_t tag = 0; tag < all_.size(); ++tag) {
            const FlashTransaction* t = all_[tag];
            if (t == nullptr || started_[tag] > agenda_.now()) continue;
            if (t->op == FlashOp::program) {
                spare_.tear(t->address, t->slc);
                ++torn;
                if (!spare_.geometry().two_step || !spare_.geometry().word_lines().is_upper(t->address.page)) continue;
                spare_.spoil(PageAddress{t->address.plane, t->address.block,
                                         spare_.geometry().word_lines().below(t->address.page)});
                ++lower_pages_lost;
            } else if (t->op == FlashOp::erase) {
                const BlockId block = spare_.geometry().block_of(t->address);
                ++erases_cut;
                switch (chance.below(3)) {
                    case 0:
                        break;  // nothing is lost yet
                    case 1:
                        spare_.tear_block(block);
                        break;
                    default:
                        spare_.erase(block);
                }
            }
        }
    }
    std::uint64_t torn = 0, erases_cut = 0, lower_pages_lost = 0;
    /// As of a new one.
    void draw_from(std::uint64_t seed) { random_ = Random(seed, 7); }
    /// While set, nothing that is submitted ends; release() lets it go.
    bool hold = false;
    std::size_t held() const { return held_.size(); }
    void release() {
        hold = false;
        for (const std::uint32_t tag : held_) agenda_.post(agenda_.now(), Then::to<&FakeFlash::end>(this, tag));
        held_.clear();
    }

private:
    enum class Mode : std::uint8_t { any, native, slc };
    /// Of a block: that of what is programmed into it first, until its erase. Only the search for the map may not know
    /// it.
    void check_mode(const FlashTransaction& t, std::uint32_t block) {
        if (t.slc && t.op != FlashOp::erase && t.address.page >= spare_.geometry().slc_pages_per_block())
            throw std::logic_error("page " + std::to_string(t.address.page) + " in SLC mode");
        const Mode mode = t.slc ? Mode::slc : Mode::native;
        const bool searches = t.op == FlashOp::read && t.cls == FlashClass::mapping_read;
        if (mode_[block] == Mode::any && spare_.next_page(BlockId{block}) != 0)
            mode_[block] = spare_.slc(BlockId{block}) ? Mode::slc : Mode::native;
        if (t.op != FlashOp::erase && !searches && mode_[block] != Mode::any && mode_[block] != mode)
            throw std::logic_error("block in another mode");
        if (t.op == FlashOp::program) mode_[block] = mode;
        if (t.op == FlashOp::erase) mode_[block] = Mode::any;
    }
    Ps latency() {
        return Ps{static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(longest_.count()))) + 1};
    }
    std::uint32_t take(FlashTransaction& t) {
        if (free_.empty()) {
            free_.push_back(static_cast<std::uint32_t>(all_.size()));
            all_.push_back(nullptr);
            started_.emplace_back();
        }
        const std::uint32_t tag = free_.back();
        free_.pop_back();
        all_[tag] = &t;
        return tag;
    }
    void end(std::uint64_t tag) {
        if (hold) {
            held_.push_back(static_cast<std::uint32_t>(tag));
            return;
        }
        FlashTransaction& t = *all_[tag];
        all_[tag] = nullptr;
        free_.push_back(static_cast<std::uint32_t>(tag));
        const BlockId block = spare_.geometry().block_of(t.address);
        switch (t.op) {
            case FlashOp::read:
                --reads_of_[idx(block)];
                read_page(t);
                break;
            case FlashOp::program:
                program_page(t);
                break;
            case FlashOp::erase:
                erase(t);
                break;
            default:
                ADD_FAILURE() << "the firmware asks for " << onfi_operation(t.op).name << ", which is not of the array";
        }
        ++ended[static_cast<std::size_t>(t.cls)];
        bytes[static_cast<std::size_t>(t.cls)] += t.data_bytes;
        t.path->charge(Stage::array, agenda_.now());
        t.then();
    }

    void read_page(FlashTransaction& t) {
        const BlockId block = spare_.geometry().block_of(t.address);
        spare_.read_page(t.address, t.spare.data(), t.bytes);
        if (!spare_.readable(t.address, t.slc)) return t.spare.fill(kTorn);
        if (faults == nullptr) return;
        for (std::uint32_t again = 0;
             faults->wrong_bits({t.address, spare_.erase_count(block), agenda_.now(), t.slc}, again) != 0; ++again) {
            if (again == read_retries) {
                t.status.result = FlashResult::uncorrectable;
                t.spare.fill(Spare{0x55555555});  // nobody may look at it
                ++lost;
                map_reads_lost += t.cls == FlashClass::mapping_read;
                if (on_lost) on_lost(t.address);
                return;
            }
            ++retried;
        }
    }
    void program_page(FlashTransaction& t) {
        std::array<Spare, kMaxUnitsPerPage> held = t.spare;
        PageRecord record = t.record;
        if (faults != nullptr &&
            faults->program_fails(
                {t.address, spare_.erase_count(spare_.geometry().block_of(t.address)), agenda_.now(), t.slc})) {
            held.fill(kPadding);
            record.content = nullptr;
            t.status.result = FlashResult::program_failed;
            failed_[idx(spare_.geometry().block_of(t.address))] = true;
            ++programs_failed;
            map_programs_failed += t.cls == FlashClass::mapping_write;
            if (on_program_failed) on_program_failed(t);
        }
        spare_.program_page(t.address, held.data(), record, t.bytes, t.slc);
        if (on_programmed && t.status.result == FlashResult::ok) on_programmed(t);
    }
    void erase(FlashTransaction& t) {
        const BlockId block = spare_.geometry().block_of(t.address);
        erasing_.erase(idx(block));
        if (faults != nullptr && faults->erase_fails({t.address, spare_.erase_count(block), agenda_.now(), t.slc})) {
            t.status.result = FlashResult::erase_failed;
            failed_[idx(block)] = true;
            ++erases_failed;
            return;
        }
        spare_.erase(block);
    }

    Agenda& agenda_;
    SpareArea& spare_;
    Random random_;
    Ps longest_;
    std::vector<std::array<SimTime, kFlashClassCount>> partitions_;
    std::vector<std::uint32_t> reads_of_;
    std::vector<bool> failed_;
    std::vector<Mode> mode_;
    std::map<std::uint32_t, bool> erasing_;
    std::vector<FlashTransaction*> all_;
    std::vector<SimTime> started_;
    std::vector<std::uint32_t> free_, held_;
};

/// One that a test can look at.
class WatchedDram final : public DramPort {
public:
    WatchedDram(Agenda& agenda, const DramConfig& config) : DramPort(agenda), dram_(agenda, config) {}

    using DramPort::begin;
    SimTime begin(const DramPiece* pieces, std::uint32_t count, const Then& then) override {
        if (on_access) std::for_each(pieces, pieces + count, on_access);
        return dram_.begin(pieces, count, then);
    }
    bool idle(SimTime now) const override { return dram_.idle(now); }
    Ps busy() const override { return dram_.busy(); }

    std::function<void(const DramPiece&)> on_access;

private:
    SerialDram dram_;
};

/// Host memory as one byte vector from address 0; a read above its end fails.
class FakeDma final : public DmaPort {
public:
    FakeDma(Agenda& agenda, std::size_t bytes, std::uint64_t seed, Ps longest)
        : memory(bytes), agenda_(agenda), random_(seed, 8), longest_(longest) {}

    void write_host(const HostSegment* segments, std::uint32_t count, const std::uint8_t* data, const DmaThen& then,
                    ByteEnables, const DmaTerms& terms) override {
        const std::uint64_t n = take(segments, count, then);
        if (on_write) on_write(terms);
        all_[n].from = data;
        const SimTime from = std::max(agenda_.now(), terms.from);
        last_write_ = std::max(last_write_, from) + latency();
        all_[n].at = last_write_;
        agenda_.post(last_write_, Then::to<&FakeDma::written>(this, n));
        if (!then) return;
        if (random_.percent(50) && from == agenda_.now())
            then({last_write_});  // the link was idle
        else
            agenda_.post(from + (last_write_ - from) / 2, Then::to<&FakeDma::handed_over>(this, n));
    }
    void read_host(const HostSegment* segments, std::uint32_t count, std::uint8_t* data, const DmaThen& then,
                   ByteEnables) override {
        const std::uint64_t n = take(segments, count, then);
        all_[n].to = data;
        agenda_.post(agenda_.now() + latency(), Then::to<&FakeDma::read>(this, n));
    }

    std::vector<std::uint8_t> memory;
    std::uint64_t failed = 0;
    std::uint64_t transfers = 0;
    std::uint64_t lost_transfer = 0;  ///< of these, from 1: fails; 0: none
    /// As of a new one.
    void draw_from(std::uint64_t seed) { random_ = Random(seed, 8); }
    std::function<void(const DmaTerms&)> on_write;

private:
    struct Request {
        std::vector<HostSegment> segments;
        const std::uint8_t* from = nullptr;
        std::uint8_t* to = nullptr;
        DmaThen then;
        SimTime at{};
    };
    Ps latency() {
        return Ps{static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(longest_.count()))) + 1};
    }
    std::uint64_t take(const HostSegment* segments, std::uint32_t count, const DmaThen& then) {
        if (free_.empty()) {
            free_.push_back(all_.size());
            all_.emplace_back();
        }
        const std::uint64_t n = free_.back();
        free_.pop_back();
        if (++transfers == lost_transfer) {
            static constexpr HostSegment kNowhere{~std::uint64_t{0} >> 1, 0};
            segments = &kNowhere;
            count = 1;
        }
        all_[n].segments.assign(segments, segments + count);
        all_[n].then = then;
        return n;
    }
    void handed_over(std::uint64_t n) { all_[n].then({all_[n].at}); }
    void written(std::uint64_t n) {
        for (const HostSegment& s : all_[n].segments) {
            std::memcpy(memory.data() + s.address, all_[n].from, s.bytes);
            all_[n].from += s.bytes;
        }
        free_.push_back(n);
    }
    void read(std::uint64_t n) {
        bool ok = true;
        for (const HostSegment& s : all_[n].segments) {
            ok = ok && s.address + s.bytes <= memory.size();
            if (ok) std::memcpy(all_[n].to, memory.data() + s.address, s.bytes);
            all_[n].to += s.bytes;
        }
        const DmaThen then = all_[n].then;
        free_.push_back(n);
        failed += !ok;
        then({agenda_.now(), !ok});
    }

    Agenda& agenda_;
    Random random_;
    Ps longest_;
    SimTime last_write_{};
    std::vector<Request> all_;
    std::vector<std::uint64_t> free_;
};

}  // namespace ssdtlm
