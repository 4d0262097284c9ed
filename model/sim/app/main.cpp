// SPDX-License-Identifier: Apache-2.0
#include "sim/app/main.h"

#include <cstdio>
#include <exception>

#include "common/report/error.h"
#include "sim/app/commands.h"
#include "sim/app/exit_code_of.h"
#include "sim/app/panic_state.h"
#include "sim/installation.h"

namespace ssdtlm {

std::string& panic_state() {
    static std::string state;
    return state;
}

namespace {

int internal_error(const char* kind, const char* what) {
    std::fprintf(
        stderr,
        "ssdtlm: %s: %s\nThis is a mistake of the program, not yours. Please report it with the command line.\n", kind,
        what);
    if (!panic_state().empty()) std::fprintf(stderr, "State:\n%s\n", panic_state().c_str());
    return static_cast<int>(ExitCode::internal);
}

}  // namespace

int ssdtlm_main(int argc, char** argv, const char* prefix) {
    return exit_code_of([&] {
        set_library_prefix(prefix);
        const int code = execute(parse_command_line(argc, argv));
        // The program fails if its output did not reach the disk or the pipe. The end of the output is still in the
        // buffer here, so it is flushed first.
        if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
            std::fputs("ssdtlm: standard output cannot be written\n", stderr);
            // The exit code of the run itself goes first, because the terminal of an interrupted run may be gone.
            return code == static_cast<int>(ExitCode::ok) ? static_cast<int>(ExitCode::not_written) : code;
        }
        return code;
    });
}

int exit_code_of(const std::function<int()>& work) {
    try {
        return work();
    } catch (const UserError& e) {
        for (const auto& p : e.problems()) std::fprintf(stderr, "%s\n", p.text().c_str());
        const bool output = dynamic_cast<const OutputError*>(&e) != nullptr;
        return static_cast<int>(output ? ExitCode::not_written : ExitCode::user_error);
    } catch (const CheckFailed& e) {
        std::fprintf(stderr, "ssdtlm: check failed: %s\n", e.what());
        return static_cast<int>(ExitCode::check_failed);
    } catch (const Panic& e) {
        return internal_error("internal error", e.what());
    } catch (const std::bad_alloc&) {
        std::fputs("ssdtlm: not enough memory for this device and workload\n", stderr);
        return static_cast<int>(ExitCode::user_error);
    } catch (const std::exception& e) {
        return internal_error("unexpected exception", e.what());
    }
}

}  // namespace ssdtlm

// SystemC's library has a main() that calls sc_main(). The program's own main() is used instead, but the linker still
// needs this sc_main(). It is weak, because a program may call ssdtlm_main() from an sc_main() of its own.
extern "C" __attribute__((weak)) int sc_main(int, char*[]);
extern "C" int sc_main(int argc, char* argv[]) {
    return ssdtlm::ssdtlm_main(argc, argv);
}
