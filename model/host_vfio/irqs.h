// SPDX-License-Identifier: Apache-2.0
// The interrupts of a client: which eventfd each of them writes. Tables and masks of MSI-X are the client's (QEMU keeps
// them itself); the pin is masked by each of its interrupts until the client has unmasked it, as VFIO does it.
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

    /// 0, or an errno. `data`: what follows the structure; `fds`: what came with the message.
    int set(const IrqSet& what, const std::uint8_t* data, std::size_t data_bytes, std::vector<Fd>& fds);
    /// A message of this vector has come. False: nobody has asked for it.
    bool message(std::uint32_t vector) { return signal(kMsix, vector); }
    /// The client has read all messages of this vector, or has not asked for them.
    bool is_read(std::uint32_t vector) const;
    bool has_messages() const { return has(kMsix); }
    bool has_pin() const { return has(kIntx); }
    /// The pin is at this level from now on.
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
