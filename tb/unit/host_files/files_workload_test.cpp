// SPDX-License-Identifier: Apache-2.0
// Jobs on ext4: what comes to the drive, and when, by formula.
#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "files_bench.h"

namespace ssdtlm {
namespace {

using namespace std::chrono_literals;

constexpr const char* kFiles = "directory=/d\nfilename_format=f.$filenum\nbs=16k\nnorandommap\nioengine=psync\n";

std::string job(const std::string& text) {
    return std::string("[j]\n") + kFiles + text;
}

// An fsync'd write of 16 KiB: itself, a descriptor with one block of inodes, a commit record; 28 KiB in three writes.
// The drive takes 200 us for each, one after the other.
TEST(FilesWorkload, AnFsyncedWriteIsThreeWritesOf28KiB) {
    FilesBench bench;
    bench.ext4.clock_tick = 1us;  // each write finds a new stamp
    const auto all = bench.run(job("rw=randwrite\noverwrite=1\nnrfiles=1\nfilesize=16m\nnumber_ios=100\nsync=1\n"));
    const auto writes = run_part(all, HostOp::write);
    ASSERT_EQ(writes.size(), 300u);
    EXPECT_EQ(bytes_of(writes), 100u * 28 * 1024);
    EXPECT_EQ(run_part(all, HostOp::flush).size(), 100u) << "before each commit record";
    for (std::size_t i = 0; i < 300; i += 3) {
        EXPECT_EQ(writes[i].request.bytes, 16384u);
        EXPECT_EQ(writes[i + 1].request.bytes, 8192u);
        EXPECT_EQ(writes[i + 2].request.bytes, 4096u);
        EXPECT_EQ(writes[i + 1].at, writes[i].done);
        EXPECT_EQ(writes[i + 2].at, writes[i + 1].done);
        if (i != 0) {
            EXPECT_EQ(writes[i].at - writes[i - 3].at, 3 * bench.latency + bench.files.call_time);
        }
    }
}

// Within a tick of the kernel's clock a file's inode changes once: the first write is committed, the others have
// nothing to commit.
TEST(FilesWorkload, WritesWithinATickShareACommit) {
    FilesBench bench;
    bench.ext4.clock_tick = 4ms;
    const auto all =
        bench.run(job("rw=randwrite\noverwrite=1\nnrfiles=1\nfilesize=16m\ntime_based\nruntime=2\nsync=1\n"));
    const auto writes = run_part(all, HostOp::write);
    std::uint64_t data = 0, records = 0;
    for (const OnDrive& w : writes) {
        data += w.request.bytes == 16384;
        records += w.request.bytes == 4096;
    }
    // 4 ms: the first takes three writes of the drive, each later one a single one.
    const double in_a_tick = 1 + (4000.0 - 601) / 201;
    EXPECT_NEAR(static_cast<double>(records), 500, 2);
    EXPECT_NEAR(static_cast<double>(data), 500 * in_a_tick, 500 * in_a_tick * 0.04);
}

// Threads that write to files of their own and wait: whoever comes during a commit shares the next one.
TEST(FilesWorkload, CommitsOfThreadsAreSharedAndSmall) {
    FilesBench bench;
    bench.ext4.clock_tick = 1us;
    const std::string text =
        "rw=randwrite\noverwrite=1\nfilesize=1m\nnumber_ios=200\nsync=1\nnrfiles=64\nfile_service_type=random\n";
    const auto one = run_part(bench.run(job(text)), HostOp::write);
    EXPECT_EQ(one.size(), 600u);
    FilesBench many;
    many.ext4.clock_tick = 1us;
    const auto eight = run_part(many.run(job(text + "numjobs=8\n")), HostOp::write);
    const std::uint64_t commits = many.system().journal().counters().commits;
    EXPECT_LT(commits, 1600u * 3 / 4);
    EXPECT_GE(commits, 1600u / 8);
    std::uint64_t data = 0;
    for (const OnDrive& w : eight) {
        data += !many.in_log(w);
        // 64 files of 16 inodes a block: at most 5 blocks of inodes, and a descriptor.
        if (many.in_log(w)) {
            EXPECT_LE(w.request.bytes, 6u * 4096);
        }
    }
    EXPECT_EQ(data, 1600u);
    EXPECT_LE(eight.size(), 1600 + 2 * commits);
}

// fdatasync of blocks that have their places commits nothing; fsync does.
TEST(FilesWorkload, FdatasyncOfOverwrittenDataCommitsNothing) {
    for (const bool data_only : {false, true}) {
        FilesBench bench;
        bench.ext4.clock_tick = 1us;
        const std::string how = data_only ? "fdatasync=1\n" : "fsync=1\n";
        const auto all = bench.run(job("rw=randwrite\noverwrite=1\nnrfiles=1\nfilesize=1m\nnumber_ios=50\n" + how));
        EXPECT_EQ(run_part(all, HostOp::write).size(), data_only ? 50u : 50u + 2 * 49);
        // A flush of the drive's cache behind each write but the last, in a commit or alone.
        EXPECT_EQ(run_part(all, HostOp::flush).size(), 49u);
    }
    FilesBench dsync;
    EXPECT_EQ(run_part(dsync.run(job("rw=randwrite\noverwrite=1\nnrfiles=1\nfilesize=1m\nnumber_ios=50\nsync=dsync\n")),
                       HostOp::write)
                  .size(),
              50u);
}

// As fio does it, seen in its write_iolog: the sync is of the file whose turn is next, not of the one written.
TEST(FilesWorkload, FsyncOfFioIsOfTheNextFile) {
    FilesBench bench;
    bench.mount(job("rw=write\noverwrite=1\nnrfiles=4\nfilesize=64k\nnumber_ios=6\nfsync=1\n"));
    std::vector<std::pair<HostOp, std::uint64_t>> seen;
    SimTime now{};
    for (;;) {
        const Workload::Next n = bench.jobs->next(now);
        if (n.state == Workload::State::done) break;
        ASSERT_EQ(n.state, Workload::State::ready);
        if (!n.request.preparation) seen.emplace_back(n.request.op, n.request.offset / 65536);
        now += 1us;
        bench.jobs->completed(n.request, now, now, now, true);
    }
    std::vector<std::pair<HostOp, std::uint64_t>> expected;
    for (std::uint64_t i = 0; i < 6; ++i) {
        expected.emplace_back(HostOp::write, 2 * i % 4);
        if (i != 5) expected.emplace_back(HostOp::flush, (2 * i + 1) % 4);
    }
    EXPECT_EQ(seen, expected);
}

// The layout: tables and journal, then the files, in writes of the size and depth that are asked for; all of it marked.
TEST(FilesWorkload, LaysOutBeforeTheJobsAndMarksIt) {
    FilesBench bench;
    bench.files.layout_write = 16_KiB;
    bench.files.layout_depth = 1;
    const auto all = bench.run(job("rw=randread\nnrfiles=8\nfilesize=1m\nnumber_ios=100\n"));
    const auto first_of_jobs =
        std::find_if(all.begin(), all.end(), [](const OnDrive& d) { return !d.request.preparation; });
    ASSERT_NE(first_of_jobs, all.end());
    EXPECT_TRUE(std::none_of(first_of_jobs, all.end(), [](const OnDrive& d) { return d.request.preparation; }));
    EXPECT_EQ(all.front().request.op, HostOp::trim);
    std::uint64_t data = 0, journal = 0, commits = 0;
    SimTime last{};
    const BlockRun log = bench.system().layout().journal();
    std::uint64_t begin = ~std::uint64_t{0}, end = 0;  // of the files, which lie side by side
    for (std::uint32_t f = 0; f < 8; ++f)
        for (const auto& [at, extent] : bench.system().file(f).map.extents()) {
            begin = std::min(begin, extent.first * 4096);
            end = std::max(end, (extent.first + extent.count) * 4096);
        }
    EXPECT_EQ(end - begin, 8_MiB);
    for (auto d = all.begin(); d != first_of_jobs; ++d) {
        if (d->request.op != HostOp::write) continue;
        const bool in_log = bench.in_log(*d);
        if (in_log && d->request.bytes == 1_MiB) journal += d->request.bytes;
        commits += in_log && d->request.bytes == 4096 && d->request.fua;
        if (d->request.offset < begin || d->request.offset >= end) continue;
        EXPECT_EQ(d->request.bytes, 16_KiB);
        ++data;
        EXPECT_GE(d->at, last) << "one at a time";
        last = d->done;
    }
    EXPECT_EQ(data, 8u * 64);
    EXPECT_EQ(journal, log.count * 4096 / 1_MiB * 1_MiB);
    EXPECT_EQ(commits, 8u) << "each file is synced when it is written";
    const auto reads = run_part(all, HostOp::read);
    EXPECT_EQ(reads.size(), 100u);
    EXPECT_EQ(bytes_of(reads), 100u * 16384);
}

// Files that are laid out one behind the other are one extent each, and lie side by side.
TEST(FilesWorkload, LaidOutFilesAreInOnePiece) {
    FilesBench bench;
    bench.run(job("rw=randread\nnrfiles=16\nfilesize=2m\nnumber_ios=10\n"));
    for (std::uint32_t f = 0; f < 16; ++f) EXPECT_EQ(bench.system().file(f).map.size(), 1u) << f;
}

// Without a layout blocks get their places as they are written; what nobody wrote is read without the drive.
TEST(FilesWorkload, UnwrittenBlocksAreReadWithoutTheDrive) {
    FilesBench bench;
    const auto all = bench.run(job("rw=randread\ncreate_on_open=1\nnrfiles=1\nfilesize=1m\nnumber_ios=50\n"));
    EXPECT_TRUE(run_part(all, HostOp::read).empty());
    EXPECT_TRUE(run_part(all, HostOp::write).empty());
    // fallocate gives them room, so a write changes the inode (written), not the bitmaps.
    FilesBench allocated;
    allocated.run(job("rw=randwrite\nnrfiles=1\nfilesize=1m\nfallocate=native\nnumber_ios=50\n"));
    EXPECT_EQ(allocated.system().file(0).size, 1_MiB);
    FilesBench bare;
    bare.run(job("rw=write\nnrfiles=1\nfilesize=1m\nfallocate=none\nnumber_ios=10\n"));
    EXPECT_EQ(bare.system().file(0).size, 160_KiB);
}

// What is not synced is committed every five seconds.
TEST(FilesWorkload, UnsyncedChangesAreCommittedByTime) {
    FilesBench bench;
    const auto all = bench.run(job("rw=randwrite\noverwrite=1\nnrfiles=1\nfilesize=1m\ntime_based\nruntime=21\n"));
    EXPECT_EQ(bench.system().journal().counters().commits, 1u + 4u) << "that of the layout, and one each five seconds";
    std::uint64_t others = 0;
    for (const OnDrive& w : run_part(all, HostOp::write)) others += w.request.bytes != 16384;
    EXPECT_EQ(others, 8u);
}

TEST(FilesWorkload, AtimeIsChangedByTheFirstReadBehindAWrite) {
    for (const bool relatime : {false, true}) {
        FilesBench bench;
        bench.ext4.relatime = relatime;
        bench.run(job("rw=randread\nnrfiles=4\nfilesize=1m\ntime_based\nruntime=6\n"));
        // Of the first file, which lies out from the first second, and of the others: once each.
        EXPECT_EQ(bench.system().journal().counters().commits, relatime ? 5u : 4u);
    }
}

}  // namespace
}  // namespace ssdtlm
