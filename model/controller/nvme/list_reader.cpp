// SPDX-License-Identifier: Apache-2.0
#include "controller/nvme/list_reader.h"

namespace ssdtlm {

using namespace nvme;

ListReader::Read& ListReader::begin(ListClient& client, std::uint64_t token) {
    Read& read = reads_.acquire();
    read.client = &client;
    read.token = token;
    return read;
}

void ListReader::read_list(const DataWalk& walk, HostData& data, ListClient& client, std::uint64_t token) {
    Read& read = begin(client, token);
    read.walk = walk;
    read.data = &data;
    read_piece(read);
}

void ListReader::read_bytes(const HostData& data, ListClient& client, std::uint64_t token) {
    SSDTLM_CHECK(data.bytes() <= kPageBytes, "more than a page of ranges");
    Read& read = begin(client, token);
    read.data = nullptr;
    segments_.clear();
    data.segments(0, data.bytes(), segments_);
    ++counters_.list_reads;
    dma_.read_host(segments_.data(), static_cast<std::uint32_t>(segments_.size()), read.buffer.data(),
                   DmaThen::to<&ListReader::piece_read>(this, Pool<Read>::handle_of(read).number()));
}

void ListReader::read_piece(Read& read) {
    const HostSegment segment{read.walk.list_address(), read.walk.list_bytes()};
    ++counters_.list_reads;
    dma_.read_host(&segment, 1, read.buffer.data(),
                   DmaThen::to<&ListReader::piece_read>(this, Pool<Read>::handle_of(read).number()));
}

void ListReader::piece_read(std::uint64_t number, DmaEnd end) {
    Read& read = reads_.at(number);
    if (__builtin_expect(end.failed, 0)) return fail(read, kStDataTransferError);
    ListClient& client = *read.client;
    const std::uint64_t token = read.token;
    if (read.data == nullptr) {
        client.bytes_known(token, read.buffer.data());
        reads_.release(read);
        state_.settle();
        return;
    }
    switch (read.walk.feed(read.buffer.data(), *read.data)) {
        case WalkStep::refused:
            return fail(read, read.walk.status());
        case WalkStep::need_list:
            return read_piece(read);
        case WalkStep::done:
            break;
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

}  // namespace ssdtlm
