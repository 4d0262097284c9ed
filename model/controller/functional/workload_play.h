// SPDX-License-Identifier: Apache-2.0
// Preconditioning with a host's own commands (precondition.workload), after the configured state at start: an
// FunctionalDrive serves them. What the caches hold at the end is kept for the drive that goes on.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "controller/ftl/ftl_counters.h"
#include "controller/functional/functional_drive.h"

namespace ssdtlm {

/// The source of the commands. Their tags are its own.
class FunctionalHost {
public:
    enum class State : std::uint8_t { ready, blocked, done };  ///< blocked: until one of its commands has ended
    virtual ~FunctionalHost() = default;
    virtual State next(FunctionalCommand& command) = 0;
    virtual void ended(std::uint64_t tag) = 0;
};

/// Counts of what was played.
struct WorkloadBooks {
    bool any = false;
    bool changes_mapped = false;              ///< other units are mapped than before
    std::array<std::uint64_t, 5> commands{};  ///< by IoOp
    std::uint64_t reads_passed_over = 0;      ///< they change nothing that is kept
    std::uint64_t units_written = 0;          ///< mapping units that commands wrote
    std::uint64_t bytes_written = 0;          ///< of the same
    FtlCounters ftl;                          ///< of it, the last programs for what was in the write buffer included
};

class WorkloadPlay {
public:
    WorkloadPlay(const FtlConfig& config, const NandConfig& nand, std::uint32_t lba_bytes, Ftl& ftl,
                 SpareArea& contents);

    /// Plays all of the host's commands. With precondition.load = full, as many are under way at once as the host has,
    /// and the next comes when the flash has reached its time. With light, each comes when the drive is idle after the
    /// one before.
    const WorkloadBooks& run(FunctionalHost& host);
    /// Hands over to the next firmware: it gets the state of this one, and its caches hold what the configuration
    /// keeps. Precondition: run().
    void hand_over(Firmware& to) { to.take_over(drive_.firmware()); }
    const CacheContents& caches() const { return caches_; }
    FunctionalDrive& drive() { return drive_; }

private:
    void submit(FunctionalHost& host, const FunctionalCommand& command);

    const bool light_, keeps_caches_;
    const std::uint32_t lba_bytes_;
    Ftl& ftl_;
    const bool counts_reads_;
    FunctionalDrive drive_;
    WorkloadBooks books_;
    CacheContents caches_;
};

}  // namespace ssdtlm
