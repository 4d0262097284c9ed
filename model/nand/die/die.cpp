// SPDX-License-Identifier: Apache-2.0
#include "nand/die/die.h"

#include <algorithm>

#include "common/report/error.h"

namespace ssdtlm {
namespace {

const char* text(DieOperation op) {
    switch (op) {
        case DieOperation::read: return "read";
        case DieOperation::program: return "program";
        case DieOperation::erase: return "erase";
    }
    return "?";
}

std::string number(std::uint64_t n) { return std::to_string(n); }

// One time stands for all types if they do not differ: no division to find a page's type.
std::vector<Ps> per_type(const std::vector<Ps>& times, std::uint32_t types, const char* what) {
    SSDTLM_CHECK(times.size() == 1 || times.size() == types, std::string(what) + ": one time, or one per page type");
    const bool equal = std::all_of(times.begin(), times.end(), [&times](Ps t) { return t == times.front(); });
    return equal ? std::vector<Ps>{times.front()} : times;
}

Ps of_page(const std::vector<Ps>& times, std::uint32_t page) {
    return times.size() == 1 ? times.front() : times[page % static_cast<std::uint32_t>(times.size())];
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
      one_t_read_(per_type(config.t_read, config.bits_per_cell, "tR").size() == 1),
      planes_(config.geometry.planes_per_die),
      area_(area),
      first_t_read_(config.t_read.front()),
      t_read_(per_type(config.t_read, config.bits_per_cell, "tR")),
      t_program_(per_type(config.t_program, config.bits_per_cell, "tPROG")),
      t_erase_(config.t_erase),
      geometry_(config.geometry),
      id_(id) {}

bool Die::accepts(DieOperation op, const OnfiTarget* targets, std::uint32_t count) const {
    const bool alone = op == DieOperation::read && independent_plane_read_;
    if (alone ? locked_ != 0 : busy_planes_ != 0) return false;
    if (count == 0) return false;
    std::uint32_t seen = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
        const OnfiTarget& t = targets[i];
        if (t.plane >= geometry_.planes_per_die || t.block >= geometry_.blocks_per_plane) return false;
        if ((seen >> t.plane & 1u) != 0 || busy(t.plane)) return false;
        seen |= 1u << t.plane;
        if (op == DieOperation::erase) continue;
        if (t.page >= geometry_.pages_per_block || t.page != targets[0].page) return false;
        if (op == DieOperation::program &&
            (t.spare == nullptr || t.page != area_.next_page(geometry_.block_of(address(t)))))
            return false;
    }
    return true;
}

std::string Die::probe(DieOperation op, const OnfiTarget* targets, std::uint32_t count) const {
    if (accepts(op, targets, count)) return {};
    if (count == 0 || count > geometry_.planes_per_die)
        return "die " + number(idx(id_)) + ": " + text(op) + " of " + number(count) + " planes; 1 to " +
               number(geometry_.planes_per_die) + " planes can be addressed at once";
    std::uint32_t seen = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
        const OnfiTarget& t = targets[i];
        const std::string where = name(t) + ": " + text(op) + " ";
        if (t.plane >= geometry_.planes_per_die)
            return where + "of a plane that does not exist; planes 0 to " + number(geometry_.planes_per_die - 1);
        if (t.block >= geometry_.blocks_per_plane)
            return where + "of a block that does not exist; blocks 0 to " + number(geometry_.blocks_per_plane - 1);
        for (std::uint32_t p = 0; p < geometry_.planes_per_die; ++p)
            if (busy(p) && (p == t.plane || !(op == DieOperation::read && independent_plane_read_) || locked_ != 0))
                return where + "while plane " + number(p) + " is busy with a " + text(planes_[p].op) +
                       " (R/B# low); only status and reset are allowed to a busy LUN";
        if ((seen >> t.plane & 1u) != 0)
            return where + "addresses the plane twice; planes of a multi-plane operation must differ";
        seen |= 1u << t.plane;
        if (op == DieOperation::erase) continue;
        if (t.page >= geometry_.pages_per_block)
            return where + "of page " + number(t.page) + ", which does not exist; pages 0 to " +
                   number(geometry_.pages_per_block - 1);
        if (t.page != targets[0].page)
            return where + "of page " + number(t.page) + " joined with page " + number(targets[0].page) +
                   "; a multi-plane operation needs the same page number in all planes";
        if (op != DieOperation::program) continue;
        const std::uint32_t next = area_.next_page(geometry_.block_of(address(t)));
        if (t.page < next)
            return where + "of page " + number(t.page) + ", which is not erased; next page to program is " +
                   number(next);
        if (t.page > next)
            return where + "of page " + number(t.page) + " out of order; pages of a block are programmed in ascending "
                   "order, next is " + number(next);
        if (t.spare == nullptr) return where + "without data";
    }
    return "die " + number(idx(id_)) + ": refused";
}

Ps Die::array_time(DieOperation op, std::uint32_t page) const {
    switch (op) {
        case DieOperation::read: return of_page(t_read_, page);
        case DieOperation::program: return of_page(t_program_, page);
        case DieOperation::erase: return t_erase_;
    }
    return Ps{};
}

SimTime Die::issue_read(const OnfiTarget& t, SimTime start) {
    if (__builtin_expect(!accepts_read(t), 0)) refuse(DieOperation::read, &t, 1);
    Plane& plane = planes_[t.plane];
    plane.op = DieOperation::read;
    plane.loaded = false;
    plane.block = t.block;
    plane.page = t.page;
    plane.first_slot = first_slot(t);
    area_.prefetch(plane.first_slot);
    plane.ready = start + (one_t_read_ ? first_t_read_ : of_page(t_read_, t.page));
    const std::uint32_t mask = 1u << t.plane;
    busy_planes_ |= mask;
    if (!independent_plane_read_) locked_ |= mask;
    return plane.ready;
}

SimTime Die::issue(DieOperation op, const OnfiTarget* targets, std::uint32_t count, SimTime start) {
    if (__builtin_expect(!accepts(op, targets, count), 0)) refuse(op, targets, count);
    Ps longest{};
    std::uint32_t mask = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
        const OnfiTarget& t = targets[i];
        Plane& plane = planes_[t.plane];
        mask |= 1u << t.plane;
        plane.op = op;
        plane.loaded = false;
        plane.block = t.block;
        plane.page = t.page;
        plane.first_slot = first_slot(t);
        longest = std::max(longest, array_time(op, t.page));
        if (op == DieOperation::program)
            std::copy_n(t.spare, units_per_page_, plane.page_register.begin());
        else if (op == DieOperation::read)
            area_.prefetch(plane.first_slot);
    }
    const SimTime ready = start + longest;
    for (std::uint32_t i = 0; i < count; ++i) planes_[targets[i].plane].ready = ready;
    busy_planes_ |= mask;
    if (op != DieOperation::read || !independent_plane_read_) locked_ |= mask;
    // 80h clears the page registers of the addressed LUN (ONFI: of the target, unless it supports this).
    if (op == DieOperation::program)
        for (Plane& p : planes_) p.loaded = false;
    return ready;
}

