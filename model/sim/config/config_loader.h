// SPDX-License-Identifier: Apache-2.0
// Turns files and --set options into one resolved configuration, or into all problems at once.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/config/raw_value.h"
#include "common/report/error.h"
#include "sim/config/presets.h"
#include "sim/sim_config.h"

namespace ssdtlm {

inline constexpr const char* kDefaultOrigin = "default";

/// A configuration and the origin of each entry of ssd_parameters(): kDefaultOrigin, "file:line:col" or the option.
struct ResolvedConfig {
    SsdConfig config;
    std::vector<std::string> origin;
    std::vector<std::string> replaced;  ///< notes: options of the command line that a later one replaces

    /// The origin of a key, in a form that names the key: for problems.
    std::string where(const std::string& key) const;
};

/// Sources are merged in the order in which they are added: a later value replaces an earlier one.
class ConfigLoader {
public:
    ConfigLoader();
    /// Adds a device: a path, or the name of a preset.
    void add_device(const std::string& path_or_preset);
    /// Adds a document. `name` stands for the file in places.
    void add_text(const std::string& text, const std::string& name);
    /// Adds a "key=value" of the command line.
    void add_assignment(const std::string& assignment);
    /// Another command line option that sets a parameter; `origin` is the option.
    void add_option(const std::string& key, const RawValue& value, const std::string& origin);
    /// As add_option(), with the value as it was typed.
    void add_option(const std::string& key, const std::string& text, const std::string& origin);

    /// Checks the whole configuration. Throws UserError with all problems of all sources. Problems between parameters
    /// are included only when each parameter by itself is right.
    ResolvedConfig finish();

private:
    void load(const DeviceFile& file, std::vector<std::string> above);
    void load_base(const RawEntry& entry, const DeviceFile& of, const std::vector<std::string>& above);
    void apply(const std::vector<RawEntry>& entries);
    void follow_over_provisioning();
    void follow_used_shares();
    void unknown(const RawEntry& entry, std::string& reported_table);

    ResolvedConfig resolved_;
    static constexpr std::uint32_t kCommandLine = ~0u;
    /// The last source that tried to set each parameter. Files and documents are 1, 2, ... in the order of their
    /// merging; 0 means none.
    std::vector<std::uint32_t> given_;
    std::uint32_t documents_ = 0, source_ = kCommandLine;
    std::vector<std::string> files_;
    std::vector<Problem> problems_;
};

/// Loads a configuration in the usual way: device files or presets, then --set options.
ResolvedConfig load_config(const std::vector<std::string>& devices, const std::vector<std::string>& assignments);

}  // namespace ssdtlm
