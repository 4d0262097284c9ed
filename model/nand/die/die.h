// SPDX-License-Identifier: Apache-2.0
// A die (LUN): its running operation, the contents of its page registers, and the rules of a datasheet. Kernel-free:
// its caller gives it the time of the last command cycle, and gets the time at which R/B# rises. Array times depend on
// the page type (lower, middle, upper), or are those of SLC mode. A multi-plane operation takes the longest time of its
// pages. While a program or erase is suspended, all pages can be read except those on which it works. While a program
// runs, the cache registers may take the pages of the next one (cache program). Not modelled: cache reads, a program
// while an erase is suspended, limits on the number of suspends, partial-page programming, wear.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "common/address/geometry.h"
#include "common/units/units.h"
#include "nand/array/array_faults.h"
#include "nand/array/spare_area.h"
#include "nand/onfi/nand_config.h"
#include "nand/onfi/onfi_operation.h"
#include "nand/onfi/onfi_target.h"

namespace ssdtlm {

/// Counts of the operations that a loss of power has cut off.
struct PowerLoss {
    std::uint64_t pages_torn = 0;
    std::uint64_t erases_cut = 0;
    std::uint64_t lower_pages_lost = 0;  ///< programmed lower pages of torn upper pages (NandGeometry::two_step)
    PowerLoss& operator+=(const PowerLoss& o) {
        pages_torn += o.pages_torn;
        erases_cut += o.erases_cut;
        lower_pages_lost += o.lower_pages_lost;
        return *this;
    }
};

class alignas(64) Die {
public:
    Die(const NandConfig& config, DieId id, SpareArea& area);

    /// Returns why the die would refuse the operation now; empty if it would accept it. The operation is one of the
    /// array, read_out, a suspend or a resume. The target of a suspend or resume does not matter.
    std::string probe(FlashOp op, const OnfiTarget* targets, std::uint32_t count) const;
    /// Starts an operation of the array. R/B# falls at `start`. Returns the time at which R/B# rises. The page
    /// registers take the units of a program at once. Panics with probe()'s text when the die refuses the operation.
    SimTime issue(FlashOp op, const OnfiTarget* targets, std::uint32_t count, SimTime start) {
        // Nearly all operations are reads of one plane, so these have a copy of the code with constant arguments.
        return op == FlashOp::read && count == 1 ? begin(FlashOp::read, targets, 1, start)
                                                 : begin_any(op, targets, count, start);
    }
    /// The times of a program, in this order.
    struct ProgramTimes {
        SimTime begins;  ///< the array begins to program the pages
        SimTime ready;   ///< R/B# rises
        SimTime ends;    ///< the array has ended
    };
    /// Issues a program with NandConfig::cache_program. Its first cycle is at `from`. With `more` (15h), R/B# rises as
    /// soon as the cache registers are free again; else (10h) when the array has ended. While the array programs other
    /// pages, the new ones wait in the cache registers (waits()). take_over() is then due with finish() of the other
    /// pages. Panics as issue() does.
    ProgramTimes program(const OnfiTarget* targets, std::uint32_t count, SimTime from, SimTime start, bool more);
    /// True: pages wait in the cache registers.
    bool waits() const { return cached_ != 0; }
    /// The array begins to program the waiting pages.
    void take_over();
    /// The array operation on these planes ends. A read loads the page registers; a program and an erase change the
    /// array. Call it at the time that issue() returned, with the same planes. Returns a bit per plane whose program or
    /// erase failed.
    std::uint32_t finish(const OnfiTarget* targets, std::uint32_t count) {
        return count == 1 ? end(targets, 1) : end_any(targets, count);
    }
    /// Stops the running program or erase (`op`: program_suspend or erase_suspend). Returns the time at which R/B#
    /// rises; the die is then suspended(). If the operation ends before the array could stop, it runs to its end: the
    /// returned time is that of issue(), and its finish() is due. Panics with probe()'s text when the die refuses it.
    SimTime suspend(FlashOp op, SimTime start);
    /// Resumes the suspended operation. Returns the time at which R/B# rises, when finish() is due. Data that were read
    /// meanwhile must be out.
    SimTime resume(FlashOp op, SimTime start);
    bool suspended() const { return suspended_ != 0; }

    /// Carries out a loss of power. The operation of the array, suspended or not, leaves its pages or block torn
    /// (SpareArea::tear, tear_block), unless R/B# has not fallen yet. The contents of the cache registers are lost. The
    /// die cannot be used after it, and must be built anew.
    PowerLoss power_lost(SimTime now);

