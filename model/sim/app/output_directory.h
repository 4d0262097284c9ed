// SPDX-License-Identifier: Apache-2.0
// The folder to which a run writes. It is checked before the simulation, which may take hours.
#pragma once

#include <string>

namespace ssdtlm {

/// A lock on the folder of results: only this process writes there as long as the object lives. It is a lock of the
/// kernel on the folder itself. So it leaves no file, and it ends with the process in any case.
class OutputLock {
public:
    /// Throws UserError when another process has the folder.
    OutputLock(const std::string& path, const std::string& option);
    ~OutputLock();
    OutputLock(OutputLock&& other) noexcept : folder_(other.folder_) { other.folder_ = -1; }
    OutputLock& operator=(OutputLock&&) = delete;

private:
    int folder_;
};

/// Makes the folder (and its parents), locks it and tries to write into it. Files of an earlier run will be replaced.
/// Throws UserError if any of this fails; `option` names the option in the message.
OutputLock prepare_output_directory(const std::string& path, const std::string& option);

/// Throws UserError if the folder cannot be made and written, as far as this is known without making it. It is for a
/// run that is refused for other reasons.
void check_output_directory(const std::string& path, const std::string& option);

/// "results/<device>-<workload file without extension>". Characters that cannot be in a file name become '_'.
std::string default_output_directory(const std::string& device, const std::string& workload);

}  // namespace ssdtlm
