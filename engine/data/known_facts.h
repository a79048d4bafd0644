// Remembers what the files of data sets said, by the settings that decide it. Threads that must
// never wait for a file ask another thread for what nobody has read yet.
#pragma once

#include "engine/core/error.h"
#include "engine/data/dataset.h"

#include <array>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>

namespace halfscope {

/// Equal for two settings whose facts are the same.
using FactsKey = std::array<std::string, 39>;
FactsKey factsKeyOf(const TaskConfig&);

/// Facts, or why there are none.
struct FactsAnswer {
    std::optional<DataFacts> facts;
    Message error;
    size_t files = 0; ///< filesOf() at that time: files may be mended, or changed and opened again
};

/// Answers by the settings that decide them. Facts are kept when files change or vanish, because a
/// run that goes on knows its epochs. Any thread may call its functions.
class KnownFacts {
public:
    static constexpr size_t kMost = 256; ///< answers; settings that are being typed make many

    std::optional<FactsAnswer> find(const TaskConfig&) const;
    /// Adds an answer. When there are already kMost, the one that was asked for longest ago goes.
    void put(const TaskConfig&, FactsAnswer);

private:
    struct Entry {
        FactsAnswer answer;
        mutable uint64_t used = 0; ///< the number of the last question that it answered
    };
    mutable std::mutex m_mutex;
    mutable uint64_t m_questions = 0;
    std::map<FactsKey, Entry> m_answers;
};

/// Returns the facts that this process knows.
KnownFacts& knownFacts();

/// Whether the facts come from the user's files: without a path, a data set uses what comes with
/// the program, or nothing.
bool namesFiles(const TaskConfig&);
/// Returns a value that changes when one of the files does from which the facts are read. Looks at
/// the files. Can be cancelled.
size_t filesOf(const TaskConfig&);

/// While an object lives, factsOf() looks on its thread whether files have changed since their
/// facts became known, once for each setting, and reads those anew: they are being opened, perhaps
/// again.
class FactsAnew {
public:
    FactsAnew();
    ~FactsAnew();
    FactsAnew(const FactsAnew&) = delete;
    FactsAnew& operator=(const FactsAnew&) = delete;

    /// Whether an object of the calling thread has yet to look at the files of these settings.
    static bool looksAt(const TaskConfig&);

private:
    std::set<FactsKey> m_looked;
    FactsAnew* m_before; ///< the one before on this thread
};

/// Thrown by factsOf() when another thread has been asked for the facts.
class FactsPending : public InputError {
public:
    explicit FactsPending(const TaskConfig&);
};

/// Whether factsOf() would throw FactsPending for these settings.
bool factsPending(const TaskConfig&);
/// Returns why there are no facts; nothing when there are, or when they are still being read.
std::optional<Message> factsProblem(const TaskConfig&);

/// While an object lives, factsOf() opens no file on the thread that made it. What is not known yet
/// goes to `ask`, and factsOf() throws FactsPending; a known error is thrown, and asked for again.
/// If a thread has several objects, the newest is asked; they may be destroyed in any order.
class FactsElsewhere {
public:
    /// Called from within factsOf(). It must return at once, and may get the same question often.
    using Ask = std::function<void(const TaskConfig&)>;
    explicit FactsElsewhere(Ask);
    ~FactsElsewhere();
    FactsElsewhere(const FactsElsewhere&) = delete;
    FactsElsewhere& operator=(const FactsElsewhere&) = delete;

    /// Asks the newest object of the calling thread; returns false when there is none.
    static bool ask(const TaskConfig&);

private:
    Ask m_ask;
    FactsElsewhere* m_before; ///< the one before on this thread
};

} // namespace halfscope
