// SPDX-License-Identifier: Apache-2.0
#include "sim/app/command_line.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "common/report/error.h"
#include "sim/app/commands.h"
#include "sim/app/main.h"
#include "sim/app/output_directory.h"
#include "sim/app/panic_state.h"
#include "sim/app/run.h"

namespace ssdtlm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// What the fake simulation below does.
std::function<int(const SsdConfig&, const RunOptions&)> simulation;

CommandLine parsed(std::vector<const char*> words) {
    words.insert(words.begin(), "ssdtlm");
    return parse_command_line(static_cast<int>(words.size()), words.data());
}

std::vector<std::string> problems(const std::vector<const char*>& words) {
    std::vector<std::string> texts;
    try {
        parsed(words);
    } catch (const UserError& e) {
        for (const auto& p : e.problems()) texts.push_back(p.text());
    }
    return texts;
}

/// Exit code and standard error of the program.
std::pair<int, std::string> program(std::vector<std::string> words) {
    words.insert(words.begin(), "ssdtlm");
    std::vector<char*> argv;
    for (auto& w : words) argv.push_back(w.data());
    argv.push_back(nullptr);
    ::testing::internal::CaptureStderr();
    const int code = ssdtlm_main(static_cast<int>(words.size()), argv.data());
    return {code, ::testing::internal::GetCapturedStderr()};
}

TEST(CommandLine, Run) {
    const CommandLine l = parsed({"run", "mqsim-table3", "more.toml", "--set", "a=1", "--workload", "x.fio", "--set",
                                  "b=2", "-o", "out", "--seed", "9", "--quiet", "--json"});
    EXPECT_EQ(l.command, CommandLine::Command::run);
    EXPECT_THAT(l.files, ElementsAre("mqsim-table3", "more.toml"));
    EXPECT_THAT(l.assignments, ElementsAre("a=1", "b=2"));
    EXPECT_EQ(l.run.workload, "x.fio");
    EXPECT_EQ(l.run.workload_kind, RunOptions::WorkloadKind::fio);
    EXPECT_EQ(l.run.output_directory, "out");
    EXPECT_EQ(l.seed, "9");
    EXPECT_TRUE(l.run.quiet);
    EXPECT_TRUE(l.run.json);
}

TEST(CommandLine, Serve) {
    const CommandLine l = parsed({"serve", "--set", "a=1", "dev.toml", "--socket", "s", "--pace", "free", "--report",
                                  "--stop-after-disconnect", "--save-drive", "d", "--seed", "9", "--watch"});
    EXPECT_EQ(l.command, CommandLine::Command::serve);
    EXPECT_THAT(l.files, ElementsAre("dev.toml"));
    ASSERT_TRUE(l.run.service);
    EXPECT_EQ(l.run.service->socket, "s");
    EXPECT_EQ(l.run.service->pace, vfio::Pacer::Mode::free);
    EXPECT_TRUE(l.run.service->stop_after_disconnect);
    EXPECT_EQ(l.run.save_drive, "d");
    EXPECT_EQ(l.run.report, "");
    EXPECT_TRUE(l.run.watch);
    const CommandLine clock = parsed({"serve", "dev.toml", "--socket", "s", "--clock", "c", "--rate", "0.2"});
    EXPECT_EQ(clock.run.service->pace, vfio::Pacer::Mode::wall);
    EXPECT_EQ(clock.run.service->clock, "c");
    EXPECT_EQ(clock.run.service->rate, 0.2);
    EXPECT_FALSE(parsed({"run", "dev.toml", "-w", "x.fio"}).run.service);
}

