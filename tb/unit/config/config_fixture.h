// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "common/report/error.h"
#include "sim/config/config_loader.h"

namespace ssdtlm {

/// A device that is right, as text: tests append one mistake.
inline std::string good_device() {
    return "[ftl]\n"
           "user_capacity = \"12MiB\"\n"
           "[gc]\n"
           "soft_free_blocks = 4\n"
           "hard_free_blocks = 2\n"
           "[buffer]\n"
           "size = \"4MiB\"\n"
           "[nand.geometry]\n"
           "channels = 2\n"
           "blocks_per_plane = 64\n"
           "pages_per_block = 32\n";
}

/// The texts of all problems; empty when there is none.
inline std::vector<std::string> problems_of(ConfigLoader& loader) {
    std::vector<std::string> texts;
    try {
        loader.finish();
    } catch (const UserError& e) {
        for (const auto& p : e.problems()) texts.push_back(p.text());
    }
    return texts;
}

inline std::vector<std::string> problems_of(const std::string& text) {
    ConfigLoader loader;
    loader.add_text(text, "d.toml");
    return problems_of(loader);
}

/// Problems of the good device with assignments.
inline std::vector<std::string> problems_with(const std::vector<std::string>& assignments) {
    ConfigLoader loader;
    loader.add_text(good_device(), "d.toml");
    for (const auto& a : assignments) loader.add_assignment(a);
    return problems_of(loader);
}

}  // namespace ssdtlm