void Die::finish_read(const OnfiTarget& t) {
    const std::uint32_t mask = 1u << t.plane;
    if (__builtin_expect((busy_planes_ & mask) == 0, 0)) refuse_finish(t);
    Plane& plane = planes_[t.plane];
    area_.read_page(plane.first_slot, plane.page_register.data());
    plane.loaded = true;
    busy_planes_ &= ~mask;
    locked_ &= ~mask;
}

void Die::finish(const OnfiTarget* targets, std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) {
        const std::uint32_t p = targets[i].plane;
        if (__builtin_expect(!busy(p), 0)) refuse_finish(targets[i]);
        Plane& plane = planes_[p];
        if (plane.op == DieOperation::read) {
            area_.read_page(plane.first_slot, plane.page_register.data());
            plane.loaded = true;
        } else if (plane.op == DieOperation::program) {
            area_.program_page(PageAddress{PlaneId{first_plane_ + p}, plane.block, plane.page}, plane.page_register.data());
        } else {
            area_.erase(geometry_.block_id(PlaneId{first_plane_ + p}, plane.block));
        }
        busy_planes_ &= ~(1u << p);
        locked_ &= ~(1u << p);
    }
}

void Die::data_out(const OnfiTarget& t) {
    if (__builtin_expect(t.plane >= planes_per_die_, 0)) refuse_data_out(t);
    const Plane& plane = planes_[t.plane];
    if (__builtin_expect(busy(t.plane) || locked_ != 0 || !plane.loaded || plane.block != t.block ||
                             plane.page != t.page || t.data_bytes > page_bytes_,
                         0))
        refuse_data_out(t);
    if (t.spare == nullptr) return;
    for (std::uint32_t i = 0; i < units_per_page_; ++i) t.spare[i] = plane.page_register[i];
}

__attribute__((noinline, cold)) void Die::refuse(DieOperation op, const OnfiTarget* targets, std::uint32_t count) const {
    panic("Die", probe(op, targets, count));
}

__attribute__((noinline, cold)) void Die::refuse_data_out(const OnfiTarget& t) const { panic("Die", probe_data_out(t)); }

__attribute__((noinline, cold)) void Die::refuse_finish(const OnfiTarget& t) const {
    panic("Die", name(t) + ": array operation ends on an idle plane");
}

std::string Die::probe_data_out(const OnfiTarget& t) const {
    const std::string where = name(t) + ": data out ";
    if (t.plane >= geometry_.planes_per_die)
        return where + "of a plane that does not exist; planes 0 to " + number(geometry_.planes_per_die - 1);
    if (busy(t.plane) || locked_ != 0)
        return where + "while the die is busy (R/B# low); only status and reset are allowed to a busy LUN";
    const Plane& p = planes_[t.plane];
    if (!p.loaded)
        return where + "of page " + number(t.page) + ", but the page register is not loaded; read the page first";
    if (p.block != t.block || p.page != t.page)
        return where + "of page " + number(t.page) + ", but the page register holds block " + number(p.block) +
               " page " + number(p.page);
    return where + "of " + number(t.data_bytes) + " bytes; a page has " + number(geometry_.page_bytes);
}

SimTime Die::earliest_ready(DieOperation op, std::uint32_t plane) const {
    const bool alone = op == DieOperation::read && independent_plane_read_ && locked_ == 0;
    SimTime ready{};
    for (std::uint32_t p = 0; p < geometry_.planes_per_die; ++p)
        if (busy(p) && (!alone || p == plane)) ready = std::max(ready, planes_[p].ready);
    return ready;
}

std::string Die::name(const OnfiTarget& t) const {
    return "die " + number(idx(id_)) + " plane " + number(t.plane) + " block " + number(t.block);
}

}  // namespace ssdtlm