    /// Copies a page register to `target.spare` and `target.bytes`, if they are not null. Returns the wrong bits of its
    /// worst code word.
    std::uint16_t data_out(const OnfiTarget& target);
    /// Sets the model that decides which operations fail. With null none fails. The caller owns it.
    void inject(ArrayFaults* faults) { faults_ = faults; }

    /// The time at which the first of the running operations ends; kNever: the die is idle.
    SimTime next_event() const;
    /// The earliest time at which the plane can take an operation of that kind, considering only started work.
    SimTime earliest_ready(FlashOp op, std::uint32_t plane) const;
    bool busy() const { return busy_planes_ != 0; }
    bool busy(std::uint32_t plane) const { return (busy_planes_ >> plane & 1u) != 0; }
    DieId id() const { return id_; }

private:
    struct alignas(64) Plane {
        SimTime ready{};  // end of the last operation
        FlashOp op = FlashOp::read;
        bool loaded = false;  // the page register has the data of (block, page)
        bool slc = false;     // in SLC mode
        std::uint8_t retry = 0;
        std::uint16_t wrong_bits = 0;  // wrong bits of the page register
        std::uint32_t block = 0;
        std::uint32_t page = 0;
        Ppa first_slot{};     // first slot of that page
        PageRecord record{};  // of the page that is being programmed
        std::array<Spare, kMaxUnitsPerPage> page_register{};
        const UnitBytes* bytes = nullptr;  // program: the requester's; null: none
    };
    /// The rules of a datasheet. A broken rule refuses the operation.
    enum class Rule : std::uint8_t {
        none,
        plane_count,
        plane_exists,
        block_exists,
        not_busy,
        planes_differ,
        page_exists,
        pages_equal,
        page_erased,
        page_in_order,
        has_data,
        register_loaded,
        register_holds,
        page_bytes,
        suspended_work,
        only_reads,
        runs,
        is_suspended,
        slc_page_exists,
        cell_mode,
        block_erased,
        register_taken
    };
    struct Verdict {
        Rule broken = Rule::none;
        std::uint32_t target = 0;  // the target that breaks it
    };
    /// Checks the rules. issue() and data_out() act on the verdict, and probe() makes text from it. It is in line, so
    /// that constant arguments leave only the code that they need.
    Verdict check(FlashOp op, const OnfiTarget* targets, std::uint32_t count) const;
    /// Checks a read, program or erase of one target while an operation is suspended.
    Rule check_beside_suspended(FlashOp op, const OnfiTarget& target) const;
    Rule check_suspend(FlashOp op) const;
    /// Checks a program of one target while the array is at work.
    Rule check_behind(const OnfiTarget& target) const;
    /// True: the array is programming this block.
    bool programs(const OnfiTarget& t) const {
        return busy(t.plane) && planes_[t.plane].op == FlashOp::program && planes_[t.plane].block == t.block;
    }
    /// The next page of the block to program, after the page that the array programs.
    std::uint32_t next_page(const OnfiTarget& t) const {
        const BlockId block = block_of(t);
        return busy_planes_ != 0 && programs(t) ? area_.next_page_behind(block) : area_.next_page(block);
    }
    bool slc_block(const OnfiTarget& t) const { return programs(t) ? planes_[t.plane].slc : area_.slc(block_of(t)); }
    /// Checks the mode of a read or program, if some block has been in SLC mode or the operation is in SLC mode.
    Rule check_mode(FlashOp op, const OnfiTarget& target) const;
    bool alone(FlashOp op) const { return independent_plane_read_ && op == FlashOp::read; }

    struct Load {
        Ps longest{};            // array time
        std::uint32_t mask = 0;  // mask of its planes
    };
    Load load(FlashOp op, const OnfiTarget* targets, std::uint32_t count, Plane* planes);
    SimTime begin(FlashOp op, const OnfiTarget* targets, std::uint32_t count, SimTime start);
    SimTime begin_any(FlashOp op, const OnfiTarget* targets, std::uint32_t count, SimTime start);
    std::uint32_t end(const OnfiTarget* targets, std::uint32_t count);
    std::uint32_t end_any(const OnfiTarget* targets, std::uint32_t count);
    bool end_with_faults(const PageAddress& page, Plane& plane);
    Ppa first_slot(const OnfiTarget& t) const {
        const std::uint32_t block = (first_plane_ + t.plane) * blocks_per_plane_ + t.block;
        return Ppa{(block * pages_per_block_ + t.page) * units_per_page_};
    }
    BlockId block_of(const OnfiTarget& t) const { return geometry_.block_id(PlaneId{first_plane_ + t.plane}, t.block); }
    Ps array_time(FlashOp op, std::uint32_t page) const;
    [[noreturn]] void refuse(FlashOp op, const OnfiTarget* targets, std::uint32_t count) const;
    std::string text(FlashOp op, const OnfiTarget* targets, Verdict verdict) const;
    [[noreturn]] void refuse_finish(const OnfiTarget& target) const;
    std::string name(const OnfiTarget& t) const;

