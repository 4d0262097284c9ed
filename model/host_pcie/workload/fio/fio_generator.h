// SPDX-License-Identifier: Apache-2.0
// Chooses direction, offset and length of a job's next I/O by fio 3.33's rules (io_u.c), with random sequences of its
// own. It knows nothing of time.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "common/random/random.h"
#include "host_pcie/workload/fio/fio_distribution.h"
#include "host_pcie/workload/fio/fio_job.h"
#include "host_pcie/workload/fio/permutation.h"
#include "host_pcie/workload/fio/random_map.h"

namespace ssdtlm {

class FioGenerator {
public:
    /// `job` must outlive this object.
    explicit FioGenerator(const FioJob& job);
    FioGenerator(const FioGenerator&) = delete;  // file_ points into files_
    FioGenerator& operator=(const FioGenerator&) = delete;

    /// Starts a pass over the region: no block is used yet, and sequential positions are at the start.
    void begin_pass();
    /// Returns the direction of the next I/O. For a mixed job it follows from rwmixread and the I/Os so far.
    HostOp pick_direction();
    /// The rate limit has changed the chosen direction.
    void override_direction(HostOp op) { mix_direction_ = op; }
    /// Chooses device offset and length of the next I/O in direction `op`. Returns false if the pass has no offset left
    /// in any file.
    bool next(HostOp op, std::uint64_t& offset, std::uint32_t& bytes);
    /// Chooses the file of a sync, and returns its start. As in fio, it is the file whose turn is next, not the one
    /// that was written last.
    std::uint64_t next_sync();
    /// Called after next(). Counts the I/O; the counts steer rwmix.
    void issued(HostOp op) { ++issues_[fio_index(op)]; }
    std::uint64_t issues(HostOp op) const { return issues_[fio_index(op)]; }
    /// The ramp_time has ended: fio starts counting again.
    void reset_counts() {
        issues_ = {0, 0, 0};
        mix_issues_ = 0;
    }

private:
    static constexpr std::uint64_t kNowhere = ~std::uint64_t{0};
    enum class Map : std::uint8_t { none, permutation, bits };
    /// The state of one file.
    struct File {
        explicit File(const FioFile& f) : place(f) {}
        FioFile place;
        std::optional<Permutation> order;  // Map::permutation: all block sizes equal
        std::uint64_t order_next = 0;
        std::optional<RandomMap> used;  // Map::bits, in units that divide all block sizes in use
        std::optional<FioDistributionSource> distribution;
        PerDirection<std::optional<FioZoneSource>> zones;
        PerDirection<std::uint64_t> position{};  // relative to the file's offset: end of the last I/O
        PerDirection<std::uint64_t> last_start{};
        std::uint64_t zone = 0;  // zonemode=strided: where the current zone begins
        bool done = false;       // this pass has no offset left in it
        bool fits(std::uint64_t offset, std::uint64_t bytes) const { return offset + bytes <= place.region; }
    };

    void seed_streams();
    void reset_region(File& file);
    void enter_zone(File& file, std::size_t d);
    bool choose_file();
    std::uint64_t blocks(const File& file, std::size_t d) const;
    bool next_in_file(HostOp op, std::uint64_t& offset, std::uint32_t& bytes);
    bool random_offset(std::size_t d, std::uint64_t& offset);
    bool random_block(std::size_t d, std::uint64_t& block);
    bool unused_block(std::size_t d, std::uint64_t& block);
    bool sequential_offset(std::size_t d, std::uint64_t& offset);
    std::uint64_t length(std::size_t d, std::uint64_t offset);

    const FioJob& job_;
    // Each use has its own random stream, so that a change of one option does not disturb the others.
    Random offset_random_{0};
    Random size_random_{0};
    Random mix_random_{0};
    Random zone_random_{0};
    Random sequence_random_{0};
    Random file_random_{0};

    Map map_ = Map::none;
    std::uint64_t map_unit_ = 0;
    std::vector<File> files_;
    File* file_ = nullptr;  // file of the current I/O
    std::size_t files_left_ = 0;
    std::uint32_t service_left_ = 0;  // I/Os before the next change of file

    PerDirection<std::uint64_t> issues_{};
    std::uint64_t zone_bytes_ = 0;  // bytes of I/O in the current zone
    std::uint32_t sequence_left_ = 1;
    HostOp mix_direction_ = HostOp::read;
    std::uint64_t mix_issues_ = 0;
    bool first_pass_ = true;
};

}  // namespace ssdtlm
