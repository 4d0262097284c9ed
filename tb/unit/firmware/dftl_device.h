// SPDX-License-Identifier: Apache-2.0
// A tiny device whose map is on the flash.
#pragma once

#include "device_under_test.h"

namespace ssdtlm {

/// Translation pages of few entries, so that a tiny device has many.
inline DeviceShape dftl_device(std::uint32_t slots, MapGranularity granularity, std::uint32_t page_bytes = 8192,
                               std::uint32_t entries = 8) {
    DeviceShape d = tiny_device(page_bytes);
    d.ftl.mapping = "dftl";
    d.ftl.map.granularity = granularity;
    d.ftl.map.entry_bytes = d.geometry.unit_bytes / entries;
    d.ftl.map.cache_bytes = std::uint64_t{slots} *
                            (granularity == MapGranularity::page ? d.geometry.unit_bytes : 2 * d.ftl.map.entry_bytes);
    d.ftl.user_capacity_bytes = most_logical_units(d.ftl, d.geometry) * d.geometry.unit_bytes;
    return d;
}

}  // namespace ssdtlm
