// SPDX-License-Identifier: Apache-2.0
// The folder to which a run writes. It is checked before hours of simulation, not after.
#pragma once

#include <string>

namespace ssdtlm {

/// A folder that this process alone writes its results to, as long as the object lives. The lock is the kernel's, on
/// the folder itself: it leaves no file behind and ends with the process, however that ends.
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

/// For a run that is refused for other reasons: throws UserError if the folder could not be made and written, as far as
/// this can be checked without making it.
void check_output_directory(const std::string& path, const std::string& option);

/// "results/<device>-<workload file without extension>". Characters that cannot be in a file name become '_'.
std::string default_output_directory(const std::string& device, const std::string& workload);

}  // namespace ssdtlm
