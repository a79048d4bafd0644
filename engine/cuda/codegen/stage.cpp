// Cuts a stage into launches: the cheapest sequence over all cuts of its levels.
#include "engine/cuda/codegen/stage.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

namespace halfscope::cuda {

namespace {
constexpr double kNever = std::numeric_limits<double>::infinity();
} // namespace

Strand strandOf(const std::vector<size_t>& units, const std::vector<std::vector<size_t>>& before) {
    std::map<size_t, size_t> level;
    Strand strand;
    for (size_t unit : units) {
        size_t mine = 0;
        for (size_t other : before[unit])
            if (const auto found = level.find(other); found != level.end())
                mine = std::max(mine, found->second + 1);
        level[unit] = mine;
        if (strand.phases.size() <= mine) strand.phases.resize(mine + 1);
        strand.phases[mine].push_back(unit);
    }
    return strand;
}

/// Tells which members must share a block because one waits for another, while members are added in
/// the order of their levels.
class Stage::Components {
public:
    explicit Components(const Stage& stage) : m_stage(stage), m_parent(stage.m_units.size()) {}

    void add(size_t unit, size_t firstLevel) {
        m_parent[unit] = unit;
        m_time[unit] = m_stage.m_cost.of(m_stage.m_units[unit]);
        m_wide[unit] = m_stage.m_units[unit].wide;
        longest = std::max(longest, m_time[unit]);
        for (size_t other : m_stage.m_before[unit])
            if (m_stage.inLevels(other, firstLevel, m_stage.m_levels.size())) join(other, unit);
    }
    size_t root(size_t unit) {
        while (m_parent[unit] != unit)
            unit = m_parent[unit] = m_parent[m_parent[unit]];
        return unit;
    }

    double longest = 0; ///< kNever once a wide unit would have to share a block

private:
    void join(size_t a, size_t b) {
        a = root(a);
        b = root(b);
        if (a == b) return;
        if (m_wide[a] || m_wide[b]) longest = kNever;
        m_parent[b] = a;
        m_time[a] += m_time[b];
        longest = std::max(longest, m_time[a]);
    }

    const Stage& m_stage;
    std::vector<size_t> m_parent;
    std::map<size_t, double> m_time;
    std::map<size_t, bool> m_wide;
};

Stage::Stage(const std::vector<Unit>& units, const std::vector<std::vector<size_t>>& before,
             const CostModel& cost, const std::vector<size_t>& members)
    : m_units(units), m_before(before), m_cost(cost), m_members(members),
      m_level(units.size(), -1) {
    findLevels();
}

void Stage::findLevels() {
    for (size_t unit : m_members) {
        int mine = 0;
        for (size_t other : m_before[unit])
            mine = std::max(mine, m_level[other] + 1);
        m_level[unit] = mine;
        if (m_levels.size() <= static_cast<size_t>(mine))
            m_levels.resize(static_cast<size_t>(mine) + 1);
        m_levels[static_cast<size_t>(mine)].push_back(unit);
    }
}

bool Stage::inLevels(size_t unit, size_t first, size_t end) const {
    const int level = m_level[unit];
    return level >= static_cast<int>(first) && level < static_cast<int>(end);
}

/// Returns what a level costs in one block; kNever when it has a wide unit.
double Stage::chainTime(size_t level) const {
    double sum = 0;
    for (size_t unit : m_levels[level])
        sum += m_units[unit].wide ? kNever : m_cost.narrow(m_units[unit]);
    return sum;
}

std::vector<Stage::Cut> Stage::cheapestCuts() const {
    const size_t n = m_levels.size();
    std::vector<double> chain(n), best(n + 1, kNever);
    for (size_t level = 0; level < n; ++level)
        chain[level] = chainTime(level);
    std::vector<Cut> last(n + 1);
    best[0] = 0;
    for (size_t first = 0; first < n; ++first) {
        if (best[first] == kNever) continue;
        const auto offer = [&](size_t split, size_t end, double time) {
            if (best[first] + m_cost.launch + time >= best[end]) return;
            best[end] = best[first] + m_cost.launch + time;
            last[end] = {first, split, end, m_cost.launch + time};
        };
        double sum = 0;
        for (size_t end = first + 1; end <= n && sum != kNever; ++end)
            offer(first, end, sum += chain[end - 1]);
        Components components(*this);
        for (size_t split = first + 1; split <= n; ++split) {
            for (size_t unit : m_levels[split - 1])
                components.add(unit, first);
            if (components.longest == kNever) break;
            offer(split, split, components.longest);
            double time = components.longest + m_cost.ticket;
            for (size_t end = split + 1; end <= n && time != kNever; ++end)
                offer(split, end, time += chain[end - 1]);
        }
    }
    std::vector<Cut> cuts;
    for (size_t end = n; end > 0; end = last[end].first)
        cuts.push_back(last[end]);
    std::reverse(cuts.begin(), cuts.end());
    return cuts;
}

PlannedLaunch Stage::launchOf(const Cut& cut) const {
    PlannedLaunch launch;
    launch.microseconds = cut.microseconds;
    std::vector<size_t> chained;
    Components components(*this);
    std::map<size_t, std::vector<size_t>> heads; ///< by the component's first member
    for (size_t level = cut.first; level < cut.split; ++level)
        for (size_t unit : m_levels[level])
            components.add(unit, cut.first);
    for (size_t unit : m_members) {
        if (inLevels(unit, cut.first, cut.split)) heads[components.root(unit)].push_back(unit);
        if (inLevels(unit, cut.split, cut.end)) chained.push_back(unit);
    }
    if (heads.empty()) {
        launch.heads.push_back(strandOf(chained, m_before));
        return launch;
    }
    for (const auto& [root, units] : heads)
        launch.heads.push_back(strandOf(units, m_before));
    if (!chained.empty()) launch.tail = strandOf(chained, m_before);
    return launch;
}

std::vector<PlannedLaunch> Stage::launches() const {
    std::vector<PlannedLaunch> list;
    for (const Cut& cut : cheapestCuts())
        list.push_back(launchOf(cut));
    return list;
}

} // namespace halfscope::cuda
