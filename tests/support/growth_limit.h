// A limit on the size of files, which makes writes fail as a full disk does: "File too large".
#pragma once

#include <csignal>

#include <sys/resource.h>

namespace halfscope {

/// No file of this process grows beyond `bytes` while it exists.
class GrowthLimit {
public:
    explicit GrowthLimit(rlim_t bytes) : m_signal(std::signal(SIGXFSZ, SIG_IGN)) {
        getrlimit(RLIMIT_FSIZE, &m_usual);
        const rlimit small{bytes, m_usual.rlim_max};
        setrlimit(RLIMIT_FSIZE, &small);
    }
    ~GrowthLimit() {
        setrlimit(RLIMIT_FSIZE, &m_usual);
        std::signal(SIGXFSZ, m_signal);
    }
    GrowthLimit(const GrowthLimit&) = delete;
    GrowthLimit& operator=(const GrowthLimit&) = delete;

private:
    rlimit m_usual{};
    void (*m_signal)(int);
};

} // namespace halfscope
