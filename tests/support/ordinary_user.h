// Makes files that ordinary users may not use unusable for a test, too, even when root runs it.
#pragma once

#include <QtGlobal>

#include <fcntl.h>
#include <unistd.h>

namespace halfscope {

/// Makes the process an ordinary user for a scope, because root may write anywhere.
class OrdinaryUser {
public:
    OrdinaryUser() : m_wasRoot(geteuid() == 0) {
        constexpr uid_t kNobody = 65534;
        if (m_wasRoot) m_switched = seteuid(kNobody) == 0;
    }
    ~OrdinaryUser() {
        if (m_switched && seteuid(0) != 0) qFatal("cannot become root again");
    }
    OrdinaryUser(const OrdinaryUser&) = delete;
    OrdinaryUser& operator=(const OrdinaryUser&) = delete;
    bool holds() const { return !m_wasRoot || m_switched; }
    /// Whether this user can start the program. What asks in the name of the real user, as some
    /// versions of QFileInfo do, answers for root.
    bool canRun(const char* program) const {
        return faccessat(AT_FDCWD, program, X_OK, AT_EACCESS) == 0;
    }

private:
    bool m_wasRoot;
    bool m_switched = false;
};

} // namespace halfscope
