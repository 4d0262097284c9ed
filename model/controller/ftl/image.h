// SPDX-License-Identifier: Apache-2.0
// What an FTL remembers: all that recovery finds again, that a snapshot and a checkpoint say, and that preconditioning
// lays out. These four read and write it as a whole; everybody else asks the Ftl.
#pragma once

#include <cstdint>
#include <vector>

#include "controller/ftl/allocation/write_partitions.h"
#include "controller/ftl/books.h"
#include "controller/ftl/feature.h"
#include "controller/ftl/ftl_counters.h"
#include "controller/ftl/victims/core_sources.h"
#include "controller/ftl/victims/victims.h"
#include "controller/ports/media_health.h"
#include "nand/array/spare_area.h"

namespace ssdtlm {

class BlockPlacement;
class HostPartition;

struct FtlImage : Books::Image {
    WritePartitions& partitions;
    const std::vector<PlaneId>& rows;  ///< the order of the planes, row by row

    VictimPolicy& policy;
    Victims& victims;
    BegunVictims& begun;
    std::vector<std::uint8_t>& gc_stream;

    MediaHealth& media;
    FtlCounters& counters;
    SpareArea& flash;
    const FtlFeatures& features;
    BlockPlacement* const placement;  ///< null: pages are put anywhere
    const std::vector<HostPartition*>& host_partitions;
};

}  // namespace ssdtlm
