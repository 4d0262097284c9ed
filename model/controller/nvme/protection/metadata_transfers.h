// SPDX-License-Identifier: Apache-2.0
// Moves the data of commands whose blocks have metadata. Metadata in a buffer of their own are a transfer of their own;
// interleaved metadata make the transfer of the data longer. Both go through the DMA engine and the link, which take
// the time. Checks and CRCs take none: hardware computes them while the data pass (assumed).
#pragma once

#include <cstdint>
#include <vector>

#include "common/containers/pool.h"
#include "common/tlm/agenda.h"
#include "controller/nvme/nvme_command.h"

namespace ssdtlm {

class MetadataTransfers {
public:
    MetadataTransfers(Agenda& agenda, DmaPort& dma) : agenda_(agenda), dma_(dma) {}

    // These are HostPort's calls, for a command with SpecialCommand::metadata.
    void to_host(NvmeCommand& c, std::uint64_t offset, std::uint32_t bytes, const std::uint8_t* data,
                 const DmaThen& then, const DmaTerms& terms);
    void from_host(NvmeCommand& c, std::uint64_t offset, std::uint32_t bytes, std::uint8_t* data, const DmaThen& then);
    /// A Compare reads the host's part; the part of the flash is there at `from`.
    void compare(NvmeCommand& c, std::uint64_t offset, std::uint32_t bytes, const std::uint8_t* data,
                 const DmaThen& then, SimTime from);
    /// After a loss of power no transfer is under way.
    void restart() { moves_.release_all(); }

private:
    enum class Kind : std::uint8_t { to_host, write, compare };
    struct Move {
        Kind kind = Kind::to_host;
        std::uint8_t pending = 0;  ///< transfers that have not ended
        NvmeCommand* command = nullptr;
        std::uint64_t offset = 0;
        std::uint32_t bytes = 0;
        std::uint8_t* to = nullptr;              ///< write: the firmware's buffer
        const std::uint8_t* of_drive = nullptr;  ///< compare: the data of the flash, which stay until the end
        SimTime from{};                          ///< compare: when they have come
        DmaThen then;
        DmaEnd end;  ///< of those that have ended, the last
        std::vector<std::uint8_t> data, metadata;
    };
    Move& begin(Kind kind, NvmeCommand& c, std::uint64_t offset, std::uint32_t bytes, const DmaThen& then);
    void read_host(Move& m);
    void transferred(std::uint64_t move, DmaEnd end);
    void not_wanted(std::uint64_t move) { transferred(move, {agenda_.now()}); }
    void ended(Move& m, std::uint64_t move);
    void sent(std::uint64_t move) { moves_.release(moves_.at(move)); }
    void compared(std::uint64_t move);

    Agenda& agenda_;
    DmaPort& dma_;
    Pool<Move> moves_;
    std::vector<HostSegment> segments_;  // scratch
    std::vector<std::uint8_t> wanted_;   // scratch
};

}  // namespace ssdtlm
