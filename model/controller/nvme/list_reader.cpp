// SPDX-License-Identifier: Apache-2.0
#include "controller/nvme/list_reader.h"

#include <algorithm>

namespace ssdtlm {

using namespace nvme;

void segments_of(const std::vector<std::uint64_t>& pages, std::uint32_t bytes, std::vector<HostSegment>& segments) {
    segments.clear();
    for (const std::uint64_t page : pages) {
        const std::uint32_t n = std::min(bytes, static_cast<std::uint32_t>(kPageBytes - (page & kPageMask)));
        segments.push_back(HostSegment{page, n});
        bytes -= n;
    }
}

ListReader::Read& ListReader::begin(ListClient& client, std::uint64_t token) {
    Read& read = reads_.acquire();
    read.client = &client;
    read.token = token;
    return read;
}

void ListReader::read_list(const PrpWalk& walk, std::vector<std::uint64_t>& pages, ListClient& client, std::uint64_t token) {
    Read& read = begin(client, token);
    read.walk = walk;
    read.pages = &pages;
    read_piece(read);
}

void ListReader::read_bytes(const std::vector<std::uint64_t>& pages, std::uint32_t bytes, ListClient& client,
                            std::uint64_t token) {
    SSDTLM_CHECK(bytes <= kPageBytes, "more than a page of ranges");
    Read& read = begin(client, token);
    read.pages = nullptr;
    segments_of(pages, bytes, segments_);
    ++counters_.list_reads;
    dma_.read_host(segments_.data(), static_cast<std::uint32_t>(segments_.size()),
                   reinterpret_cast<std::uint8_t*>(read.buffer.data()), this, Pool<Read>::handle_of(read).number());
}

void ListReader::read_piece(Read& read) {
    const HostSegment segment{read.walk.list_address(), read.walk.list_bytes()};
    ++counters_.list_reads;
    dma_.read_host(&segment, 1, reinterpret_cast<std::uint8_t*>(read.buffer.data()), this,
                   Pool<Read>::handle_of(read).number());
}

void ListReader::dma_done(std::uint64_t cookie, SimTime) {
    Read& read = reads_.at(cookie);
    ListClient& client = *read.client;
    const std::uint64_t token = read.token;
    if (read.pages == nullptr) {
        client.bytes_known(token, reinterpret_cast<const std::uint8_t*>(read.buffer.data()));
        reads_.release(read);
        state_.settle();
        return;
    }
    switch (read.walk.feed(read.buffer.data(), *read.pages)) {
        case PrpWalk::Step::bad_offset: return fail(read, kStInvalidPrpOffset);
        case PrpWalk::Step::need_list: return read_piece(read);
        case PrpWalk::Step::done: break;
    }
    reads_.release(read);
    client.list_known(token);
    state_.settle();
}

void ListReader::fail(Read& read, std::uint16_t status) {
    ListClient& client = *read.client;
    const std::uint64_t token = read.token;
    reads_.release(read);
    client.list_failed(token, status);
    state_.settle();
}

void ListReader::dma_failed(std::uint64_t cookie) { fail(reads_.at(cookie), kStDataTransferError); }

}  // namespace ssdtlm
