# SPDX-License-Identifier: Apache-2.0
"""For each parameter a run in which it acts, and a second value of it. test_effects.py runs them: each must change a result."""

# Of four jobs, deep enough that queues form: writes, reads, flushes, overwrites.
MIX = ("rw=randrw", "bs=4k", "iodepth=8", "numjobs=4", "number_ios=250", "norandommap", "size=8m", "fsync=40")
READS = ("rw=randread", "bs=4k", "iodepth=8", "numjobs=4", "number_ios=100", "norandommap", "size=8m")
WRITES = ("rw=randwrite", "bs=4k", "iodepth=16", "numjobs=2", "number_ios=2500", "norandommap", "size=8m")
LARGE = ("rw=rw", "bs=128k", "iodepth=8", "number_ios=120", "size=8m")
LIGHT = ("rw=randrw", "bs=4k", "iodepth=1", "number_ios=300", "norandommap", "size=8m", "thinktime=500", "fsync=7")
TWO_READ_ONE_WRITES = ("rw=randread", "bs=4k", "iodepth=4", "number_ios=300", "size=8m", "norandommap", "[second]", "ioengine=libaio", "rw=randwrite", "bs=4k",
                       "iodepth=16", "number_ios=600", "size=8m", "norandommap", "write_hint=long", "[third]", "ioengine=libaio", "rw=randwrite", "bs=8k", "iodepth=4",
                       "number_ios=200", "size=8m", "norandommap", "write_hint=short")

# Hot and cold data: what a cache of few units keeps.
SKEWED = ("rw=randrw", "bs=4k", "iodepth=8", "numjobs=4", "number_ios=400", "random_distribution=zipf:1.2", "size=8m")
READERS = ("rw=randread", "bs=4k", "iodepth=16", "number_ios=200", "size=8m", "norandommap", "[second]", "ioengine=libaio", "rw=randread", "bs=4k", "iodepth=16",
           "number_ios=200", "size=8m", "norandommap")
PAUSES = ("rw=randwrite", "bs=4k", "iodepth=4", "number_ios=400", "norandommap", "size=4m", "io_size=32m", "thinktime=400000", "thinktime_blocks=50")
SLOW = ("rw=randwrite", "bs=4k", "iodepth=2", "number_ios=500", "norandommap", "size=4m", "io_size=32m", "rate_iops=100")

FULL = {"precondition.state": "random", "buffer.size": "128KiB"}
PLANES = {"nand.geometry.channels": 2, "nand.geometry.ways": 2, "nand.geometry.dies_per_chip": 2, "nand.geometry.planes_per_die": 2,
          "nand.geometry.blocks_per_plane": 16, "ftl.user_capacity": "16MiB", "buffer.size": "256KiB", "precondition.state": "random"}
CACHED = {"ftl.mapping": "dftl", "map.cache": "8KiB", "nvme.max_transfer": "64KiB", "map.entry_size": "64B", **FULL}
# Collection keeps up with the host.
ROOMY = {**FULL, "ftl.user_capacity": "8MiB", "buffer.size": "64KiB"}
WHERE_POWER_GOES = {"host.power_cut_at": ["3ms"], "host.power_off_time": "1ms"}
STREAMS = {"host.streams": True, "nvme.streams": 4, **FULL}
TENANTS = {"host.tenants": "by_job", **FULL}
WEIGHTED_QUEUES = {"nvme.weighted_round_robin": True, "host.arbitration": "weighted", "host.queue_priorities": [1, 3], "nvme.fetch_depth": 1, "nvme.fetch_burst": 1}

# The host's block layer.
SCHEDULED = {"block.scheduler": "noop", "block.queue_depth": 4, **FULL}
STREAM = ("rw=read", "bs=4k", "iodepth=32", "size=8m", "io_size=24m")
FEW_BESIDE_MANY = ("rw=randread", "bs=4k", "iodepth=2", "number_ios=600", "size=8m", "norandommap", "[second]", "ioengine=libaio", "rw=randrw", "bs=16k", "iodepth=32",
                   "number_ios=800", "size=8m", "norandommap")
READ_AND_WRITE = ("rw=randread", "bs=4k", "iodepth=32", "number_ios=800", "size=8m", "norandommap", "prioclass=1", "[second]", "ioengine=libaio", "rw=randwrite", "bs=4k",
                  "iodepth=32", "number_ios=800", "size=8m", "norandommap", "prioclass=2")
