// SPDX-License-Identifier: Apache-2.0
#include "sim/config/parameters.h"

namespace ssdtlm {

void add_nvme_parameters(std::vector<SsdParameter>& table) {
    using P = ParameterOf<SsdConfig>;
    table.push_back(P::integer(
                        "nvme.max_queue_pairs", [](auto& c) -> auto& { return c.nvme.max_queue_pairs; })
                        .range("1", "64")
                        .says("I/O queue pairs that Set Features 07h (Number of Queues) grants")
                        .from("assumed"));
    table.push_back(P::integer(
                        "nvme.max_queue_entries", [](auto& c) -> auto& { return c.nvme.max_queue_entries; })
                        .range("2", "65536")
                        .says("Largest queue, CAP.MQES + 1")
                        .from("NVMe 1.4 §3.1.1, the largest value of CAP.MQES: 65536"));
    table.push_back(P::quantity(
                        "nvme.lba_size", Dimension::bytes, [](auto& c) -> auto& { return c.nvme.lba_bytes; })
                        .only({512, 4096})
                        .says("Logical block of the namespace, and of a Serial ATA or raw drive")
                        .from("LBA format 0 of most drives"));
    table.push_back(P::sizes(
                        "nvme.namespaces", [](auto& c) -> auto& { return c.nvme.namespaces; })
                        .range("512B", "1024TiB")
                        .says("Sizes of all namespaces but the last, which has the rest of the drive. They lie one "
                              "behind the other in the addresses of workloads, and filename=/dev/nvme0n2 of a fio job "
                              "is the second. Empty: one namespace")
                        .from("one namespace, as drives are delivered"));
    table.push_back(P::integer(
                        "nvme.fetch_window", [](auto& c) -> auto& { return c.nvme.fetch_window; })
                        .range("1", "65535")
                        .says("Commands of one submission queue that are fetched and not completed, at most")
                        .from("MQSim Queue_Fetch_Size = 512"));
    table.push_back(P::integers(
                        "nvme.fetch_windows", [](auto& c) -> auto& { return c.nvme.fetch_windows; })
                        .range("1", "65535")
                        .says("Fetch windows of the submission queues of tenants 1, 2, ... (host.tenants = by_job). "
                              "Tenants beyond the list have nvme.fetch_window")
                        .from("one for all, as MQSim Queue_Fetch_Size"));
    table.push_back(P::integer(
                        "nvme.fetch_burst", [](auto& c) -> auto& { return c.nvme.fetch_burst; })
                        .range("1", "64")
                        .says("Submission queue entries fetched with one DMA read, at most")
                        .from("assumed: 8 entries fill one 512 B read request"));
    table.push_back(P::integer(
                        "nvme.fetch_depth", [](auto& c) -> auto& { return c.nvme.fetch_depth; })
                        .range("1", "256")
                        .says("DMA reads of submission queue entries that are outstanding at once, over all queues")
                        .from("assumed"));
    table.push_back(P::integer(
                        "nvme.arbitration_burst", [](auto& c) -> auto& { return c.nvme.arbitration_burst; })
                        .range("0", "7")
                        .says("Reset value of Feature 01h AB: 2^AB commands of a queue in a row; 7: no limit")
                        .from("assumed"));
    table.push_back(P::boolean(
                        "nvme.weighted_round_robin", [](auto& c) -> auto& { return c.nvme.weighted_round_robin; })
                        .says("The host may choose weighted round robin with urgent priority class (CAP.AMS)")
                        .from("assumed: many drives offer round robin alone, which is all that NVMe demands")
                        .only_with("host.arbitration = weighted"));
    std::vector<std::int64_t> mdts{0};  // 2^MDTS pages of 4 KiB, except that MDTS = 0 says no limit
    for (std::int64_t bytes = 8192; bytes <= (std::int64_t{1} << 30); bytes *= 2) mdts.push_back(bytes);
    table.push_back(
        P::quantity(
            "nvme.max_transfer", Dimension::bytes, [](auto& c) -> auto& { return c.nvme.max_transfer_bytes; })
            .only(mdts)
            .says(
                "Largest data transfer of one command (Identify MDTS); 0B: no limit. It also bounds the commands of a "
                "Serial ATA drive and of a raw one")
            .from("assumed: between the 128 KiB and 2 MiB of client drives"));
    table.push_back(P::integer(
                        "nvme.interrupt_coalescing_threshold",
                        [](auto& c) -> auto& { return c.nvme.interrupt_coalescing_threshold; })
                        .range("0", "255")
                        .says("Feature 08h THR: completions in one interrupt, 0-based; 0: no coalescing")
                        .from("NVMe 1.4 §5.21.1.8, reset value")
                        .only_with("host.completion = interrupt"));
    table.push_back(P::quantity(
                        "nvme.interrupt_coalescing_time", Dimension::time,
                        [](auto& c) -> auto& { return c.nvme.interrupt_coalescing_time; }, 100'000'000)
                        .range("0s", "25.5ms")
                        .says("Feature 08h TIME: longest delay of an interrupt; 0s: no coalescing")
                        .from("NVMe 1.4 §5.21.1.8, reset value")
                        .only_with("host.completion = interrupt"));
    table.push_back(P::boolean(
                        "nvme.sgls", [](auto& c) -> auto& { return c.nvme.sgls; })
                        .says("The drive takes SGLs for the data of I/O commands (Identify SGLS), and the driver then "
                              "names data in one piece that PRP1 and PRP2 cannot name by one data block descriptor, as "
                              "Linux does. The drive reads no list of PRPs before it moves these data")
                        .from("false: Linux drivers/nvme/host/pci.c nvme_map_data, drives without SGLs"));
    table.push_back(P::boolean(
                        "nvme.metadata", [](auto& c) -> auto& { return c.nvme.metadata; })
                        .says("The drive offers LBA formats with 8 bytes of metadata, and protection information of "
                              "types 1 to 3 in them. A host chooses them by Format NVM or when it creates a namespace; "
                              "the driver of ssdtlm run does not, a guest of ssdtlm serve may. The spare area of a "
                              "page holds the metadata. run.data must be \"bytes\"")
                        .from("false: as most drives for clients"));
    table.push_back(P::boolean(
                        "nvme.shadow_doorbells", [](auto& c) -> auto& { return c.nvme.shadow_doorbells; })
                        .says("The drive offers doorbells in host memory (Doorbell Buffer Config), and a driver uses "
                              "them, as Linux's does. While a queue has commands in flight the drive reads its tail "
                              "there at each completion, and the host writes fewer registers")
                        .from("false: drives without a hypervisor between them and the host have none"));
    table.push_back(
        P::integer(
            "nvme.streams", [](auto& c) -> auto& { return c.nvme.streams; })
            .range("0", "255")
            .says("Write streams that the host may have open (Streams directive, MSL). Scheduler policies see the "
                  "stream of a program, "
                  "and ftl.stream_frontiers keeps streams apart on the flash. 0: the drive has no directives")
            .from("0: as most drives")
            .only_with("host.streams = true"));
    table.push_back(P::times(
                        "nvme.latency_targets", [](auto& c) -> auto& { return c.nvme.latency_targets; })
                        .range("1us", "1000s")
                        .or_none()
                        .says("Deadline of a command, from doorbell to completion, by priority of its submission queue "
                              "from 0 on (four values at "
                              "most). Scheduler policies see it. Priorities beyond the list have no deadline")
                        .from("none")
                        .only_with("scheduler.policy != fifo|read_first"));
    table.push_back(P::quantity(
                        "nvme.ready_time", Dimension::time, [](auto& c) -> auto& { return c.nvme.ready_time; })
                        .range("0s", "127.5s")
                        .says("From CC.EN = 1 to CSTS.RDY = 1")
                        .from("assumed"));
}

}  // namespace ssdtlm
