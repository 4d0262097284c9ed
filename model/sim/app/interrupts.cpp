// SPDX-License-Identifier: Apache-2.0
// The handlers call only functions that are async-signal-safe (POSIX.1-2017, 2.4.3): rename, unlink, write, kill,
// setitimer, _exit.
#include "sim/app/interrupts.h"

#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>

#include "common/report/error.h"

namespace ssdtlm {

namespace {

/// The processor time that one step of the simulation may still take after a signal. It is not wall-clock time, so a
/// busy machine does not shorten it.
constexpr suseconds_t kPatienceMicroseconds = 220'000;

enum class At : std::sig_atomic_t { nothing, building, running, writing };

volatile std::sig_atomic_t came = 0;
volatile At at = At::nothing;
volatile pid_t told_child = 0;
void (*volatile tell_simulation)(void*) = nullptr;
void* volatile simulation = nullptr;
Interrupts::Abandoned abandoned;

void end_at_once() {
    ::_exit(static_cast<int>(ExitCode::interrupted));
}

void abandon() {
    ::rename(abandoned.text.c_str(), abandoned.named.c_str());
    for (const std::string& file : abandoned.temporary) ::unlink(file.c_str());
    if (::write(STDERR_FILENO, abandoned.said.data(), abandoned.said.size()) < 0) end_at_once();
    end_at_once();
}

void time_is_up(int) {
    if (at == At::running) abandon();
}

void on_interrupt(int signal) {
    const int kept = errno;
    came = 1;
    // A second signal ends the program at once. But a closed terminal sends two SIGHUP: one from the kernel and one
    // from the shell.
    std::signal(signal, signal == SIGHUP ? SIG_IGN : SIG_DFL);
    if (told_child != 0) ::kill(told_child, signal);
    if (at == At::nothing) end_at_once();
    if (at == At::building) abandon();
    if (at == At::running) {
        tell_simulation(simulation);
        itimerval patience{};
        patience.it_value.tv_usec = kPatienceMicroseconds;
        ::setitimer(ITIMER_PROF, &patience, nullptr);
    }
    errno = kept;
}

void go_to(At next) {
    const Interrupts::HeldBack no_signal;
    at = next;
}

sigset_t the_signals() {
    sigset_t set;
    ::sigemptyset(&set);
    for (const int s : {SIGINT, SIGTERM, SIGHUP}) ::sigaddset(&set, s);
    return set;
}

}  // namespace

void Interrupts::catch_all() {
    for (const int s : {SIGINT, SIGTERM}) std::signal(s, on_interrupt);
    // SIGHUP is ignored before this call if the user has started the run with nohup. It stays ignored then.
    if (std::signal(SIGHUP, on_interrupt) == SIG_IGN) std::signal(SIGHUP, SIG_IGN);
    std::signal(SIGPROF, time_is_up);
    // With SIGXFSZ ignored, a write beyond the limit of a file (ulimit -f) fails like a write to a full disk.
    std::signal(SIGXFSZ, SIG_IGN);
}

bool Interrupts::any() {
    return came != 0;
}

void Interrupts::building(Abandoned a) {
    const HeldBack no_signal;
    abandoned = std::move(a);
    at = At::building;
}

void Interrupts::running(Abandoned a, void (*tell)(void*), void* self) {
    const HeldBack no_signal;
    abandoned = std::move(a);
    tell_simulation = tell;
    simulation = self;
    at = At::running;
}

void Interrupts::writing() {
    go_to(At::writing);
}

void Interrupts::tell(pid_t child) {
    told_child = child;
}

Interrupts::HeldBack::HeldBack() {
    const sigset_t set = the_signals();
    ::sigprocmask(SIG_BLOCK, &set, &before_);
}

Interrupts::HeldBack::~HeldBack() {
    ::sigprocmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace ssdtlm
