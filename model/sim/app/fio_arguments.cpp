// SPDX-License-Identifier: Apache-2.0
#include "sim/app/fio_arguments.h"

#include <algorithm>

#include "host_pcie/workload/fio/fio_options.h"

namespace ssdtlm {

std::vector<FioArgument> take_fio_arguments(std::vector<std::string>& words, const std::vector<std::string>& own) {
    std::vector<FioArgument> taken;
    std::vector<std::string> kept;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string& word = words[i];
        if (word == "--") {
            kept.insert(kept.end(), words.begin() + static_cast<std::ptrdiff_t>(i), words.end());
            break;
        }
        const std::size_t equals = word.find('=');
        const std::string option = word.substr(0, equals);
        const bool ours = std::find(own.begin(), own.end(), option) != own.end();
        const FioOption* fio =
            ours || word.compare(0, 2, "--") != 0 ? nullptr : FioOptionTable::instance().find(option.substr(2));
        if (fio == nullptr) {
            kept.push_back(word);
            continue;
        }
        FioArgument argument{option.substr(2), std::nullopt};
        if (equals != std::string::npos)
            argument.value = word.substr(equals + 1);
        else if (!is_fio_flag(fio->name) && i + 1 < words.size() && words[i + 1].compare(0, 1, "-") != 0)
            argument.value = words[++i];
        taken.push_back(std::move(argument));
    }
    words = std::move(kept);
    return taken;
}

}  // namespace ssdtlm
