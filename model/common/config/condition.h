// SPDX-License-Identifier: Apache-2.0
// When a parameter acts: "ftl.mapping = dftl", "refresh.age != 0s", several values with "|", several such terms with "
// or ". The value of a list or text that is empty is "none".
#pragma once

#include <functional>
#include <string>

namespace ssdtlm {

/// Text of the value that a key has now.
using ValueText = std::function<std::string(const std::string& key)>;

/// Panic when the text is no condition.
bool condition_holds(const std::string& condition, const ValueText& value_of);
/// For readers: "ftl.mapping = dftl", "refresh.age other than 0s", "host.reset_at set".
std::string condition_text(const std::string& condition);

}  // namespace ssdtlm
