// SPDX-License-Identifier: Apache-2.0
#include "host_pcie/workload/fio/fio_generator.h"

#include <algorithm>
#include <numeric>

namespace ssdtlm {

FioGenerator::FioGenerator(const FioJob& job) : job_(job) {
    seed_streams();
    const PerDirection<bool> used{job.reads, job.writes, job.trims};
    bool equal = true;
    for (std::size_t d = 0; d < kFioDirections; ++d) {
        if (!used[d]) continue;
        equal = equal && job.bs_min[d] == job.bs_max[d] && (map_unit_ == 0 || job.bs_min[d] == map_unit_);
        map_unit_ = std::gcd(map_unit_, job.bs_min[d]);
    }
    if (job.random && job.distribution == FioDistribution::random && job.random_map)
        map_ = equal && !job.strided ? Map::permutation : Map::bits;
    files_.reserve(job.files.size());
    for (const FioFile& place : job.files) {
        File& file = files_.emplace_back(place);
        for (std::size_t d = 0; d < kFioDirections; ++d)
            if (used[d] && !job.zones[d].empty())
                file.zones[d].emplace(job.zones[d], job.distribution == FioDistribution::zoned_abs, blocks(file, d),
                                      job.align[d]);
        const std::uint64_t units = std::max<std::uint64_t>(place.region / map_unit_, 1);
        if (map_ == Map::permutation)
            file.order.emplace(units, 0);
        else if (map_ == Map::bits)
            file.used.emplace(units);
        if (job.random && job.distribution != FioDistribution::random && job.zones[0].empty())
            file.distribution.emplace(job, units, job.seed + files_.size() - 1);
    }
    file_ = &files_.front();
    // fio starts a mix with reads and draws at once.
    mix_direction_ = job.reads ? HostOp::read : job.writes ? HostOp::write : HostOp::trim;
}

void FioGenerator::seed_streams() {
    offset_random_ = Random(job_.seed, 10);
    size_random_ = Random(job_.seed, 11);
    mix_random_ = Random(job_.seed, 12);
    zone_random_ = Random(job_.seed, 13);
    sequence_random_ = Random(job_.seed, 14);
    file_random_ = Random(job_.seed, 15);
}

void FioGenerator::begin_pass() {
    if (!first_pass_ && job_.repeat_passes) seed_streams();
    first_pass_ = false;
    mix_issues_ = 0;
    zone_bytes_ = 0;
    for (File& file : files_) {
        file.position = {0, 0, 0};
        file.last_start = {kNowhere, kNowhere, kNowhere};
        file.done = false;
        reset_region(file);
    }
    files_left_ = files_.size();
    file_ = &files_.back();  // round robin goes on with the first
    service_left_ = 0;
}

void FioGenerator::reset_region(File& file) {
    if (map_ == Map::permutation) {
        file.order->rekey(offset_random_.next());
        file.order_next = 0;
    } else if (map_ == Map::bits) {
        file.used->clear();
    }
}

/// Enters the next zone of zonemode=strided, as setup_strided_zone_mode() of fio 3.33 does.
void FioGenerator::enter_zone(File& file, std::size_t d) {
    if (zone_bytes_ >= job_.zone_size) {
        zone_bytes_ = 0;
        file.zone += job_.zone_range + job_.zone_skip;
        if (file.place.offset + file.zone >= file.place.end) file.zone = 0;
        file.position[d] = file.zone;
    }
    if (file.position[d] >= file.zone + job_.zone_range) file.position[d] = file.zone;
    if (zone_bytes_ % job_.zone_range != 0) return;
    file.position = {file.zone, file.zone, file.zone};
    file.last_start = {kNowhere, kNowhere, kNowhere};
    reset_region(file);
}

/// Chooses the file of the next I/O. Returns false if no file has an offset left in this pass.
bool FioGenerator::choose_file() {
    if (files_left_ == 0) return false;
    if (files_.size() == 1) return true;
    if (!file_->done && service_left_ != 0) {
        if (job_.file_service != FioFileService::sequential) --service_left_;
        return true;
    }
    service_left_ = job_.file_service == FioFileService::sequential ? 1 : job_.file_service_ios - 1;
    do {
        if (job_.file_service == FioFileService::random)
            file_ = &files_[file_random_.below(files_.size())];
        else if (++file_ == files_.data() + files_.size())
            file_ = files_.data();
    } while (file_->done);
    return true;
}

HostOp FioGenerator::pick_direction() {
    if (job_.mixed()) {
        if (issues_[fio_index(mix_direction_)] >= mix_issues_) {
            const HostOp op = mix_random_.below(100) < job_.rwmix_read ? HostOp::read : HostOp::write;
            if (op != mix_direction_) {
                // Returns the number of I/Os that keeps the mix, given the I/Os of the other direction.
                const std::uint64_t share = mix_direction_ == HostOp::read ? 100 - job_.rwmix_read : job_.rwmix_read;
                mix_issues_ = issues_[fio_index(mix_direction_)] * share / 100;
            }
            mix_direction_ = op;
        }
        return mix_direction_;
    }
    if (job_.trimwrite())  // each block is trimmed, then written
        return file_->last_start[fio_index(HostOp::write)] == file_->last_start[fio_index(HostOp::trim)]
                   ? HostOp::trim
                   : HostOp::write;
    return mix_direction_;
}

bool FioGenerator::next(HostOp op, std::uint64_t& offset, std::uint32_t& bytes) {
    while (choose_file()) {
        if (next_in_file(op, offset, bytes)) return true;
        file_->done = true;
        --files_left_;
    }
    return false;
}

std::uint64_t FioGenerator::next_sync() {
    choose_file();
    return file_->place.begin;
}

bool FioGenerator::next_in_file(HostOp op, std::uint64_t& offset, std::uint32_t& bytes) {
    File& file = *file_;
    auto& last_start = file.last_start;
    const std::size_t d = fio_index(op);
    const std::size_t trim = fio_index(HostOp::trim);
    const bool follow_trim = job_.trimwrite() && op == HostOp::write;  // the offset and length of what was trimmed
    bool fresh = false;  // --sequence_left_ reached 0: this I/O has an offset of its own
    if (--sequence_left_ == 0) {
        fresh = true;
        sequence_left_ = job_.sequence_ios;
    }
    if (job_.strided && !follow_trim) enter_zone(file, d);
    bool mark = map_ == Map::bits;
    std::uint64_t at = 0;
    if (follow_trim) {
        mark = false;
        at = last_start[trim];
    } else if (fresh && job_.random &&
               (job_.percentage_random[d] == 100 || sequence_random_.below(100) < job_.percentage_random[d])) {
        if (!random_offset(d, at)) return false;
    } else if (!fresh && job_.sequencer == FioSequencer::identical) {
        mark = false;
        at = last_start[d] != kNowhere ? last_start[d] : 0;
    } else {
        mark = false;
        if (!sequential_offset(d, at) && (!job_.random || !random_offset(d, at))) return false;
    }
    if (at >= file.place.region && !job_.strided) return false;
    std::uint64_t size = follow_trim ? file.position[trim] - last_start[trim] : length(d, at);
    if (size == 0 || file.place.offset + at + size > file.place.end) return false;
    if (mark)
        size = std::min(size, file.used->take((at - file.zone) / map_unit_, div_ceil(size, map_unit_)) * map_unit_);
    // A second trim of one place in a row must still be followed by a write.
    if (job_.trimwrite() && op == HostOp::trim && last_start[trim] == at)
        last_start[fio_index(HostOp::write)] = kNowhere;
    last_start[d] = at;
    file.position[d] = at + size;
    zone_bytes_ += size;
    offset = file.place.offset + at;
    bytes = static_cast<std::uint32_t>(size);
    return true;
}

std::uint64_t FioGenerator::blocks(const File& file, std::size_t d) const {
    std::uint64_t size = job_.strided ? job_.zone_range : file.place.region;
    if (job_.bs_min[d] > job_.align[d]) size -= std::min(size, job_.bs_min[d] - job_.align[d]);
    return std::max<std::uint64_t>(size / job_.align[d], 1);
}

bool FioGenerator::random_offset(std::size_t d, std::uint64_t& offset) {
    std::uint64_t block = 0;
    if (!random_block(d, block)) {
        if (!job_.time_based) return false;
        reset_region(*file_);  // another round over the region
        if (!random_block(d, block)) return false;
    }
    offset = file_->zone + block * job_.align[d];
    return true;
}

bool FioGenerator::random_block(std::size_t d, std::uint64_t& block) {
    switch (map_) {
        case Map::permutation:
            if (file_->order_next == file_->order->size()) return false;
            block = (*file_->order)(file_->order_next++);
            return true;
        case Map::bits:
            return unused_block(d, block);
        case Map::none:
            break;
    }
    if (file_->distribution)
        block = file_->distribution->draw() % blocks(*file_, d);  // blocks(d) is smaller only with unlike block sizes
    else if (file_->zones[d])
        block = file_->zones[d]->draw(zone_random_);
    else
        block = offset_random_.below(blocks(*file_, d));
    return true;
}

/// Chooses a block whose first unit is free, at or after a random one. The request is cut at the next used unit, as in
/// fio.
bool FioGenerator::unused_block(std::size_t d, std::uint64_t& block) {
    const std::uint64_t per_block = job_.align[d] / map_unit_;  // whole: the unit divides all block sizes
    const std::uint64_t count = blocks(*file_, d);
    const std::uint64_t begin = offset_random_.below(count);
    for (const bool wrapped : {false, true}) {
        std::uint64_t unit = wrapped ? 0 : begin * per_block;
        const std::uint64_t end = (wrapped ? begin : count) * per_block;
        while (unit < end && (unit = file_->used->next_free(unit)) < end) {
            if (unit % per_block == 0) {
                block = unit / per_block;
                return true;
            }
            unit = div_ceil(unit, per_block) * per_block;
        }
    }
    return false;
}

bool FioGenerator::sequential_offset(std::size_t d, std::uint64_t& offset) {
    const FioFile& place = file_->place;
    std::uint64_t& position = file_->position[d];
    if (position >= place.region && job_.time_based && !job_.strided) position = 0;
    if (place.offset + position >= place.end) return false;
    offset = position;
    if (offset == 0 || job_.sequence_hole == 0) return true;
    const std::int64_t moved = static_cast<std::int64_t>(offset) + job_.sequence_hole;
    // As in fio, an offset wraps at the end of the whole file or drive, and the pass ends at the end of the region.
    if (moved >= 0 && static_cast<std::uint64_t>(moved) < place.end - place.begin)
        offset = static_cast<std::uint64_t>(moved);
    else if (job_.sequence_hole > 0)
        offset = place.offset - place.begin;
    else
        offset = static_cast<std::uint64_t>(
            std::max<std::int64_t>(static_cast<std::int64_t>(place.region) + job_.sequence_hole, 0));
    return true;
}

std::uint64_t FioGenerator::length(std::size_t d, std::uint64_t offset) {
    const std::uint64_t low = job_.bs_min[d];
    const std::uint64_t high = job_.bs_max[d];
    if (low == high) return low;
    if (!file_->fits(offset, low)) return 0;
    for (int tries = 0; tries < 1000; ++tries) {
        std::uint64_t size = 0;
        if (job_.bssplit[d].empty()) {
            // This is fio's formula: uniform over [low, low + high), cut to high. So the largest size is the most
            // frequent.
            size = low + size_random_.below(high);
        } else {
            const std::uint64_t percent = size_random_.below(100);
            std::uint64_t sum = 0;
            for (const FioBlockShare& share : job_.bssplit[d]) {
                if (share.percent == 0) continue;
                size = share.bytes;
                sum += share.percent;
                if (percent < sum && file_->fits(offset, size)) break;
            }
        }
        size = std::min(size - size % low, high);
        if (size != 0 && file_->fits(offset, size)) return size;
    }
    return low;  // the split never draws a size that still fits
}

}  // namespace ssdtlm
