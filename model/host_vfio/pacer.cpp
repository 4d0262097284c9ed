// SPDX-License-Identifier: Apache-2.0
#include "host_vfio/pacer.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <utility>

#include "common/report/error.h"

namespace ssdtlm::vfio {

std::int64_t wall_now() {
    timespec t{};
    ::clock_gettime(CLOCK_MONOTONIC, &t);
    return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

Pacer::Pacer(Mode mode, double rate, const std::string& clock_file, const std::string& socket)
    : mode_(mode), rate_(rate) {
    if (clock_file.empty()) return;
    const Fd file(::open(clock_file.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
    void* at = MAP_FAILED;
    if (file && ::ftruncate(file.get(), guest_clock::kPageBytes) == 0)
        at = ::mmap(nullptr, guest_clock::kPageBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
    if (at == MAP_FAILED)
        throw UserError(Problem{"--clock", clock_file + ": " + std::strerror(errno),
                                "a file that can be written and mapped", "give another path"});
    page_ = static_cast<guest_clock::Page*>(at);
    page_->taken = guest_clock::kNoMessages;
    std::strncpy(page_->socket, socket.c_str(), sizeof page_->socket - 1);
    // A guest that starts now sees the wall's clock, which stands still.
    const std::int64_t wall = wall_now();
    line_ = {wall, wall, 0, guest_clock::kNever};
    publish(wall, 0, guest_clock::kNever);
    page_->version = guest_clock::kVersion;
}

Pacer::~Pacer() {
    if (page_ == nullptr) return;
    stop(wall_now());
    ::munmap(page_, guest_clock::kPageBytes);
}

/// While a message is under way, the guest's clock stays at its last value.
std::int64_t Pacer::clock_at(std::int64_t wall) const {
    return clock_at_gone(gone(wall));
}

std::int64_t Pacer::clock_at_gone(std::int64_t gone) const {
    const std::int64_t on_line = line_.guest(gone);
    return message_under_way() ? page_->latest_ns.load() : on_line;
}

void Pacer::publish(std::int64_t wall, double rate, std::int64_t limit) {
    const std::int64_t gone_now = gone(wall);
    line_ = {clock_at_gone(gone_now), gone_now, rate, limit};
    if (page_ != nullptr) guest_clock::write(*page_, line_);
}

void Pacer::start(SimTime model, std::int64_t wall) {
    if (page_ == nullptr) line_ = {wall, wall, 0, guest_clock::kNever};
    publish(wall, rate_, guest_clock::kNever);
    model0_ = model;
    clock0_ = line_.base_ns;
    looked_at_ = wall;
    started_ = true;
    if (page_ != nullptr) page_->taken = 0;
}

void Pacer::stop(std::int64_t wall) {
    // A guest that is still running continues without a drive.
    publish(wall, rate_, guest_clock::kNever);
    if (page_ != nullptr) page_->taken = guest_clock::kNoMessages;
    started_ = false;
}

SimTime Pacer::model_at(std::int64_t wall) const {
    return model0_ + Ps{(clock_at(wall) - clock0_) * 1000};
}

std::int64_t Pacer::wall_at(SimTime model, std::int64_t wall) const {
    if (mode_ == Mode::free || rate_ <= 0) return wall;
    return wall + static_cast<std::int64_t>(static_cast<double>(clock_of(model) - clock_at(wall)) / rate_);
}

void Pacer::look(SimTime model, std::int64_t wall) {
    if (!started_) return;
    const std::int64_t behind = (model_at(wall) - model).count() / 1000;
    const std::int64_t since = wall - std::exchange(looked_at_, wall);
    if (mode_ == Mode::free) return;
    most_behind_ = std::max(most_behind_, behind);
    behind_area_ += static_cast<double>(std::max<std::int64_t>(behind, 0)) * static_cast<double>(since);
    looked_ns_ += static_cast<double>(since);
}

void Pacer::allow(SimTime model, std::int64_t wall) {
    if (page_ == nullptr || !started_) return;
    // After the clock has reached its limit, it stood for the rest of the time.
    const double past =
        static_cast<double>(line_.base_ns) + static_cast<double>(gone(wall) - line_.wall0_ns) * line_.rate;
    if (line_.rate > 0 && past > static_cast<double>(line_.limit_ns) && !message_under_way())
        stood_ += static_cast<std::int64_t>((past - static_cast<double>(line_.limit_ns)) / line_.rate);
    publish(wall, rate_, std::max(clock_of(model), clock_at(wall)));
}

void Pacer::taken(std::uint64_t bytes, std::int64_t wall) {
    if (page_ == nullptr || !started_ || page_->taken == bytes) return;
    publish(wall, rate_, clock_at(wall));  // the clock stops here until the next `allow`
    page_->taken = bytes;
}

}  // namespace ssdtlm::vfio
