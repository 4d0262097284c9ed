// SPDX-License-Identifier: Apache-2.0
#include "host_vfio/session.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace ssdtlm::vfio {

namespace {
/// Result of answer(): the message has been answered, or will be.
constexpr int kAnswered = -1;
}  // namespace

Session::Session(const PciFacts& facts, SessionDevice& device, Send send)
    : irqs(facts.vectors), config_space(facts), facts_(facts), device_(device), send_(std::move(send)) {}

void Session::send_reply(const Header& to, const Bytes& payload) {
    if ((to.flags & kNoReply) == 0) send_(reply(to, payload));
}

bool Session::take(Message& m) {
    ++counters_.messages;
    if (m.is_reply()) return true;  // a reply to a command that the server has given up
    if (!agreed_) {
        // Before a version is agreed on, there is no format for an answer.
        if (m.header.command != static_cast<std::uint16_t>(Command::version) || version(m) != 0) {
            ++counters_.refused;
            send_(error_reply(m.header, EINVAL));
            return false;
        }
        return true;
    }
    const int error = answer(m);
    if (error == kAnswered) return true;
    if (error != 0) ++counters_.refused;
    if (m.wants_reply()) send_(error == 0 ? reply(m.header) : error_reply(m.header, error));
    return true;
}

int Session::version(const Message& m) {
    const std::optional<Version> v = begin_of<Version>(m.payload);
    const std::optional<Capabilities> said = read_capabilities(m.payload);
    if (!v || v->major != 0 || !said) return EINVAL;
    client_ = *said;
    agreed_ = true;
    send_(reply(m.header, version_payload(0, client_)));
    return 0;
}

int Session::answer(Message& m) {
    switch (static_cast<Command>(m.header.command)) {
        case Command::dma_map:
            return dma_map(m);
        case Command::dma_unmap:
            return dma_unmap(m);
        case Command::device_get_info:
            return device_info(m);
        case Command::device_get_region_info:
            return region_info(m);
        case Command::device_get_irq_info:
            return irq_info(m);
        case Command::device_set_irqs:
            return set_irqs(m);
        case Command::region_read:
            return region_read(m);
        case Command::region_write:
            return region_write(m);
        case Command::device_reset:
            if (!m.payload.empty()) return EINVAL;
            reset_owes_reply_ = m.wants_reply();
            reset_header_ = m.header;
            config_space.reset();
            begin_reset();
            return kAnswered;
        case Command::version:  // allowed only once
            return EINVAL;
        case Command::device_get_region_io_fds:
        case Command::region_write_multi:  // not offered, like all other commands
        case Command::device_feature:
        case Command::mig_data_read:
        case Command::mig_data_write:
        case Command::dma_read:
        case Command::dma_write:
            return ENOTSUP;
    }
    return EINVAL;
}

int Session::dma_map(Message& m) {
    const std::optional<DmaMap> what = whole<DmaMap>(m.payload);
    if (!what || m.fds.size() > 1) return EINVAL;
    return regions.map(*what, m.fds.empty() ? Fd() : std::move(m.fds.front()));
}

int Session::dma_unmap(const Message& m) {
    const std::optional<DmaUnmap> what = whole<DmaUnmap>(m.payload);
    if (!what || what->argsz < sizeof *what || what->flags != 0) return EINVAL;
    if (const int error = regions.unmap(what->address, what->size); error != 0) return error;
    send_reply(m.header, m.payload);
    return kAnswered;
}

/// Replies with the whole structure. Its caller has checked that the client has room for it.
template <class T>
void Session::send_info(const Message& m, const T& info) {
    Bytes payload;
    append(payload, info);
    send_reply(m.header, payload);
}

int Session::device_info(const Message& m) {
    const std::optional<DeviceInfo> asked = whole<DeviceInfo>(m.payload);
    if (!asked || asked->argsz < sizeof *asked) return EINVAL;
    send_info(m, DeviceInfo{sizeof(DeviceInfo), kDeviceReset | kDevicePci, kRegions, kIrqs});
    return kAnswered;
}

int Session::region_info(const Message& m) {
    const std::optional<RegionInfo> asked = begin_of<RegionInfo>(m.payload);
    if (!asked || asked->argsz < sizeof *asked || asked->index >= kRegions) return EINVAL;
    RegionInfo info{sizeof(RegionInfo), 0, asked->index, 0, 0, 0};
    info.size = asked->index == kBar0 ? facts_.bar_bytes : asked->index == kConfigSpace ? PciConfigSpace::kBytes : 0;
    if (info.size != 0) info.flags = kRegionRead | kRegionWrite;
    send_info(m, info);
    return kAnswered;
}

