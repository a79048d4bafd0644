// The thread that waits for the disk.
#include "engine/runs/disk_sync.h"

#include "engine/io/open_folder.h"

#include <chrono>
#include <system_error>

namespace halfscope {

DiskSync::~DiskSync() {
    m_thread.request_stop();
    if (m_thread.joinable()) m_thread.join();
}

void DiskSync::add(int file) {
    const std::lock_guard lock(m_mutex);
    m_files.push_back(file);
}

void DiskSync::start() {
    if (m_thread.joinable()) return;
    try {
        m_thread = std::jthread([this](const std::stop_token& stop) { work(stop); });
    } catch (const std::system_error&) {
        // nothing is lost: at its end, the run brings everything to the disk
    }
}

void DiskSync::work(const std::stop_token& stop) {
    constexpr std::chrono::milliseconds kBetween{900};
    std::unique_lock lock(m_mutex);
    while (!stop.stop_requested()) {
        for (size_t i = 0; i < m_files.size(); ++i) {
            const int file = m_files[i];
            lock.unlock();
            const int error = syncToDisk(file);
            if (error != 0 && m_error == 0) m_error = error;
            lock.lock();
        }
        m_wake.wait_for(lock, stop, kBetween, [] { return false; });
    }
}

} // namespace halfscope
