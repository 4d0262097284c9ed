# SPDX-License-Identifier: Apache-2.0
"""For each option of fio that acts (the rows `H` of model/host_pcie/workload/fio/fio_options_*.cpp) a job in which it does, and what to add to
it: test_effects.py wants another result, or a note. Options of one row share the job."""

RANDOM = ("rw=randrw", "bs=4k", "iodepth=4", "number_ios=200", "norandommap", "size=4m")
WRITE = ("rw=randwrite", "bs=4k", "iodepth=4", "number_ios=200", "size=4m")
READ = ("rw=randread", "bs=4k", "iodepth=4", "number_ios=200", "size=4m")
TIMED = ("rw=randread", "bs=4k", "iodepth=4", "size=4m", "norandommap", "time_based", "runtime=20ms")
TWO = ("rw=randread", "bs=4k", "iodepth=4", "number_ios=300", "size=4m", "[second]", "ioengine=libaio", "rw=randwrite", "bs=4k", "iodepth=8", "number_ios=100", "size=4m")
FILES = ("rw=randrw", "bs=4k", "iodepth=4", "number_ios=200", "size=2m", "directory=/mnt/files")

# (job, {option: its line or lines}); the lines stand behind those of the last job.
FIO_GROUPS = (
    (RANDOM, {"rw": "rw=randread", "rwmixread": "rwmixread=80", "rwmixwrite": "rwmixwrite=90", "percentage_random": "percentage_random=30",
              "random_distribution": "random_distribution=zipf:1.2", "norandommap": None, "randseed": "randseed=7", "bs": "bs=8k", "bsrange": "bsrange=4k-16k",
              "bssplit": "bssplit=4k/50:8k/50", "ba": "ba=16k", "size": "size=2m", "io_size": "io_size=200k", "offset": "offset=1m", "number_ios": "number_ios=100",
              "ioengine": "ioengine=psync", "iodepth": "iodepth=1", "numjobs": "numjobs=2", "rate": "rate=1m", "rate_iops": "rate_iops=500",
              "thinktime": "thinktime=200", "fsync": "fsync=8", "fdatasync": "fdatasync=8", "end_fsync": "end_fsync=1", "fsync_on_close": "fsync_on_close=1",
              "sync": "sync=1", "writefua": "writefua=1", "ramp_time": "ramp_time=5ms", "startdelay": "startdelay=5ms", "name": "name=other",
              "description": "description=other", "percentile_list": "percentile_list=50:90", "clat_percentiles": "clat_percentiles=0",
              "lat_percentiles": "lat_percentiles=1", "slat_percentiles": "slat_percentiles=1", "bwavgtime": "bwavgtime=5",
              "runtime": "runtime=5ms", "iodepth_low": "iodepth_low=1", "iodepth_batch_complete_min": "iodepth_batch_complete_min=4",
              "iodepth_batch": "iodepth_batch=2", "iodepth_batch_complete_max": "iodepth_batch_complete_max=2", "directory": "directory=/mnt/x",
              "create_only": "create_only=1", "openfiles": "openfiles=1", "unlink": None}),
    (("rw=randrw", "bs=4096", "iodepth=4", "number_ios=200", "norandommap", "size=4000k"), {"kb_base": "kb_base=1000"}),
    (("rw=randread", "bs=4k", "iodepth=4", "number_ios=200", "size=4m", "random_generator=lfsr"), {"norandommap": "norandommap=1"}),
    (("rw=randread:4", "bs=4k", "iodepth=4", "number_ios=200", "size=4m", "norandommap"), {"rw_sequencer": "rw_sequencer=identical"}),
    (("rw=randread", "bs=4k", "iodepth=1", "size=256k", "loops=3"), {"randrepeat": "randrepeat=0", "loops": "loops=2"}),
    (("rw=read", "bs=4k", "iodepth=4", "number_ios=100", "size=1m", "numjobs=2"), {"offset_increment": "offset_increment=2m"}),
    (("rw=randread", "bs=4k", "iodepth=4", "number_ios=200", "size=4m", "rate_iops=5000"), {"rate_process": "rate_process=poisson", "io_submit_mode": "io_submit_mode=offload"}),
    (("rw=randread", "bs=4k", "iodepth=4", "number_ios=200", "size=4m", "thinktime=500"), {
        "thinktime_blocks": "thinktime_blocks=8"}),
    (("rw=randread", "bs=4k", "iodepth=8", "number_ios=200", "size=4m", "thinktime=500", "thinktime_blocks=4"), {"thinktime_blocks_type": "thinktime_blocks_type=issue"}),
    (TIMED, {"time_based": None, "runtime": "runtime=10ms"}),
    (("rw=randread", "bs=4k", "iodepth=4", "size=64k", "norandommap", "runtime=20ms"), {"time_based": "time_based"}),
    (TWO, {"stonewall": "stonewall", "new_group": "new_group", "wait_for": "wait_for=first", "exitall": "exitall"}),
    (("rw=randread", "bs=4k", "iodepth=1", "number_ios=2000", "size=8m", "[second]", "ioengine=libaio", "rw=randread", "bs=4k", "number_ios=20", "size=4m", "new_group",
      "exitall"), {"exit_what": "exit_what=all"}),
    (("rw=randread", "bs=4k", "iodepth=4", "number_ios=200", "size=4m", "numjobs=2"), {"group_reporting": "group_reporting"}),
    (WRITE, {"write_bw_log": "write_bw_log=x", "write_iops_log": "write_iops_log=x", "write_lat_log": "write_lat_log=x", "verify": "verify=crc32c"}),
    (("rw=randread", "bs=4k", "iodepth=1", "number_ios=200", "size=4m", "rate_iops=1000", "thinktime=9000", "thinktime_blocks=10"), {"rate_ignore_thinktime": "rate_ignore_thinktime=1"}),
    (("rw=randrw", "bs=4k", "iodepth=4", "number_ios=200", "size=4m"), {"unified_rw_reporting": "unified_rw_reporting=1"}),
    (("rw=read", "bs=4k", "iodepth=4", "number_ios=200", "size=4m", "zonesize=64k", "zoneskip=64k"), {"zonemode": "zonemode=none"}),
    (("rw=read", "bs=4k", "iodepth=4", "number_ios=200", "size=4m", "zonemode=strided", "zonesize=64k"), {
        "zonesize": "zonesize=32k", "zonerange": "zonerange=128k", "zoneskip": "zoneskip=64k"}),
    ((*WRITE, "write_lat_log=x"), {"log_avg_msec": "log_avg_msec=5", "log_offset": "log_offset=1"}),
    ((*WRITE, "verify=crc32c"), {"do_verify": "do_verify=0", "verify_backlog": "verify_backlog=20"}),
    ((*WRITE, "verify=crc32c", "verify_backlog=40"), {"verify_backlog_batch": "verify_backlog_batch=10"}),
    ((*READ, "latency_target=500us", "latency_window=5ms"), {
        "latency_target": "latency_target=200us", "latency_window": "latency_window=2ms", "latency_percentile": "latency_percentile=50"}),
    (("rw=randread", "bs=4k", "iodepth=8", "size=8m", "norandommap", "time_based", "runtime=60ms", "latency_target=300us", "latency_window=5ms"), {"latency_run": "latency_run=1"}),
    ((*TWO[:5], "flow=1", *TWO[5:], "flow=1"), {"flow": "flow=8", "flow_id": "flow_id=3"}),
    ((*TWO[:5], "flow=1", *TWO[5:], "flow=8"), {"flow_sleep": "flow_sleep=2000"}),
    (("rw=randread", "bs=4k", "iodepth=1", "number_ios=40", "size=4m", "rate_iops=10", "norandommap"), {"rate_min": "rate_min=1g", "rate_iops_min": "rate_iops_min=1000"}),
    (("rw=randread", "bs=4k", "iodepth=1", "number_ios=60", "size=4m", "rate_iops=10", "norandommap", "rate_iops_min=1000"), {"rate_cycle": "rate_cycle=500"}),
    (READ, {"max_latency": "max_latency=10us"}),
    ((*TWO[:5], "max_latency=10us", *TWO[5:]), {"exitall_on_error": None}),
    (("rw=randread", "bs=4k", "iodepth=1", "size=4m", "norandommap", "time_based", "runtime=8s", "rate_iops=20", "steadystate_duration=3", "steadystate=iops:50%"), {
        "steadystate": "steadystate=iops:0.001%", "steadystate_duration": "steadystate_duration=5", "steadystate_ramp_time": "steadystate_ramp_time=2"}),
    ((*FILES, "numjobs=2"), {"filename": "filename=one", "filename_format": "filename_format=all"}),
    (("rw=randwrite", *FILES[1:]), {"overwrite": "overwrite=1"}),
    (FILES, {"nrfiles": "nrfiles=4", "filesize": "filesize=1m", "create_only": "create_only=1", "create_on_open": "create_on_open=1"}),
    ((*FILES, "nrfiles=4"), {"file_service_type": "file_service_type=random"}),
    (("rw=write", "bs=64k", "size=1m", "directory=/mnt/files", "filename_format=f", "[second]", "ioengine=libaio", "stonewall", "rw=read", "bs=64k", "size=1m",
      "directory=/mnt/files", "filename_format=f"), {"fallocate": None}),
    (("rw=write", "bs=64k", "size=1m"), {"fill_device": "fill_device=1"}),
    (("rw=write", "bs=4k", "size=1m", "number_ios=20"), {"write_hint": "write_hint=long"}),
    # Without a scheduler of the host a note says that they do nothing.
    (RANDOM, {"prio": "prio=2", "prioclass": "prioclass=1", "cgroup_weight": "cgroup_weight=500", "ioscheduler": "ioscheduler=bfq", "buffered": "buffered=1"}),
)

# As NO_RESULT of effect_table.py.
FIO_NO_RESULT = {
    "exitall_on_error": "fio_control tests: jobs end when another one fails",
    "fallocate": "test_fio_files.py: whether a later reader finds the file laid out",
}

# Values of that table that a plain job has or stays within: a depth of 1, limits that are not reached.
# Zones without gaps that are read in order are what a plain job reads.
FIO_AS_IT_IS = {"zonemode", "zonesize", "iodepth", "io_size", "bwavgtime", "runtime", "rate_min", "rate_iops_min", "fill_device"}
