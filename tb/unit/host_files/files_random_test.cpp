// SPDX-License-Identifier: Apache-2.0
// Random jobs on ext4 against a model that knows no file system: each byte of a file has one place on the drive, no two
// have the same, and none is where the file system's own blocks are.
#include <gmock/gmock.h>

#include <map>
#include <random>

#include "files_bench.h"

namespace ssdtlm {
namespace {

using namespace std::chrono_literals;

template <class T>
const T& one_of(std::mt19937& random, const std::vector<T>& all) {
    return all[random() % all.size()];
}

std::string random_job(std::mt19937& random) {
    std::string text = "[j]\ndirectory=/d\nfilename_format=f.$filenum\nioengine=libaio\nrandrepeat=1\n";
    text += one_of<std::string>(random, {"rw=randrw\n", "rw=randwrite\n", "rw=write\n", "rw=rw\n", "rw=randread\n"});
    text += one_of<std::string>(random, {"bs=4k\n", "bs=16k\n", "bs=512\n", "bsrange=4k-64k\n"});
    text +=
        one_of<std::string>(random, {"", "fsync=1\n", "fdatasync=3\n", "sync=1\n", "sync=dsync\n", "end_fsync=1\n"});
    text += one_of<std::string>(
        random, {"", "overwrite=1\n", "create_on_open=1\n", "fallocate=none\n", "fallocate=truncate\n"});
    text += one_of<std::string>(random,
                                {"", "norandommap\n", "file_service_type=random\n", "file_service_type=sequential\n"});
    text += "nrfiles=" + std::to_string(1 + random() % 9) + "\nfilesize=" + std::to_string(64 * (1 + random() % 20)) +
            "k\n";
    text += "numjobs=" + std::to_string(1 + random() % 5) + "\niodepth=" + std::to_string(1 + random() % 8) + "\n";
    return text + "number_ios=" + std::to_string(50 + random() % 400) + "\n";
}

TEST(FilesRandom, EachByteHasOnePlaceAndEachCallEnds) {
    std::mt19937 random(11);
    for (int round = 0; round < 150; ++round) {
        const std::string text = random_job(random);
        SCOPED_TRACE(text);
        FilesBench bench;
        bench.bytes = 64_MiB << random() % 3;
        bench.ext4.layout.block_bytes = 1024u << random() % 3;
        bench.ext4.clock_tick = one_of<Ps>(random, {1us, 4ms});
        bench.ext4.barrier = random() % 2 == 0;
        bench.ext4.relatime = random() % 2 == 0;
        bench.ext4.discard = random() % 2 == 0;
        bench.files.format = random() % 2 == 0;
        bench.files.layout_write = one_of<std::uint64_t>(random, {4096, 16384, 131072});
        bench.files.layout_depth = 1 + random() % 32;
        const auto all = bench.run(text);
        for (const FioJob& job : bench.jobs->job_list())
            ASSERT_TRUE(bench.jobs->runner(job.index).finished()) << "a job waits for nothing";
        const Ext4& system = bench.system();
        const std::uint64_t block = system.layout().block_bytes();
        std::map<std::uint64_t, std::uint32_t> owner;  // block of the drive -> file
        for (const BlockRun& run : system.layout().taken())
            for (std::uint64_t b = run.first; b < run.end(); ++b) owner[b] = ~0u;
        const auto files = static_cast<std::uint32_t>(bench.jobs->job_list().front().files.size());
        for (std::uint32_t f = 0; f < files; ++f)
            for (const auto& [at, extent] : system.file(f).map.extents())
                for (std::uint64_t b = extent.first; b < extent.first + extent.count; ++b)
                    ASSERT_TRUE(owner.emplace(b, f).second) << "block " << b << " is taken twice";
        // What jobs write and read is theirs, and what was never written is not read.
        std::map<std::uint64_t, bool> written;
        for (const OnDrive& d : all) {
            ASSERT_LE(d.request.offset + d.request.bytes, bench.bytes);
            ASSERT_EQ(d.request.offset % 512, 0u);
            for (std::uint64_t at = d.request.offset; at < d.request.offset + d.request.bytes; at += 512) {
                if (d.request.op == HostOp::write) written[at] = true;
                if (d.request.op == HostOp::read) {
                    ASSERT_NE(owner.count(at / block), 0u);
                    ASSERT_NE(owner[at / block], ~0u);
                }
            }
        }
        if (text.find("rw=randread") == std::string::npos) {
            EXPECT_GE(run_part(all, HostOp::write).size(), 10u);
        }
    }
}

}  // namespace
}  // namespace ssdtlm