int Session::irq_info(const Message& m) {
    const std::optional<IrqInfo> asked = whole<IrqInfo>(m.payload);
    if (!asked || asked->argsz < sizeof *asked || asked->index >= kIrqs) return EINVAL;
    send_info(m, IrqInfo{sizeof(IrqInfo), Irqs::flags(asked->index), asked->index, irqs.count(asked->index)});
    return kAnswered;
}

int Session::set_irqs(Message& m) {
    const std::optional<IrqSet> what = begin_of<IrqSet>(m.payload);
    if (!what) return EINVAL;
    return irqs.set(*what, m.payload.data() + sizeof *what, m.payload.size() - sizeof *what, m.fds);
}

int Session::check(const RegionAccess& access) const {
    const std::uint64_t size = access.region == kBar0          ? facts_.bar_bytes
                               : access.region == kConfigSpace ? PciConfigSpace::kBytes
                                                               : 0;
    return access.count == 0 || access.count > kMostData || access.offset > size || access.count > size - access.offset
               ? EINVAL
               : 0;
}

int Session::region_read(const Message& m) {
    const std::optional<RegionAccess> access = whole<RegionAccess>(m.payload);
    if (!access) return EINVAL;
    if (const int error = check(*access); error != 0) return error;
    if (!m.wants_reply()) return EINVAL;
    ++counters_.reads;
    const auto offset = static_cast<std::uint32_t>(access->offset);
    if (access->region == kConfigSpace) {
        Bytes payload = m.payload;
        payload.resize(sizeof *access + access->count);
        config_space.read(offset, payload.data() + sizeof *access, access->count);
        send_reply(m.header, payload);
        return kAnswered;
    }
    if (reads_ == 0) {
        first_read_ += open_reads_.size();
        open_reads_.clear();
    }
    open_reads_.push_back({m.header, *access, true});
    ++reads_;
    device_.read_bar(offset, access->count, first_read_ + open_reads_.size() - 1);
    return kAnswered;
}

void Session::bar_read(std::uint64_t number, const std::uint8_t* data) {
    if (number < first_read_ || number - first_read_ >= open_reads_.size()) return;  // the read was for a former client
    Read& read = open_reads_[number - first_read_];
    if (!read.open) return;
    read.open = false;
    --reads_;
    Bytes payload;
    append(payload, read.access);
    payload.insert(payload.end(), data, data + read.access.count);
    send_reply(read.header, payload);
}

int Session::region_write(const Message& m) {
    const std::optional<RegionAccess> access = begin_of<RegionAccess>(m.payload);
    if (!access) return EINVAL;
    if (const int error = check(*access); error != 0) return error;
    if (m.payload.size() != sizeof *access + access->count) return EINVAL;
    ++counters_.writes;
    const std::uint8_t* const data = m.payload.data() + sizeof *access;
    const auto offset = static_cast<std::uint32_t>(access->offset);
    bool reset = false;
    if (access->region == kConfigSpace)
        reset = config_space.write(offset, data, access->count).reset;
    else
        device_.write_bar(offset, data, access->count);
    Bytes payload;
    append(payload, *access);
    send_reply(m.header, payload);
    if (!reset) return kAnswered;
    config_space.reset_function();
    begin_reset();
    return kAnswered;
}

void Session::begin_reset() {
    resetting_ = true;
    irqs.set_pin(false);
    device_.reset();
}

void Session::reset_done() {
    if (!std::exchange(resetting_, false)) return;
    if (std::exchange(reset_owes_reply_, false)) send_reply(reset_header_);
}

void Session::end() {
    regions.clear();
    irqs.clear();
    config_space.reset();
    client_ = {};
    agreed_ = resetting_ = reset_owes_reply_ = false;
    first_read_ += open_reads_.size();
    open_reads_.clear();
    reads_ = 0;
}

// ---------------------------------------------------------------------------------------------------------------
// Memory that only the client reaches.

Bytes Session::dma_command(std::uint16_t id, bool write, std::uint64_t address, const std::uint8_t* data,
                           std::uint32_t bytes) const {
    Bytes payload;
    append(payload, DmaAccess{address, bytes});
    if (write) payload.insert(payload.end(), data, data + bytes);
    return command(id, write ? Command::dma_write : Command::dma_read, payload);
}

bool Session::take_dma_reply(const Message& m, bool write, std::uint64_t address, std::uint8_t* to,
                             std::uint32_t bytes) {
    if ((m.header.flags & kError) != 0) return false;
    const std::optional<DmaAccess> access = begin_of<DmaAccess>(m.payload);
    if (!access || access->address != address || access->count != bytes) return false;
    if (write) return true;
    if (m.payload.size() != sizeof *access + bytes) return false;
    std::memcpy(to, m.payload.data() + sizeof *access, bytes);
    return true;
}

}  // namespace ssdtlm::vfio
