// SPDX-License-Identifier: Apache-2.0
// Programs the parity of rows (../ftl/parity) when it is due. One step of a core serves all parity that one agenda
// entry has made due. Then it goes by way of the program queue, behind the data of the row.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/tlm/agenda.h"
#include "controller/ftl/ftl.h"
#include "controller/ftl/parity/row_parity.h"
#include "controller/gc/gc_engine.h"
#include "controller/ports/core_port.h"
#include "controller/ports/firmware_config.h"
#include "controller/ports/flash.h"
#include "controller/ports/flash_job.h"
#include "controller/program_queue/program_queue.h"
#include "controller/wait_queues/wait_queues.h"

namespace ssdtlm {

class ParityWriter final {
public:
    /// All must outlive it. Precondition: the FTL has the feature RowParity.
    struct Peers {
        Agenda& agenda;
        CorePort& cores;
        Ftl& ftl;
        ProgramQueue& feed;
        GcEngine& gc;
        FlashJobPool& jobs;
        WaitQueues& wait_queues;
    };
    ParityWriter(const FirmwareConfig& costs, const Peers& peers);

    /// True: nothing is due or on its way.
    bool idle() const { return !asked_ && pages_ == 0; }
    /// Throws CheckFailed if it waits for an event that will never come. Call it between two events.
    void check_waiters() const;
    std::string dump() const;

private:
    void due();
    void begin();
    void issue(FlashJob& row);
    void programmed(FlashJob& job);
    void program_done(FlashJob& job);
    void ended(FlashJob& job);

    const FirmwareConfig& costs_;
    const NandGeometry geometry_;
    const Peers peers_;
    RowParity& parity_;
    bool asked_ = false;       ///< begin() is to come
    std::uint32_t pages_ = 0;  ///< taken from what was due, and not programmed yet
    std::vector<RowParity::Page> due_;
};

}  // namespace ssdtlm
