// Limits itself by bytes, not by time: what it finds must not depend on the machine.
#include "engine/data/undecoded.h"

#include "engine/core/cancel.h"
#include "engine/core/error.h"
#include "engine/core/text.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>

namespace halfscope {

namespace {

constexpr Phrase kOfAll =
    phrase("Data", "Pictures that cannot be decoded and are left out: %1 of %2. Sample counts "
                   "still include them. The first is %3.");
constexpr Phrase kOfTheFirst =
    phrase("Data", "Pictures that cannot be decoded and are left out: %1 of the first %2; the "
                   "others were not looked at. Sample counts still include them. The first is "
                   "%3.");
constexpr Phrase kEndsAtOne = phrase(
    "Data", "Pictures that cannot be decoded: %1 of %2. The run ends when it comes to one, unless "
            "data.damaged is skip. The first is %3.");
constexpr Phrase kEndsAtOneOfTheFirst = phrase(
    "Data", "Pictures that cannot be decoded: %1 of the first %2; the others were not looked at. "
            "The run ends when it comes to one, unless data.damaged is skip. The first is %3.");

constexpr Phrase kCutShard =
    phrase("Data", "%1 ends early at byte %2; the samples before it, %3, are used.");

constexpr Phrase kDamagedShard =
    phrase("Data", "%1 is damaged at byte %2; the samples before it, %3, are used.");

/// What was found among the first pictures.
struct Undecoded {
    size_t failed = 0, looked = 0;
    bool all = false; ///< there are no others
    Message first{};  ///< of those that failed
};

struct LastLook {
    std::mutex mutex;
    std::string stamp; ///< of the files; empty before the first look
    Undecoded found;
};

LastLook& lastLook() {
    // never destroyed: a thread that hangs on a dead network may return while the program ends
    static LastLook& last = *std::make_unique<LastLook>().release();
    return last;
}

/// Decodes that many of them.
Undecoded lookAtFirst(const PictureFiles& pictures, size_t looked) {
    Undecoded found{.looked = looked, .all = looked == pictures.count};
    for (size_t at = 0; at < looked; ++at) {
        checkCancelled();
        try {
            pictures.decode(at);
        } catch (const InputError& error) {
            if (found.failed++ == 0) found.first = error.message();
        }
    }
    return found;
}

std::optional<Message> undecodedWords(const Undecoded& found, Damaged damaged) {
    if (found.failed == 0) return std::nullopt;
    const Phrase skips = found.all ? kOfAll : kOfTheFirst;
    const Phrase ends = found.all ? kEndsAtOne : kEndsAtOneOfTheFirst;
    return Message(damaged == Damaged::Skip ? skips : ends, found.failed, found.looked,
                   found.first);
}

} // namespace

std::optional<Message> undecodedNote(const PictureFiles& pictures, Damaged damaged) {
    constexpr size_t kMost = 2000, kMostBytes = size_t{16} << 20;
    size_t looked = 0;
    std::string stamp = std::to_string(pictures.count);
    for (size_t bytes = 0; looked < pictures.count && looked < kMost && bytes < kMostBytes;
         ++looked) {
        checkCancelled();
        bytes += pictures.bytesOf(looked);
        stamp += '\0' + pictures.stampOf(looked);
    }
    LastLook& last = lastLook();
    {
        const std::lock_guard lock(last.mutex);
        if (last.stamp == stamp) return undecodedWords(last.found, damaged);
    }
    Undecoded found = lookAtFirst(pictures, looked);
    const std::lock_guard lock(last.mutex);
    last.stamp = std::move(stamp);
    last.found = std::move(found);
    return undecodedWords(last.found, damaged);
}

Message cutShardNote(const std::string& path, int64_t bytes, int64_t samples) {
    return {kCutShard, pathText(path), bytes, samples};
}

Message damagedShardNote(const std::string& path, int64_t at, int64_t samples) {
    return {kDamagedShard, pathText(path), at, samples};
}

bool tellsDamage(const Message& note) {
    const Phrase all[] = {kOfAll,    kOfTheFirst,  kEndsAtOne, kEndsAtOneOfTheFirst,
                          kCutShard, kDamagedShard};
    return std::ranges::any_of(all, [&](Phrase each) { return note.format() == each; });
}

Message withSkipHint(const Message& refusal) {
    return {phrase("Data", "%1; to go on without such samples, set data.damaged to skip"), refusal};
}

} // namespace halfscope
