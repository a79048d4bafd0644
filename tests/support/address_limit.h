// A limit on the address space, as `ulimit -v` sets it.
#pragma once

#include <cstddef>
#include <fstream>

#include <sys/resource.h>
#include <unistd.h>

namespace halfscope {

/// This process can map no more than `more` bytes beside what it has now, while the object exists.
class AddressLimit {
public:
    explicit AddressLimit(size_t more) {
        getrlimit(RLIMIT_AS, &m_usual);
        size_t pages = 0;
        std::ifstream("/proc/self/statm") >> pages;
        m_bytes = pages * static_cast<size_t>(sysconf(_SC_PAGE_SIZE)) + more;
        const rlimit small{m_bytes, m_usual.rlim_max};
        setrlimit(RLIMIT_AS, &small);
    }
    ~AddressLimit() { setrlimit(RLIMIT_AS, &m_usual); }
    AddressLimit(const AddressLimit&) = delete;
    AddressLimit& operator=(const AddressLimit&) = delete;

    size_t bytes() const { return m_bytes; }

private:
    rlimit m_usual{};
    size_t m_bytes = 0;
};

} // namespace halfscope
