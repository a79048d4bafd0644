// The records on disk: one line per variant, "name|seconds|chosen|unfinished|note".
#include "engine/cuda/variant_records.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <sstream>

namespace halfscope::cuda {
namespace {

template <class Number>
Number numberOf(const std::string& text) {
    Number number{};
    (void)std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

} // namespace

void VariantRecords::read(const std::string& key, const std::vector<std::string>& names) {
    m_key = key;
    m_records.clear();
    for (const std::string& name : names)
        m_records.push_back({{name, 0, false, {}}, 0});
    const auto known = m_device.choices().find(m_key);
    std::istringstream lines(known != m_device.choices().end() ? known->second
                                                               : m_cache.get(m_key).value_or(""));
    for (std::string line; std::getline(lines, line);) {
        std::istringstream fields(line);
        std::string name, seconds, chosen, unfinished, note;
        std::getline(fields, name, '|');
        std::getline(fields, seconds, '|');
        std::getline(fields, chosen, '|');
        std::getline(fields, unfinished, '|');
        std::getline(fields, note);
        for (VariantRecord& record : m_records)
            if (record.time.name == name)
                record = {{name, numberOf<double>(seconds), chosen == "1", note},
                          numberOf<int>(unfinished)};
    }
}

void VariantRecords::write() const {
    std::string text;
    for (const VariantRecord& record : m_records) {
        char numbers[64];
        std::snprintf(numbers, sizeof numbers, "|%.17g|%d|%d|", record.time.seconds,
                      record.time.chosen ? 1 : 0, record.unfinished);
        text += record.time.name + numbers + record.time.note + "\n";
    }
    m_cache.put(m_key, text);
    m_device.choices()[m_key] = text;
}

size_t VariantRecords::chosen() const {
    const bool open =
        std::any_of(m_records.begin(), m_records.end(),
                    [](const VariantRecord& record) { return record.unfinished > 0; });
    if (open) return m_records.size();
    const auto found = std::find_if(m_records.begin(), m_records.end(),
                                    [](const VariantRecord& record) { return record.time.chosen; });
    return static_cast<size_t>(found - m_records.begin());
}

void VariantRecords::choose(VariantRecord& chosen) {
    for (VariantRecord& record : m_records)
        record.time.chosen = &record == &chosen;
}

void VariantRecords::restart() {
    for (VariantRecord& record : m_records)
        record.time = {record.time.name, 0, false, {}};
}

void VariantRecords::finish() {
    for (VariantRecord& record : m_records)
        record.unfinished = 0;
    write();
}

void VariantRecords::giveUp() {
    for (VariantRecord& record : m_records)
        record.time.chosen = false;
    write();
}

bool VariantRecords::allEndedBadly() const {
    return std::all_of(m_records.begin(), m_records.end(),
                       [](const VariantRecord& record) { return record.endedBadly(); });
}

std::string VariantRecords::file() const { return m_cache.get(m_key) ? m_cache.fileOf(m_key) : ""; }

std::vector<VariantTime> VariantRecords::times() const {
    std::vector<VariantTime> times;
    for (const VariantRecord& record : m_records)
        if (record.time.seconds > 0 || !record.time.note.empty()) times.push_back(record.time);
    return times;
}

} // namespace halfscope::cuda
