// SPDX-License-Identifier: Apache-2.0
#include "nand/die/die.h"

#include <algorithm>

#include "common/report/error.h"

namespace ssdtlm {
namespace {

std::string number(std::uint64_t n) {
    return std::to_string(n);
}

// Returns one time for all page types if they do not differ, so that no division is needed to find a page's type.
std::vector<Ps> per_type(const NandConfig& config, FlashOp op) {
    const std::vector<Ps> times = onfi_operation(op).array_time(config);
    SSDTLM_CHECK(times.size() == 1 || times.size() == config.geometry.bits_per_cell,
                 std::string(onfi_operation(op).name) + " time of the array: one, or one per page type");
    const bool equal = std::all_of(times.begin(), times.end(), [&times](Ps t) { return t == times.front(); });
    return equal ? std::vector<Ps>{times.front()} : times;
}

}  // namespace

Die::Die(const NandConfig& config, DieId id, SpareArea& area)
    : planes_per_die_(config.geometry.planes_per_die),
      blocks_per_plane_(config.geometry.blocks_per_plane),
      pages_per_block_(config.geometry.pages_per_block),
      units_per_page_(config.geometry.units_per_page()),
      page_bytes_(config.geometry.page_bytes),
      first_plane_(idx(id) * config.geometry.planes_per_die),
      independent_plane_read_(config.independent_plane_read),
      one_t_read_(per_type(config, FlashOp::read).size() == 1),
      planes_(config.geometry.planes_per_die),
      area_(area),
      first_t_read_(config.t_read.front()),
      cache_(config.cache_program ? config.geometry.planes_per_die : 0),
      cache_program_(config.cache_program),
      t_cache_busy_(config.t_cache_busy),
      t_suspend_{config.t_program_suspend, config.t_erase_suspend},
      t_resume_{config.t_program_resume, config.t_erase_resume},
      geometry_(config.geometry),
      id_(id) {
    for (std::size_t op = 0; op < kArrayOpCount; ++op) {
        times_[op] = per_type(config, static_cast<FlashOp>(op));
        slc_times_[op] = kOnfiOperations[op].slc_time(config);
    }
}

Ps Die::array_time(FlashOp op, std::uint32_t page) const {
    const std::vector<Ps>& times = times_[static_cast<std::size_t>(op)];
    return times.size() == 1 ? times.front() : times[geometry_.page_type(page)];
}

__attribute__((noinline)) Die::Rule Die::check_mode(FlashOp op, const OnfiTarget& t) const {
    if (t.slc && t.page >= geometry_.slc_pages_per_block()) return Rule::slc_page_exists;
    // The program of a first page selects the mode of its block. A read selects its mode, too; in the wrong mode its
    // data cannot be corrected.
    if (op != FlashOp::program || t.page == 0) return Rule::none;
    const BlockId block = block_of(t);
    return area_.next_page(block) != 0 && area_.slc(block) != t.slc ? Rule::cell_mode : Rule::none;
}

__attribute__((noinline)) Die::Rule Die::check_behind(const OnfiTarget& t) const {
    if (cached_ != 0) return Rule::register_taken;
    if (takes_from_ == kNever || locked_ == 0 ||
        planes_[static_cast<std::size_t>(__builtin_ctz(locked_))].op != FlashOp::program)
        return Rule::not_busy;
    return t.page != 0 && programs(t) && planes_[t.plane].slc != t.slc ? Rule::cell_mode : Rule::none;
}

__attribute__((noinline)) SimTime Die::begin_any(FlashOp op, const OnfiTarget* targets, std::uint32_t count,
                                                 SimTime start) {
    return begin(op, targets, count, start);
}

__attribute__((noinline)) std::uint32_t Die::end_any(const OnfiTarget* targets, std::uint32_t count) {
    return end(targets, count);
}

/// Returns true if the program or erase fails. The contents that a failed program leaves are undefined.
__attribute__((noinline)) bool Die::end_with_faults(const PageAddress& page, Plane& plane) {
    const BlockId block = geometry_.block_of(page);
    const ArrayWork work{page, area_.erase_count(block), plane.ready, plane.slc};
    plane.wrong_bits = 0;
    switch (plane.op) {
        case FlashOp::read:
            if (page.page < area_.next_page(block) && area_.readable(page, plane.slc))
                plane.wrong_bits = faults_->wrong_bits(work, plane.retry);
            return false;
        case FlashOp::program:
            if (!faults_->program_fails(work)) return false;
            plane.page_register.fill(kPadding);
            return true;
        default:
            return faults_->erase_fails(work);
    }
}

// --- cache program ---------------------------------------------------------------------------------------------------

Die::ProgramTimes Die::program(const OnfiTarget* targets, std::uint32_t count, SimTime from, SimTime start, bool more) {
    SSDTLM_CHECK(cache_program_, "a die without cache program is told to do one");
    if (busy_planes_ == 0) {
        const SimTime ends = begin(FlashOp::program, targets, count, start);
        takes_from_ = more ? start + t_cache_busy_ : kNever;
        return {start, more ? takes_from_ : ends, ends};
    }
    if (check(FlashOp::program, targets, count).broken != Rule::none) refuse(FlashOp::program, targets, count);
    if (from < takes_from_)
        panic("Die", name(targets[0]) + ": program while R/B# is low; the cache register is not free yet");
    const SimTime begins = std::max(start, planes_[static_cast<std::size_t>(__builtin_ctz(locked_))].ready);
    const Load all = load(FlashOp::program, targets, count, cache_.data());
    const SimTime ends = begins + all.longest;
    for (std::uint32_t i = 0; i < count; ++i) cache_[targets[i].plane].ready = ends;
    cached_ = all.mask;
    cached_begins_ = begins;
    cached_more_ = more;
    takes_from_ = kNever;
    return {begins, more ? begins + t_cache_busy_ : ends, ends};
}

void Die::take_over() {
    SSDTLM_CHECK(busy_planes_ == 0 && cached_ != 0, "the array takes over pages that do not wait, or while it is busy");
    for (std::uint32_t p = 0; p < planes_per_die_; ++p)
        if ((cached_ >> p & 1u) != 0) planes_[p] = cache_[p];
    busy_planes_ = locked_ = cached_;
    cached_ = 0;
    begun_ = cached_begins_;
    takes_from_ = cached_more_ ? begun_ + t_cache_busy_ : kNever;
}

__attribute__((noinline, cold)) void Die::refuse(FlashOp op, const OnfiTarget* targets, std::uint32_t count) const {
    panic("Die", probe(op, targets, count));
}

__attribute__((noinline, cold)) void Die::refuse_finish(const OnfiTarget& t) const {
    panic("Die", name(t) + ": array operation ends on an idle plane");
}

// --- suspend and resume ----------------------------------------------------------------------------------------------

Die::Rule Die::check_beside_suspended(FlashOp op, const OnfiTarget& t) const {
    if (op != FlashOp::read) return Rule::only_reads;
    if ((suspended_ >> t.plane & 1u) == 0) return Rule::none;
    const Plane& p = set_aside_[t.plane];
    return p.block == t.block && (p.op == FlashOp::erase || p.page == t.page) ? Rule::suspended_work : Rule::none;
}

Die::Rule Die::check_suspend(FlashOp op) const {
    if (onfi_operation(op).effect == ArrayEffect::suspends) {
        if (cached_ != 0) return Rule::register_taken;
        const bool runs =
            locked_ != 0 && planes_[static_cast<std::size_t>(__builtin_ctz(locked_))].op == suspended_operation(op);
        return runs ? Rule::none : Rule::runs;
    }
    if (busy_planes_ != 0) return Rule::not_busy;
    const bool waits = suspended_ != 0 &&
                       set_aside_[static_cast<std::size_t>(__builtin_ctz(suspended_))].op == suspended_operation(op);
    return waits ? Rule::none : Rule::is_suspended;
}

SimTime Die::suspend(FlashOp op, SimTime start) {
    const OnfiTarget none{};
    if (check(op, &none, 1).broken != Rule::none) refuse(op, &none, 1);
    const SimTime ready = planes_[static_cast<std::size_t>(__builtin_ctz(locked_))].ready;
    const SimTime stopped = start + t_suspend_[suspended_operation(op) == FlashOp::erase];
    takes_from_ = kNever;  // reads may use its registers now, and it continues with R/B# low
    if (ready <= stopped) return ready;
    remaining_ = ready - start;
    set_aside_ = planes_;
    suspended_ = locked_;
    busy_planes_ = locked_ = 0;
    return stopped;
}

SimTime Die::resume(FlashOp op, SimTime start) {
    const OnfiTarget none{};
    if (check(op, &none, 1).broken != Rule::none) refuse(op, &none, 1);
    const SimTime ready = start + remaining_ + t_resume_[suspended_operation(op) == FlashOp::erase];
    for (std::uint32_t p = 0; p < planes_per_die_; ++p) {
        if ((suspended_ >> p & 1u) == 0) continue;
        planes_[p] = set_aside_[p];
        planes_[p].ready = ready;
    }
    busy_planes_ = locked_ = suspended_;
    suspended_ = 0;
    return ready;
}

PowerLoss Die::power_lost(SimTime now) {
    PowerLoss loss;
    const std::uint32_t at_work = suspended_ != 0 ? suspended_ : begun_ <= now ? locked_ : 0;
    for (std::uint32_t p = 0; p < planes_per_die_; ++p) {
        if ((at_work >> p & 1u) == 0) continue;
        const Plane& plane = suspended_ != 0 ? set_aside_[p] : planes_[p];
        const PageAddress page{PlaneId{first_plane_ + p}, plane.block, plane.page};
        switch (onfi_operation(plane.op).effect) {
            case ArrayEffect::programs_page:
                area_.tear(page, plane.slc);
                ++loss.pages_torn;
                if (!geometry_.two_step || !geometry_.word_lines().is_upper(page.page)) break;
                area_.spoil(PageAddress{page.plane, page.block, geometry_.word_lines().below(page.page)});
                ++loss.lower_pages_lost;
                break;
            case ArrayEffect::erases_block:
                area_.tear_block(geometry_.block_of(page));
                ++loss.erases_cut;
                break;
            default:
                break;
        }
    }
    return loss;
}

// --- in words --------------------------------------------------------------------------------------------------------

__attribute__((noinline, cold)) std::string Die::probe(FlashOp op, const OnfiTarget* targets,
                                                       std::uint32_t count) const {
    const Verdict verdict = check(op, targets, count);
    if (verdict.broken == Rule::none) return {};
    const std::string die = "die " + number(idx(id_)) + ": " + onfi_operation(op).name + " ";
    switch (verdict.broken) {
        case Rule::plane_count:
            return die + "of " + number(count) + " planes; 1 to " + number(planes_per_die_) +
                   " planes can be addressed at once";
        case Rule::register_taken:
            return die +
                   "while a page waits in a cache register for the array; allowed when the array has taken it over and "
                   "R/B# is high";
        case Rule::runs:
            return die + "while no " + onfi_operation(suspended_operation(op)).name +
                   " runs; only what runs can be suspended";
        case Rule::is_suspended:
            return die + "while no " + onfi_operation(suspended_operation(op)).name + " is suspended; suspend it first";
        default:
            return text(op, targets, verdict);
    }
}

/// Text about the rule that a target breaks.
std::string Die::text(FlashOp op, const OnfiTarget* targets, Verdict verdict) const {
    const std::string verb = onfi_operation(op).name;
    const OnfiTarget& t = targets[verdict.target];
    const std::string where = name(t) + ": " + verb + " ";
    const std::string of_page = where + "of page " + number(t.page);
    switch (verdict.broken) {
        case Rule::plane_exists:
            return where + "of a plane that does not exist; planes 0 to " + number(planes_per_die_ - 1);
        case Rule::block_exists:
            return where + "of a block that does not exist; blocks 0 to " + number(blocks_per_plane_ - 1);
        case Rule::not_busy: {
            const std::uint32_t busy_plane =
                busy(t.plane) ? t.plane : static_cast<std::uint32_t>(__builtin_ctz(busy_planes_));
            return where + "while plane " + number(busy_plane) + " is busy with a " +
                   onfi_operation(planes_[busy_plane].op).name +
                   (takes_from_ == kNever || planes_[busy_plane].op != FlashOp::program
                        ? " (R/B# low); only status and reset are allowed to a busy LUN"
                        : "; only status, reset, suspend and the next program are allowed while the array works behind "
                          "a cache program");
        }
        case Rule::planes_differ:
            return where + "addresses the plane twice; planes of a multi-plane operation must differ";
        case Rule::page_exists:
            return of_page + ", which does not exist; pages 0 to " + number(pages_per_block_ - 1);
        case Rule::pages_equal:
            return of_page + " joined with page " + number(targets[0].page) +
                   "; a multi-plane operation needs the same page number in all planes";
        case Rule::page_erased:
            return of_page + ", which is not erased; next page to program is " + number(next_page(t));
        case Rule::block_erased:
            return of_page + " of a block whose erase the power cut off; erase it again first";
        case Rule::page_in_order:
            return of_page + " out of order; pages of a block are programmed in ascending order, next is " +
                   number(next_page(t));
        case Rule::register_loaded:
            return of_page + ", but the page register is not loaded; read the page first";
        case Rule::register_holds:
            return of_page + ", but the page register holds block " + number(planes_[t.plane].block) + " page " +
                   number(planes_[t.plane].page);
        case Rule::suspended_work:
            return of_page + ", which a suspended " + onfi_operation(set_aside_[t.plane].op).name +
                   " is at work on; resume it first";
        case Rule::only_reads:
            return where + "while a " +
                   onfi_operation(set_aside_[static_cast<std::size_t>(__builtin_ctz(suspended_))].op).name +
                   " is suspended; only reads are allowed then";
        case Rule::slc_page_exists:
            return of_page + ", which does not exist in SLC mode; a block has " +
                   number(geometry_.slc_pages_per_block()) + " pages there";
        case Rule::cell_mode: {
            const bool slc = slc_block(t);
            return of_page + (t.slc ? " in" : " not in") + " SLC mode, but the block's first page was programmed" +
                   (slc ? " in it" : " without it") + "; the cell mode changes only with an erase";
        }
        case Rule::page_bytes:
            return where + "of " + number(t.data_bytes) + " bytes; a page has " + number(page_bytes_);
        default:
            return where + "without data";
    }
}

SimTime Die::next_event() const {
    SimTime next = kNever;
    for (std::uint32_t p = 0; p < planes_per_die_; ++p)
        if (busy(p)) next = std::min(next, planes_[p].ready);
    return next;
}

SimTime Die::earliest_ready(FlashOp op, std::uint32_t plane) const {
    const bool lone = alone(op) && locked_ == 0;
    SimTime ready{};
    for (std::uint32_t p = 0; p < planes_per_die_; ++p)
        if (busy(p) && (!lone || p == plane)) ready = std::max(ready, planes_[p].ready);
    if (cached_ != 0) ready = std::max(ready, cache_[static_cast<std::size_t>(__builtin_ctz(cached_))].ready);
    return ready;
}

std::string Die::name(const OnfiTarget& t) const {
    return "die " + number(idx(id_)) + " plane " + number(t.plane) + " block " + number(t.block);
}

}  // namespace ssdtlm
