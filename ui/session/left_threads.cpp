// Joins threads that have ended, and leaves the others.
#include "ui/session/left_threads.h"

#include <atomic>

namespace halfscope {
namespace {

std::atomic<bool> g_left{false}; // global, because the program ends only once

} // namespace

void leaveOrJoin(std::thread& thread, const std::future<void>& ended) {
    if (ended.wait_for(std::chrono::seconds(0)) == std::future_status::ready) return thread.join();
    thread.detach();
    countLeftThread();
}

void countLeftThread() { g_left = true; }

bool anyThreadLeft() { return g_left; }

} // namespace halfscope
