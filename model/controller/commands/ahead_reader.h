// SPDX-License-Identifier: Apache-2.0
// Reads ahead of sequential streams, into the read cache. A read of the host that wants a unit on its way waits for it.
// Units that are in the write buffer or in the read cache, or that another read brings, are left out.
#pragma once

#include <cstdint>
#include <vector>

#include "common/address/ppa_decoder.h"
#include "common/containers/key_table.h"
#include "controller/commands/command_services.h"
#include "controller/ports/read_ahead_config.h"
#include "controller/read_ahead/sequential_streams.h"
#include "nand/onfi/spare.h"

namespace ssdtlm {

class AheadReader final {
public:
    /// Called when the unit that a part waited for is in the DRAM (FlashJob::newer, item, dram_unit), or cannot be
    /// read.
    using Came = ThenOf<void, FlashJob& /* part */, const FlashTransaction& /* read */, bool /* readable */>;
    /// Precondition: there is a read cache.
    AheadReader(const CommandServices& services, SpareCodec codec, const ReadAheadConfig& config,
                std::uint64_t logical_units, const Came& came);

    /// A read of these bytes has come.
    void read(const Command& c, std::uint64_t begin, std::uint64_t end) {
        const SequentialStreams::Range range = streams_.read(c.whose.tenant, begin, end);
        if (range.units != 0) want(c, range);
    }
    /// The job that reads the unit ahead; null: none does, or what it brings is old.
    FlashJob* on_its_way(Lpa lpa) {
        const OnItsWay* const found = on_its_way_.find(idx(lpa));
        return found != nullptr && services_.cache->is_filling(lpa, found->job->item[found->unit]) ? found->job
                                                                                                   : nullptr;
    }
    /// `part` waits for units of the job, and wants this one.
    void wait(FlashJob& job, FlashJob& part);
    void asked(FlashJob& job, Lpa lpa);
    SequentialStreams& streams() { return streams_; }
    /// Reads of the flash that are under way, and transfers of what they brought.
    std::uint32_t under_way() const { return under_way_; }

private:
    struct OnItsWay {
        std::uint32_t key = 0;
        FlashJob* job = nullptr;
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
    FlashJob& start_job(Lpa lpa, Ppa place, std::uint32_t page, const WorkTag& whose);
    void flash_done(FlashJob& job);
    void dram_done(FlashJob& job) { end(job, true); }
    void end(FlashJob& job, bool readable);
    void wake(FlashJob& job, bool readable);

    const CommandServices services_;
    const SpareCodec codec_;
    const PpaDecoder decode_;
    SequentialStreams streams_;
    const Came came_;
    KeyTable<OnItsWay, 64> on_its_way_;
    std::vector<Wanted> wanted_;
    std::vector<std::uint32_t> free_;  // of these
    std::vector<Ppa> places_;          // of the question at hand
    std::vector<FlashJob*> jobs_;      // of the plan at hand
    std::uint32_t under_way_ = 0;
};

}  // namespace ssdtlm
