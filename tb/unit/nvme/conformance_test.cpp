// SPDX-License-Identifier: Apache-2.0
// Each status of each command is provoked; what the tables of commands say is all that there is; and
// docs/nvme-conformance.md says the same.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "controller/nvme/admin/admin_list.h"
#include "controller/nvme/io/io_list.h"
#include "unit/nvme/conformance_rows.h"

namespace ssdtlm {
namespace {

using namespace nvme;
using test::ConformanceHost;
using test::ConformanceRow;

const std::map<std::uint16_t, const char*>& names() {
    static const std::map<std::uint16_t, const char*> all{
        {kStSuccess, "Successful Completion"},
        {kStInvalidField, "Invalid Field in Command"},
        {kStDataTransferError, "Data Transfer Error"},
        {kStInternalError, "Internal Error"},
        {kStAbortRequested, "Command Abort Requested"},
        {kStAbortSqDeletion, "Command Aborted due to SQ Deletion"},
        {kStAbortFailedFused, "Command Aborted due to Failed Fused Command"},
        {kStAbortMissingFused, "Command Aborted due to Missing Fused Command"},
        {kStInvalidNamespace, "Invalid Namespace or Format"},
        {kStSequenceError, "Command Sequence Error"},
        {kStInvalidSglSegment, "Invalid SGL Segment Descriptor"},
        {kStInvalidSglCount, "Invalid Number of SGL Descriptors"},
        {kStSglLengthInvalid, "Data SGL Length Invalid"},
        {kStMetadataSglLength, "Metadata SGL Length Invalid"},
        {kStSglTypeInvalid, "SGL Descriptor Type Invalid"},
        {kStInvalidPrpOffset, "PRP Offset Invalid"},
        {kStSglGranularity, "SGL Data Block Granularity Invalid"},
        {kStSanitizeFailed, "Sanitize Failed"},
        {kStSanitizeInProgress, "Sanitize In Progress"},
        {kStLbaOutOfRange, "LBA Out of Range"},
        {kStFormatInProgress, "Format In Progress"},
        {kStInvalidCq, "Completion Queue Invalid"},
        {kStInvalidQid, "Invalid Queue Identifier"},
        {kStInvalidQueueSize, "Invalid Queue Size"},
        {kStAsyncEventLimit, "Asynchronous Event Request Limit Exceeded"},
        {kStInvalidVector, "Invalid Interrupt Vector"},
        {kStInvalidLogPage, "Invalid Log Page"},
        {kStInvalidFormat, "Invalid Format"},
        {kStInvalidQueueDeletion, "Invalid Queue Deletion"},
        {kStFeatureNotSaveable, "Feature Identifier Not Saveable"},
        {kStFeatureNotNamespace, "Feature Not Namespace Specific"},
        {kStNamespaceCapacity, "Namespace Insufficient Capacity"},
        {kStNamespaceIdUnavailable, "Namespace Identifier Unavailable"},
        {kStNamespaceAttached, "Namespace Already Attached"},
        {kStNamespaceNotAttached, "Namespace Not Attached"},
        {kStThinNotSupported, "Thin Provisioning Not Supported"},
        {kStControllerListInvalid, "Controller List Invalid"},
        {kStSelfTestInProgress, "Device Self-test In Progress"},
        {kStStreamResource, "Stream Resource Allocation Failed"},
        {kStInvalidProtection, "Invalid Protection Information"},
        {kStReadOnlyRange, "Attempted Write to Read Only Range"},
        {kStCommandSizeLimit, "Command Size Limit Exceeded"},
        {kStWriteFault, "Write Fault"},
        {kStUnrecoveredRead, "Unrecovered Read Error"},
        {kStGuardCheck, "End-to-end Guard Check Error"},
        {kStApplicationTagCheck, "End-to-end Application Tag Check Error"},
        {kStReferenceTagCheck, "End-to-end Reference Tag Check Error"},
        {kStCompareFailure, "Compare Failure"}};
    return all;
}

std::string code(std::uint16_t status) {
    char text[16];
    std::snprintf(text, sizeof text, "%x/%02Xh", status >> 8, status & 0xFF);
    return text;
}

using Statuses = std::map<std::uint8_t, std::set<std::uint16_t>>;

/// Every row gives its status, and the rows are what the table of the commands says.
void check_rows(const std::vector<ConformanceRow>& rows, const Statuses& said) {
    Statuses provoked;
    for (const ConformanceRow& r : rows) {
        ConformanceHost h;
        EXPECT_EQ(code(r.run(h)), code(r.status)) << "opcode " << int{r.opcode} << ": " << r.how;
        h.agenda.run();
        h.controller->check_waiters();
        EXPECT_TRUE(provoked[r.opcode].insert(r.status).second) << int{r.opcode} << " " << code(r.status) << " twice";
    }
    for (const auto& [opcode, statuses] : said)
        for (const std::uint16_t s : statuses)
            EXPECT_EQ(provoked[opcode].count(s), 1u) << "nothing provokes " << code(s) << " of " << int{opcode};
    for (const auto& [opcode, statuses] : provoked)
        for (const std::uint16_t s : statuses)
            EXPECT_TRUE(said.count(opcode) != 0 && said.at(opcode).count(s) != 0)
                << "the table of commands does not name " << code(s) << " of " << int{opcode};
}

TEST(Conformance, EachStatusOfEachAdminCommand) {
    Statuses said;
    for (const AdminKind* const k : admin_kinds()) {
        said[k->opcode] = {k->statuses.begin(), k->statuses.end()};
        said[k->opcode].insert(kStSuccess);
    }
    check_rows(test::admin_rows(), said);
}

TEST(Conformance, EachStatusOfEachIoCommand) {
    Statuses said;
    for (const IoKind* const k : io_kinds()) {
        said[k->opcode] = {k->statuses.begin(), k->statuses.end()};
        said[k->opcode].insert(kStSuccess);
    }
    check_rows(test::io_rows(), said);
}

// What any command may end with, whatever it is.
TEST(Conformance, StatusesOfAllCommands) {
    const std::set<std::uint8_t> in_sanitize{0x00, 0x01, 0x02, 0x04, 0x05, 0x06, 0x08, 0x09, 0x0A, 0x0C, 0x18, 0x84};
    for (const AdminKind* const k : admin_kinds()) {
        ConformanceHost h;
        // A fused command, and each value of PSDT but that of PRPs (NVMe 1.4 §4.2), though the drive takes SGLs.
        for (const std::uint32_t flags : {1u, 1u << 6, 2u << 6, 3u << 6}) {
            Sqe s = h.admin_command(k->opcode);
            s.flags = static_cast<std::uint8_t>(flags);
            EXPECT_EQ(h.admin_ends(s), kStInvalidField) << k->name;
        }
        h.begin(h.admin, h.admin_command(kAdminAsyncEvent));  // its identifier is in use
        Sqe s = h.admin_command(k->opcode);
        s.cid = 3000;
        h.push(h.admin, s);
        h.ring(h.admin);
        h.agenda.run();
        EXPECT_EQ(h.take(h.admin).status(), kStCidConflict) << k->name;
        EXPECT_EQ(k->in_sanitize, in_sanitize.count(k->opcode) != 0) << k->name;
        if (k->in_sanitize) continue;
        ConformanceHost busy;
        busy.begin_sanitize();
        EXPECT_EQ(busy.admin_ends(busy.admin_command(k->opcode)), kStSanitizeInProgress) << k->name;
        ConformanceHost failed;
        failed.fail_sanitize();
        EXPECT_EQ(failed.admin_ends(failed.admin_command(k->opcode)), kStSanitizeFailed) << k->name;
    }
    for (std::uint32_t opcode = 0; opcode < 256; ++opcode) {
        ConformanceHost h;
        if (find_admin(static_cast<std::uint8_t>(opcode), h.config, DriveFacts{}) == nullptr) {
            EXPECT_EQ(h.admin_ends(h.admin_command(static_cast<std::uint8_t>(opcode))), kStInvalidOpcode) << opcode;
        }
        Sqe s = h.io(static_cast<std::uint8_t>(opcode), 0, 1);
        const bool known = find_io(static_cast<std::uint8_t>(opcode)) != nullptr;
        if (!known) {
            EXPECT_EQ(h.ends(s), kStInvalidOpcode) << opcode;
            continue;
        }
        s.nsid = 33;
        EXPECT_EQ(h.ends(s), kStInvalidNamespace) << opcode;
        s.nsid = 9;  // valid, and of no namespace
        EXPECT_EQ(h.ends(s), kStInvalidField) << opcode;
        s.nsid = 1;
        s.flags = 3u << 6;
        EXPECT_EQ(h.ends(s), kStInvalidField) << opcode;
        NvmeConfig no_metadata = test::NvmeBench::small();
        no_metadata.sgls = true;
        test::DriveBench for_data(no_metadata);
        for_data.enable();
        test::Pair its_pair = for_data.create_pair(1);
        s.flags = kFlagsSglMetadata;
        EXPECT_EQ(for_data.run(its_pair, s).status(), kStInvalidField) << opcode;
        test::DriveBench without;
        without.enable();
        test::Pair pair = without.create_pair(1);
        s.flags = kFlagsSgl;
        EXPECT_EQ(without.run(pair, s).status(), kStInvalidField) << opcode;
        s.flags = 0;
        h.begin_format(1);
        EXPECT_EQ(h.ends(s), kStFormatInProgress) << opcode;
        ConformanceHost busy;
        busy.begin_sanitize();
        EXPECT_EQ(busy.ends(s), kStSanitizeInProgress) << opcode;
        ConformanceHost failed;
        failed.fail_sanitize();
        EXPECT_EQ(failed.ends(s), kStSanitizeFailed) << opcode;
    }
}

std::string table(const std::vector<ConformanceRow>& rows, const std::map<std::uint8_t, const char*>& commands) {
    std::ostringstream out;
    out << "| Command | Opcode | Status | Name | How |\n|---|---|---|---|---|\n";
    for (const auto& [opcode, name] : commands) {
        std::map<std::uint16_t, const char*> of;
        for (const ConformanceRow& r : rows)
            if (r.opcode == opcode) of[r.status] = r.how;
        for (const auto& [status, how] : of) {
            char number[8];
            std::snprintf(number, sizeof number, "%02Xh", opcode);
            out << "| " << name << " | " << number << " | " << code(status) << " | " << names().at(status) << " | "
                << how << " |\n";
        }
    }
    return out.str();
}

// SSDTLM_UPDATE=1 writes the page anew.
TEST(Conformance, ThePageSaysTheSame) {
    const std::string path = std::string(SSDTLM_SOURCE_DIR) + "/docs/nvme-conformance.md";
    std::ifstream in(path, std::ios::binary);
    std::stringstream read;
    read << in.rdbuf();
    std::string page = read.str();
    std::map<std::uint8_t, const char*> admin, io;
    for (const AdminKind* const k : admin_kinds()) admin[k->opcode] = k->name;
    for (const IoKind* const k : io_kinds()) io[k->opcode] = k->name;
    const std::string wanted[] = {table(test::admin_rows(), admin), table(test::io_rows(), io)};
    const char* const begins[] = {"<!-- admin -->\n", "<!-- io -->\n"};
    for (int i = 0; i < 2; ++i) {
        const std::size_t from = page.find(begins[i]);
        ASSERT_NE(from, std::string::npos) << begins[i];
        const std::size_t at = from + std::string(begins[i]).size();
        const std::size_t end = page.find("<!-- end -->\n", at);
        ASSERT_NE(end, std::string::npos);
        if (std::getenv("SSDTLM_UPDATE") == nullptr) {
            EXPECT_EQ(page.substr(at, end - at), wanted[i]) << "SSDTLM_UPDATE=1 renews the page";
        }
        page.replace(at, end - at, wanted[i]);
    }
    if (std::getenv("SSDTLM_UPDATE") != nullptr) std::ofstream(path, std::ios::binary) << page;
}

}  // namespace
}  // namespace ssdtlm
