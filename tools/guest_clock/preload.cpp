// SPDX-License-Identifier: Apache-2.0
// Loaded before QEMU's own libraries: gives it the model's time for the host's monotonic clock. What waits until a time
// on that clock waits until the model gets there. Who has something to tell another, the model or a thread of QEMU,
// stops the clock until it is heard: how long the host takes for that is nothing that a guest may see.
// SSDTLM_GUEST_CLOCK names the page; without it nothing changes.
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
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
// Between two looks at a clock that stands where it may not go on. assumed
constexpr std::int64_t kStandingSlice = 50'000;
// A deadline later than this in ns is a date (after 2001), not time since the start.
constexpr std::int64_t kFirstDate = 1'000'000'000 * kSecond;

Page* page = nullptr;

template <typename Function>
Function real(const char* name) {
    return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}
using ClockGettime = int (*)(clockid_t, timespec*);
using Ppoll = int (*)(pollfd*, nfds_t, const timespec*, const sigset_t*);
using CondTimedwait = int (*)(pthread_cond_t*, pthread_mutex_t*, const timespec*);
using CondWait = int (*)(pthread_cond_t*, pthread_mutex_t*);
using CondWake = int (*)(pthread_cond_t*);
using Sendmsg = ssize_t (*)(int, const msghdr*, int);
ClockGettime real_clock_gettime = nullptr;
Ppoll real_ppoll = nullptr;
CondTimedwait real_cond_timedwait = nullptr;
CondWait real_cond_wait = nullptr;
CondWake real_cond_signal = nullptr, real_cond_broadcast = nullptr;
Sendmsg real_sendmsg = nullptr;

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

/// Guest time for those who wait for it, which shows it to nobody.
std::int64_t guest_peek() {
    const std::int64_t before = page->latest_ns.load(std::memory_order_relaxed);
    if (guest_clock::message_under_way(*page)) {
        return before;
    }
    const std::int64_t now = line_now().guest(guest_clock::gone(*page, wall_now()));
    return before < now ? now : before;
}

/// Never goes back, though a new line may begin below where the old one was: then time stands. So it does while a
/// message is under way to the model, which gives it the time of its sending.
std::int64_t guest_now() {
    const std::int64_t now = guest_peek();
    std::int64_t before = page->latest_ns.load(std::memory_order_relaxed);
    while (before < now && !page->latest_ns.compare_exchange_weak(before, now, std::memory_order_relaxed)) {
    }
    return before < now ? now : before;
}

/// Wall time of the next look at a deadline in guest time.
std::int64_t next_look(std::int64_t guest_deadline) {
    const std::int64_t wall = wall_now();
    const std::int64_t there = line_now().wall(guest_deadline);
    const std::int64_t stood = wall - guest_clock::gone(*page, wall);
    if (there >= kNever - stood || there + stood > wall + kSlice) {
        return wall + (there == kNever ? kStandingSlice : kSlice);
    }
    return there + stood > wall ? there + stood : wall + kStandingSlice;
}

// ---------------------------------------------------------------------------------------------------------------
// Threads that have been woken and do not run yet. The clock stands as long as there is one.

class Spin {
public:
    Spin() {
        while (flag_.test_and_set(std::memory_order_acquire)) {
        }
    }
    ~Spin() { flag_.clear(std::memory_order_release); }
    Spin(const Spin&) = delete;
    Spin& operator=(const Spin&) = delete;

private:
    static std::atomic_flag flag_;
};
std::atomic_flag Spin::flag_ = ATOMIC_FLAG_INIT;

struct Condition {
    pthread_cond_t* at;
    unsigned waiting, woken;
};
// QEMU has some ten threads. What finds no place here is not followed.
Condition conditions[64];
unsigned woken_threads = 0;

Condition* find(const pthread_cond_t* at) {
    for (Condition& one : conditions) {
        if (one.at == at) {
            return &one;
        }
    }
    return nullptr;
}

/// The clock stands from now on, or goes on where it stood.
void stand(bool stands) {
    const std::int64_t wall = wall_now();
    const std::int64_t lost = page->lost_ns.load(std::memory_order_relaxed);
    if (stands) {
        page->stand.store(-1 - (wall - lost), std::memory_order_release);
        return;
    }
    const std::int64_t now = wall - guest_clock::gone(*page, wall);
    page->stand.store(now, std::memory_order_release);
    page->lost_ns.store(now, std::memory_order_release);
}

