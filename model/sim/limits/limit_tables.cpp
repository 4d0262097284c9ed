// SPDX-License-Identifier: Apache-2.0
#include "sim/limits/limit_tables.h"

#include "sim/limits/limits.h"

namespace ssdtlm {

namespace {
/// A share that is never reached: a wait for credits limits only together with its resource (credit_rows()).
constexpr double kAlone = 2;
}  // namespace

const std::vector<ResourceParameters>& parameters_of_resources() {
    static const std::vector<ResourceParameters> all = {
        {"host CPU", {"host.submit_time", "host.completion_time"}},
        {"link to device", {"link.lanes", "link.generation"}},
        {"link to host", {"link.lanes", "link.generation"}},
        {"SATA link", {"frontend.sata.rate"}},
        {"firmware core", {"firmware.clock", "firmware.cores"}},
        {"DRAM port", {"dram.bandwidth"}},
        {"channel bus", {"nand.onfi.rate", "nand.geometry.channels"}},
        {"scheduler", {"scheduler.clock"}},
        {"die", {"nand.t_read", "nand.t_program", "nand.t_erase", "nand.geometry.ways"}},
        {"plane", {"nand.t_read", "nand.t_program", "nand.t_erase", "nand.geometry.planes_per_die"}},
    };
    return all;
}

const std::vector<WaitRow>& wait_rows() {
    static const std::vector<WaitRow> rows = {
        {WaitKind::look_ahead,
         "look-ahead of the scheduler",
         {"scheduler.look_ahead"},
         "planes are idle while work for them waits behind the requests that a grant looks at",
         kSureGain},
        {WaitKind::gc_pace,
         "pace of garbage collection",
         {"gc.pace"},
         "programs wait for a free block, and collection keeps its pace"},
        {WaitKind::gc_depth,
         "pages that collection has under way",
         {"gc.max_inflight_pages"},
         "programs wait for a free block, and collection may have no more pages under way"},
        {WaitKind::free_blocks, "free blocks", {"ftl.user_capacity"}, "programs wait for a free block"},
        {WaitKind::map_dirty,
         "dirty translation pages",
         {"map.power_protected"},
         "programs wait until fewer translation pages are dirty"},
        {WaitKind::flush_depth,
         "programs of the write buffer",
         {"buffer.flush_depth_per_die"},
         "data wait in the write buffer, which may have no more programs under way"},
        {WaitKind::read_credits,
         "header credits of reads over the link",
         {"link.upstream_nonposted_headers"},
         "reads of the host's memory wait for a credit"},
        {WaitKind::read_tags,
         "tags of reads over the link",
         {"link.read_tags"},
         "reads of the host's memory wait for a tag"},
        {WaitKind::buffer_room,
         "room in the write buffer",
         {"buffer.size"},
         "writes wait for room in the write buffer"},
        {WaitKind::fetch_window,
         "fetch window",
         {"nvme.fetch_window"},
         "commands wait, as no more of their queue may be in the controller"},
        {WaitKind::fetch_depth,
         "fetches under way",
         {"nvme.fetch_depth"},
         "commands wait behind the doorbell, as no more fetches may be under way"},
        {WaitKind::queue_slots,
         "queue slots",
         {"host.queue_entries"},
         "requests wait in the host, as their queue is full"},
        {WaitKind::block_depth,
         "queue depth of the block layer",
         {"block.queue_depth"},
         "requests wait in the block layer, which lets no more commands into the drive"},
        {WaitKind::virtual_room,
         "queues of virtual machines",
         {"block.vm_queue_depth"},
         "requests wait in the queue of their virtual machine, which may have no more below it"},
        {WaitKind::io_scheduler,
         "I/O scheduler",
         {"block.scheduler"},
         "the scheduler holds requests back while the drive has room for them"},
        {WaitKind::headers_up,
         "header credits of writes to the host",
         {"link.upstream_posted_headers"},
         "writes to the host wait for credits of their headers",
         kAlone},
        {WaitKind::data_up,
         "data credits of writes to the host",
         {"link.upstream_posted_data"},
         "writes to the host wait for credits of their data",
         kAlone},
        {WaitKind::headers_down,
         "header credits of doorbells",
         {"link.downstream_posted_headers"},
         "doorbells wait for credits of their headers",
         kAlone},
        {WaitKind::data_down,
         "data credits of doorbells",
         {"link.downstream_posted_data"},
         "doorbells wait for credits of their data",
         kAlone},
    };
    return rows;
}

const std::vector<CreditRow>& credit_rows() {
    static const std::vector<CreditRow> rows = {
        {"link to host", WaitKind::writes_up, WaitKind::headers_up, WaitKind::data_up, "writes to the host"},
        {"link to device", WaitKind::writes_down, WaitKind::headers_down, WaitKind::data_down, "doorbells"},
    };
    return rows;
}

}  // namespace ssdtlm
