// SPDX-License-Identifier: Apache-2.0
// A firmware over flash that stays; a host writes, deallocates and flushes at random, takes its power away, and checks
// what it finds then.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "common/random/random.h"
#include "controller/checkpoint/checkpoint_feature.h"
#include "controller/map/cached/translation_search.h"
#include "controller/mount/map_rebuild.h"
#include "controller/mount/recovery.h"
#include "controller/slc/slc_feature.h"
#include "cut_life.h"
#include "cut_unit.h"
#include "device_under_test.h"
#include "erases_found.h"
#include "nand/array/random_faults.h"
#include "parity_rows.h"
#include "safe_pages.h"
#include "same_tables.h"
#include "translation_watch.h"

namespace ssdtlm {

class CutHost {
public:
    CutHost(const DeviceShape& s, std::uint64_t seed, Cuts when = Cuts::anywhere)
        : when_(when),
          one_by_one_(when != Cuts::anywhere),
          shape_(s),
          spare_(s.geometry),
          random_(seed, 21),
          faults_(s.faults, seed),
          slots_(s.slots),
          seed_(seed) {
        begin_life();
        if (s.ftl.mapping == "dftl") translation_.emplace(life_->ftl, spare_);
        units_.resize(life_->ftl.logical_units());
        for (Unit& u : units_) u.versions.push_back(0);
    }
    /// Writes at random; cuts the power after some of the events, so many times. The last life ends in peace.
    void run(int most_cuts, std::uint64_t events = 6000) {
        for (int cut = 0; cut < most_cuts; ++cut) {
            run_for(1 + random_.below(cut % 4 == 0 ? 200 : cut < 12 ? 6000 : events));
            if (when_ == Cuts::behind_failures) run_until(failures_, 20000);
            for (std::uint64_t more = when_ == Cuts::behind_failures ? random_.below(4) : one_by_one_; more != 0;
                 --more)
                run_until(life_->ftl.counters().blocks_erased,
                          3000);  // what was needed no more, as far as the firmware knows, is gone then
            if (one_by_one_ && has_worn_out() && random_.percent(50)) return come_to_rest();
            if (shape_.ftl.checkpoint_at_shutdown && random_.percent(40)) shut_down(cut);
            if (::testing::Test::HasFailure()) return;
            ASSERT_NO_THROW(power_cut()) << "cut " << cut;
            if (::testing::Test::HasFailure()) return;
            if (has_worn_out()) return;
        }
        run_for(5000);
        if (has_worn_out()) return;
        stop_ = true;
        while (step())
            ;
        flush();
        while (step())
            ;
        ASSERT_EQ(under_way_, 0u) << life_->firmware.dump();
        if (has_worn_out()) return;  // at the very end: what was left in the buffer is given up
        for (const Unit& u : units_) ASSERT_EQ(u.durable + 1, u.versions.size());
        ASSERT_NO_THROW(power_cut());
    }
    /// A drive that takes no more shuts down all the same.
    void come_to_rest() {
        stop_ = true;
        while (under_way_ != 0 && step())
            ;
        flush(true);
        while (step())
            ;
        ASSERT_TRUE(under_way_ == 0 && life_->firmware.idle()) << life_->firmware.dump();
        ++rests;
    }
    /// A normal shutdown: to its end, and the next start finds everything as it was; or the power goes before; or the
    /// host goes on.
    void shut_down(int cut) {
        stop_ = true;
        while (under_way_ != 0 && step())
            ;
        stop_ = false;
        ASSERT_EQ(under_way_, 0u) << life_->firmware.dump();
        if (!flush(true)) return;
        const std::uint64_t events = random_.percent(30) ? random_.below(60) : ~std::uint64_t{0};
        std::uint64_t done = 0;
        while (done != events && under_way_ != 0 && step()) ++done;
        if (done == events) return;
        ASSERT_EQ(under_way_, 0u) << life_->firmware.dump();
        if (random_.percent(30)) {
            ++went_on;
            run_for(1 + random_.below(400));
            return;
        }
        while (step())
            ;
        ASSERT_TRUE(life_->firmware.idle()) << life_->firmware.dump();
        ASSERT_TRUE(checkpoints_of(life_->ftl)->clean());
        ASSERT_NO_THROW(life_->ftl.verify_books());
        before_ = std::move(life_);
        start_again();
        // Of a translation page that found no block it may be better to believe nothing.
        if (dirty_entries == 0) expect_same_tables(before_->ftl, life_->ftl, cut);
        ASSERT_EQ(source, MapSource::clean_checkpoint);
        before_.reset();
        if (random_.percent(50)) shut_down_at_once(cut);
    }
    /// A drive that has started and done nothing: what it finds the next time is what it has found.
    void shut_down_at_once(int cut) {
        if (!flush(true)) return;
        while (step())
            ;
        ASSERT_EQ(under_way_, 0u) << life_->firmware.dump();
        ASSERT_TRUE(checkpoints_of(life_->ftl)->clean());
        before_ = std::move(life_);
        start_again();
        // Of a translation page that found no block it may be better to believe nothing.
        if (dirty_entries == 0) expect_same_tables(before_->ftl, life_->ftl, cut);
        ASSERT_EQ(source, MapSource::clean_checkpoint);
        before_.reset();
        ++shut_down_twice;
    }
    /// One cut, after this many events. False: the run was over before.
    bool cut_after(std::uint64_t events, std::uint64_t commands) {
        most_ = commands;
        run_for(events);
        const bool over = under_way_ == 0 && life_->agenda.next_time() == kNever;
        power_cut();
        return !over;
    }
    void ended(Command& c) {
        life_->agenda.post(std::max(life_->agenda.now(), c.timeline->last()),
                           Then::to<&CutHost::at_end>(this, c.index));
    }

