// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "controller/nvme/admin_commands.h"

namespace ssdtlm {
namespace {

using namespace nvme;
using Then = AdminResult::Then;

struct Admin : testing::Test {
    Admin() {
        config.max_queue_pairs = 4;
        config.max_queue_entries = 256;
        device.drive_bytes = 1u << 30;
        device.volatile_write_cache = true;
        build();
    }
    void build() {
        registers.emplace(config);
        queues.emplace(config.max_queue_pairs, config.max_queue_entries);
        features.emplace(config, device.volatile_write_cache);
        memory.emplace(config, device);
        admin.emplace(config, device, *registers, *queues, *features, events, *memory, counters);
        registers->write(kRegAqa, 4, Aqa::of(32, 32));
        registers->write(kRegCc, 4, Cc::kTypical);
        queues->create_cq(0, 0, 32, 0, true);
        queues->create_sq(0, 0, 0, 32, {});
    }
    AdminResult run(const Sqe& s, bool cid_in_use = false) { return admin->execute(s, cid_in_use, SimTime{}, data); }
    static Sqe command(std::uint8_t opcode, std::uint32_t cdw10 = 0, std::uint32_t cdw11 = 0, std::uint32_t nsid = 0) {
        Sqe s;
        s.opc = opcode;
        s.nsid = nsid;
        s.cdw10 = cdw10;
        s.cdw11 = cdw11;
        s.prp1 = 0x10000;
        return s;
    }
    static Sqe create_cq(std::uint16_t qid, std::uint32_t entries = 64, std::uint16_t vector = 1) {
        return command(kAdminCreateCq, queue_cdw10(qid, entries), create_cq_cdw11(vector));
    }
    static Sqe create_sq(std::uint16_t qid, std::uint16_t cqid, std::uint32_t entries = 64) {
        return command(kAdminCreateSq, queue_cdw10(qid, entries), create_sq_cdw11(cqid));
    }
    std::uint16_t set_feature(std::uint32_t cdw10, std::uint32_t value, std::uint32_t nsid = 0) {
        return run(command(kAdminSetFeatures, cdw10, value, nsid)).status;
    }
    AdminResult get_feature(std::uint32_t cdw10, std::uint32_t cdw11 = 0, std::uint32_t nsid = 0) {
        return run(command(kAdminGetFeatures, cdw10, cdw11, nsid));
    }

