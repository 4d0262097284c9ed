// SPDX-License-Identifier: Apache-2.0
#include "nand/die/die.h"

#include <algorithm>

#include "common/report/error.h"

namespace ssdtlm {
namespace {

std::string number(std::uint64_t n) { return std::to_string(n); }

// One time stands for all types if they do not differ: no division to find a page's type.
std::vector<Ps> per_type(const NandConfig& config, FlashOp op) {
    const std::vector<Ps> times = onfi_operation(op).array_time(config);
    SSDTLM_CHECK(times.size() == 1 || times.size() == config.bits_per_cell,
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
      geometry_(config.geometry),
      id_(id) {
    for (std::size_t op = 0; op < kArrayOpCount; ++op) times_[op] = per_type(config, static_cast<FlashOp>(op));
}

Ps Die::array_time(FlashOp op, std::uint32_t page) const {
    const std::vector<Ps>& times = times_[static_cast<std::size_t>(op)];
    return times.size() == 1 ? times.front() : times[page % static_cast<std::uint32_t>(times.size())];
}

__attribute__((noinline)) SimTime Die::begin_any(FlashOp op, const OnfiTarget* targets, std::uint32_t count, SimTime start) {
    return begin(op, targets, count, start);
}

__attribute__((noinline)) void Die::end_any(const OnfiTarget* targets, std::uint32_t count) { end(targets, count); }

__attribute__((noinline, cold)) void Die::refuse(FlashOp op, const OnfiTarget* targets, std::uint32_t count) const {
    panic("Die", probe(op, targets, count));
}

__attribute__((noinline, cold)) void Die::refuse_finish(const OnfiTarget& t) const {
    panic("Die", name(t) + ": array operation ends on an idle plane");
}

__attribute__((noinline, cold)) std::string Die::probe(FlashOp op, const OnfiTarget* targets, std::uint32_t count) const {
    const Verdict verdict = check(op, targets, count);
    const std::string verb = onfi_operation(op).name;
    if (verdict.broken == Rule::none) return {};
    if (verdict.broken == Rule::plane_count)
        return "die " + number(idx(id_)) + ": " + verb + " of " + number(count) + " planes; 1 to " + number(planes_per_die_) +
               " planes can be addressed at once";
    const OnfiTarget& t = targets[verdict.target];
    const std::string where = name(t) + ": " + verb + " ";
    const std::string of_page = where + "of page " + number(t.page);
    switch (verdict.broken) {
        case Rule::plane_exists: return where + "of a plane that does not exist; planes 0 to " + number(planes_per_die_ - 1);
        case Rule::block_exists: return where + "of a block that does not exist; blocks 0 to " + number(blocks_per_plane_ - 1);
        case Rule::not_busy: {
            const std::uint32_t busy_plane = busy(t.plane) ? t.plane : static_cast<std::uint32_t>(__builtin_ctz(busy_planes_));
            return where + "while plane " + number(busy_plane) + " is busy with a " + onfi_operation(planes_[busy_plane].op).name +
                   " (R/B# low); only status and reset are allowed to a busy LUN";
        }
        case Rule::planes_differ: return where + "addresses the plane twice; planes of a multi-plane operation must differ";
        case Rule::page_exists: return of_page + ", which does not exist; pages 0 to " + number(pages_per_block_ - 1);
        case Rule::pages_equal:
            return of_page + " joined with page " + number(targets[0].page) +
                   "; a multi-plane operation needs the same page number in all planes";
        case Rule::page_erased:
            return of_page + ", which is not erased; next page to program is " + number(area_.next_page(block_of(t)));
        case Rule::page_in_order:
            return of_page + " out of order; pages of a block are programmed in ascending order, next is " +
                   number(area_.next_page(block_of(t)));
        case Rule::register_loaded: return of_page + ", but the page register is not loaded; read the page first";
        case Rule::register_holds:
            return of_page + ", but the page register holds block " + number(planes_[t.plane].block) + " page " +
                   number(planes_[t.plane].page);
        case Rule::page_bytes: return where + "of " + number(t.data_bytes) + " bytes; a page has " + number(page_bytes_);
        default: return where + "without data";
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
    return ready;
}

std::string Die::name(const OnfiTarget& t) const {
    return "die " + number(idx(id_)) + " plane " + number(t.plane) + " block " + number(t.block);
}

}  // namespace ssdtlm
