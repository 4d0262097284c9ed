// SPDX-License-Identifier: Apache-2.0
// Input of a configuration before its meaning is known: dotted keys and values, with the places where they stand.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ssdtlm {

struct RawValue {
    enum class Type : std::uint8_t { boolean, integer, real, string, list, date };
    Type type = Type::string;
    bool boolean = false;
    std::int64_t integer = 0;
    double real = 0;
    std::string string;
    std::vector<RawValue> items;
    std::string where;  ///< "file:line:col" or "--set key=value"
};

struct RawEntry {
    std::string key;        ///< dotted, "nand.onfi.t_ccs"
    std::string key_where;  ///< where the key stands
    bool is_table = false;  ///< the entry names a table, whose keys follow; `value` is unused
    RawValue value;
};

}  // namespace ssdtlm
