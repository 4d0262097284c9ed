// SPDX-License-Identifier: Apache-2.0
// Reads from host memory what a command needs before it can begin: the entries of a PRP list, segments of
// an SGL, or the ranges of a Dataset Management command. One page of buffer a command; lists that go on elsewhere are
// followed.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "common/containers/pool.h"
#include "controller/nvme/controller_state.h"
#include "controller/nvme/data_walk.h"
#include "controller/ports/dma_port.h"

namespace ssdtlm {

/// Whose command it is. `token` is the client's own; exactly one of the calls answers each request. A
/// reset that waits for it is told by the reader.
class ListClient {
public:
    /// What was given to read_list() is complete.
    virtual void list_known(std::uint64_t token) = 0;
    /// What read_bytes() asked for; valid during the call.
    virtual void bytes_known(std::uint64_t token, const std::uint8_t* bytes) = 0;
    /// `status`: a bad entry in the list (0/13h, or one of an SGL) or the host did not deliver it (0/04h).
    virtual void list_failed(std::uint64_t token, std::uint16_t status) = 0;

protected:
    ~ListClient() = default;
};

class ListReader final {
public:
    ListReader(DmaPort& dma, ControllerState& state, NvmeCounters& counters)
        : dma_(dma), state_(state), counters_(counters) {}

    /// `walk` says need_list; adds to `data`, which must outlive the answer.
    void read_list(const DataWalk& walk, HostData& data, ListClient& client, std::uint64_t token);
    /// All of `data`, at most one page.
    void read_bytes(const HostData& data, ListClient& client, std::uint64_t token);

    std::size_t under_way() const { return reads_.in_use(); }

private:
    struct Read {
        DataWalk walk;
        HostData* data = nullptr;  ///< null: bytes are wanted, not where they lie
        ListClient* client = nullptr;
        std::uint64_t token = 0;
        alignas(8) std::array<std::uint8_t, nvme::kPageBytes> buffer{};
    };
    Read& begin(ListClient& client, std::uint64_t token);
    void read_piece(Read& read);
    void fail(Read& read, std::uint16_t status);
    void piece_read(std::uint64_t read, DmaEnd end);

    DmaPort& dma_;
    ControllerState& state_;
    NvmeCounters& counters_;
    Pool<Read> reads_;
    std::vector<HostSegment> segments_;  // scratch
};

}  // namespace ssdtlm
