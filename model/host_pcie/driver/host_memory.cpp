// SPDX-License-Identifier: Apache-2.0
#include "host_pcie/driver/host_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "common/report/error.h"

namespace ssdtlm {

HostMemory::HostMemory(std::uint64_t size_bytes) : size_(size_bytes) {
    SSDTLM_CHECK(size_bytes > 0, "host memory of zero bytes");
}

std::uint64_t HostMemory::allocate(std::uint64_t bytes, std::uint64_t alignment) {
    SSDTLM_CHECK(bytes > 0, "allocation of zero bytes");
    SSDTLM_CHECK(is_power_of_two(alignment), "alignment is not a power of two");
    std::uint64_t start = (next_ + alignment - 1) & ~(alignment - 1);
    if (bytes <= kChunkBytes && start / kChunkBytes != (start + bytes - 1) / kChunkBytes) {
        const std::uint64_t step = std::max(alignment, kChunkBytes);
        start = div_ceil(start, step) * step;
    }
    if (start > size_ || bytes > size_ - start)
        throw UserError(Problem{"host memory", fmt::format("{} bytes needed beyond the {} in use", bytes, next_),
                                fmt::format("{} bytes in all", size_), "fewer or shorter queues and buffers"});
    next_ = start + bytes;
    return kBase + start;
}

void HostMemory::read(std::uint64_t address, void* to, std::uint64_t bytes) const {
    if (!contains(address, bytes)) bad_span(address, bytes);
    auto* out = static_cast<std::uint8_t*>(to);
    std::uint64_t offset = address - kBase;
    while (bytes > 0) {
        const std::size_t index = offset / kChunkBytes;
        const std::uint64_t within = offset % kChunkBytes;
        const std::uint64_t n = std::min(bytes, kChunkBytes - within);
        if (index < chunks_.size() && chunks_[index])
            std::memcpy(out, chunks_[index].get() + within, n);
        else
            std::memset(out, 0, n);
        out += n;
        offset += n;
        bytes -= n;
    }
}

void HostMemory::write(std::uint64_t address, const void* from, std::uint64_t bytes) {
    if (!contains(address, bytes)) bad_span(address, bytes);
    const auto* in = static_cast<const std::uint8_t*>(from);
    while (bytes > 0) {
        const std::uint64_t n = std::min(bytes, kChunkBytes - (address - kBase) % kChunkBytes);
        std::memcpy(at(address, n), in, n);
        in += n;
        address += n;
        bytes -= n;
    }
}

std::uint8_t* HostMemory::touch(std::size_t index) {
    if (index >= chunks_.size()) chunks_.resize(index + 1);
    auto* p = static_cast<std::uint8_t*>(std::calloc(kChunkBytes, 1));
    if (p == nullptr) throw std::bad_alloc();
    chunks_[index].reset(p);
    return p;
}

void HostMemory::bad_span(std::uint64_t address, std::uint64_t bytes) const {
    panic("HostMemory",
          fmt::format("access to {} bytes at {:#x}, outside the memory or across a chunk", bytes, address));
}

}  // namespace ssdtlm
