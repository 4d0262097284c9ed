// SPDX-License-Identifier: Apache-2.0
// Tracks the waiting work of each die of a channel and its running operations. So it is always known which dies could
// start something. A die is taken from its grant until its data is out (its page registers are occupied: no cache
// reads) or its program or erase ends. With cache program it takes another program while the array works, as soon as
// its cache registers are free. Where planes are joined, a page must also wait for each plane, because a page sent
// alone would keep the array as long as all of them. Kernel-free.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "common/report/error.h"
#include "controller/ports/scheduler_port.h"
#include "nand/onfi/nand_config.h"

namespace ssdtlm {

class DieTracker {
public:
    /// `joins`: the scheduler joins planes.
    DieTracker(const NandConfig& nand, std::uint16_t channel, bool joins = false);

    // These functions record the work that waits in the scheduler.
    void queued(std::uint32_t die) {
        ++dies_[die].waiting;
        waiting_ |= bit(die);
    }
    void left(std::uint32_t die, std::uint32_t transactions) {
        dies_[die].waiting -= transactions;
        if (dies_[die].waiting == 0) waiting_ &= ~bit(die);
    }

    // These functions say which dies could start something.
    bool idle(std::uint32_t die) const { return (ready_.idle_dies & bit(die)) != 0; }
    /// True: the plane could start a read.
    bool takes_reads(std::uint32_t die, std::uint32_t plane) const {
        return ((independent_plane_read_ ? ready_.idle_read_planes[plane] : ready_.idle_dies) & bit(die)) != 0;
    }
    /// True: the die is idle or, with independent plane reads, has an idle plane.
    bool accepts(std::uint32_t die) const { return (accepting() & bit(die)) != 0; }
    bool could_start() const { return (waiting_ & accepting()) != 0; }
    /// The query for the scheduler. The caller sets its `classes`.
    GrantQuery& query() { return ready_; }
    /// With cache program: dies whose array programs and that take another program. A question for programs alone may
    /// name them as idle.
    std::uint64_t taking() const { return taking_; }

    // The following functions keep the books of what runs.
    void occupy(std::uint32_t die, FlashTransaction& txn) {
        Die& d = dies_[die];
        SSDTLM_CHECK(d.active[txn.plane] == nullptr, "grant for a plane that is not idle");
        d.active[txn.plane] = &txn;
        ++d.running;
        ready_.idle_dies &= ~bit(die);
        if (independent_plane_read_) occupy_planes(die, txn);
    }
    // With cache program, programs that wait for a die are counted apart, and a die may have two generations of
    // programs.
    void program_queued(std::uint32_t die) {
        ++dies_[die].programs;
        look_at_registers(die);
    }
    void programs_left(std::uint32_t die, std::uint32_t count) {
        dies_[die].programs -= count;
        look_at_registers(die);
    }
    std::uint32_t programs_waiting(std::uint32_t die) const { return dies_[die].programs; }
    /// The program's page goes to the cache registers, behind the running one.
    void put_behind(std::uint32_t die, FlashTransaction& txn) {
        Die& d = dies_[die];
        SSDTLM_CHECK(d.running != 0 && d.behind[txn.plane] == nullptr, "a page for a cache register that is not free");
        d.behind[txn.plane] = &txn;
        ++d.waits_behind;
    }
    bool page_behind(std::uint32_t die) const { return dies_[die].waits_behind != 0; }
    /// The cache registers have become free, or are no longer.
    void set_register_free(std::uint32_t die, bool is_free) {
        dies_[die].register_free = is_free;
        look_at_registers(die);
    }
    bool register_free(std::uint32_t die) const { return dies_[die].register_free; }
    /// The running program has ended, and the one behind it runs now.
    void advance(std::uint32_t die) {
        Die& d = dies_[die];
        d.active = d.behind;
        d.running = d.waits_behind;
        d.behind.fill(nullptr);
        d.waits_behind = 0;
    }

