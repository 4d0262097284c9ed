// SPDX-License-Identifier: Apache-2.0
// Sanitize Status log 81h (NVMe 1.4 §5.14.1.16.2).
#pragma once

#include <cstdint>
#include <vector>

#include "common/snapshot/snapshot.h"
#include "protocol/nvme.h"

namespace ssdtlm {

/// State of the sanitize operation that runs, or of the last one. It survives losses of power.
struct SanitizeStatus {
    enum State : std::uint8_t { never = 0, done = 1, running = 2, failed = 3 };
    static constexpr std::size_t kBytes = 512;

    State state = never;
    std::uint16_t progress = 0;  ///< in 65,536ths, while it runs
    std::uint8_t passes = 0;     ///< complete passes of an overwrite
    std::uint64_t writes = 0;    ///< writes of the host, over the drive's life, when it ended
    std::uint32_t cdw10 = 0;     ///< CDW10 of the command
    std::uint32_t pattern = 0;   ///< pattern of an overwrite
    bool unrestricted = false;   ///< AUSE: the host may leave the failure by command 1h

    void exchange(Snapshot& s) {
        s(state, progress, passes, writes, cdw10, pattern, unrestricted);
        s.require(state <= failed && passes <= 16, "a state that no sanitize operation has");
    }
    /// `now` is the number of host writes so far. GDE is set if the host has written nothing since the end.
    void write(std::uint64_t now, std::vector<std::uint8_t>& page) const {
        const bool erased = state == done && now == writes;
        page.assign(kBytes, 0);
        std::uint8_t* const d = page.data();
        nvme::store(d, state == running ? progress : std::uint16_t{0xFFFF});
        nvme::store(d + 2, static_cast<std::uint16_t>(state | (passes & 0x1Fu) << 3 | (erased ? 1u << 8 : 0u)));
        nvme::store(d + 4, cdw10);
        for (std::size_t at = 8; at < 32; at += 4) nvme::store(d + at, 0xFFFF'FFFFu);  // no estimates
    }
};

}  // namespace ssdtlm
