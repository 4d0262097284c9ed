// SPDX-License-Identifier: Apache-2.0
// Random commands on blocks with metadata, compared with what the rules of NVMe 1.4 §8.3 say of them. The oracle has
// code of its own: bytes of each block as the host sees them, a CRC by division, and its own reading of the rules.
#include <map>

#include "common/random/random.h"
#include "unit/nvme/protection_host.h"

namespace ssdtlm {
namespace {

using namespace nvme;
using test::ByteVector;
using Host = test::ProtectionHost;

constexpr std::uint32_t kBlocks = 20;  // of the namespace that are used

struct Case {
    std::uint32_t number;
    std::uint32_t type;
    bool extended, first;
    std::uint32_t piece;
};

struct Block {
    ByteVector data, metadata;
};

/// PRINFO and dwords 14 and 15 of a command.
struct Fields {
    bool act = false;
    std::uint32_t check = 0;  // 4 guard, 2 application, 1 reference
    std::uint32_t reference = 0;
    std::uint16_t application = 0, mask = 0;
};

class Oracle {
public:
    Oracle(std::uint32_t type, std::uint32_t lba)
        : type_(type), blocks(kBlocks, Block{ByteVector(lba, 0), ByteVector(8, type != 0 ? 0xFF : 0)}) {}

