// SPDX-License-Identifier: Apache-2.0
// Reads that go in parts, for want of tags or of credits: the parts are the read, cut where requests may be cut, none
// is larger than what there was for it, and each has the byte enables that it may have. Random reads on links with
// little.
#include <gtest/gtest.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "common/random/random.h"
#include "host_pcie/link/pcie_link.h"

int sc_main(int, char**) {
    return 0;
}

namespace ssdtlm {
namespace {

std::uint8_t value_at(std::uint64_t address) {
    return static_cast<std::uint8_t>(address * 167 >> 3 | 1u);
}
constexpr std::uint8_t kUntouched = 0;

/// A memory that keeps what it is asked for.
struct Memory : sc_core::sc_module {
    struct Asked {
        std::uint64_t address;
        const std::uint8_t* data;
        std::uint32_t bytes;
        const unsigned char* enables;
        std::uint32_t pattern;
    };
    explicit Memory(sc_core::sc_module_name name) : sc_module(name) {
        socket.register_nb_transport_fw(this, &Memory::access);
    }
    tlm::tlm_sync_enum access(tlm::tlm_generic_payload& p, tlm::tlm_phase&, sc_core::sc_time&) {
        EXPECT_TRUE(p.is_read());
        const unsigned char* const enables = p.get_byte_enable_ptr();
        asked.push_back({p.get_address(), p.get_data_ptr(), p.get_data_length(), enables, p.get_byte_enable_length()});
        for (std::uint32_t i = 0; i < p.get_data_length(); ++i)
            if (enables == nullptr || enables[i % p.get_byte_enable_length()] != 0)
                p.get_data_ptr()[i] = value_at(p.get_address() + i);
        p.set_response_status(tlm::TLM_OK_RESPONSE);
        return tlm::TLM_COMPLETED;
    }
    tlm_utils::simple_target_socket<Memory> socket{"socket"};
    std::vector<Asked> asked;
};

struct Device : sc_core::sc_module {
    explicit Device(sc_core::sc_module_name name) : sc_module(name) {
        socket.register_nb_transport_bw(this, &Device::answer);
        registers.register_nb_transport_fw(this, &Device::access);
    }
    tlm::tlm_sync_enum answer(tlm::tlm_generic_payload& p, tlm::tlm_phase&, sc_core::sc_time&) {
        EXPECT_EQ(p.get_response_status(), tlm::TLM_OK_RESPONSE);
        answered.push_back(&p);
        return tlm::TLM_COMPLETED;
    }
    tlm::tlm_sync_enum access(tlm::tlm_generic_payload&, tlm::tlm_phase&, sc_core::sc_time&) {
        return tlm::TLM_COMPLETED;
    }
    tlm_utils::simple_initiator_socket<Device> socket{"socket"};
    tlm_utils::simple_target_socket<Device> registers{"registers"};
    std::vector<const tlm::tlm_generic_payload*> answered;
};

struct Host : sc_core::sc_module {
    explicit Host(sc_core::sc_module_name name) : sc_module(name) {}
    tlm_utils::simple_initiator_socket<Host> socket{"socket"};
};

struct Read : tlm::tlm_generic_payload {
    Read(Random& r, std::vector<unsigned char>& enables) : data(1 + r.below(r.below(2) ? 600 : 9000), kUntouched) {
        set_command(tlm::TLM_READ_COMMAND);
        set_address((r.below(4) == 0 ? 4_GiB - 4096 : 1_MiB) + r.below(8192));
        set_data_ptr(data.data());
        set_data_length(static_cast<unsigned>(data.size()));
        set_streaming_width(static_cast<unsigned>(data.size()));
        set_byte_enable_ptr(enables.empty() ? nullptr : enables.data());
        set_byte_enable_length(static_cast<unsigned>(enables.size()));
        set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    }
    std::vector<std::uint8_t> data;
};

struct Bench {
    Bench(const std::string& name, std::uint32_t tags, std::uint32_t credits, std::uint32_t request_bytes)
        : config(config_of(tags, credits, request_bytes)),
          memory((name + "_memory").c_str()),
          device((name + "_device").c_str()),
          host((name + "_host").c_str()),
          link((name + "_link").c_str(), agenda, config) {
        device.socket.bind(link.device_target);
        link.host_initiator.bind(memory.socket);
        host.socket.bind(link.host_target);
        link.device_initiator.bind(device.registers);
    }
    static LinkConfig config_of(std::uint32_t tags, std::uint32_t credits, std::uint32_t request_bytes) {
        LinkConfig c;
        c.read_tags = tags;
        c.upstream_nonposted_headers = credits;
        c.max_read_request_bytes = request_bytes;
        return c;
    }
    const LinkConfig config;
    Agenda agenda;
    Memory memory;
    Device device;
    Host host;
    PcieLink link;
};

/// The parts of a read as they came to the memory. Returns how many.
std::size_t check_parts(const Bench& b, const Read& read) {
    std::uint32_t at = 0;
    std::size_t parts = 0;
    for (const Memory::Asked& part : b.memory.asked) {
        if (part.data < read.data.data() || part.data >= read.data.data() + read.data.size()) continue;
        ++parts;
        EXPECT_EQ(part.data, read.data.data() + at) << "in order and without a gap";
        EXPECT_EQ(part.address, read.get_address() + at);
        const std::uint32_t pattern = read.get_byte_enable_length();
        const bool enables =
            pattern != 0 && at % pattern == 0;  // else the part begins within the pattern, and moves all
        EXPECT_EQ(part.enables, enables ? read.get_byte_enable_ptr() : nullptr) << at;
        for (std::uint32_t i = 0; i < part.bytes; ++i) {
            const bool moved = !enables || read.get_byte_enable_ptr()[i % pattern] != 0;
            EXPECT_EQ(part.data[i], moved ? value_at(part.address + i) : kUntouched);
        }
        const std::uint32_t unit = b.config.max_read_request_bytes;
        const std::uint64_t end = part.address + part.bytes;
        const std::uint64_t requests = (end - 1) / unit - part.address / unit + 1;
        EXPECT_LE(requests, std::min(b.config.read_tags, b.config.upstream_nonposted_headers));
        at += part.bytes;
        EXPECT_TRUE(at == read.data.size() || end % unit == 0) << "cut within a request";
    }
    EXPECT_EQ(at, read.data.size());
    return parts;
}

TEST(LinkParts, AreTheReadWhateverTagsAndCreditsThereAre) {
    std::deque<Bench> all;
    all.emplace_back("credits", 32, 3, 512);
    all.emplace_back("one_credit", 4, 1, 1024);
    all.emplace_back("tags", 5, 64, 128);
    all.emplace_back("one_tag", 1, 64, 4096);
    all.emplace_back("both", 7, 2, 256);
    all.emplace_back("same", 4, 4, 256);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    Random r(1, 7);
    for (Bench& b : all) {
        SCOPED_TRACE(b.link.name());
        std::size_t in_parts = 0;
        for (int round = 0; round < 100 && !testing::Test::HasFailure(); ++round) {
            b.memory.asked.clear();
            b.device.answered.clear();
            std::vector<unsigned char> enables[4] = {
                {}, std::vector<unsigned char>(4), std::vector<unsigned char>(24), std::vector<unsigned char>(512)};
            for (auto& pattern : enables)
                for (auto& enabled : pattern) enabled = r.below(2) ? 0xFF : 0;
            std::deque<Read> reads;
            for (std::uint64_t n = 1 + r.below(6); n > 0; --n) {
                Read& read = reads.emplace_back(r, enables[r.below(4)]);
                tlm::tlm_phase phase = tlm::BEGIN_REQ;
                sc_core::sc_time delay;
                ASSERT_EQ(b.device.socket->nb_transport_fw(read, phase, delay), tlm::TLM_UPDATED);
                if (r.below(3) == 0)
                    b.agenda.run_until(b.agenda.now() + Ps{static_cast<std::int64_t>(r.below(2'000'000))});
            }
            while (b.agenda.run_one(kNever)) b.link.check_waiters();
            ASSERT_EQ(b.device.answered.size(), reads.size());
            for (const Read& read : reads) {
                EXPECT_EQ(std::count(b.device.answered.begin(), b.device.answered.end(), &read), 1);
                in_parts += check_parts(b, read) > 1;
            }
            EXPECT_NE(b.link.dump().find("DMA: 0 payloads open, 0 parts in flight, 0 payloads wait for tags, " +
                                         std::to_string(b.config.read_tags) + " tags free"),
                      std::string::npos);
        }
        EXPECT_GT(in_parts, 50u);
    }
}

}  // namespace
}  // namespace ssdtlm
