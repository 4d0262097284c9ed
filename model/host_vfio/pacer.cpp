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

Pacer::Pacer(Mode mode, double rate, const std::string& clock_file) : mode_(mode), rate_(rate) {
    if (clock_file.empty()) return;
    const Fd file(::open(clock_file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
    void* at = MAP_FAILED;
    if (file && ::ftruncate(file.get(), ClockPage::kBytes) == 0)
        at = ::mmap(nullptr, ClockPage::kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
    if (at == MAP_FAILED)
        throw UserError(Problem{"--clock", clock_file + ": " + std::strerror(errno),
                                "a file that can be written and mapped", "give another path"});
    page_ = static_cast<ClockPage*>(at);
    page_->version = 1;
    const std::int64_t wall = wall_now();
    base_ = wall0_ = wall;  // a guest that starts now sees the wall's clock, which stands
    publish(wall, 0);
}

Pacer::~Pacer() {
    if (page_ == nullptr) return;
    // Whoever goes on after us needs a clock that goes.
    publish(wall_now(), rate_);
    ::munmap(page_, ClockPage::kBytes);
}

std::int64_t Pacer::clock_at(std::int64_t wall) const {
    return base_ + static_cast<std::int64_t>(static_cast<double>(wall - wall0_) * now_rate_);
}

void Pacer::publish(std::int64_t wall, double rate) {
    base_ = clock_at(wall);
    wall0_ = wall;
    now_rate_ = rate;
    if (page_ == nullptr) return;
    auto* const seq = reinterpret_cast<std::atomic<std::uint64_t>*>(&page_->seq);
    seq->fetch_add(1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    page_->base_ns = base_;
    page_->wall0_ns = wall0_;
    page_->rate = now_rate_;
    seq->fetch_add(1, std::memory_order_release);
}

void Pacer::start(SimTime model, std::int64_t wall) {
    if (page_ == nullptr) base_ = wall0_ = wall;
    publish(wall, rate_);
    model0_ = model;
    clock0_ = base_;
    looked_at_ = wall;
    started_ = true;
}

void Pacer::stop(std::int64_t wall) {
    // A guest that is still there goes on, without a drive.
    publish(wall, rate_);
    started_ = false;
}

SimTime Pacer::model_at(std::int64_t wall) const {
    return model0_ + Ps{(clock_at(wall) - clock0_) * 1000};
}

std::int64_t Pacer::wall_at(SimTime model, std::int64_t wall) const {
    if (mode_ == Mode::free || now_rate_ <= 0) return wall;
    const std::int64_t clock = clock0_ + (model - model0_).count() / 1000;
    return wall0_ + static_cast<std::int64_t>(static_cast<double>(clock - base_) / now_rate_);
}

void Pacer::look(SimTime model, std::int64_t wall) {
    if (!started_) return;
    const std::int64_t behind = (model_at(wall) - model).count() / 1000;
    const std::int64_t since = wall - std::exchange(looked_at_, wall);
    if (mode_ == Mode::free) return;
    most_behind_ = std::max(most_behind_, behind);
    behind_area_ += static_cast<double>(std::max<std::int64_t>(behind, 0)) * static_cast<double>(since);
    looked_ns_ += static_cast<double>(since);
    if (page_ == nullptr) return;
    if (now_rate_ <= 0) stood_ += since;
    if (now_rate_ > 0 && behind > kAhead)
        publish(wall, 0);
    else if (now_rate_ <= 0 && behind <= 0)
        publish(wall, rate_);
}

}  // namespace ssdtlm::vfio
