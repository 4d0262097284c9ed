// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "common/report/error.h"
#include "controller/map/cached/cached_map_peers.h"

namespace ssdtlm {

void start_translation_read(const CachedMapPeers& peers, TranslationRead& job, std::uint32_t page,
                            const WorkTag* whose) {
    const NandGeometry& g = peers.ftl.geometry();
    const Ppa at = peers.pages.place(page);
    job.page = page;
    if (whose != nullptr) job.txn.whose = *whose;
    job.next = nullptr;
    set_up(job, FlashOp::read, FlashClass::mapping_read, g.page_of(at), g, {});
    job.slot[0] = static_cast<std::uint8_t>(g.slot_of(at));
    job.txn.first_byte = job.slot[0] * g.unit_bytes;
    job.txn.data_bytes = g.unit_bytes;
    peers.ftl.read_started(g.block_of(job.txn.address));
}

void end_translation_read(const CachedMapPeers& peers, TranslationRead& job, const Then& then) {
    const NandGeometry& g = peers.ftl.geometry();
    const bool readable = job.txn.status.result == FlashResult::ok;
    if (readable && peers.ftl.codec().lpa(job.txn.spare[job.slot[0]]) != peers.pages.unit_of(job.page))
        throw CheckFailed("cached map: translation page " + std::to_string(job.page) +
                          " was read, and the flash held something else");
    peers.resident.let_go(job.txn.address.plane, g.block_of(job.txn.address), 1);
    peers.dram.access({peers.dram.place(g.unit_bytes), g.unit_bytes}, then);
}

}  // namespace ssdtlm
