// SPDX-License-Identifier: Apache-2.0
// Closes word lines of flash that is programmed in two steps. When somebody waits for a lower page (WordLineGuard) and
// nothing under way will program the upper one, padding does. Those who wait are a flush, a write with FUA, the
// journal's readers, a write without room in the buffer, garbage collection at the end of a victim, an erase that waits
// for newer copies of what it takes away, and the end of a run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/tlm/agenda.h"
#include "controller/ftl/ftl.h"
#include "controller/gc/gc_engine.h"
#include "controller/page_writer/page_writer.h"
#include "controller/ports/core_port.h"
#include "controller/ports/firmware_config.h"
#include "controller/ports/organ.h"
#include "controller/wait_queues/wait_queues.h"
#include "controller/word_lines/open_word_lines.h"
#include "controller/word_lines/word_line_guard.h"

namespace ssdtlm {

class PaddingWriter final : public Organ {
public:
    /// All must outlive it.
    struct Peers {
        Agenda& agenda;
        CorePort& cores;
        Ftl& ftl;
        WordLineGuard& guard;
        PageWriter& writer;
        GcEngine& gc;
        FlashJobs& jobs;
        WaitQueues& wait_queues;
    };
    PaddingWriter(const FirmwareConfig& costs, const Peers& peers);

    /// Looks whether padding is needed. Call it when a wait may have begun, or may have come to where only padding
    /// helps.
    void look();
    /// From now on every lower page counts as waited for.
    void drain() {
        drains_ = true;
        look();
    }
    void check_waiters() const override;
    std::string dump() const override;

private:
    void decide();
    bool closes(SuperblockId b, const WordLineGuard::Open& open) const;
    bool is_wanted(SuperblockId b, const WordLineGuard::Open& open) const;
    void issue(std::uint64_t superblock);
    void submit(const OpenWordLines::Page& page);
    void program_done(ProgramJob& job);

    const FirmwareConfig& costs_;
    const NandGeometry geometry_;
    const Peers peers_;
    OpenWordLines& lines_;
    JobPool<ProgramJob> jobs_;
    bool posted_ = false;  ///< decide() is to come
    bool drains_ = false;
    std::uint32_t issuing_ = 0;  ///< steps given to a core
    std::uint32_t pages_ = 0;    ///< padding that is being programmed
};

}  // namespace ssdtlm
