// SPDX-License-Identifier: Apache-2.0
// Reads a four-state Value Change Dump (IEEE 1364) from beginning to end. Kernel-free.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/units/units.h"

namespace ssdtlm {

class VcdReader {
public:
    struct Signal {
        std::string scope;  ///< "ssd.channel_0.pins"
        std::string name;   ///< without a range
    };
    struct Change {
        std::size_t signal = 0;   ///< index in signals()
        std::uint64_t value = 0;  ///< the lowest 64 bits; z and x count as 0
        bool released = false;    ///< a bit is z or x
    };

    /// Reads the declarations. Throws UserError when the file cannot be read or is no VCD.
    explicit VcdReader(const std::string& path);

    const std::vector<Signal>& signals() const { return signals_; }
    /// Sets `time` to the next time with changes, and `changes` to all changes at that time. Returns false at the end
    /// of the file.
    bool next(SimTime& time, std::vector<Change>& changes);

private:
    [[noreturn]] void refuse(const std::string& found) const;
    bool word(std::string& out);
    std::string needed_word(const char* what);
    void skip_to_end();
    void read_timescale();
    void change(const std::string& code, const std::string& bits, std::vector<Change>& changes) const;

    const std::string path_;
    std::ifstream in_;
    std::vector<Signal> signals_;
    std::unordered_map<std::string, std::vector<std::size_t>> by_code_;  // several names may share a code
    std::int64_t unit_ps_ = 1;
    std::int64_t now_ = 0;  // in units
};

}  // namespace ssdtlm
