// SPDX-License-Identifier: Apache-2.0
// The organs that the parts of a cached map use.
#pragma once

#include "controller/ftl/ftl.h"
#include "controller/gc/gc_engine.h"
#include "controller/map/cached/pages/translation_pages.h"
#include "controller/page_writer/page_writer.h"
#include "controller/ports/core_port.h"
#include "controller/ports/dram_port.h"
#include "controller/ports/firmware_config.h"
#include "controller/ports/flash.h"
#include "controller/ports/flash_job.h"
#include "controller/ports/map_port.h"

namespace ssdtlm {

/// All must outlive it.
struct CachedMapPeers {
    const FirmwareConfig& costs;
    Agenda& agenda;
    CorePort& cores;
    Ftl& ftl;
    TranslationPages& pages;
    MapPort& resident;  ///< what the map says
    DramPort& dram;
    FlashPort& flash;
    PageWriter& writer;
    GcEngine& gc;
    FlashJobs& jobs;
};

/// The read of a translation page.
struct TranslationRead : FlashJob {
    std::uint32_t page = 0;
    std::uint32_t batch = 0;  ///< number of the batch of WriteBacks that it serves
};
/// Makes the job a read of the translation page, which must be on the flash. The caller sets what comes next. The
/// page's block is not erased until end_translation_read().
void start_translation_read(const CachedMapPeers& peers, TranslationRead& job, std::uint32_t page,
                            const WorkTag* whose = nullptr);
/// The flash has answered. The data go into the DRAM, and then `then` is called. Throws CheckFailed when the flash held
/// another page. Data that cannot be corrected with all retries are taken from where drives keep them a second time
/// (assumed, at no cost).
void end_translation_read(const CachedMapPeers& peers, TranslationRead& job, const Then& then);

}  // namespace ssdtlm
