// SPDX-License-Identifier: Apache-2.0
// A file is written under a temporary name and gets its own when it is whole: who finds it by its name finds all of it.
#pragma once

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "common/report/error.h"

namespace ssdtlm {

/// The name under which it is written.
inline std::filesystem::path part_of(std::filesystem::path file) {
    return file += ".part";
}

/// It is whole. Throws OutputError when it cannot get its name.
inline void publish(const std::filesystem::path& file) {
    std::error_code error;
    std::filesystem::rename(part_of(file), file, error);
    if (error)
        throw OutputError(
            Problem{file.string(), "cannot be written: " + error.message(), "", "choose another folder with -o"});
}

/// What the system says of the call that failed last; `otherwise` when it said nothing.
inline std::string system_reason(const char* otherwise = "not all of it was taken") {
    return errno != 0 ? std::strerror(errno) : otherwise;
}

}  // namespace ssdtlm
