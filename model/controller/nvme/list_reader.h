// SPDX-License-Identifier: Apache-2.0
// Reads from host memory what a command needs before it can begin: the pages of a PRP list, or the ranges of a Dataset
// Management command. One page of buffer a command; lists that continue on another page are followed.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "common/containers/pool.h"
#include "controller/nvme/controller_state.h"
#include "controller/nvme/prp.h"
#include "controller/ports/dma_port.h"

namespace ssdtlm {

/// Whose command it is. `token` is the client's own; exactly one of the calls answers each request. A
/// reset that waits for it is told by the reader.
class ListClient {
public:
    /// The vector given to read_list() holds all pages.
    virtual void list_known(std::uint64_t token) = 0;
    /// What read_bytes() asked for; valid during the call.
    virtual void bytes_known(std::uint64_t token, const std::uint8_t* bytes) = 0;
    /// `status`: a bad entry in the list (0/13h) or the host did not deliver it (0/04h).
    virtual void list_failed(std::uint64_t token, std::uint16_t status) = 0;

protected:
    ~ListClient() = default;
};

/// The first `bytes` bytes of these host pages, of which the first may have an offset.
void segments_of(const std::vector<std::uint64_t>& pages, std::uint32_t bytes, std::vector<HostSegment>& segments);

class ListReader final : private DmaClient {
public:
    ListReader(DmaPort& dma, ControllerState& state, NvmeCounters& counters) : dma_(dma), state_(state), counters_(counters) {}

    /// `walk` says need_list; appends to `pages`, which must outlive the answer.
    void read_list(const PrpWalk& walk, std::vector<std::uint64_t>& pages, ListClient& client, std::uint64_t token);
    /// At most one page.
    void read_bytes(const std::vector<std::uint64_t>& pages, std::uint32_t bytes, ListClient& client, std::uint64_t token);

    std::size_t under_way() const { return reads_.in_use(); }

private:
    struct Read {
        PrpWalk walk;
        std::vector<std::uint64_t>* pages = nullptr;  ///< null: bytes are wanted, not pages
        ListClient* client = nullptr;
        std::uint64_t token = 0;
        std::array<std::uint64_t, nvme::kPrpsPerPage> buffer{};
    };
    Read& begin(ListClient& client, std::uint64_t token);
    void read_piece(Read& read);
    void fail(Read& read, std::uint16_t status);
    void dma_done(std::uint64_t cookie, SimTime at) override;
    void dma_failed(std::uint64_t cookie) override;

    DmaPort& dma_;
    ControllerState& state_;
    NvmeCounters& counters_;
    Pool<Read> reads_;
    std::vector<HostSegment> segments_;  // scratch
};

}  // namespace ssdtlm
