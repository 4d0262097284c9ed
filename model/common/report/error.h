// SPDX-License-Identifier: Apache-2.0
// Two kinds of failure, one shape of message: where, what was found, what is allowed, how to repair.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace ssdtlm {

/// Exit codes of the program; documented in the README.
enum class ExitCode : int {
    ok = 0,
    check_failed = 1,
    user_error = 2,
    watchdog = 3,
    internal = 70,     ///< EX_SOFTWARE of sysexits.h
    not_written = 74,  ///< EX_IOERR
    interrupted = 130
};

/// One problem in the user's input.
struct Problem {
    std::string where;         ///< "file:line:col", "job 'x' line 12", "command line"
    std::string found;         ///< what was found
    std::string allowed;       ///< what is allowed (may be empty)
    std::string repair;        ///< how to repair (may be empty)
    std::string text() const;  ///< "where: found; allowed; repair"
};

/// The user's mistakes, all at once. main() prints each on its own line and exits 2.
class UserError : public std::runtime_error {
public:
    explicit UserError(std::vector<Problem> problems);
    explicit UserError(Problem p) : UserError(std::vector<Problem>{std::move(p)}) {}
    const std::vector<Problem>& problems() const { return problems_; }

private:
    std::vector<Problem> problems_;
};

/// A result cannot be written: the disk is full, or a folder is gone. main() exits 74.
class OutputError : public UserError {
public:
    using UserError::UserError;
};

/// Our bug: a broken invariant. main() dumps the state and exits 70.
class Panic : public std::logic_error {
public:
    using std::logic_error::logic_error;
};
[[noreturn]] void panic(const char* where, const std::string& what);
/// For SSDTLM_CHECK. No string is made at the place of the check, which keeps that code out of the functions with
/// checks.
[[noreturn]] __attribute__((cold)) void panic(const char* where, const char* what);

/// A run whose result is wrong (data integrity, unbalanced books). main() exits 1.
class CheckFailed : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// The nearest candidate by edit distance, for "did you mean"; empty when nothing is near.
std::string nearest(const std::string& given, const std::vector<std::string>& candidates);

}  // namespace ssdtlm

/// Invariant that is cheap enough to keep in Release.
#define SSDTLM_CHECK(cond, what)                                           \
    do {                                                                   \
        if (__builtin_expect(!(cond), 0)) ::ssdtlm::panic(__func__, what); \
    } while (false)
