// SPDX-License-Identifier: Apache-2.0
// A case of the property test: a small drive, given by choices out of a table, and what a host does to it. As text it
// is what a reader can follow and what the test reads again.
#pragma once

#include <array>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "sim/sim_config.h"

namespace ssdtlm {

struct DriveOp {
    /// pause: nothing for so long; drain: until nothing is under way; cut: the power goes after so long, in what
    /// follows; off: it goes after a normal shutdown; reset: the controller is disabled after so long, in what follows,
    /// and enabled again. Serial ATA only: beyond: a command for blocks that are not there; broken_frame: the frame
    /// that is so many from now arrives with a CRC error. NVMe only: compare, copy and compare_write read first.
    /// Then they compare what was found, copy it elsewhere, or write in its place if it is still there (a fused pair);
    /// format: Format NVM (also to blocks with metadata), or Sanitize.
    enum class Kind : std::uint8_t {
        read,
        write,
        forced_write,
        trim,
        zeroes,
        forced_zeroes,
        flush,
        pause,
        drain,
        cut,
        off,
        reset,
        beyond,
        broken_frame,
        verify,
        compare,
        copy,
        uncorrectable,
        format,
        compare_write
    };
    static constexpr std::size_t kKinds = 20;
    static const std::array<const char*, kKinds> kNames;

    Kind kind = Kind::read;
    std::uint32_t unit = 0;  ///< modulo those of the drive
    std::uint32_t block =
        0;  ///< of the unit, modulo its logical blocks; trim: so many behind its last whole unit, zeroes: not used
    std::uint32_t blocks = 1;  ///< as many as there are, up to the drive's largest transfer; trim and zeroes: units
    std::uint32_t us = 0;      ///< pause, cut, reset; compare, compare_write: odd: with other data; copy: so many units
                               ///< further; format: how
    bool dma = false;          ///< Serial ATA, read and write: not queued
    std::uint32_t again = 0;   ///< cut and off: how often more the power goes, `us` after it came back; trim: so many
                               ///< more ranges; verify: not 0: to the end of the drive; reset: odd: with a normal
                               ///< shutdown before, Serial ATA from 2 on: a software reset
    bool look = false;         ///< cut, off, reset: all units are read when the drive is back
};

/// A parameter of the drive and what it may be, the simplest first.
struct Choice {
    const char* key;
    std::vector<const char*> values;  ///< as in a device file; "-": left out
};

struct DriveCase {
    bool serial_ata = false;
    std::vector<std::uint32_t> chosen;  ///< of choices(), in its order
    std::vector<DriveOp> ops;

    /// Of Serial ATA drives: those of all drives, and more behind them.
    static const std::vector<Choice>& choices(bool serial_ata);
    /// What was chosen for a key of the table.
    std::string value(const std::string& key) const;
    std::uint64_t number(const std::string& key) const;
    /// It offers formats with metadata.
    bool has_metadata() const;
    /// Else its operations are without `cut` and `off`.
    bool loses_power() const;
    /// The device file. What does not go with the mapping that was chosen is left out.
    std::string device() const;
    /// Of the host: commands under way at most.
    std::uint32_t depth() const { return static_cast<std::uint32_t>(number(serial_ata ? "tags" : "depth")); }
};

/// UserError when the drive is refused.
SsdConfig config_of(const std::string& device);

/// The device file, a line `---`, a line with the depth, and a line for each operation.
std::string text_of(const std::string& device, std::uint32_t depth, const std::vector<DriveOp>& ops);
struct DriveText {
    std::string device;
    std::uint32_t depth = 1;
    std::vector<DriveOp> ops;
};
/// std::runtime_error when it is none.
DriveText read_case(const std::string& text);

}  // namespace ssdtlm
