// SPDX-License-Identifier: Apache-2.0
// The kinds of failure and their exit codes. A mistake of the user is a message with four parts: where it is, what was
// found, what is allowed, and how to repair it.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace ssdtlm {

/// The exit codes of the program; the README documents them.
enum class ExitCode : int {
    ok = 0,
    check_failed = 1,
    user_error = 2,
    watchdog = 3,
    internal = 70,     ///< EX_SOFTWARE of sysexits.h
    not_written = 74,  ///< EX_IOERR
    interrupted = 130
};

/// A problem in the user's input.
struct Problem {
    std::string where;         ///< "file:line:col", "job 'x' line 12", "command line"
    std::string found;         ///< what was found
    std::string allowed;       ///< what is allowed (may be empty)
    std::string repair;        ///< how to repair (may be empty)
    std::string text() const;  ///< "where: found; allowed; repair"
};

/// All mistakes of the user at once. main() prints each on a line of its own and exits 2.
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

/// A bug in the model: an invariant is broken. main() dumps the state and exits 70.
class Panic : public std::logic_error {
public:
    using std::logic_error::logic_error;
};
[[noreturn]] void panic(const char* where, const std::string& what);
/// SSDTLM_CHECK calls it with a literal. So functions with checks have no code that makes a string.
[[noreturn]] __attribute__((cold)) void panic(const char* where, const char* what);

/// The result of the run is wrong, such as wrong data or books that do not balance. main() exits 1.
class CheckFailed : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// The candidate that is nearest to the given name, for "did you mean"; empty if none is near.
std::string nearest(const std::string& given, const std::vector<std::string>& candidates);

}  // namespace ssdtlm

/// Panics unless the condition holds. It is for invariants that are cheap enough to check in Release.
#define SSDTLM_CHECK(cond, what)                                           \
    do {                                                                   \
        if (__builtin_expect(!(cond), 0)) ::ssdtlm::panic(__func__, what); \
    } while (false)
