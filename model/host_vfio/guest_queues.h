// SPDX-License-Identifier: Apache-2.0
// Follows the rings of a foreign driver by the traffic on the link: register writes, submission entries at each
// doorbell, completions that the drive writes, and its reads of doorbells in the driver's memory. It only observes. It
// follows even a faulty driver as far as possible, and never trusts it beyond the announced bounds.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "protocol/nvme.h"

namespace ssdtlm::vfio {

class GuestQueues {
public:
    static constexpr std::uint32_t kQueues = 65;  ///< most queues of the drive, with the admin queues
    /// Reads memory of the driver. Returns false if there is no such memory.
    using ReadMemory = std::function<bool(std::uint64_t address, void* to, std::uint32_t bytes)>;

    explicit GuestQueues(ReadMemory read) : read_(std::move(read)) {}

    /// Takes a write to a register below the doorbells.
    enum class Asked : std::uint8_t { nothing, enable, disable };
    Asked register_written(std::uint32_t offset, std::uint32_t value);
    /// Returns the submission entries that are new with this tail, in order.
    std::vector<nvme::Sqe> rung(std::uint16_t queue, std::uint32_t tail);
    void head_moved(std::uint16_t queue, std::uint32_t head);
    /// A completion entry that the drive writes to memory, with its completion queue.
    struct Completed {
        nvme::Cqe entry;
        std::uint16_t queue = 0;
    };
    std::optional<Completed> written(std::uint64_t address, const std::uint8_t* data, std::uint32_t bytes);

    /// True if the doorbells of this queue are in the driver's memory (Doorbell Buffer Config, NVMe 1.4 5.7). The drive
    /// takes those of the admin queue from the registers.
    bool shadowed(std::uint32_t queue) const { return shadows_ != 0 && queue != 0 && queue < kQueues; }
    std::uint64_t shadow_address(std::uint32_t queue, bool head) const {
        return shadows_ + 8 * std::uint64_t{queue} + (head ? 4 : 0);
    }
    /// Returns the queue whose tail in the driver's memory is there, or 0.
    std::uint16_t tail_at(std::uint64_t address, std::uint32_t bytes) const {
        const std::uint64_t queue = (address - shadows_) / 8;
        const bool is_tail = bytes == 4 && (address - shadows_) % 8 == 0 && queue < kQueues &&
                             shadowed(static_cast<std::uint32_t>(queue));
        return is_tail ? static_cast<std::uint16_t>(queue) : std::uint16_t{0};
    }

    /// True if a completion queue with interrupts holds entries that the driver has not taken, and its vector is not
    /// masked.
    bool pin() const;
    bool enabled() const { return nvme::Cc::en(cc_); }
    std::uint32_t cc() const { return cc_; }
    /// The driver's knowledge of a namespace, from its last Identify Namespace.
    struct Space {
        std::uint32_t lba_bytes = 0;  ///< 0: the driver has not asked
        std::uint64_t bytes = 0;
    };
    Space space(std::uint32_t nsid) const { return nsid - 1 < spaces_.size() ? spaces_[nsid - 1] : Space{}; }
    /// Clears everything, because the drive has lost its queues.
    void reset();

private:
    struct Ring {
        std::uint64_t base = 0;
        std::uint32_t entries = 0;  // 0: there is none
        std::uint32_t tail = 0, head = 0;
    };
    struct CompletionRing : Ring {
        std::uint32_t vector = 0;
        bool interrupts = false;
    };
    void create_admin();
    void admin(const nvme::Sqe& sqe);
    void admin_done(const nvme::Cqe& cqe);
    void identified(const nvme::Sqe& sqe);
    std::uint32_t head_of(std::uint32_t queue) const;

    ReadMemory read_;
    std::array<Ring, kQueues> submission_{};
    std::array<CompletionRing, kQueues> completion_{};
    std::uint32_t cc_ = 0, aqa_ = 0, mask_ = 0;
    std::uint64_t asq_ = 0, acq_ = 0;
    std::uint64_t shadows_ = 0;          // page of doorbells in the driver's memory; 0: none
    std::vector<nvme::Sqe> admin_open_;  // commands that have not ended and tell of queues or namespaces
    std::vector<Space> spaces_;          // by NSID, from 1 on
};

/// A command as the host's I/O path describes it, or nothing if the I/O path has no such kind.
struct GuestRequest {
    enum class Kind : std::uint8_t { read, write, trim, flush } kind = Kind::read;
    std::uint64_t first_block = 0;
    std::uint32_t blocks = 0;
    bool fua = false;
};
std::optional<GuestRequest> request_of(const nvme::Sqe& sqe, const GuestQueues::ReadMemory& read);

}  // namespace ssdtlm::vfio