    MapSource source = MapSource::all_pages;  ///< of the last start
    std::uint64_t dirty_entries = 0;          ///< and how many it has found that were
    std::uint64_t from_checkpoint = 0, from_clean = 0, went_on = 0, shut_down_twice = 0, checkpoint_pages = 0,
                  scan_reads = 0, all_reads = 0, slc_found = 0;
    ErasesFound erases_found;
    std::uint64_t parity_rows = 0;  ///< complete ones, after all starts
    std::uint64_t lower_pages_lost = 0, padding_pages = 0;
    const TranslationWatch& translation() const { return *translation_; }
    std::uint64_t translation_reads = 0, translation_pages = 0, dirty_after_clean = 0, programs_failed = 0,
                  map_programs_failed = 0, erases_failed = 0;
    std::uint64_t cuts = 0, rests = 0, translation_written = 0, read_only = 0, torn = 0, lost_versions = 0, moved = 0,
                  writes = 0, erases = 0, deallocations = 0, journal_pages = 0, erases_cut = 0;

private:
    struct Slot {
        AddressedCommand command;
        Timeline timeline;
        std::vector<std::uint32_t> units;
        std::vector<std::pair<std::uint32_t, std::size_t>> before;  ///< flush: unit, index acknowledged when it began
        bool busy = false;
    };
    /// It takes no more, and is read-only: some of its flash has failed, or losses of power have used up its free
    /// superblocks, where garbage collection cannot go on in others.
    bool has_worn_out() const {
        return (shape_.faults.any() || shape_.geometry.two_step) && life_->ftl.media().read_only;
    }
    std::uint32_t per_unit() const { return shape_.geometry.unit_bytes / shape_.lba_bytes; }
    unsigned flushes() const { return when_ == Cuts::behind_erases ? 40 : when_ == Cuts::behind_failures ? 15 : 2; }
    std::uint32_t mask() const { return life_->ftl.codec().version_mask(); }
    std::uint32_t next_version(const Unit& u) const {
        return u.last_written() >= mask() - 1 ? 1 : u.last_written() + 1;
    }

