// SPDX-License-Identifier: Apache-2.0
// Set Features and Get Features (NVMe 1.4 §5.13, §5.21): checks, current values and defaults. No feature can be saved.
// The front end reads the values that have an effect (arbitration, write cache, queue counts, coalescing).
#pragma once

#include <cstdint>
#include <vector>

#include "controller/nvme/nvme_config.h"
#include "protocol/nvme.h"

namespace ssdtlm {

class NvmeFeatures {
public:
    NvmeFeatures(const NvmeConfig& config, bool volatile_write_cache);

    /// Returns the status; `dw0` is the result of the completion. With `io_queues_exist`, Number of Queues is refused.
    std::uint16_t set(const nvme::Sqe& sqe, bool io_queues_exist, std::uint32_t& dw0);
    std::uint16_t get(const nvme::Sqe& sqe, std::uint32_t& dw0) const;
    /// Carries out a controller reset: every feature takes its default, because none is saved.
    void reset();

    std::uint32_t arbitration() const { return current_.arbitration; }
    bool write_cache_enabled() const { return (current_.write_cache & 1) != 0; }
    std::uint32_t granted_sqs() const { return (current_.queues & 0xFFFF) + 1; }
    std::uint32_t granted_cqs() const { return (current_.queues >> 16) + 1; }
    std::uint32_t coalescing_threshold() const { return current_.coalescing & 0xFF; }  ///< 0-based
    std::uint32_t coalescing_time() const { return current_.coalescing >> 8 & 0xFF; }  ///< 100 us units
    bool coalescing_disabled(std::uint32_t vector) const { return current_.vector_cd[vector]; }
    std::uint16_t over_temperature() const { return current_.over_temperature; }
    std::uint16_t under_temperature() const { return current_.under_temperature; }
    std::uint32_t async_events() const { return current_.async_events; }
    std::uint32_t keep_alive_ms() const { return current_.keep_alive; }  ///< 0: no timer
    /// These functions decode SEL of Get Features.
    static bool asks_current(const nvme::Sqe& sqe) { return (sqe.cdw10 >> 8 & 7u) == 0; }
    static bool asks_capabilities(const nvme::Sqe& sqe) { return (sqe.cdw10 >> 8 & 7u) == 3; }

private:
    struct Values {
        std::uint32_t arbitration = 0;
        std::uint16_t over_temperature = 0;
        std::uint16_t under_temperature = 0;
        std::vector<std::uint32_t> error_recovery;  ///< by namespace, from 1 on
        std::uint32_t write_cache = 0;
        std::uint32_t queues = 0;  ///< granted, both 0-based
        std::uint32_t coalescing = 0;
        std::vector<bool> vector_cd;
        std::uint32_t write_atomicity = 0;
        std::uint32_t async_events = 0;
        std::uint32_t keep_alive = 0;
    };
    static bool known(std::uint8_t fid, bool volatile_write_cache);
    std::uint16_t read(const Values& from, const nvme::Sqe& sqe, std::uint32_t& dw0) const;

    Values default_;
    Values current_;
    std::uint32_t max_pairs_;
    bool volatile_write_cache_;
};

}  // namespace ssdtlm
