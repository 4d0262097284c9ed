// SPDX-License-Identifier: Apache-2.0
// Policies that register themselves. A policy is one file. An object at its end has the policy's name, what it does,
// its parameters, and its maker. Any program that links the file has the policy. The configuration then takes its name.
// Its parameters have their own TOML table (policy d_choices of table gc: [gc.d_choices]), with units, ranges and
// messages like all others. The schema and the reference page show both.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/config/parameter.h"
#include "common/report/error.h"

namespace ssdtlm {

/// The values that the user set of one policy's parameters. The other parameters have their defaults.
using PolicyValues = std::map<std::string, Value>;
/// The values for all policies of one kind, by name.
using PolicyTable = std::map<std::string, PolicyValues>;

/// A parameter of a policy, with its name in the policy's table ("choices") and its default. range(), says() and from()
/// work as for any other parameter.
using PolicyParameter = Parameter<PolicyValues>;

inline PolicyParameter policy_parameter(std::string name, ParameterKind kind, Value standard) {
    PolicyParameter p;
    p.key = std::move(name);
    p.kind = kind;
    p.get = [key = p.key, standard = std::move(standard)](const PolicyValues& values) {
        const auto set = values.find(key);
        return set == values.end() ? standard : set->second;
    };
    p.set = [key = p.key](PolicyValues& values, const Value& v) { values[key] = v; };
    return p;
}
inline PolicyParameter policy_integer(std::string name, std::int64_t standard) {
    return policy_parameter(std::move(name), ParameterKind::integer, Value{standard});
}
inline PolicyParameter policy_boolean(std::string name, bool standard) {
    return policy_parameter(std::move(name), ParameterKind::boolean, Value{standard});
}
/// A quantity. `standard`: its default in base units: ps, bytes, Hz, bytes/s, millionths.
inline PolicyParameter policy_quantity(std::string name, Dimension dimension, std::int64_t standard) {
    PolicyParameter p = policy_parameter(std::move(name), ParameterKind::quantity, Value{standard});
    p.dimension = dimension;
    return p;
}
/// A list of integers, which may be empty. Each integer must be in the range.
inline PolicyParameter policy_integers(std::string name, std::vector<std::int64_t> standard) {
    PolicyParameter p = policy_parameter(std::move(name), ParameterKind::integer, Value{std::move(standard)});
    p.list = p.may_be_empty = true;
    return p;
}
/// A list of quantities, which may be empty. `standard`: its default in base units.
inline PolicyParameter policy_quantities(std::string name, Dimension dimension, std::vector<std::int64_t> standard) {
    PolicyParameter p = policy_parameter(std::move(name), ParameterKind::quantity, Value{std::move(standard)});
    p.dimension = dimension;
    p.list = p.may_be_empty = true;
    return p;
}
/// A text parameter that takes any string.
inline PolicyParameter policy_text(std::string name, std::string standard) {
    return policy_parameter(std::move(name), ParameterKind::text, Value{std::move(standard)});
}
inline PolicyParameter policy_choice(std::string name, std::vector<std::string> names, std::string standard) {
    PolicyParameter p = policy_parameter(std::move(name), ParameterKind::choice, Value{std::move(standard)});
    p.names = std::move(names);
    return p;
}

/// The maker of a policy reads the policy's parameters from it.
class PolicySettings {
public:
    PolicySettings(const std::vector<PolicyParameter>& parameters, const PolicyValues& values)
        : parameters_(parameters), values_(values) {}
    /// The value of an integer or a quantity (in base units). Panics when the policy declared no such parameter; so do
    /// the functions below.
    std::int64_t number(const std::string& name) const { return std::get<std::int64_t>(value(name)); }
    bool flag(const std::string& name) const { return std::get<bool>(value(name)); }
    /// Value of a text or a choice.
    std::string text(const std::string& name) const { return std::get<std::string>(value(name)); }
    /// Values of a list.
    std::vector<std::int64_t> numbers(const std::string& name) const {
        return std::get<std::vector<std::int64_t>>(value(name));
    }

private:
    Value value(const std::string& name) const {
        for (const PolicyParameter& p : parameters_)
            if (p.key == name) return p.get(values_);
        SSDTLM_CHECK(false, "a policy reads the parameter '" + name + "', which it has not declared");
        return {};
    }
    const std::vector<PolicyParameter>& parameters_;
    const PolicyValues& values_;
};

/// The message about a name that no policy has.
inline Problem unknown_policy(const std::string& key, const std::string& name, const std::vector<std::string>& names) {
    std::string allowed;
    for (const std::string& n : names) allowed += (allowed.empty() ? "one of " : ", ") + n;
    return {key, "no policy '" + name + "'", allowed, remedy_for_name(name, names, true, '\'')};
}

/// The policies of one kind. Each makes a Port from a Setup.
template <class Port, class Setup>
class PolicyRegistry {
public:
    struct Policy {
        std::string name;
        std::string sentence;  ///< what it does, for the reference page: no capital, no full stop
        std::vector<PolicyParameter> parameters;
        std::function<std::unique_ptr<Port>(const Setup&, const PolicySettings&)> make;
    };
    /// A static object of this type at the end of the policy's file registers the policy.
    struct Registered {
        explicit Registered(Policy policy) { PolicyRegistry::instance().add(std::move(policy)); }
    };

    static PolicyRegistry& instance() {
        static PolicyRegistry all;
        return all;
    }
    /// Panics when the name is taken.
    void add(Policy policy) {
        const std::string name = policy.name;
        SSDTLM_CHECK(policies_.emplace(name, std::move(policy)).second, "two policies are called '" + name + "'");
    }
    /// The policies by name, sorted.
    const std::map<std::string, Policy>& policies() const { return policies_; }
    std::vector<std::string> names() const {
        std::vector<std::string> names;
        for (const auto& [name, policy] : policies_) names.push_back(name);
        return names;
    }
    /// Makes the policy. Throws UserError about the parameter `key` when the name is not registered.
    std::unique_ptr<Port> make(const std::string& key, const std::string& name, const Setup& setup,
                               const PolicyTable& table = {}) const {
        const auto found = policies_.find(name);
        if (found == policies_.end()) throw UserError(unknown_policy(key, name, names()));
        const auto values = table.find(name);
        static const PolicyValues kDefaults;
        return found->second.make(setup,
                                  {found->second.parameters, values == table.end() ? kDefaults : values->second});
    }
    /// The names and sentences of all policies: "fifo: the block that was sealed first; greedy: ...".
    std::string sentences() const {
        std::string all;
        for (const auto& [name, policy] : policies_) all += (all.empty() ? "" : "; ") + name + ": " + policy.sentence;
        return all;
    }

private:
    std::map<std::string, Policy> policies_;
};

}  // namespace ssdtlm
