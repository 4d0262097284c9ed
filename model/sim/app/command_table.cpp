// SPDX-License-Identifier: Apache-2.0
#include "sim/app/command_table.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "host_pcie/workload/trace/trace_format.h"
#include "sim/app/command_parts.h"
#include "sim/version.h"

namespace ssdtlm {
namespace {

using Command = CommandLine::Command;

class Table : private CommandParts {
public:
    Table(CLI::App& app, CommandLineTexts& texts) : CommandParts(app, texts) {}

    void fill() {
        app_.set_version_flag("-v,--version", std::string("ssdtlm ") + kVersion, "Print the version and exit");
        app_.set_help_flag("-h,--help", "Print this help and exit");
        app_.require_subcommand(1);
        app_.allow_extras();
        add_run();
        add_serve();
        add_config();
        add_trace();
        add_wave();
        add_python_commands(app_, texts_);
        add_help();
    }

private:
    /// Options that may be repeated take one value each, so that positional words may follow.
    void device(CLI::App* sub) {
        group(sub, "Device");
        sub->add_option("device", line_.files, "Device files or presets, merged from left to right")
            ->required()
            ->type_name(kDeviceKind);
        sub->add_option("--set", line_.assignments, "Set a parameter, after all files; may be repeated")
            ->expected(1)
            ->take_all()
            ->allow_extra_args(false)
            ->type_name(kAssignmentKind);
    }

    void workload(CLI::App* sub) {
        group(sub, "Workload");
        sub->add_option("-w,--workload", line_.run.workloads,
                        "fio job file or block trace (may be .gz; told apart by content), - for standard input, or the "
                        "name of one that "
                        "comes with the program (`ssdtlm config workloads`). Options of fio (--rw=randread --bs=4k) "
                        "may stand alone. "
                        "With a job FILE the file's options win (as in fio); with a NAME the command line wins. "
                        "May be repeated: each workload is a flow with queue pairs of its own, and all run at once")
            ->expected(1)
            ->take_all()
            ->allow_extra_args(false)
            ->type_name(kWorkloadKind);
        sub->add_option("--section", line_.run.fio.sections, "Run only this job of the job file; may be repeated")
            ->expected(1)
            ->take_all()
            ->allow_extra_args(false)
            ->type_name("NAME");
        sub->add_option("--only", line_.run.only,
                        "Run only this flow: its queue pairs, random numbers and settings are those that it has beside "
                        "the others. A flow is a workload of several, or a section of one job file")
            ->type_name("FLOW");
    }

    void trace_input(CLI::App* sub) {
        group(sub, "Block traces");
        sub->add_option("--trace-format", line_.run.trace.format,
                        "Format of the trace; auto: found from its first lines")
            ->capture_default_str()
            ->type_name(one_of(trace_format_words()));
        sub->add_option(
               "--trace-columns", line_.run.trace.columns,
               "Columns of any other table, with the file's separator between them, for example "
               "time:us,op,offset:sectors,size,-,volume; also time:s|ms|ns|filetime, op:READ/WRITE with the words "
               "of the file, offset:BYTES, and ... for more that follow")
            ->type_name("COLUMNS");
        sub->add_option("--trace-volume", line_.run.trace.volume, "Take only this volume of the trace")
            ->type_name("NAME");
        sub->add_flag("--trace-overlay", line_.run.trace.overlay_volumes,
                      "Let all volumes start at address 0 instead of one after the other");
        sub->add_flag(
            "--trace-spread", line_.run.trace.spread,
            "Spread requests that share a time evenly over the resolution of the times, for traces in whole seconds");
        sub->add_flag("--trace-skip-broken", line_.run.trace.skip_broken,
                      "Count lines that cannot be read instead of refusing the trace");
        sub->add_option("--blkparse-action", texts_.blkparse_action, "blkparse rows to take: D (issued) or Q (queued)")
            ->capture_default_str()
            ->type_name(one_of(blkparse_action_words()));
    }
    void replay(CLI::App* run) {
        group(run, "Replay of a trace");
        run->add_option("--trace-beyond", texts_.beyond, "What to do with requests beyond the device")
            ->capture_default_str()
            ->type_name(one_of(beyond_device_words()));
        run->add_option("--replay", texts_.replay,
                        "stamped: at the trace's times; closed: as fast as possible at --replay-depth")
            ->capture_default_str()
            ->type_name(one_of(replay_words()));
        count(run, "--replay-depth", line_.run.replay.depth, "closed: outstanding requests");
        factor(run, "--time-scale", line_.run.replay.time_scale, 1e9, "stamped: factor on the trace's times",
               "0.5 for twice the speed");
        run->add_option("--replay-gap", texts_.replay_gap,
                        "stamped: pauses of the trace that are longer last so long, for example 1s; default: all are "
                        "kept, up to 100 days in all")
            ->type_name("TIME");
        count(run, "--replay-loops", line_.run.replay.loops, "How often the trace is played, one after the other");
        count(run, "--replay-jobs", line_.run.replay.jobs,
              "Number of queue pairs over which the trace's volumes are spread");
    }

