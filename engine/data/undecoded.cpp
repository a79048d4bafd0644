// Limits itself by bytes, not by time: what it finds must not depend on the machine.
#include "engine/data/undecoded.h"

#include "engine/core/cancel.h"
#include "engine/core/error.h"

#include <memory>
#include <mutex>
#include <utility>

namespace halfscope {

namespace {

constexpr Phrase kOfAll =
    phrase("Data", "Pictures that cannot be decoded and are left out: %1 of %2. The first is %3.");
constexpr Phrase kOfTheFirst =
    phrase("Data", "Pictures that cannot be decoded and are left out: %1 of the first %2; the "
                   "others were not looked at. The first is %3.");

struct LastLook {
    std::mutex mutex;
    std::string stamp; ///< of the files; empty before the first look
    std::optional<Message> note;
};

LastLook& lastLook() {
    // never destroyed: a thread that hangs on a dead network may return while the program ends
    static LastLook& last = *std::make_unique<LastLook>().release();
    return last;
}

/// Decodes that many of them.
std::optional<Message> noteOfFirst(const PictureFiles& pictures, size_t looked) {
    size_t failed = 0;
    Message first;
    for (size_t at = 0; at < looked; ++at) {
        checkCancelled();
        try {
            pictures.decode(at);
        } catch (const InputError& error) {
            if (failed++ == 0) first = error.message();
        }
    }
    if (failed == 0) return std::nullopt;
    return Message(looked == pictures.count ? kOfAll : kOfTheFirst, failed, looked, first);
}

} // namespace

std::optional<Message> undecodedNote(const PictureFiles& pictures) {
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
        if (last.stamp == stamp) return last.note;
    }
    std::optional<Message> note = noteOfFirst(pictures, looked);
    const std::lock_guard lock(last.mutex);
    last.stamp = std::move(stamp);
    return last.note = std::move(note);
}

bool tellsUndecoded(const Message& note) {
    return note.format() == kOfAll || note.format() == kOfTheFirst;
}

} // namespace halfscope
