// The list of runs.
#include "engine/runs/run_store.h"

#include "engine/core/error.h"
#include "engine/runs/setting_differences.h"
#include "engine/settings/run_length.h"

#include <algorithm>
#include <charconv>
#include <list>
#include <string_view>
#include <utility>

namespace halfscope {

namespace {

struct Numbered {
    std::string plain;
    uint64_t number; ///< UINT64_MAX also for larger ones
};

/// Returns "Run" and 2 for "Run (2)", and nothing for other names.
std::optional<Numbered> numberedName(const std::string& name) {
    constexpr std::string_view kDigits = "0123456789";
    if (name.size() < 2 || !name.ends_with(')')) return std::nullopt;
    const size_t before = name.find_last_not_of(kDigits, name.size() - 2);
    if (before == name.npos || before + 2 >= name.size() || before < 1 || name[before] != '(' ||
        name[before - 1] != ' ')
        return std::nullopt;
    Numbered numbered{name.substr(0, before - 1), UINT64_MAX};
    std::from_chars(name.data() + before + 1, name.data() + name.size() - 1, numbered.number);
    return numbered;
}

std::string withNumber(const std::string& plain, uint64_t number) {
    return plain + " (" + std::to_string(number) + ")";
}

/// Whether a run was continued, or otherwise got another end while it trained.
bool hasNewLength(const RunConfig& recorded) {
    return std::ranges::any_of(recorded.edits, movesEnd);
}

} // namespace

RunId RunStore::add(std::shared_ptr<Run> run, const std::string& name) {
    require(run != nullptr, "a store holds runs only");
    Entry entry;
    entry.id = static_cast<RunId>(++m_lastId);
    entry.name = takeName(name);
    entry.color = takeColor();
    entry.run = run;
    m_entries.push_back(std::move(entry));
    m_runs.push_back(std::move(run));
    m_places[m_entries.back().id] = m_entries.size() - 1;
    ++m_changes;
    return m_entries.back().id;
}

void RunStore::remove(RunId id) {
    const Entry* const found = find(id);
    if (!found) return;
    const auto at = found - m_entries.data();
    m_freeColors.insert(found->color);
    giveName(found->name);
    m_places.erase(id);
    m_entries.erase(m_entries.begin() + at);
    m_runs.erase(m_runs.begin() + at);
    placeAnew(static_cast<size_t>(at), m_entries.size());
    if (m_current == id) m_current = RunId::None;
    ++m_changes;
}

void RunStore::rename(RunId id, const std::string& name) {
    Entry* const found = entry(id);
    if (!found || found->name == name) return;
    giveName(found->name); // it may be the new one
    found->name = takeName(name);
    found->named = true;
    ++m_changes;
}

void RunStore::markNamed(RunId id) {
    Entry* const found = entry(id);
    if (!found || found->named) return;
    found->named = true;
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
    placeAnew(std::min(from, to), std::max(from, to) + 1);
    ++m_changes;
}

void RunStore::setCurrent(RunId id) {
    if (id != RunId::None && !find(id)) return;
    if (m_current == id) return;
    m_current = id;
    ++m_changes;
}

const RunStore::Entry* RunStore::find(RunId id) const {
    const auto found = m_places.find(id);
    return found == m_places.end() ? nullptr : &m_entries[found->second];
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
    std::vector<const RunConfig*> configs, own;
    std::list<RunConfig> titled; // as the user did, whose name may not tell a preset's settings
    std::list<RunConfig> begun;  // with the lengths of runs that were continued
    for (const Entry& each : m_entries) {
        const RunInfo& info = each.run->info();
        configs.push_back(&info.config);
        if (hasNewLength(info.recorded)) {
            configs.back() = &begun.emplace_back(info.config);
            begun.back().steps = info.recorded.steps;
            begun.back().epochs = info.recorded.epochs;
        }
        own.push_back(each.named ? &titled.emplace_back(*configs.back()) : configs.back());
        if (each.named) titled.back().title = each.name;
    }
    std::vector<std::vector<std::string>> told = settingDifferences(configs, name);
    if (titled.empty()) return told;
    std::vector<std::vector<std::string>> ofOwn = settingDifferences(own, name);
    for (size_t i = 0; i < told.size(); ++i)
        if (m_entries[i].named) told[i] = std::move(ofOwn[i]);
    return told;
}

std::string RunStore::takeName(const std::string& wanted) {
    if (m_names.insert(wanted).second) return wanted;
    const std::optional<Numbered> numbered = numberedName(wanted);
    const std::string plain = numbered && !numbered->plain.empty() ? numbered->plain : wanted;
    uint64_t& number = m_numbers.try_emplace(plain, 2).first->second;
    while (!m_names.insert(withNumber(plain, number)).second)
        ++number;
    return withNumber(plain, number);
}

void RunStore::giveName(const std::string& name) {
    m_names.erase(name);
    const std::optional<Numbered> numbered = numberedName(name);
    if (!numbered || numbered->number < 2) return;
    if (const auto found = m_numbers.find(numbered->plain); found != m_numbers.end())
        found->second = std::min(found->second, numbered->number);
}

int RunStore::takeColor() {
    if (m_freeColors.empty()) return m_colors++;
    return m_freeColors.extract(m_freeColors.begin()).value();
}

void RunStore::placeAnew(size_t from, size_t to) {
    for (size_t i = from; i < to; ++i)
        m_places[m_entries[i].id] = i;
}

} // namespace halfscope
