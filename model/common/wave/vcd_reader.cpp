// SPDX-License-Identifier: Apache-2.0
#include "common/wave/vcd_reader.h"

#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>

#include "common/report/error.h"

namespace ssdtlm {

VcdReader::VcdReader(const std::string& path) : path_(path), in_(path) {
    if (!in_) refuse(std::string("cannot be read: ") + std::strerror(errno));
    if (std::filesystem::is_directory(path)) refuse("is a folder, not a file of a wave");
    std::string scope;
    for (std::string w = needed_word("$enddefinitions"); w != "$enddefinitions"; w = needed_word("$enddefinitions")) {
        if (w == "$timescale") {
            read_timescale();
        } else if (w == "$scope") {
            needed_word("a kind of scope");
            scope += (scope.empty() ? "" : ".") + needed_word("the name of a scope");
            skip_to_end();
        } else if (w == "$upscope") {
            const std::size_t dot = scope.rfind('.');
            scope.resize(dot == std::string::npos ? 0 : dot);
            skip_to_end();
        } else if (w == "$var") {
            needed_word("a kind of variable");
            needed_word("a width");
            const std::string code = needed_word("a code");
            std::string name = needed_word("a name");
            name.resize(std::min(name.find('['), name.size()));
            by_code_[code].push_back(signals_.size());
            signals_.push_back({scope, name});
            skip_to_end();
        } else if (w[0] == '$') {
            skip_to_end();
        } else {
            refuse("is no value change dump: it begins with \"" + w.substr(0, 20) + "\"");
        }
    }
    skip_to_end();
}

bool VcdReader::next(SimTime& time, std::vector<Change>& changes) {
    changes.clear();
    for (std::string w; word(w);) {
        switch (w[0]) {
            case '#': {
                std::int64_t at = 0;
                if (std::from_chars(w.data() + 1, w.data() + w.size(), at).ptr != w.data() + w.size() || at < now_)
                    refuse("has a time that cannot be: " + w);
                const std::int64_t before = now_;
                now_ = at;
                if (changes.empty() || at == before) break;
                time = SimTime{Ps{before * unit_ps_}};
                return true;
            }
            case '$':
                break;  // such as $dumpvars and $end: the values between them are changes like others
            case 'b':
            case 'B':
                change(needed_word("a code"), w.substr(1), changes);
                break;
            case 'r':
            case 'R':
                needed_word("a code");
                break;  // real numbers are skipped, as no pin has one
            default:
                change(w.substr(1), w.substr(0, 1), changes);
        }
    }
    time = SimTime{Ps{now_ * unit_ps_}};
    return !changes.empty();
}

void VcdReader::change(const std::string& code, const std::string& bits, std::vector<Change>& changes) const {
    const auto found = by_code_.find(code);
    if (found == by_code_.end()) refuse("changes a variable that it does not declare: \"" + code + "\"");
    Change c;
    for (const char bit : bits) {
        if (std::strchr("01xXzZ", bit) == nullptr) refuse("has a value that is none: \"" + bits + "\"");
        c.released = c.released || (bit != '0' && bit != '1');
        c.value = c.value << 1 | (bit == '1');
    }
    if (c.released) c.value = 0;
    for (const std::size_t signal : found->second) {
        c.signal = signal;
        changes.push_back(c);
    }
}

void VcdReader::read_timescale() {
    std::string scale;
    for (std::string w = needed_word("a time scale"); w != "$end"; w = needed_word("$end")) scale += w;
    static constexpr struct {
        const char* name;
        std::int64_t ps;
    } kUnits[] = {{"s", 1'000'000'000'000}, {"ms", 1'000'000'000}, {"us", 1'000'000}, {"ns", 1'000}, {"ps", 1}};
    std::int64_t number = 0;
    const char* const unit = std::from_chars(scale.data(), scale.data() + scale.size(), number).ptr;
    for (const auto& u : kUnits)
        if (scale.compare(static_cast<std::size_t>(unit - scale.data()), std::string::npos, u.name) == 0 &&
            number > 0) {
            unit_ps_ = number * u.ps;
            return;
        }
    refuse("has the time scale \"" + scale + "\"; 1ps to 100s can be read");
}

bool VcdReader::word(std::string& out) {
    return static_cast<bool>(in_ >> out);
}

std::string VcdReader::needed_word(const char* what) {
    std::string w;
    if (!word(w)) refuse(std::string("ends where ") + what + " has to be");
    return w;
}

void VcdReader::skip_to_end() {
    while (needed_word("$end") != "$end") {
    }
}

void VcdReader::refuse(const std::string& found) const {
    throw UserError(Problem{path_, found, "a value change dump, as `ssdtlm run --wave` writes it",
                            "an .fst becomes one by fst2vcd"});
}

}  // namespace ssdtlm
