// SPDX-License-Identifier: Apache-2.0
// A file is written under a temporary name, and gets its own name when it is complete. So a file that has its own name
// is always complete.
#pragma once

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "common/report/error.h"

namespace ssdtlm {

/// The temporary name of a file.
inline std::filesystem::path part_of(std::filesystem::path file) {
    return file += ".part";
}

/// Gives a complete file its own name. Throws OutputError when this fails.
inline void publish(const std::filesystem::path& file) {
    std::error_code error;
    std::filesystem::rename(part_of(file), file, error);
    if (error)
        throw OutputError(
            Problem{file.string(), "cannot be written: " + error.message(), "", "choose another folder with -o"});
}

/// The system's reason (errno) why the last call failed; `otherwise` if there is none.
inline std::string system_reason(const char* otherwise = "not all of it was taken") {
    return errno != 0 ? std::strerror(errno) : otherwise;
}

}  // namespace ssdtlm
