// Limits itself by bytes, not by time: what it finds must not depend on the machine.
#include "engine/data/undecoded.h"

#include "engine/core/cancel.h"
#include "engine/core/error.h"

namespace halfscope {

namespace {

constexpr Phrase kOfAll =
    phrase("Data", "Pictures that cannot be decoded and are left out: %1 of %2. The first is %3.");
constexpr Phrase kOfTheFirst =
    phrase("Data", "Pictures that cannot be decoded and are left out: %1 of the first %2; the "
                   "others were not looked at. The first is %3.");

} // namespace

std::optional<Message> undecodedNote(const PictureFiles& pictures) {
    constexpr size_t kMost = 2000, kMostBytes = size_t{16} << 20;
    size_t looked = 0, bytes = 0, failed = 0;
    Message first;
    for (; looked < pictures.count && looked < kMost && bytes < kMostBytes; ++looked) {
        checkCancelled();
        bytes += pictures.bytesOf(looked);
        try {
            pictures.decode(looked);
        } catch (const InputError& error) {
            if (failed++ == 0) first = error.message();
        }
    }
    if (failed == 0) return std::nullopt;
    return Message(looked == pictures.count ? kOfAll : kOfTheFirst, failed, looked, first);
}

bool tellsUndecoded(const Message& note) {
    return note.format() == kOfAll || note.format() == kOfTheFirst;
}

} // namespace halfscope