/// False: this one is not followed.
bool begin_wait(pthread_cond_t* at) {
    const Spin spin;
    Condition* one = find(at);
    if (one == nullptr) {
        one = find(nullptr);
    }
    if (one != nullptr) {
        one->at = at;
        ++one->waiting;
    }
    return one != nullptr;
}

/// Whether somebody has woken it, also one whose time had run out while it waited for the mutex.
bool end_wait(const pthread_cond_t* at) {
    const Spin spin;
    Condition* one = find(at);
    if (one == nullptr || one->waiting == 0) {
        return false;
    }
    --one->waiting;
    const bool woken = one->woken > 0;
    if (woken) {
        --one->woken;
        if (--woken_threads == 0) {
            stand(false);
        }
    }
    if (one->waiting == 0) {
        *one = {};
    }
    return woken;
}

void wake(const pthread_cond_t* at, bool all) {
    const Spin spin;
    Condition* one = find(at);
    if (one == nullptr || one->waiting <= one->woken) {
        return;
    }
    const unsigned more = all ? one->waiting - one->woken : 1;
    one->woken += more;
    if (woken_threads == 0) {
        stand(true);
    }
    woken_threads += more;
}

// ---------------------------------------------------------------------------------------------------------------
// The guest's processors. What one of them takes is its thread's time on a processor of the host: while it wants one
// and has none, the clock stands, by what is taken back here as soon as it runs again.

/// A switch to the kernel and back is shorter. assumed
constexpr std::int64_t kShortest = 5'000;

class Processor {
public:
    /// It has been running since the last call, as far as the host let it.
    void runs() {
        if (!is_one()) {
            return;
        }
        const Times now = times();
        const std::int64_t waited = (now.gone - since_.gone) - (now.own - since_.own);
        if (set_ && waited > kShortest) {
            lose(waited);
        }
        rested();
    }
    /// It has been waiting for something of the guest's.
    void rested() {
        if (is_one()) {
            since_ = times();
            set_ = true;
        }
    }

private:
    struct Times {
        std::int64_t gone, own;
    };
    static Times times() {
        timespec own{};
        real_clock_gettime(CLOCK_THREAD_CPUTIME_ID, &own);
        return {guest_clock::gone(*page, wall_now()), nanoseconds(own)};
    }
    /// By the name that QEMU gives its thread, "CPU 0/TCG".
    bool is_one() {
        if (!asked_) {
            char name[17] = {};
            prctl(PR_GET_NAME, name);
            is_ = std::strncmp(name, "CPU ", 4) == 0;
            // The name comes some time after the thread's start.
            asked_ = is_ || ++asks_ > 1000;
        }
        return is_;
    }
    static void lose(std::int64_t ns) {
        const Spin spin;
        const std::int64_t stand = page->stand.load(std::memory_order_relaxed);
        const std::int64_t lost = page->lost_ns.load(std::memory_order_relaxed) + ns;
        page->stand.store(stand >= 0 ? lost : stand + ns, std::memory_order_release);
        page->lost_ns.store(lost, std::memory_order_release);
    }

    Times since_{};
    bool set_ = false, asked_ = false, is_ = false;
    unsigned asks_ = 0;
};
thread_local Processor processor;

/// A socket whose other end is the model's.
bool is_models(int file) {
    sockaddr_un peer{};
    socklen_t size = sizeof peer;
    return page->socket[0] != 0 && getpeername(file, reinterpret_cast<sockaddr*>(&peer), &size) == 0 &&
           peer.sun_family == AF_UNIX && std::strncmp(peer.sun_path, page->socket, sizeof peer.sun_path) == 0;
}

[[noreturn]] void refuse(const char* path, const char* why) {
    std::fprintf(stderr, "guest clock: %s: %s\n", path, why);
    std::_Exit(2);
}

void find_real() {
    real_clock_gettime = real<ClockGettime>("clock_gettime");
    real_ppoll = real<Ppoll>("ppoll");
    real_cond_timedwait = real<CondTimedwait>("pthread_cond_timedwait");
    real_cond_wait = real<CondWait>("pthread_cond_wait");
    real_cond_signal = real<CondWake>("pthread_cond_signal");
    real_cond_broadcast = real<CondWake>("pthread_cond_broadcast");
    real_sendmsg = real<Sendmsg>("sendmsg");
}

