// Counts how often a file is opened, for tests of what is read once.
#pragma once

#include "engine/io/open_folder.h"

#include <array>
#include <cstring>
#include <functional>
#include <string>

#include <sys/inotify.h>
#include <unistd.h>

namespace halfscope::test {

/// Returns how often the file is opened meanwhile; -1 where the system does not tell.
inline int opensOf(const std::string& file, const std::function<void()>& meanwhile) {
    const Descriptor watch(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
    // closing is asked for, too: the system counts equal events in a row as one
    if (::inotify_add_watch(watch.number(), file.c_str(), IN_OPEN | IN_CLOSE) < 0) return -1;
    meanwhile();
    std::array<char, 4096> events{};
    int opens = 0;
    for (;;) {
        const ssize_t count = ::read(watch.number(), events.data(), events.size());
        if (count <= 0) return opens;
        inotify_event event{}; // of a file, it has no name behind it
        for (size_t at = 0; at < static_cast<size_t>(count); at += sizeof event + event.len) {
            std::memcpy(&event, events.data() + at, sizeof event);
            opens += (event.mask & IN_OPEN) != 0;
        }
    }
}

} // namespace halfscope::test
