// SPDX-License-Identifier: Apache-2.0
// Transfers the data of NVMe commands to and from the host's memory, and for some commands elsewhere. Data read by
// Verify and by a self-test are discarded. Data read by Compare are compared with the host's. Copy and an overwrite
// keep their data in the controller. For blocks with metadata, see protection/metadata_transfers.h.
#pragma once

#include <cstdint>
#include <vector>

#include "common/containers/pool.h"
#include "common/tlm/agenda.h"
#include "controller/nvme/nvme_command.h"
#include "controller/nvme/protection/metadata_transfers.h"

namespace ssdtlm {

/// Every command that comes here is an NvmeCommand.
class NvmeTransfers final : public HostPort {
public:
    NvmeTransfers(Agenda& agenda, DmaPort& dma) : agenda_(agenda), dma_(dma), host_(dma), with_metadata_(agenda, dma) {}

    void to_host(Command& c, std::uint64_t offset, std::uint32_t bytes, const std::uint8_t* data, const DmaThen& then,
                 ByteEnables content, const DmaTerms& terms) override {
        if (auto& command = static_cast<NvmeCommand&>(c); __builtin_expect(command.is_special, 0))
            return take(command, offset, bytes, data, then, content, terms);
        host_.to_host(c, offset, bytes, data, then, content, terms);
    }
    void from_host(Command& c, std::uint64_t offset, std::uint32_t bytes, std::uint8_t* data, const DmaThen& then,
                   ByteEnables content) override {
        if (auto& command = static_cast<NvmeCommand&>(c); __builtin_expect(command.is_special, 0))
            return give(command, offset, bytes, data, then, content);
        host_.from_host(c, offset, bytes, data, then, content);
    }
    /// After a loss of power no transfer is under way.
    void restart() {
        waits_.release_all();
        with_metadata_.restart();
    }

private:
    /// Compare: the host's data, and those of the flash. A read with bit buckets: the bytes that the host wants. Any
    /// other command: an end that is to be reported.
    struct Wait {
        NvmeCommand* command = nullptr;
        const std::uint8_t* data = nullptr;
        std::uint32_t bytes = 0;
        ByteEnables content;
        DmaThen then;
        SimTime from{};  ///< time at which the data of the flash have come
        std::vector<std::uint8_t> gathered;
    };
    void take(NvmeCommand& command, std::uint64_t offset, std::uint32_t bytes, const std::uint8_t* data,
              const DmaThen& then, ByteEnables content, const DmaTerms& terms);
    void give(NvmeCommand& command, std::uint64_t offset, std::uint32_t bytes, std::uint8_t* data, const DmaThen& then,
              ByteEnables content);
    void take_without(const NvmeCommand& c, std::uint64_t offset, std::uint32_t bytes, const std::uint8_t* data,
                      const DmaThen& then, const DmaTerms& terms);
    void written(std::uint64_t wait, DmaEnd end);
    void tell_later(const DmaThen& then, SimTime at);
    void told(std::uint64_t wait);
    void compare(std::uint64_t wait, DmaEnd end);

    Agenda& agenda_;
    DmaPort& dma_;
    DmaTransfers host_;
    MetadataTransfers with_metadata_;
    Pool<Wait> waits_;
    HostSegments segments_;
    std::vector<HostSegment> pieces_;  // scratch
};

}  // namespace ssdtlm
