// SPDX-License-Identifier: Apache-2.0
// Writes the table of parameters as a reference page for readers, and as a JSON Schema for editors.
#pragma once

#include <string>
#include <vector>

#include "common/config/parameter.h"

namespace ssdtlm {

/// A parameter and its default.
struct DocumentedParameter {
    const ParameterInfo* info = nullptr;
    Value standard;
};

/// A TOML table and the sentence that introduces it.
struct TableSentence {
    std::string table;
    std::string sentence;
};

/// Returns the JSON Schema of a file that sets some of the parameters. It uses the draft-04 vocabulary, which TOML
/// editors understand.
std::string json_schema(const std::vector<DocumentedParameter>& parameters, const std::string& title);

/// Returns Markdown tables, one for each TOML table, in the order of `tables`.
std::string markdown_reference(const std::vector<DocumentedParameter>& parameters,
                               const std::vector<TableSentence>& tables);

}  // namespace ssdtlm
