// SPDX-License-Identifier: Apache-2.0
// What a drained drive remembers, on its way into a file or out of one. An organ describes its memory once, in state(snapshot),
// and that serves both directions: nothing can be written that is not read again. Organs that hold nothing when nothing is under
// way have no state().
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <type_traits>
#include <utility>
#include <vector>

namespace ssdtlm {

class Snapshot {
public:
    virtual ~Snapshot() = default;

    /// The organs take over what it says; else they tell it.
    bool reads() const { return reads_; }
    /// What follows belongs to this organ: where a file is of another version, or damaged, it is said here.
    virtual void section(const char* organ) = 0;
    /// What it says does not fit this drive, or what is to be told cannot be. Throws UserError.
    [[noreturn]] virtual void refuse(const char* what) = 0;

    template <class... T>
    void operator()(T&... values) {
        (value(values), ...);
    }
    /// A vector whose size is the drive's, not the snapshot's.
    template <class T>
    void fixed(std::vector<T>& v) {
        std::uint64_t size = v.size();
        value(size);
        if (v.size() != size) refuse("a table of another size");
        entries(v);
    }
    /// Of any kind, by their keys.
    template <class Map>
    void map(Map& m) {
        std::vector<std::pair<typename Map::key_type, typename Map::mapped_type>> entries(m.begin(), m.end());
        std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
        value(entries);
        if (reads()) m = Map(entries.begin(), entries.end());
    }
    template <class Set>
    void set(Set& set) {
        std::vector<typename Set::key_type> entries(set.begin(), set.end());
        std::sort(entries.begin(), entries.end());
        value(entries);
        if (reads()) set = Set(entries.begin(), entries.end());
    }
    virtual void bytes(void* data, std::size_t size) = 0;

protected:
    explicit Snapshot(bool reads) : reads_(reads) {}

private:
    static constexpr std::uint64_t kMost = std::uint64_t{1} << 36;  // entries; a damaged file may ask for any number

    template <class T, class = void>
    struct HasState : std::false_type {};
    template <class T>
    struct HasState<T, std::void_t<decltype(std::declval<T&>().state(std::declval<Snapshot&>()))>> : std::true_type {};
    // Nothing in it but its value: two that are equal have equal bytes.
    template <class T>
    static constexpr bool kPlain = std::is_trivially_copyable_v<T> && std::has_unique_object_representations_v<T> && !std::is_pointer_v<T>;

    template <class T>
    void value(T& v) {
        if constexpr (HasState<T>::value) {
            v.state(*this);
        } else {
            static_assert(kPlain<T> || std::is_same_v<T, double>, "has no state() and is no plain value");
            bytes(&v, sizeof v);
        }
    }
    template <class A, class B>
    void value(std::pair<A, B>& v) {
        value(v.first);
        value(v.second);
    }
    template <class Container>
    void resize(Container& v) {
        std::uint64_t n = v.size();
        value(n);
        if (n > kMost) refuse("a table that is too long");
        v.resize(static_cast<std::size_t>(n));
    }
    void value(std::vector<bool>& v) {
        resize(v);
        for (std::size_t i = 0; i < v.size(); i += 64) {
            std::uint64_t word = 0;
            for (std::size_t j = i; j < v.size() && j < i + 64; ++j) word |= std::uint64_t{v[j]} << (j - i);
            value(word);
            for (std::size_t j = i; j < v.size() && j < i + 64; ++j) v[j] = (word >> (j - i) & 1) != 0;
        }
    }
    template <class T>
    void value(std::vector<T>& v) {
        resize(v);
        entries(v);
    }
    template <class T>
    void entries(std::vector<T>& v) {
        if constexpr (kPlain<T> && !HasState<T>::value) {
            if (!v.empty()) bytes(v.data(), v.size() * sizeof(T));
        } else {
            for (T& x : v) value(x);
        }
    }
    template <class T>
    void value(std::deque<T>& v) {
        resize(v);
        for (T& x : v) value(x);
    }

    const bool reads_;
};

}  // namespace ssdtlm
