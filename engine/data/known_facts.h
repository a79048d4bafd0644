// What the files of data sets said, remembered by the settings that decide it, and threads that
// must never wait for a file: what nobody has read yet they ask another thread for.
#pragma once

#include "engine/core/error.h"
#include "engine/data/dataset.h"

#include <array>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace halfscope {

/// Equal for two settings whose facts are the same.
using FactsKey = std::array<std::string, 21>;
FactsKey factsKeyOf(const TaskConfig&);

/// Facts, or why there are none.
struct FactsAnswer {
    std::optional<DataFacts> facts;
    Message error;
    size_t files = 0; ///< of an error, as they were when they were read: it may be mended there
};

/// Answers by the settings that decide them. Facts stay when files change or go: a run that goes on
/// knows its epochs. From any thread.
class KnownFacts {
public:
    static constexpr size_t kMost = 256; ///< answers to settings that were typed

    std::optional<FactsAnswer> find(const TaskConfig&) const;
    /// Where there are kMost of them, the one that was not asked for the longest goes.
    void put(const TaskConfig&, FactsAnswer);

private:
    struct Entry {
        FactsAnswer answer;
        mutable uint64_t used = 0; ///< the number of the question that it last answered
    };
    mutable std::mutex m_mutex;
    mutable uint64_t m_questions = 0;
    std::map<FactsKey, Entry> m_answers;
};

/// Those of the process.
KnownFacts& knownFacts();

/// Whether the facts are in files of the user's: without a path a data set has what comes with the
/// program, or nothing.
bool namesFiles(const TaskConfig&);
/// Differs when one of the files changed that the facts are read from. Looks at them. Cancellable.
size_t filesOf(const TaskConfig&);

/// Thrown by factsOf() where another thread has been asked for them.
class FactsPending : public InputError {
public:
    explicit FactsPending(const TaskConfig&);
};

/// Whether that is so of these.
bool factsPending(const TaskConfig&);
/// Why there are none; nothing where there are, or where they are still being read.
std::optional<Message> factsProblem(const TaskConfig&);

/// While it lives, factsOf() on the thread that made it opens no file. What is not known yet goes
/// to `ask`, and is refused by FactsPending; an error that is known is thrown, and asked for again.
/// The newest one of a thread is asked; they may go in any order.
class FactsElsewhere {
public:
    /// Called from within factsOf(): must come back at once, and may be asked the same often.
    using Ask = std::function<void(const TaskConfig&)>;
    explicit FactsElsewhere(Ask);
    ~FactsElsewhere();
    FactsElsewhere(const FactsElsewhere&) = delete;
    FactsElsewhere& operator=(const FactsElsewhere&) = delete;

    /// Asks the calling thread's; false where it has none.
    static bool ask(const TaskConfig&);

private:
    Ask m_ask;
    FactsElsewhere* m_before; ///< of the thread
};

} // namespace halfscope
