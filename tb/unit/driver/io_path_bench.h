// SPDX-License-Identifier: Apache-2.0
// An I/O path over the NVMe driver's queues and the fake controller, with bring-up, oracle and somebody who watches.
#pragma once

#include <memory>
#include <vector>

#include "fake_controller.h"
#include "host_pcie/driver/io_path.h"
#include "host_pcie/driver/nvme_queues.h"

namespace ssdtlm {

struct Watcher : CompletionObserver {
    struct Seen {
        std::uint64_t tag;
        Ps sum, host_queue;
        SimTime now, submitted, issued;
        bool measured;
    };
    std::vector<Seen> seen;
    void on_complete(const HostRequest& r, SimTime issued, SimTime submitted, SimTime now, const Timeline& t,
                     bool measured) override {
        seen.push_back({r.tag, t.sum(), t.of(Stage::host_queue), now, submitted, issued, measured});
    }
};

struct Bench {
    Agenda agenda;
    HostMemory memory{4_GiB};
    CommandTracker tracker;
    HostConfig config;
    FakeController device{agenda, memory, tracker};
    Watcher watcher;
    std::unique_ptr<IntegrityOracle> oracle;
    std::unique_ptr<QueuePlan> plan;
    std::unique_ptr<BringUp> bring_up;
    std::unique_ptr<NvmeQueues> queues;
    std::unique_ptr<IoPath> io;
    std::vector<SimTime> finished;

    Bench() {
        config.queue_pairs = 1;
        config.queue_entries = 64;
    }
    /// Bring-up, then the whole workload.
    void run(Workload& workload, bool check = true) {
        if (check)
            oracle = std::make_unique<IntegrityOracle>(IntegrityOracle::Geometry{
                (device.blocks << device.lbads) / 4096, 4096, 1u << device.lbads, device.filled_units, 8});
        plan = std::make_unique<QueuePlan>(config, workload);
        bring_up = std::make_unique<BringUp>(agenda, memory, config, *plan, device);
        queues = std::make_unique<NvmeQueues>(memory, config, device);
        io = std::make_unique<IoPath>(agenda, config, *plan, *queues, workload, &tracker, oracle.get(), &watcher);
        io->set_on_finished([this](SimTime t) { finished.push_back(t); });
        if (config.completion == CompletionBy::poll)
            device.set_written([this](std::uint64_t address) {
                if (queues->count() != 0 && address >= queues->completions_begin())
                    io->interrupt(queues->completing(address));
            });
        device.set_interrupt([this](std::uint64_t, std::uint32_t vector) {
            if (vector == 0)
                bring_up->admin_interrupt();
            else
                io->interrupt(static_cast<std::uint16_t>(vector));
        });
        bring_up->start([this] {
            queues->take(bring_up->info(), bring_up->take_queues());
            io->prepare(bring_up->info());
            io->start();
        });
        agenda.run();
    }
};

}  // namespace ssdtlm
