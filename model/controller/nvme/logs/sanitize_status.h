// SPDX-License-Identifier: Apache-2.0
// Sanitize Status log 81h (NVMe 1.4 §5.14.1.16.2).
#pragma once

#include <cstdint>
#include <vector>

#include "protocol/nvme.h"

namespace ssdtlm {

/// Of the sanitize operation that runs or was the last one. Outlives losses of power.
struct SanitizeStatus {
    enum State : std::uint8_t { never = 0, done = 1, running = 2, failed = 3 };
    static constexpr std::size_t kBytes = 512;

    State state = never;
    std::uint16_t progress = 0;  ///< of 65,536 parts, while it runs
    std::uint8_t passes = 0;     ///< of an overwrite that are complete
    std::uint64_t writes = 0;    ///< of the host, when it was done
    std::uint32_t cdw10 = 0;     ///< of the command
    std::uint32_t pattern = 0;   ///< of an overwrite
    bool unrestricted = false;   ///< AUSE: a failure may be left by the command 1h

    /// `now`: writes of the host so far. GDE: it has written nothing since.
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
