// SPDX-License-Identifier: Apache-2.0
#include "common/config/toml_reader.h"

#include <toml++/toml.h>

#include <algorithm>
#include <fstream>
#include <iterator>

namespace ssdtlm {
namespace {

std::string place(const std::string& name, const toml::source_region& r) {
    return name + ":" + std::to_string(r.begin.line) + ":" + std::to_string(r.begin.column);
}

/// Returns the place of the first word of the line, because the library points behind a key that is defined twice.
toml::source_region first_word(std::string_view text, toml::source_region r) {
    std::size_t begin = 0;
    for (toml::source_index line = 1; line < r.begin.line && begin != std::string_view::npos; ++line) {
        begin = text.find('\n', begin);
        if (begin != std::string_view::npos) ++begin;
    }
    if (begin == std::string_view::npos) return r;
    const std::size_t word = text.find_first_not_of(" \t", begin);
    if (word == std::string_view::npos) return r;
    r.begin.column = static_cast<toml::source_index>(word - begin + 1);
    return r;
}

RawValue raw(const toml::node& node, const std::string& name) {
    RawValue v;
    v.where = place(name, node.source());
    if (const auto* b = node.as_boolean()) {
        v.type = RawValue::Type::boolean;
        v.boolean = b->get();
    } else if (const auto* i = node.as_integer()) {
        v.type = RawValue::Type::integer;
        v.integer = i->get();
    } else if (const auto* f = node.as_floating_point()) {
        v.type = RawValue::Type::real;
        v.real = f->get();
    } else if (const auto* s = node.as_string()) {
        v.type = RawValue::Type::string;
        v.string = s->get();
    } else if (const auto* a = node.as_array()) {
        v.type = RawValue::Type::list;
        for (const auto& item : *a) v.items.push_back(raw(item, name));
    } else {
        v.type = RawValue::Type::date;  // dates and times, and tables inside arrays: no parameter takes them
    }
    return v;
}

struct Placed {
    toml::source_position at;
    RawEntry entry;
};

void flatten(const toml::table& table, const std::string& prefix, const std::string& name, std::vector<Placed>& out) {
    for (auto&& [key, node] : table) {
        RawEntry e;
        e.key = prefix + std::string(key.str());
        e.key_where = place(name, key.source());
        if (const auto* sub = node.as_table()) {
            e.is_table = true;
            const std::string inner = e.key + ".";
            out.push_back({key.source().begin, std::move(e)});
            flatten(*sub, inner, name, out);
        } else {
            e.value = raw(node, name);
            out.push_back({key.source().begin, std::move(e)});
        }
    }
}

}  // namespace

std::vector<RawEntry> read_toml(std::string_view text, const std::string& name, std::vector<Problem>& problems) {
    toml::table document;
    try {
        document = toml::parse(text, name);
    } catch (const toml::parse_error& e) {
        const std::string what(e.description());
        const auto quote = what.find('\'');
        if (what.find("cannot redefine") != std::string::npos && quote != std::string::npos) {
            const auto end = what.find('\'', quote + 1);
            problems.push_back({place(name, first_word(text, e.source())),
                                "key " + what.substr(quote, end + 1 - quote) + " is defined twice",
                                "a file defines each key once", "remove one of the two"});
        } else {
            problems.push_back({place(name, e.source()), "not TOML: " + what, "", ""});
        }
        return {};
    }
    std::vector<Placed> placed;
    flatten(document, "", name, placed);
    // The library sorts keys by name; problems are easier to follow in the order of the text.
    std::stable_sort(placed.begin(), placed.end(), [](const Placed& a, const Placed& b) { return a.at < b.at; });
    std::vector<RawEntry> out;
    out.reserve(placed.size());
    for (auto& p : placed) out.push_back(std::move(p.entry));
    return out;
}

std::vector<RawEntry> read_toml_file(const std::string& path, const std::string& name, std::vector<Problem>& problems) {
    std::ifstream in(path, std::ios::binary);
    if (!in) {
        problems.push_back({name, "cannot be opened for reading", "", ""});
        return {};
    }
    const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    if (in.bad()) {
        problems.push_back({name, "cannot be read", "", ""});
        return {};
    }
    return read_toml(text, name, problems);
}

namespace {

std::string trim(std::string s) {
    s.erase(0, std::min(s.find_first_not_of(' '), s.size()));
    s.erase(s.find_last_not_of(' ') + 1);
    return s;
}

/// Reads the text as TOML. Text that is no TOML is a string without quotes, or a list of them: 60us, [50ms, 100ms].
RawValue assigned(const std::string& text, const std::string& where) {
    std::vector<Problem> not_toml;
    auto parsed = read_toml("v = " + text, where, not_toml);
    if (not_toml.empty() && parsed.size() == 1 && !parsed[0].is_table && parsed[0].value.type != RawValue::Type::date)
        return std::move(parsed[0].value);
    RawValue value;
    if (text.size() < 2 || text.front() != '[' || text.back() != ']') {
        value.type = RawValue::Type::string;
        value.string = text;
        return value;
    }
    value.type = RawValue::Type::list;
    const std::string inside = text.substr(1, text.size() - 2);
    for (std::size_t at = 0; at <= inside.size();) {
        const std::size_t end = std::min(inside.find(',', at), inside.size());
        value.items.push_back(assigned(trim(inside.substr(at, end - at)), where));
        at = end + 1;
    }
    return value;
}

}  // namespace

std::vector<RawEntry> read_assignment(const std::string& text, std::vector<Problem>& problems) {
    const std::string where = "--set " + text;
    const auto equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
        problems.push_back({where, "is no assignment", "key=value", "for example --set nand.t_read=60us"});
        return {};
    }
    RawEntry e;
    e.key = trim(text.substr(0, equals));
    e.key_where = where;
    e.value = assigned(trim(text.substr(equals + 1)), where);
    e.value.where = where;
    for (auto& item : e.value.items) item.where = where;
    return {e};
}

}  // namespace ssdtlm
