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
                        .says("The driver enables the Streams directive, and a write says to which stream its data "
                              "belongs (fio's write_hint). The "
                              "drive must have nvme.streams")
                        .from("Linux drivers/nvme/host/core.c 4.13 to 5.16: module parameter streams, off"));
    table.push_back(P::choice(
                        "host.tenants", {"one", "by_job"}, [](auto& c) -> auto& { return c.host.tenants; })
                        .says("For whom the jobs of a workload work. one: the drive cannot tell the jobs apart; "
                              "by_job: each section of a job file, and each "
                              "job of a trace, is a tenant; of several workloads (-w), each workload is one. A tenant "
                              "has submission queues of its own, so the drive can tell its commands apart. A run of "
                              "several workloads has by_job unless this is set")
                        .from("one: a host that tells the drive nothing"));
    table.push_back(P::text(
                        "host.regions", [](auto& c) -> auto& { return c.host.regions; })
                        .says("Addresses of each workload of the run, in the order of -w, separated by commas: "
                              "\"0%-25%\" or \"1GiB-3GiB\" of the drive, \"set 2\" for the second of "
                              "ftl.nvm_sets, \"namespace 2\" of nvme.namespaces, or \"all\". A workload sees its "
                              "region as a drive of that size. "
                              "Workloads beyond the list have the whole drive")
                        .from("assumed: as partitions of a drive"));
    table.push_back(P::integers(
                        "host.queue_priorities", [](auto& c) -> auto& { return c.host.queue_priorities; })
                        .range("0", "3")
                        .says("Priority of each tenant's submission queues, in order of the tenants (QPRIO: 0 urgent, "
                              "1 high, 2 medium, 3 low). "
                              "Tenants beyond the list have 0. nvme.latency_targets turns priorities into deadlines")
                        .from("Linux drivers/nvme/host/pci.c: 0, except on drives with a quirk")
                        .only_with("host.arbitration = weighted or nvme.latency_targets != none or scheduler.policy = "
                                   "priority_classes|weighted_priorities")
                        .only_with("host.arbitration = weighted or scheduler.policy != fifo|read_first"));
    table.push_back(
        P::choice(
            "host.arbitration", {"round_robin", "weighted"}, [](auto& c) -> auto& { return c.host.arbitration; })
            .says("How the drive chooses among submission queues that wait for a fetch (CC.AMS). weighted: "
                  "urgent queues (host.queue_priorities) come first, and high, medium and low ones share "
                  "what is left by host.arbitration_weights. The drive must have nvme.weighted_round_robin")
            .from("Linux drivers/nvme/host/core.c: round robin"));
    table.push_back(P::integers(
                        "host.arbitration_weights", [](auto& c) -> auto& { return c.host.arbitration_weights; })
                        .range("1", "256")
                        .says("Commands of high, medium and low queues in a round of the weighted round robin, which "
                              "the driver sets (Feature 01h HPW, MPW, LPW, one more than the field). Three numbers")
                        .from("SPDK include/spdk/nvme.h: high_, medium_ and low_priority_weight are 0, which is one")
                        .only_with("host.arbitration = weighted"));
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
    table.push_back(P::quantity(
                        "host.buffer_offset", Dimension::bytes, [](auto& c) -> auto& { return c.host.buffer_offset; })
                        .range("0B", "4092B")
                        .multiple_of("4B")
                        .says("Offset of data buffers in their first page. Above 0 the first PRP entry has an offset, "
                              "and a transfer touches one page more")
                        .from("page-aligned buffers, as O_DIRECT users allocate them"));
    table.push_back(P::quantity(
                        "host.submit_time", Dimension::time, [](auto& c) -> auto& { return c.host.submit_time; })
                        .range("0s", "1ms")
                        .says("CPU time of one submission before the doorbell store; serial on the core of its queue "
                              "pair (host.cores)")
                        .from("0: an infinitely fast host, so that the drive is the limit"));
    table.push_back(
        P::quantity(
            "host.completion_time", Dimension::time, [](auto& c) -> auto& { return c.host.completion_time; })
            .range("0s", "1ms")
            .says("CPU time of one completion; serial on the core of its queue pair (host.cores)")
            .from("0: an infinitely fast host, so that the drive is the limit"));
    const auto page_time = [&](const char* key, auto get, const char* says, const char* source) {
        table.push_back(P::quantity(key, Dimension::time, get).range("0s", "100us").says(says).from(source));
    };
    page_time(
        "host.submit_page_time_read", [](auto& c) -> auto& { return c.host.submit_page_time.read; },
        "CPU time of the submission of a read for each page of memory (4 KiB) that its data touch, beside "
        "host.submit_time: pinning and mapping the page",
        "0: an infinitely fast host. Linux takes about 62 ns to pin a 4 KiB page (gup_test in commit a03db236aebf)");
    page_time(
        "host.submit_page_time_write", [](auto& c) -> auto& { return c.host.submit_page_time.write; },
        "The same for a write: pinning and mapping the page, and whatever fills it",
        "0: an infinitely fast host. fio changes 16 cache lines of each 4 KiB before it writes it (scramble_buffers)");
    page_time(
        "host.completion_page_time_read", [](auto& c) -> auto& { return c.host.completion_page_time.read; },
        "CPU time of the completion of a read for each page of memory (4 KiB) that its data touch, beside "
        "host.completion_time: unmapping and unpinning the page",
        "0: an infinitely fast host. Linux takes about 15 ns to unpin a 4 KiB page (gup_test in commit a03db236aebf)");
    page_time(
        "host.completion_page_time_write", [](auto& c) -> auto& { return c.host.completion_page_time.write; },
        "The same for a write",
        "0: an infinitely fast host. Linux takes about 15 ns to unpin a 4 KiB page (gup_test in commit a03db236aebf)");
    table.push_back(
        P::integer(
            "host.cores", [](auto& c) -> auto& { return c.host.cores; })
            .range("0", "64")
            .says("CPU cores that do I/O. Core c has the queue pairs c, c + host.cores, ...: it submits to them and "
                  "takes their completions, and so the jobs of these pairs are bound to it. 0: each queue pair has a "
                  "core of its own")
            .from("0: as Linux, which makes a queue pair for each core"));
    table.push_back(
        P::choice(
            "host.completion", {"interrupt", "poll"}, [](auto& c) -> auto& { return c.host.completion; })
            .says("How the host learns that a command has ended. interrupt: by MSI-X; poll: a core looks at its "
                  "completion queues whenever it has nothing else to do, and the drive sends no interrupts")
            .from("Linux drivers/nvme/host/pci.c: interrupts, except for poll_queues"));
    table.push_back(P::quantity(
                        "host.interrupt_time", Dimension::time, [](auto& c) -> auto& { return c.host.interrupt_time; })
                        .range("0s", "1ms")
                        .says("CPU time of one run of the interrupt handler beside that of its completions: entry, "
                              "exit, waking the job")
                        .from("0: an infinitely fast host, so that the drive is the limit")
                        .only_with("host.completion = interrupt"));
    table.push_back(
        P::quantity(
            "host.poll_time", Dimension::time, [](auto& c) -> auto& { return c.host.poll_time; })
            .range("0s", "1ms")
            .says("CPU time of one look at the completion queues of a core that polls. Looks follow each other while "
                  "the core has nothing else to do; an entry is seen at the end of the next look")
            .from("assumed: a cache miss on the entry, which the device has just written")
            .only_with("host.completion = poll"));
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
                        .says("Times, from the start of I/O, at which the driver resets the controller (CC.EN). "
                              "Commands in the device are cancelled "
                              "and submitted again")
                        .from("none"));
    table.push_back(P::times(
                        "host.power_cut_at", [](auto& c) -> auto& { return c.host.power_cut_at; })
                        .range("0s", "1000000s")
                        .or_none()
                        .says("Times, from the start of I/O, at which the drive loses its power. Data that is not in "
                              "flash is lost, and pages that "
                              "are being programmed are torn. The map is searched for before the drive is ready again. "
                              "Commands in the device are "
                              "cancelled and submitted again")
                        .from("none"));
    table.push_back(P::quantity(
                        "host.power_off_time", Dimension::time, [](auto& c) -> auto& { return c.host.power_off_time; })
                        .range("1us", "1000s")
                        .says("For how long the power is off each time, until the link is up again")
                        .from("assumed")
                        .only_with("host.power_cut_at != none"));
    table.push_back(P::boolean(
                        "host.power_cut_shutdown", [](auto& c) -> auto& { return c.host.power_cut_shutdown; })
                        .says("The host shuts the drive down (CC.SHN) before each loss of power. The power goes when "
                              "the drive has answered. Commands "
                              "that are not in the drive yet wait until the power is back")
                        .from("assumed: no warning")
                        .only_with("host.power_cut_at != none"));
    table.push_back(P::boolean(
                        "host.reset_shutdown", [](auto& c) -> auto& { return c.host.reset_shutdown; })
                        .says("The host shuts the drive down (CC.SHN) before each reset. Without it what the write "
                              "buffer holds stays there")
                        .from("Linux drivers/nvme/host/pci.c nvme_dev_disable: a reset does not shut down")
                        .only_with("host.reset_at != none"));
}

}  // namespace ssdtlm
