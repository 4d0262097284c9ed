// SPDX-License-Identifier: Apache-2.0
// Reads from host memory what a command needs before it can begin: entries of a PRP list, segments of an SGL, or ranges
// of a Dataset Management command. Each command has a buffer of one page. A list that continues in another page is
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

/// Client of the reader. `token` is the client's own, and exactly one of the calls answers each request. The reader
/// itself tells a reset that waits for it.
class ListClient {
public:
    /// The list that was given to read_list() is complete.
    virtual void list_known(std::uint64_t token) = 0;
    /// Delivers the bytes that read_bytes() asked for. They are valid during the call.
    virtual void bytes_known(std::uint64_t token, const std::uint8_t* bytes) = 0;
    /// `status` names a bad entry in the list (0/13h, or one of an SGL), or a failed read of host memory (0/04h).
    virtual void list_failed(std::uint64_t token, std::uint16_t status) = 0;

protected:
    ~ListClient() = default;
};

class ListReader final {
public:
    ListReader(DmaPort& dma, ControllerState& state, NvmeCounters& counters)
        : dma_(dma), state_(state), counters_(counters) {}

    /// Reads the list that `walk` needs, and adds to `data`, which must outlive the answer.
    void read_list(const DataWalk& walk, HostData& data, ListClient& client, std::uint64_t token);
    /// Reads all of `data`, at most one page.
    void read_bytes(const HostData& data, ListClient& client, std::uint64_t token);

    std::size_t under_way() const { return reads_.in_use(); }

private:
    struct Read {
        DataWalk walk;
        HostData* data = nullptr;  ///< null: read_bytes(); the place of data is not wanted
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
