// SPDX-License-Identifier: Apache-2.0
// The time that a single command waits between its host and the drive's firmware, for each front end. For a Serial ATA
// link it also gives a command's traffic.
#pragma once

#include <cstdint>
#include <memory>

#include "host_pcie/ports/host_request.h"
#include "sim/sim_config.h"

namespace ssdtlm {

/// Times in seconds, without CPU time of the host.
class Transport {
public:
    Transport() = default;
    Transport(const Transport&) = delete;
    Transport& operator=(const Transport&) = delete;
    virtual ~Transport() = default;

    /// Time from the issue of the request until the firmware has the command.
    virtual double submission(std::uint32_t bytes) const = 0;
    /// Time in which data of one page go to the host, before those of the next page.
    virtual double page_to_host(std::uint32_t bytes) const = 0;
    /// Time that follows when the data of all pages are there.
    virtual double rest_of_read(std::uint32_t bytes) const = 0;
    /// Time from when the firmware has the command until its data are there. `firmware`: how long the firmware works on
    /// it.
    virtual double to_drive(std::uint32_t bytes, double firmware) const = 0;
    /// Time from the end of all work until the host knows it.
    virtual double completion(HostOp op, std::uint32_t bytes) const = 0;
};

/// The transport of the drive's front end. Null: there is no formula for that front end, or for commands over Serial
/// ATA that are not queued.
std::unique_ptr<Transport> transport_of(const SsdConfig& c);

/// Traffic of a queued command, or of one that is not queued (host.sata.ncq = false), on the wire of a Serial ATA link.
struct SataTraffic {
    double bytes_per_second = 0;
    double least = 0;  ///< bytes; several commands share a Set Device Bits
    double most = 0;   ///< bytes; each has its own
};
/// Precondition: frontend.kind = "sata".
SataTraffic sata_traffic(const SsdConfig& c, HostOp op, std::uint32_t bytes);

}  // namespace ssdtlm
