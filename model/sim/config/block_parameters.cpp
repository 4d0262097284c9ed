// SPDX-License-Identifier: Apache-2.0
#include "host_block/io_schedulers.h"
#include "sim/config/parameters.h"

namespace ssdtlm {

namespace {

using P = ParameterOf<SsdConfig>;
constexpr const char* kWithScheduler = "block.scheduler != off";

void add_nass(std::vector<SsdParameter>& table) {
    const auto flag = [&](const char* key, auto get, const char* says) {
        table.push_back(P::boolean(key, get).says(says).from("off: the scheduler alone").only_with(kWithScheduler));
    };
    flag(
        "block.nass.aggre", [](auto& c) -> auto& { return c.host.block.nass.aggre; },
        "AggreBDL: where the commands of a context take more of the drive than its weight gives it, it may have only "
        "so many in the drive that all take their share. Others then wait less, above all those with few or small "
        "requests. It costs use of the drive: tags stay free, and all together may get less done. "
        "studies/ncq/README.md has figures");
    flag(
        "block.nass.anti", [](auto& c) -> auto& { return c.host.block.nass.anti; },
        "AntiBDL: limited contexts may have the tags that are free while a context without a limit has nothing that "
        "waits, or the scheduler waits for it");
    flag(
        "block.nass.seq", [](auto& c) -> auto& { return c.host.block.nass.seq; },
        "SeqBDL: a small sequential stream has the fewest tags under which it keeps its bandwidth; its other requests "
        "wait and merge");
    const char* const any = "block.nass.aggre = true or block.nass.anti = true or block.nass.seq = true";
    const char* const designed = "designed for this model after the paper's abstract (Fan et al., IPDPS 2019)";
    table.push_back(P::quantity(
                        "block.nass.window", Dimension::time, [](auto& c) -> auto& { return c.host.block.nass.window; })
                        .range("100us", "100s")
                        .says("Time after which contexts are looked at, and limits set, again")
                        .from(designed)
                        .only_with(any));
    table.push_back(
        P::integer(
            "block.nass.window_completions", [](auto& c) -> auto& { return c.host.block.nass.window_completions; })
            .range("16", "10000000")
            .says("The same after so many commands, if that comes first")
            .from(designed)
            .only_with(any));
    const auto share = [&](const char* key, auto get, const char* says, const char* with) {
        table.push_back(
            P::quantity(key, Dimension::percent, get).range("0%", "100%").says(says).from(designed).only_with(with));
    };
    share(
        "block.nass.delta", [](auto& c) -> auto& { return c.host.block.nass.delta_ppm; },
        "A context that has more than its share by this part is limited", "block.nass.aggre = true");
    share(
        "block.nass.theta", [](auto& c) -> auto& { return c.host.block.nass.theta_ppm; },
        "Tags are lent while fewer than this share of them is in use", "block.nass.anti = true");
    share(
        "block.nass.stream", [](auto& c) -> auto& { return c.host.block.nass.seq_share_ppm; },
        "A context is a sequential stream when more than this share of its requests begin where the one before of "
        "their job has ended",
        "block.nass.seq = true");
    share(
        "block.nass.keep", [](auto& c) -> auto& { return c.host.block.nass.seq_keep_ppm; },
        "Share of its bandwidth that a stream keeps at least under its limit", "block.nass.seq = true");
    table.push_back(
        P::quantity(
            "block.nass.small", Dimension::bytes, [](auto& c) -> auto& { return c.host.block.nass.seq_bytes; })
            .range("512B", "32MiB")
            .says("The requests of a small stream are smaller than this on average")
            .from(designed)
            .only_with("block.nass.seq = true"));
    const auto cost = [&](const char* key, auto get, const char* says) {
        table.push_back(P::quantity(key, Dimension::time, get)
                            .range("0s", "10ms")
                            .says(says)
                            .from("assumed: a Serial ATA link at 6 Gb/s, 600 MB/s and 1.5 us for a command. Only "
                                  "ratios count")
                            .only_with("block.nass.aggre = true"));
    };
    cost(
        "block.nass.read_command", [](auto& c) -> auto& { return c.host.block.nass.read_command; },
        "What a read takes of the drive, beside its data");
    cost(
        "block.nass.read_kib", [](auto& c) -> auto& { return c.host.block.nass.read_kib; },
        "What each KiB of a read takes of the drive");
    cost(
        "block.nass.write_command", [](auto& c) -> auto& { return c.host.block.nass.write_command; },
        "What a write takes of the drive, beside its data");
    cost(
        "block.nass.write_kib", [](auto& c) -> auto& { return c.host.block.nass.write_kib; },
        "What each KiB of a write takes of the drive");
}

}  // namespace

void add_block_parameters(std::vector<SsdParameter>& table) {
    std::vector<std::string> names = IoSchedulers::instance().names();
    names.insert(names.begin(), kNoScheduler);
    table.push_back(
        P::name(
            "block.scheduler", names, [](auto& c) -> auto& { return c.host.block.scheduler; })
            .says("The host's I/O scheduler. off: no block layer, requests go to the driver as they come, as "
                  "with a driver in user space; " +
                  IoSchedulers::instance().sentences())
            .from("off: the host adds nothing, so that the drive is the limit"));
    table.push_back(
        P::integer(
            "block.queue_depth", [](auto& c) -> auto& { return c.host.block.queue_depth; })
            .range("0", "65535")
            .says("Commands in the drive at a time, over all queues: queue_depth of Linux's SCSI disks, the "
                  "number of NCQ tags in use. 0: as many as the drive's queues hold")
            .from("0: the drive's")
            .only_with(kWithScheduler));
    table.push_back(
        P::integer(
            "block.nr_requests", [](auto& c) -> auto& { return c.host.block.nr_requests; })
            .range("0", "1000000")
            .says("Requests that scheduler and drive hold. When there are so many, what cannot be merged "
                  "waits above, and the workload with it. 0: by the kernel's rule, 128 for noop, deadline, "
                  "cfq, fiops and flashfq, and for the others twice the queue depth, which counts as 128 at "
                  "most")
            .from("Linux until 4.20: BLKDEV_MAX_RQ = 128; block/blk-mq-sched.c blk_mq_init_sched(): 2 * "
                  "min(queue_depth, BLKDEV_DEFAULT_RQ)")
            .only_with(kWithScheduler));
    table.push_back(
        P::quantity(
            "block.max_sectors", Dimension::bytes, [](auto& c) -> auto& { return c.host.block.max_sectors; })
            .range("4KiB", "32MiB")
            .says("Largest command, merged or not: larger requests are split. At most what the drive takes")
            .from("Linux include/linux/blkdev.h until 6.8: BLK_DEF_MAX_SECTORS = 2560 sectors")
            .only_with(kWithScheduler));
    table.push_back(P::boolean(
                        "block.merges", [](auto& c) -> auto& { return c.host.block.merges; })
                        .says("A request that lies next to a waiting one, behind or before it, becomes part of it")
                        .from("Linux /sys/block/*/queue/nomerges = 0")
                        .only_with(kWithScheduler));
    table.push_back(P::integer(
                        "block.plug", [](auto& c) -> auto& { return c.host.block.plug; })
                        .range("1", "1024")
                        .says("Requests that a context gathers, and merges among themselves, before the scheduler sees "
                              "them. They go on when there are so many, or the context gives no more at the moment. 1: "
                              "each request goes on at once")
                        .from("fio submits one request at a time (iodepth_batch = 1). Linux gathers up to 32 of one "
                              "io_submit() (BLK_MAX_REQUEST_COUNT)")
                        .only_with(kWithScheduler));
    table.push_back(
        P::integer(
            "block.vm_queue_depth", [](auto& c) -> auto& { return c.host.block.vm_queue_depth; })
            .range("0", "65536")
            .says("Requests of a context that may be below its own virtual queue, as those of a virtual "
                  "machine are. The others wait in it. 0: no such queues; virtio-blk in QEMU has 128 or 256")
            .from("0: jobs are processes of the host")
            .only_with(kWithScheduler));
    table.push_back(
        P::integers(
            "block.weights", [](auto& c) -> auto& { return c.host.block.weights; })
            .range("1", "1000")
            .says("Weights of the contexts, in order: of the tenants with host.tenants = by_job, else of the "
                  "jobs. Contexts beyond the list have that of their job (fio's cgroup_weight), or 100. "
                  "Schedulers that know weights share by them")
            .from("Linux: 100, of cgroups (io.bfq.weight)")
            .only_with(kWithScheduler)
            .only_with("block.scheduler = bfq|cfq|fiops|flashfq or block.nass.aggre = true"));
    add_nass(table);
    add_policy_parameters(
        table, "block", "block.scheduler", IoSchedulers::instance(),
        [](auto& c) -> auto& { return c.host.block.policies; });
}

}  // namespace ssdtlm
