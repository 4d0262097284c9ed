// SPDX-License-Identifier: Apache-2.0
// All file systems that are linked into the program. files.system names one, and [files.<name>] has its parameters.
#pragma once

#include <string>

#include "common/config/policy_registry.h"
#include "host_files/ports/file_system.h"

namespace ssdtlm {

/// The size of the drive, or of the part of it, on which a file system is made.
struct FileSystemSetup {
    std::uint64_t bytes = 0;  ///< of the drive, or of the part that the workload sees
    std::uint32_t lba_bytes = 512;
};
/// The makers of file systems. A maker throws UserError when the file system does not fit the drive.
using FileSystems = PolicyRegistry<FileSystem, FileSystemSetup>;

/// The parameters of the layer between the files of jobs and the drive.
struct FilesConfig {
    std::string system = "none";             ///< a name of FileSystems; none: files lie side by side on the drive
    bool format = true;                      ///< the file system is made on the drive before the files
    std::uint64_t layout_write = 128 << 10;  ///< most bytes of a write that lays out a file
    std::uint32_t layout_depth = 32;         ///< most of these writes in the drive
    Ps call_time{1'000'000};                 ///< time that a call takes before its I/O
    PolicyTable systems;                     ///< parameters of file systems
    bool on() const { return system != "none"; }
};

}  // namespace ssdtlm
