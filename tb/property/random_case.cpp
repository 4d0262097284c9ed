// SPDX-License-Identifier: Apache-2.0
#include "property/random_case.h"

#include <rapidcheck/detail/TestListenerAdapter.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <map>

#include "common/report/error.h"
#include "property/case_run.h"

namespace ssdtlm {

namespace {

using Kind = DriveOp::Kind;

constexpr unsigned kSeconds = 240;  ///< a case takes a tenth of a second, a few that refresh without end more than 60
constexpr unsigned kSecondsMadeSmaller = 10;  ///< smaller forms of a case that was wrong
constexpr std::chrono::minutes kMadeSmallerFor{5};

/// Of 1,000. The simplest first: that is what a failing case is made of in the end.
Kind kind_of(int n, int cuts, int erasures) {
    const int resets = 1 + cuts / 4;
    const std::pair<Kind, int> shares[] = {{Kind::write, 401 - erasures},
                                           {Kind::read, 250 - cuts - resets},
                                           {Kind::reset, resets},
                                           {Kind::forced_write, 70},
                                           {Kind::trim, 80},
                                           {Kind::zeroes, 20},
                                           {Kind::forced_zeroes, 10},
                                           {Kind::flush, 40},
                                           {Kind::drain, 40},
                                           {Kind::cut, cuts - cuts / 3},
                                           {Kind::off, cuts / 3},
                                           {Kind::verify, 10},
                                           {Kind::compare, 10},
                                           {Kind::copy, 12},
                                           {Kind::uncorrectable, 5},
                                           {Kind::format, erasures},
                                           {Kind::compare_write, 10}};
    for (const auto& [kind, share] : shares) {
        if (n < share) return kind;
        n -= share;
    }
    return Kind::pause;
}

/// The same for Serial ATA, which has no Write Zeroes.
Kind sata_kind_of(int n, int cuts) {
    const int resets = 4 + cuts / 4;
    const std::pair<Kind, int> shares[] = {{Kind::write, 400},      {Kind::read, 270 - cuts - resets},
                                           {Kind::reset, resets},   {Kind::forced_write, 80},
                                           {Kind::trim, 60},        {Kind::flush, 40},
                                           {Kind::drain, 30},       {Kind::cut, cuts - cuts / 3},
                                           {Kind::off, cuts / 3},   {Kind::beyond, 8},
                                           {Kind::broken_frame, 12}};
    for (const auto& [kind, share] : shares) {
        if (n < share) return kind;
        n -= share;
    }
    return Kind::pause;
}

/// RapidCheck's own prints, and has a configuration from the environment.
struct Silent final : rc::detail::TestListenerAdapter {};

rc::Gen<DriveOp> any_op(int cuts, int erasures) {
    using rc::gen::inRange;
    const auto units = rc::gen::oneOf(inRange(0, 6), inRange(0, 64), inRange(0, 100'000));
    const auto few = rc::gen::oneOf(rc::gen::just(0), inRange(0, 32));
    const auto blocks = rc::gen::oneOf(inRange(1, 9), rc::gen::just(8), inRange(1, 65));
    const auto us = rc::gen::oneOf(inRange(0, 20), inRange(0, 500), inRange(0, 6000));
    return rc::gen::map(
        rc::gen::tuple(inRange(0, 1000), units, few, blocks, us, inRange(0, 12)),
        [cuts, erasures](const std::tuple<int, int, int, int, int, int>& t) {
            const auto [kind, unit, block, many, time, more] = t;
            DriveOp o;
            o.kind = kind_of(kind, cuts, erasures);
            o.unit = static_cast<std::uint32_t>(unit);
            o.block = static_cast<std::uint32_t>(block);
            o.blocks = static_cast<std::uint32_t>(
                o.kind == Kind::trim || o.kind == Kind::zeroes || o.kind == Kind::forced_zeroes ? many / 4 + 1 : many);
            o.us = static_cast<std::uint32_t>(time);
            o.again = static_cast<std::uint32_t>(o.kind == Kind::reset ? more % 4 : more >= 10 ? more - 9 : 0);
            o.look = more % 2 == 0;
            return o;
        });
}

rc::Gen<DriveOp> any_sata_op(int cuts) {
    return rc::gen::map(rc::gen::tuple(any_op(cuts, 0), rc::gen::inRange(0, 1000), rc::gen::inRange(0, 24)),
                        [cuts](const std::tuple<DriveOp, int, int>& t) {
                            auto [o, kind, more] = t;
                            o.kind = sata_kind_of(kind, cuts);
                            const bool ranges = o.kind == Kind::trim;
                            if (ranges) o.blocks = o.blocks / 4 + 1;
                            if (o.kind == Kind::reset) o.again = static_cast<std::uint32_t>(more % 4);
                            const bool data = o.kind == Kind::read || o.kind == Kind::write ||
                                              o.kind == Kind::forced_write || o.kind == Kind::beyond;
                            o.dma = data && more >= 22;
                            return o;
                        });
}

void show_figures(const std::map<std::string, std::uint64_t>& sums, std::uint64_t cases, std::uint64_t refused,
                  double seconds) {
    std::uint64_t operations = 0;
    for (const char* name : DriveOp::kNames) operations += sums.count(name) != 0 ? sums.at(name) : 0;
    std::printf("[   FIGURE ] %llu operations in %llu cases, %llu drives refused, %.1f s",
                static_cast<unsigned long long>(operations), static_cast<unsigned long long>(cases),
                static_cast<unsigned long long>(refused), seconds);
    for (const auto& [name, n] : sums) std::printf("; %s: %llu", name.c_str(), static_cast<unsigned long long>(n));
    std::printf("\n");
}

/// In eight ways that the drive is erased its power goes three times meanwhile, and it is reset three times. Half of
/// the blocks drawn are 0, which disturbs nothing.
void disturb_erasures(std::vector<DriveOp>& ops, bool loses_power) {
    for (std::size_t i = 0; i < ops.size(); ++i) {
        const std::uint32_t way = ops[i].block % 8;
        if (ops[i].kind != Kind::format || way < 2 || (way < 5 && !loses_power)) continue;
        DriveOp drain, cut;
        drain.kind = Kind::drain;
        cut.kind = way < 5 ? Kind::cut : Kind::reset;
        cut.us = ops[i].us;
        cut.look = ops[i].look;
        if (cut.kind == Kind::reset) cut.again = ops[i].blocks % 4;
        ops.insert(ops.begin() + static_cast<std::ptrdiff_t>(i), {drain, cut});
        i += 2;
    }
}

}  // namespace

rc::Gen<DriveCase> any_case(const CaseMix& mix) {
    // Any number below 60 is one of up to six values with equal chances.
    const std::vector<Choice>& choices = DriveCase::choices(mix.serial_ata);
    const auto chosen = rc::gen::container<std::vector<int>>(choices.size(), rc::gen::inRange(0, 60));
    const auto op = mix.serial_ata ? any_sata_op(mix.cuts) : any_op(mix.cuts, mix.erasures);
    const auto ops = rc::gen::resize(mix.most_ops, rc::gen::container<std::vector<DriveOp>>(rc::gen::resize(100, op)));
    return rc::gen::map(
        rc::gen::pair(rc::gen::resize(100, chosen), ops),
        [&choices, serial_ata = mix.serial_ata](const std::pair<std::vector<int>, std::vector<DriveOp>>& p) {
            DriveCase c;
            c.serial_ata = serial_ata;
            for (std::size_t i = 0; i < p.first.size(); ++i)
                c.chosen.push_back(static_cast<std::uint32_t>(p.first[i]) %
                                   static_cast<std::uint32_t>(choices[i].values.size()));
            c.ops = p.second;
            disturb_erasures(c.ops, c.loses_power());
            if (c.has_metadata() && c.number("format") != 0) {
                DriveOp format;
                format.kind = Kind::format;
                format.us = static_cast<std::uint32_t>(3 * c.number("format"));
                c.ops.insert(c.ops.begin(), format);
            }
            if (!c.loses_power())
                c.ops.erase(std::remove_if(c.ops.begin(), c.ops.end(),
                                           [](const DriveOp& o) { return o.kind == Kind::cut || o.kind == Kind::off; }),
                            c.ops.end());
            return c;
        });
}

bool run_campaign(const Campaign& campaign) {
    std::map<std::string, std::uint64_t> sums;
    std::uint64_t cases = 0, refused = 0, operations = 0, told = 0;
    std::string wrong;
    using HostClock = std::chrono::steady_clock;
    const auto begin = HostClock::now();
    HostClock::time_point first_wrong;
    std::uint64_t seed = 0;
    const auto property = [&] {
        const DriveCase c = *any_case(campaign.mix);
        // A case that takes long to fail is made smaller for as long as somebody would wait: what is left then counts
        // as right.
        if (!wrong.empty() && HostClock::now() - first_wrong > kMadeSmallerFor) return;
        std::string device;
        SsdConfig config;
        try {
            device = c.device();
            config = config_of(device);
        } catch (const UserError& e) {
            ++refused;
            const Problem& p = e.problems().front();  // a place in the file, and then the key; or the key
            const std::string key =
                p.where.rfind("case", 0) == 0 ? p.found.substr(0, p.found.find(':')) : p.where.substr(0, 60);
            if (++sums["refused: " + key] == 1)
                std::cout << "refused for the first time: " << key << ": " << p.found << "; allowed: " << p.allowed
                          << "\n";
            return;
        }
        try {
            const nlohmann::json done =
                run_in_child(config, c.depth(), c.ops, wrong.empty() ? kSeconds : kSecondsMadeSmaller);
            if (first_wrong != HostClock::time_point{})
                return;  // is not one of the campaign's: a smaller form of the case that was wrong
            ++cases;
            for (const auto& [name, n] : done.items()) sums[name] += n.get<std::uint64_t>();
            for (const char* name : DriveOp::kNames) operations += done[name].get<std::uint64_t>();
        } catch (const std::exception& e) {
            std::string why = e.what();
            for (std::size_t at = 0; (at = why.find('\n', at)) != std::string::npos; at += 3)
                why.replace(at, 1, "\n# ");
            const bool first = wrong.empty();
            wrong = "# " + why + "\n" + text_of(device, c.depth(), c.ops);  // the last one that fails is the smallest
            if (first) {
                first_wrong = HostClock::now();
                std::cout << "seed " << seed << ", as it was drawn:\n" << wrong << std::endl;
            }
            RC_FAIL("see the case");
        }
    };
    for (std::uint64_t batch = 0; operations < campaign.operations || sums["losses under load"] < campaign.cuts;
         ++batch) {
        rc::detail::TestMetadata metadata;
        rc::detail::TestParams params;
        params.seed = seed = campaign.seed + batch;
        params.maxSuccess = 20;
        if (const std::uint64_t millions = operations / 1'000'000; millions != told) {
            told = millions;
            std::printf("%llu million operations, %llu losses of power under load\n",
                        static_cast<unsigned long long>(millions),
                        static_cast<unsigned long long>(sums["losses under load"]));
            std::fflush(stdout);
        }
        Silent silent;
        if (rc::detail::checkTestable(property, metadata, params, silent).is<rc::detail::SuccessResult>()) continue;
        std::cout << "seed " << params.seed << ", made smaller:\n" << wrong << std::endl;
        break;
    }
    show_figures(sums, cases, refused, std::chrono::duration<double>(HostClock::now() - begin).count());
    // Many would mean that something of what is drawn is never tested.
    const bool few_refused = refused <= 20 + cases / 10;
    if (!few_refused) std::cout << "too many of the drives that were drawn were refused\n";
    return wrong.empty() && few_refused;
}

}  // namespace ssdtlm
