// SPDX-License-Identifier: Apache-2.0
// Loaded before QEMU's own libraries: gives it the model's time for the host's monotonic clock. What waits until a time
// on that clock waits until the model gets there. SSDTLM_GUEST_CLOCK names the page; without it nothing changes.
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "clock_page.h"

namespace {

using guest_clock::kNever;
using guest_clock::Line;
using guest_clock::Page;

constexpr std::int64_t kSecond = 1'000'000'000;
// The line may become steeper while somebody sleeps, so nobody sleeps longer than this without a look (assumed: half of
// Linux's tick of 4 ms).
constexpr std::int64_t kSlice = 2'000'000;
// A deadline later than this in ns is a date (after 2001), not time since the start.
constexpr std::int64_t kFirstDate = 1'000'000'000 * kSecond;

const Page* page = nullptr;
std::atomic<std::int64_t> latest{INT64_MIN};

template <typename Function>
Function real(const char* name) {
    return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}
using ClockGettime = int (*)(clockid_t, timespec*);
using Ppoll = int (*)(pollfd*, nfds_t, const timespec*, const sigset_t*);
using CondTimedwait = int (*)(pthread_cond_t*, pthread_mutex_t*, const timespec*);
ClockGettime real_clock_gettime = nullptr;
Ppoll real_ppoll = nullptr;
CondTimedwait real_cond_timedwait = nullptr;

std::int64_t nanoseconds(const timespec& time) {
    return time.tv_sec >= kNever / kSecond ? kNever : time.tv_sec * kSecond + time.tv_nsec;
}
timespec to_timespec(std::int64_t ns) {
    return {ns / kSecond, ns % kSecond};
}

std::int64_t wall_now() {
    timespec now{};
    real_clock_gettime(CLOCK_MONOTONIC, &now);
    return nanoseconds(now);
}

Line line_now() {
    thread_local Line line;
    guest_clock::read(*page, line);
    return line;
}

/// Never goes back, though a new line may begin below where the old one was: then time stands.
std::int64_t guest_now() {
    const std::int64_t now = line_now().guest(wall_now());
    std::int64_t before = latest.load(std::memory_order_relaxed);
    while (before < now && !latest.compare_exchange_weak(before, now, std::memory_order_relaxed)) {
    }
    return before < now ? now : before;
}

/// Wall time of the next look at a deadline in guest time.
std::int64_t next_look(std::int64_t guest_deadline) {
    const std::int64_t slice = wall_now() + kSlice;
    const std::int64_t there = line_now().wall(guest_deadline);
    return there < slice ? there : slice;
}

[[noreturn]] void refuse(const char* path, const char* why) {
    std::fprintf(stderr, "guest clock: %s: %s\n", path, why);
    std::_Exit(2);
}

void find_real() {
    real_clock_gettime = real<ClockGettime>("clock_gettime");
    real_ppoll = real<Ppoll>("ppoll");
    real_cond_timedwait = real<CondTimedwait>("pthread_cond_timedwait");
}

/// A guest on the wall's clock would look right and be wrong, so a page that cannot be used ends the program.
__attribute__((constructor)) void open_page() {
    find_real();
    const char* path = std::getenv("SSDTLM_GUEST_CLOCK");
    if (path == nullptr) {
        return;
    }
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status {};
    if (file < 0 || fstat(file, &status) != 0) {
        refuse(path, "cannot be opened");
    }
    if (status.st_size < static_cast<off_t>(guest_clock::kPageBytes)) {
        refuse(path, "has less than 4096 bytes");
    }
    void* mapped = mmap(nullptr, guest_clock::kPageBytes, PROT_READ, MAP_SHARED, file, 0);
    close(file);
    if (mapped == MAP_FAILED) {
        refuse(path, "cannot be mapped");
    }
    const auto* found = static_cast<const Page*>(mapped);
    Line line;
    if (found->version.load() != guest_clock::kVersion) {
        refuse(path, "has another version than 1");
    }
    if (!guest_clock::read(*found, line)) {
        refuse(path, "is being written for ever");
    }
    page = found;
}

}  // namespace

extern "C" {

int clock_gettime(clockid_t clock, timespec* time) noexcept {
    if (page != nullptr && (clock == CLOCK_MONOTONIC || clock == CLOCK_MONOTONIC_RAW ||
                            clock == CLOCK_MONOTONIC_COARSE || clock == CLOCK_BOOTTIME)) {
        *time = to_timespec(guest_now());
        return 0;
    }
    // Libraries that are loaded before us may ask for the time in their own constructors.
    return real_clock_gettime != nullptr ? real_clock_gettime(clock, time)
                                         : static_cast<int>(syscall(SYS_clock_gettime, clock, time));
}

/// The time to wait is in guest time, from now on.
int ppoll(pollfd* files, nfds_t count, const timespec* timeout, const sigset_t* mask) {
    if (page == nullptr || timeout == nullptr || nanoseconds(*timeout) <= 0) {
        return real_ppoll(files, count, timeout, mask);
    }
    const std::int64_t now = guest_now();
    const std::int64_t wait = nanoseconds(*timeout);
    const std::int64_t deadline = wait < kNever - now ? now + wait : kNever;
    while (true) {
        const std::int64_t left = next_look(deadline) - wall_now();
        const timespec slice = to_timespec(left > 0 ? left : 0);
        const int ready = real_ppoll(files, count, &slice, mask);
        if (ready != 0 || guest_now() >= deadline) {
            return ready;
        }
    }
}

int poll(pollfd* files, nfds_t count, int timeout_ms) {
    const timespec timeout = to_timespec(std::int64_t{timeout_ms} * 1'000'000);
    return ppoll(files, count, timeout_ms < 0 ? nullptr : &timeout, nullptr);
}

/// The deadline is a point of guest time. The mutex is held between two looks, so no signal is missed.
int pthread_cond_timedwait(pthread_cond_t* __restrict condition, pthread_mutex_t* __restrict mutex,
                           const timespec* __restrict deadline) {
    const std::int64_t guest_deadline = nanoseconds(*deadline);
    if (page == nullptr || guest_deadline >= kFirstDate) {
        return real_cond_timedwait(condition, mutex, deadline);
    }
    while (true) {
        const timespec slice = to_timespec(next_look(guest_deadline));
        const int result = real_cond_timedwait(condition, mutex, &slice);
        if (result != ETIMEDOUT || guest_now() >= guest_deadline) {
            return result;
        }
    }
}

}  // extern "C"
