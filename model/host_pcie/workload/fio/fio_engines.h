// SPDX-License-Identifier: Apache-2.0
// The I/O engines of fio (3.33 and what has come since): which of them read and write a drive, and which keep more than
// one I/O under way.
#pragma once

#include <string>
#include <string_view>

namespace ssdtlm {

struct FioEngine {
    enum class Kind : unsigned char {
        asynchronous,  ///< keeps iodepth I/Os under way
        synchronous,   ///< one I/O at a time, whatever iodepth says
        not_a_drive    ///< what it does is no I/O of an NVMe drive's block layer
    };
    const char* name;
    Kind kind;
    const char* what = "";  ///< not_a_drive: what it does instead, after "ioengine=x "
};

/// The engine of this name; nullptr: fio has no such engine.
const FioEngine* find_fio_engine(std::string_view name);
/// The nearest engine for an unknown name, for "did you mean"; empty when nothing is near.
std::string nearest_fio_engine(const std::string& name);

}  // namespace ssdtlm
