// SPDX-License-Identifier: Apache-2.0
// A strict reader of the part of VCD that the project writes: anything else is an error with its line.
#pragma once

#include <cstdint>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace ssdtlm {

struct Vcd {
    struct Signal {
        std::string type;  // wire, integer
        std::uint32_t width = 0;
        std::vector<std::pair<std::int64_t, std::uint64_t>> changes;  // the first is the initial value
        std::uint64_t at(std::int64_t time) const {
            std::uint64_t value = changes.at(0).second;
            for (const auto& [t, v] : changes)
                if (t <= time) value = v;
            return value;
        }
    };
    std::map<std::string, Signal> signals;  // by path
    std::int64_t first = -1;
    std::int64_t last = -1;

    static Vcd parse(const std::string& text) {
        Vcd vcd;
        std::map<std::string, std::string> by_code;
        std::vector<std::string> scope;
        std::istringstream in(text);
        std::string line;
        int number = 0;
        enum { header, dump, body } state = header;
        bool timescale = false;
        const auto fail = [&](const std::string& why) {
            throw std::runtime_error("line " + std::to_string(number) + ": " + why + ": " + line);
        };
        const auto words = [](const std::string& s) {
            std::istringstream w(s);
            std::vector<std::string> all;
            for (std::string x; w >> x;) all.push_back(x);
            return all;
        };
        const auto value_change = [&] {
            std::string code;
            std::uint64_t value = 0;
            std::size_t bits = 1;
            if (line[0] == 'b') {
                const std::size_t space = line.find(' ');
                if (space == std::string::npos) fail("vector without code");
                bits = space - 1;
                if (bits == 0 || bits > 64) fail("vector of no or too many digits");
                if (bits > 1 && line[1] == '0') fail("leading zero");
                for (std::size_t i = 1; i < space; ++i) {
                    if (line[i] != '0' && line[i] != '1') fail("digit");
                    value = value << 1 | static_cast<std::uint64_t>(line[i] - '0');
                }
                code = line.substr(space + 1);
            } else {
                if (line[0] != '0' && line[0] != '1') fail("neither a time nor a change");
                value = static_cast<std::uint64_t>(line[0] - '0');
                code = line.substr(1);
            }
            if (by_code.count(code) == 0) fail("code not declared");
            Signal& s = vcd.signals.at(by_code.at(code));
            if ((line[0] == 'b') == (s.width == 1)) fail("scalar written as vector or vector as scalar");
            if (bits > s.width) fail("value too wide");
            if (state == body) {
                if (s.changes.back().first == vcd.last) fail("second change at one time");
                if (s.changes.back().second == value) fail("change to the same value");
            } else if (!s.changes.empty()) {
                fail("dumped twice");
            }
            s.changes.emplace_back(vcd.last, value);
        };
        while (std::getline(in, line)) {
            ++number;
            if (line.empty()) fail("empty line");
            const auto w = words(line);
            if (state == header) {
                if (w.back() != "$end" && line[0] == '$') fail("no $end");
                if (w[0] == "$timescale") {
                    if (line != "$timescale 1 ps $end") fail("timescale");
                    timescale = true;
                } else if (w[0] == "$scope") {
                    if (w.size() != 4 || w[1] != "module") fail("scope");
                    scope.push_back(w[2]);
                } else if (w[0] == "$upscope") {
                    if (w.size() != 2 || scope.empty()) fail("upscope");
                    scope.pop_back();
                } else if (w[0] == "$var") {
                    if ((w[1] != "wire" && w[1] != "integer") || (w.size() != 6 && w.size() != 7)) fail("var");
                    if (scope.empty()) fail("signal outside of a scope");
                    std::string path;
                    for (const auto& s : scope) path += s + ".";
                    path += w[4];
                    if (vcd.signals.count(path) != 0 || by_code.count(w[3]) != 0) fail("declared twice");
                    const auto width = static_cast<std::uint32_t>(std::stoul(w[2]));
                    if (w.size() == 7 && w[5] != "[" + std::to_string(width - 1) + ":0]") fail("range");
                    by_code[w[3]] = path;
                    vcd.signals[path] = Signal{w[1], width, {}};
                } else if (w[0] == "$enddefinitions") {
                    if (!scope.empty() || !timescale) fail("header incomplete");
                    state = dump;
                } else if (w[0] != "$version") {
                    fail("header");
                }
            } else if (line[0] == '#') {
                const std::int64_t t = std::stoll(line.substr(1));
                if (t <= vcd.last) fail("time does not grow");
                if (vcd.first < 0) vcd.first = t;
                vcd.last = t;
            } else if (line == "$dumpvars") {
                if (state != dump || vcd.first < 0) fail("dumpvars");
            } else if (line == "$end") {
                if (state != dump) fail("end");
                for (const auto& [name, s] : vcd.signals)
                    if (s.changes.size() != 1) fail("no initial value of " + name);
                state = body;
            } else {
                value_change();
            }
        }
        if (state != body) fail("ends too early");
        if (text.back() != '\n') fail("last line is cut off");
        return vcd;
    }
};

}  // namespace ssdtlm