    void begin_life() {
        life_ = std::make_unique<Life>(shape_, spare_, seed_ * 1000 + ++lives_, *this);
        // Much can happen to the old copies while the new ones are on their way.
        if (one_by_one_ || seed_ % 2 == 1) life_->flash.host_programs_slower = one_by_one_ ? 60 : 20;
        if (seed_ % 3 == 1) life_->flash.map_programs_slower = 100;
        if (shape_.faults.any()) life_->flash.faults = &faults_;
        if (when_ == Cuts::behind_failures) life_->flash.journal_programs_slower = 1000;
        life_->flash.on_program_failed = [this](const FlashTransaction& t) {
            for (std::uint32_t s = 0; s < shape_.geometry.units_per_page() && t.cls == FlashClass::host_write; ++s)
                failures_ += t.spare[s] != kPadding && units_[idx(life_->ftl.codec().lpa(t.spare[s]))].is_deallocated();
        };
        life_->flash.on_programmed = [this](const FlashTransaction& t) {
            if (t.record.kind == PageKind::parity) return;  // of no unit
            if (translation_) translation_->programmed(life_->ftl, t);
            if (safe_pages_)
                safe_pages_->programmed(t, [this](const FlashTransaction& safe) { page_is_durable(safe); });
            else
                page_is_durable(t);
        };
        if (shape_.geometry.two_step) safe_pages_.emplace(shape_.geometry);
        for (Slot& s : slots_) s.busy = false;
        under_way_ = 0;
    }
    void page_is_durable(const FlashTransaction& t) {
        // What a failed program was to hold goes to a block of garbage collection.
        if (t.cls != FlashClass::host_write && !shape_.faults.any()) return;
        const SpareCodec& codec = life_->ftl.codec();
        for (std::uint32_t s = 0; s < shape_.geometry.units_per_page(); ++s)
            if (t.spare[s] != kPadding && !life_->ftl.is_own(codec.lpa(t.spare[s])))
                units_[idx(codec.lpa(t.spare[s]))].is_durable(codec.version(t.spare[s]));
    }
    /// One event, if there is one.
    bool step() {
        if (!life_->agenda.run_one(kNever)) return false;
        life_->firmware.check_waiters();
        if (translation_) translation_->forget_dropped(life_->ftl);
        return true;
    }
    void run_for(std::uint64_t events) {
        refill();
        for (; events != 0 && !has_worn_out() && step(); --events) refill();
    }
    /// At most so many events.
    void run_until(const std::uint64_t& changes, std::uint64_t most) {
        for (const std::uint64_t before = changes; most != 0 && !has_worn_out() && changes == before && step(); --most)
            refill();
    }
    void refill() {
        if (stop_ || writes + deallocations >= most_) return;
        for (std::uint32_t i = 0; i < slots_.size(); ++i)
            if (!slots_[i].busy && !(random_.percent(flushes())               ? flush()
                                     : random_.percent(one_by_one_ ? 30 : 10) ? deallocate(i)
                                                                              : write(i)))
                return;
    }
    Slot& start(std::uint32_t i, IoOp op) {
        Slot& s = slots_[i];
        AddressedCommand& c = s.command;
        c = AddressedCommand{};
        c.index = i;
        c.op = op;
        c.timeline = &s.timeline;
        s.timeline.begin(life_->agenda.now());
        s.busy = true;
        s.units.clear();
        ++under_way_;
        return s;
    }
    bool deallocate(std::uint32_t i) {
        std::vector<LbaRange> ranges;
        std::vector<std::uint32_t> of;
        for (std::uint64_t r = one_by_one_ ? 1 : 1 + random_.below(3); r != 0; --r) {
            const auto n =
                static_cast<std::uint32_t>(one_by_one_ ? 1 : 1 + random_.below(random_.percent(10) ? 40 : 4));
            const std::uint64_t span = one_by_one_ ? 24 : random_.percent(50) ? 48 : units_.size();
            const auto first = static_cast<std::uint32_t>(random_.below(span - n + 1));
            const auto is_busy = [this](std::uint32_t u) { return units_[u].writing; };
            std::vector<std::uint32_t> range;
            for (std::uint32_t u = first; u < first + n; ++u) range.push_back(u);
            if (std::any_of(range.begin(), range.end(), is_busy)) continue;
            for (const std::uint32_t u : range) {
                units_[u].writing = true;
                units_[u].versions.push_back(0);
            }
            of.insert(of.end(), range.begin(), range.end());
            ranges.push_back({std::uint64_t{first} * per_unit(), n * per_unit()});
        }
        if (ranges.empty()) return false;
        Slot& s = start(i, IoOp::deallocate);
        s.units = of;
        s.command.ranges.assign(ranges.begin(), ranges.end());
        ++deallocations;
        life_->firmware.submit(s.command);
        return true;
    }
    bool write(std::uint32_t i) {
        const auto n = static_cast<std::uint32_t>(1 + random_.below(4));
        const std::uint64_t span = random_.percent(one_by_one_ ? 90 : 50) ? 24 : units_.size();
        const auto first = static_cast<std::uint32_t>(random_.below(span - n + 1));
        for (std::uint32_t u = first; u < first + n; ++u)
            if (units_[u].writing) return false;
        Slot& s = start(i, IoOp::write);
        AddressedCommand& c = s.command;
        for (std::uint32_t u = first; u < first + n; ++u) s.units.push_back(u);
        c.fua = random_.percent(10);
        c.whose.tenant = static_cast<std::uint16_t>(c.index % 5);
        c.whose.stream = static_cast<std::uint8_t>(
            shape_.ftl.stream_frontiers == 0 ? 0 : writes % (shape_.ftl.stream_frontiers + 2));
        c.slba = std::uint64_t{first} * per_unit();
        c.blocks = n * per_unit();
        c.bytes = std::uint64_t{n} * shape_.geometry.unit_bytes;
        c.data.add(std::uint64_t{i} * 65536, c.bytes);
        for (std::uint32_t u = 0; u < n; ++u) {
            Unit& unit = units_[first + u];
            unit.writing = true;
            unit.versions.push_back(next_version(unit));
            for (std::uint32_t b = 0; b < per_unit(); ++b)
                BlockSignature{c.slba + u * per_unit() + b, unit.versions.back(), BlockSignature::kMagic}.store(
                    life_->dma.memory.data() + std::uint64_t{i} * 65536 +
                    (std::uint64_t{u} * per_unit() + b) * shape_.lba_bytes);
        }
        ++writes;
        life_->firmware.submit(c);
        return true;
    }
    bool flush(bool ends_work = false) {
        for (std::uint32_t i = 0; i < slots_.size(); ++i) {
            if (slots_[i].busy) continue;
            Slot& s = start(i, IoOp::flush);
            s.command.ends_work = ends_work;
            s.before.clear();
            for (std::uint32_t u = 0; u < units_.size(); ++u)
                if (units_[u].acknowledged > units_[u].durable) s.before.emplace_back(u, units_[u].acknowledged);
            life_->firmware.submit(s.command);
            return true;
        }
        return false;
    }
    void at_end(std::uint64_t index) {
        Slot& s = slots_[index];
        s.busy = false;
        --under_way_;
        if (s.command.status != CommandStatus::success) {
            if (!has_worn_out()) throw std::logic_error("a command failed");
            return;
        }
        if (s.command.op == IoOp::flush) {
            if (has_worn_out()) return;  // a flush after the one that said so ends well
            for (const auto& [unit, version] : s.before) {
                Unit& u = units_[unit];
                // A write that did not get there was overtaken by a deallocation, which did.
                for (std::size_t i = version; i != u.versions.size() && u.durable < version; ++i)
                    if (u.versions[i] == 0) u.durable = i;
                if (u.durable < version)
                    throw std::logic_error("a flush ended before unit " + std::to_string(unit) + " was in flash");
            }
            return;
        }
        for (const std::uint32_t u : s.units) {
            Unit& unit = units_[u];
            unit.writing = false;
            unit.acknowledged = unit.versions.size() - 1;
            if (s.command.fua && unit.durable < unit.acknowledged)
                throw std::logic_error("a write with FUA ended before unit " + std::to_string(u) + " was in flash");
        }
    }
    void power_cut() {
        ++cuts;
        life_->flash.cut(random_);
        torn += life_->flash.torn;
        lower_pages_lost += life_->flash.lower_pages_lost;
        padding_pages += life_->ftl.counters().host_padding_pages + life_->ftl.counters().gc_padding_pages;
        erases_cut += life_->flash.erases_cut;
        moved += life_->ftl.counters().gc_units_moved;
        erases += life_->ftl.counters().blocks_erased;
        journal_pages += life_->ftl.counters().journal_pages;
        checkpoint_pages += life_->ftl.counters().checkpoint_pages;
        translation_written += life_->ftl.counters().map_pages;
        read_only += life_->ftl.media().read_only;
        programs_failed += life_->flash.programs_failed;
        map_programs_failed += life_->flash.map_programs_failed;
        erases_failed += life_->flash.erases_failed;
        erases_found.note(life_->ftl);
        start_again();
        erases_found.compare(life_->ftl, spare_);
        if (life_->ftl.feature<RowParity>() != nullptr)
            parity_rows += check_parity_rows(spare_, life_->ftl.codec()).rows;
        Ftl& ftl = life_->ftl;
        for (std::uint32_t n = 0; n < units_.size(); ++n) {
            Unit& u = units_[n];
            const Ppa at = ftl.lookup(Lpa{n});
            const std::uint32_t found = at == kUnmapped ? 0 : ftl.codec().version(spare_.at(at));
            const std::optional<std::size_t> is = u.which(found);
            if (!is)
                throw std::logic_error("unit " + std::to_string(n) + " is version " + std::to_string(found) +
                                       " after the cut; " + std::to_string(u.versions[u.durable]) + " was durable, " +
                                       std::to_string(u.versions.back()) + " submitted last");
            lost_versions += u.versions.size() - 1 - *is;
            u = Unit{{found}, 0, 0, u.last_written(), false};
        }
    }
    /// As a drive does; and it finds what it would find in all pages.
    void start_again() {
        begin_life();
        Ftl& ftl = life_->ftl;
        if (checkpoints_of(ftl) == nullptr && !translation_ && shape_.ftl.slc.dynamic_blocks == 0) {
            Recovery(ftl).from_all_pages();
            ftl.verify_books();
            return;
        }
        bool over = false;
        const MountPeers peers{shape_.geometry,
                               spare_,
                               life_->flash,
                               life_->firmware.cores(),
                               shape_.ftl.scan_reads_per_die,
                               shape_.firmware.scan_page,
                               ftl.slc_region()};
        MapRebuild::LastStep last;
        if (translation_)
            last = [&](const std::vector<bool>& suspects) {
                return std::make_unique<TranslationSearch>(
                    peers, ftl, shape_.firmware.scan_entry, suspects,
                    [this](std::uint32_t page, const std::vector<Lpa>& units) {
                        translation_->found_stale(life_->ftl, *life_->firmware.cached_map(), page, units);
                    });
            };
        MapRebuild rebuild(peers, ftl, shape_.firmware.scan_entry, std::move(last));
        rebuild.start([&over] { over = true; });
        while (!over && life_->agenda.run_one(kNever)) {
        }
        if (!over) throw std::logic_error("the map was not found\n" + rebuild.dump());
        source = rebuild.source();
        from_checkpoint += source == MapSource::checkpoint;
        from_clean += source == MapSource::clean_checkpoint;
        scan_reads += rebuild.reads();
        dirty_entries = rebuild.dirty_entries();
        translation_reads += rebuild.last_reads();
        translation_pages += ftl.own_units();
        if (source == MapSource::clean_checkpoint) dirty_after_clean += rebuild.dirty_entries() != 0;
        ftl.verify_books();
        for (std::uint32_t g = 0; g < ftl.shape().groups() && ftl.feature<SlcFeature>() != nullptr; ++g)
            slc_found += ftl.feature<SlcFeature>()->cache().dynamic_blocks(GroupId{g});
        Ftl by_all_pages(shape_.ftl, shape_.geometry, spare_, shape_.seed);
        Recovery(by_all_pages).from_all_pages();
        for (std::uint32_t n = 0; n < ftl.logical_units(); ++n)
            if (ftl.lookup(Lpa{n}) != by_all_pages.lookup(Lpa{n}))
                throw std::logic_error("unit " + std::to_string(n) + " is at " +
                                       std::to_string(idx(ftl.lookup(Lpa{n}))) + " from a " + name_of(source) +
                                       ", at " + std::to_string(idx(by_all_pages.lookup(Lpa{n}))) + " from all pages");
        if (translation_) translation_->started(ftl, by_all_pages);
    }
    const Cuts when_;
    const bool one_by_one_;
    const DeviceShape shape_;
    SpareArea spare_;
    Random random_;
    RandomFaults faults_;  ///< of the flash, which outlives the power
    std::vector<Slot> slots_;
    std::uint64_t seed_, lives_ = 0, most_ = ~std::uint64_t{0};  ///< writes and deallocations
    bool stop_ = false;
    std::vector<Unit> units_;
    std::uint64_t failures_ = 0;           ///< of programs with units that the host had deallocated meanwhile
    std::optional<SafePages> safe_pages_;  ///< of this life; none: each page is safe when it has been programmed
    std::optional<TranslationWatch> translation_;  ///< none: the map is all in memory
    std::uint32_t under_way_ = 0;
    std::unique_ptr<Life> life_, before_;
};

inline void Life::complete(Command& c) {
    host.ended(c);
}

}  // namespace ssdtlm
