// SPDX-License-Identifier: Apache-2.0
#include "sim/config/parameters.h"

namespace ssdtlm {

void add_host_parameters(std::vector<SsdParameter>& table) {
    using P = ParameterOf<SsdConfig>;
    table.push_back(
        P::integer(
            "host.queue_pairs", [](auto& c) -> auto& { return c.host.queue_pairs; })
            .range("1", "64")
            .says("I/O queue pairs; job i of a tenant uses that tenant's pairs in turn")
            .from("assumed: one per core of an 8-core host, as Linux drivers/nvme/host/pci.c creates them"));
    table.push_back(P::boolean(
                        "host.streams", [](auto& c) -> auto& { return c.host.streams; })
                        .says("The driver enables the Streams directive, and a write says which stream its data belongs to (fio's "
                              "write_hint); the drive must have nvme.streams")
                        .from("Linux drivers/nvme/host/core.c 4.13 to 5.16: module parameter streams, off"));
    table.push_back(P::choice(
                        "host.tenants", {"one", "by_job"}, [](auto& c) -> auto& { return c.host.tenants; })
                        .says("Whom the jobs of a workload work for: all for one, or each section of a job file and each job of "
                              "a trace for a tenant of its own, with submission queues of its own, whose commands the drive "
                              "can tell apart")
                        .from("one: a host that tells the drive nothing"));
    table.push_back(P::integers(
                        "host.queue_priorities", [](auto& c) -> auto& { return c.host.queue_priorities; })
                        .range("0", "3")
                        .says("Priority of a tenant's submission queues (QPRIO: 0 urgent, 1 high, 2 medium, 3 low), tenant by "
                              "tenant; those left out: 0. What the drive makes of it: nvme.latency_targets")
                        .from("Linux drivers/nvme/host/pci.c: 0, except on drives with a quirk")
                        .only_with("nvme.latency_targets != none").only_with("scheduler.policy != fifo|read_first"));
    table.push_back(P::integer(
                        "host.queue_entries", [](auto& c) -> auto& { return c.host.queue_entries; })
                        .range("2", "65536")
                        .says("Entries of each I/O submission and completion queue; one less can be in use")
                        .from("Linux drivers/nvme/host/pci.c io_queue_depth = 1024"));
    table.push_back(P::integer(
                        "host.admin_entries", [](auto& c) -> auto& { return c.host.admin_entries; })
                        .range("2", "4096")
                        .says("Entries of the admin queues")
                        .from("Linux drivers/nvme/host/nvme.h NVME_AQ_DEPTH = 32"));
    table.push_back(
        P::quantity(
            "host.buffer_offset", Dimension::bytes, [](auto& c) -> auto& { return c.host.buffer_offset; })
            .range("0B", "4092B")
            .multiple_of("4B")
            .says("Offset of data buffers in their first page; above 0 the first PRP entry has an offset and "
                  "transfers touch one page more")
            .from("page-aligned buffers, as O_DIRECT users allocate them"));
    table.push_back(P::quantity(
                        "host.submit_time", Dimension::time, [](auto& c) -> auto& { return c.host.submit_time; })
                        .range("0s", "1ms")
                        .says("CPU time of one submission before the doorbell store; serial on each queue pair's CPU")
                        .from("0: an infinitely fast host, so that the drive is the limit"));
    table.push_back(
        P::quantity(
            "host.completion_time", Dimension::time, [](auto& c) -> auto& { return c.host.completion_time; })
            .range("0s", "1ms")
            .says("CPU time of one completion in the interrupt handler; serial on each queue pair's CPU")
            .from("0: an infinitely fast host, so that the drive is the limit"));
    table.push_back(
        P::quantity(
            "host.interrupt_latency", Dimension::time, [](auto& c) -> auto& { return c.host.interrupt_latency; })
            .range("0s", "1ms")
            .says("From the MSI-X write at the root complex to the handler's first instruction")
            .from("0: an infinitely fast host, so that the drive is the limit"));
    table.push_back(P::times(
                        "host.reset_at", [](auto& c) -> auto& { return c.host.reset_at; })
                        .range("0s", "1000000s")
                        .or_none()
                        .says("When, from the start of I/O, the driver resets the controller (CC.EN) under whatever is "
                              "going on; commands in the device are cancelled and submitted again")
                        .from("none"));
    table.push_back(P::times(
                        "host.power_cut_at", [](auto& c) -> auto& { return c.host.power_cut_at; })
                        .range("0s", "1000000s")
                        .or_none()
                        .says("When, from the start of I/O, the drive loses its power: what is not in flash is gone, pages being "
                              "programmed are torn, and the map is searched for in all pages before the drive is ready again; "
                              "commands in the device are cancelled and submitted again")
                        .from("none"));
    table.push_back(P::quantity(
                        "host.power_off_time", Dimension::time, [](auto& c) -> auto& { return c.host.power_off_time; })
                        .range("1us", "1000s")
                        .says("For how long the power is off each time, until the link is up again")
                        .from("assumed")
                        .only_with("host.power_cut_at != none"));
    table.push_back(P::boolean(
                        "host.power_cut_shutdown", [](auto& c) -> auto& { return c.host.power_cut_shutdown; })
                        .says("A normal shutdown (CC.SHN) before each of these losses, which comes when the drive has answered it; commands that are "
                              "not in the drive yet wait for the power to be back")
                        .from("assumed: no warning")
                        .only_with("host.power_cut_at != none"));
    table.push_back(P::boolean(
                        "host.reset_shutdown", [](auto& c) -> auto& { return c.host.reset_shutdown; })
                        .says("A normal shutdown (CC.SHN) before each of these resets; without it the drive's SMART log "
                              "counts an unsafe shutdown")
                        .from("Linux drivers/nvme/host/pci.c nvme_dev_disable: a reset does not shut down")
                        .only_with("host.reset_at != none"));
}

}  // namespace ssdtlm
