// SPDX-License-Identifier: Apache-2.0
// The bytes of one mapping unit, if contents are bytes. It is a reference that is passed from the write buffer to a
// page, to a read and to another page. The bytes do not change while another reference to them exists.
#pragma once

#include <cstdint>
#include <cstring>
#include <new>
#include <utility>

#include "common/address/geometry.h"

namespace ssdtlm {

/// Several threads must not share it.
class UnitBytes {
public:
    /// Creates a reference to nothing.
    UnitBytes() = default;
    static UnitBytes zeros(std::uint32_t bytes) {
        UnitBytes unit(bytes);
        std::memset(unit.own(), 0, bytes);
        return unit;
    }
    static UnitBytes copy_of(const std::uint8_t* from, std::uint32_t bytes) {
        UnitBytes unit(bytes);
        std::memcpy(unit.own(), from, bytes);
        return unit;
    }
    UnitBytes(const UnitBytes& other) : shared_(other.shared_) {
        if (shared_ != nullptr) ++shared_->references;
    }
    UnitBytes(UnitBytes&& other) noexcept : shared_(std::exchange(other.shared_, nullptr)) {}
    UnitBytes& operator=(UnitBytes other) noexcept {
        std::swap(shared_, other.shared_);
        return *this;
    }
    ~UnitBytes() { reset(); }

    void reset() {
        if (shared_ != nullptr && --shared_->references == 0) ::operator delete(shared_);
        shared_ = nullptr;
    }
    explicit operator bool() const { return shared_ != nullptr; }
    std::uint32_t size() const { return shared_->bytes; }
    const std::uint8_t* data() const { return reinterpret_cast<const std::uint8_t*>(shared_ + 1); }
    /// Returns bytes that the caller may change. The reference has bytes of its own from now on.
    std::uint8_t* change() {
        if (shared_->references != 1) *this = copy_of(data(), size());
        shared_->origin = kWritten;
        return own();
    }

    /// Marks the bytes as the contents of this unit at the start. The mark is valid until the bytes are changed.
    void came_from_start(Lpa lpa) { shared_->origin = idx(lpa); }
    bool is_from_start(Lpa lpa) const { return shared_->origin == idx(lpa); }

private:
    static constexpr std::uint64_t kWritten = ~std::uint64_t{0};
    struct alignas(16) Shared {
        std::uint32_t references;
        std::uint32_t bytes;
        std::uint64_t origin;
    };
    explicit UnitBytes(std::uint32_t bytes) : shared_(static_cast<Shared*>(::operator new(sizeof(Shared) + bytes))) {
        *shared_ = Shared{1, bytes, kWritten};
    }
    std::uint8_t* own() { return reinterpret_cast<std::uint8_t*>(shared_ + 1); }

    Shared* shared_ = nullptr;
};

}  // namespace ssdtlm