    // Members that a read needs. They are in one cache line.
    std::uint32_t busy_planes_ = 0;  // bit per plane
    std::uint32_t locked_ = 0;       // planes with operations that stop the whole die (all but independent reads)
    std::uint32_t suspended_ = 0;    // planes with a suspended program or erase
    std::uint32_t cached_ = 0;       // planes whose cache register holds a page that waits for the array
    const std::uint32_t planes_per_die_;
    const std::uint32_t blocks_per_plane_;
    const std::uint32_t pages_per_block_;
    const std::uint32_t units_per_page_;
    const std::uint32_t page_bytes_;
    const std::uint32_t first_plane_;
    const bool independent_plane_read_;
    const bool one_t_read_;  // for all page types
    ArrayFaults* faults_ = nullptr;
    std::vector<Plane> planes_;
    SpareArea& area_;
    const Ps first_t_read_;
    // The other members.
    std::array<std::vector<Ps>, kArrayOpCount> times_;  // per page type; one: all types
    std::array<Ps, kArrayOpCount> slc_times_{};
    std::vector<Plane> set_aside_;  // work of the suspended planes; empty before the first suspend
    std::vector<Plane> cache_;      // pages that wait in the cache registers; empty without cache program
    SimTime takes_from_ =
        kNever;  // from then on they take a page behind the program that runs; kNever: not behind this one
    SimTime cached_begins_{};   // when the array begins to program the waiting pages
    bool cached_more_ = false;  // 15h
    const bool cache_program_;
    const Ps t_cache_busy_;
    Ps remaining_{};         // remaining array time of the suspended operation
    SimTime begun_{};        // when R/B# fell for the last program or erase
    const Ps t_suspend_[2];  // program, erase
    const Ps t_resume_[2];
    const NandGeometry geometry_;
    const DieId id_;
};

// --- in line: what each read runs through ----------------------------------------------------------------------------

__attribute__((always_inline)) inline Die::Verdict Die::check(FlashOp op, const OnfiTarget* targets,
                                                              std::uint32_t count) const {
    if (count == 0 || count > planes_per_die_) return {Rule::plane_count, 0};
    if (const ArrayEffect effect = onfi_operation(op).effect;
        effect == ArrayEffect::suspends || effect == ArrayEffect::resumes)
        return {check_suspend(op), 0};
    std::uint32_t seen = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
        const OnfiTarget& t = targets[i];
        if (t.plane >= planes_per_die_) return {Rule::plane_exists, i};
        if (t.block >= blocks_per_plane_) return {Rule::block_exists, i};
        const bool lone = op == FlashOp::read_out || alone(op);
        if (lone ? locked_ != 0 || busy(t.plane) : busy_planes_ != 0) {
            if (op != FlashOp::program) return {Rule::not_busy, i};
            if (const Rule broken = check_behind(t); broken != Rule::none) return {broken, i};
        }
        if (op == FlashOp::read_out) {
            const Plane& p = planes_[t.plane];
            if (!p.loaded) return {Rule::register_loaded, i};
            if (p.block != t.block || p.page != t.page) return {Rule::register_holds, i};
            if (t.data_bytes > page_bytes_) return {Rule::page_bytes, i};
            continue;
        }
        if ((seen >> t.plane & 1u) != 0) return {Rule::planes_differ, i};
        seen |= 1u << t.plane;
        if (__builtin_expect(suspended_ != 0, 0))
            if (const Rule broken = check_beside_suspended(op, t); broken != Rule::none) return {broken, i};
        if (op == FlashOp::erase) continue;
        if (t.page >= pages_per_block_) return {Rule::page_exists, i};
        if (t.page != targets[0].page) return {Rule::pages_equal, i};
        if (__builtin_expect(t.slc || area_.any_slc(), 0))
            if (const Rule broken = check_mode(op, t); broken != Rule::none) return {broken, i};
        if (op != FlashOp::program) continue;
        const std::uint32_t next = next_page(t);
        if (t.page != next) return {t.page < next ? Rule::page_erased : Rule::page_in_order, i};
        if (__builtin_expect(area_.is_half_erased(block_of(t)), 0)) return {Rule::block_erased, i};
        if (t.spare == nullptr) return {Rule::has_data, i};
    }
    return {};
}

