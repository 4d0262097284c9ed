// SPDX-License-Identifier: Apache-2.0
// The order of a function-level reset. The write to the configuration space that asks for it pushes earlier writes of
// registers before it, and what the drive has written arrives before the host sees its end. A read of a register does
// both here: one before the reset, and one behind it.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "host_pcie/driver/mmio_port.h"

namespace ssdtlm::vfio {

class FunctionReset {
public:
    /// Resets the drive's function, as Device::function_level_reset() does.
    using Carry = std::function<void(std::function<void()> done)>;

    /// `offset` is that of a register that may be read at any time. `ended` is called at the end of each reset. The
    /// references must outlive this object.
    FunctionReset(MmioPort& mmio, std::uint32_t offset, Carry carry, std::function<void()> ended)
        : mmio_(mmio), offset_(offset), carry_(std::move(carry)), ended_(std::move(ended)) {}
    FunctionReset(const FunctionReset&) = delete;
    FunctionReset& operator=(const FunctionReset&) = delete;

    /// Precondition: no other reset is under way. After a loss of power none is.
    void begin() { mmio_.read32(offset_, before_); }

private:
    struct Read final : MmioClient {
        explicit Read(std::function<void()> t) : then(std::move(t)) {}
        void mmio_read_done(std::uint32_t) override { then(); }
        const std::function<void()> then;
    };
    void carry() {
        carry_([this] { mmio_.read32(offset_, behind_); });
    }

    MmioPort& mmio_;
    const std::uint32_t offset_;
    const Carry carry_;
    const std::function<void()> ended_;
    Read before_{[this] { carry(); }}, behind_{[this] { ended_(); }};
};

}  // namespace ssdtlm::vfio