/// A guest on the wall's clock would look right and be wrong, so a page that cannot be used ends the program.
__attribute__((constructor)) void open_page() {
    find_real();
    const char* path = std::getenv("SSDTLM_GUEST_CLOCK");
    if (path == nullptr) {
        return;
    }
    const int file = open(path, O_RDWR | O_CLOEXEC);
    struct stat status {};
    if (file < 0 || fstat(file, &status) != 0) {
        refuse(path, "cannot be opened");
    }
    if (status.st_size < static_cast<off_t>(guest_clock::kPageBytes)) {
        refuse(path, "has less than 4096 bytes");
    }
    void* mapped = mmap(nullptr, guest_clock::kPageBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (mapped == MAP_FAILED) {
        refuse(path, "cannot be mapped");
    }
    auto* found = static_cast<Page*>(mapped);
    Line line;
    if (found->version.load() != guest_clock::kVersion) {
        refuse(path, "has another version than 2");
    }
    if (!guest_clock::read(*found, line)) {
        refuse(path, "is being written for ever");
    }
    // Of a guest before this one.
    found->latest_ns.store(INT64_MIN);
    found->sending.store(0);
    found->sent.store(0);
    found->stand.store(0);
    found->lost_ns.store(0);
    page = found;
}

}  // namespace

extern "C" {

int clock_gettime(clockid_t clock, timespec* time) noexcept {
    if (page != nullptr && (clock == CLOCK_MONOTONIC || clock == CLOCK_MONOTONIC_RAW ||
                            clock == CLOCK_MONOTONIC_COARSE || clock == CLOCK_BOOTTIME)) {
        processor.runs();
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
    const std::int64_t now = guest_peek();
    const std::int64_t wait = nanoseconds(*timeout);
    const std::int64_t deadline = wait < kNever - now ? now + wait : kNever;
    while (true) {
        const std::int64_t left = next_look(deadline) - wall_now();
        const timespec slice = to_timespec(left > 0 ? left : 0);
        const int ready = real_ppoll(files, count, &slice, mask);
        if (ready != 0 || guest_peek() >= deadline) {
            return ready;
        }
    }
}

int poll(pollfd* files, nfds_t count, int timeout_ms) {
    const timespec timeout = to_timespec(std::int64_t{timeout_ms} * 1'000'000);
    return ppoll(files, count, timeout_ms < 0 ? nullptr : &timeout, nullptr);
}

/// The deadline is a point of guest time.
int pthread_cond_timedwait(pthread_cond_t* __restrict condition, pthread_mutex_t* __restrict mutex,
                           const timespec* __restrict deadline) {
    const std::int64_t guest_deadline = nanoseconds(*deadline);
    if (page == nullptr || guest_deadline >= kFirstDate) {
        return real_cond_timedwait(condition, mutex, deadline);
    }
    while (true) {
        const timespec slice = to_timespec(next_look(guest_deadline));
        processor.runs();
        const bool followed = begin_wait(condition);
        const int result = real_cond_timedwait(condition, mutex, &slice);
        const bool woken = followed && end_wait(condition);
        processor.rested();
        if (result != ETIMEDOUT || guest_peek() >= guest_deadline) {
            return result;
        }
        if (woken || !followed) {
            return 0;  // who waits must look: a wake may have come between the end of a slice and the mutex
        }
    }
}

int pthread_cond_wait(pthread_cond_t* __restrict condition, pthread_mutex_t* __restrict mutex) {
    if (page == nullptr) {
        return real<CondWait>("pthread_cond_wait")(condition, mutex);
    }
    processor.runs();
    const bool followed = begin_wait(condition);
    const int result = real_cond_wait(condition, mutex);
    if (followed) {
        end_wait(condition);
    }
    processor.rested();
    return result;
}

int pthread_cond_signal(pthread_cond_t* condition) noexcept {
    if (page == nullptr) {
        return real<CondWake>("pthread_cond_signal")(condition);
    }
    wake(condition, false);
    return real_cond_signal(condition);
}

int pthread_cond_broadcast(pthread_cond_t* condition) noexcept {
    if (page == nullptr) {
        return real<CondWake>("pthread_cond_broadcast")(condition);
    }
    wake(condition, true);
    return real_cond_broadcast(condition);
}

/// A message has the time of its sending: the clock stands until the model has taken it.
ssize_t sendmsg(int file, const msghdr* message, int flags) {
    if (page == nullptr || !is_models(file)) {
        return (real_sendmsg != nullptr ? real_sendmsg : real<Sendmsg>("sendmsg"))(file, message, flags);
    }
    processor.runs();
    guest_now();
    page->sending.fetch_add(1);
    const ssize_t sent = real_sendmsg(file, message, flags);
    if (sent > 0) {
        page->sent.fetch_add(static_cast<std::uint64_t>(sent));
    }
    page->sending.fetch_sub(1);
    processor.rested();
    return sent;
}

}  // extern "C"
