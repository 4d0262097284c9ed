// SPDX-License-Identifier: Apache-2.0
// Conditions under which a parameter acts: "ftl.mapping = dftl", "refresh.age != 0s", several values with "|", several
// such terms with " or ". The value of an empty list or text is "none".
#pragma once

#include <functional>
#include <string>

namespace ssdtlm {

/// Returns the value that a key has now, as text.
using ValueText = std::function<std::string(const std::string& key)>;

/// Panics when the text is no condition.
bool condition_holds(const std::string& condition, const ValueText& value_of);
/// The condition in words: "ftl.mapping = dftl", "refresh.age other than 0s", "host.reset_at set".
std::string condition_text(const std::string& condition);

}  // namespace ssdtlm
