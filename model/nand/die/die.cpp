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

std::vector<Ps> per_type(const std::vector<Ps>& times, std::uint32_t types, const char* what) {
    SSDTLM_CHECK(times.size() == 1 || times.size() == types, std::string(what) + ": one time, or one per page type");
    return times.size() == types ? times : std::vector<Ps>(types, times.front());
}

}  // namespace

Die::Die(const NandConfig& config, DieId id, SpareArea& area)
    : geometry_(config.geometry),
      id_(id),
      units_per_page_(config.geometry.units_per_page()),
      first_plane_(idx(id) * config.geometry.planes_per_die),
      independent_plane_read_(config.independent_plane_read),
      t_read_(per_type(config.t_read, config.bits_per_cell, "tR")),
      t_program_(per_type(config.t_program, config.bits_per_cell, "tPROG")),
      t_erase_(config.t_erase),
      area_(area),
      planes_(config.geometry.planes_per_die) {}

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
        case DieOperation::read: return t_read_[page % static_cast<std::uint32_t>(t_read_.size())];
        case DieOperation::program: return t_program_[page % static_cast<std::uint32_t>(t_program_.size())];
        case DieOperation::erase: return t_erase_;
    }
    return Ps{};
}

SimTime Die::issue(DieOperation op, const OnfiTarget* targets, std::uint32_t count, SimTime start) {
    if (__builtin_expect(!accepts(op, targets, count), 0)) panic("Die", probe(op, targets, count));
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
        longest = std::max(longest, array_time(op, t.page));
        if (op == DieOperation::program)
            std::copy_n(t.spare, units_per_page_, plane.page_register.begin());
        else if (op == DieOperation::read)
            area_.prefetch(geometry_.ppa_of(address(t), 0));
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

void Die::finish(const OnfiTarget* targets, std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) {
        const std::uint32_t p = targets[i].plane;
        SSDTLM_CHECK(busy(p), name(targets[i]) + ": array operation ends on an idle plane");
        Plane& plane = planes_[p];
        const PageAddress a{PlaneId{first_plane_ + p}, plane.block, plane.page};
        switch (plane.op) {
            case DieOperation::read:
                area_.read_page(a, plane.page_register.data());
                plane.loaded = true;
                break;
            case DieOperation::program: area_.program_page(a, plane.page_register.data()); break;
            case DieOperation::erase: area_.erase(geometry_.block_of(a)); break;
        }
        busy_planes_ &= ~(1u << p);
        locked_ &= ~(1u << p);
    }
}

void Die::data_out(const OnfiTarget& t) {
    const bool known = t.plane < geometry_.planes_per_die;
    if (__builtin_expect(!known || busy(t.plane) || locked_ != 0 || !planes_[t.plane].loaded ||
                             planes_[t.plane].block != t.block || planes_[t.plane].page != t.page ||
                             t.data_bytes > geometry_.page_bytes,
                         0))
        panic("Die", probe_data_out(t));
    if (t.spare != nullptr) std::copy_n(planes_[t.plane].page_register.begin(), units_per_page_, t.spare);
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