TEST(CommandLine, MistakesOfServe) {
    const std::vector<const char*> good{"serve", "dev.toml", "--socket", "s"};
    const auto with = [&](std::vector<const char*> more) {
        more.insert(more.begin(), good.begin(), good.end());
        return problems(more);
    };
    EXPECT_THAT(with({}), ElementsAre());
    EXPECT_THAT(problems({"serve", "dev.toml"}), ElementsAre(HasSubstr("--socket is required")));
    EXPECT_THAT(with({"--pace", "wal"}), ElementsAre(HasSubstr("did you mean 'wall'?")));
    EXPECT_THAT(with({"--rate", "0"}), ElementsAre(HasSubstr("--rate")));
    EXPECT_THAT(with({"--rate", "nan"}), ElementsAre(HasSubstr("--rate")));
    EXPECT_THAT(with({"--clock", "c", "--pace", "free"}), ElementsAre(HasSubstr("--clock with --pace free")));
    EXPECT_THAT(with({"--watch", "--quiet"}), ElementsAre(HasSubstr("--watch and --quiet")));
    EXPECT_THAT(with({"-w", "x.fio"}), ElementsAre(HasSubstr("unknown option '-w'")));
}

TEST(CommandLine, SeveralWorkloads) {
    const CommandLine l =
        parsed({"run", "-w", "x.fio", "dev.toml", "-w", "t.csv", "--workload", "tpcc", "--alone", "--base", "first"});
    EXPECT_THAT(l.files, ElementsAre("dev.toml"));
    EXPECT_THAT(l.run.workloads, ElementsAre("x.fio", "t.csv", "tpcc"));
    EXPECT_TRUE(l.run.alone);
    EXPECT_EQ(l.run.base, "first");
}

TEST(CommandLine, ReportTakesNoWordForItsFile) {
    const auto report = [](std::vector<const char*> more) {
        more.insert(more.begin(), {"run", "-w", "x.fio"});
        const CommandLine l = parsed(more);
        EXPECT_THAT(l.files, ElementsAre("dev.toml"));
        return l.run.report;
    };
    EXPECT_EQ(report({"dev.toml"}), std::nullopt);
    EXPECT_EQ(report({"--report", "dev.toml"}), "");
    EXPECT_EQ(report({"dev.toml", "--report"}), "");
    EXPECT_EQ(report({"--report=r.html", "dev.toml"}), "r.html");
    EXPECT_EQ(report({"--report=r.html", "dev.toml", "--report"}), "r.html");
}

TEST(CommandLine, AssignmentsDoNotSwallowFiles) {
    const CommandLine l = parsed({"run", "--set", "a=1", "dev.toml", "-w", "t.csv"});
    EXPECT_THAT(l.files, ElementsAre("dev.toml"));
    EXPECT_THAT(l.assignments, ElementsAre("a=1"));
}

TEST(CommandLine, TraceReplay) {
    const CommandLine l =
        parsed({"run", "d", "-w", "t.csv.gz", "--trace-format", "msr", "--replay", "closed", "--replay-depth", "7",
                "--time-scale", "0.5", "--trace-beyond", "fold", "--trace-volume", "usr,0"});
    EXPECT_EQ(l.run.workload, "t.csv.gz");
    EXPECT_THAT(l.run.trace_options, ElementsAre("--trace-format", "--trace-volume", "--trace-beyond", "--replay",
                                                 "--replay-depth", "--time-scale"));
    EXPECT_EQ(l.run.trace.format, "msr");
    EXPECT_EQ(l.run.trace.volume, "usr,0");
    EXPECT_EQ(l.run.trace.beyond, BeyondDevice::fold);
    EXPECT_EQ(l.run.replay.mode, TraceReplayOptions::Mode::closed);
    EXPECT_EQ(l.run.replay.depth, 7u);
    EXPECT_EQ(l.run.replay.time_scale, 0.5);
}

TEST(CommandLine, OptionsOfFio) {
    const CommandLine l =
        parsed({"run", "--bs", "4k", "--thread", "dev.toml", "--rw=randread", "--seed", "3", "--section", "a"});
    EXPECT_THAT(l.files, ElementsAre("dev.toml"));
    EXPECT_EQ(l.seed, "3");
    EXPECT_THAT(l.run.fio.sections, ElementsAre("a"));
    ASSERT_EQ(l.run.fio.arguments.size(), 3u);
    EXPECT_EQ(l.run.fio.arguments[0].name, "bs");
    EXPECT_EQ(l.run.fio.arguments[0].value, "4k");
    EXPECT_EQ(l.run.fio.arguments[1].value, std::nullopt);  // --thread takes no word
    EXPECT_EQ(l.run.fio.arguments[2].value, "randread");
}

