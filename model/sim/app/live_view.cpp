// SPDX-License-Identifier: Apache-2.0
#include "sim/app/live_view.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "common/report/error.h"
#include "common/report/json_dump.h"

namespace ssdtlm {

namespace {

constexpr const char* kOption = "--watch";
constexpr int kViewerSocket = 3;
/// The exit code of a viewer that has restored the terminal.
constexpr int kEndedInOrder = 0;

using Json = nlohmann::ordered_json;

Json operation_json(const IntervalFigures::Operation& o) {
    return {
        {"ios", o.ios}, {"bytes", o.bytes}, {"mean_us", o.mean_us}, {"p99_us", o.p99_us ? Json(*o.p99_us) : Json()}};
}

std::string line_of(const IntervalFigures& f, const Simulation::Progress& p) {
    Json j;
    j["wall_s"] = p.wall_seconds;
    j["fraction"] = p.fraction;
    j["commands"] = p.commands;
    j["simulated_s"] = to_seconds(f.simulated);
    j["interval_s"] = to_seconds(f.length);
    for (std::size_t op = 0; op < f.operations.size(); ++op)
        if (f.operations[op].ios != 0)
            j["operations"][host_op_name(static_cast<HostOp>(op))] = operation_json(f.operations[op]);
    for (const ResourceUse& r : f.resources)
        j["resources"].push_back(
            {{"name", r.name}, {"members", r.members}, {"mean", r.mean}, {"max", r.max}, {"busiest", r.busiest}});
    j["outstanding"] = f.outstanding;
    j["moved_pages"] = f.moved_pages;
    j["erased_blocks"] = f.erased_blocks;
    j["free_blocks"] = f.free_blocks ? Json(*f.free_blocks) : Json();
    j["waf"] = f.waf ? Json(*f.waf) : Json();
    return json_dump(j, -1);
}

}  // namespace

LiveView::LiveView(const std::string& device, const std::string& workload, std::uint64_t seed) {
    ::tcgetattr(STDERR_FILENO, &terminal_);
    int ends[2];
    // Each line is one message. If the viewer is behind and a message does not fit, the whole message is dropped.
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        throw UserError({kOption, "no socket can be made", "", "close some files"});
    socket_ = ends[0];
    try {
        viewer_ = std::make_unique<PythonChild>(
            kOption, "ssdtlm.watching", std::vector<std::string>{std::to_string(kViewerSocket)},
            std::vector<ChildStream>{{kViewerSocket, ends[1]}, {STDIN_FILENO, -1}, {STDOUT_FILENO, STDERR_FILENO}});
    } catch (...) {
        ::close(ends[0]);
        ::close(ends[1]);
        throw;
    }
    ::close(ends[1]);
    send(json_dump(Json{{"device", device}, {"workload", workload}, {"seed", seed}}, -1));
}

void LiveView::show(const Simulation::Progress& progress) {
    if (viewer_) send(line_of(meter_->take(), progress));
}

void LiveView::send(const std::string& line) {
    if (::send(socket_, line.data(), line.size(), MSG_DONTWAIT | MSG_NOSIGNAL) >= 0) return;
    if (errno == EPIPE || errno == ECONNRESET) end();
}

void LiveView::end() {
    if (!viewer_) return;
    ::close(socket_);
    socket_ = -1;
    const int code = viewer_->wait();
    viewer_.reset();
    if (code == kEndedInOrder) return;
    // The viewer has failed to restore the terminal. So this leaves the alternate screen of xterm and similar
    // terminals, shows the cursor, and restores the modes.
    std::fputs("\033[?1049l\033[?25h\033[m", stderr);
    std::fflush(stderr);
    ::tcsetattr(STDERR_FILENO, TCSANOW, &terminal_);
    std::fprintf(stderr, "ssdtlm: the live view ended with exit code %d; the run goes on without it\n", code);
}

}  // namespace ssdtlm
