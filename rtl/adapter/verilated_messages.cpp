// SPDX-License-Identifier: Apache-2.0
#include "adapter/verilated_messages.h"

#include <cstdarg>
#include <cstdio>
#include <vector>

#include "adapter/verilated_print.h"

namespace ssdtlm::rtl {
namespace {

constexpr const char kError[] = "%Error: ";
// Text in Verilator's messages about $stop and $finish.
constexpr const char kStop[] = ": Verilog $stop", kFinish[] = ": Verilog $finish";

struct Messages {
    std::string line;  // not ended yet
    std::vector<std::string> errors;
    std::string stop;

    void add(const std::string& text) {
        for (const char c : text) {
            if (c != '\n') {
                line += c;
                continue;
            }
            end_line();
            line.clear();
        }
    }
    void end_line() {
        const bool stopped = line.find(kStop) != std::string::npos || line.find(kFinish) != std::string::npos;
        const std::size_t at = line.find(kError);
        if (stopped)
            stop = at == std::string::npos ? line.substr(line.find_first_not_of("- "))
                                           : line.substr(at + sizeof kError - 1);
        else if (at != std::string::npos)
            errors.push_back(line.substr(at + sizeof kError - 1));
        else
            std::fprintf(stderr, "%s\n", line.c_str());
    }
};

Messages& messages() {
    static Messages all;
    return all;
}

}  // namespace

std::string verilated_errors() {
    Messages& m = messages();
    std::string text;
    for (const std::string& e : m.errors) text += (text.empty() ? "" : " | ") + e;
    if (text.empty()) text = m.stop.empty() ? "the block stopped" : m.stop;
    m = Messages{};
    return text;
}

}  // namespace ssdtlm::rtl

extern "C" int ssdtlm_verilated_print(const char* format, ...) {
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    std::string text(static_cast<std::size_t>(std::vsnprintf(nullptr, 0, format, args)) + 1, '\0');
    va_end(args);
    const int printed = std::vsnprintf(text.data(), text.size(), format, again);
    va_end(again);
    text.pop_back();
    ssdtlm::rtl::messages().add(text);
    return printed;
}
