// The list of runs.
#include "engine/runs/run_store.h"

#include "engine/core/error.h"
#include "engine/runs/setting_differences.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>
#include <utility>

namespace halfscope {

namespace {

/// Returns "Run" for "Run (2)", and other names as they are.
std::string withoutNumber(const std::string& name) {
    constexpr std::string_view kDigits = "0123456789";
    if (!name.ends_with(')')) return name;
    const size_t before = name.find_last_not_of(kDigits, name.size() - 2);
    const bool numbered = before != name.npos && before + 2 < name.size() && before > 1 &&
                          name[before] == '(' && name[before - 1] == ' ';
    return numbered ? name.substr(0, before - 1) : name;
}

} // namespace

RunId RunStore::add(std::shared_ptr<Run> run, const std::string& name) {
    require(run != nullptr, "a store holds runs only");
    Entry entry;
    entry.id = static_cast<RunId>(++m_lastId);
    entry.name = freeName(name, RunId::None);
    std::vector<bool> taken(m_entries.size() + 1); // one of so many colours is free
    for (const Entry& each : m_entries)
        if (const auto color = static_cast<size_t>(each.color); color < taken.size())
            taken[color] = true;
    entry.color = static_cast<int>(std::ranges::find(taken, false) - taken.begin());
    entry.run = run;
    m_entries.push_back(std::move(entry));
    m_runs.push_back(std::move(run));
    ++m_changes;
    return m_entries.back().id;
}

void RunStore::remove(RunId id) {
    const Entry* const found = find(id);
    if (!found) return;
    const auto at = found - m_entries.data();
    m_entries.erase(m_entries.begin() + at);
    m_runs.erase(m_runs.begin() + at);
    if (m_current == id) m_current = RunId::None;
    ++m_changes;
}

void RunStore::rename(RunId id, const std::string& name) {
    Entry* const found = entry(id);
    if (!found || found->name == name) return;
    found->name = freeName(name, id);
    ++m_changes;
}

void RunStore::setVisible(RunId id, bool visible) {
    Entry* const found = entry(id);
    if (!found || found->visible == visible) return;
    found->visible = visible;
    ++m_changes;
}

void RunStore::move(RunId id, size_t index) {
    const Entry* const found = find(id);
    if (!found) return;
    const auto from = static_cast<size_t>(found - m_entries.data());
    const size_t to = std::min(index, m_entries.size() - 1);
    if (from == to) return;
    const auto shift = [from, to](auto& list) {
        const auto begin = list.begin();
        const auto a = begin + static_cast<std::ptrdiff_t>(from);
        const auto b = begin + static_cast<std::ptrdiff_t>(to);
        from < to ? std::rotate(a, a + 1, b + 1) : std::rotate(b, a, a + 1);
    };
    shift(m_entries);
    shift(m_runs);
    ++m_changes;
}

void RunStore::setCurrent(RunId id) {
    if (id != RunId::None && !find(id)) return;
    if (m_current == id) return;
    m_current = id;
    ++m_changes;
}

const RunStore::Entry* RunStore::find(RunId id) const {
    const auto found = std::find_if(m_entries.begin(), m_entries.end(),
                                    [id](const Entry& each) { return each.id == id; });
    return found == m_entries.end() ? nullptr : &*found;
}

RunStore::Entry* RunStore::entry(RunId id) { return const_cast<Entry*>(find(id)); }

std::shared_ptr<const Run> RunStore::get(RunId id) const {
    const Entry* const found = find(id);
    return found ? found->run : nullptr;
}

std::shared_ptr<Run> RunStore::writable(RunId id) const {
    const Entry* const found = find(id);
    return found ? m_runs[static_cast<size_t>(found - m_entries.data())] : nullptr;
}

RunId RunStore::idOf(const Run* run) const {
    for (const Entry& each : m_entries)
        if (each.run.get() == run) return each.id;
    return RunId::None;
}

std::vector<std::vector<std::string>> RunStore::differences(const SettingName& name) const {
    std::vector<const RunConfig*> configs;
    for (const Entry& each : m_entries)
        configs.push_back(&each.run->info().config);
    std::vector<std::vector<std::string>> texts = settingDifferences(configs, name);
    for (size_t i = 0; i < texts.size() && texts.size() > 1; ++i) {
        // settings that are the same now may have differed before an edit
        const size_t edits = m_entries[i].run->info().recorded.edits.size();
        if (edits > 0)
            texts[i].push_back(std::to_string(edits) + (edits == 1 ? " live edit" : " live edits"));
    }
    return texts;
}

std::string RunStore::freeName(const std::string& wanted, RunId except) const {
    std::unordered_set<std::string_view> taken; // there may be thousands of one name
    for (const Entry& each : m_entries)
        if (each.id != except) taken.insert(each.name);
    if (!taken.contains(wanted)) return wanted;
    const std::string plain = withoutNumber(wanted);
    std::string name;
    int number = 2;
    do
        name = plain + " (" + std::to_string(number++) + ")";
    while (taken.contains(name));
    return name;
}

} // namespace halfscope
