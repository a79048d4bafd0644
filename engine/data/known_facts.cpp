// Remembers what files said, notices that they changed, and passes questions to another thread.
#include "engine/data/known_facts.h"

#include "engine/core/text.h"
#include "engine/data/own_files.h"
#include "engine/data/picture_samples.h"
#include "engine/data/targets.h"
#include "engine/data/test_split.h"
#include "engine/io/open_folder.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <utility>

namespace halfscope {
namespace {

thread_local FactsElsewhere* t_newest = nullptr;
thread_local FactsAnew* t_anew = nullptr;

constexpr size_t kMostStamped = 10'000; // a wrong path may name a folder of millions

/// Returns a text that changes when a file does; of a folder, when one of the first files directly
/// in it does.
std::string stampOf(const std::filesystem::path& path) {
    std::string stamp = fileStamp(path.string());
    for (const std::string& name : namesIn(path.string(), Entries::All, nullptr, kMostStamped))
        stamp += "\n" + name + fileStamp((path / name).string());
    return stamp;
}

/// As stampOf(), but also for the folders below a folder, in which pictures may lie.
std::string stampFrom(const std::string& path) {
    UnlistedFolder ignored;
    const std::vector<std::string> folders = foldersFrom(path, ignored, kMostStamped);
    std::string stamp;
    for (const std::string& folder : folders) // first: it changes when files are added
        stamp += folder + fileStamp(folder) + "\n";
    size_t left = kMostStamped;
    for (size_t i = 0; i < folders.size() && left > 0; ++i) {
        const std::vector<std::string> names = namesIn(folders[i], Entries::All, nullptr, left);
        for (const std::string& name : names)
            stamp += name + fileStamp((std::filesystem::path(folders[i]) / name).string()) + "\n";
        left -= names.size();
    }
    return stamp;
}

/// Returns the first path that the settings name.
const std::string& pathOf(const TaskConfig& task) {
    if (!task.path.empty()) return task.path;
    return task.x.empty() ? task.y : task.x;
}

} // namespace

FactsKey factsKeyOf(const TaskConfig& task) {
    return {nameOf(task.kind),
            task.path,
            task.x,
            task.y,
            task.validationPath,
            task.testPath,
            task.xVal,
            task.yVal,
            task.xTest,
            task.yTest,
            tests(task) ? "tested" : "",
            task.target,
            task.header ? "" : "no header",
            task.textColumn,
            nameOf(task.tokens),
            numberText(task.vocabulary),
            task.drop,
            task.predictFile,
            numberText(task.indices),
            task.test ? "test" : "",
            numberText(task.validation),
            nameOf(task.loss.kind),
            task.standardise ? "standardised" : "",
            task.standardiseX ? "standardised" : "",
            standardisesTarget(task) ? "standardised" : "",
            numberText(task.pictureSide),
            task.grey ? "grey" : "",
            nameOf(task.missing),
            numberText(task.shardReaders),
            numberText(task.samples),
            numberText(task.latent),
            numberText(task.context),
            nameOf(task.predicted),
            task.mean,
            task.deviation,
            numberText(task.crop),
            nameOf(task.held),
            nameOf(task.damaged),
            numberText(task.gap)};
}

std::optional<FactsAnswer> KnownFacts::find(const TaskConfig& task) const {
    const std::lock_guard lock(m_mutex);
    const auto found = m_answers.find(factsKeyOf(task));
    if (found == m_answers.end()) return std::nullopt;
    found->second.used = ++m_questions;
    return found->second.answer;
}

void KnownFacts::put(const TaskConfig& task, FactsAnswer answer) {
    const std::lock_guard lock(m_mutex);
    FactsKey key = factsKeyOf(task);
    if (m_answers.size() >= kMost && !m_answers.contains(key))
        m_answers.erase(
            std::min_element(m_answers.begin(), m_answers.end(), [](const auto& a, const auto& b) {
                return a.second.used < b.second.used;
            }));
    m_answers[std::move(key)] = {std::move(answer), ++m_questions};
}

KnownFacts& knownFacts() {
    // never destroyed: a thread that hangs on a dead network may return while the program ends
    static KnownFacts& facts = *std::make_unique<KnownFacts>().release();
    return facts;
}

bool namesFiles(const TaskConfig& task) { return !pathOf(task).empty(); }

/// Returns a hash, because many are kept.
size_t filesOf(const TaskConfig& task) {
    std::string stamps;
    for (const std::string* path : {&task.x, &task.y, &task.validationPath, &task.testPath,
                                    &task.xVal, &task.yVal, &task.xTest, &task.yTest})
        stamps += stampOf(*path) + "\n";
    if (task.kind == TaskKind::Csv) // the notes tell why it is left out
        stamps += fileStamp(testBeside(task.path)) + "\n";
    const bool nested = task.kind == TaskKind::Pictures;
    stamps += (nested ? stampFrom(task.path) : stampOf(task.path)) + "\n";
    stamps += stampFrom(task.predictFile) + "\n"; // may be a folder of pictures
    for (const DataSetInfo& info : dataSets()) // of every kind: generate reads the files of mnist
        for (const std::string_view folder : info.folders)
            stamps += stampOf(std::filesystem::path(task.path) / folder) + "\n";
    return std::hash<std::string>()(stamps);
}

FactsAnew::FactsAnew() : m_before(t_anew) { t_anew = this; }

FactsAnew::~FactsAnew() { t_anew = m_before; }

bool FactsAnew::looksAt(const TaskConfig& task) {
    return t_anew && t_anew->m_looked.insert(factsKeyOf(task)).second;
}

FactsPending::FactsPending(const TaskConfig& task)
    : InputError(phrase("Data", "%1: the data are still being read"), pathText(pathOf(task))) {}

bool factsPending(const TaskConfig& task) {
    try {
        factsOf(task);
    } catch (const FactsPending&) {
        return true;
    } catch (const InputError&) { // there is a known answer
    }
    return false;
}

std::optional<Message> factsProblem(const TaskConfig& task) {
    try {
        factsOf(task);
    } catch (const FactsPending&) { // nobody knows yet
    } catch (const InputError& error) {
        return error.message();
    }
    return std::nullopt;
}

FactsElsewhere::FactsElsewhere(Ask ask) : m_ask(std::move(ask)), m_before(t_newest) {
    t_newest = this;
}

FactsElsewhere::~FactsElsewhere() {
    for (FactsElsewhere** at = &t_newest; *at; at = &(*at)->m_before)
        if (*at == this) {
            *at = m_before;
            return;
        }
}

bool FactsElsewhere::ask(const TaskConfig& task) {
    if (!t_newest) return false;
    t_newest->m_ask(task);
    return true;
}

} // namespace halfscope
