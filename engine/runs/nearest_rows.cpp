// Rows that are the same but for some slots, such as those of a sweep, form a class. The slots in
// which they vary are called free; those that remain are compared class by class. How many rows of
// another class have a row's values in some of the free slots is looked up in tables, one for each
// set of free slots: if there are some, they differ from the row in no more than the other ones.
#include "engine/runs/nearest_rows.h"

#include <algorithm>
#include <bit>
#include <map>
#include <unordered_map>
#include <utility>

namespace halfscope {

namespace {

constexpr size_t kMostFree = 8;        // there are 2^8 tables then
constexpr size_t kMostCandidates = 16; // of slots that may be free
constexpr double kLookUp = 8;          // how long a table takes, in comparisons of two cells

/// A set of free slots: bit i is the i-th of them.
using SlotSet = uint32_t;

class NearestRows {
public:
    NearestRows(std::span<const SlotCells> slots, size_t rows, const ComparableKinds& comparable)
        : m_slots(slots), m_comparable(comparable) {
        takeRows(rows);
        m_free = chooseFree();
        m_isFree.resize(m_slots.size());
        for (const size_t slot : m_free)
            m_isFree[slot] = true;
        takeClasses();
        fillTables();
        m_nearest.assign(m_rows.size(), std::vector<uint32_t>(m_slots.size(), kNoneDiffers));
        for (size_t one = 0; one < m_members.size(); ++one)
            for (size_t other = one; other < m_members.size(); ++other)
                compare(one, other);
    }

    std::vector<std::vector<uint32_t>> byRow() const {
        std::vector<std::vector<uint32_t>> all;
        for (const size_t own : m_ownOf)
            all.push_back(m_nearest[own]);
        return all;
    }

private:
    /// Keeps one of those that are the same.
    void takeRows(size_t rows) {
        std::map<std::vector<int>, size_t> known;
        for (size_t row = 0; row < rows; ++row) {
            const auto [found, added] = known.emplace(keyOf(row, {}), m_rows.size());
            m_ownOf.push_back(found->second);
            if (!added) continue;
            m_rows.push_back(row);
            for (const SlotCells& cells : m_slots)
                m_values.push_back(cells.values[row]);
        }
    }

    /// Returns what rows of a class have in common: of the free slots only what decides whether
    /// they are compared.
    std::vector<int> keyOf(size_t row, const std::vector<bool>& isFree) const {
        std::vector<int> key;
        key.reserve(2 * m_slots.size());
        for (size_t slot = 0; slot < m_slots.size(); ++slot) {
            const SlotCells& cells = m_slots[slot];
            const bool free = !isFree.empty() && isFree[slot];
            key.push_back(free ? std::min(cells.values[row], 0) : cells.values[row]);
            key.push_back(2 * cells.kinds[row] + cells.silent[row]);
        }
        return key;
    }

    /// Returns a number that stands for the part of a key. Where two are the same by chance, only
    /// the choice of free slots is another.
    static uint64_t mixed(size_t slot, int value, int kind) {
        uint64_t bits = slot * 0x9E3779B97F4A7C15u + static_cast<uint32_t>(value);
        bits = (bits ^ (bits >> 31)) * 0xBF58476D1CE4E5B9u + static_cast<uint32_t>(kind);
        bits = (bits ^ (bits >> 29)) * 0x94D049BB133111EBu;
        return bits ^ (bits >> 32);
    }
    /// Returns by how much the number of a row's key changes when a slot becomes free.
    uint64_t change(size_t slot, size_t row) const {
        const SlotCells& cells = m_slots[slot];
        const int kind = 2 * cells.kinds[row] + cells.silent[row];
        return mixed(slot, std::min(cells.values[row], 0), kind) -
               mixed(slot, cells.values[row], kind);
    }
    static size_t countDifferent(std::vector<uint64_t> numbers) {
        std::sort(numbers.begin(), numbers.end());
        return static_cast<size_t>(std::unique(numbers.begin(), numbers.end()) - numbers.begin());
    }

