// SPDX-License-Identifier: Apache-2.0
// The dirty translation pages, as seen by organs that could change such a page once more at no cost.
#pragma once

#include <cstdint>

namespace ssdtlm {

class DirtyPages {
public:
    static constexpr std::uint32_t kNoPage = 0xFFFFFFFFu;
    /// newest() is the page that was changed last, before() the one changed before `page`. kNoPage: there is none.
    virtual std::uint32_t newest() const = 0;
    virtual std::uint32_t before(std::uint32_t page) const = 0;

protected:
    ~DirtyPages() = default;
};

}  // namespace ssdtlm
