// SPDX-License-Identifier: Apache-2.0
#include "common/config/parameter_docs.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/config/condition.h"

namespace ssdtlm {
namespace {

using Json = nlohmann::ordered_json;

Json type_of(const ParameterInfo& p) {
    Json s;
    switch (p.kind) {
        case ParameterKind::boolean:
            s["type"] = "boolean";
            break;
        case ParameterKind::text:
            s["type"] = "string";
            break;
        case ParameterKind::choice:
            s["enum"] = p.names;
            if (std::find(p.names.begin(), p.names.end(), "true") != p.names.end()) {
                s["enum"].push_back(true);
                s["enum"].push_back(false);
            }
            break;
        case ParameterKind::integer:
            if (!p.allowed.empty()) {
                s["enum"] = p.allowed;
            } else {
                s["type"] = "integer";
                s["minimum"] = p.min;
                s["maximum"] = p.max;
                if (p.step != 1) s["multipleOf"] = p.step;
            }
            break;
        case ParameterKind::quantity:
            s["type"] = "string";
            s["pattern"] = pattern_of(p.dimension);
            // A pattern cannot express these bounds. Tools that choose values read them.
            s["x-step"] = format_quantity(p.step, p.dimension);
            for (const std::int64_t v : p.allowed) s["x-allowed"].push_back(format_quantity(v, p.dimension));
            break;
    }
    return s;
}

Json standard_json(const ParameterInfo& p, const Value& v) {
    if (const auto* b = std::get_if<bool>(&v)) return *b;
    if (const auto* i = std::get_if<std::int64_t>(&v); i != nullptr && p.kind == ParameterKind::integer) return *i;
    if (const auto* list = std::get_if<std::vector<std::int64_t>>(&v);
        list != nullptr && (list->size() > 1 || p.may_be_empty)) {
        Json values = Json::array();
        for (const auto i : *list) values.push_back(standard_json(p, Value{i}));
        return values;
    }
    return to_text(p, v);
}

/// A '|' would end the table cell.
std::string cell(const std::string& s) {
    std::string r;
    for (const char c : s) r += c == '|' ? std::string("\\|") : std::string(1, c);
    return r;
}

/// Describes the parameter and the conditions under which it has an effect.
std::string described(const ParameterInfo& p) {
    std::string conditions;
    for (const std::string& c : p.conditions)
        conditions += (conditions.empty() ? "" : "; and with ") + condition_text(c);
    return p.sentence +
           (conditions.empty() ? "" : (p.sentence.back() == '.' ? " Acts" : ". Acts") + (" only with " + conditions));
}

}  // namespace

std::string json_schema(const std::vector<DocumentedParameter>& parameters, const std::string& title) {
    Json root;
    root["$schema"] = "http://json-schema.org/draft-04/schema#";
    root["title"] = title;
    root["type"] = "object";
    root["additionalProperties"] = false;
    root["properties"] = Json::object();
    for (const auto& d : parameters) {
        const ParameterInfo& p = *d.info;
        Json* node = &root;
        std::string rest = p.key;
        for (auto dot = rest.find('.'); dot != std::string::npos; dot = rest.find('.')) {
            Json& table = (*node)["properties"][rest.substr(0, dot)];
            if (table.is_null()) {
                table["type"] = "object";
                table["additionalProperties"] = false;
                table["properties"] = Json::object();
            }
            node = &table;
            rest.erase(0, dot + 1);
        }
        Json leaf;
        if (p.list) {
            Json one = type_of(p);
            leaf["oneOf"] =
                Json::array({one, Json{{"type", "array"}, {"minItems", p.may_be_empty ? 0 : 1}, {"items", one}}});
        } else {
            leaf = type_of(p);
        }
        leaf["description"] = described(p) + " (" + allowed_text(p) + ")";
        if (!p.conditions.empty()) leaf["x-acts-with"] = p.conditions;
        if (!p.required) leaf["default"] = standard_json(p, d.standard);
        (*node)["properties"][rest] = std::move(leaf);
    }
    return root.dump(2) + "\n";
}

std::string markdown_reference(const std::vector<DocumentedParameter>& parameters,
                               const std::vector<TableSentence>& tables) {
    std::string s;
    for (const auto& t : tables) {
        s += t.table.empty() ? "\n## Top level\n\n" : "\n## [" + t.table + "]\n\n";
        s += t.sentence + "\n\n";
        if (std::none_of(parameters.begin(), parameters.end(),
                         [&](const auto& d) { return d.info->table() == t.table; }))
            continue;
        s += "| Key | Values | Default | Meaning | Source of the default |\n|---|---|---|---|---|\n";
        for (const auto& d : parameters) {
            const ParameterInfo& p = *d.info;
            if (p.table() != t.table) continue;
            const std::string standard = p.required ? "none: must be set" : "`" + to_toml(p, d.standard) + "`";
            s += "| `" + p.leaf() + "` | " + cell(allowed_text(p)) +
                 (p.may_be_empty ? "; a list"
                  : p.list       ? "; one, or a list"
                                 : "") +
                 " | " + cell(standard) + " | " + cell(described(p)) + " | " + cell(p.source) + " |\n";
        }
    }
    return s;
}

}  // namespace ssdtlm
