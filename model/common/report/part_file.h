// SPDX-License-Identifier: Apache-2.0
// A file is written under a temporary name and gets its own name when it is whole. So whoever finds it by its name
// finds all of it.
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

/// The file is whole and gets its name. Throws OutputError when it cannot.
inline void publish(const std::filesystem::path& file) {
    std::error_code error;
    std::filesystem::rename(part_of(file), file, error);
    if (error)
        throw OutputError(
            Problem{file.string(), "cannot be written: " + error.message(), "", "choose another folder with -o"});
}

/// The system's reason why the last call failed; `otherwise` when it gave none.
inline std::string system_reason(const char* otherwise = "not all of it was taken") {
    return errno != 0 ? std::strerror(errno) : otherwise;
}

}  // namespace ssdtlm