BACKWARDS = ("rw=read:-8k", "bs=4k", "iodepth=16", "number_ios=400", "size=8m")
WRITE_BACK = ("rw=randread", "bs=4k", "iodepth=4", "number_ios=600", "size=8m", "norandommap", "thinktime=100", "[second]", "ioengine=libaio", "rw=randrw", "bs=8k", "iodepth=24",
              "number_ios=600", "size=8m", "norandommap", "buffered=1")
EQUALS = tuple(line for line in READ_AND_WRITE if not line.startswith("prioclass"))
LONG = tuple(line.replace("number_ios=800", "number_ios=8000") for line in EQUALS)
BUFFERED = (*EQUALS, "buffered=1")
TWO_BUFFERED = tuple(line.replace("randread", "randwrite") for line in EQUALS[:6]) + ("buffered=1",) + BUFFERED[6:]
LIMITED = {"block.scheduler": "noop", "block.queue_depth": 16, "block.merges": False, "block.nass.aggre": True, "block.nass.window": "2ms", **FULL}

# Files on a file system: each write is synced, and reads follow writes.
ON_FILES = ("ioengine=psync", "rw=randrw", "bs=4k", "nrfiles=4", "filesize=512k", "directory=/mnt/files", "number_ios=150", "norandommap", "sync=1", "file_service_type=random")
EXT4 = {"files.system": "ext4"}