    /// Returns the slots with the most values, most first.
    std::vector<size_t> candidates() const {
        std::vector<std::pair<size_t, size_t>> counted;
        for (size_t slot = 0; slot < m_slots.size(); ++slot) {
            std::vector<uint64_t> values;
            for (const size_t row : m_rows)
                values.push_back(static_cast<uint32_t>(m_slots[slot].values[row]));
            counted.emplace_back(countDifferent(std::move(values)), slot);
        }
        std::stable_sort(counted.begin(), counted.end(),
                         [](const auto& a, const auto& b) { return a.first > b.first; });
        counted.resize(std::min(counted.size(), kMostCandidates));
        std::vector<size_t> slots;
        for (const auto& [values, slot] : counted)
            slots.push_back(slot);
        return slots;
    }

    /// Adds one slot after the other, that which leaves the fewest classes, and returns those with
    /// which the comparison takes the least time.
    std::vector<size_t> chooseFree() const {
        std::vector<uint64_t> numbers;
        for (const size_t row : m_rows) {
            uint64_t& number = numbers.emplace_back();
            for (size_t slot = 0; slot < m_slots.size(); ++slot)
                number += mixed(slot, m_slots[slot].values[row],
                                2 * m_slots[slot].kinds[row] + m_slots[slot].silent[row]);
        }
        const auto time = [this](size_t free, size_t classes) {
            // the tables are filled with two steps for each row
            return kLookUp * static_cast<double>((classes + 2) * (m_rows.size() << free)) +
                   static_cast<double>(classes * classes * m_slots.size());
        };
        std::vector<size_t> left = candidates(), chosen, best;
        double least = time(0, m_rows.size());
        while (chosen.size() < kMostFree && !left.empty()) {
            std::vector<uint64_t> fewest;
            size_t classes = SIZE_MAX, at = 0;
            for (size_t i = 0; i < left.size(); ++i) {
                std::vector<uint64_t> changed = numbers;
                for (size_t row = 0; row < m_rows.size(); ++row)
                    changed[row] += change(left[i], m_rows[row]);
                const size_t different = countDifferent(changed);
                if (different >= classes) continue;
                classes = different;
                at = i;
                fewest = std::move(changed);
            }
            numbers = std::move(fewest);
            chosen.push_back(left[at]);
            left.erase(left.begin() + static_cast<std::ptrdiff_t>(at));
            if (const double took = time(chosen.size(), classes); took < least) {
                least = took;
                best = chosen;
            }
        }
        return best;
    }

    void takeClasses() {
        std::map<std::vector<int>, size_t> known;
        for (size_t own = 0; own < m_rows.size(); ++own) {
            const auto [found, added] =
                known.emplace(keyOf(m_rows[own], m_isFree), m_members.size());
            if (added) m_members.emplace_back();
            m_members[found->second].push_back(own);
        }
    }

    static uint64_t pairOf(size_t a, size_t b) { return uint64_t{a} << 32 | b; }

    /// Numbers the values in each set of free slots, and counts them class by class.
    void fillTables() {
        const size_t sets = size_t{1} << m_free.size();
        m_numbers.assign(sets, std::vector<uint32_t>(m_rows.size()));
        m_counts.resize(sets);
        for (size_t set = 1; set < sets; ++set) {
            const auto first = static_cast<size_t>(std::countr_zero(set));
            const std::vector<int>& values = m_slots[m_free[first]].values;
            const std::vector<uint32_t>& others = m_numbers[set & (set - 1)];
            std::unordered_map<uint64_t, uint32_t> known;
            for (size_t own = 0; own < m_rows.size(); ++own) {
                const uint64_t pair =
                    pairOf(others[own], static_cast<uint32_t>(values[m_rows[own]]));
                m_numbers[set][own] =
                    known.emplace(pair, static_cast<uint32_t>(known.size())).first->second;
            }
            for (size_t group = 0; group < m_members.size(); ++group)
                for (const size_t own : m_members[group])
                    ++m_counts[set][pairOf(group, m_numbers[set][own])];
        }
    }

