// What lies in tar shards: the pictures, their classes and their places, found in one scan.
#pragma once

#include "engine/core/message.h"
#include "engine/io/tar.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace halfscope {

struct ShardSample {
    size_t shard = 0;
    TarEntry picture;
    int32_t label = -1;
};

struct ShardIndex {
    std::vector<std::string> shards;       ///< their paths, in the order of the parts
    size_t trainShards = 0, valShards = 0; ///< the first of them, and those that follow
    std::vector<ShardSample> samples;      ///< in the order of their shards
    size_t trained = 0, judged = 0;        ///< the first samples, and those that follow
    Message untested;                      ///< why those for a test are left out, if they are
    bool judgesTests = false; ///< no sample has a shard to validate on: those to test on are judged
    int32_t classes = 0;      ///< one more than the highest class, that of the test aside
    std::vector<Message> notes; ///< on damaged shards, which data.damaged may skip
    Message cut;                ///< what is wrong with the first of these
    std::string other;          ///< the first file that is neither a picture nor a class

    /// Returns how many samples are for a test beside those to validate on.
    size_t tested() const { return samples.size() - trained - judged; }
    std::span<const std::string> testShards() const {
        return std::span(shards).subspan(tested() > 0 ? trainShards + valShards : shards.size());
    }
    std::span<const std::string> judgedShards() const {
        const auto others = std::span(shards).subspan(trainShards);
        return others.first(others.size() - testShards().size());
    }
};

/// Whether a file is a shard by its name.
bool isShard(const std::string& path);
/// Returns the names of shards, without their folders.
Message fileNames(std::span<const std::string> shards);

using IndexPtr = std::shared_ptr<const ShardIndex>;
/// Returns the index of a shard, or of those in a folder, and keeps the last one while its shards
/// stay as they are: settings ask for the facts again and again, and large shards take long to
/// scan. Throws InputError for a sample that lacks a part.
IndexPtr indexAt(const std::string& path);

} // namespace halfscope
