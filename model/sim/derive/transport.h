// SPDX-License-Identifier: Apache-2.0
// The time that a single command takes between its host and the drive's firmware, for each front end. For a Serial ATA
// link there is also the traffic of a command.
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
    /// Time in which the data of one page go to the host. The data of the next page follow.
    virtual double page_to_host(std::uint32_t bytes) const = 0;
    /// Time after the data of all pages have arrived, until the read ends.
    virtual double rest_of_read(std::uint32_t bytes) const = 0;
    /// Time from when the firmware has the command until its data are there. `firmware`: how long the firmware works on
    /// it.
    virtual double to_drive(std::uint32_t bytes, double firmware) const = 0;
    /// Time from the end of all work until the host knows about it.
    virtual double completion(HostOp op, std::uint32_t bytes) const = 0;
};

/// Returns the transport of the drive's front end. Null: there is no formula for this front end, or for Serial ATA
/// without queued commands.
std::unique_ptr<Transport> transport_of(const SsdConfig& c);

/// The traffic of a command on the wire of a Serial ATA link. It is a queued command, unless host.sata.ncq is false.
struct SataTraffic {
    double bytes_per_second = 0;
    double least = 0;  ///< bytes; several commands share a Set Device Bits
    double most = 0;   ///< bytes; each has its own
};
/// Precondition: frontend.kind = "sata".
SataTraffic sata_traffic(const SsdConfig& c, HostOp op, std::uint32_t bytes);

}  // namespace ssdtlm
