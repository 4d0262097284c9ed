// SPDX-License-Identifier: Apache-2.0
// Reads ahead of sequential streams, into the read cache. A read of the host that wants a unit on its way waits for it.
// Units that are in the write buffer or in the read cache, or that another read brings, are left out.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "common/address/ppa_decoder.h"
#include "common/containers/key_table.h"
#include "controller/commands/command_services.h"
#include "controller/ports/host_read.h"
#include "controller/ports/read_ahead_config.h"
#include "controller/read_ahead/sequential_streams.h"
#include "nand/onfi/spare.h"

namespace ssdtlm {

/// A read of units of one page, ahead of the host.
struct AheadRead : FlashJob {
    std::uint32_t first_unit = 0;                        ///< Lpa
    std::uint32_t wanted = 0;                            ///< bit per unit: the host has asked for it
    std::array<std::uint32_t, kMaxUnitsPerPage> fill{};  ///< what ReadCache::begin_ahead() has returned for unit i
    std::uint32_t dram_unit = 0;                         ///< where the first unit is in the DRAM, in units
    HostRead* first_waiting = nullptr;                   ///< first part of a host read that waits for this job
    HostRead* last_waiting = nullptr;                    ///< last part that waits
};

class AheadReader final {
public:
    /// Called when the unit that a part waited for is in the DRAM (HostRead::newer, version, dram_unit), or cannot be
    /// read.
    using Came = ThenOf<void, HostRead& /* part */, const FlashTransaction& /* read */, bool /* readable */>;
    /// Precondition: there is a read cache.
    AheadReader(const CommandServices& services, SpareCodec codec, const ReadAheadConfig& config,
                std::uint64_t logical_units, const Came& came);

    /// A read of these bytes has come.
    void read(const Command& c, std::uint64_t begin, std::uint64_t end) {
        const SequentialStreams::Range range = streams_.read(c.whose.tenant, begin, end);
        if (range.units != 0) want(c, range);
    }
    /// The job that reads the unit ahead; null: none does, or what it brings is old.
    AheadRead* on_its_way(Lpa lpa) {
        const OnItsWay* const found = on_its_way_.find(idx(lpa));
        return found != nullptr && services_.cache->is_filling(lpa, found->job->fill[found->unit]) ? found->job
                                                                                                   : nullptr;
    }
    /// `part` waits for units of the job.
    void wait(AheadRead& job, HostRead& part);
    /// A part that waits for the job wants this unit.
    void asked(AheadRead& job, Lpa lpa);
    SequentialStreams& streams() { return streams_; }
    /// Reads of the flash that are under way, and transfers of what they brought.
    std::uint32_t under_way() const { return under_way_; }

private:
    struct OnItsWay {
        std::uint32_t key = 0;
        AheadRead* job = nullptr;
        std::uint32_t unit = 0;  // of the job
    };
    struct Wanted {
        SequentialStreams::Range range;
        WorkTag whose;
    };
    void want(const Command& c, const SequentialStreams::Range& range);
    void look_up(std::uint64_t wanted);
    void map_answered(std::uint64_t wanted, const Ppa* places);
    void plan(const Wanted& wanted, const Ppa* places);
    bool is_wanted(Lpa lpa) const;
    AheadRead& start_job(Lpa lpa, Ppa place, std::uint32_t page, const WorkTag& whose);
    void flash_done(AheadRead& job);
    void dram_done(AheadRead& job) { end(job, true); }
    void end(AheadRead& job, bool readable);
    void wake(AheadRead& job, bool readable);

    const CommandServices services_;
    const SpareCodec codec_;
    const PpaDecoder decode_;
    SequentialStreams streams_;
    const Came came_;
    KeyTable<OnItsWay, 64> on_its_way_;
    std::vector<Wanted> wanted_;
    std::vector<std::uint32_t> free_;  // of these
    std::vector<Ppa> places_;          // of the question at hand
    std::vector<AheadRead*> planned_;  // of the plan at hand
    JobPool<AheadRead> jobs_;
    std::uint32_t under_way_ = 0;
};

}  // namespace ssdtlm