    /// The running operation is suspended. Only reads may run beside it (beside()).
    void set_aside(std::uint32_t die) {
        dies_[die].active.fill(nullptr);
        dies_[die].running = 0;
        suspended_ |= bit(die);
    }
    /// The suspended operation goes on, and holds the die again.
    void take_back(std::uint32_t die, FlashTransaction* const* txns, std::uint32_t count) {
        suspended_ &= ~bit(die);
        for (std::uint32_t i = 0; i < count; ++i) dies_[die].active[txns[i]->plane] = txns[i];
        dies_[die].running = count;
    }
    /// The page that was read stays in the register, for another read of the same page.
    void hand_over(std::uint32_t die, FlashTransaction& to) { dies_[die].active[to.plane] = &to; }
    bool anything_runs(std::uint32_t die) const { return dies_[die].running != 0; }
    /// A query for reads of these suspended dies, as far as their planes are idle.
    GrantQuery beside(std::uint64_t dies, ClassSet classes) const;
    FlashTransaction& active(std::uint32_t die, std::uint32_t plane) const { return *dies_[die].active[plane]; }
    FlashTransaction* active_or_null(std::uint32_t die, std::uint32_t plane) const { return dies_[die].active[plane]; }
    /// Precondition: anything_runs(die).
    const FlashTransaction& first_active(std::uint32_t die) const {
        return **std::find_if(dies_[die].active.begin(), dies_[die].active.end(),
                              [](const FlashTransaction* t) { return t != nullptr; });
    }
    FlashTransaction& release(std::uint32_t die, std::uint32_t plane) {
        Die& d = dies_[die];
        FlashTransaction& txn = *d.active[plane];
        d.active[plane] = nullptr;
        --d.running;
        if (__builtin_expect((suspended_ & bit(die)) != 0, 0)) return txn;
        if (d.running == 0) ready_.idle_dies |= bit(die);
        if (independent_plane_read_) release_planes(die, txn);
        return txn;
    }
    std::uint32_t running(std::uint32_t die) const { return dies_[die].running; }
    bool anything_runs() const;
    std::uint32_t size() const { return static_cast<std::uint32_t>(dies_.size()); }

    /// True: work waits for a die that is idle.
    bool idle_die_has_work() const { return (waiting_ & (ready_.idle_dies | only_programs(taking_))) != 0; }
    std::uint32_t waiting() const;
    std::uint32_t waiting(std::uint32_t die) const { return dies_[die].waiting; }
    /// Compares the sums with what they count. Returns an empty text if they agree.
    std::string inconsistency() const;
    /// One line for each die with work.
    std::string dump(SimTime now) const;

private:
    struct Die {
        std::uint32_t waiting = 0;                           // transactions in the scheduler
        std::uint32_t running = 0;                           // planes with an operation or with data not yet out
        std::array<FlashTransaction*, kMaxPlanes> active{};  // by plane
        // The state of cache programs.
        std::uint32_t programs = 0;      // of those that wait
        std::uint32_t waits_behind = 0;  // planes whose cache register holds a page for the array, or is being filled
        bool register_free = false;
        std::array<FlashTransaction*, kMaxPlanes> behind{};
    };
    static constexpr std::uint64_t bit(std::uint32_t die) { return std::uint64_t{1} << die; }
    std::uint64_t accepting() const {
        return (independent_plane_read_ ? ready_.idle_dies | dies_with_idle_plane() : ready_.idle_dies) | taking_;
    }
    std::uint64_t dies_with_idle_plane() const;
    void occupy_planes(std::uint32_t die, const FlashTransaction& txn);
    void release_planes(std::uint32_t die, const FlashTransaction& txn);
    void look_at_registers(std::uint32_t die) {
        const Die& d = dies_[die];
        taking_ = (taking_ & ~bit(die)) | (d.register_free && d.programs >= row_ ? bit(die) : 0);
    }
    std::uint64_t only_programs(std::uint64_t dies) const;

    std::uint64_t taking_ = 0;     // bit per die with free cache registers, and the programs for them
    std::uint64_t waiting_ = 0;    // bit per die with transactions in the scheduler
    std::uint64_t suspended_ = 0;  // bit per die whose program or erase is set aside: neither idle nor with idle planes
    const bool independent_plane_read_;
    const std::uint32_t planes_;
    const std::uint32_t row_;  // programs that are sent together to cache registers
    GrantQuery ready_;         // idle dies and planes, kept up to date
    std::vector<Die> dies_;
};

}  // namespace ssdtlm
