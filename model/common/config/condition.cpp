// SPDX-License-Identifier: Apache-2.0
#include "common/config/condition.h"

#include <algorithm>
#include <vector>

#include "common/report/error.h"

namespace ssdtlm {
namespace {

constexpr const char* kNone = "none";

std::vector<std::string> split(const std::string& text, const std::string& between) {
    std::vector<std::string> parts;
    std::size_t from = 0;
    for (std::size_t at = 0; (at = text.find(between, from)) != std::string::npos; from = at + between.size())
        parts.push_back(text.substr(from, at - from));
    parts.push_back(text.substr(from));
    return parts;
}

struct Term {
    std::string key;
    bool equal = true;
    std::vector<std::string> values;
};

std::vector<Term> terms_of(const std::string& condition) {
    std::vector<Term> terms;
    for (const std::string& text : split(condition, " or ")) {
        const std::string sign = text.find(" != ") != std::string::npos ? " != " : " = ";
        const std::vector<std::string> sides = split(text, sign);
        SSDTLM_CHECK(sides.size() == 2 && !sides[0].empty() && !sides[1].empty(),
                     "'" + condition + "' is no condition of a parameter");
        terms.push_back({sides[0], sign == " = ", split(sides[1], "|")});
    }
    return terms;
}

}  // namespace

bool condition_holds(const std::string& condition, const ValueText& value_of) {
    const std::vector<Term> terms = terms_of(condition);
    return std::any_of(terms.begin(), terms.end(), [&](const Term& t) {
        const std::string value = value_of(t.key);
        const bool found = std::find(t.values.begin(), t.values.end(), value.empty() ? kNone : value) != t.values.end();
        return found == t.equal;
    });
}

std::string condition_text(const std::string& condition) {
    std::string all;
    for (const Term& t : terms_of(condition)) {
        std::string values;
        for (std::size_t i = 0; i < t.values.size(); ++i) values += (i == 0 ? "" : " or ") + t.values[i];
        all += (all.empty() ? "" : ", or ") + t.key;
        if (!t.equal && values == kNone)
            all += " set";
        else
            all += (t.equal ? " = " : " other than ") + values;
    }
    return all;
}

}  // namespace ssdtlm
