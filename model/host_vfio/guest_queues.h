// SPDX-License-Identifier: Apache-2.0
// What a foreign driver has in its rings, by what passes on the way: register writes, its submission entries in memory
// when it rings, completions when the drive writes them. For observation only. A driver that does nonsense is followed
// as far as that has a meaning; nothing of it is believed beyond the bounds of what was said.
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
    static constexpr std::uint32_t kQueues = 65;  ///< the drive's most, with the admin queues
    /// Reads memory of the driver; false: it is not there.
    using ReadMemory = std::function<bool(std::uint64_t address, void* to, std::uint32_t bytes)>;

    explicit GuestQueues(ReadMemory read) : read_(std::move(read)) {}

    /// A register, before the doorbells.
    enum class Asked : std::uint8_t { nothing, enable, disable };
    Asked register_written(std::uint32_t offset, std::uint32_t value);
    /// The submission entries that are new with this tail, in order.
    std::vector<nvme::Sqe> rung(std::uint16_t queue, std::uint32_t tail);
    void head_moved(std::uint16_t queue, std::uint32_t head);
    /// The drive writes to memory; of a completion entry: what it says, and whose completion queue it is in.
    struct Completed {
        nvme::Cqe entry;
        std::uint16_t queue = 0;
    };
    std::optional<Completed> written(std::uint64_t address, const std::uint8_t* data, std::uint32_t bytes);

    /// A completion queue with interrupts holds entries that the driver has not taken, and its vector is not masked.
    bool pin() const;
    bool enabled() const { return nvme::Cc::en(cc_); }
    std::uint32_t cc() const { return cc_; }
    std::uint32_t page_bytes() const { return 4096u << (nvme::Cc::mps(cc_) & 15u); }
    /// The drive has forgotten all of it.
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

    ReadMemory read_;
    std::array<Ring, kQueues> submission_{};
    std::array<CompletionRing, kQueues> completion_{};
    std::uint32_t cc_ = 0, aqa_ = 0, mask_ = 0;
    std::uint64_t asq_ = 0, acq_ = 0;
    std::vector<nvme::Sqe> admin_open_;  // creations and deletions that have not ended
};

/// A command as the host's I/O path knows it; none: it knows no such kind.
struct GuestRequest {
    enum class Kind : std::uint8_t { read, write, trim, flush } kind = Kind::read;
    std::uint64_t first_block = 0;
    std::uint32_t blocks = 0;
    bool fua = false;
};
std::optional<GuestRequest> request_of(const nvme::Sqe& sqe, const GuestQueues::ReadMemory& read);

}  // namespace ssdtlm::vfio
