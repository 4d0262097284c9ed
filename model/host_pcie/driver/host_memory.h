// SPDX-License-Identifier: Apache-2.0
// The host's DRAM as bytes. It is sparse and starts with zeros. It has a bump allocator for the driver's queues and
// buffers. It models contents only; the time of a memory access is part of LinkConfig::root_complex_latency.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "common/units/units.h"
#include "host_pcie/ports/memory_watcher.h"

namespace ssdtlm {

/// Host physical memory [kBase, kBase + size). Chunks come from calloc on first touch, so the operating system
/// backs only the pages that are used. All addresses lie above 4 GiB: every data TLP has a 4DW header.
class HostMemory {
public:
    static constexpr std::uint64_t kBase = 0x1'0000'0000;
    static constexpr std::uint64_t kChunkBytes = 64_MiB;

    explicit HostMemory(std::uint64_t size_bytes = 64_GiB);
    HostMemory(const HostMemory&) = delete;
    HostMemory& operator=(const HostMemory&) = delete;

    /// Returns the host physical address of fresh zeroed memory; `alignment` is a power of two. An allocation of at
    /// most kChunkBytes never straddles a chunk, so at(address, bytes) works on all of it. It is never freed. Throws
    /// UserError when the memory is used up.
    std::uint64_t allocate(std::uint64_t bytes, std::uint64_t alignment);

    /// True: [address, address + bytes) lies in the memory.
    bool contains(std::uint64_t address, std::uint64_t bytes) const {
        return address >= kBase && bytes <= size_ && address - kBase <= size_ - bytes;
    }

    /// Direct pointer to `bytes` bytes at `address`. It is valid for the life of this object. Precondition (checked):
    /// they are inside the memory and one chunk.
    std::uint8_t* at(std::uint64_t address, std::uint64_t bytes) {
        const std::uint64_t offset = address - kBase;
        const std::uint64_t within = offset % kChunkBytes;
        if (__builtin_expect(!contains(address, bytes) || within + bytes > kChunkBytes, 0)) bad_span(address, bytes);
        const std::size_t index = offset / kChunkBytes;
        std::uint8_t* chunk = index < chunks_.size() ? chunks_[index].get() : nullptr;
        if (__builtin_expect(chunk == nullptr, 0)) chunk = touch(index);
        return chunk + within;
    }

    /// Returns the pointer of at(), or null if at() would panic or if the memory was never touched.
    std::uint8_t* find(std::uint64_t address, std::uint64_t bytes) {
        const std::uint64_t offset = address - kBase;
        const std::size_t index = offset / kChunkBytes;
        if (__builtin_expect(index >= chunks_.size() || !contains(address, bytes), 0)) return nullptr;
        const std::uint64_t within = offset % kChunkBytes;
        if (__builtin_expect(within + bytes > kChunkBytes, 0)) return nullptr;
        std::uint8_t* chunk = chunks_[index].get();
        return chunk != nullptr ? chunk + within : nullptr;
    }

    /// Copies `bytes` bytes from `address`. Memory never touched reads as zero and is not allocated. Precondition
    /// (checked): contains().
    void read(std::uint64_t address, void* to, std::uint64_t bytes) const;
    /// Copies `bytes` bytes to `address`. Precondition (checked): contains().
    void write(std::uint64_t address, const void* from, std::uint64_t bytes);

    template <class T>
    T load(std::uint64_t address) const {
        T value;
        read(address, &value, sizeof value);
        return value;
    }
    template <class T>
    void store(std::uint64_t address, const T& value) {
        write(address, &value, sizeof value);
    }

    /// Tells `watcher` about writes of devices to [from, to) from now on, for a host that polls. There is one range at
    /// a time.
    void watch(std::uint64_t from, std::uint64_t to, MemoryWatcher& watcher) {
        watched_ = from;
        watched_bytes_ = to - from;
        watcher_ = &watcher;
    }
    /// Call it when a device has written to this address.
    void written(std::uint64_t address) {
        if (__builtin_expect(address - watched_ < watched_bytes_, 0)) watcher_->written(address);
    }

    std::uint64_t size() const { return size_; }
    /// Number of bytes that allocate() has used, alignment included.
    std::uint64_t allocated() const { return next_; }

private:
    struct Free {
        void operator()(std::uint8_t* p) const { std::free(p); }
    };
    std::uint8_t* touch(std::size_t index);
    [[noreturn]] void bad_span(std::uint64_t address, std::uint64_t bytes) const;

    std::uint64_t size_;
    std::uint64_t next_ = 0;  // bump pointer, offset from kBase
    std::uint64_t watched_ = 0;
    std::uint64_t watched_bytes_ = 0;
    MemoryWatcher* watcher_ = nullptr;
    std::vector<std::unique_ptr<std::uint8_t, Free>> chunks_;  // grows to the highest chunk touched
};

}  // namespace ssdtlm
