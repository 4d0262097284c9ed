// SPDX-License-Identifier: Apache-2.0
// What a check of the books has found. The first few discrepancies are said, all are counted.
#pragma once

#include <cstdint>
#include <string>

#include "common/report/error.h"

namespace ssdtlm {

class Findings {
public:
    void add(const std::string& what) {
        if (count_++ < 5) text_ += "\n  " + what;
    }
    void require(bool ok, const char* what, std::uint64_t where, std::uint64_t have, std::uint64_t want) {
        if (!ok)
            add(std::string(what) + " " + std::to_string(where) + ": " + std::to_string(have) + ", expected " +
                std::to_string(want));
    }
    void throw_if_any() const {
        if (count_ != 0) throw CheckFailed("FTL books: " + std::to_string(count_) + " discrepancies" + text_);
    }

private:
    std::uint64_t count_ = 0;
    std::string text_;
};

}  // namespace ssdtlm
