// SPDX-License-Identifier: Apache-2.0
// All file systems that are linked into the program. files.system names one, and [files.<name>] has its parameters.
#pragma once

#include <string>

#include "common/config/policy_registry.h"
#include "host_files/ports/file_system.h"

namespace ssdtlm {

/// The part of a drive on which a file system is made.
struct FileSystemSetup {
    std::uint64_t bytes = 0;  ///< of the drive, or of the part of it that the workload sees
    std::uint32_t lba_bytes = 512;
};
/// The makers of file systems. They throw UserError when the drive cannot carry the file system.
using FileSystems = PolicyRegistry<FileSystem, FileSystemSetup>;

/// Parameters of what is between the files of jobs and the drive.
struct FilesConfig {
    std::string system = "none";             ///< a name of FileSystems, or none: files lie side by side on the drive
    bool format = true;                      ///< what makes the file system is written before the files
    std::uint64_t layout_write = 128 << 10;  ///< bytes of a write that lays out a file
    std::uint32_t layout_depth = 32;         ///< such writes under way
    Ps call_time{1'000'000};                 ///< of a call, before its I/O
    PolicyTable systems;                     ///< parameters of file systems
    bool on() const { return system != "none"; }
};

}  // namespace ssdtlm
