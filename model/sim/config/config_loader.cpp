// SPDX-License-Identifier: Apache-2.0
#include "sim/config/config_loader.h"

#include <algorithm>
#include <filesystem>

#include "common/config/quantity.h"
#include "common/config/toml_reader.h"
#include "controller/ftl/ftl_check.h"
#include "protocol/nvme.h"
#include "sim/config/cache_checks.h"
#include "sim/config/config_checks.h"
#include "sim/config/dram_budget.h"
#include "sim/config/over_provisioning.h"
#include "sim/config/parameters.h"
#include "sim/config/presets.h"

namespace ssdtlm {
namespace {

constexpr const char* kBasedOn = "based_on";

bool is_table(const std::string& key) {
    const auto& tables = parameter_tables();
    return std::any_of(tables.begin(), tables.end(), [&](const TableSentence& t) { return t.table == key; });
}

/// Returns the canonical path. A file of the shell's <(...) has none, so its path stays.
std::string whole_path(const std::string& path) {
    std::error_code error;
    const std::filesystem::path whole = std::filesystem::weakly_canonical(path, error);
    return error ? path : whole.string();
}

std::string bracketed(const std::string& table) {
    return "[" + table + "]";
}

/// Returns the known key that the unknown one may mean: one of the same table, one of the same name in another table,
/// or one with similar spelling.
std::string meant_key(const std::string& key) {
    const auto dot = key.rfind('.');
    const std::string table = dot == std::string::npos ? "" : key.substr(0, dot);
    const std::string leaf = dot == std::string::npos ? key : key.substr(dot + 1);
    std::vector<std::string> siblings, same_leaf, leaves, all;
    for (const auto& p : ssd_parameters()) {
        if (p.table() == table) siblings.push_back(p.leaf());
        if (p.leaf() == leaf) same_leaf.push_back(p.key);
        leaves.push_back(p.leaf());
        all.push_back(p.key);
    }
    const std::string sibling = nearest(leaf, siblings);
    if (!sibling.empty()) return table.empty() ? sibling : table + "." + sibling;
    if (same_leaf.empty()) {
        const std::string near = nearest(key, all), part = nearest(leaf, leaves);
        if (!near.empty() || part.empty()) return near;
        return all[static_cast<std::size_t>(std::find(leaves.begin(), leaves.end(), part) - leaves.begin())];
    }
    const std::string near = nearest(key, same_leaf);
    return near.empty() ? same_leaf.front() : near;
}

}  // namespace

std::string ResolvedConfig::where(const std::string& key) const {
    const int i = parameter_index(key);
    SSDTLM_CHECK(i >= 0, "no such parameter: " + key);
    const std::string& from = origin[static_cast<std::size_t>(i)];
    return from == kDefaultOrigin ? "default of " + key : from;
}

ConfigLoader::ConfigLoader() : given_(ssd_parameters().size(), 0) {
    resolved_.origin.assign(ssd_parameters().size(), kDefaultOrigin);
}

void ConfigLoader::add_device(const std::string& path_or_preset) {
    try {
        load(find_device(path_or_preset), {});
    } catch (const UserError& e) {
        problems_.insert(problems_.end(), e.problems().begin(), e.problems().end());
    }
}

/// `above`: the files that are based on this one, by their canonical paths.
void ConfigLoader::load(const DeviceFile& file, std::vector<std::string> above) {
    files_.push_back(file.shown);
    auto entries = read_toml_file(file.path, file.shown, problems_);
    // The name and description of a base file are not inherited.
    const auto is_own = [](const RawEntry& e) { return e.key == "name" || e.key == "description"; };
    if (!above.empty()) entries.erase(std::remove_if(entries.begin(), entries.end(), is_own), entries.end());
    above.push_back(whole_path(file.path));
    const auto base = std::find_if(entries.begin(), entries.end(), [](const RawEntry& e) { return e.key == kBasedOn; });
    if (base != entries.end() && !base->is_table && base->value.type == RawValue::Type::string) {
        if (!base->value.string.empty()) load_base(*base, file, above);
        entries.erase(base);
    }
    source_ = ++documents_;
    apply(entries);
    source_ = kCommandLine;
}

void ConfigLoader::load_base(const RawEntry& entry, const DeviceFile& of, const std::vector<std::string>& above) {
    const std::string& name = entry.value.string;
    const std::filesystem::path beside = std::filesystem::path(of.path).parent_path() / name;
    DeviceFile file;
    try {
        std::error_code error;
        file = std::filesystem::is_regular_file(beside, error) ? DeviceFile{beside.string(), beside.string()}
                                                               : find_device(name);
    } catch (const UserError& e) {
        for (Problem p : e.problems()) {
            p.found = std::string(kBasedOn) + ": " + p.found;
            p.where = entry.value.where;
            problems_.push_back(std::move(p));
        }
        return;
    }
    if (std::find(above.begin(), above.end(), whole_path(file.path)) != above.end()) {
        problems_.push_back({entry.value.where, std::string(kBasedOn) + ": \"" + name + "\" leads back to this file",
                             "files that end in one that is based on none", "base it on another one"});
        return;
    }
    load(file, above);
}

void ConfigLoader::add_text(const std::string& text, const std::string& name) {
    files_.push_back(name);
    source_ = ++documents_;
    apply(read_toml(text, name, problems_));
    source_ = kCommandLine;
}

void ConfigLoader::add_assignment(const std::string& assignment) {
    auto entries = read_assignment(assignment, problems_);
    for (auto& e : entries) {
        const int i = parameter_index(e.key);
        // A name that looks like a number is still a name.
        if (i >= 0 && ssd_parameters()[static_cast<std::size_t>(i)].kind == ParameterKind::text &&
            e.value.type != RawValue::Type::string) {
            e.value.type = RawValue::Type::string;
            e.value.string = assignment.substr(assignment.find('=') + 1);
        }
    }
    apply(entries);
}

void ConfigLoader::add_option(const std::string& key, const RawValue& value, const std::string& origin) {
    RawEntry e;
    e.key = key;
    e.key_where = origin;
    e.value = value;
    e.value.where = origin;
    apply({e});
}

void ConfigLoader::add_option(const std::string& key, const std::string& text, const std::string& origin) {
    for (const RawEntry& e : read_assignment(key + "=" + text, problems_)) add_option(key, e.value, origin);
}

void ConfigLoader::apply(const std::vector<RawEntry>& entries) {
    std::string reported_table;  // an unknown table, whose keys are not reported one by one
    for (const auto& e : entries) {
        const int i = parameter_index(e.key);
        if (i < 0) {
            if (!(e.is_table && is_table(e.key))) unknown(e, reported_table);
            continue;
        }
        const auto& p = ssd_parameters()[static_cast<std::size_t>(i)];
        given_[static_cast<std::size_t>(i)] = source_;
        if (e.is_table) {
            problems_.push_back({e.key_where, p.key + ": is a table", "a value, " + allowed_text(p), ""});
            reported_table = e.key;
            continue;
        }
        const auto value = convert(p, e.value, problems_);
        if (!value) continue;
        if (p.key == kBasedOn && !std::get<std::string>(*value).empty())
            problems_.push_back({e.value.where, p.key + ": said outside of a device file",
                                 "a preset or a file, in a device file",
                                 "name that device in front of the others instead"});
        else
            p.set(resolved_.config, *value);
        std::string& origin = resolved_.origin[static_cast<std::size_t>(i)];
        // --set may replace the values of a file.
        if (origin.compare(0, 2, "--") == 0 && origin != e.value.where)
            resolved_.replaced.push_back(origin + " has no effect: " + e.value.where + " comes after it");
        origin = e.value.where;
    }
}

void ConfigLoader::unknown(const RawEntry& entry, std::string& reported_table) {
    if (!reported_table.empty() && entry.key.rfind(reported_table + ".", 0) == 0) return;
    std::vector<std::string> tables;
    for (const auto& t : parameter_tables()) {
        if (!t.table.empty()) tables.push_back(t.table);
    }
    if (entry.is_table) {
        reported_table = entry.key;
        const std::string near = nearest(entry.key, tables);
        std::string allowed;
        for (const auto& t : tables) allowed += (allowed.empty() ? "tables are " : ", ") + bracketed(t);
        problems_.push_back({entry.key_where, "unknown table " + bracketed(entry.key), near.empty() ? allowed : "",
                             near.empty() ? "" : "did you mean " + bracketed(near) + "?"});
        return;
    }
    if (is_table(entry.key)) {
        problems_.push_back(
            {entry.key_where, entry.key + ": is a value", "a table of parameters", "write " + bracketed(entry.key)});
        return;
    }
    const std::string meant = meant_key(entry.key);
    problems_.push_back({entry.key_where, "unknown key '" + entry.key + "'", "",
                         meant.empty() ? "`ssdtlm config reference` lists all keys" : "did you mean '" + meant + "'?"});
}

/// Sets the capacity that ftl.over_provisioning leaves. If both were given, the later source counts, as with any other
/// key. In one source they must agree.
void ConfigLoader::follow_over_provisioning() {
    const auto capacity = static_cast<std::size_t>(parameter_index("ftl.user_capacity")),
               share = static_cast<std::size_t>(parameter_index("ftl.over_provisioning"));
    SsdConfig& c = resolved_.config;
    if (c.over_provisioning == 0) return;
    if (given_[capacity] > given_[share]) {
        c.over_provisioning = 0;
        resolved_.origin[share] = kDefaultOrigin;
        return;
    }
    const std::uint64_t leaves = capacity_with(c, c.over_provisioning);
    if (given_[capacity] == given_[share] && c.ftl.user_capacity_bytes != leaves) {
        const auto text = [](std::int64_t v, Dimension of) { return format_quantity(v, of); };
        const std::string has = text(static_cast<std::int64_t>(c.ftl.user_capacity_bytes), Dimension::bytes),
                          would = text(static_cast<std::int64_t>(leaves), Dimension::bytes);
        problems_.push_back({resolved_.where("ftl.user_capacity"),
                             "ftl.user_capacity: " + has + ", with ftl.over_provisioning = " +
                                 to_text(ssd_parameters()[share], ssd_parameters()[share].get(c)) + ", which leaves " +
                                 would + " of the flash",
                             would + ", or one of the two", "leave one out, or set ftl.over_provisioning = \"0%\""});
        return;
    }
    c.ftl.user_capacity_bytes = leaves;
    given_[capacity] = given_[share];
    resolved_.origin[capacity] = resolved_.origin[share];
}

/// Sets the numbers of free blocks that gc.soft_used and gc.hard_used mean. If a number was given as well, both must
/// agree.
void ConfigLoader::follow_used_shares() {
    const FtlConfig given = resolved_.config.ftl;
    ssdtlm::follow_used_shares(resolved_.config.ftl, resolved_.config.nand.geometry);
    const auto check = [this](const char* share, std::uint32_t percent, const char* blocks, std::uint32_t were,
                              std::uint32_t are) {
        if (were == are || resolved_.origin[static_cast<std::size_t>(parameter_index(blocks))] == kDefaultOrigin)
            return;
        problems_.push_back({resolved_.where(blocks),
                             std::string(blocks) + ": " + std::to_string(were) + ", with " + share + " = " +
                                 std::to_string(percent) + "%, which leaves " + std::to_string(are) + " of " +
                                 std::to_string(resolved_.config.nand.geometry.blocks_per_plane) + " blocks free",
                             "one of the two", std::string("leave one out, or set ") + share + " = \"0%\""});
    };
    const FtlConfig& now = resolved_.config.ftl;
    check("gc.soft_used", now.gc_soft_used_percent, "gc.soft_free_blocks", given.gc_soft_free_blocks,
          now.gc_soft_free_blocks);
    check("gc.hard_used", now.gc_hard_used_percent, "gc.hard_free_blocks", given.gc_hard_free_blocks,
          now.gc_hard_free_blocks);
}

ResolvedConfig ConfigLoader::finish() {
    const auto& table = ssd_parameters();
    std::string all_files;
    for (const auto& f : files_) all_files += (all_files.empty() ? "" : ", ") + f;
    if (files_.empty()) all_files = "command line";
    if (problems_.empty()) follow_over_provisioning();
    // This is not checked if a file could not be read, because that file may have the key.
    if (problems_.empty()) {
        for (std::size_t i = 0; i < table.size(); ++i) {
            if (!table[i].required || given_[i] != 0) continue;
            problems_.push_back(
                {all_files, table[i].key + ": is not set", allowed_text(table[i]),
                 "it has no default: set it, for example with --set " + table[i].key + "=" + table[i].example});
        }
    }
    if (problems_.empty()) problems_ = divide_dram(resolved_);
    if (problems_.empty()) {
        follow_used_shares();
        FtlConfig& ftl = resolved_.config.ftl;
        NandConfig& nand = resolved_.config.nand;
        const SsdConfig& c = resolved_.config;
        // The spare area holds it whatever the protocol, so that a saved drive may go on under another one.
        if (c.nvme.metadata && c.run.data == DataMode::bytes)
            nand.geometry.metadata_bytes = nand.geometry.unit_bytes / c.nvme.lba_bytes * nvme::kMetadataBytes;
        // With cache programs, one row may be in the array, one in the cache registers, and one may wait.
        ftl.flush_depth_per_die = nand.cache_program && ftl.flush_depth_per_die == 0 ? 3 * nand.geometry.planes_per_die
                                                                                     : ftl.flush_depth(nand.geometry);
    }
    resolved_.config.ftl.caches_filled = caches_start_filled(resolved_.config);
    if (problems_.empty()) problems_ = check_config(resolved_);
    if (!problems_.empty()) throw UserError(problems_);
    if (resolved_.config.name.empty() && !files_.empty()) {
        resolved_.config.name = std::filesystem::path(files_.front()).stem().string();
    }
    return resolved_;
}

ResolvedConfig load_config(const std::vector<std::string>& devices, const std::vector<std::string>& assignments) {
    ConfigLoader loader;
    for (const auto& d : devices) loader.add_device(d);
    for (const auto& a : assignments) loader.add_assignment(a);
    return loader.finish();
}

}  // namespace ssdtlm