# name -> (job, what it sets, {key: second value}).
GROUPS = {
    "mix": (MIX, FULL, {
        "name": "other", "block.scheduler": "noop", "host.queue_pairs": 2, "host.tenants": "by_job", "host.queue_entries": 4, "host.submit_time": "1us",
        "host.completion_time": "1us", "host.submit_page_time_read": "1us", "host.submit_page_time_write": "1us", "host.completion_page_time_read": "1us",
        "host.completion_page_time_write": "1us", "host.interrupt_time": "1us", "host.completion": "poll", "host.interrupt_latency": "1us", "host.reset_at": ["2ms"], "host.power_cut_at": ["2ms"],
        "link.generation": 1, "link.lanes": 1, "link.max_payload": "512B", "link.completion_payload": "64B", "link.ecrc": True,
        "link.data_link_efficiency": "60%", "link.device_to_host_latency": "2us", "link.host_to_device_latency": "2us", "link.root_complex_latency": "2us",
        "frontend.kind": "raw", "nvme.max_queue_pairs": 16, "nvme.max_queue_entries": 2048, "nvme.lba_size": "4KiB", "nvme.fetch_burst": 1, "nvme.fetch_depth": 1,
        "nvme.ready_time": "2ms",
        "firmware.cores": 2, "firmware.clock": "100MHz", "firmware.read_command": 1000, "firmware.write_command": 1000, "firmware.other_command": 1000,
        "firmware.map_lookup": 500, "firmware.map_update": 500, "firmware.buffer_insert": 500, "firmware.flash_issue": 500, "firmware.flash_complete": 500,
        "firmware.gc_victim": 50000, "firmware.table_cache": "1KiB",
        "ftl.user_capacity": "11MiB", "ftl.over_provisioning": "50%", "ftl.mapping": "dftl", "ftl.static_dimensions": "C", "ftl.nvm_sets": "C0,C1", "ftl.superblock": "drive",
        "ftl.spare_blocks": 2, "ftl.checkpoint_interval": "1MiB",
        "buffer.size": "64KiB", "buffer.mode": "write_through", "buffer.flush_start": "50%", "buffer.flush_depth_per_die": 1,
        "read_cache.size": "1MiB", "read_cache.room": "buffer",
        "slc.blocks": 4, "slc.dynamic_blocks": 4,
        "precondition.from": "no such file", "precondition.state": "sequential", "precondition.fill": "60%", "precondition.workload": "{before}",
        "precondition.overwrite": "30%", "precondition.until": "steady", "precondition.fill_caches": False,
        "scheduler.policy": "fifo", "scheduler.implementation": "tlm_clocked", "scheduler.suspend": "for_reads", "channel.rtl_sequencer": [0],
        "ecc.decode_time": "10us", "dram.model": "banks", "dram.bandwidth": "100MB/s", "dram.access_latency": "1us", "dram.size": "64MiB",
        "nand.two_step": True, "nand.cache_program": True, "nand.t_read": "50us", "nand.t_program": "500us", "nand.t_erase": "2ms", "nand.transfer_spare": False,
        "nand.faults.model": "none linked", "nand.faults.program_fail": "1%", "nand.faults.erase_fail": "20%", "nand.faults.read_retry": "10%", "nand.faults.page_lost": "1%",
        "nand.geometry.channels": 4, "nand.geometry.ways": 2, "nand.geometry.dies_per_chip": 2, "nand.geometry.planes_per_die": 2,
        "nand.geometry.blocks_per_plane": 80, "nand.geometry.pages_per_block": 64, "nand.geometry.page_size": "8KiB", "nand.geometry.spare_size": "1KiB",
        "nand.geometry.unit_size": "2KiB", "nand.onfi.interface": "sdr", "nand.onfi.rate": "100MT/s",
        "nand.onfi.t_wc": "50ns", "nand.onfi.t_cs": "50ns", "nand.onfi.t_adl": "600ns", "nand.onfi.t_rhw": "500ns", "nand.onfi.t_rr": "200ns",
        "nand.onfi.t_wb": "300ns", "nand.onfi.t_wpre": "50ns", "nand.onfi.t_wpst": "50ns", "nand.onfi.t_wpsth": "50ns", "nand.onfi.t_rpre": "50ns",
        "nand.onfi.t_dqsre": "50ns", "nand.onfi.t_rpsth": "50ns",
        "run.seed": 2, "run.slowest": 5, "run.explain": [7], "run.timeseries_interval": "2ms", "run.gc_log": True, "run.integrity": False}),
    "collection": (WRITES, ROOMY, {
        "gc.policy": "fifo", "gc.hard_free_blocks": 3, "gc.soft_used": "80%", "gc.hard_used": "95%", "gc.least_invalid": "80%",
        "gc.charge_time": False, "gc.max_inflight_pages": 1, "gc.frontier": "shared", "gc.pace": "tokens", "wear.most_spread": 1,
        "refresh.age": "500ms", "buffer.merge_writes": False}),
    "collection of few": (SLOW, ROOMY, {"gc.soft_free_blocks": 12}),
    "collection when idle": (PAUSES, ROOMY, {"gc.idle_after": "1ms"}),
    "idle": (PAUSES, {**ROOMY, "gc.idle_after": "1ms", "gc.idle_free_blocks": 6, "gc.soft_free_blocks": 4}, {"gc.idle_free_blocks": 16}),
    "tokens": (WRITES, {**FULL, "gc.pace": "tokens"}, {"gc.tokens.ahead": 1, "gc.tokens.most": 1}),
    "some blocks drawn": (WRITES, {**FULL, "gc.policy": "d_choices"}, {"gc.d_choices.choices": 2}),
    "random victims": (WRITES, {**FULL, "gc.policy": "random"}, {"gc.random.least_invalid_pages": 8}),
    "a window of victims": (WRITES, {**FULL, "gc.policy": "windowed_greedy"}, {"gc.windowed_greedy.window": 2}),
    "worn": (WRITES, FULL, {"wear.free_blocks": "by_wear"}),
    "wear": (WRITES, {**FULL, "wear.most_spread": 1}, {"wear.each": 1}),
    "reads disturb": (("rw=randread", "bs=4k", "iodepth=8", "number_ios=3000", "norandommap", "size=1m", "io_size=32m"), FULL, {"refresh.reads": 10}),
    "ages": (WRITES, {**FULL, "refresh.age": "500ms"}, {"refresh.interval": "5ms", "firmware.refresh_look": 500000}),
    "arbitration": (("rw=randread", "bs=4k", "iodepth=64", "numjobs=4", "number_ios=300", "norandommap", "size=8m"), {"nvme.fetch_depth": 1, "nvme.fetch_burst": 1},
                    {"nvme.arbitration_burst": 0}),
    "large": (LARGE, {**FULL, "buffer.size": "2MiB"}, {
        "host.buffer_offset": "512B",
        "nvme.max_transfer": "8KiB", "link.max_read_request": "128B", "link.read_tags": 1, "link.upstream_posted_headers": 1, "link.upstream_posted_data": 16,
        "link.upstream_nonposted_headers": 1}),
    "more than the driver sends": (LARGE, {"nvme.max_transfer": "32MiB"}, {"nvme.max_transfer": "64MiB"}),
    "few credits": (MIX, {"link.upstream_posted_headers": 2, "link.host_to_device_latency": "1us"}, {"link.credit_return_latency": "5us"}),
    "doorbells": (MIX, {"link.credit_return_latency": "20us", "nvme.fetch_burst": 1}, {"link.downstream_posted_headers": 1, "link.downstream_posted_data": 1}),
    "SGLs": (LARGE, FULL, {"nvme.sgls": True}),
    "doorbells in memory": (MIX, FULL, {"nvme.shadow_doorbells": True}),
    "a window of fetches": (MIX, {"nvme.fetch_burst": 1}, {"nvme.fetch_window": 1}),
    "windows of tenants": (READERS, {**TENANTS, "nvme.fetch_burst": 1}, {"nvme.fetch_windows": [1]}),
    "namespaces": (MIX, FULL, {"nvme.namespaces": ["8MiB"]}),
    "a region": (MIX, FULL, {"host.regions": "25%-100%"}),
    "busy cores": (MIX, {"host.submit_time": "1us", "host.completion_time": "1us", **FULL}, {"host.cores": 1}),
    "a host that polls": (MIX, {"host.completion": "poll", **FULL}, {"host.poll_time": "5us"}),
    "coalescing": (MIX, {"nvme.interrupt_coalescing_threshold": 3, "nvme.interrupt_coalescing_time": "100us"}, {
        "nvme.interrupt_coalescing_threshold": 7, "nvme.interrupt_coalescing_time": "300us"}),
    "resets": (MIX, {"host.reset_at": ["2ms"], **FULL}, {"host.reset_shutdown": True}),
    "power": (MIX, {**WHERE_POWER_GOES, **FULL}, {"host.power_off_time": "2ms", "host.power_cut_shutdown": True, "firmware.scan_page": 5000, "firmware.scan_entry": 5000,
                                                  "ftl.scan_reads_per_die": 1}),
    "shutdown": (MIX, {**WHERE_POWER_GOES, "host.power_cut_shutdown": True, **FULL}, {"ftl.checkpoint_at_shutdown": True}),
    "tenants": (TWO_READ_ONE_WRITES, TENANTS, {"read_cache.quotas": None, "buffer.quotas": [20]}),
    "tenants of a read cache": (TWO_READ_ONE_WRITES, {**TENANTS, "read_cache.size": "1MiB", "read_cache.fill": "both"}, {"read_cache.quotas": [10]}),
    "tenants of a map": (TWO_READ_ONE_WRITES, {**TENANTS, **CACHED}, {"map.quotas": [10]}),
    "deadlines": (READERS, {**TENANTS, "scheduler.policy": "earliest_deadline", "host.queue_priorities": [1, 0], "nvme.latency_targets": ["200us", "100ms"]},
                  {"nvme.latency_targets": ["1ms", "1ms"]}),
    "classes of queues": (READERS, {**TENANTS, **WEIGHTED_QUEUES}, {"host.arbitration_weights": [1, 1, 9], "nvme.weighted_round_robin": False, "host.arbitration": "round_robin"}),
    "priorities": (READERS, {**TENANTS, "scheduler.policy": "earliest_deadline", "nvme.latency_targets": ["200us", "1ms", "10ms", "100ms"]},
                   {"host.queue_priorities": [3, 0]}),
    "priorities on the flash": (READERS, {**TENANTS, "scheduler.policy": "priority_classes"}, {"host.queue_priorities": [3, 0]}),
    "shares of priorities": (READERS, {**TENANTS, "scheduler.policy": "weighted_priorities", "host.queue_priorities": [1, 3]}, {"scheduler.weighted_priorities.weights": [1, 1, 9]}),
    "shares of tenants": (READERS, {**TENANTS, "scheduler.policy": "weighted"}, {"scheduler.weighted.weights": [1, 50], "scheduler.weighted.others": None}),
    "shares of others": (READERS, {**TENANTS, "scheduler.policy": "weighted", "scheduler.weighted.weights": [10]}, {"scheduler.weighted.others": 100}),
    "shares of a writer": (TWO_READ_ONE_WRITES, {**TENANTS, "scheduler.policy": "weighted"}, {"scheduler.weighted.share_of": "die_time", "scheduler.weighted.catch_up": 0}),
    "streams": (TWO_READ_ONE_WRITES, STREAMS, {"ftl.stream_frontiers": 2, "host.streams": False}),
    "whose streams": (TWO_READ_ONE_WRITES, {**STREAMS, "ftl.stream_frontiers": 2}, {"ftl.streams_by": "multi_hash"}),
    "few streams": (TWO_READ_ONE_WRITES, {**STREAMS, "ftl.stream_frontiers": 1}, {"nvme.streams": 1}),
    "streams by address": (TWO_READ_ONE_WRITES, {**FULL, "ftl.stream_frontiers": 2, "ftl.streams_by": "multi_hash", "ftl.multi_hash.counters": 4096}, {
        "ftl.multi_hash.counters": 64, "ftl.multi_hash.hashes": 1, "ftl.multi_hash.bits": 2, "ftl.multi_hash.hot": 1,
        "ftl.multi_hash.halve_after": 50, "firmware.stream_choice": 5000}),
    "lines": (MIX, {**PLANES, "ftl.superblock": "drive", "ftl.user_capacity": "12MiB"}, {"ftl.parity": "die"}),
    "planes": (MIX, PLANES, {"ftl.allocation": "PDWC", "ftl.placement": "first_idle", "scheduler.multi_plane": False, "nand.independent_plane_read": True,
                             "nand.onfi.t_plane_busy": "5us", "nand.onfi.t_ccs": "800ns", "scheduler.bus_order": "data_first", "scheduler.bus_program_turns": 0, "scheduler.starvation_limit": 1}),
    "read cache": (SKEWED, {**FULL, "read_cache.size": "256KiB"}, {"read_cache.replacement": "fifo", "read_cache.fill": "both"}),
    "cold clean units first": (MIX, {**FULL, "buffer.size": "1MiB", "buffer.order": "lru", "read_cache.room": "buffer", "read_cache.replacement": "cflru"}, {"read_cache.window": "90%"}),
    "watermarks": (SKEWED, {**FULL, "precondition.fill_caches": False, "buffer.flush_start": "60%"}, {"buffer.flush_stop": "10%", "buffer.order": "lru"}),
    "SLC": (WRITES, {**FULL, "slc.blocks": 8, "nand.bits_per_cell": 3, "ftl.user_capacity": "10MiB"}, {
        "nand.bits_per_cell": 2, "nand.slc.t_read": "100us", "nand.slc.t_program": "400us", "nand.slc.t_erase": "9ms", "slc.fold_rate": "20%"}),
    "SLC at leisure": (SLOW, {**ROOMY, "slc.blocks": 8, "nand.bits_per_cell": 2, "ftl.user_capacity": "5MiB"}, {"slc.fold_free_blocks": 7}),
    "log blocks": (WRITES, {"ftl.mapping": "fast", "ftl.user_capacity": "8MiB", "buffer.size": "128KiB"}, {"fast.random_log_blocks": 2}),
    "cached map": (MIX, CACHED, {
        "map.cache": "16KiB", "map.granularity": "page", "map.replacement": "segmented_lru", "map.entry_size": "128B", "map.power_protected": "1%", "map.gc_updates": "found"}),
    "protected share": (SKEWED, {**CACHED, "map.replacement": "segmented_lru"}, {"map.protected": "90%"}),
    "neighbours in the map": (SKEWED, CACHED, {"map.prefetch": 16}),
    "dirty pages": (MIX, {**CACHED, "map.power_protected": "1%"}, {"map.dirty_until": "issued", "power.controller": "5W", "power.die": "0.5W"}),
    "by translation page": (MIX, {**CACHED, "buffer.order": "by_translation_page", "map.power_protected": "10%", "buffer.flush_start": "50%"}, {
        "firmware.reorder": 5000, "buffer.patience": 1, "buffer.prefer_dirty": True}),
    "table cache": (MIX, {**FULL, "firmware.table_cache": "1KiB"}, {"firmware.table_line": "32B", "firmware.table_ways": 8}),
    "rest": (MIX, {**FULL, "dram.size": "1MiB", "buffer.size": "128KiB"}, {"dram.rest": "buffer"}),
    "planes that read on their own": (("rw=randread", "bs=4k", "iodepth=128", "number_ios=2000", "norandommap", "size=8m"),
                                      {**PLANES, "nand.independent_plane_read": True}, {"scheduler.look_ahead": 1}),
    "a stream": (("rw=read", "bs=4k", "iodepth=2", "number_ios=1500", "size=8m", "io_size=1g"), {**FULL, "read_cache.size": "256KiB", "read_ahead.depth": "32KiB"}, {"read_ahead.depth": "128KiB", "read_ahead.trigger": 50}),
    "units written in part": (("rw=randwrite", "bs=2k", "iodepth=8", "number_ios=2000", "norandommap", "size=1m"), FULL, {"buffer.rest_reads": "at_write_back"}),
    "reads of one page": (("rw=read", "bs=4k", "iodepth=64", "number_ios=2000", "size=8m"), PLANES, {"scheduler.merge_reads": True}),
    "a trace that is played": (MIX, {**FULL, "precondition.workload": "{trace}"}, {"precondition.trace_options": "--trace-overlay"}),
    "played": (MIX, {**FULL, "precondition.workload": "{before}"}, {"precondition.load": "light"}),
    "steady": (MIX, {**FULL, "precondition.until": "steady"}, {"precondition.most_rounds": 5}),
    "retries": (MIX, {**FULL, "nand.faults.page_lost": "5%"}, {"ecc.read_retries": 1}),
    "worn blocks": (WRITES, {**FULL, "ftl.spare_blocks": 2, "ftl.user_capacity": "10MiB"}, {"nand.faults.pe_limit": 1}),
    "bad blocks": (MIX, {**FULL, "ftl.spare_blocks": 6, "ftl.user_capacity": "9MiB"}, {"nand.faults.factory_bad": "3%"}),
    "suspend": (MIX, {**FULL, "scheduler.suspend": "for_reads"}, {
        "scheduler.for_reads.programs": False, "scheduler.for_reads.erases": False, "scheduler.for_reads.limit": 1, "scheduler.for_reads.least_run": "300us",
        "scheduler.for_reads.least_left": "600us", "scheduler.for_reads.longest": "80us", "nand.t_program_suspend": "90us", "nand.t_program_resume": "90us",
        "nand.t_erase_suspend": "900us", "nand.t_erase_resume": "900us"}),
    "cached programs": (MIX, {**FULL, "nand.cache_program": True}, {"nand.t_cache_busy": "100us"}),
    "clocked": (MIX, {**FULL, "scheduler.implementation": "tlm_clocked"}, {"scheduler.clock": "200MHz"}),
    "shallow scheduler": (("rw=randread", "bs=4k", "iodepth=64", "numjobs=4", "number_ios=200", "norandommap", "size=8m"),
                          {**FULL, "scheduler.implementation": "tlm_clocked"}, {"scheduler.queue_depth": 16}),
    "sequencer": (MIX, {**FULL, "channel.rtl_sequencer": [0]}, {"channel.sequencer_clock": "100MHz"}),
    "banks": (MIX, {**FULL, "dram.model": "banks", "dram.bandwidth": "1GB/s"}, {
        "dram.banks.banks": 1, "dram.banks.row_size": "1KiB", "dram.banks.t_rcd": "500ns", "dram.banks.t_cl": "500ns", "dram.banks.t_rp": "500ns",
        "dram.banks.t_refi": "1us", "dram.banks.t_rfc": "700ns"}),
    "serial ATA": (MIX, {"frontend.kind": "sata", **FULL}, {
        "host.sata.queue_depth": 2, "host.sata.ncq": False, "host.sata.write_cache": "off", "host.sata.coalescing_commands": 4, "host.sata.access_time": "1us",
        "host.sata.issue_time": "2us"}),
    "a drive at serial ATA": (MIX, {"frontend.kind": "sata", **FULL}, {
        "frontend.sata.rate": "1.5Gbps", "frontend.sata.queue_depth": 2, "frontend.sata.decode_time": "5us", "frontend.sata.auto_activate": True}),
    "large commands over serial ATA": (LARGE, {"frontend.kind": "sata", "link.generation": 1, "link.lanes": 1, **FULL}, {"host.sata.max_transfer": "64KiB", "host.sata.fifo_frames": 1}),
    "COMRESETs": (MIX, {"frontend.kind": "sata", "host.reset_at": ["2ms"], **FULL}, {"host.sata.debounce": "10ms"}),
    "coalescing over serial ATA": (MIX, {"frontend.kind": "sata", "host.sata.coalescing_commands": 8, **FULL}, {"host.sata.coalescing_time": "2ms"}),
    "a scheduler of the host": (MIX, SCHEDULED, {"block.queue_depth": 2, "block.nr_requests": 5, "block.vm_queue_depth": 2}),
    "a scheduled stream": (STREAM, SCHEDULED, {"block.merges": False, "block.plug": 16, "block.max_sectors": "8KiB"}),
    "weights": (READERS, {**SCHEDULED, "block.scheduler": "fiops"}, {"block.weights": [100, 900]}),
    "deadlines of the host": (READ_AND_WRITE, {**SCHEDULED, "block.scheduler": "deadline"}, {
        "block.deadline.read_expire": "100us", "block.deadline.write_expire": "100us", "block.deadline.fifo_batch": 1, "block.deadline.writes_starved": 20}),
    "merges in front": (BACKWARDS, {**SCHEDULED, "block.scheduler": "deadline"}, {"block.deadline.front_merges": False}),
    "deadlines with classes": (READ_AND_WRITE, {**SCHEDULED, "block.scheduler": "mq-deadline", "block.nr_requests": 128}, {
        "block.mq-deadline.read_expire": "100us", "block.mq-deadline.write_expire": "100us", "block.mq-deadline.fifo_batch": 1,
        "block.mq-deadline.prio_aging_expire": "10us"}),
    "deadlines of one class": (EQUALS, {**SCHEDULED, "block.scheduler": "mq-deadline", "block.nr_requests": 128}, {"block.mq-deadline.writes_starved": 20}),
    "merges in front with classes": (BACKWARDS, {**SCHEDULED, "block.scheduler": "mq-deadline", "block.nr_requests": 128}, {"block.mq-deadline.front_merges": False}),
    "latency of reads in the host": (LONG, {**SCHEDULED, "block.scheduler": "kyber", "block.queue_depth": 64, "block.kyber.write_latency": "1s"}, {
        "block.kyber.read_latency": "10us"}),
    "latency of writes in the host": (LONG, {**SCHEDULED, "block.scheduler": "kyber", "block.queue_depth": 64, "block.kyber.read_latency": "1s"}, {
        "block.kyber.write_latency": "1s"}),
    "scales of fiops": (BUFFERED, {**SCHEDULED, "block.scheduler": "fiops"}, {
        "block.fiops.read_scale": 7, "block.fiops.write_scale": 7, "block.fiops.sync_scale": 9, "block.fiops.async_scale": 50}),
    "costs of flashfq": (WRITE_BACK, {**SCHEDULED, "block.scheduler": "flashfq"}, {
        "block.flashfq.read_cost": "1ms", "block.flashfq.read_cost_4k": "1ms", "block.flashfq.write_cost": "1ms", "block.flashfq.write_cost_4k": "1ms",
        "block.flashfq.throttle": "0s", "block.flashfq.anticipation": "0s"}),
    "slices of cfq": (WRITE_BACK, {**SCHEDULED, "block.scheduler": "cfq"}, {
        "block.cfq.quantum": 1, "block.cfq.fifo_expire_sync": "10us", "block.cfq.fifo_expire_async": "10us", "block.cfq.back_seek_max": "0B", "block.cfq.back_seek_penalty": 1000,
        "block.cfq.slice_sync": "100us", "block.cfq.slice_async": "100us", "block.cfq.group_idle": "0s", "block.cfq.target_latency": "1ms"}),
    "buffered writes under cfq": (BUFFERED, {**SCHEDULED, "block.scheduler": "cfq", "block.cfq.target_latency": "1ms"}, {
        "block.cfq.low_latency": False}),
    "two buffered writers under cfq": (TWO_BUFFERED, {**SCHEDULED, "block.scheduler": "cfq"}, {"block.cfq.slice_async_rq": 1}),
    "a drive that takes one command": (WRITE_BACK, {**SCHEDULED, "block.scheduler": "cfq", "block.queue_depth": 1}, {"block.cfq.slice_idle": "0s"}),
    "turns of bfq": (WRITE_BACK, {**SCHEDULED, "block.scheduler": "bfq", "block.nr_requests": 128, "block.weights": [100, 300]}, {
        "block.bfq.slice_idle": "0s", "block.bfq.timeout_sync": "50us", "block.bfq.max_budget": 16, "block.bfq.strict_guarantees": True, "block.bfq.fifo_expire_sync": "10us",
        "block.bfq.fifo_expire_async": "10us", "block.bfq.back_seek_max": "0B", "block.bfq.back_seek_penalty": 1000}),
    "limits of contexts": (FEW_BESIDE_MANY, LIMITED, {
        "block.nass.aggre": False, "block.nass.anti": True, "block.nass.window": "20ms", "block.nass.delta": "100%",
        "block.nass.read_command": "1ms", "block.nass.read_kib": "100us", "block.nass.write_command": "1ms", "block.nass.write_kib": "100us"}),
    "limits by completions": (FEW_BESIDE_MANY, {**LIMITED, "block.nass.window": "100ms"}, {"block.nass.window_completions": 20}),
    "tags that are lent": (FEW_BESIDE_MANY, {**LIMITED, "block.nass.anti": True}, {"block.nass.theta": "30%"}),
    "limits of streams": (("rw=randread", "percentage_random=20", "bs=4k", "iodepth=32", "size=8m", "io_size=24m", "norandommap"), {**SCHEDULED, "block.queue_depth": 16, "block.nass.seq": True, "block.nass.window": "2ms"}, {
        "block.nass.seq": False, "block.nass.stream": "50%"}),
    "limits of small streams": (STREAM, {**SCHEDULED, "block.queue_depth": 16, "block.nass.seq": True, "block.nass.window": "2ms"}, {
        "block.nass.small": "4KiB", "block.nass.keep": "0%"}),
    "files": (ON_FILES, {}, {"files.system": "ext4"}),
    "files on ext4": (ON_FILES, EXT4, {
        "files.format": False, "files.layout_write": "8KiB", "files.layout_depth": 1, "files.call_time": "100us",
        "files.ext4.block_size": "1KiB", "files.ext4.journal_size": "1MiB", "files.ext4.inode_size": "1KiB", "files.ext4.discard": False,
        "files.ext4.zero_inode_tables": True, "files.ext4.barrier": False, "files.ext4.clock_tick": "1s"}),
    "inode tables": (ON_FILES, {**EXT4, "files.ext4.zero_inode_tables": True}, {"files.ext4.inode_ratio": "4KiB"}),
    "files that nobody syncs": (("ioengine=psync", "rw=randwrite", "bs=4k", "filesize=512k", "directory=/mnt/files", "norandommap", "rate_iops=20", "time_based", "runtime=14"), EXT4, {
        "files.ext4.commit": "1s", "files.ext4.write_back_age": "1s"}),
    "files that are read": (("ioengine=psync", "rw=randread", "bs=4k", "filesize=512k", "directory=/mnt/files", "norandommap", "rate_iops=20", "time_based", "runtime=7"), EXT4, {
        "files.ext4.relatime": False}),
    "tpcc": ("tpcc", {"@device": "hexa-16g", "workload.tpcc.warehouses": 1, "workload.tpcc.connections": 4, "workload.tpcc.transactions": 60}, {
        "workload.tpcc.warehouses": 2, "workload.tpcc.connections": 2, "workload.tpcc.transactions": 50, "workload.tpcc.page_size": "8KiB", "workload.tpcc.buffer_pool": "5%",
        "workload.tpcc.log_size": "4MiB", "workload.tpcc.redo_per_row": "2KiB", "workload.tpcc.doublewrite": False}),
}

