// SPDX-License-Identifier: Apache-2.0
#include "host_pcie/workload/fio/fio_engines.h"

#include <vector>

#include "common/report/error.h"

namespace ssdtlm {
namespace {

constexpr auto kAsync = FioEngine::Kind::asynchronous;
constexpr auto kSync = FioEngine::Kind::synchronous;
constexpr auto kNone = FioEngine::Kind::not_a_drive;

constexpr const char* kMemory = "reads and writes memory";
constexpr const char* kNames = "creates, looks up or deletes names of a file system";
constexpr const char* kNetwork = "moves data over a network";
constexpr const char* kCluster = "talks to a storage service over a network";
constexpr const char* kGpu = "moves data between a drive and the memory of a GPU, which the model does not have";

constexpr FioEngine engines[] = {
    {"libaio", kAsync},
    {"io_uring", kAsync},
    {"io_uring_cmd", kAsync},
    {"posixaio", kAsync},
    {"windowsaio", kAsync},
    {"solarisaio", kAsync},
    {"guasi", kAsync},
    {"syslet-rw", kAsync},
    {"sg", kAsync},
    {"xnvme", kAsync},
    {"libblkio", kAsync},
    {"sync", kSync},
    {"psync", kSync},
    {"vsync", kSync},
    {"pvsync", kSync},
    {"pvsync2", kSync},
    {"mmap", kSync},
    {"splice", kSync},
    {"null", kNone, "does no I/O at all"},
    {"cpp_null", kNone, "does no I/O at all"},
    {"external", kNone, "is a plug-in whose code only fio can run"},
    {"cpuio", kNone, "burns CPU cycles and does no I/O"},
    {"exec", kNone, "runs a program"},
    {"page_fault", kNone, kMemory},
    {"ftruncate", kNone, "changes the length of files and moves no data"},
    {"falloc", kNone, "allocates and punches holes in a file system and moves no data"},
    {"e4defrag", kNone, "swaps extents of an ext4 file system"},
    {"filecreate", kNone, kNames},
    {"filestat", kNone, kNames},
    {"filedelete", kNone, kNames},
    {"dircreate", kNone, kNames},
    {"dirstat", kNone, kNames},
    {"dirdelete", kNone, kNames},
    {"net", kNone, kNetwork},
    {"netsplice", kNone, kNetwork},
    {"rdma", kNone, kNetwork},
    {"librpma_apm_client", kNone, kNetwork},
    {"librpma_apm_server", kNone, kNetwork},
    {"librpma_gpspm_client", kNone, kNetwork},
    {"librpma_gpspm_server", kNone, kNetwork},
    {"http", kNone, kCluster},
    {"rbd", kNone, kCluster},
    {"rados", kNone, kCluster},
    {"gfapi", kNone, kCluster},
    {"gfapi_async", kNone, kCluster},
    {"libhdfs", kNone, kCluster},
    {"libiscsi", kNone, kCluster},
    {"nbd", kNone, kCluster},
    {"nfs", kNone, kCluster},
    {"dfs", kNone, kCluster},
    {"ime_psync", kNone, kCluster},
    {"ime_psyncv", kNone, kCluster},
    {"ime_aio", kNone, kCluster},
    {"libpmem", kNone, "loads and stores in persistent memory"},
    {"pmemblk", kNone, "loads and stores in persistent memory"},
    {"dev-dax", kNone, "loads and stores in persistent memory"},
    {"mtd", kNone, "drives bare flash chips without an SSD around them"},
    {"libzbc", kNone, "drives a zoned SCSI or ATA drive"},
    {"libcufile", kNone, kGpu},
    {"libhipfile", kNone, kGpu},
};

}  // namespace

const FioEngine* find_fio_engine(std::string_view name) {
    for (const FioEngine& e : engines)
        if (name == e.name) return &e;
    return nullptr;
}

std::string nearest_fio_engine(const std::string& name) {
    std::vector<std::string> names;
    for (const FioEngine& e : engines) names.emplace_back(e.name);
    return nearest(name, names);
}

}  // namespace ssdtlm
