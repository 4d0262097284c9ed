// SPDX-License-Identifier: Apache-2.0
// The parts of a served drive outside the simulation: the socket, the pace, the signals, and the commands of the guest
// as a workload. They are made before the simulation and read after it.
#pragma once

#include <csignal>
#include <cstdint>
#include <deque>
#include <string>

#include "host_pcie/ports/host_request.h"
#include "host_vfio/fd.h"
#include "host_vfio/message_socket.h"
#include "host_vfio/pacer.h"

namespace ssdtlm {

/// A workload of the commands that the guest's driver has announced. It lasts until end().
class GuestCommands final : public Workload {
public:
    /// One job for each queue pair that a guest may have.
    explicit GuestCommands(std::uint32_t queue_pairs) : queue_pairs_(queue_pairs) {}

    void announced(const HostRequest& request) { waiting_.push_back(request); }
    /// Drops the commands that the I/O path has not taken, and returns their number.
    std::size_t forget();
    void end() { over_ = true; }

    Next next(SimTime now) override;
    void completed(const HostRequest&, SimTime, SimTime, SimTime, bool) override {}
    std::uint32_t jobs() const override { return queue_pairs_; }
    std::uint32_t depth(std::uint32_t) const override { return 1; }
    double progress(SimTime) const override { return over_ ? 1 : 0; }
    bool measuring(const HostRequest&, SimTime) const override { return true; }

private:
    const std::uint32_t queue_pairs_;
    std::deque<HostRequest> waiting_;
    bool over_ = false;
};

/// SIGINT, SIGTERM and SIGHUP end the service, and SIGUSR1 cuts the power. They are read from a file descriptor, so
/// that a wait for a client wakes up. The first SIGINT, SIGTERM or SIGHUP restores their former handlers.
class ServiceSignals {
public:
    ServiceSignals();
    ~ServiceSignals() { give_back(); }
    ServiceSignals(const ServiceSignals&) = delete;
    ServiceSignals& operator=(const ServiceSignals&) = delete;

    int fd() const { return fd_.get(); }
    /// Reads the signals that have come since the last call.
    void read();
    bool end_wanted() const { return end_; }
    bool take_power_cut();

private:
    void give_back();

    vfio::Fd fd_;
    sigset_t before_{};
    bool held_ = false, end_ = false, cut_ = false;
};

struct GuestServiceOptions {
    std::string socket;  ///< path
    vfio::Pacer::Mode pace = vfio::Pacer::Mode::wall;
    double rate = 1;    ///< simulated time per wall time
    std::string clock;  ///< file of the guest's clock; empty: none
    bool stop_after_disconnect = false;
};

struct GuestService {
    /// `c` must outlive it.
    GuestService(const GuestServiceOptions& o, GuestCommands& c)
        : options(o),
          pacer(o.pace, o.rate, o.clock, vfio::MessageSocket::address_at(o.socket)),
          commands(c),
          socket(o.socket) {}

    const GuestServiceOptions options;
    vfio::Pacer pacer;
    ServiceSignals signals;
    GuestCommands& commands;
    vfio::MessageSocket socket;              ///< last member: a client that sees it finds the others ready
    std::uint64_t clients = 0, dropped = 0;  ///< clients, and those dropped because they broke the protocol
};

}  // namespace ssdtlm
