// SPDX-License-Identifier: Apache-2.0
// What a command that is alone waits for between its host and the drive's firmware, by the drive's front end, and what
// it puts on a Serial ATA link.
#pragma once

#include <cstdint>
#include <memory>

#include "host_pcie/ports/host_request.h"
#include "sim/sim_config.h"

namespace ssdtlm {

/// Seconds, without CPU time of the host.
class Transport {
public:
    Transport() = default;
    Transport(const Transport&) = delete;
    Transport& operator=(const Transport&) = delete;
    virtual ~Transport() = default;

    /// The request is issued -> the firmware has the command.
    virtual double submission(std::uint32_t bytes) const = 0;
    /// Data of one page on their way to the host, before those of the next.
    virtual double page_to_host(std::uint32_t bytes) const = 0;
    /// What follows when the data of all pages are there.
    virtual double rest_of_read(std::uint32_t bytes) const = 0;
    /// The firmware has the command, and works on it for so long -> its data are there.
    virtual double to_drive(std::uint32_t bytes, double firmware) const = 0;
    /// All is done -> the host knows.
    virtual double completion(HostOp op, std::uint32_t bytes) const = 0;
};

/// Null: no formula is here for that front end, or for commands over Serial ATA that are not queued.
std::unique_ptr<Transport> transport_of(const SsdConfig& c);

/// Of a queued command, or of one that is not queued (host.sata.ncq = false), on the wire of a Serial ATA link.
struct SataTraffic {
    double bytes_per_second = 0;
    double least = 0;  ///< bytes; several commands share a Set Device Bits
    double most = 0;   ///< bytes; each has its own
};
/// Precondition: frontend.kind = "sata".
SataTraffic sata_traffic(const SsdConfig& c, HostOp op, std::uint32_t bytes);

}  // namespace ssdtlm
