// SPDX-License-Identifier: Apache-2.0
#include "sim/wave/gtkw_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>

#include "sim/results/result_files.h"

namespace ssdtlm {

namespace {

// The flags of a trace come from GTKWave 3.3 analyzer.h (TR_*).
constexpr unsigned kHex = 0x2, kDec = 0x4, kRightJustify = 0x20, kBlank = 0x200, kFileTranslated = 0x2000;
constexpr unsigned kClosed = 0x400000, kGroupBegin = 0x800000, kGroupEnd = 0x1000000;
constexpr unsigned kBin = 0x8;

// GTKWave takes the relative path from the save file's former place to the files, and applies it to the save file's
// present place. So any common folder works, and the folder of a run can be moved.
constexpr const char* kFolder = "/run/";

// The zoom is chosen for a wave window of this width. Its unit in save files is a frame.
constexpr double kPixels = 1000;
constexpr double kPixelsPerFrame = 200;

constexpr const char* kConstant = "constant or redundant";

/// "ssd.die_3_1" belongs to the group "channel 3", as does "ssd.scheduler.channel_3".
struct Place {
    std::string group;
    std::string prefix;  ///< of the signal's short name
    int channel = -1;
    int rank = 0;  ///< in the group
};

Place place_of(const std::string& scope) {
    std::string rest = scope.rfind("ssd.", 0) == 0 ? scope.substr(4) : scope;
    Place p;
    const auto channel = [&p](const std::string& number) {
        p.channel = std::stoi(number);
        p.group = "channel " + std::to_string(p.channel);
    };
    if (rest.rfind("scheduler.channel_", 0) == 0) {
        channel(rest.substr(18));
        p.prefix = "";
        p.rank = 0;
    } else if (rest.rfind("channel_", 0) == 0) {
        const std::size_t dot = std::min(rest.find('.'), rest.size());
        channel(rest.substr(8, dot - 8));
        p.rank = dot == rest.size() ? 1 : 3;
    } else if (rest.rfind("die_", 0) == 0) {
        const std::size_t second = rest.find('_', 4);
        channel(rest.substr(4, second - 4));
        p.prefix = "die " + rest.substr(second + 1) + " ";
        p.rank = 2;
    } else if (rest.rfind("link.", 0) == 0) {
        p.group = "link " + rest.substr(5);
        std::replace(p.group.begin(), p.group.end(), '_', ' ');
    } else {
        p.group = rest;
        std::replace(p.group.begin(), p.group.end(), '_', ' ');
    }
    return p;
}

/// Short names of signals: "rb_n" -> "R/B#", "waiting_gc_read" -> "waiting gc_read", "sq1_tail" -> "SQ1 tail".
std::string short_name(const std::string& name) {
    static const std::pair<const char*, const char*> kPins[] = {{"rb_n", "R/B#"}, {"ce_n", "CE#"}, {"we_n", "WE#"},
                                                                {"re_n", "RE#"},  {"cle", "CLE"},  {"ale", "ALE"},
                                                                {"dqs", "DQS"},   {"dq", "DQ"}};
    for (const auto& [pin, text] : kPins)
        if (name == pin)
            return text;
        else if (name.rfind(std::string(pin) + "_", 0) == 0)
            return text + (" " + name.substr(std::string(pin).size() + 1));
    if (name.rfind("waiting_", 0) == 0) return "waiting " + name.substr(8);
    std::string s = name;
    if (s.rfind("sq", 0) == 0 || s.rfind("cq", 0) == 0) s.replace(0, 2, s[0] == 's' ? "SQ" : "CQ");
    std::replace(s.begin(), s.end(), '_', ' ');
    return s;
}

void put_signal(std::string& text, const WaveSignal& s, const std::string& name, const std::string& folder,
                unsigned& color) {
    std::string path = s.scope + "." + s.name;
    unsigned flags = kRightJustify;
    switch (s.kind) {
        case WaveKind::bit:
            flags |= kBin;
            break;
        case WaveKind::vector:
        case WaveKind::shared:
            flags |= kHex;
            break;
        case WaveKind::integer:
            flags |= kDec;
            break;
        case WaveKind::enumeration:
            flags |= kHex | kFileTranslated;
            break;
    }
    if (s.width > 1 && s.kind != WaveKind::integer) path += fmt::format("[{}:0]", s.width - 1);
    text += fmt::format("@{:x}\n", flags);
    if (s.kind == WaveKind::enumeration) text += fmt::format("^1 {}/{}.txt\n", folder, s.names->name);
    if (color != 0) text += fmt::format("[color] {}\n", color);
    text += fmt::format("+{{{}}} {}\n", name, path);
}

}  // namespace

void write_gtkw(const GtkwView& view, const std::vector<WaveSignal>& signals, const std::vector<bool>& changed) {
    const std::filesystem::path base = std::filesystem::path(view.dump).replace_extension("");
    const std::filesystem::path names = base.string() + ".names";
    std::error_code error;
    std::filesystem::create_directories(names, error);  // a failure is reported when a file is written
    std::set<const WaveEnum*> enums;
    for (const WaveSignal& s : signals)
        if (s.names != nullptr) enums.insert(s.names);
    for (const WaveEnum* e : enums) {
        std::string text;
        for (std::size_t v = 0; v < e->labels.size(); ++v)
            text += fmt::format("{:x} {}{}\n", v, e->labels[v].color.empty() ? "" : "?" + e->labels[v].color + "?",
                                e->labels[v].text);
        write_whole_file(names / (e->name + ".txt"), text);
    }

    struct Item {
        const WaveSignal* signal;
        Place place;
    };
    std::vector<std::string> order;
    std::map<std::string, std::vector<Item>> groups;
    for (std::size_t id = 0; id < signals.size(); ++id) {
        const WaveSignal& s = signals[id];
        Place p = place_of(s.scope);
        const bool repeats = s.name == "busy_planes" && s.width == 1;  // R/B#
        if (!changed[id] || repeats) {                                 // such as unused queues and dies without work
            p.prefix = p.group + ": " + p.prefix;
            p.group = kConstant;
            p.channel = -1;
        }
        if (groups.count(p.group) == 0) order.push_back(p.group);
        groups[p.group].push_back({&s, p});
    }
    // The open channel comes first, then the groups without a channel, then the other channels.
    const auto rank = [&](const std::string& group) {
        if (group == kConstant) return 3;
        const int channel = groups[group].front().place.channel;
        return channel < 0 ? 1 : channel == static_cast<int>(view.open_channel) ? 0 : 2;
    };
    std::stable_sort(order.begin(), order.end(),
                     [&](const std::string& a, const std::string& b) { return rank(a) < rank(b); });

    // The visible part is a window around the marker, or the beginning.
    const double length = static_cast<double>((view.end - view.begin).count());
    const double shown = std::max(1000.0, std::min(length, view.marker != kNever ? 2e9 : 1e9));
    const double centre = view.marker == kNever ? static_cast<double>(view.begin.time_since_epoch().count()) + shown / 2
                                                : static_cast<double>(view.marker.time_since_epoch().count());
    const auto start = static_cast<std::int64_t>(
        std::max(static_cast<double>(view.begin.time_since_epoch().count()), centre - shown * 0.4));
    std::string text = "[*] made by ssdtlm, for GTKWave 3.3\n";
    text += fmt::format(
        "[dumpfile] \"{0}{1}\"\n[savefile] \"{0}{2}.gtkw\"\n[timestart] {3}\n[size] 1600 900\n[pos] -1 -1\n", kFolder,
        view.dump.filename().string(), base.filename().string(), start);
    text += fmt::format("*-{:.6f} {}", std::log2(shown / kPixels * kPixelsPerFrame),
                        view.marker == kNever ? -1 : view.marker.time_since_epoch().count());
    for (std::size_t i = 0; i < 26; ++i)
        text += fmt::format(" {}", i < view.marks.size() ? view.marks[i].at.time_since_epoch().count() : -1);
    text += "\n";
    for (std::size_t i = 0; i < view.marks.size(); ++i)
        text += fmt::format("[markername] {}{}\n", static_cast<char>('A' + i), view.marks[i].name);
    text += "[sst_expanded] 0\n[signals_width] 300\n";
    const std::string folder = kFolder + names.filename().string();
    for (const std::string& g : order) {
        std::vector<Item>& items = groups[g];
        std::stable_sort(items.begin(), items.end(),
                         [](const Item& a, const Item& b) { return a.place.rank < b.place.rank; });
        const bool closed = rank(g) != 0 && g != "host" && g != "gc";
        text += fmt::format("@{:x}\n-{}\n", kGroupBegin | kBlank | (closed ? kClosed : 0), g);
        for (const Item& i : items) {
            const std::string name = i.place.prefix + short_name(i.signal->name);
            unsigned color = i.signal->kind == WaveKind::integer ? 4u : i.signal->kind == WaveKind::bit ? 3u : 0u;
            put_signal(text, *i.signal, name, folder, color);
        }
        text += fmt::format("@{:x}\n-{}\n", kGroupEnd | kBlank | (closed ? kClosed : 0), g);
    }
    text += "[pattern_trace] 1\n[pattern_trace] 0\n";
    write_whole_file(base.string() + ".gtkw", text);
}

}  // namespace ssdtlm
