// SPDX-License-Identifier: Apache-2.0
// Conditions under which a parameter has an effect, such as "ftl.mapping = dftl" or "refresh.age != 0s". "|" separates
// several values, and " or " separates several terms. The value of an empty list or text is "none".
#pragma once

#include <functional>
#include <string>

namespace ssdtlm {

/// Returns the value that a key has now, as text.
using ValueText = std::function<std::string(const std::string& key)>;

/// Says whether the condition holds now. Panics when the text is no condition.
bool condition_holds(const std::string& condition, const ValueText& value_of);
/// The condition as text for readers: "ftl.mapping = dftl", "refresh.age other than 0s", "host.reset_at set".
std::string condition_text(const std::string& condition);

}  // namespace ssdtlm
