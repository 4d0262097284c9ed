// SPDX-License-Identifier: Apache-2.0
// The memory of a client that the device may read and write, by its address there. A region with a file descriptor is
// reached here; one without it only by messages to the client.
//
// A client may shrink its file at any time, and who touches what is gone ends by SIGBUS. So a region is mapped only
// where the file can shrink no more (it is sealed, or lets itself be sealed); any other is reached by pread and pwrite.
#pragma once

#include <cstdint>
#include <map>

#include "host_vfio/fd.h"
#include "host_vfio/protocol.h"

namespace ssdtlm::vfio {

class DmaRegions {
public:
    DmaRegions() = default;
    DmaRegions(const DmaRegions&) = delete;
    DmaRegions& operator=(const DmaRegions&) = delete;

    /// 0, or the errno that says why not. `memory`: none where only the client can reach the region.
    int map(const DmaMap& what, Fd memory);
    /// Of a region that was mapped so; anything else is ENOENT.
    int unmap(std::uint64_t address, std::uint64_t size);
    void clear() { regions_.clear(); }

    enum class Where : std::uint8_t {
        nowhere,  ///< no region, not all of it in one, or not readable (writeable)
        here,     ///< it was copied
        client    ///< in a region without memory: a message is to do it
    };
    Where read(std::uint64_t address, void* to, std::uint64_t bytes) const;
    Where write(std::uint64_t address, const void* from, std::uint64_t bytes);

    std::size_t count() const { return regions_.size(); }

private:
    struct Region {
        Region(const DmaMap& map, Fd memory);
        Region(Region&& other) noexcept;
        Region& operator=(Region&&) = delete;
        ~Region();

        std::uint64_t size;
        std::uint32_t flags;
        std::uint64_t offset;  // in the file
        Fd memory;
        std::uint8_t* mapped = nullptr;
    };
    const Region* find(std::uint64_t address, std::uint64_t bytes, std::uint32_t flag, std::uint64_t& within) const;

    std::map<std::uint64_t, Region> regions_;  // by address
};

}  // namespace ssdtlm::vfio