    void wave(CLI::App* run) {
        WaveTexts& w = texts_.wave;
        group(run, "Waveform");
        run->add_option("--wave", w.scopes,
                        "Record a waveform of these parts: all, host, link, nvme, sata_link (FISes), firmware, gc, "
                        "scheduler, channel[3], channel[*].pins, die[3][1], ...; --wave alone: all that the device has")
            ->expected(1)
            ->type_name("SCOPES");
        run->add_option("--wave-from", w.from, "Simulated time at which the recording begins, for example 1ms")
            ->type_name("TIME");
        run->add_option("--wave-to", w.to, "Simulated time at which the recording ends")->type_name("TIME");
        run->add_option("--wave-trigger", w.trigger,
                        "Record only around the first of these events: command=N (its submission), gc (the first "
                        "victim), latency=TIME (a "
                        "command that takes longer), overtake=N (a host read goes before N programs of garbage "
                        "collection), power (a loss of "
                        "power), error (an error status, a stall or a failed check)")
            ->type_name("EVENT");
        run->add_option("--wave-before", w.before, "History before the trigger; default 1ms")->type_name("TIME");
        run->add_option("--wave-after", w.after, "Length after the trigger; default 2ms")->type_name("TIME");
        run->add_option("--wave-format", w.format, "fst needs vcd2fst")->capture_default_str()->type_name("vcd|fst");
    }
    void pins(CLI::App* run) {
        group(run, "Pins");
        run->add_flag(
            "--check-pins", line_.run.check_pins,
            "Check the pins of every channel against the rules of the ONFI bus, and fail the run when one is broken");
    }
    void timeline(CLI::App* run) {
        group(run, "Timeline");
        run->add_flag(
            "--timeline", texts_.timeline,
            "Write trace.json: who occupied each queue, link direction, core, channel and die, for Perfetto or DuckDB");
        run->add_option("--timeline-from", texts_.timeline_from, "Simulated time at which the recording begins")
            ->type_name("TIME");
        run->add_option("--timeline-to", texts_.timeline_to, "Simulated time at which the recording ends")
            ->type_name("TIME");
    }

    void results(CLI::App* sub) {
        group(sub, "Results");
        sub->add_option("-o,--output", line_.run.output_directory,
                        "Folder for the results; default results/<device>-<workload>")
            ->type_name(kFolderKind);
        sub->add_option(
               "--save-drive", line_.run.save_drive,
               "Save the drive at the end in this file, for runs that go on from there: --set precondition.from=FILE")
            ->type_name(kFileKind);
        sub->add_flag("-q,--quiet", line_.run.quiet,
                      "No progress, and no summary unless the results cannot be written");
        sub->add_flag("--watch", line_.run.watch,
                      "Draw the run on the terminal as it goes: throughput, latency, the busiest resources, garbage "
                      "collection, ETA");
        sub->add_flag("--json", line_.run.json, "Print result.json instead of the summary");
    }
    void report(CLI::App* sub) {
        group(sub, "Results");
        // The parser would take the next word for the value of a --report without one. So such a word is removed
        // before.
        sub->add_option("--report", line_.run.report,
                        "After the run, write its report as `ssdtlm report` does; default report.html in the folder of "
                        "the results")
            ->expected(0, 1)
            ->type_name(kFileKind);
    }