TEST(CommandLine, HelpAndVersion) {
    EXPECT_THAT(parsed({"--version"}).text, StartsWith("ssdtlm "));
    EXPECT_THAT(parsed({"--help"}).text, HasSubstr("config"));
    EXPECT_THAT(parsed({"run", "--help"}).text, HasSubstr("--workload"));
    EXPECT_EQ(parsed({"run", "--help"}).command, CommandLine::Command::help);
    EXPECT_EQ(parsed({"help", "config", "show"}).text, parsed({"config", "show", "-h"}).text);
    EXPECT_EQ(parsed({"help"}).text, parsed({"-h"}).text);
    EXPECT_EQ(parsed({"version"}).text, parsed({"-v"}).text);
    EXPECT_THAT(problems({"completion", "cmd"}), ElementsAre("command line: shell 'cmd'; bash, zsh, fish"));
}

TEST(CommandLine, WaveTakesTheNextWordWhenItNamesParts) {
    const auto wave = [](const std::vector<const char*>& words) {
        const CommandLine l = parsed(words);
        EXPECT_THAT(l.files, ElementsAre("tiny-test")) << words[2];
        return l.run.wave.scopes;
    };
    EXPECT_EQ(wave({"run", "--wave", "tiny-test", "-w", "x.fio"}), "all");
    EXPECT_EQ(wave({"run", "--wave", "all", "tiny-test", "-w", "x.fio"}), "all");
    EXPECT_EQ(wave({"run", "--wave", "host,die[0]", "tiny-test", "-w", "x.fio"}), "host,die[0]");
    EXPECT_EQ(wave({"run", "--wave=gc", "tiny-test", "-w", "x.fio"}), "gc");
    EXPECT_EQ(wave({"run", "tiny-test", "-w", "x.fio", "--wave"}), "all");
}

TEST(CommandLine, Mistakes) {
    EXPECT_THAT(
        problems({"rn", "x"}),
        ElementsAre(
            "command line: unknown command 'rn'; run, serve, config, trace, wave, compare, explain, report, "
            "sweep, search, fit, study, guest, python, help, version, manual, completion; did you mean 'run'?"));
    EXPECT_THAT(problems({"config", "chek"}),
                ElementsAre("command line: unknown command 'chek'; check, show, derive, schema, "
                            "presets, workloads, fio, reference, import; did you mean 'check'?"));
    EXPECT_THAT(problems({"config", "show", "d", "--josn"}),
                ElementsAre("command line: unknown option '--josn'; did you mean '--json'?"));
    EXPECT_THAT(problems({"run", "d", "--workloat=x"}),
                ElementsAre("command line: unknown option '--workloat'; did you mean '--workload'?"));
    EXPECT_THAT(
        problems({}),
        ElementsAre(
            "command line: no command given; run, serve, config, trace, wave, compare, explain, report, "
            "sweep, search, fit, study, guest, python, help, version, manual, completion; see `ssdtlm --help`"));
    EXPECT_THAT(problems({"run", "d"}),
                ElementsAre(StartsWith("command line: no workload: --workload is missing; -w FILE, or")));
    EXPECT_THAT(
        problems({"run", "d", "-w", "x", "--replay", "closd", "--trace-format", "msrr", "--time-scale", "0"}),
        ElementsAre(
            StartsWith("command line: --trace-format 'msrr'; auto, "),
            "command line: --replay 'closd'; closed, stamped; did you mean 'closed'?",
            "command line: --time-scale '0'; a number above 0, at most 1e+09, for example 0.5 for twice the speed"));
}

