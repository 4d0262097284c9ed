// SPDX-License-Identifier: Apache-2.0
#include "sim/app/parent.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <string>

#include "common/report/error.h"

namespace ssdtlm {

void end_with_parent() {
    const char* value = std::getenv(kParentVariable);
    if (value == nullptr || *value == '\0') return;
    const std::string text = value;
    pid_t parent = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), parent);
    if (error != std::errc{} || end != text.data() + text.size())
        throw UserError({kParentVariable, "'" + text + "' is no number of a process", "", "unset it"});
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    // The parent may have ended before the call of prctl().
    if (::getppid() != parent) ::raise(SIGKILL);
}

}  // namespace ssdtlm
