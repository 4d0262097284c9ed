// SPDX-License-Identifier: Apache-2.0
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "sim/app/command_parts.h"

namespace ssdtlm {
namespace {

using PythonCommand = CommandLine::Command;

class PythonTable : private CommandParts {
public:
    PythonTable(CLI::App& app, CommandLineTexts& texts) : CommandParts(app, texts) {}

    /// Adds the commands that are written in Python. They parse their words themselves. The table has them for help,
    /// man page and completion, and to find a mistyped option at once.
    void add() {
        PythonTexts& p = texts_.python;
        auto* compare = subcommand(app_, "compare", "Say what differs between runs, in configuration and in results",
                                   PythonCommand::python);
        group(compare, "Runs");
        compare
            ->add_option("run", p.words,
                         "Folder of a run, or a folder of such folders that differ in the seed only; the others "
                         "are compared with the first")
            ->required()
            ->type_name(kFolderKind);
        group(compare, "Check");
        compare
            ->add_option(
                "--fail-if", p.conditions,
                "End with exit code 1 when this holds for a run: 'read.total.p99 > +5%' (change against the first), "
                "'read.iops < -1000' (the same in its unit), 'ftl.waf > 3' (the value); may be repeated")
            ->expected(1)
            ->take_all()
            ->allow_extra_args(false)
            ->type_name("CONDITION");
        group(compare, "Output");
        compare->add_option("-n,--lines", p.text, "Number of lines of each table; 0: all (default 10)")->type_name("N");
        compare->add_flag("--json", p.flag, "Print JSON, with all lines");
        compare->add_flag("--markdown", p.flag, "Print Markdown");
        auto* explain =
            subcommand(app_, "explain", "Say where the time of single commands went, and who held what they waited for",
                       PythonCommand::python);
        group(explain, "Run");
        explain->add_option("run", p.text, "Folder of a run")->required()->type_name(kFolderKind);
        group(explain, "Commands");
        explain->add_option("--slowest", p.text, "Explain the N slowest commands (default 10)")->type_name("N");
        explain->add_option("--op", p.text, "Only commands of this operation: read, write, trim or flush")
            ->type_name("OP");
        explain->add_option("--command", p.text, "Explain command N; the run is repeated if it has not kept it")
            ->type_name("N");
        group(explain, "Output");
        explain->add_flag("--json", p.flag, "Print JSON");
        auto* report = subcommand(app_, "report", "Write one HTML file of charts about one or several runs",
                                  PythonCommand::python);
        group(report, "Runs");
        report->add_option("run", p.words, "Folders of runs, shown side by side with the same scales")
            ->required()
            ->type_name(kFolderKind);
        group(report, "Output");
        report->add_option("-o,--output", p.text, "The file; default report.html in the folder of the first run")
            ->type_name(kFileKind);
        pictures(report);
        add_sweep();
        add_search();
        add_fit();
        add_study();
        add_guest();
        auto* python =
            family("python", "Check or install the Python packages that `report`, `sweep` and `search` need");
        auto* check =
            subcommand(*python, "check", "Say whether Python has what a command needs", PythonCommand::python);
        group(check, "Extras");
        check->add_option("what", p.words, "report, sweep, search, watch; default: the first three")->type_name("NAME");
        subcommand(*python, "setup",
                   "Install what `report`, `sweep` and `search` need from PyPI, into the user's data folder",
                   PythonCommand::python);
    }

private:
    void pictures(CLI::App* sub) {
        sub->add_option("--pictures", texts_.python.text, "Also write each chart as a picture into this folder")
            ->type_name(kFolderKind);
        sub->add_option("--format", texts_.python.text, "Of the pictures: svg (default) or png")
            ->type_name(one_of({"svg", "png"}));
    }
    void sweep_input(CLI::App* sub) {
        group(sub, "Sweep");
        sub->add_option("spec", texts_.python.text,
                        "Specification (TOML): axes, derived keys, constraints, seeds, limits")
            ->required()
            ->type_name(kFileKind);
        sub->add_option("-o,--output", texts_.python.text,
                        "Folder of the sweep; default: output of the specification, else sweeps/<its name>")
            ->type_name(kFolderKind);
        sub->add_option("--set", texts_.python.conditions,
                        "Set a key of all points (a parameter, fio.NAME or option.NAME), as [set] of the "
                        "specification does and in place of it; may be repeated")
            ->expected(1)
            ->take_all()
            ->allow_extra_args(false)
            ->type_name(kAssignmentKind);
    }
    void sweep_workers(CLI::App* sub) {
        group(sub, "Workers");
        sub->add_option("--workers", texts_.python.text,
                        "Number of workers; default: one for each core, as far as memory allows")
            ->type_name("N");
        sub->add_option("--cluster", texts_.python.text,
                        "Start the workers as jobs of this batch system, described by [cluster] of the specification")
            ->type_name("slurm");
        sub->add_option("--scheduler", texts_.python.text,
                        "Use the workers of this Dask scheduler, for example tcp://host:8786")
            ->type_name("ADDRESS");
        sub->add_flag("-q,--quiet", texts_.python.flag, "No progress");
    }
    void add_sweep() {
        PythonTexts& p = texts_.python;
        auto* sweep = family("sweep", "Run a device and workload with many values of their keys");
        auto* run = subcommand(*sweep, "run", "Run what has not ended yet; may be killed and started again at any time",
                               PythonCommand::python);
        sweep_input(run);
        sweep_workers(run);
        run->add_flag("--retry-failed", p.flag, "Run again what failed before");
        auto* plan = subcommand(*sweep, "plan", "Say which runs there would be", PythonCommand::python);
        sweep_input(plan);
        plan->add_flag("--json", p.flag, "Print JSON, with each run's key and command line");
        auto* status = subcommand(*sweep, "status", "Say how far a sweep is, and what failed", PythonCommand::python);
        sweep_input(status);
        status->add_flag("--json", p.flag, "Print JSON");
        auto* collect = subcommand(*sweep, "collect", "Put all results into one table, or query it with SQL",
                                   PythonCommand::python);
        sweep_input(collect);
        collect
            ->add_option("--table", p.text,
                         "The table; its ending says .parquet, .csv or .json; default results.parquet in the folder of "
                         "the sweep")
            ->type_name(kFileKind);
        collect->add_option("--sql", p.text, "Print the answer to this query of the table `results` instead")
            ->type_name("QUERY");
        collect->add_flag("--json", p.flag, "Print the answer as JSON");
        auto* report = subcommand(*sweep, "report",
                                  "Write one HTML file of charts: heat maps, Pareto fronts, parallel coordinates",
                                  PythonCommand::python);
        sweep_input(report);
        report
            ->add_option("--metric", p.conditions,
                         "What to show, for example read.total.p99; may be repeated; default: throughput and p99")
            ->expected(1)
            ->take_all()
            ->allow_extra_args(false)
            ->type_name("METRIC");
        report
            ->add_option("--html", p.text,
                         "The file, as -o NAME.html is; default report.html in the folder of the sweep")
            ->type_name(kFileKind);
        report
            ->add_option("--x", p.text,
                         "Key on the horizontal axis of maps and lines; default: of the two keys with the most effect "
                         "the one with more values")
            ->type_name("KEY");
        report->add_option("--by", p.text, "Key with a line for each value; default: the other of the two")
            ->type_name("KEY");
        pictures(report);
        auto* load =
            subcommand(*sweep, "load", "Measure latency against offered load, up to the knee", PythonCommand::python);
        auto* sensitivity =
            subcommand(*sweep, "sensitivity", "Find the keys on which p99 depends most: each is moved 10 % down and up",
                       PythonCommand::python);
        for (CLI::App* study : {load, sensitivity}) {
            sweep_input(study);
            sweep_workers(study);
            study->add_flag("--json", p.flag, "Print JSON");
        }
    }
    void add_search() {
        auto* search =
            subcommand(app_, "search", "Look for the values of keys that are best for one or several metrics",
                       PythonCommand::python);
        sweep_input(search);
        sweep_workers(search);
        search->add_option("--trials", texts_.python.text, "Points to try; default: trials of [search]")
            ->type_name("N");
        search->add_flag("--json", texts_.python.flag, "Print all trials as JSON");
    }
    void add_fit() {
        PythonTexts& p = texts_.python;
        auto* fit =
            subcommand(app_, "fit",
                       "Find parameters of a device from fio's results of a drive, judged on cells that it did not see",
                       PythonCommand::python);
        group(fit, "Device");
        fit->add_option("device", p.words, "Device files or presets, merged from left to right")
            ->required()
            ->type_name(kDeviceKind);
        fit->add_option("--set", p.conditions, "Set a parameter, after all files; may be repeated")
            ->expected(1)
            ->take_all()
            ->allow_extra_args(false)
            ->type_name(kAssignmentKind);
        group(fit, "Drive");
        fit->add_option("--measured", p.measured,
                        "Results of the drive by fio --output-format=json; each job is a cell")
            ->type_name(kFileKind);
        fit->add_option("--free", p.free, "Parameters to find, each between two values: nand.t_read=40us..100us")
            ->type_name("KEY=LOW..HIGH");
        fit->add_option("--held-out", p.text, "Share of the runs of fio that judge only; default 25%")
            ->type_name("SHARE");
        fit->add_option("--runtime", p.text, "How long each run is simulated; default 50ms")->type_name("TIME");
        fit->add_option("--ramp", p.text, "How long before that nothing is counted; default 10ms")->type_name("TIME");
        group(fit, "Search");
        fit->add_option("--trials", p.text, "Points that Optuna chooses; steps from the best follow; default 60")
            ->type_name("N");
        fit->add_option("--seed", p.text, "Of all random streams and of what is held out; default 1")->type_name("N");
        group(fit, "Workers");
        fit->add_option("-j,--workers", p.text, "Runs at a time; default: one for each core")->type_name("N");
        group(fit, "Output");
        fit->add_option("-o,--output", p.text, "Folder of the results; default fits/NAME")->type_name(kFolderKind);
        fit->add_flag("--json", p.flag, "Print JSON");
        pictures(fit);
    }
    void add_study() {
        PythonTexts& p = texts_.python;
        auto* study = subcommand(app_, "study", "Run published studies again: tables, charts, and which trends are met",
                                 PythonCommand::python);
        group(study, "Studies");
        study->add_option("name", p.words, "Names of studies, all, or list, which says which there are")
            ->required()
            ->type_name("NAME");
        study->add_flag("--quick", p.flag, "Fewer and shorter runs: at most two minutes for a study on two cores");
        study
            ->add_option("--trace", p.conditions,
                         "Block trace for a study that plays traces (mqsim-validation); may be repeated")
            ->expected(1)
            ->take_all()
            ->allow_extra_args(false)
            ->type_name(kFileKind);
        study
            ->add_option("--measured", p.text,
                         "Measured curves (CSV, see studies/README.md): the error of the study's figures against them")
            ->type_name(kFileKind);
        group(study, "Workers");
        study->add_option("-j,--workers", p.text, "Runs at a time; default: one for each core")->type_name("N");
        group(study, "Output");
        study->add_option("-o,--output", p.text, "Folder in which each study has one of its own; default studies")
            ->type_name(kFolderKind);
        pictures(study);
    }
    void add_guest() {
        PythonTexts& p = texts_.python;
        auto* guest =
            subcommand(app_, "guest", "Boot a real Linux in QEMU and let it drive the drive", PythonCommand::python);
        group(guest, "Device");
        guest->add_option("device", p.words, "Device files or presets, merged from left to right")
            ->required()
            ->type_name(kDeviceKind);
        guest->add_option("--set", p.conditions, "Set a parameter, after all files; may be repeated")
            ->expected(1)
            ->take_all()
            ->allow_extra_args(false)
            ->type_name(kAssignmentKind);
        guest->add_option("--seed", p.text, "Of all random streams of the drive; default 1")->type_name("N");
        group(guest, "Guest");
        auto* with =
            guest->add_option("--with", p.text,
                              "What the guest's shell runs: 'nvme list', or a line of fio, to which the drive and "
                              "the file of results are added if it names neither");
        with->type_name("TEXT");
        guest->add_option("--script", p.text, "File with what the guest's shell runs, in place of --with")
            ->excludes(with)
            ->type_name(kFileKind);
        guest
            ->add_option(
                "--clock", p.text,
                "The guest's clock is the model's; so many of its seconds go by in one of the wall (default 0.2); "
                "wall: it has the wall's clock")
            ->type_name("RATE");
        guest->add_option("--processors", p.text, "Virtual processors, each with a queue pair of its own; default 1")
            ->type_name("N");
        guest->add_option("--timeout", p.text, "Seconds of wall time until the guest is ended; default 600")
            ->type_name("S");
        guest
            ->add_option("--parts", p.text,
                         "Folder with QEMU, kernel and tools, as tools/guest.sh fills it; default SSDTLM_GUEST, else "
                         "~/.local/share/ssdtlm/guest")
            ->type_name(kFolderKind);
        group(guest, "Output");
        guest
            ->add_option("--serve", p.text,
                         "Further options of `ssdtlm serve` as one word, for example '--timeline --wave=host'")
            ->type_name("TEXT");
        guest->add_option("-o,--output", p.text, "Folder of the results; default guest")->type_name(kFolderKind);
    }
};

}  // namespace

void add_python_commands(CLI::App& app, CommandLineTexts& texts) {
    PythonTable(app, texts).add();
}

}  // namespace ssdtlm