TEST(OutputDirectory, IsMadeAndProbed) {
    namespace fs = std::filesystem;
    const fs::path root = fs::path(::testing::TempDir()) / "ssdtlm-output-test";
    fs::remove_all(root);
    prepare_output_directory((root / "a" / "b").string(), "-o");
    EXPECT_TRUE(fs::is_directory(root / "a" / "b"));
    EXPECT_TRUE(fs::is_empty(root / "a" / "b"));
    EXPECT_THROW(prepare_output_directory("/dev/null/x", "-o"), UserError);
    EXPECT_THROW(prepare_output_directory("/dev/null", "-o"), UserError);
    fs::remove_all(root);
    EXPECT_EQ(default_output_directory("tiny-test", "a/b/mix.fio"), "results/tiny-test-mix");
    EXPECT_EQ(default_output_directory("../../x", ".."), "results/_._.._x-_.");
}

class Program : public ::testing::Test {
protected:
    void SetUp() override {
        out_ = ::testing::TempDir() + "ssdtlm-program-test";
        job_ = out_ + ".fio";
        std::ofstream(job_) << "[j]\nrw=read\n";
    }
    void TearDown() override {
        std::filesystem::remove_all(out_);
        std::filesystem::remove(job_);
    }
    std::pair<int, std::string> run() {
        return program({"run", "tiny-test", "-w", job_.c_str(), "-o", out_, "--seed", "3"});
    }
    std::string job_;
    std::string out_;
};

TEST_F(Program, HandsTheResolvedConfigurationOver) {
    simulation = [this](const SsdConfig& c, const RunOptions& o) {
        EXPECT_EQ(c.name, "tiny-test");
        EXPECT_EQ(c.run.seed, 3u);
        EXPECT_EQ(o.output_directory, out_);
        EXPECT_THAT(o.resolved_config, HasSubstr("# --seed 3\n"));
        EXPECT_EQ(o.config_digest.size(), 16u);
        return static_cast<int>(ExitCode::watchdog);
    };
    EXPECT_EQ(run(), std::make_pair(3, std::string()));
}

TEST_F(Program, ExitCodes) {
    simulation = [](const SsdConfig&, const RunOptions&) -> int { throw CheckFailed("stale data"); };
    EXPECT_EQ(run(), std::make_pair(1, std::string("ssdtlm: check failed: stale data\n")));

    simulation = [](const SsdConfig&, const RunOptions&) -> int {
        throw UserError({{"x.fio:3", "a", "b", "c"}, {"x.fio:4", "d", "", ""}});
    };
    EXPECT_EQ(run(), std::make_pair(2, std::string("x.fio:3: a; b; c\nx.fio:4: d\n")));

    simulation = [](const SsdConfig&, const RunOptions&) -> int {
        panic_state() = "die 3 busy";
        panic("here", "lost a page");
    };
    const auto [code, text] = run();
    panic_state().clear();
    EXPECT_EQ(code, 70);
    EXPECT_THAT(text, HasSubstr("here: lost a page"));
    EXPECT_THAT(text, HasSubstr("State:\ndie 3 busy\n"));
}

TEST_F(Program, MistakesOfTheUserExitWith2) {
    EXPECT_EQ(program({"config", "check", "tiny-test", "--set", "link.lanes=3"}),
              std::make_pair(2, std::string("--set link.lanes=3: link.lanes: 3 is not possible; 1, 2, 4, 8 or 16\n")));
    EXPECT_EQ(program({"run", "tiny-test"}).first, 2);
}

TEST(OutputDirectory, MustBeWritable) {
    try {
        prepare_output_directory("/dev/null/x", "-o");
        FAIL();
    } catch (const UserError& e) {
        EXPECT_EQ(e.problems().at(0).where, "-o /dev/null/x");
    }
}

}  // namespace

int run_simulation(const SsdConfig& config, const RunOptions& options) {
    return simulation(config, options);
}
void check_simulation(const SsdConfig&, const RunOptions&) {}

}  // namespace ssdtlm
