// SPDX-License-Identifier: Apache-2.0
// Whatever a host does to whatever drive, and whenever the power goes: what is read is what the reference map says.
// README.md tells how to look for more and how to repeat a case.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "property/case_run.h"
#include "property/drive_case.h"
#include "property/random_case.h"

namespace ssdtlm {
namespace {

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
    const char* const text = std::getenv(name);
    return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

std::string text_of_file(const std::filesystem::path& path) {
    std::ifstream in(path);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
}

void repeat(const std::filesystem::path& path) {
    SCOPED_TRACE(path);
    try {
        const DriveText c = read_case(text_of_file(path));
        std::printf("%s: %s\n", path.filename().c_str(),
                    run_in_child(config_of(c.device), c.depth, c.ops).dump().c_str());
    } catch (const std::exception& e) {
        ADD_FAILURE() << e.what();
    }
}

TEST(Property, NothingIsDrawnTwice) {
    std::set<std::string> keys;
    for (const Choice& c : DriveCase::choices(true)) EXPECT_TRUE(keys.insert(c.key).second) << c.key;
}

// SSDTLM_PROPERTY_CASE: a file as this test has printed it.
TEST(Property, CasesThatWereWrongOnce) {
    if (const char* const path = std::getenv("SSDTLM_PROPERTY_CASE")) return repeat(path);
    for (const auto& entry : std::filesystem::directory_iterator(SSDTLM_PROPERTY_CASES))
        if (entry.path().extension() == ".case") repeat(entry.path());
}

TEST(Property, EachReadIsWhatTheReferenceMapSays) {
    Campaign c;
    c.seed = from_environment("SSDTLM_TEST_SEED", 90'000);
    c.operations = from_environment("SSDTLM_PROPERTY_OPERATIONS", 100'000);
    EXPECT_TRUE(run_campaign(c)) << "the case is printed above";
}

// Four of a hundred operations are a loss of power: under load, which are counted here, in bring-up or in the search
// for the map, or after a shutdown.
TEST(Property, AfterEachLossOfPower) {
    Campaign c;
    c.seed = from_environment("SSDTLM_TEST_SEED", 90'000) + 1'000'000;
    c.cuts = from_environment("SSDTLM_PROPERTY_CUTS", 500);
    c.mix = {40, 400};
    EXPECT_TRUE(run_campaign(c)) << "the case is printed above";
}

// Three of a hundred operations are Format NVM or Sanitize. A quarter of these lose power meanwhile, and some fail.
TEST(Property, AfterEachErasure) {
    Campaign c;
    c.seed = from_environment("SSDTLM_TEST_SEED", 90'000) + 4'000'000;
    c.operations = from_environment("SSDTLM_PROPERTY_ERASURES", 20'000);
    c.mix = {20, 400, false, 30};
    EXPECT_TRUE(run_campaign(c)) << "the case is printed above";
}

TEST(Property, SerialAtaEachReadIsWhatTheReferenceMapSays) {
    Campaign c;
    c.seed = from_environment("SSDTLM_TEST_SEED", 90'000) + 2'000'000;
    c.operations = from_environment("SSDTLM_PROPERTY_OPERATIONS", 20'000);
    c.mix.serial_ata = true;
    EXPECT_TRUE(run_campaign(c)) << "the case is printed above";
}

TEST(Property, SerialAtaAfterEachLossOfPower) {
    Campaign c;
    c.seed = from_environment("SSDTLM_TEST_SEED", 90'000) + 3'000'000;
    c.cuts = from_environment("SSDTLM_PROPERTY_CUTS", 60);
    c.mix = {40, 400, true};
    EXPECT_TRUE(run_campaign(c)) << "the case is printed above";
}

}  // namespace
}  // namespace ssdtlm
