// SPDX-License-Identifier: Apache-2.0
// Translation pages that are dirty, as those see them who may change them once more at no cost.
#pragma once

#include <cstdint>

namespace ssdtlm {

class DirtyPages {
public:
    static constexpr std::uint32_t kNoPage = 0xFFFFFFFFu;
    /// The one that was changed last, and the one before another; kNoPage: none.
    virtual std::uint32_t newest() const = 0;
    virtual std::uint32_t before(std::uint32_t page) const = 0;

protected:
    ~DirtyPages() = default;
};

}  // namespace ssdtlm