# Settings under which parameters do not act that act on the device as it comes.
WITHOUT = ({"nand.onfi.interface": "ideal"}, {"nand.transfer_spare": False}, {"nand.geometry.spare_size": "0B"}, {"read_cache.room": "buffer", "buffer.order": "lru"}, {"precondition.state": "fresh"},
           {"precondition.from": "{drive}"}, {"host.completion": "poll"})

# What changes no result by its contract, and the test that shows what it does instead.
NO_RESULT = {
    "description": "test_command_line.py: `config presets` shows it",
    "based_on": "config_merge_test.cpp: values of the other file count",
    "frontend.raw.commands": "raw_front_end_test.cpp: the program's own host speaks NVMe",
    "nvme.metadata": "test_serve.py: a guest formats for it; the driver of runs does not",
    "run.agenda": "test_determinism.py: results are the same",
    "run.data": "test_determinism.py: results are the same",
    "run.check_waiters": "test_determinism.py: results are the same",
    "run.through_guards": "test_determinism.py: results are the same",
    "run.watchdog": "test_watchdog.py: when a run is given up",
    "host.admin_entries": "bring_up_test.cpp: the queues that the driver makes",
    "link.downstream_nonposted_headers": "link tests: reads of registers wait for credits; the driver reads one at a time",
    "nand.slc.prefix": "test_wave_pins.py: the pins carry it",
    "scheduler.rtl_module": "rtl tests: which block is verilated",
    "scheduler.overtake_bound": "grant_rules_test.cpp: what starves ends the run; it changes nothing before",
    "scheduler.compare_cycles": "rtl tests: what a difference in cycles does",
}
