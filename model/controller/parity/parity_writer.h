// SPDX-License-Identifier: Apache-2.0
// Programs the parity of rows (../ftl/parity) when it is due. One step of a core serves the pages of a row that one
// agenda entry has made due. Then they go by way of the page writer, behind the data of the row.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/tlm/agenda.h"
#include "controller/ftl/ftl.h"
#include "controller/gc/gc_engine.h"
#include "controller/page_writer/page_writer.h"
#include "controller/parity/row_parity.h"
#include "controller/ports/core_port.h"
#include "controller/ports/feature_organ.h"
#include "controller/ports/firmware_config.h"
#include "controller/ports/organ.h"
#include "controller/wait_queues/wait_queues.h"

namespace ssdtlm {

class ParityWriter final : public Organ {
public:
    /// Null: the FTL has not the feature RowParity.
    static std::unique_ptr<Organ> make(const OrganPeers& peers);
    ParityWriter(const OrganPeers& peers, RowParity& parity);

    /// True: nothing is due or on its way.
    bool idle() const override { return !asked_ && pages_ == 0; }
    bool under_way() const override { return !idle(); }
    void check_waiters() const override;
    std::string dump() const override;

private:
    void due();
    void begin();
    void issue(ProgramJob& row);
    void program_done(ProgramJob& job);
    void ended(ProgramJob& job);

    const NandGeometry geometry_;
    const OrganPeers peers_;
    RowParity& parity_;
    JobPool<ProgramJob> jobs_;
    bool asked_ = false;       ///< begin() is to come
    std::uint32_t pages_ = 0;  ///< taken from what was due, and not programmed yet
    std::vector<RowParity::Page> due_;
};

}  // namespace ssdtlm