    bool protects() const { return type_ != 0; }
    /// The fields contradict the type of the namespace.
    bool is_impossible(const Fields& f, std::uint64_t slba) const {
        const bool by_address = type_ == 1 && f.reference != slba;
        return protects() && (f.check & 1) != 0 && (by_address || type_ == 3);
    }
    std::uint32_t tag(const Fields& f, std::uint32_t i) const { return type_ == 3 ? f.reference : f.reference + i; }
    std::uint16_t verdict(const Block& b, const Fields& f, std::uint32_t i) const {
        if (!protects()) return 0;
        const ByteVector& m = b.metadata;
        const bool no_application = m[2] == 0xFF && m[3] == 0xFF;
        const bool no_reference = m[4] == 0xFF && m[5] == 0xFF && m[6] == 0xFF && m[7] == 0xFF;
        if (type_ == 3 ? no_application && no_reference : no_application) return 0;
        const std::uint16_t guard = test::guard_by_division(b.data.data(), b.data.size());
        if ((f.check & 4) != 0 && (m[0] != guard >> 8 || m[1] != (guard & 0xFF))) return 0x282;
        const std::uint32_t application = m[2] * 256u + m[3];
        if ((f.check & 2) != 0 && (application & f.mask) != (std::uint32_t{f.application} & f.mask)) return 0x283;
        const std::uint32_t reference = ((m[4] * 256u + m[5]) * 256u + m[6]) * 256u + m[7];
        if ((f.check & 1) != 0 && type_ != 3 && reference != tag(f, i)) return 0x284;
        return 0;
    }

private:
    std::uint32_t type_;

public:
    std::vector<Block> blocks;
};

class Play {
public:
    Play(const Case& c, std::uint64_t seed) : random_(seed, 5), oracle_(c.type, c.number == Host::k512 ? 512 : 4096) {
        EXPECT_EQ(h_.format(c.number, c.type, c.extended, c.first), kStSuccess);
        h_.drive.piece = c.piece;
    }
    void step() {
        slba_ = below(kBlocks);
        count_ = 1 + below(std::min(5u, kBlocks - slba_));
        fields_ = Fields{below(3) == 0, below(8), below(4) == 0 ? below(1000) : slba_,
                         static_cast<std::uint16_t>(below(2) == 0 ? 0x1234 : below(65536)),
                         static_cast<std::uint16_t>(below(3) == 0 ? below(65536) : 0)};
        switch (below(10)) {
            case 0:
            case 1:
            case 2:
                return write();
            case 3:
            case 4:
            case 5:
                return read();
            case 6:
                return compare();
            case 7:
                return verify();
            case 8:
                return deallocate();
            default:
                return decay();
        }
    }
    std::map<std::uint16_t, std::uint32_t> ends;  ///< how many commands ended so

private:
    std::uint32_t below(std::uint64_t n) { return static_cast<std::uint32_t>(random_.below(n)); }
    bool passes() const { return !oracle_.protects() || !fields_.act; }
    std::uint64_t data_at(std::uint32_t b) const {
        return Host::kData + std::uint64_t{b} * (h_.lba + (h_.is_extended && passes() ? 8 : 0));
    }
    std::uint64_t metadata_at(std::uint32_t b) const {
        return h_.is_extended ? data_at(b) + h_.lba : Host::kMetadata + 8 * b;
    }
    std::uint16_t run(std::uint8_t opcode) {
        Sqe s = h_.entry(opcode, slba_, count_);
        s.cdw12 |= (fields_.act ? 1u << 29 : 0) | fields_.check << 26;
        s.cdw14 = fields_.reference;
        s.cdw15 = std::uint32_t{fields_.mask} << 16 | fields_.application;
        set_sgl(s, SglDescriptor::of(SglDescriptor::kDataBlock, Host::kData,
                                     static_cast<std::uint32_t>(data_at(count_) - Host::kData)));
        const std::uint16_t status = h_.ends(s);
        ++ends[status];
        return status;
    }
    void put(std::uint32_t b, const Block& block) {
        std::copy(block.data.begin(), block.data.end(),
                  h_.dma.memory.begin() + static_cast<std::ptrdiff_t>(data_at(b)));
        if (passes())
            std::copy(block.metadata.begin(), block.metadata.end(),
                      h_.dma.memory.begin() + static_cast<std::ptrdiff_t>(metadata_at(b)));
    }
    Block random_block(std::uint32_t i) {
        Block b{ByteVector(h_.lba), ByteVector(8)};
        for (std::uint8_t& byte : b.data) byte = static_cast<std::uint8_t>(below(256));
        tuple_of(b, i);
        switch (below(12)) {
            case 0:
                b.metadata[below(8)] ^= static_cast<std::uint8_t>(1u << below(8));
                break;
            case 1:
                b.metadata[2] = b.metadata[3] = 0xFF;
                break;
            case 2:
                std::fill(b.metadata.begin() + 2, b.metadata.end(), std::uint8_t{0xFF});
                break;
            case 3:
                for (std::uint8_t& byte : b.metadata) byte = static_cast<std::uint8_t>(below(256));
                break;
        }
        return b;
    }
    void tuple_of(Block& b, std::uint32_t i) const {
        const std::uint32_t guard = test::guard_by_division(b.data.data(), b.data.size()),
                            tag = oracle_.tag(fields_, i);
        b.metadata = {static_cast<std::uint8_t>(guard >> 8),
                      static_cast<std::uint8_t>(guard),
                      static_cast<std::uint8_t>(fields_.application >> 8),
                      static_cast<std::uint8_t>(fields_.application),
                      static_cast<std::uint8_t>(tag >> 24),
                      static_cast<std::uint8_t>(tag >> 16),
                      static_cast<std::uint8_t>(tag >> 8),
                      static_cast<std::uint8_t>(tag)};
    }
    /// Status of the first block that fails, and the number of blocks before it.
    template <class BlockOf>
    std::uint16_t first_verdict(BlockOf block, std::uint32_t& well) const {
        for (well = 0; well < count_; ++well)
            if (const std::uint16_t v = oracle_.verdict(block(well), fields_, well); v != 0) return v;
        return 0;
    }
    void write() {
        std::vector<Block> given;
        for (std::uint32_t i = 0; i < count_; ++i) {
            given.push_back(random_block(i));
            put(i, given.back());
        }
        std::uint16_t expected = 0;
        std::uint64_t lands = std::uint64_t{count_} * h_.lba;  // bytes that are written
        if (oracle_.is_impossible(fields_, slba_)) {
            expected = 0x181;
            lands = 0;
        } else if (passes()) {
            std::uint32_t well = 0;
            expected = first_verdict([&](std::uint32_t i) { return given[i]; }, well);
            const std::uint64_t last = (well + 1) * std::uint64_t{h_.lba} - 1, piece = h_.drive.piece;
            if (expected != 0) lands = piece == 0 ? 0 : last / piece * piece;  // the pieces before the block's end
        } else {
            for (std::uint32_t i = 0; i < count_; ++i) tuple_of(given[i], i);
        }
        ASSERT_EQ(run(kIoWrite), expected);
        for (std::uint32_t i = 0; i < count_; ++i) {
            Block& b = oracle_.blocks[slba_ + i];
            const std::uint64_t begin = std::uint64_t{i} * h_.lba;
            const std::uint64_t n = lands < begin ? 0 : std::min<std::uint64_t>(lands - begin, h_.lba);
            std::copy_n(given[i].data.begin(), n, b.data.begin());
            if (n == h_.lba) b.metadata = given[i].metadata;
        }
    }
    void read() {
        h_.clear_host();
        std::uint32_t well = 0;
        const std::uint16_t expected =
            oracle_.is_impossible(fields_, slba_)
                ? 0x181
                : first_verdict([&](std::uint32_t i) { return oracle_.blocks[slba_ + i]; }, well);
        ASSERT_EQ(run(kIoRead), expected);
        if (expected != 0) return;
        for (std::uint32_t i = 0; i < count_; ++i) {
            ASSERT_EQ(h_.host_bytes(data_at(i), h_.lba), oracle_.blocks[slba_ + i].data);
            if (!passes()) continue;
            ASSERT_EQ(h_.host_bytes(metadata_at(i), 8), oracle_.blocks[slba_ + i].metadata);
        }
        if (!passes() || h_.is_extended) {
            ASSERT_EQ(h_.host_bytes(Host::kMetadata, 64), ByteVector(64, 0xEE));
        }
        ASSERT_EQ(h_.host_bytes(data_at(count_), 64), ByteVector(64, 0xEE));
    }
    void compare() {
        std::uint16_t expected = 0;
        bool equal = true;
        const bool refused = (oracle_.protects() && fields_.act) || oracle_.is_impossible(fields_, slba_);
        for (std::uint32_t i = 0; i < count_; ++i) {
            const Block& has = oracle_.blocks[slba_ + i];
            Block theirs = has;
            if (below(4) == 0) theirs.data[below(h_.lba)] ^= 1;
            if (below(4) == 0) theirs.metadata[below(8)] ^= 1;
            put(i, theirs);
            equal = equal && theirs.data == has.data && theirs.metadata == has.metadata;
            if (expected == 0) expected = oracle_.verdict(has, fields_, i);
            if (expected == 0) expected = oracle_.verdict(theirs, fields_, i);
        }
        if (expected == 0 && !equal) expected = 0x285;
        ASSERT_EQ(run(kIoCompare), refused ? 0x181 : expected);
    }
    void verify() {
        std::uint32_t well = 0;
        const bool refused = (oracle_.protects() && fields_.act) || oracle_.is_impossible(fields_, slba_);
        const std::uint16_t expected = first_verdict([&](std::uint32_t i) { return oracle_.blocks[slba_ + i]; }, well);
        ASSERT_EQ(run(kIoVerify), refused ? 0x181 : expected);
    }
    /// Whole mapping units of 4 KiB, by Write Zeroes.
    void deallocate() {
        const std::uint32_t unit = 4096 / h_.lba;
        slba_ = slba_ / unit * unit;
        count_ = unit;
        if (slba_ + count_ > kBlocks) return;
        fields_.check = 0;
        Sqe s = h_.entry(kIoWriteZeroes, slba_, count_, fields_.act ? kPrAct : 0);
        ASSERT_EQ(h_.ends(s), kStSuccess);
        for (std::uint32_t i = 0; i < count_; ++i)
            oracle_.blocks[slba_ + i] = {ByteVector(h_.lba, 0), ByteVector(8, oracle_.protects() ? 0xFF : 0)};
    }
    /// A bit of the drive turns, in the data or the metadata.
    void decay() {
        Block& b = oracle_.blocks[slba_];
        const std::uint32_t bit = below(8), small = h_.lba / 512;  // blocks of the drive in one of the namespace
        if (below(2) == 0) {
            const std::uint32_t byte = below(h_.lba);
            b.data[byte] ^= static_cast<std::uint8_t>(1u << bit);
            h_.drive.memory[std::size_t{slba_} * h_.lba + byte] ^= static_cast<std::uint8_t>(1u << bit);
        } else {
            const std::uint32_t byte = below(8);
            b.metadata[byte] ^= static_cast<std::uint8_t>(1u << bit);
            h_.drive.metadata[(std::size_t{slba_ + 1} * small - 1) * 8 + byte] ^= static_cast<std::uint8_t>(1u << bit);
        }
    }

