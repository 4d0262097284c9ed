// SPDX-License-Identifier: Apache-2.0
// What the parameter table says to readers and editors: the reference page and the JSON Schema.
#pragma once

#include <string>
#include <vector>

#include "common/config/parameter.h"

namespace ssdtlm {

/// A parameter with its default as the struct has it.
struct DocumentedParameter {
    const ParameterInfo* info = nullptr;
    Value standard;
};

/// A TOML table and the sentence that introduces it.
struct TableSentence {
    std::string table;
    std::string sentence;
};

/// JSON Schema, draft-04 vocabulary (what TOML editors understand), of a file that sets some of the parameters.
std::string json_schema(const std::vector<DocumentedParameter>& parameters, const std::string& title);

/// Markdown tables, one for each TOML table, in the order of `tables`.
std::string markdown_reference(const std::vector<DocumentedParameter>& parameters,
                               const std::vector<TableSentence>& tables);

}  // namespace ssdtlm
