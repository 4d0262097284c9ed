// SPDX-License-Identifier: Apache-2.0
#include "host_sata/link/sata_wire.h"

#include <fmt/format.h>

#include "common/report/error.h"

namespace ssdtlm {

namespace {

// SOF and CRC are counted with the FIS, and EOF follows them.
constexpr std::uint32_t kDword = 4;

const SataLinkConfig& checked(const SataLinkConfig& c) {
    SSDTLM_CHECK(
        c.host_generation >= 1 && c.host_generation <= 3 && c.device_generation >= 1 && c.device_generation <= 3,
        "a generation of Serial ATA outside 1..3");
    return c;
}

}  // namespace

SataWire::SataWire(const SataLinkConfig& config)
    : rate_(checked(config).rate()),
      front_bytes_(kDword * (config.handshake_dwords * 2 / 5 + 1)),
      back_bytes_(kDword * (config.handshake_dwords - config.handshake_dwords * 2 / 5 + 1)) {}

Ps SataWire::frame_time(std::uint32_t bytes) const {
    return rate_.time_for(front_bytes_ + bytes + kDword + back_bytes_);
}

void SataWire::ask(SataEnd from, std::uint64_t token, std::uint32_t bytes, SimTime now, bool continues) {
    Frame f;
    f.token = token;
    f.from = from;
    f.bytes = bytes;
    f.continues = continues;
    f.asked = now;
    waiting_[index(from)].push_back(f);
}

/// Chooses between two waiting frames.
bool SataWire::host_goes_first() const {
    const Frame& device = waiting_[index(SataEnd::device)].front();
    return !device.continues && waiting_[index(SataEnd::host)].front().asked < device.asked;
}

const SataWire::Frame* SataWire::grant(SimTime now) {
    auto& device = waiting_[index(SataEnd::device)];
    auto& host = waiting_[index(SataEnd::host)];
    if (taken_) {
        if (carried_.from != SataEnd::host || carried_.begins != now || device.empty()) return nullptr;
        host.push_front(carried_);
        if (host_goes_first()) {
            host.pop_front();
            return nullptr;
        }
        ++counts_.collisions;
        taken_ = false;
    }
    if (device.empty() && host.empty()) return nullptr;
    auto& next = device.empty() || (!host.empty() && host_goes_first()) ? host : device;
    carried_ = next.front();
    next.pop_front();
    taken_ = true;
    carried_.number = ++granted_;
    carried_.begins = now;
    carried_.arrives = now + rate_.time_for(front_bytes_ + carried_.bytes + kDword);
    carried_.ends = now + frame_time(carried_.bytes);
    return &carried_;
}

SimTime SataWire::answered(SimTime now) {
    if (now > carried_.arrives) carried_.ends = std::max(carried_.ends, now + rate_.time_for(back_bytes_));
    return carried_.ends;
}

void SataWire::release(SimTime now, bool ok) {
    SSDTLM_CHECK(taken_, "a wire is released that is free");
    taken_ = false;
    counts_.busy += now - carried_.begins;
    const std::size_t from = index(carried_.from);
    if (ok) {
        ++counts_.frames[from];
        counts_.bytes[from] += carried_.bytes;
    } else {
        ++counts_.errors[from];
    }
}

std::string SataWire::dump() const {
    std::string out = fmt::format("sata link: {} frames of the host wait, {} of the drive",
                                  waiting_[index(SataEnd::host)].size(), waiting_[index(SataEnd::device)].size());
    if (taken_)
        out +=
            fmt::format("; on the wire: {} bytes from the {} since {} ps", carried_.bytes,
                        carried_.from == SataEnd::host ? "host" : "drive", carried_.begins.time_since_epoch().count());
    return out + "\n";
}

void SataWire::check_waiters() const {
    if (!taken_ && !(waiting_[0].empty() && waiting_[1].empty()))
        throw CheckFailed("sata link: frames wait, and the wire is free\n" + dump());
}

}  // namespace ssdtlm
