// Walks through the units: wide units that are ready share a launch, with the small units that the
// next wide ones wait for; all others ride beside them or end the step.
#include "engine/cuda/codegen/schedule.h"

#include "engine/core/error.h"
#include "engine/cuda/codegen/stage.h"

#include <algorithm>
#include <map>

namespace halfscope::cuda {

namespace {

class Scheduler {
public:
    Scheduler(const std::vector<Unit>& units, const std::vector<std::vector<size_t>>& before,
              const CostModel& cost)
        : m_units(units), m_before(before), m_cost(cost), m_done(units.size(), false) {}

    std::vector<PlannedLaunch> run() {
        for (m_left = m_units.size(); m_left > 0;) {
            const std::vector<size_t> ready = readyWide();
            const auto alone = std::find_if(ready.begin(), ready.end(),
                                            [&](size_t unit) { return m_units[unit].alone; });
            if (alone != ready.end())
                launchAlone(*alone);
            else
                launchStage(ready);
        }
        return std::move(m_launches);
    }

private:
    using Flags = std::vector<bool>;

    bool allIn(const Flags& there, size_t unit) const {
        return std::all_of(m_before[unit].begin(), m_before[unit].end(),
                           [&](size_t other) { return there[other]; });
    }
    std::vector<size_t> readyWide() const {
        std::vector<size_t> ready;
        for (size_t unit = 0; unit < m_units.size(); ++unit)
            if (m_units[unit].wide && !m_done[unit] && allIn(m_done, unit)) ready.push_back(unit);
        return ready;
    }
    /// Returns the small units that can run one after another once `there` is done, and adds them
    /// to `there`.
    template <class Wanted>
    std::vector<size_t> closure(Flags& there, Wanted wanted) const {
        std::vector<size_t> found;
        for (size_t unit = 0; unit < m_units.size(); ++unit) {
            if (there[unit] || m_units[unit].wide || !wanted(unit) || !allIn(there, unit)) continue;
            there[unit] = true;
            found.push_back(unit);
        }
        return found;
    }

    /// Returns the small units that must run after `wide` before the next wide units can; all that
    /// are left when there is no next one.
    std::vector<size_t> urgentAfter(const std::vector<size_t>& wide) const {
        Flags there = m_done;
        for (size_t unit : wide)
            there[unit] = true;
        std::vector<size_t> small = closure(there, [](size_t) { return true; });
        Flags needed(m_units.size(), false);
        bool isLast = true;
        for (size_t unit = m_units.size(); unit-- > 0;) {
            const bool next = m_units[unit].wide && !there[unit] && allIn(there, unit);
            isLast = isLast && !next;
            if (!next && !needed[unit]) continue;
            for (size_t other : m_before[unit])
                needed[other] = true;
        }
        if (!isLast) std::erase_if(small, [&](size_t unit) { return !needed[unit]; });
        return small;
    }

    void launchStage(const std::vector<size_t>& wide) {
        std::vector<size_t> members = urgentAfter(wide);
        Flags reserved(m_units.size(), false);
        for (size_t unit : members)
            reserved[unit] = true;
        members.insert(members.end(), wide.begin(), wide.end());
        std::sort(members.begin(), members.end());
        require(!members.empty(), "cuda: the launch plan does not get on");
        for (PlannedLaunch& launch : Stage(m_units, m_before, m_cost, members).launches()) {
            addRiders(launch, reserved);
            emit(std::move(launch));
        }
    }

    /// Adds small units that nothing waits for yet beside a launch that takes as long anyway.
    void addRiders(PlannedLaunch& launch, const Flags& reserved) {
        const double budget = std::max(launch.microseconds - m_cost.launch, m_cost.launch);
        std::map<size_t, size_t> chainOf; ///< by unit
        std::vector<std::vector<size_t>> chains;
        std::vector<double> time;
        Flags there = m_done;
        for (size_t unit = 0; unit < m_units.size(); ++unit) {
            if (there[unit] || m_units[unit].wide || reserved[unit] || !allIn(there, unit))
                continue;
            double sum = m_cost.narrow(m_units[unit]);
            std::vector<size_t> joined;
            for (size_t other : m_before[unit])
                if (const auto found = chainOf.find(other); found != chainOf.end())
                    if (std::find(joined.begin(), joined.end(), found->second) == joined.end()) {
                        joined.push_back(found->second);
                        sum += time[found->second];
                    }
            if (sum > budget) continue;
            there[unit] = true;
            std::vector<size_t> chain;
            for (size_t from : joined) {
                chain.insert(chain.end(), chains[from].begin(), chains[from].end());
                chains[from].clear();
            }
            chain.push_back(unit);
            for (size_t each : chain)
                chainOf[each] = chains.size();
            chains.push_back(std::move(chain));
            time.push_back(sum);
        }
        for (std::vector<size_t>& chain : chains) {
            if (chain.empty()) continue;
            std::sort(chain.begin(), chain.end());
            launch.heads.push_back(strandOf(chain, m_before));
        }
    }

    /// Launches one large unit, beside it what is light, and after it what is light and needed
    /// next.
    void launchAlone(size_t unit) {
        PlannedLaunch launch;
        launch.kind = m_units[unit].kind;
        launch.heads.push_back({{{unit}}});
        launch.microseconds = m_cost.launch + m_cost.of(m_units[unit]);
        if (launch.kind != LaunchKind::Generated) {
            emit(std::move(launch));
            return;
        }
        Flags reserved(m_units.size(), false);
        for (size_t other = 0; other < m_units.size(); ++other)
            reserved[other] = !m_units[other].light;
        addRiders(launch, reserved);
        emit(std::move(launch));
        const std::vector<size_t> urgent = urgentAfter({});
        Flags there = m_done;
        const std::vector<size_t> after = closure(there, [&](size_t other) {
            return m_units[other].light && std::binary_search(urgent.begin(), urgent.end(), other);
        });
        if (after.empty()) return;
        PlannedLaunch& last = m_launches.back();
        last.tail = strandOf(after, m_before);
        last.microseconds += m_cost.ticket;
        for (size_t other : after)
            last.microseconds += m_cost.narrow(m_units[other]);
        finish(last.tail);
    }

    void emit(PlannedLaunch launch) {
        for (const Strand& head : launch.heads)
            finish(head);
        finish(launch.tail);
        m_launches.push_back(std::move(launch));
    }

    void finish(const Strand& strand) {
        for (const auto& phase : strand.phases)
            for (size_t unit : phase) {
                m_done[unit] = true;
                --m_left;
            }
    }

    const std::vector<Unit>& m_units;
    const std::vector<std::vector<size_t>>& m_before;
    const CostModel& m_cost;
    Flags m_done;
    size_t m_left = 0;
    std::vector<PlannedLaunch> m_launches;
};

} // namespace

std::vector<PlannedLaunch> scheduleOneByOne(const std::vector<Unit>& units, const CostModel& cost) {
    std::vector<PlannedLaunch> launches;
    for (size_t unit = 0; unit < units.size(); ++unit)
        launches.push_back(
            {units[unit].kind, {{{{unit}}}}, {}, cost.launch + cost.of(units[unit])});
    return launches;
}

std::vector<PlannedLaunch> scheduleMerged(const std::vector<Unit>& units,
                                          const std::vector<std::vector<size_t>>& before,
                                          const CostModel& cost) {
    return Scheduler(units, before, cost).run();
}

} // namespace halfscope::cuda