    void add_serve() {
        auto* serve = subcommand(
            app_, "serve", "Let a guest drive the drive: a real NVMe driver in QEMU, or any other vfio-user client",
            Command::serve);
        device(serve);
        serve->add_option("--seed", line_.seed, "Seed of all random streams; the same as --set run.seed=N")
            ->type_name("N");
        group(serve, "Guest");
        serve->add_option("--socket", texts_.service.socket, "UNIX socket to listen at, for one client at a time")
            ->required()
            ->type_name(kFileKind);
        serve
            ->add_option("--pace", texts_.pace,
                         "wall: simulated time goes with the wall's; free: as fast as it can, and stands while the "
                         "drive has nothing to do")
            ->capture_default_str()
            ->type_name(one_of(pace_words()));
        factor(serve, "--rate", texts_.service.rate, 1000, "wall: simulated seconds in a second of the wall",
               "0.2 for a fifth of the wall's speed");
        serve
            ->add_option("--clock", texts_.service.clock,
                         "Publish the guest's clock in this file, for a guest whose clock follows the model's")
            ->type_name(kFileKind);
        serve->add_flag("--stop-after-disconnect", texts_.service.stop_after_disconnect,
                        "End when the client has gone, in place of waiting for the next");
        results(serve);
        report(serve);
        wave(serve);
        pins(serve);
        timeline(serve);
    }
    void add_run() {
        auto* run = subcommand(app_, "run", "Simulate a workload on a device", Command::run);
        device(run);
        workload(run);
        run->add_option("--seed", line_.seed, "Seed of all random streams; the same as --set run.seed=N")
            ->type_name("N");
        results(run);
        group(run, "Flows");
        run->add_flag("--alone", line_.run.alone,
                      "Also run each flow without the others, and give slow-down, fairness and weighted speed-up");
        run->add_option("--base", line_.run.base,
                        "Folder of another run of these flows, for example the first of a series: throughput is also "
                        "given as a multiple of theirs")
            ->type_name(kFolderKind);
        report(run);
        group(run, "Early end");
        run->add_option("--stop-after-time", line_.run.limit_texts.time,
                        "End the workload at this simulated time, for example 2s; what was submitted completes")
            ->type_name("TIME");
        run->add_option("--stop-after-commands", line_.run.limit_texts.commands,
                        "End the workload when it has issued this many commands, for example 10k")
            ->type_name("N");
        trace_input(run);
        replay(run);
        wave(run);
        pins(run);
        timeline(run);
    }
    void add_config() {
        auto* config = family("config", "Check, show and document device configurations");
        auto* check = subcommand(*config, "check",
                                 "Report all problems of a device, alone or with a workload: what `run` would refuse",
                                 Command::config_check);
        device(check);
        workload(check);
        group(check, "Output");
        check->add_flag("--json", line_.run.json, "Print problems as JSON");
        trace_input(check);
        replay(check);
        auto* show = subcommand(*config, "show", "Print every parameter with its value and where it comes from",
                                Command::config_show);
        device(show);
        group(show, "Output");
        // All output is of the resolved configuration; the flag says so in scripts.
        show->add_flag("--resolved", "Default, and the only form");
        show->add_flag("--json", line_.run.json, "Print JSON instead of TOML");
        show->add_option("--variants", line_.variants,
                         "Instead, for each line of this file (- is standard input), a JSON list of further KEY=VALUE, "
                         "print one "
                         "line of JSON: the parameters, or the problems")
            ->type_name(kFileKind);
        auto* derived =
            subcommand(*config, "derive",
                       "Print what follows from a device before it runs, by formula: capacities, ceilings by resource, "
                       "latencies, write amplification",
                       Command::config_derive);
        device(derived);
        group(derived, "Output");
        derived->add_flag("--json", line_.run.json, "Print JSON");
        subcommand(*config, "schema", "Print the JSON Schema of device files", Command::config_schema);
        auto* presets =
            subcommand(*config, "presets", "List the devices that come with the program", Command::config_presets);
        group(presets, "Output");
        presets->add_flag("--json", line_.run.json, "Print JSON");
        auto* workloads = subcommand(*config, "workloads", "List the workloads that come with the program",
                                     Command::config_workloads);
        group(workloads, "Output");
        workloads->add_flag("--json", line_.run.json, "Print JSON");
        auto* fio =
            subcommand(*config, "fio", "List the options of fio, and what becomes of each here", Command::config_fio);
        group(fio, "Output");
        fio->add_flag("--json", line_.run.json, "Print JSON instead of Markdown");
        subcommand(*config, "reference", "Print the parameter reference page (Markdown)", Command::config_reference);
        PythonTexts& p = texts_.python;
        auto* import = subcommand(*config, "import",
                                  "Make a device, and jobs, of the configuration of another simulator, and say what "
                                  "became of each of its parameters",
                                  Command::python);
        group(import, "Configuration");
        import->add_option("simulator", p.text, "Whose configuration it is: mqsim, simplessd or femu")
            ->required()
            ->type_name("mqsim|simplessd|femu");
        import
            ->add_option("file", p.words,
                         "MQSim's ssdconfig.xml, and its workload.xml behind it; SimpleSSD's .cfg; for FEMU a command "
                         "line of QEMU, a script that has one, or vssd1.conf")
            ->required()
            ->type_name(kFileKind);
        import->add_flag("--mechanisms", p.flag,
                         "MQSim only: with what it does otherwise: a chip works as one die, data go before commands on "
                         "the bus, firmware takes no time, and the DRAM limits nothing");
        group(import, "Output");
        import
            ->add_option("-o,--output", p.text,
                         "Folder for the device and its jobs; default: where the command is started")
            ->type_name(kFolderKind);
        import->add_option("--name", p.text, "Name of the device; default: that of its file")->type_name("NAME");
        import->add_flag("--json", p.flag, "Print JSON: files, commands and rows of the table");
    }
    void add_trace() {
        auto* trace = family("trace", "Look into block traces");
        subcommand(*trace, "formats", "List the formats that are read, with their columns", Command::trace_formats);
        for (const auto command : {Command::trace_info, Command::trace_head}) {
            const bool info = command == Command::trace_info;
            auto* sub = subcommand(*trace, info ? "info" : "head",
                                   info ? "Show what a trace holds and what of it would be skipped"
                                        : "Show the first records as they would be replayed",
                                   command);
            group(sub, "Block traces");
            sub->add_option("file", line_.run.trace.path, "Trace, plain or .gz")->required()->type_name(kFileKind);
            trace_input(sub);
            group(sub, "Output");
            sub->add_flag("--json", line_.run.json, "Print JSON");
            if (!info) count(sub, "-n,--lines", line_.lines, "Records to print", 0);
        }
    }
    void add_wave() {
        auto* wave = family("wave", "Look into recorded waveforms");
        auto* check =
            subcommand(*wave, "check", "Check the recorded pins of channels against the rules of the ONFI bus",
                       Command::wave_check);
        group(check, "Waveform");
        check->add_option("file", line_.wave_file, "A .vcd that has pins, as --wave=channel[0].pins writes it")
            ->required()
            ->type_name(kFileKind);
        group(check, "Device");
        check
            ->add_option("device", line_.files,
                         "Device files or presets, merged from left to right; default: the device of result.json "
                         "beside the file")
            ->type_name(kDeviceKind);
        check->add_option("--set", line_.assignments, "Set a parameter, after all files; may be repeated")
            ->expected(1)
            ->take_all()
            ->allow_extra_args(false)
            ->type_name(kAssignmentKind);
    }
    void add_help() {
        auto* help = subcommand(app_, "help", "Explain a command", Command::help);
        group(help, "Command");
        help->add_option("command", texts_.topic, "The command, for example: config show")->type_name(kCommandKind);
        subcommand(app_, "version", "Print the version", Command::version);
        subcommand(app_, "manual", "Print the man page; to read it: ssdtlm manual | man -l -", Command::manual);
        auto* completion =
            subcommand(app_, "completion", "Print the completion script of a shell", Command::completion);
        group(completion, "Shell");
        completion->add_option("shell", texts_.shell, "For example: source <(ssdtlm completion bash)")
            ->required()
            ->type_name(one_of(shell_words()));
    }
};

}  // namespace

std::unique_ptr<CLI::App> make_command_table(CommandLineTexts& texts) {
    auto app = std::make_unique<CLI::App>(
        "Simulates an SSD and shows where the time of each command goes (SystemC/TLM-2.0)", "ssdtlm");
    Table(*app, texts).fill();
    return app;
}

}  // namespace ssdtlm