    NvmeConfig config;
    DriveFacts device;
    NvmeCounters counters;
    AsyncEvents events;
    std::optional<NvmeMemory> memory;
    std::optional<NvmeRegisters> registers;
    std::optional<QueueSet> queues;
    std::optional<NvmeFeatures> features;
    std::optional<AdminCommands> admin;
    std::vector<std::uint8_t> data;
};

TEST_F(Admin, CommonFaults) {
    for (const std::uint8_t opcode :
         std::initializer_list<std::uint8_t>{0x0D, 0x10, 0x11, 0x15, 0x19, 0x1A, 0x7C, 0x81, 0xC0})
        EXPECT_EQ(run(command(opcode)).status, kStInvalidOpcode);
    Sqe s = command(kAdminIdentify, kCnsController);
    EXPECT_EQ(run(s, true).status, kStCidConflict);
    s.flags = 1;
    EXPECT_EQ(run(s).status, kStInvalidField);
    s.flags = 1u << 6;
    EXPECT_EQ(run(s).status, kStInvalidField);
    s.opc = 0x7F;
    EXPECT_EQ(run(s).status, kStInvalidOpcode);
}

TEST_F(Admin, CreateAndDeleteQueues) {
    EXPECT_EQ(run(create_cq(1)).status, kStSuccess);
    EXPECT_EQ(run(create_sq(1, 1)).status, kStSuccess);
    EXPECT_EQ(run(create_sq(2, 1, 2)).status, kStSuccess);  // two SQs on one CQ, smallest size
    EXPECT_EQ(queues->cq(1).entries, 64u);
    EXPECT_EQ(queues->cq(1).vector, 1);
    EXPECT_TRUE(queues->cq(1).interrupts);
    EXPECT_EQ(queues->sq(2).cqid, 1);
    EXPECT_EQ(queues->sq(2).base, 0x10000u);

    EXPECT_EQ(run(command(kAdminDeleteCq, 1)).status, kStInvalidQueueDeletion);  // still bound
    AdminResult r = run(command(kAdminDeleteSq, 1));
    EXPECT_EQ(r.status, kStSuccess);
    EXPECT_EQ(r.then, Then::delete_sq);
    EXPECT_EQ(r.qid, 1);
    queues->sq(1).deleting = true;
    EXPECT_EQ(run(command(kAdminDeleteSq, 1)).status, kStInvalidQid);  // already being deleted
    queues->delete_sq(1);
    queues->delete_sq(2);
    EXPECT_EQ(run(command(kAdminDeleteCq, 1)).status, kStSuccess);
    for (const std::uint32_t qid : {0u, 1u, 4u, 5u, 0xFFFFu}) {
        EXPECT_EQ(run(command(kAdminDeleteSq, qid)).status, kStInvalidQid);
        EXPECT_EQ(run(command(kAdminDeleteCq, qid)).status, kStInvalidQid);
    }
}

TEST_F(Admin, CreateCqFaultsInOrder) {
    ASSERT_EQ(run(create_cq(1)).status, kStSuccess);
    Sqe s = create_cq(0, 1, 99);
    s.prp1 = 0x10;
    s.cdw11 &= ~kQueuePhysContig;
    registers->write(kRegCc, 4, Cc::kTypical & ~Cc::kIocqes16);
    EXPECT_EQ(run(s).status, kStInvalidQueueSize);  // entry sizes
    registers->write(kRegCc, 4, Cc::kTypical);
    EXPECT_EQ(run(s).status, kStInvalidQid);  // 0
    s.cdw10 = queue_cdw10(1, 1);
    EXPECT_EQ(run(s).status, kStInvalidQid);  // in use
    s.cdw10 = queue_cdw10(5, 1);
    EXPECT_EQ(run(s).status, kStInvalidQid);  // more than granted
    s.cdw10 = queue_cdw10(2, 1);
    EXPECT_EQ(run(s).status, kStInvalidQueueSize);  // 0-based 0
    s.cdw10 = queue_cdw10(2, 257);
    EXPECT_EQ(run(s).status, kStInvalidQueueSize);  // beyond MQES
    s.cdw10 = queue_cdw10(2, 256);
    EXPECT_EQ(run(s).status, kStInvalidPrpOffset);
    s.prp1 = 0x1000;
    EXPECT_EQ(run(s).status, kStInvalidVector);
    s.cdw11 = 5u << 16;
    EXPECT_EQ(run(s).status, kStInvalidVector);  // 4 pairs and admin: vectors 0..4
    s.cdw11 = 4u << 16;
    EXPECT_EQ(run(s).status, kStInvalidField);  // not contiguous
    s.cdw11 |= kQueuePhysContig;
    EXPECT_EQ(run(s).status, kStSuccess);
    EXPECT_FALSE(queues->cq(2).interrupts);
}

TEST_F(Admin, CreateSqFaultsInOrder) {
    ASSERT_EQ(run(create_cq(1)).status, kStSuccess);
    ASSERT_EQ(run(create_sq(1, 1)).status, kStSuccess);
    Sqe s = create_sq(0, 0, 1);
    s.prp1 = 0x10;
    s.cdw11 &= ~kQueuePhysContig;
    EXPECT_EQ(run(s).status, kStInvalidCq);  // the admin CQ
    s.cdw11 = 2u << 16;
    EXPECT_EQ(run(s).status, kStInvalidCq);  // not created
    s.cdw11 = 1u << 16;
    EXPECT_EQ(run(s).status, kStInvalidQid);
    s.cdw10 = queue_cdw10(1, 1);
    EXPECT_EQ(run(s).status, kStInvalidQid);
    s.cdw10 = queue_cdw10(5, 1);
    EXPECT_EQ(run(s).status, kStInvalidQid);
    s.cdw10 = queue_cdw10(2, 1);
    EXPECT_EQ(run(s).status, kStInvalidQueueSize);
    s.cdw10 = queue_cdw10(2, 257);
    EXPECT_EQ(run(s).status, kStInvalidQueueSize);
    s.cdw10 = queue_cdw10(2, 256);
    EXPECT_EQ(run(s).status, kStInvalidPrpOffset);
    s.prp1 = 0x1000;
    EXPECT_EQ(run(s).status, kStInvalidField);
    s.cdw11 |= kQueuePhysContig;
    EXPECT_EQ(run(s).status, kStSuccess);
}

TEST_F(Admin, NumberOfQueues) {
    AdminResult r = run(command(kAdminSetFeatures, kFeatNumberOfQueues, number_of_queues(64)));
    EXPECT_EQ(r.status, kStSuccess);
    EXPECT_EQ(r.dw0, number_of_queues(4));
    r = run(command(kAdminSetFeatures, kFeatNumberOfQueues, 1u | 2u << 16));
    EXPECT_EQ(r.dw0, 1u | 2u << 16);
    EXPECT_EQ(get_feature(kFeatNumberOfQueues).dw0, 1u | 2u << 16);
    EXPECT_EQ(run(create_cq(4)).status, kStInvalidQid);
    EXPECT_EQ(run(create_cq(3)).status, kStSuccess);
    EXPECT_EQ(run(create_sq(3, 3)).status, kStInvalidQid);
    EXPECT_EQ(run(create_sq(2, 3)).status, kStSuccess);
    EXPECT_EQ(set_feature(kFeatNumberOfQueues, number_of_queues(2)), kStSequenceError);
    EXPECT_EQ(set_feature(kFeatNumberOfQueues, 0xFFFF), kStInvalidField);
    EXPECT_EQ(set_feature(kFeatNumberOfQueues, 0xFFFF0000), kStInvalidField);
}

TEST_F(Admin, FeatureValuesDefaultsAndReset) {
    EXPECT_EQ(get_feature(kFeatArbitration).dw0, config.arbitration_burst);
    EXPECT_EQ(set_feature(kFeatArbitration, 0x01020307), kStSuccess);
    EXPECT_EQ(get_feature(kFeatArbitration).dw0, 0x01020307u);
    EXPECT_EQ(get_feature(kFeatArbitration | 1u << 8).dw0, config.arbitration_burst);  // default
    EXPECT_EQ(get_feature(kFeatArbitration | 2u << 8).dw0, config.arbitration_burst);  // saved
    EXPECT_EQ(get_feature(kFeatArbitration | 3u << 8).dw0, 4u);  // changeable, neither saveable nor per namespace
    EXPECT_EQ(get_feature(kFeatArbitration | 4u << 8).status, kStInvalidField);
    EXPECT_EQ(features->arbitration() & 7, 7u);

    EXPECT_EQ(get_feature(kFeatVolatileWriteCache).dw0, 1u);
    EXPECT_EQ(set_feature(kFeatVolatileWriteCache, 0), kStSuccess);
    EXPECT_FALSE(features->write_cache_enabled());
    EXPECT_EQ(set_feature(kFeatInterruptCoalescing, 0x0504), kStSuccess);
    EXPECT_EQ(features->coalescing_threshold(), 4u);
    EXPECT_EQ(features->coalescing_time(), 5u);
    EXPECT_EQ(set_feature(kFeatInterruptVectorConfig, 4u | 1u << 16), kStSuccess);
    EXPECT_TRUE(features->coalescing_disabled(4));
    EXPECT_FALSE(features->coalescing_disabled(3));
    EXPECT_EQ(get_feature(kFeatInterruptVectorConfig, 4).dw0, 4u | 1u << 16);
    EXPECT_EQ(set_feature(kFeatWriteAtomicity, 1), kStSuccess);
    EXPECT_EQ(get_feature(kFeatWriteAtomicity).dw0, 1u);
    EXPECT_EQ(set_feature(kFeatAsyncEventConfig, 0x1F), kStSuccess);
    EXPECT_EQ(get_feature(kFeatAsyncEventConfig).dw0, 0x1Fu);
    EXPECT_EQ(set_feature(kFeatPowerManagement, 0), kStSuccess);
    EXPECT_EQ(get_feature(kFeatPowerManagement).dw0, 0u);
    EXPECT_EQ(get_feature(kFeatTemperatureThreshold).dw0, kWarningTemperature);
    EXPECT_EQ(set_feature(kFeatTemperatureThreshold, 280 | 1u << 20), kStSuccess);
    EXPECT_EQ(get_feature(kFeatTemperatureThreshold, 1u << 20).dw0, 280u);
    EXPECT_EQ(set_feature(kFeatErrorRecovery, 9, 1), kStSuccess);
    EXPECT_EQ(get_feature(kFeatErrorRecovery, 0, 1).dw0, 9u);

    features->reset();
    EXPECT_EQ(features->arbitration() & 7, config.arbitration_burst);
    EXPECT_TRUE(features->write_cache_enabled());
    EXPECT_EQ(features->coalescing_threshold(), 0u);
    EXPECT_FALSE(features->coalescing_disabled(4));
}

TEST_F(Admin, FeatureFaults) {
    EXPECT_EQ(set_feature(0x7F, 0), kStInvalidField);
    EXPECT_EQ(get_feature(0x7F).status, kStInvalidField);
    EXPECT_EQ(set_feature(kFeatArbitration | kFeatureSave, 0), kStFeatureNotSaveable);
    EXPECT_EQ(set_feature(kFeatArbitration, 0, 1), kStFeatureNotNamespace);
    EXPECT_EQ(set_feature(kFeatArbitration, 0, 2), kStInvalidNamespace);
    EXPECT_EQ(set_feature(kFeatArbitration, 0, kNsidAll), kStSuccess);
    EXPECT_EQ(set_feature(kFeatPowerManagement, 1), kStInvalidField);
    EXPECT_EQ(set_feature(kFeatTemperatureThreshold, 3u << 16), kStInvalidField);
    EXPECT_EQ(set_feature(kFeatTemperatureThreshold, 2u << 20), kStInvalidField);
    EXPECT_EQ(set_feature(kFeatErrorRecovery, 1u << 16, 1), kStInvalidField);
    EXPECT_EQ(set_feature(kFeatErrorRecovery, 0, 0), kStInvalidNamespace);
    EXPECT_EQ(get_feature(kFeatErrorRecovery, 0, 0).status, kStInvalidNamespace);
    EXPECT_EQ(set_feature(kFeatInterruptVectorConfig, 5), kStInvalidField);
    EXPECT_EQ(get_feature(kFeatInterruptVectorConfig, 5).status, kStInvalidField);
    device.volatile_write_cache = false;
    build();
    EXPECT_EQ(set_feature(kFeatVolatileWriteCache, 1), kStInvalidField);
    EXPECT_EQ(get_feature(kFeatVolatileWriteCache).status, kStInvalidField);
}

TEST_F(Admin, SeveralNamespaces) {
    config.namespaces = {64u << 20, 192u << 20};
    build();
    const auto identify = [this](std::uint8_t cns, std::uint32_t nsid) {
        return run(command(kAdminIdentify, cns, 0, nsid)).status;
    };
    EXPECT_EQ(identify(kCnsController, 0), kStSuccess);
    EXPECT_EQ(load<std::uint32_t>(&data[516]), 32u);  // NN: there may be more
    EXPECT_EQ(load<std::uint64_t>(&data[280]), 1u << 30);
    for (std::uint32_t above = 0; above < 4; ++above) {
        EXPECT_EQ(identify(kCnsActiveNamespaces, above), kStSuccess);
        for (std::uint32_t i = 0; i < 1024; ++i)
            ASSERT_EQ(load<std::uint32_t>(&data[4 * i]), above + i < 3 ? above + i + 1 : 0u);
    }
    const std::uint64_t bytes[] = {64u << 20, 192u << 20, 768u << 20};
    std::set<std::string> names;
    for (std::uint32_t nsid = 1; nsid <= 3; ++nsid) {
        EXPECT_EQ(identify(kCnsNamespace, nsid), kStSuccess);
        EXPECT_EQ(load<std::uint64_t>(&data[0]), bytes[nsid - 1] / config.lba_bytes);
        EXPECT_EQ(load<std::uint64_t>(&data[48]), bytes[nsid - 1]);
        names.insert(std::string(data.begin() + 104, data.begin() + 128));  // NGUID and EUI64
        EXPECT_EQ(identify(kCnsNamespaceDescriptors, nsid), kStSuccess);
        EXPECT_EQ(set_feature(kFeatErrorRecovery, 10 + nsid, nsid), kStSuccess);
    }
    EXPECT_EQ(names.size(), 3u);
    for (const std::uint8_t cns : {kCnsNamespace, kCnsNamespaceDescriptors})
        for (const std::uint32_t nsid : {0u, 33u}) EXPECT_EQ(identify(cns, nsid), kStInvalidNamespace);
    EXPECT_EQ(identify(kCnsNamespace, 4), kStSuccess);  // inactive: zeros
    EXPECT_EQ(std::count(data.begin(), data.end(), 0), 4096);
    EXPECT_EQ(identify(kCnsNamespaceDescriptors, 4), kStInvalidField);
    for (std::uint32_t nsid = 1; nsid <= 3; ++nsid) EXPECT_EQ(get_feature(kFeatErrorRecovery, 0, nsid).dw0, 10 + nsid);
    EXPECT_EQ(set_feature(kFeatErrorRecovery, 5, 33), kStInvalidNamespace);
    EXPECT_EQ(set_feature(kFeatErrorRecovery, 5, kNsidAll), kStSuccess);
    for (std::uint32_t nsid = 1; nsid <= 3; ++nsid) EXPECT_EQ(get_feature(kFeatErrorRecovery, 0, nsid).dw0, 5u);
}

TEST_F(Admin, IdentifyByCns) {
    const auto identify = [this](std::uint8_t cns, std::uint32_t nsid) {
        return run(command(kAdminIdentify, cns, 0, nsid));
    };
    for (const std::uint8_t cns : {kCnsNamespace, kCnsController, kCnsNamespaceDescriptors}) {
        const AdminResult r = identify(cns, 1);
        EXPECT_EQ(r.status, kStSuccess);
        EXPECT_EQ(r.then, Then::send_data);
        EXPECT_EQ(data.size(), 4096u);
    }
    EXPECT_EQ(identify(kCnsController, 0xDEAD).status, kStSuccess);
    for (const std::uint32_t nsid : {0u, 2u, kNsidAll}) {
        EXPECT_EQ(identify(kCnsNamespace, nsid).status, kStInvalidNamespace);
        EXPECT_EQ(identify(kCnsNamespaceDescriptors, nsid).status, kStInvalidNamespace);
    }
    EXPECT_EQ(identify(kCnsActiveNamespaces, 0).status, kStSuccess);
    EXPECT_EQ(load<std::uint32_t>(data.data()), 1u);
    EXPECT_EQ(load<std::uint32_t>(data.data() + 4), 0u);
    EXPECT_EQ(identify(kCnsActiveNamespaces, 1).status, kStSuccess);
    EXPECT_EQ(load<std::uint32_t>(data.data()), 0u);
    EXPECT_EQ(identify(kCnsActiveNamespaces, 0xFFFFFFFD).status, kStSuccess);
    EXPECT_EQ(identify(kCnsActiveNamespaces, 0xFFFFFFFE).status, kStInvalidNamespace);
    EXPECT_EQ(identify(kCnsActiveNamespaces, 0xFFFFFFFF).status, kStInvalidNamespace);
    EXPECT_EQ(identify(kCnsSetController, 0).status, kStSuccess);  // Linux asks each controller for it
    EXPECT_EQ(std::count(data.begin(), data.end(), 0), 4096);      // no limits beside MDTS
    EXPECT_EQ(identify(kCnsIndependent, 1).status, kStSuccess);
    EXPECT_EQ(data[14], 1);                                                                        // ready
    EXPECT_EQ(run(command(kAdminIdentify, kCnsSetController, 2u << 24)).status, kStInvalidField);  // of zones
    EXPECT_EQ(identify(kCnsAllocatedNamespaces, 0).status, kStInvalidField);  // no namespace management
    EXPECT_EQ(identify(0x55, 0).status, kStInvalidField);
}

TEST_F(Admin, GetLogPage) {
    const auto log = [this](std::uint8_t lid, std::uint32_t bytes, std::uint64_t offset = 0,
                            std::uint32_t nsid = kNsidAll) {
        Sqe s = command(kAdminGetLogPage, lid | (bytes / 4 - 1) << 16, 0, nsid);
        s.cdw12 = static_cast<std::uint32_t>(offset);
        s.cdw13 = static_cast<std::uint32_t>(offset >> 32);
        return run(s).status;
    };
    EXPECT_EQ(log(kLogSmart, 512), kStSuccess);
    EXPECT_EQ(data.size(), 512u);
    EXPECT_EQ(log(kLogSmart, 512, 0, 1), kStInvalidField);
    EXPECT_EQ(log(kLogError, 64), kStSuccess);
    EXPECT_EQ(data.size(), 64u);
    EXPECT_EQ(log(kLogFirmwareSlot, 8, 8), kStSuccess);
    EXPECT_EQ(std::string(data.begin(), data.end()), "0.1     ");
    EXPECT_EQ(log(kLogEffects, 4096), kStSuccess);
    EXPECT_EQ(load<std::uint32_t>(&data[4 * kAdminIdentify]), 1u);
    EXPECT_EQ(load<std::uint32_t>(&data[1024 + 4 * kIoWrite]), 3u);
    EXPECT_EQ(load<std::uint32_t>(&data[1024 + 4 * 3]), 0u);
    EXPECT_EQ(log(kLogSmart, 1024, 256), kStSuccess);  // zeros beyond the page
    EXPECT_EQ(data.size(), 1024u);
    EXPECT_EQ(log(kLogSmart, 512, 516), kStInvalidField);
    EXPECT_EQ(log(kLogSmart, 512, 2), kStInvalidField);
    EXPECT_EQ(log(0x09, 512), kStInvalidLogPage);
    EXPECT_EQ(log(kLogSmart, 4, 512), kStSuccess);  // all of it beyond the page
    EXPECT_EQ(load<std::uint32_t>(data.data()), 0u);
    EXPECT_EQ(log(kLogSmart, 512, 0, 0), kStSuccess);
    EXPECT_EQ(log(kLogSmart, 4, std::uint64_t{1} << 32), kStInvalidField);
}

// As long as MDTS allows; without MDTS 1 MiB.
TEST_F(Admin, LongestLogPage) {
    const auto log = [this](std::uint64_t bytes) {
        const std::uint64_t dwords = bytes / 4 - 1;
        return run(command(kAdminGetLogPage, kLogSmart | static_cast<std::uint32_t>(dwords & 0xFFFF) << 16,
                           static_cast<std::uint32_t>(dwords >> 16), kNsidAll))
            .status;
    };
    for (const auto& [mdts, longest] : {std::pair{65'536u, 65'536u}, {524'288u, 524'288u}, {0u, 1'048'576u}}) {
        config.max_transfer_bytes = mdts;
        build();
        EXPECT_EQ(log(longest), kStSuccess) << mdts;
        EXPECT_EQ(data.size(), longest);
        EXPECT_EQ(log(longest + 4), kStInvalidField) << mdts;
        EXPECT_EQ(log(std::uint64_t{1} << 34), kStInvalidField) << mdts;
    }
}

TEST_F(Admin, AbortOfAnEventRequest) {
    Sqe aer = command(kAdminAsyncEvent);
    aer.cid = 7;
    EXPECT_EQ(run(aer).then, Then::hold);
    AdminResult r = run(command(kAdminAbort, 7u << 16));
    EXPECT_EQ(r.then, Then::abort_event);
    EXPECT_EQ(r.aborted_cid, 7);
    EXPECT_EQ(r.dw0, 0u);
    r = run(command(kAdminAbort, 7u << 16));
    EXPECT_EQ(r.status, kStSuccess);
    EXPECT_EQ(r.dw0, 1u);
    EXPECT_EQ(run(command(kAdminAbort, 3)).status, kStInvalidField);  // no such SQ
}

TEST_F(Admin, EventRequestLimit) {
    for (std::uint32_t i = 0; i <= kAsyncEventLimit; ++i) EXPECT_EQ(run(command(kAdminAsyncEvent)).status, kStSuccess);
    EXPECT_EQ(run(command(kAdminAsyncEvent)).status, kStAsyncEventLimit);
}

TEST_F(Admin, ReadingALogRearmsItsEvents) {
    std::uint16_t cid = 0;
    std::uint32_t dw0 = 0;
    const auto raise = [&] { return events.raise(AsyncEvents::kTypeError, 0, cid, dw0); };
    events.hold(1);
    events.hold(2);
    EXPECT_TRUE(raise());
    EXPECT_FALSE(raise());
    constexpr std::uint32_t kRetain = 1u << 15;
    run(command(kAdminGetLogPage, kLogError | kRetain | 15u << 16));
    EXPECT_FALSE(raise());
    run(command(kAdminGetLogPage, kLogError | 15u << 16));
    EXPECT_TRUE(raise());
}

}  // namespace
}  // namespace ssdtlm
