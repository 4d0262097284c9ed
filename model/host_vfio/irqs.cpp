// SPDX-License-Identifier: Apache-2.0
#include "host_vfio/irqs.h"

#include <poll.h>

#include <cerrno>

namespace ssdtlm::vfio {

Irqs::Irqs(std::uint32_t vectors) {
    of_[kIntx].resize(1);
    of_[kMsix].resize(vectors);
    of_[kErr].resize(1);
    of_[kReq].resize(1);
}

std::uint32_t Irqs::flags(std::uint32_t index) {
    if (index == kIntx) return kIrqEventfd | kIrqMaskable | kIrqAutomasked;
    return index == kMsi ? 0 : kIrqEventfd | (index == kMsix ? 0 : kIrqNoResize);
}

int Irqs::set(const IrqSet& what, const std::uint8_t* data, std::size_t data_bytes, std::vector<Fd>& fds) {
    constexpr std::uint32_t kData = kSetNone | kSetBool | kSetFd, kAction = kSetMask | kSetUnmask | kSetTrigger;
    const auto one_of = [](std::uint32_t flags) { return flags != 0 && (flags & (flags - 1)) == 0; };
    const std::uint32_t kind = what.flags & kData, action = what.flags & kAction;
    if (what.argsz < sizeof what || (what.flags & ~(kData | kAction)) != 0 || !one_of(kind) || !one_of(action) ||
        what.index >= kIrqs || what.start > count(what.index) || what.count > count(what.index) - what.start)
        return EINVAL;
    if (kind == kSetBool && data_bytes < what.count) return EINVAL;
    if (kind == kSetFd && !fds.empty() && fds.size() != what.count) return EINVAL;
    std::vector<Fd>& of = of_[what.index];
    if (action != kSetTrigger) {
        if (what.index != kIntx) return EINVAL;  // the other interrupts cannot be masked here
        if (kind == kSetFd) return ENOTSUP;
        if (what.count == 1 && (kind == kSetNone || data[0] != 0)) mask(action == kSetMask);
        return 0;
    }
    if (kind == kSetFd) {
        for (std::uint32_t i = 0; i < what.count; ++i) of[what.start + i] = fds.empty() ? Fd() : std::move(fds[i]);
        if (what.index == kIntx) mask(false);
        return 0;
    }
    if (kind == kSetNone && what.count == 0) {
        if (what.start != 0) return EINVAL;
        for (Fd& fd : of) fd.close();
        return 0;
    }
    for (std::uint32_t i = 0; i < what.count; ++i)
        if (kind == kSetNone || data[i] != 0) signal(what.index, what.start + i);
    return 0;
}

bool Irqs::has(std::uint32_t index) const {
    for (const Fd& fd : of_[index])
        if (fd) return true;
    return false;
}

bool Irqs::signal(std::uint32_t index, std::uint32_t number) {
    if (number >= count(index) || !of_[index][number]) return false;
    const std::uint64_t one = 1;
    // A write to a full eventfd is left out, so that a client which does not read cannot block the server.
    pollfd room{of_[index][number].get(), POLLOUT, 0};
    if (::poll(&room, 1, 0) != 1 || (room.revents & POLLOUT) == 0) return false;
    if (::write(of_[index][number].get(), &one, sizeof one) != static_cast<ssize_t>(sizeof one)) return false;
    ++signalled_;
    return true;
}

bool Irqs::is_read(std::uint32_t vector) const {
    if (vector >= count(kMsix) || !of_[kMsix][vector]) return true;
    pollfd unread{of_[kMsix][vector].get(), POLLIN, 0};
    return ::poll(&unread, 1, 0) != 1 || (unread.revents & POLLIN) == 0;
}

void Irqs::set_pin(bool asserted) {
    pin_ = asserted;
    look_at_pin();
}

void Irqs::mask(bool masked) {
    pin_masked_ = masked;
    look_at_pin();
}

void Irqs::look_at_pin() {
    if (pin_ && !pin_masked_ && signal(kIntx, 0)) pin_masked_ = true;
}

void Irqs::clear() {
    for (std::vector<Fd>& of : of_)
        for (Fd& fd : of) fd.close();
    pin_ = pin_masked_ = false;
}

}  // namespace ssdtlm::vfio
