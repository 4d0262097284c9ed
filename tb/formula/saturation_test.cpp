// SPDX-License-Identifier: Apache-2.0
// Saturated throughput against closed formulas: the link, the dies, the programs, and a closed network of dies.
#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>
#include <random>
#include <systemc>
#include <vector>

#include "formula/reference.h"
#include "support/devices.h"
#include "support/run_closed_loop.h"

namespace ssdtlm {
namespace {

void expect_within(const char* what, double model, double formula, double tolerance) {
    std::printf("[   FIGURE ] %s: formula %.4f, model %.4f, %+.2f %%\n", what, formula, model,
                (model / formula - 1) * 100);
    EXPECT_NEAR(model / formula, 1.0, tolerance) << what;
}

// Payload bandwidth of the link for 128 KiB reads: what leaves the device besides the data is one CQE, one MSI-X
// message and one SQE read request per command.
void sequential_read_on(std::uint32_t generation, std::uint32_t payload) {
    SsdConfig c = grid(16, 8);
    c.nand.geometry.page_bytes = 8192;
    c.nand.geometry.blocks_per_plane = 32;
    c.ftl.user_capacity_bytes = c.nand.geometry.raw_bytes() / 2;
    c.nand.onfi.interface = OnfiInterface::nv_ddr3;
    c.nand.onfi.megatransfers = 1200;
    c.nand.t_read = {Ps{50'000'000}};
    c.link.generation = generation;
    c.link.max_payload_bytes = payload;
    c.link.completion_payload_bytes = payload;
    c.firmware.cores = 4;
    c.dram.bytes_per_second = 25'600'000'000;  // the data pass it twice
    ClosedLoop::Spec s;
    s.pattern = ClosedLoop::Pattern::sequential;
    s.bytes = 131072;
    s.depth = 64;
    s.requests = 30000;  // the first and the last queue-full count half: keep them below 0.5 %
    s.skip = 500;
    s.span = c.ftl.user_capacity_bytes / s.bytes * s.bytes;
    const auto r = run_closed_loop(c, s);
    const LinkConfig& l = c.link;
    const double per_command =
        static_cast<double>(reference::wire(l, reference::write_bytes(l, s.bytes) + reference::header(true) + 16 +
                                                   reference::header(true) + 4 + reference::header(false))) *
        1e-12;
    char what[80];
    std::snprintf(what, sizeof what, "128 KiB sequential read, Gen%u x4, MPS %u, MB/s", generation, payload);
    expect_within(what, r["read"]["MB_per_s"].get<double>(), s.bytes / per_command * 1e-6, 0.01);
    EXPECT_NE(r["limiting"].get<std::string>().find("link to host"), std::string::npos) << r["limiting"];
}
TEST(Saturation, SequentialReadFillsAGen3Link) {
    sequential_read_on(3, 256);
}
TEST(Saturation, SequentialReadFillsAGen4Link) {
    sequential_read_on(4, 256);
}
TEST(Saturation, SmallPayloadsCostBandwidth) {
    sequential_read_on(3, 128);
}

TEST(Saturation, RandomReadOnFewDiesIsBoundByThem) {
    SsdConfig c = grid(4, 1);
    ClosedLoop::Spec s;
    s.depth = 512;
    s.requests = 200000;
    s.skip = 4000;
    s.span = c.ftl.user_capacity_bytes;
    const auto r = run_closed_loop(c, s);
    const double cycle =
        static_cast<double>(reference::read_issue(c.nand) + c.nand.onfi.t_wb.count() + c.nand.t_read[0].count() +
                            reference::data_out(c.nand, 4096) + c.nand.onfi.t_rhw.count()) *
        1e-12;
    expect_within("random 4 KiB read on 4 dies, IOPS", r["read"]["iops"].get<double>(), 4 / cycle, 0.02);
    EXPECT_NE(r["limiting"].get<std::string>().find("die"), std::string::npos) << r["limiting"];
}

// What passes the DRAM twice has half its rate: a read comes in from the flash and goes out to the host, a write the
// other way round.
void bound_by_dram(HostOp op, const char* model) {
    SsdConfig c = grid(16, 2);
    c.nand.geometry.page_bytes = 8192;
    c.nand.geometry.blocks_per_plane = 256;
    c.ftl.user_capacity_bytes = c.nand.geometry.raw_bytes() / 2;
    c.ftl.buffer_bytes = 8u << 20;
    c.ftl.initial_state = op == HostOp::read ? InitialState::sequential : InitialState::fresh;
    c.dram.model = model;
    c.dram.bytes_per_second = 100'000'000;
    ClosedLoop::Spec s;
    s.op = op;
    s.pattern = ClosedLoop::Pattern::sequential;
    s.bytes = 131072;
    s.depth = 32;
    s.requests = 5000;
    s.skip = 500;  // the buffer fills first
    s.span = c.ftl.user_capacity_bytes / s.bytes * s.bytes;
    const auto r = run_closed_loop(c, s);
    char what[80];
    std::snprintf(what, sizeof what, "128 KiB %s through 100 MB/s of DRAM (%s), MB/s",
                  op == HostOp::read ? "reads" : "writes", model);
    const double share = std::string(model) == "rate" ? 1 : 1 - (350.0 + 27.5) / 7800;  // refresh, and the row after it
    expect_within(what, r[op == HostOp::read ? "read" : "write"]["MB_per_s"].get<double>(), 50 * share, 0.02);
    EXPECT_NE(r["limiting"].get<std::string>().find("DRAM"), std::string::npos) << r["limiting"];
}
TEST(Saturation, ReadsHaveHalfOfTheDram) {
    bound_by_dram(HostOp::read, "rate");
}
TEST(Saturation, WritesHaveHalfOfTheDram) {
    bound_by_dram(HostOp::write, "rate");
}
TEST(Saturation, ReadsHaveHalfOfDramWithBanks) {
    bound_by_dram(HostOp::read, "banks");
}

SsdConfig four_dies(std::uint32_t planes) {
    SsdConfig c = grid(4, 1, planes);
    c.nand.geometry.page_bytes = 8192;
    c.nand.geometry.spare_bytes = 448;
    c.nand.geometry.blocks_per_plane = 256;
    c.ftl.user_capacity_bytes = c.nand.geometry.raw_bytes() / 2;
    c.ftl.initial_state = InitialState::fresh;
    c.ftl.buffer_bytes = 8u << 20;
    return c;
}

void write_on(std::uint32_t planes, std::uint32_t bytes, ClosedLoop::Pattern pattern) {
    const SsdConfig c = four_dies(planes);
    ClosedLoop::Spec s;
    s.op = HostOp::write;
    s.pattern = pattern;
    s.bytes = bytes;
    s.depth = 32;
    s.requests = (512u << 20) / bytes;  // fits in the free blocks: no garbage collection
    s.skip = s.requests / 8;            // the buffer fills first
    s.span = c.ftl.user_capacity_bytes / bytes * bytes;
    const auto r = run_closed_loop(c, s);
    const std::int64_t cycle = reference::program_cycle(c.nand, planes);
    const double bound = 4.0 * planes * 8192 / (static_cast<double>(cycle) * 1e-12) * 1e-6;
    char what[80];
    std::snprintf(what, sizeof what, "%u KiB %s write, 4 dies x %u planes, MB/s", bytes / 1024,
                  pattern == ClosedLoop::Pattern::random ? "random" : "sequential", planes);
    expect_within(what, r["write"]["MB_per_s"].get<double>(), bound, 0.02);
}
TEST(Saturation, SequentialWriteIsBoundByPrograms) {
    write_on(1, 131072, ClosedLoop::Pattern::sequential);
}
TEST(Saturation, MultiPlaneProgramsDoubleTheBound) {
    write_on(2, 131072, ClosedLoop::Pattern::sequential);
}
TEST(Saturation, RandomWriteIsBoundByProgramsToo) {
    write_on(1, 4096, ClosedLoop::Pattern::random);
}

// The array programs one row of pages while the next one is on the bus: the longer of the two is the cycle.
void cached_write_on(std::uint32_t planes, Ps t_program) {
    SsdConfig c = four_dies(planes);
    c.nand.t_program = {t_program};
    c.nand.cache_program = true;
    c.ftl.flush_depth_per_die = 3 * planes;
    ClosedLoop::Spec s;
    s.op = HostOp::write;
    s.pattern = ClosedLoop::Pattern::sequential;
    s.bytes = 131072;
    s.depth = 32;
    s.requests = (512u << 20) / s.bytes;
    s.skip = s.requests / 8;
    s.span = c.ftl.user_capacity_bytes / s.bytes * s.bytes;
    const auto r = run_closed_loop(c, s);
    const std::int64_t transfer =
        reference::program_cycle(c.nand, planes) - t_program.count() + c.nand.t_cache_busy.count();
    const double bound =
        4.0 * planes * 8192 / (static_cast<double>(std::max(t_program.count(), transfer)) * 1e-12) * 1e-6;
    char what[160];
    std::snprintf(what, sizeof what,
                  "sequential write with cache program, 4 dies x %u planes, tPROG %lld us, transfer %.1f us, MB/s",
                  planes, static_cast<long long>(t_program.count() / 1'000'000), static_cast<double>(transfer) * 1e-6);
    expect_within(what, r["write"]["MB_per_s"].get<double>(), bound, 0.02);
}
TEST(Saturation, CacheProgramHidesTheTransferBehindTheProgram) {
    for (const std::uint32_t planes : {1u, 2u}) cached_write_on(planes, 200us);
}
TEST(Saturation, CacheProgramHidesTheProgramBehindTheTransfer) {
    cached_write_on(2, 30us);
}

/// Writes of rows of pages that as many of four dies as are `used` program side by side; the offsets are the caller's.
ClosedLoop::Spec rows_to_dies(const SsdConfig& c, std::uint32_t row, std::uint32_t used) {
    ClosedLoop::Spec s;
    s.op = HostOp::write;
    s.pattern = ClosedLoop::Pattern::list;
    s.bytes = row;
    s.depth = 32;
    s.requests = (128u << 20) * used / row;
    s.skip = s.requests / 8;
    s.span = c.ftl.user_capacity_bytes;
    return s;
}

// Rows of pages that an ascending write would put on the first `used` of four channels, one die each. Where the address
// decides the channel, only these dies work.
void write_to_channels(const std::string& fixed, std::uint32_t planes, std::uint32_t used) {
    SsdConfig c = four_dies(planes);
    c.ftl.static_dimensions = fixed;
    const std::uint32_t row = planes * 8192;
    ClosedLoop::Spec s = rows_to_dies(c, row, used);
    for (std::uint64_t i = 0; i < s.requests; ++i) s.offsets.push_back((i / used * 4 + i % used) * row % s.span);
    const auto r = run_closed_loop(c, s);
    const std::uint32_t dies = fixed == "none" ? 4 : used;
    const double bound = dies * row / (static_cast<double>(reference::program_cycle(c.nand, planes)) * 1e-12) * 1e-6;
    char what[100];
    std::snprintf(what, sizeof what, "writes to %u of 4 channels, %u planes, static: %s, MB/s", used, planes,
                  fixed.c_str());
    expect_within(what, r["write"]["MB_per_s"].get<double>(), bound, 0.02);
}
TEST(Saturation, StaticDimensionsBindWritesToDies) {
    for (const std::uint32_t planes : {1u, 2u}) {
        write_to_channels("none", planes, 1);
        for (const std::uint32_t used : {1u, 2u, 3u, 4u}) write_to_channels("C", planes, used);
        write_to_channels("CWD", planes, 3);
    }
}

// Rows of pages to the addresses of one NVM Set: only its dies work. Together with another one, both do.
TEST(Saturation, WritesToAnNvmSetAreBoundByItsDies) {
    for (const std::uint32_t planes : {1u, 2u})
        for (const std::uint32_t used : {1u, 3u, 4u}) {
            SsdConfig c = four_dies(planes);
            c.ftl.nvm_sets = "C0, C1-3";
            const std::uint32_t row = planes * 8192;
            const std::uint64_t rows = c.ftl.user_capacity_bytes / row, quarter = rows / 4;
            ClosedLoop::Spec s = rows_to_dies(c, row, used);
            for (std::uint64_t i = 0; i < s.requests; ++i) {
                const bool first = used == 1 || (used == 4 && i % 4 == 0);
                s.offsets.push_back((first ? 1 + i % (quarter - 2) : quarter + 1 + i % (3 * quarter - 2)) * row);
            }
            const auto r = run_closed_loop(c, s);
            const double bound =
                used * row / (static_cast<double>(reference::program_cycle(c.nand, planes)) * 1e-12) * 1e-6;
            char what[100];
            std::snprintf(what, sizeof what, "writes to NVM Sets with %u of 4 channels, %u planes, MB/s", used, planes);
            expect_within(what, r["write"]["MB_per_s"].get<double>(), bound, 0.02);
        }
}

// q outstanding single-die reads on n dies, deterministic service: simulated utilisation for n = 16, and
// U = 1 + k - sqrt(1 + k^2), k = q/n for many dies.
void closed_network(std::uint32_t dies, std::uint32_t q, double expected) {
    SsdConfig c = grid(dies < 16 ? dies : 16, dies < 16 ? 1 : dies / 16);
    c.nand.t_read = {Ps{20'000'000'000}};  // 20 ms: everything else vanishes beside it
    c.firmware.read_command = c.firmware.map_lookup = c.firmware.flash_issue = 0;
    ClosedLoop::Spec s;
    s.depth = q;
    s.requests = 200000;
    s.skip = 4000;
    s.span = c.ftl.user_capacity_bytes;
    const auto r = run_closed_loop(c, s);
    const double u = r["read"]["iops"].get<double>() * 0.020 / dies;
    char what[60];
    std::snprintf(what, sizeof what, "utilisation, %u reads outstanding on %u dies", q, dies);
    expect_within(what, u, expected, 0.02);
}
TEST(ClosedNetwork, SixteenDies) {
    closed_network(16, 16, 0.601);
    closed_network(16, 32, 0.777);
    closed_network(16, 64, 0.885);
    closed_network(16, 128, 0.942);
}
TEST(ClosedNetwork, SixtyFourDies) {
    closed_network(64, 32, 0.385);
    closed_network(64, 64, 0.590);
    closed_network(64, 128, 0.767);
    closed_network(64, 256, 0.879);
}
TEST(ClosedNetwork, ManyDiesFollowTheClosedForm) {
    for (const double k : {1.0, 2.0, 4.0})
        closed_network(128, static_cast<std::uint32_t>(128 * k), 1 + k - std::sqrt(1 + k * k));
}

// Share of `dies` that work while q reads are outstanding, each of the same duration at a die of its own choice: the
// closed network itself, in a few lines.
double busy_share(std::uint32_t dies, std::uint32_t q) {
    std::mt19937_64 random(q);
    std::vector<double> free_at(dies, 0.0);
    std::priority_queue<double, std::vector<double>, std::greater<>> ends;
    constexpr int kReads = 400'000, kSkipped = 4'000;
    double first = 0, now = 0;
    for (int i = 0; i < kReads; ++i) {
        if (i >= static_cast<int>(q)) {
            now = ends.top();
            ends.pop();
        }
        double& die = free_at[random() % dies];
        die = std::max(die, now) + 1;
        ends.push(die);
        if (i == kSkipped) first = now;
    }
    return (kReads - kSkipped) / (now - first) / dies;
}

// Dies of a drive that wait for work because the host may have no more than 32 commands in it: tags against throughput.
TEST(ClosedNetwork, TagsOfASerialAtaDrive) {
    SsdConfig c = grid(8, 4);
    c.front_end.kind = "sata";
    c.nand.t_read = {Ps{20'000'000'000}};
    c.firmware.read_command = c.firmware.map_lookup = c.firmware.flash_issue = 0;
    ClosedLoop::Spec s;
    s.requests = 60000;
    s.skip = 1000;
    s.span = c.ftl.user_capacity_bytes;
    for (const std::uint32_t tags : {1u, 2u, 4u, 8u, 16u, 32u}) {
        s.depth = tags;
        const auto r = run_closed_loop(c, s);
        const std::string what = "IOPS of reads of 20 ms on 32 dies with " + std::to_string(tags) + " tags";
        const double formula = tags == 1 ? 1 / 0.020 : busy_share(32, tags) * 32 / 0.020;
        expect_within(what.c_str(), r["read"]["iops"].get<double>(), formula, 0.01);
    }
    // A queue of the host does not help: the drive has 32 tags.
    const double most = busy_share(32, 32) * 32 / 0.020;
    s.depth = 128;
    expect_within("the same, 128 requests of the host", run_closed_loop(c, s)["read"]["iops"].get<double>(), most,
                  0.01);
    // Fewer tags of the drive than requests.
    c.front_end.policies["sata"]["queue_depth"] = Value{std::int64_t{8}};
    expect_within("the same, 8 tags of the drive", run_closed_loop(c, s)["read"]["iops"].get<double>(),
                  busy_share(32, 8) * 32 / 0.020, 0.01);
}

}  // namespace
}  // namespace ssdtlm
