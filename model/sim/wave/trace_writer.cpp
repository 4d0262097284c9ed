// SPDX-License-Identifier: Apache-2.0
#include "sim/wave/trace_writer.h"

#include <cerrno>
#include <cstring>
#include <iterator>
#include <utility>

#include "common/report/error.h"
#include "common/report/part_file.h"

namespace ssdtlm {

namespace {

// Readers tell threads apart only by their numbers, and 0 has a meaning of its own.
std::uint64_t thread(TrackId t) {
    return std::uint64_t{t.group} * 100'000'000 + t.track + 1;
}

struct Microseconds {
    explicit Microseconds(Ps t) : whole(t.count() / 1'000'000), part(t.count() % 1'000'000) {}
    std::int64_t whole;
    std::int64_t part;
};

}  // namespace

TraceWriter::TraceWriter(std::filesystem::path file)
    : file_(std::move(file)), out_(std::fopen(part_of(file_).c_str(), "wb")) {
    if (out_ == nullptr) refuse();
    std::setvbuf(out_, nullptr, _IONBF, 0);
    buffer_.push_back('[');
}

TraceWriter::~TraceWriter() {
    if (out_ == nullptr) return;
    std::fclose(out_);
    std::error_code ignored;
    std::filesystem::remove(part_of(file_), ignored);
}

void TraceWriter::refuse() const {
    throw OutputError(Problem{file_.string(), std::string("cannot be written: ") + std::strerror(errno), "",
                              "choose another folder with -o, or record less with --timeline-from and --timeline-to"});
}

void TraceWriter::flush() {
    if (std::fwrite(buffer_.data(), 1, buffer_.size(), out_) != buffer_.size()) refuse();
    written_ += buffer_.size();
    buffer_.clear();
    if (written_ < next_word_) return;
    std::fprintf(stderr, "warning: %s has %.0f GB by now; --timeline-to ends it earlier\n", file_.c_str(),
                 static_cast<double>(next_word_) * 1e-9);
    next_word_ *= 10;
}

void TraceWriter::next() {
    if (buffer_.size() >= std::size_t{1} << 18) flush();
    if (events_++ != 0) buffer_.push_back(',');
    buffer_.push_back('\n');
}

void TraceWriter::name_group(std::uint32_t group, const std::string& name) {
    next();
    fmt::format_to(std::back_inserter(buffer_), R"({{"ph":"M","pid":{},"name":"process_name","args":{{"name":"{}"}}}})",
                   group, name);
    next();
    fmt::format_to(std::back_inserter(buffer_),
                   R"({{"ph":"M","pid":{0},"name":"process_sort_index","args":{{"sort_index":{0}}}}})", group);
}

void TraceWriter::name_track(TrackId t, const std::string& name) {
    next();
    fmt::format_to(std::back_inserter(buffer_),
                   R"({{"ph":"M","pid":{},"tid":{},"name":"thread_name","args":{{"name":"{}"}}}})", t.group, thread(t),
                   name);
    next();
    fmt::format_to(std::back_inserter(buffer_),
                   R"({{"ph":"M","pid":{},"tid":{},"name":"thread_sort_index","args":{{"sort_index":{}}}}})", t.group,
                   thread(t), t.track);
}

void TraceWriter::slice(TrackId t, SimTime begin, SimTime end, const char* name, const std::string& arguments) {
    SSDTLM_CHECK(end >= begin, "a slice of the timeline ends before it begins");
    ++slices_;
    next();
    const Microseconds ts(begin.time_since_epoch());
    const Microseconds duration(end - begin);
    fmt::format_to(std::back_inserter(buffer_),
                   R"({{"ph":"X","pid":{},"tid":{},"ts":{}.{:06},"dur":{}.{:06},"name":"{}","args":{{{}}}}})", t.group,
                   thread(t), ts.whole, ts.part, duration.whole, duration.part, name, arguments);
}

void TraceWriter::flow(TrackId t, SimTime at, std::uint64_t number, bool first) {
    next();
    const Microseconds ts(at.time_since_epoch());
    fmt::format_to(std::back_inserter(buffer_),
                   R"({{"ph":"{}","pid":{},"tid":{},"ts":{}.{:06},"id":{},"cat":"command","name":"command"{}}})",
                   first ? 's' : 't', t.group, thread(t), ts.whole, ts.part, number, first ? "" : R"(,"bp":"e")");
}

void TraceWriter::close() {
    constexpr char kEnd[] = "\n]\n";
    buffer_.append(kEnd, kEnd + sizeof kEnd - 1);
    flush();
    if (std::fclose(std::exchange(out_, nullptr)) != 0) refuse();
    publish(file_);
}

}  // namespace ssdtlm
