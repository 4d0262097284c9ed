// SPDX-License-Identifier: Apache-2.0
// Each parameter has one table entry: its name, its values, what it means, where its default comes from, and the field
// to which it is bound. The code that reads, checks and shows it uses this entry, as do the schema and the reference
// page.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "common/config/quantity.h"
#include "common/config/raw_value.h"
#include "common/report/error.h"
#include "common/units/age.h"
#include "common/units/units.h"

namespace ssdtlm {

enum class ParameterKind : std::uint8_t {
    boolean,
    integer,   ///< a count: bare number
    quantity,  ///< number with a unit
    choice,    ///< one of a list of names
    text       ///< any string
};

/// A value in canonical form. An integer or a quantity (in base units) is an int64, and a list holds such numbers.
using Value = std::variant<bool, std::int64_t, std::string, std::vector<std::int64_t>>;

struct ParameterInfo {
    std::string key;  ///< "nand.onfi.t_ccs"; the part before the last dot is the TOML table
    ParameterKind kind = ParameterKind::integer;
    Dimension dimension = Dimension::time;  ///< only for quantities
    bool list = false;                      ///< one value, or an array of values
    bool may_be_empty = false;              ///< only for lists: it may be empty, and is always written as a list
    bool required = false;                  ///< it has no usable default, so the user must set it
    std::int64_t min = 0;
    std::int64_t max = 0;
    std::int64_t step = 1;                ///< values must be multiples of it
    std::vector<std::int64_t> allowed;    ///< the only values; empty: all in the range
    std::vector<std::string> names;       ///< only for choices
    bool linked = false;                  ///< only for choices: parts of the program registered the names
    std::string sentence;                 ///< what it is
    std::string source;                   ///< where the default comes from, or "assumed"
    std::string example;                  ///< a TOML value for messages; empty: the smallest value
    std::vector<std::string> conditions;  ///< all must hold for it to have an effect (common/config/condition.h)

    std::string table() const;  ///< "nand.onfi"; empty for a top-level key
    std::string leaf() const;   ///< "t_ccs"
};

/// Says how to repair a name that is not in `names`. `linked`: parts that are linked into the program registered the
/// names. `quote`: the character around a name.
std::string remedy_for_name(const std::string& name, const std::vector<std::string>& names, bool linked, char quote);
/// Returns the canonical value of what the user wrote. On a mistake it appends a problem and returns nothing.
std::optional<Value> convert(const ParameterInfo& p, const RawValue& raw, std::vector<Problem>& problems);
/// The value as TOML text, which reads back to the same value.
std::string to_toml(const ParameterInfo& p, const Value& v);
/// The value as to_toml() writes it, but without quotes, for messages and tables.
std::string to_text(const ParameterInfo& p, const Value& v);
/// The allowed values as text: "100ns..1s", "1, 2, 4 or 8", "true or false".
std::string allowed_text(const ParameterInfo& p);

/// A parameter of the struct Config.
template <class Config>
struct Parameter : ParameterInfo {
    std::function<Value(const Config&)> get;
    std::function<void(Config&, const Value&)> set;

    Parameter& says(std::string what) {
        sentence = std::move(what);
        return *this;
    }
    Parameter& from(std::string where) {
        source = std::move(where);
        return *this;
    }
    /// Sets the bounds, inclusive, as the user writes them: range("1", "64"), range("1ns", "1ms").
    Parameter& range(std::string_view low, std::string_view high) {
        min = number(low);
        max = number(high);
        return *this;
    }
    Parameter& multiple_of(std::string_view value) {
        step = number(value);
        return *this;
    }
    Parameter& only(std::vector<std::int64_t> values) {
        allowed = std::move(values);
        min = allowed.front();
        max = allowed.back();
        return *this;
    }
    /// Allows an empty list.
    Parameter& or_none() {
        may_be_empty = true;
        return *this;
    }
    /// Without this condition the parameter has no effect, and a note says so to a user who set it. If it is called
    /// several times, all conditions must hold.
    Parameter& only_with(std::string condition) {
        conditions.push_back(std::move(condition));
        return *this;
    }
    Parameter& must_be_set(std::string for_example) {
        required = true;
        example = std::move(for_example);
        return *this;
    }

private:
    std::int64_t number(std::string_view text) const {
        if (kind == ParameterKind::integer) return std::stoll(std::string(text));
        const QuantityResult r = parse_quantity(text, dimension);
        SSDTLM_CHECK(r.ok, "bad bound in the parameter table: " + r.found);
        return r.value;
    }
};

/// Makes table entries for fields of the struct Config. `field` is a generic lambda that returns a reference to the
/// field: [](auto& c) -> auto& { return c.nand.t_erase; }
template <class Config>
struct ParameterOf {
    using P = Parameter<Config>;