    /// Returns how many rows of a class have a row's values in a set of free slots.
    uint32_t count(SlotSet set, size_t group, size_t own) const {
        if (set == 0) return static_cast<uint32_t>(m_members[group].size());
        const auto found = m_counts[set].find(pairOf(group, m_numbers[set][own]));
        return found == m_counts[set].end() ? 0 : found->second;
    }

    /// Whether two rows would differ in a slot if they had different values.
    bool areCompared(size_t slot, size_t a, size_t b) const {
        const SlotCells& cells = m_slots[slot];
        return cells.values[a] >= 0 && cells.values[b] >= 0 &&
               !(cells.silent[a] && cells.silent[b]) &&
               m_comparable(slot, cells.kinds[a], cells.kinds[b]);
    }

    /// Compares the rows of two classes, or of one.
    void compare(size_t one, size_t other) {
        const size_t first = m_members[one].front(), second = m_members[other].front();
        const size_t a = m_rows[first], b = m_rows[second];
        const int* const left = m_values.data() + first * m_slots.size();
        const int* const right = m_values.data() + second * m_slots.size();
        m_apart.clear();
        SlotSet compared = 0;
        for (size_t slot = 0; slot < m_slots.size(); ++slot)
            if (left[slot] != right[slot] && !m_isFree[slot] && areCompared(slot, a, b))
                m_apart.push_back(slot);
        for (size_t i = 0; i < m_free.size(); ++i)
            if (areCompared(m_free[i], a, b)) compared |= SlotSet{1} << i;
        for (const size_t own : m_members[one])
            look(own, other, compared);
        if (one == other) return;
        for (const size_t own : m_members[other])
            look(own, one, compared);
    }

    /// Looks for the rows of a class that are most like a row.
    void look(size_t own, size_t group, SlotSet compared) {
        std::vector<uint32_t>& nearest = m_nearest[own];
        const auto lower = [&nearest](size_t slot, int apart) {
            nearest[slot] = std::min(nearest[slot], static_cast<uint32_t>(apart));
        };
        const int base = static_cast<int>(m_apart.size()), free = std::popcount(compared);
        m_found.resize(m_counts.size());
        int least = base + free;
        for (SlotSet set = compared;; set = (set - 1) & compared) { // all sets within it
            m_found[set] = count(set, group, own);
            const int apart = base + free - std::popcount(set);
            if (m_found[set] > 0) least = std::min(least, apart);
            for (SlotSet left = compared & ~set; left != 0; left &= left - 1) {
                const SlotSet more = set | (left & -left); // looked up before
                if (m_found[set] > m_found[more])
                    lower(m_free[static_cast<size_t>(std::countr_zero(left))], apart);
            }
            if (set == 0) break;
        }
        for (const size_t slot : m_apart)
            lower(slot, least);
    }

    std::span<const SlotCells> m_slots;
    const ComparableKinds& m_comparable;
    std::vector<size_t> m_rows;  ///< different ones
    std::vector<size_t> m_ownOf; ///< by row: its place in m_rows
    std::vector<int> m_values;   ///< of those in m_rows, one after the other
    std::vector<size_t> m_free;
    std::vector<bool> m_isFree;                   ///< by slot
    std::vector<std::vector<size_t>> m_members;   ///< by class: places in m_rows
    std::vector<std::vector<uint32_t>> m_numbers; ///< by set: the values in it as a number
    std::vector<std::unordered_map<uint64_t, uint32_t>> m_counts; ///< by set: by class and number
    std::vector<std::vector<uint32_t>> m_nearest;                 ///< by place in m_rows, and slot
    std::vector<size_t> m_apart; ///< the slots in which two classes differ
    std::vector<uint32_t> m_found;
};

} // namespace

std::vector<std::vector<uint32_t>> nearestRows(std::span<const SlotCells> slots, size_t rows,
                                               const ComparableKinds& comparable) {
    return NearestRows(slots, rows, comparable).byRow();
}

} // namespace halfscope
