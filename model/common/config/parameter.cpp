// SPDX-License-Identifier: Apache-2.0
#include "common/config/parameter.h"

#include <algorithm>
#include <cctype>
#include <cstdio>

#include "common/config/like.h"

namespace ssdtlm {
namespace {

std::string shown(const RawValue& raw) {
    switch (raw.type) {
        case RawValue::Type::boolean:
            return raw.boolean ? "true" : "false";
        case RawValue::Type::integer:
            return std::to_string(raw.integer);
        case RawValue::Type::real: {
            char buffer[32];
            std::snprintf(buffer, sizeof buffer, "%.6g", raw.real);
            return buffer;
        }
        case RawValue::Type::string:
            return "'" + raw.string + "'";
        case RawValue::Type::list:
            return "a list";
        case RawValue::Type::date:
            break;
    }
    return "a date or table";
}

std::string scalar_text(const ParameterInfo& p, std::int64_t v) {
    return p.kind == ParameterKind::quantity ? format_quantity(v, p.dimension) : std::to_string(v);
}

std::string quoted(const std::string& s) {
    std::string r = "\"";
    for (const char c : s) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            (r += '\\') += c;
        } else if (byte < 0x20 || byte == 0x7F) {
            char buffer[8];
            std::snprintf(buffer, sizeof buffer, "\\u%04X", byte);
            r += buffer;
        } else {
            r += c;
        }
    }
    return r + "\"";
}

std::string scalar_toml(const ParameterInfo& p, std::int64_t v) {
    return p.kind == ParameterKind::quantity ? quoted(scalar_text(p, v)) : scalar_text(p, v);
}

std::string enumerated(const std::vector<std::string>& items) {
    std::string s;
    for (std::size_t i = 0; i < items.size(); ++i) {
        if (i != 0) s += i + 1 == items.size() ? " or " : ", ";
        s += items[i];
    }
    return s;
}

/// An allowed value, for messages.
std::string example(const ParameterInfo& p) {
    if (!p.example.empty()) return p.example;
    return scalar_toml(p, p.allowed.empty() ? std::max(p.min, p.step) : p.allowed.front());
}

class Converter {
public:
    Converter(const ParameterInfo& p, std::vector<Problem>& problems) : p_(p), problems_(problems) {}

    std::optional<std::int64_t> number(const RawValue& raw) {
        std::int64_t v = 0;
        if (p_.kind == ParameterKind::integer) {
            if (raw.type != RawValue::Type::integer) {
                return wrong(raw, "is " + shown(raw), "a whole number, " + allowed_text(p_), "");
            }
            v = raw.integer;
        } else {
            if (raw.type == RawValue::Type::integer || raw.type == RawValue::Type::real) {
                return wrong(raw, shown(raw) + " has no unit", describe(p_.dimension),
                             p_.dimension == Dimension::percent ? "write \"" + shown(raw) + "%\""
                                                                : "write for example " + example(p_));
            }
            if (raw.type != RawValue::Type::string) {
                return wrong(raw, "is " + shown(raw), describe(p_.dimension), "write for example " + example(p_));
            }
            const QuantityResult r = parse_quantity(raw.string, p_.dimension);
            if (!r.ok) return wrong(raw, r.found, describe(p_.dimension), r.repair);
            v = r.value;
        }
        const std::string given = p_.kind == ParameterKind::quantity ? raw.string : std::to_string(v);
        if (!p_.allowed.empty()) {
            if (std::find(p_.allowed.begin(), p_.allowed.end(), v) == p_.allowed.end()) {
                return wrong(raw, given + " is not possible", allowed_text(p_), "");
            }
        } else if (v < p_.min || v > p_.max) {
            return wrong(raw, given + " is out of range", range_like(given), reason(v < p_.min ? p_.min : p_.max));
        } else if (v % p_.step != 0) {
            return wrong(raw, given + " is not a multiple of " + scalar_text(p_, p_.step), allowed_text(p_), "");
        }
        return v;
    }

    /// Returns the source of the parameter if it names this bound, because it then says why there is a bound. A bound
    /// of one character is not looked for, as it may mean something else there.
    std::string reason(std::int64_t bound) const {
        const std::string text = scalar_text(p_, bound);
        const auto inside = [this](std::size_t at) {
            return at < p_.source.size() &&
                   (std::isalnum(static_cast<unsigned char>(p_.source[at])) != 0 || p_.source[at] == '.');
        };
        for (std::size_t at = p_.source.find(text); text.size() > 1 && at != std::string::npos;
             at = p_.source.find(text, at + 1))
            if ((at == 0 || !inside(at - 1)) && !inside(at + text.size())) return p_.source;
        return {};
    }
    /// The range as text, in the unit of the given value.
    std::string range_like(const std::string& given) const {
        if (p_.kind != ParameterKind::quantity) return allowed_text(p_);
        std::string s = format_like(p_.min, p_.dimension, given) + ".." + format_like(p_.max, p_.dimension, given);
        if (p_.step != 1) s += " in steps of " + scalar_text(p_, p_.step);
        return s;
    }

    std::nullopt_t wrong(const RawValue& raw, const std::string& what, std::string allowed, std::string repair) {
        problems_.push_back({raw.where, p_.key + ": " + what, std::move(allowed), std::move(repair)});
        return std::nullopt;
    }

private:
    const ParameterInfo& p_;
    std::vector<Problem>& problems_;
};

}  // namespace

