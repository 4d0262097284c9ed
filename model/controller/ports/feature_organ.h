// SPDX-License-Identifier: Apache-2.0
// The half of a feature that works in time: what it does beside the commands, on a core, with the DRAM and the flash.
// The firmware makes one for each feature of its FTL that has such a half, and asks it like its other organs.
#pragma once

#include <memory>
#include <vector>

#include "controller/ports/organ.h"

namespace ssdtlm {

class Agenda;
class CorePort;
class DramPort;
class FlashJobs;
class FlashPort;
class Ftl;
class GcEngine;
class PageWriter;
class WaitQueues;
struct FirmwareConfig;

/// What such a half may use. All of it outlives the half.
struct OrganPeers {
    const FirmwareConfig& costs;
    Agenda& agenda;
    CorePort& cores;
    Ftl& ftl;
    DramPort& dram;
    FlashPort& flash;
    PageWriter& writer;
    GcEngine& gc;
    FlashJobs& jobs;
    WaitQueues& wait_queues;
};

/// Makes the half of one feature; null: the FTL has not this feature.
using FeatureOrganMaker = std::unique_ptr<Organ> (*)(const OrganPeers& peers);

/// The half of a feature that is linked into the program from outside. It is made behind the others, in the order of
/// the names. A name that is taken is a mistake of the program: the program panics.
class FeatureOrganRegistration {
public:
    FeatureOrganRegistration(const char* name, FeatureOrganMaker make);
};

/// The halves of the features that the FTL has (../cpu/feature_organs.cpp).
std::vector<std::unique_ptr<Organ>> feature_organs(const OrganPeers& peers);

}  // namespace ssdtlm
