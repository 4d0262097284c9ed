// SPDX-License-Identifier: Apache-2.0
// A drive between two losses of power.
#pragma once

#include <optional>

#include "device_under_test.h"

namespace ssdtlm {

class CutHost;

/// Everything that a power cut takes away, over flash that stays.
struct Life : private CompletionSink {
    Life(const DeviceShape& s, SpareArea& spare, std::uint64_t seed, CutHost& h)
        : host(h),
          ftl(s.ftl, s.geometry, spare, s.seed),
          flash(agenda, spare, seed, s.flash_longest),
          dma(agenda, std::size_t{s.slots} * 65536, seed, s.dma_longest),
          dram(agenda, dram_config),
          firmware(s.firmware, s.ftl, s.geometry, s.lba_bytes,
                   {agenda, ftl, below(), transfers, dram, word_lines ? &*word_lines : nullptr}) {
        firmware.bind(*this);
        flash.moves_with_host = s.ftl.gc_frontier == GcFrontier::shared;
        ftl.on_media_change([this] { firmware.media_changed(); });
    }
    void complete(Command& c) override;
    FlashPort& below() {
        if (ftl.geometry().two_step) return word_lines.emplace(agenda, flash, ftl);
        if (ftl.feature<RowParity>() == nullptr) return flash;
        return parity_engine.emplace(flash, ftl);
    }

    CutHost& host;
    Agenda agenda;
    Ftl ftl;
    FakeFlash flash;
    FakeDma dma;
    DmaTransfers transfers{dma};
    DramConfig dram_config;
    SerialDram dram;
    std::optional<ParityEngine> parity_engine;  ///< none: rows have no parity
    std::optional<WordLineGuard> word_lines;    ///< none: the flash is programmed in one step
    Firmware firmware;
};

}  // namespace ssdtlm
