// SPDX-License-Identifier: Apache-2.0
// Figures of a derivation, by name.
#pragma once

#include <gmock/gmock.h>

#include <string>

#include "sim/derive/derive.h"

namespace ssdtlm {

inline const Figure* figure_of(const Figures& group, const std::string& name) {
    for (const Figure& f : group.of)
        if (f.name == name) return &f;
    return nullptr;
}
inline double value_of(const Figures& group, const std::string& name) {
    const Figure* const f = figure_of(group, name);
    EXPECT_NE(f, nullptr) << name;
    return f == nullptr ? 0 : f->value;
}
inline const Ceiling* ceiling_of(const Ceilings& set, const std::string& resource) {
    for (const Ceiling& c : set.of)
        if (c.resource == resource) return &c;
    return nullptr;
}
inline double iops_of(const Ceilings& set, const std::string& resource) {
    const Ceiling* const c = ceiling_of(set, resource);
    EXPECT_NE(c, nullptr) << resource;
    return c == nullptr ? 0 : c->iops;
}

}  // namespace ssdtlm