/// Stores the operation of each plane in `planes`.
__attribute__((always_inline)) inline Die::Load Die::load(FlashOp op, const OnfiTarget* targets, std::uint32_t count,
                                                          Plane* planes) {
    Load all;
    for (std::uint32_t i = 0; i < count; ++i) {
        const OnfiTarget& t = targets[i];
        Plane& plane = planes[t.plane];
        all.mask |= 1u << t.plane;
        plane.op = op;
        plane.loaded = false;
        plane.block = t.block;
        plane.page = t.page;
        plane.first_slot = first_slot(t);
        plane.retry = t.retry;
        plane.slc = t.slc;
        Ps time = op == FlashOp::read && one_t_read_ ? first_t_read_ : array_time(op, t.page);
        if (__builtin_expect(t.slc, 0)) time = slc_times_[static_cast<std::size_t>(op)];
        if (time > all.longest) all.longest = time;
        if (op == FlashOp::program) {
            for (std::uint32_t u = 0; u < units_per_page_; ++u) plane.page_register[u] = t.spare[u];
            plane.record = t.record != nullptr ? *t.record : PageRecord{};
            plane.bytes = t.bytes;
        } else if (op == FlashOp::read) {
            area_.prefetch(plane.first_slot);
        }
    }
    return all;
}

__attribute__((always_inline)) inline SimTime Die::begin(FlashOp op, const OnfiTarget* targets, std::uint32_t count,
                                                         SimTime start) {
    if (__builtin_expect(check(op, targets, count).broken != Rule::none, 0)) refuse(op, targets, count);
    const Load all = load(op, targets, count, planes_.data());
    const SimTime ready = start + all.longest;
    for (std::uint32_t i = 0; i < count; ++i) planes_[targets[i].plane].ready = ready;
    busy_planes_ |= all.mask;
    if (!alone(op)) locked_ |= all.mask;
    if (op != FlashOp::read) begun_ = start;
    // 80h clears the page registers of the addressed LUN (ONFI: of the target, unless it supports this).
    if (op == FlashOp::program)
        for (Plane& p : planes_) p.loaded = false;
    return ready;
}

__attribute__((always_inline)) inline std::uint32_t Die::end(const OnfiTarget* targets, std::uint32_t count) {
    std::uint32_t failed = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
        const std::uint32_t p = targets[i].plane;
        if (__builtin_expect(!busy(p), 0)) refuse_finish(targets[i]);
        Plane& plane = planes_[p];
        const PageAddress page{PlaneId{first_plane_ + p}, plane.block, plane.page};
        const bool fails = __builtin_expect(faults_ != nullptr, 0) && end_with_faults(page, plane);
        failed |= std::uint32_t{fails} << p;
        switch (onfi_operation(plane.op).effect) {
            case ArrayEffect::loads_register:
                area_.read_page(plane.first_slot, plane.page_register.data());
                if (__builtin_expect((plane.slc || area_.any_slc()) && !area_.readable(page, plane.slc), 0))
                    plane.page_register.fill(kTorn);
                plane.loaded = true;
                break;
            case ArrayEffect::programs_page:
                if (__builtin_expect(fails, 0)) plane.record.content = nullptr;
                area_.program_page(page, plane.page_register.data(), plane.record, plane.bytes, plane.slc);
                break;
            case ArrayEffect::erases_block:
                if (!fails) area_.erase(geometry_.block_id(page.plane, page.block));
                break;
            default:
                break;
        }
        busy_planes_ &= ~(1u << p);
        locked_ &= ~(1u << p);
    }
    return failed;
}

inline std::uint16_t Die::data_out(const OnfiTarget& t) {
    if (__builtin_expect(check(FlashOp::read_out, &t, 1).broken != Rule::none, 0)) refuse(FlashOp::read_out, &t, 1);
    const Plane& plane = planes_[t.plane];
    for (std::uint32_t i = 0; t.spare != nullptr && i < units_per_page_; ++i) t.spare[i] = plane.page_register[i];
    // The array has not changed since the register was loaded: an erase of its block would have emptied it.
    if (__builtin_expect(t.bytes != nullptr, 0))
        area_.read_bytes(plane.first_slot, plane.page_register.data(), t.bytes);
    return plane.wrong_bits;
}

}  // namespace ssdtlm