    Host h_;
    Random random_;
    Oracle oracle_;
    std::uint32_t slba_ = 0, count_ = 0;
    Fields fields_;
};

TEST(ProtectionRandom, EqualsAnOracleOfItsOwn) {
    std::map<std::uint16_t, std::uint32_t> ends;
    std::uint64_t seed = 0;
    for (const std::uint32_t number : {Host::k512, Host::k4096})
        for (std::uint32_t type = 0; type <= 3; ++type)
            for (const bool extended : {false, true})
                for (const std::uint32_t piece : {0u, 1536u, 4096u}) {
                    const Case c{number, type, extended, seed % 2 != 0, piece};
                    SCOPED_TRACE("format " + std::to_string(number) + " type " + std::to_string(type) +
                                 (extended ? " extended" : " separate") + " piece " + std::to_string(piece));
                    Play play(c, ++seed);
                    for (int i = 0; i < 120; ++i) {
                        play.step();
                        if (testing::Test::HasFatalFailure()) return;
                    }
                    for (const auto& [status, n] : play.ends) ends[status] += n;
                }
    for (const std::uint32_t status : {0x000u, 0x181u, 0x282u, 0x283u, 0x284u, 0x285u})
        EXPECT_GT(ends[static_cast<std::uint16_t>(status)], 30u) << status;
}

}  // namespace
}  // namespace ssdtlm
