// SPDX-License-Identifier: Apache-2.0
// Garbage collection in time: for each plane, one victim after the other is read, its valid units are programmed
// into the plane's GC block, and it is erased. What to collect and where to put it is the Ftl's business.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/tlm/agenda.h"
#include "controller/cpu/core_pool.h"
#include "controller/cpu/flash_job.h"
#include "controller/ftl/ftl.h"
#include "controller/ports/flash.h"

namespace ssdtlm {

class GcEngine final : private FlashClient {
public:
    GcEngine(Agenda& agenda, const FirmwareConfig& firmware, const FtlConfig& config, const NandGeometry& geometry,
             CorePool& cores, Ftl& ftl, FlashPort& flash, FlashJobPool& jobs);

    /// Called after each erase, when a block came free.
    void on_block_freed(std::function<void()> callback) { block_freed_ = std::move(callback); }
    /// Starts collecting in `plane` if it is at or below its soft threshold and not collecting yet.
    void check(PlaneId plane);
    void check_all() {
        for (std::uint32_t p = 0; p < geometry_.planes(); ++p) check(PlaneId{p});
    }
    /// A host read of `block` has ended; a victim that waited for it may now be erased.
    void read_finished(PlaneId plane, BlockId block) {
        if (active_ == 0) return;
        const Plane& p = planes_[idx(plane)];
        if (p.victim == block && p.erase_waits) try_erase(plane);
    }
    /// No new victims from now on; running ones are finished.
    void stop() { stopped_ = true; }
    std::uint32_t active() const { return active_; }
    std::uint64_t victims() const { return victims_; }
    /// Chosen last; kNoBlock when there was none.
    BlockId last_victim() const { return last_victim_; }
    std::string dump() const;

private:
    struct Move {
        Spare spare;
        Ppa from;
    };
    struct Plane {
        BlockId victim = kNoBlock;
        std::uint32_t cursor = 0;
        std::uint32_t inflight = 0;  ///< reads and programs
        std::uint32_t reads = 0;
        bool exhausted = false;
        bool erase_waits = false;
        std::vector<Move> moves;     ///< read, not yet given to a program
    };

    void flash_done(FlashTransaction& txn) override;
    void begin(std::uint64_t plane);
    void pump(PlaneId plane);
    void issue(std::uint64_t job);
    void read_done(FlashJob& job);
    void program_done(std::uint64_t job);
    void erase_done(std::uint64_t job);
    void form_program(PlaneId plane);
    void try_erase(PlaneId plane);
    template <void (GcEngine::*Next)(std::uint64_t)>
    void step(PlaneId plane, std::uint64_t cycles, std::uint64_t arg, CoreStep what) {
        const auto slot = cores_.run(idx(plane) % cores_.size(), cycles, agenda_.now(), what);
        if (slot.end == agenda_.now())
            (this->*Next)(arg);
        else
            agenda_.post<Next>(slot.end, this, arg);
    }
    void prepare(FlashJob& job, FlashOp op, FlashClass cls, PageAddress address);

    Agenda& agenda_;
    const FirmwareConfig& firmware_;
    const FtlConfig& config_;
    const NandGeometry geometry_;
    CorePool& cores_;
    Ftl& ftl_;
    FlashPort& flash_;
    FlashJobPool& jobs_;
    const SpareCodec codec_;
    std::vector<Plane> planes_;
    std::function<void()> block_freed_;
    bool stopped_ = false;
    std::uint32_t active_ = 0;
    std::uint64_t victims_ = 0;
    BlockId last_victim_ = kNoBlock;
};

}  // namespace ssdtlm
