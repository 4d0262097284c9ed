// SPDX-License-Identifier: Apache-2.0
// The configuration space of the drive's PCIe function: a header of type 0 and the capabilities PM, PCI Express and
// MSI-X (PCI Express Base Specification 5.0, 7.5 and 7.7.2; offsets as in <linux/pci_regs.h>). It has 4 KiB, and is
// empty above 100h because there is no extended capability. write() returns what the write asks the function to do, and
// takes no time.
#pragma once

#include <array>
#include <cstdint>

namespace ssdtlm::vfio {

struct PciFacts {
    std::uint16_t vendor = 0;  ///< as in Identify; Linux distrusts the namespace identifiers of 1B36h:0010h
    std::uint16_t device = 0x0010;
    std::uint32_t bar_bytes = 0;                     ///< size of BAR0, a power of two
    std::uint32_t vectors = 0;                       ///< number of MSI-X vectors
    std::uint32_t table_offset = 0, pba_offset = 0;  ///< offsets in BAR0
    std::uint32_t generation = 3;                    ///< generation of the link
    std::uint32_t lanes = 4;
    std::uint32_t max_payload_bytes = 256;
    std::uint32_t max_read_request_bytes = 512;
};

class PciConfigSpace {
public:
    static constexpr std::uint32_t kBytes = 4096;

    explicit PciConfigSpace(const PciFacts& facts);

    /// Bytes behind the end read as ones, as if no device answered.
    void read(std::uint32_t offset, std::uint8_t* to, std::uint32_t bytes) const;
    /// What a write asks the function to do.
    struct Asked {
        bool reset = false;  ///< Initiate Function Level Reset
    };
    Asked write(std::uint32_t offset, const std::uint8_t* from, std::uint32_t bytes);
    /// Resets the space, as a conventional reset does.
    void reset();
    /// Resets the space, as a function-level reset does: it keeps what describes the link, which goes on (PCI Express
    /// Base Specification 5.0, 6.6.2).
    void reset_function();

    bool is_bus_master() const { return (at16(kCommand) & 4) != 0; }
    bool decodes_memory() const { return (at16(kCommand) & 2) != 0; }
    bool intx_disabled() const { return (at16(kCommand) & 0x400) != 0; }
    bool msix_enabled() const { return (at16(kMsixCap + 2) & 0x8000) != 0; }
    bool sleeps() const { return (bytes_[kPmCap + 4] & 3) != 0; }  ///< in a power state other than D0
    /// Sets the bit of the pin's state in the status register.
    void set_intx(bool asserted);

private:
    static constexpr std::uint32_t kCommand = 0x04, kStatus = 0x06;
    // Two offsets are those of QEMU's own nvme (hw/nvme/ctrl.c). The third capability follows them.
    static constexpr std::uint32_t kPmCap = 0x60, kExpCap = 0x80, kMsixCap = 0xC0;

    void set8(std::uint32_t offset, unsigned value) { bytes_[offset] = static_cast<std::uint8_t>(value); }
    void set16(std::uint32_t offset, unsigned value);
    void set32(std::uint32_t offset, std::uint32_t value);
    void allow16(std::uint32_t offset, unsigned mask);
    void allow32(std::uint32_t offset, std::uint32_t mask);
    unsigned at16(std::uint32_t offset) const { return bytes_[offset] | bytes_[offset + 1] << 8; }

    const PciFacts facts_;
    std::array<std::uint8_t, 256> bytes_{};
    std::array<std::uint8_t, 256> writable_{};
};

}  // namespace ssdtlm::vfio
