// SPDX-License-Identifier: Apache-2.0
// The end of a command in the firmware's own statuses. Each front end has one table from these to the codes of its
// protocol.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace ssdtlm {

enum class CommandStatus : std::uint8_t {
    success,
    not_possible,      ///< the drive cannot do what the command asks for
    read_only,         ///< the drive takes no more data
    write_fault,       ///< data that the flash did not take
    unrecovered_read,  ///< data that the flash has lost
    transfer_error,    ///< the data did not get from the host to the drive, or back
    aborted            ///< it waited while the host reset the drive
};

inline constexpr std::array<const char*, 7> kCommandStatusNames{
    "success", "not possible", "read-only drive", "write fault", "unrecovered read", "transfer error", "aborted"};
constexpr const char* status_name(CommandStatus s) {
    return kCommandStatusNames[static_cast<std::size_t>(s)];
}

}  // namespace ssdtlm
