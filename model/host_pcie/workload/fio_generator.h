// SPDX-License-Identifier: Apache-2.0
// Direction, offset and length of a job's next I/O by fio 3.33's rules (io_u.c), with random sequences of its own.
// Knows nothing of time.
#pragma once

#include <cstdint>
#include <optional>

#include "common/random/random.h"
#include "host_pcie/workload/fio_distribution.h"
#include "host_pcie/workload/fio_job.h"
#include "host_pcie/workload/permutation.h"
#include "host_pcie/workload/random_map.h"

namespace ssdtlm {

class FioGenerator {
public:
    /// `job` must outlive this object. `capacity`: bytes of the device.
    FioGenerator(const FioJob& job, std::uint64_t capacity);

    /// Starts a pass over the region: nothing used yet, sequential positions at the start.
    void begin_pass();
    /// Direction of the next I/O; for a mixed job by rwmixread and what was issued so far.
    HostOp pick_direction();
    /// The rate limit has turned the choice.
    void override_direction(HostOp op) { mix_direction_ = op; }
    /// Offset and length of the next I/O in direction `op`. False: the pass has nothing left to give.
    bool next(HostOp op, std::uint64_t& offset, std::uint32_t& bytes);
    /// After next(): counts it. Counts steer rwmix.
    void issued(HostOp op) { ++issues_[fio_index(op)]; }
    std::uint64_t issues(HostOp op) const { return issues_[fio_index(op)]; }
    /// End of ramp_time: fio starts counting again.
    void reset_counts() {
        issues_ = {0, 0, 0};
        mix_issues_ = 0;
    }

private:
    static constexpr std::uint64_t kNowhere = ~std::uint64_t{0};
    enum class Map : std::uint8_t { none, permutation, bits };

    void seed_streams();
    void reset_region();
    std::uint64_t blocks(std::size_t d) const;
    bool random_offset(std::size_t d, std::uint64_t& offset);
    bool random_block(std::size_t d, std::uint64_t& block);
    bool unused_block(std::size_t d, std::uint64_t& block);
    bool sequential_offset(std::size_t d, std::uint64_t& offset);
    std::uint64_t length(std::size_t d, std::uint64_t offset);
    bool fits(std::uint64_t offset, std::uint64_t bytes) const { return offset + bytes <= job_.region; }

    const FioJob& job_;
    const std::uint64_t capacity_;
    // One stream per use, so that a change of one option does not disturb the others.
    Random offset_random_{0};
    Random size_random_{0};
    Random mix_random_{0};
    Random zone_random_{0};
    Random sequence_random_{0};

    Map map_ = Map::none;
    std::optional<Permutation> order_;  // Map::permutation: all block sizes equal
    std::uint64_t order_next_ = 0;
    std::optional<RandomMap> used_;  // Map::bits, in units that divide all block sizes in use
    std::uint64_t map_unit_ = 0;
    std::optional<FioDistributionSource> distribution_;
    PerDirection<std::optional<FioZoneSource>> zones_;

    PerDirection<std::uint64_t> position_{};  // relative to the job's offset: end of the last I/O
    PerDirection<std::uint64_t> last_start_{};
    PerDirection<std::uint64_t> issues_{};
    std::uint32_t sequence_left_ = 1;
    HostOp mix_direction_ = HostOp::read;
    std::uint64_t mix_issues_ = 0;
    bool first_pass_ = true;
};

}  // namespace ssdtlm