    template <class Field>
    static P integer(std::string key, Field field) {
        return number(std::move(key), ParameterKind::integer, Dimension::time, field, 1);
    }
    /// `scale`: base units per unit of the field.
    template <class Field>
    static P quantity(std::string key, Dimension dimension, Field field, std::int64_t scale = 1) {
        return number(std::move(key), ParameterKind::quantity, dimension, field, scale);
    }
    /// A share. The field is a double, where 1 is the whole; users write percent.
    template <class Field>
    static P fraction(std::string key, Field field) {
        P p = basic(std::move(key), ParameterKind::quantity);
        p.dimension = Dimension::percent;
        p.get = [field](const Config& c) { return Value{static_cast<std::int64_t>(field(c) * 1e6 + 0.5)}; };
        p.set = [field](Config& c, const Value& v) { field(c) = static_cast<double>(std::get<std::int64_t>(v)) / 1e6; };
        return p;
    }
    /// A vector of unsigned integers, which may be empty.
    template <class Field>
    static P integers(std::string key, Field field) {
        P p = basic(std::move(key), ParameterKind::integer);
        p.list = true;
        p.may_be_empty = true;
        p.get = [field](const Config& c) { return Value{std::vector<std::int64_t>(field(c).begin(), field(c).end())}; };
        p.set = [field](Config& c, const Value& v) {
            using T = typename std::decay_t<decltype(field(c))>::value_type;
            field(c).clear();
            for (const std::int64_t i : std::get<std::vector<std::int64_t>>(v)) field(c).push_back(static_cast<T>(i));
        };
        return p;
    }
    /// A vector of durations: one value for all, or one value for each.
    template <class Field>
    static P times(std::string key, Field field) {
        P p = basic(std::move(key), ParameterKind::quantity);
        p.list = true;
        p.get = [field](const Config& c) {
            std::vector<std::int64_t> v;
            for (const Ps& t : field(c)) v.push_back(t.count());
            return Value{std::move(v)};
        };
        p.set = [field](Config& c, const Value& v) {
            field(c).clear();
            for (const std::int64_t t : std::get<std::vector<std::int64_t>>(v)) field(c).push_back(Ps{t});
        };
        return p;
    }
    /// A vector of sizes in bytes, which may be empty.
    template <class Field>
    static P sizes(std::string key, Field field) {
        P p = integers(std::move(key), field);
        p.kind = ParameterKind::quantity;
        p.dimension = Dimension::bytes;
        return p;
    }
    template <class Field>
    static P boolean(std::string key, Field field) {
        P p = basic(std::move(key), ParameterKind::boolean);
        p.get = [field](const Config& c) { return Value{static_cast<bool>(field(c))}; };
        p.set = [field](Config& c, const Value& v) { field(c) = std::get<bool>(v); };
        return p;
    }
    template <class Field>
    static P text(std::string key, Field field) {
        P p = basic(std::move(key), ParameterKind::text);
        p.get = [field](const Config& c) { return Value{field(c)}; };
        p.set = [field](Config& c, const Value& v) { field(c) = std::get<std::string>(v); };
        return p;
    }
    /// A string field that takes one of `names` (registered policies).
    template <class Field>
    static P name(std::string key, std::vector<std::string> names, Field field) {
        P p = text(std::move(key), field);
        p.kind = ParameterKind::choice;
        p.names = std::move(names);
        return p;
    }
    /// An enum field; entry i of `names` is enumerator i.
    template <class Field>
    static P choice(std::string key, std::vector<std::string> names, Field field) {
        P p = basic(std::move(key), ParameterKind::choice);
        p.names = names;
        p.get = [field, names](const Config& c) { return Value{names.at(static_cast<std::size_t>(field(c)))}; };
        p.set = [field, names](Config& c, const Value& v) {
            using Enum = std::decay_t<decltype(field(c))>;
            for (std::size_t i = 0; i < names.size(); ++i) {
                if (names[i] == std::get<std::string>(v)) field(c) = static_cast<Enum>(i);
            }
        };
        return p;
    }

private:
    static P basic(std::string key, ParameterKind kind) {
        P p;
        p.key = std::move(key);
        p.kind = kind;
        return p;
    }
    template <class Field>
    static P number(std::string key, ParameterKind kind, Dimension dimension, Field field, std::int64_t scale) {
        P p = basic(std::move(key), kind);
        p.dimension = dimension;
        p.get = [field, scale](const Config& c) { return Value{scale * count_of(field(c))}; };
        p.set = [field, scale](Config& c, const Value& v) { put(field(c), std::get<std::int64_t>(v) / scale); };
        p.step = scale;
        return p;
    }
    static std::int64_t count_of(Ps t) { return t.count(); }
    static std::int64_t count_of(Age t) { return t.count(); }
    static void put(Age& field, std::int64_t n) { field = Age::nanoseconds(n); }
    template <class T>
    static void put(T& field, std::int64_t n) {
        field = static_cast<T>(n);
    }
    template <class T>
    static std::int64_t count_of(T v) {
        return static_cast<std::int64_t>(v);
    }
};

}  // namespace ssdtlm
