// SPDX-License-Identifier: Apache-2.0
// The words that options accept.
#include "host_pcie/workload/trace/trace_format.h"
#include "sim/app/command_table.h"

namespace ssdtlm {

const OptionWords<char>& blkparse_action_words() {
    static const OptionWords<char> words{{"D", 'D'}, {"Q", 'Q'}};
    return words;
}

const OptionWords<BeyondDevice>& beyond_device_words() {
    static const OptionWords<BeyondDevice> words{
        {"error", BeyondDevice::error}, {"fold", BeyondDevice::fold}, {"scale", BeyondDevice::scale}};
    return words;
}

const OptionWords<TraceReplayOptions::Mode>& replay_words() {
    using Mode = TraceReplayOptions::Mode;
    static const OptionWords<Mode> words{{"stamped", Mode::timed}, {"closed", Mode::closed}};
    return words;
}

const OptionWords<vfio::Pacer::Mode>& pace_words() {
    using Mode = vfio::Pacer::Mode;
    static const OptionWords<Mode> words{{"wall", Mode::wall}, {"free", Mode::free}};
    return words;
}

std::vector<std::string> trace_format_words() {
    std::vector<std::string> names{"auto"};
    for (const auto& f : trace_formats()) names.emplace_back(f.name);
    return names;
}

std::vector<std::string> shell_words() {
    return {"bash", "zsh", "fish"};
}

}  // namespace ssdtlm
