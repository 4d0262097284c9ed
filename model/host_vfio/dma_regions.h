// SPDX-License-Identifier: Apache-2.0
// The client's memory that the device may read and write, by its address in the client. A region with a file descriptor
// is accessed directly. A region without one is accessed by messages to the client.
//
// A client may shrink its file at any time, and an access to the lost part ends by SIGBUS. So a region is mapped only
// if its file is sealed, or can be sealed, against shrinking. Any other region is accessed by pread and pwrite.
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

    /// Adds a region. Returns 0, or the errno of the failure. `memory` is empty if only the client can access the
    /// region.
    int map(const DmaMap& what, Fd memory);
    /// Removes a region that map() has added with this address and size. Returns ENOENT if there is none.
    int unmap(std::uint64_t address, std::uint64_t size);
    void clear() { regions_.clear(); }

    enum class Where : std::uint8_t {
        nowhere,  ///< there is no such region, only a part of it, or it is not readable (writeable)
        here,     ///< the data were copied
        client    ///< the region has no memory here: send a message to the client
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
