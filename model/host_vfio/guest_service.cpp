// SPDX-License-Identifier: Apache-2.0
#include "host_vfio/guest_service.h"

#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <utility>

namespace ssdtlm {

namespace {
/// Time after which a workload without requests is asked again. It is only a polling interval.
constexpr Ps kAskAgain{1'000'000'000'000};
}  // namespace

std::size_t GuestCommands::forget() {
    const std::size_t dropped = waiting_.size();
    waiting_.clear();
    return dropped;
}

Workload::Next GuestCommands::next(SimTime now) {
    Next n;
    if (!waiting_.empty()) {
        n.state = State::ready;
        n.request = waiting_.front();
        waiting_.pop_front();
    } else {
        n.state = over_ ? State::done : State::wait;
        n.when = now + kAskAgain;
    }
    return n;
}

ServiceSignals::ServiceSignals() {
    sigset_t ours;
    ::sigemptyset(&ours);
    for (const int s : {SIGINT, SIGTERM, SIGUSR1}) ::sigaddset(&ours, s);
    struct sigaction hangup {};
    if (::sigaction(SIGHUP, nullptr, &hangup) == 0 && hangup.sa_handler != SIG_IGN) ::sigaddset(&ours, SIGHUP);
    ::sigprocmask(SIG_BLOCK, &ours, &before_);
    held_ = true;
    fd_ = vfio::Fd(::signalfd(-1, &ours, SFD_NONBLOCK | SFD_CLOEXEC));
    ::prctl(PR_SET_TIMERSLACK, 1);  // waits here last microseconds
    std::signal(SIGPIPE, SIG_IGN);  // the eventfd of a client may be a pipe
}

void ServiceSignals::give_back() {
    if (!held_) return;
    held_ = false;
    ::sigprocmask(SIG_SETMASK, &before_, nullptr);
}

void ServiceSignals::read() {
    signalfd_siginfo came{};
    while (fd_ && ::read(fd_.get(), &came, sizeof came) == static_cast<ssize_t>(sizeof came)) {
        if (came.ssi_signo == SIGUSR1) {
            cut_ = true;
        } else {
            end_ = true;
            give_back();  // the second signal has its usual effect
            std::signal(SIGUSR1, SIG_IGN);
        }
    }
}

bool ServiceSignals::take_power_cut() {
    return std::exchange(cut_, false);
}

}  // namespace ssdtlm
