// SPDX-License-Identifier: Apache-2.0
// The state of a drained drive, on its way into a file or out of one. An organ describes its state once, in
// state(snapshot), for both directions. So all that is written is read again. An organ that is empty when the drive is
// drained has no state().
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

    /// True: the organs read their state from the snapshot. False: they write it.
    bool reads() const { return reads_; }
    /// The state from here on belongs to this organ. Errors about a damaged file, or a file of another version, name
    /// the organ.
    virtual void section(const char* organ) = 0;
    /// Throws UserError, because the state does not fit this drive or cannot be written.
    [[noreturn]] virtual void refuse(const char* what) = 0;

    /// Refuses the snapshot unless `ok`.
    void require(bool ok, const char* what) {
        if (__builtin_expect(!ok, 0)) refuse(what);
    }

    template <class... T>
    void operator()(T&... values) {
        (value(values), ...);
    }
    /// A vector whose size depends on the drive. A snapshot with another size is refused.
    template <class T>
    void fixed(std::vector<T>& v) {
        std::uint64_t size = v.size();
        value(size);
        if (v.size() != size) refuse("a table of another size");
        entries(v, 0);
    }
    void fixed(std::vector<bool>& v) {
        const std::size_t size = v.size();
        value(v);
        if (v.size() != size) refuse("a table of another size");
    }
    /// A map of any kind. The entries are written in the order of their keys, so that equal maps give equal bytes.
    template <class Map>
    void map(Map& m) {
        std::vector<std::pair<typename Map::key_type, typename Map::mapped_type>> entries(m.begin(), m.end());
        std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
        value(entries);
        if (!reads()) return;
        m = Map(entries.begin(), entries.end());
        require(m.size() == entries.size(), "an entry that is there twice");
    }
    template <class Set>
    void set(Set& set) {
        std::vector<typename Set::key_type> entries(set.begin(), set.end());
        std::sort(entries.begin(), entries.end());
        value(entries);
        if (!reads()) return;
        set = Set(entries.begin(), entries.end());
        require(set.size() == entries.size(), "an entry that is there twice");
    }
    virtual void bytes(void* data, std::size_t size) = 0;

protected:
    explicit Snapshot(bool reads) : reads_(reads) {}

private:
    /// The most entries for which memory is taken before they are read, because a damaged file may claim any number.
    static constexpr std::size_t kAhead = std::size_t{1} << 16;

    template <class T, class = void>
    struct HasState : std::false_type {};
    template <class T>
    struct HasState<T, std::void_t<decltype(std::declval<T&>().state(std::declval<Snapshot&>()))>> : std::true_type {};
    // Plain types consist of their value only, so two equal objects have equal bytes.
    template <class T>
    static constexpr bool kPlain =
        std::is_trivially_copyable_v<T>&& std::has_unique_object_representations_v<T> && !std::is_pointer_v<T>;

    template <class T>
    void value(T& v) {
        if constexpr (HasState<T>::value) {
            v.state(*this);
        } else if constexpr (std::is_same_v<T, bool>) {
            std::uint8_t byte = v;
            bytes(&byte, sizeof byte);
            require(byte <= 1, "neither yes nor no");
            v = byte != 0;
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
    void value(std::vector<bool>& v) {
        std::uint64_t n = v.size();
        value(n);
        if (reads()) v.clear();
        for (std::uint64_t i = 0; i < n; i += 64) {
            std::uint64_t word = 0;
            for (std::uint64_t j = i; !reads() && j < n && j < i + 64; ++j) word |= std::uint64_t{v[j]} << (j - i);
            value(word);
            for (std::uint64_t j = i; reads() && j < n && j < i + 64; ++j) v.push_back((word >> (j - i) & 1) != 0);
        }
    }
    template <class T>
    void value(std::vector<T>& v) {
        std::uint64_t n = v.size();
        value(n);
        if (!reads()) return entries(v, 0);
        v.clear();
        for (std::size_t there = 0; there < n; there = v.size()) {
            v.resize(static_cast<std::size_t>(std::min<std::uint64_t>(n, there + kAhead)));
            entries(v, there);
        }
    }
    /// The entries of a vector from number `from` on.
    template <class T>
    void entries(std::vector<T>& v, std::size_t from) {
        if constexpr (kPlain<T> && !HasState<T>::value && !std::is_same_v<T, bool>) {
            if (from != v.size()) bytes(v.data() + from, (v.size() - from) * sizeof(T));
        } else {
            for (std::size_t i = from; i < v.size(); ++i) value(v[i]);
        }
    }
    template <class T>
    void value(std::deque<T>& v) {
        std::uint64_t n = v.size();
        value(n);
        if (reads()) v.clear();
        for (std::uint64_t i = 0; i < n; ++i) {
            if (reads()) v.emplace_back();
            value(v[static_cast<std::size_t>(i)]);
        }
    }

    const bool reads_;
};

}  // namespace ssdtlm
