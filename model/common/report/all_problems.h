// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "common/report/error.h"

namespace ssdtlm {

/// Collects the user's mistakes from several steps, so that the user sees all of them at once.
class AllProblems {
public:
    /// Runs the step and keeps the problems of a UserError that it throws.
    template <class Step>
    void of(Step step) {
        try {
            step();
        } catch (const UserError& e) {
            problems_.insert(problems_.end(), e.problems().begin(), e.problems().end());
        }
    }
    const std::vector<Problem>& all() const { return problems_; }
    bool any() const { return !problems_.empty(); }
    void throw_if_any() const {
        if (any()) throw UserError(problems_);
    }

private:
    std::vector<Problem> problems_;
};

}  // namespace ssdtlm
