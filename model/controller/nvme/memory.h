// SPDX-License-Identifier: Apache-2.0
// State that the controller keeps without power: namespaces, logs and blocks marked as uncorrectable. A saved drive
// (run --save-drive) includes it.
#pragma once

#include <cstdint>
#include <vector>

#include "controller/nvme/block_marks.h"
#include "controller/nvme/lifetime.h"
#include "controller/nvme/log_pages.h"
#include "controller/nvme/logs/persistent_events.h"
#include "controller/nvme/logs/sanitize_status.h"
#include "controller/nvme/logs/self_test_log.h"
#include "controller/nvme/namespaces.h"
#include "controller/nvme/nvme_config.h"
#include "controller/nvme/timestamp.h"

namespace ssdtlm {

struct NvmeMemory {
    NvmeMemory(const NvmeConfig& config, const DriveFacts& drive)
        : namespaces(drive.drive_bytes, config.lba_bytes, config.namespaces, namespace_numbers(config),
                     config.metadata) {}

    /// Ends what the loss has interrupted, and adds the event of the power-on. Called for the first start too.
    void after_power_loss(SimTime now, std::uint64_t power_cycles, const DriveFacts& drive);

    /// Reads or writes what a loss of power leaves.
    void state(Snapshot& s);

    NvmeLifetime former;  ///< before this run
    Namespaces namespaces;
    ErrorLog errors;
    SelfTestLog self_tests;
    SanitizeStatus sanitize;
    PersistentEvents events;
    BlockMarks uncorrectable;  ///< blocks of the drive
    // These fields last until the power goes.
    Timestamp clock;
    std::vector<std::uint32_t> changed;  ///< namespaces, for log 04h
};

}  // namespace ssdtlm
