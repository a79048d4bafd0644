// Brings growing files to the disk about once a second, on a thread of its own: a power cut then
// takes no more than the last second, and training does not wait for the disk.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace halfscope {

class DiskSync {
public:
    DiskSync() = default;
    ~DiskSync();
    DiskSync(const DiskSync&) = delete;
    DiskSync& operator=(const DiskSync&) = delete;

    /// Adds a file by its descriptor, which must stay open as long as this object lives.
    void add(int file);
    /// Starts the thread unless it is running. When the system has no thread to give, the next call
    /// tries again.
    void start();
    /// The errno of the first error that a file had; 0 when there was none.
    int error() const { return m_error; }

private:
    void work(const std::stop_token&);

    std::mutex m_mutex;
    std::condition_variable_any m_wake;
    std::vector<int> m_files;
    std::atomic<int> m_error{0};
    std::jthread m_thread; ///< last, because it uses the members above
};

} // namespace halfscope