std::string ParameterInfo::table() const {
    const auto dot = key.rfind('.');
    return dot == std::string::npos ? "" : key.substr(0, dot);
}

std::string ParameterInfo::leaf() const {
    const auto dot = key.rfind('.');
    return dot == std::string::npos ? key : key.substr(dot + 1);
}

std::string remedy_for_name(const std::string& name, const std::vector<std::string>& names, bool linked, char quote) {
    const std::string near = nearest(name, names);
    const std::string meant = near.empty() ? "" : std::string("did you mean ") + quote + near + quote + "?";
    if (!linked) return meant;
    return meant + (meant.empty() ? "o" : " O") +
           "ne of your own must be linked into the program: from a static library, the whole archive";
}

/// The list that a text with commas was meant to be.
std::string list_of(const ParameterInfo& p, const std::string& text) {
    std::string list;
    for (std::size_t from = 0; from <= text.size();) {
        const std::size_t comma = std::min(text.find(',', from), text.size());
        const std::size_t first = std::min(text.find_first_not_of(" ", from), comma);
        const std::string item = text.substr(first, text.find_last_not_of(" ,", comma) + 1 - first);
        list += (list.empty() ? "" : ", ") + (p.kind == ParameterKind::quantity ? quoted(item) : item);
        from = comma + 1;
    }
    return "[" + list + "]";
}

std::optional<Value> convert(const ParameterInfo& p, const RawValue& raw, std::vector<Problem>& problems) {
    Converter c(p, problems);
    switch (p.kind) {
        case ParameterKind::boolean:
            if (raw.type != RawValue::Type::boolean) return c.wrong(raw, "is " + shown(raw), allowed_text(p), "");
            return Value{raw.boolean};
        case ParameterKind::text:
            if (raw.type != RawValue::Type::string)
                return c.wrong(raw, "is " + shown(raw), allowed_text(p), "put it in quotes");
            return Value{raw.string};
        case ParameterKind::choice: {
            // A choice may have true and false among its names, which TOML writes without quotes.
            const std::string name =
                raw.type == RawValue::Type::boolean ? (raw.boolean ? "true" : "false") : raw.string;
            const bool known = (raw.type == RawValue::Type::string || raw.type == RawValue::Type::boolean) &&
                               std::find(p.names.begin(), p.names.end(), name) != p.names.end();
            if (known) return Value{name};
            return c.wrong(
                raw, "is " + shown(raw), allowed_text(p),
                remedy_for_name(raw.type == RawValue::Type::string ? raw.string : "", p.names, p.linked, '"'));
        }
        case ParameterKind::integer:
        case ParameterKind::quantity:
            break;
    }
    if (!p.list) {
        const auto v = c.number(raw);
        return v ? std::optional<Value>(Value{*v}) : std::nullopt;
    }
    std::vector<std::int64_t> values;
    if (raw.type != RawValue::Type::list) {
        if (raw.type == RawValue::Type::string && raw.string.find(',') != std::string::npos)
            return c.wrong(raw, "'" + raw.string + "' is no list", "one value, or a list of them",
                           "write " + list_of(p, raw.string));
        const auto v = c.number(raw);
        if (!v) return std::nullopt;
        values.push_back(*v);
        return Value{std::move(values)};
    }
    if (raw.items.empty() && !p.may_be_empty)
        return c.wrong(raw, "is an empty list", "one value, or a list of them", "");
    bool all = true;
    for (const auto& item : raw.items) {
        const auto v = c.number(item);
        if (v) values.push_back(*v);
        all = all && v.has_value();
    }
    return all ? std::optional<Value>(Value{std::move(values)}) : std::nullopt;
}

std::string to_toml(const ParameterInfo& p, const Value& v) {
    if (const auto* b = std::get_if<bool>(&v)) return *b ? "true" : "false";
    if (const auto* s = std::get_if<std::string>(&v)) return quoted(*s);
    if (const auto* i = std::get_if<std::int64_t>(&v)) return scalar_toml(p, *i);
    const auto& list = std::get<std::vector<std::int64_t>>(v);
    if (list.size() == 1 && !p.may_be_empty) return scalar_toml(p, list[0]);
    std::string s = "[";
    for (const auto i : list) s += (s.size() > 1 ? ", " : "") + scalar_toml(p, i);
    return s + "]";
}

std::string to_text(const ParameterInfo& p, const Value& v) {
    if (const auto* b = std::get_if<bool>(&v)) return *b ? "true" : "false";
    if (const auto* s = std::get_if<std::string>(&v)) return *s;
    if (const auto* i = std::get_if<std::int64_t>(&v)) return scalar_text(p, *i);
    std::string s;
    for (const auto i : std::get<std::vector<std::int64_t>>(v)) s += (s.empty() ? "" : ", ") + scalar_text(p, i);
    return s;
}

std::string allowed_text(const ParameterInfo& p) {
    switch (p.kind) {
        case ParameterKind::boolean:
            return "true or false";
        case ParameterKind::text:
            return "a string";
        case ParameterKind::choice:
            return enumerated(p.names);
        case ParameterKind::integer:
        case ParameterKind::quantity:
            break;
    }
    if (!p.allowed.empty()) {
        std::vector<std::string> values;
        for (const auto v : p.allowed) values.push_back(scalar_text(p, v));
        return enumerated(values);
    }
    std::string s = scalar_text(p, p.min) + ".." + scalar_text(p, p.max);
    if (p.step != 1) s += " in steps of " + scalar_text(p, p.step);
    return s;
}

}  // namespace ssdtlm
