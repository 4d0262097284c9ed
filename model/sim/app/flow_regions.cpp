// SPDX-License-Identifier: Apache-2.0
#include "sim/app/flow_regions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "common/config/quantity.h"
#include "common/report/error.h"
#include "controller/ftl/allocation/nvm_sets.h"
#include "controller/nvme/namespaces.h"

namespace ssdtlm {

namespace {

constexpr const char* kKey = "host.regions";
constexpr const char* kAllowed = "\"0%-25%\", \"1GiB-3GiB\", \"set 1\", \"namespace 1\" or \"all\"";

std::string trimmed(const std::string& text) {
    const std::size_t from = text.find_first_not_of(' ');
    return from == std::string::npos ? std::string{} : text.substr(from, text.find_last_not_of(' ') + 1 - from);
}

class Regions {
public:
    Regions(const SsdConfig& config, std::uint64_t bytes)
        : bytes_(bytes),
          unit_(config.nand.geometry.unit_bytes),
          sets_(config.ftl.nvm_sets, config.nand.geometry),
          namespaces_(bytes, config.nvme.lba_bytes, config.nvme.namespaces) {}

    FlowRegion parse(const std::string& text) {
        if (text == "all") return {0, bytes_};
        if (text.compare(0, 4, "set ") == 0) return set(text);
        if (text.compare(0, 10, "namespace ") == 0) return in_namespace(text);
        const std::size_t dash = text.find('-');
        std::uint64_t from = 0, to = 0;
        if (dash == std::string::npos || !edge(trimmed(text.substr(0, dash)), from) ||
            !edge(trimmed(text.substr(dash + 1)), to)) {
            problems_.push_back({kKey, "\"" + text + "\"", kAllowed, "write where it begins and ends"});
        } else if (from >= to || to > bytes_) {
            problems_.push_back({kKey, fmt::format("\"{}\", which is {} to {} of {} bytes", text, from, to, bytes_),
                                 "a region that ends behind its begin and within the drive",
                                 "for example \"0%-100%\""});
        } else if (from % unit_ != 0 || to % unit_ != 0) {
            problems_.push_back({kKey, "\"" + text + "\"",
                                 "whole logical units of " + format_quantity(unit_, Dimension::bytes),
                                 fmt::format("write {}B-{}B", from / unit_ * unit_, to / unit_ * unit_)});
        }
        return {from, to - from};
    }
    std::vector<Problem>& problems() { return problems_; }

private:
    FlowRegion set(const std::string& text) {
        char* end = nullptr;
        const unsigned long number = std::strtoul(text.c_str() + 4, &end, 10);
        if (*end != 0 || number == 0 || number > sets_.count()) {
            problems_.push_back({kKey, "\"" + text + "\"",
                                 sets_.any() ? fmt::format("\"set 1\" to \"set {}\"", sets_.count())
                                             : "no sets, because ftl.nvm_sets is empty",
                                 sets_.any() ? "name one of these" : "set ftl.nvm_sets"});
            return {0, unit_};
        }
        const std::vector<std::uint64_t> ranges = sets_.ranges(bytes_ / unit_);
        return {ranges[number - 1] * unit_, (ranges[number] - ranges[number - 1]) * unit_};
    }
    FlowRegion in_namespace(const std::string& text) {
        char* end = nullptr;
        const unsigned long number = std::strtoul(text.c_str() + 10, &end, 10);
        const Namespace* const of =
            *end != 0 || number > namespaces_.most() ? nullptr : namespaces_.find(static_cast<std::uint32_t>(number));
        if (of == nullptr) {
            problems_.push_back({kKey, "\"" + text + "\"",
                                 fmt::format("\"namespace 1\" to \"namespace {}\"", namespaces_.most()),
                                 "name one of these, or set nvme.namespaces"});
            return {0, unit_};
        }
        return {of->first_block * of->lba_bytes, of->bytes()};
    }
    bool edge(const std::string& text, std::uint64_t& bytes) const {
        if (!text.empty() && text.back() == '%') {
            char* end = nullptr;
            const unsigned long per_cent = std::strtoul(text.c_str(), &end, 10);
            bytes = bytes_ / unit_ * per_cent / 100 * unit_;
            return end != text.c_str() && *end == '%' && end + 1 == text.c_str() + text.size() && per_cent <= 100;
        }
        const QuantityResult q = parse_quantity(text, Dimension::bytes);
        bytes = static_cast<std::uint64_t>(q.value);
        return q.ok;
    }

    const std::uint64_t bytes_, unit_;
    const NvmSets sets_;
    const Namespaces namespaces_;
    std::vector<Problem> problems_;
};

}  // namespace

std::vector<FlowRegion> flow_regions(const SsdConfig& config, std::uint64_t namespace_bytes) {
    Regions regions(config, namespace_bytes);
    std::vector<FlowRegion> all;
    const std::string& text = config.host.regions;
    for (std::size_t from = 0; !text.empty() && from <= text.size();) {
        const std::size_t comma = std::min(text.find(',', from), text.size());
        all.push_back(regions.parse(trimmed(text.substr(from, comma - from))));
        from = comma + 1;
    }
    if (!regions.problems().empty()) throw UserError(regions.problems());
    return all;
}

}  // namespace ssdtlm
