// SPDX-License-Identifier: Apache-2.0
// An array of zeros that takes memory only where it was written, on huge pages where the kernel has them: the random
// accesses of a mapping table are bound by TLB misses otherwise. Never grows, never shrinks.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <string>
#include <type_traits>

#include "common/report/error.h"

namespace ssdtlm {

template <class T>
class ZeroedArray {
    static_assert(std::is_trivial_v<T>);

public:
    ZeroedArray(std::size_t size, const char* what) : bytes_((size != 0 ? size : 1) * sizeof(T)) {
        void* p = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (p == MAP_FAILED)
            throw UserError(Problem{what, std::to_string(bytes_ >> 20) + " MiB of memory are not available", "",
                                    "use a smaller device or a larger mapping unit"});
#ifdef MADV_HUGEPAGE
        ::madvise(p, bytes_, MADV_HUGEPAGE);  // refused by some kernels, harmless
#endif
        data_ = static_cast<T*>(p);
    }
    ~ZeroedArray() {
        ::munmap(data_, bytes_);
    }
    ZeroedArray(const ZeroedArray&) = delete;
    ZeroedArray& operator=(const ZeroedArray&) = delete;

    T& operator[](std::size_t i) {
        return data_[i];
    }
    const T& operator[](std::size_t i) const {
        return data_[i];
    }
    void prefetch(std::size_t i) const {
        __builtin_prefetch(data_ + i, 1);
    }

private:
    std::size_t bytes_;
    T* data_ = nullptr;
};

}  // namespace ssdtlm
