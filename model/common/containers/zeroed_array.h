// SPDX-License-Identifier: Apache-2.0
// An array of zeros that takes memory only where it was written. It never grows or shrinks. It lies on huge pages,
// where the kernel has them, from the start or when told: otherwise TLB misses dominate the random accesses of a
// mapping table. But a single write into each of many huge pages takes hundreds of megabytes.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "common/report/error.h"

namespace ssdtlm {

template <class T>
class ZeroedArray {
    static_assert(std::is_trivial_v<T>);

public:
    enum class Pages : std::uint8_t { small, huge };
    static constexpr std::size_t kHugePage = std::size_t{1} << 21;

    ZeroedArray(std::size_t size, const char* what, Pages pages = Pages::huge)
        : bytes_((size * sizeof(T) / kHugePage + 2) * kHugePage) {  // whole huge pages at any address
        mapped_ = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (mapped_ == MAP_FAILED)
            throw UserError(Problem{what, std::to_string(bytes_ >> 20) + " MiB of memory are not available", "",
                                    "use a smaller device or a larger mapping unit"});
        const auto at = reinterpret_cast<std::uintptr_t>(mapped_);
        const std::size_t before = (kHugePage - at % kHugePage) % kHugePage;
        data_ = reinterpret_cast<T*>(static_cast<char*>(mapped_) + before);
        if (pages == Pages::huge) allow_huge();
    }
    ~ZeroedArray() { ::munmap(mapped_, bytes_); }
    ZeroedArray(const ZeroedArray&) = delete;
    ZeroedArray& operator=(const ZeroedArray&) = delete;

    T& operator[](std::size_t i) { return data_[i]; }
    const T& operator[](std::size_t i) const { return data_[i]; }
    /// Parts that are written for the first time from now on, far from what has been written, get huge pages.
    void allow_huge() { advise(mapped_, bytes_, kHuge); }
    /// Puts the kHugePage bytes around element `i` on a huge page, with their contents.
    void make_huge(std::size_t i) {
        void* const page = data_ + i / kPerHugePage * kPerHugePage;
        // An older kernel does it by and by, if it is told that it may.
        if (!advise(page, kHugePage, kCollapse)) advise(page, kHugePage, kHuge);
    }
    // Inlined always, as all that calls it: gcc 12 finds that a function that only prefetches has no effect, and drops
    // the call.
    [[gnu::always_inline]] void prefetch(std::size_t i) const { __builtin_prefetch(data_ + i, 1); }

private:
    static constexpr std::size_t kPerHugePage = kHugePage / sizeof(T);
#if defined(MADV_HUGEPAGE) && defined(MADV_COLLAPSE)
    static constexpr int kHuge = MADV_HUGEPAGE, kCollapse = MADV_COLLAPSE;
#else
    static constexpr int kHuge = 14, kCollapse = 25;  // Linux, asm-generic/mman-common.h; refused elsewhere
#endif
    /// Returns false when the kernel does not know this advice or cannot follow it. That costs speed and nothing else.
    static bool advise(void* p, std::size_t bytes, int what) {
        return ::madvise(p, bytes, what) == 0;
    }

    std::size_t bytes_;
    void* mapped_ = nullptr;
    T* data_ = nullptr;
};

}  // namespace ssdtlm
