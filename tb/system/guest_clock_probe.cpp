// SPDX-License-Identifier: Apache-2.0
// What test_guest_clock.py starts under the preloaded clock. Each line that it prints is three times in ns: of the host
// before, of the clock as a program sees it, of the host after.
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <thread>

namespace {

long long ns(const timespec& time) {
    return time.tv_sec * 1'000'000'000LL + time.tv_nsec;
}
long long host() {
    timespec time{};
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &time);
    return ns(time);
}
long long seen(clockid_t clock = CLOCK_MONOTONIC) {
    timespec time{};
    clock_gettime(clock, &time);
    return ns(time);
}
void sample() {
    const long long before = host();
    const long long now = seen();
    std::printf("%lld %lld %lld\n", before, now, host());
    std::fflush(stdout);
}

/// Waits on a condition until `wait_ns` from now on a clock; `signal_ms` of the host later somebody may signal it.
void wait_condition(clockid_t clock, long long wait_ns, int signal_ms) {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, clock);
    pthread_cond_t condition;
    pthread_cond_init(&condition, &attributes);
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&mutex);
    std::thread other;
    bool done = false;
    if (signal_ms > 0) {
        other = std::thread([&] {
            usleep(static_cast<useconds_t>(signal_ms) * 1000);
            pthread_mutex_lock(&mutex);
            done = true;
            pthread_cond_signal(&condition);
            pthread_mutex_unlock(&mutex);
        });
    }
    const long long until = seen(clock) + wait_ns;
    const timespec deadline{until / 1'000'000'000, until % 1'000'000'000};
    int result = 0;
    while (result == 0 && !done) {
        result = pthread_cond_timedwait(&condition, &mutex, &deadline);
    }
    pthread_mutex_unlock(&mutex);
    if (other.joinable()) {
        other.join();
    }
    std::puts(result == ETIMEDOUT ? "timeout" : "signalled");
}

/// Sends 40 bytes to whoever listens there, and looks at the clock while they are under way and after.
void send_message(const char* path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path, sizeof address.sun_path - 1);
    const int file = socket(AF_UNIX, SOCK_STREAM, 0);
    if (connect(file, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
        std::exit(3);
    }
    char bytes[40] = {};
    iovec part{bytes, sizeof bytes};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    sendmsg(file, &message, 0);
    for (int n = 0; n < 300; ++n) {
        sample();
        usleep(1000);
    }
    close(file);
}

/// Wakes a thread, and keeps the mutex that it needs.
void wake(int keep_ms) {
    pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    bool waits = false, done = false;
    std::thread other([&] {
        pthread_mutex_lock(&mutex);
        waits = true;
        while (!done) {
            pthread_cond_wait(&condition, &mutex);
        }
        sample();
        pthread_mutex_unlock(&mutex);
    });
    bool ready = false;
    while (!ready) {
        usleep(1000);
        pthread_mutex_lock(&mutex);
        ready = waits;
        pthread_mutex_unlock(&mutex);
    }
    pthread_mutex_lock(&mutex);
    done = true;
    pthread_cond_signal(&condition);
    sample();
    usleep(static_cast<useconds_t>(keep_ms) * 1000);
    sample();
    pthread_mutex_unlock(&mutex);
    other.join();
    usleep(static_cast<useconds_t>(keep_ms) * 1000);
    sample();
}

}  // namespace

int main(int argc, char** argv) {
    const char* what = argc > 1 ? argv[1] : "";
    const long long wait_ns = argc > 2 ? std::atoll(argv[2]) : 0;
    sample();
    if (std::strcmp(what, "samples") == 0) {
        for (int n = 0; n < 200; ++n) {
            sample();
            usleep(500);
        }
    } else if (std::strcmp(what, "message") == 0) {
        send_message(argv[2]);
    } else if (std::strcmp(what, "woken") == 0) {
        wake(static_cast<int>(wait_ns));
    } else if (std::strcmp(what, "poll") == 0) {
        std::puts(poll(nullptr, 0, static_cast<int>(wait_ns / 1'000'000)) == 0 ? "timeout" : "ready");
    } else if (std::strcmp(what, "ppoll") == 0) {
        const timespec wait{wait_ns / 1'000'000'000, wait_ns % 1'000'000'000};
        std::puts(ppoll(nullptr, 0, &wait, nullptr) == 0 ? "timeout" : "ready");
    } else if (std::strcmp(what, "condition") == 0) {
        wait_condition(CLOCK_MONOTONIC, wait_ns, argc > 3 ? std::atoi(argv[3]) : 0);
    } else if (std::strcmp(what, "date") == 0) {
        wait_condition(CLOCK_REALTIME, wait_ns, 0);
    }
    sample();
    return 0;
}
