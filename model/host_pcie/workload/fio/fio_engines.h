// SPDX-License-Identifier: Apache-2.0
// The I/O engines of fio (3.33 and later): which of them read and write a drive, and which keep several I/Os under way.
#pragma once

#include <string>
#include <string_view>

namespace ssdtlm {

struct FioEngine {
    enum class Kind : unsigned char {
        asynchronous,  ///< keeps iodepth I/Os under way
        synchronous,   ///< one I/O at a time, whatever iodepth is
        not_a_drive    ///< it does no I/O of a drive through the block layer
    };
    const char* name;
    Kind kind;
    const char* what = "";  ///< not_a_drive: text about what it does, after "ioengine=x "
};

/// Returns the engine with this name, or nullptr if fio has none.
const FioEngine* find_fio_engine(std::string_view name);
/// The nearest engine for an unknown name, for "did you mean"; empty when nothing is near.
std::string nearest_fio_engine(const std::string& name);

}  // namespace ssdtlm
