// SPDX-License-Identifier: Apache-2.0
// The interrupts of a client, and the eventfd of each. The client keeps the tables and masks of MSI-X itself, as QEMU
// does. Each interrupt of the pin masks it until the client unmasks it, as VFIO does.
#pragma once

#include <cstdint>
#include <vector>

#include "host_vfio/message.h"
#include "host_vfio/protocol.h"

namespace ssdtlm::vfio {

class Irqs {
public:
    explicit Irqs(std::uint32_t vectors);

    std::uint32_t count(std::uint32_t index) const {
        return index < kIrqs ? static_cast<std::uint32_t>(of_[index].size()) : 0;
    }
    static std::uint32_t flags(std::uint32_t index);

    /// Returns 0 or an errno. `data` is what follows the structure, and `fds` came with the message.
    int set(const IrqSet& what, const std::uint8_t* data, std::size_t data_bytes, std::vector<Fd>& fds);
    /// Signals that a message of this vector has come. Returns false if the client has no eventfd for it.
    bool message(std::uint32_t vector) { return signal(kMsix, vector); }
    /// True if the client has read all messages of this vector, or has not asked for them.
    bool is_read(std::uint32_t vector) const;
    bool has_messages() const { return has(kMsix); }
    bool has_pin() const { return has(kIntx); }
    /// Sets the level of the pin.
    void set_pin(bool asserted);
    bool pin() const { return pin_; }
    void clear();

    std::uint64_t signalled() const { return signalled_; }

private:
    bool has(std::uint32_t index) const;
    bool signal(std::uint32_t index, std::uint32_t number);
    void mask(bool masked);
    void look_at_pin();

    std::vector<Fd> of_[kIrqs];
    bool pin_ = false, pin_masked_ = false;
    std::uint64_t signalled_ = 0;
};

}  // namespace ssdtlm::vfio
