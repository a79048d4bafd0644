// What the list of runs tells of edits in the middle of runs.
#include "engine/settings/fields.h"
#include "ui/models/edit_differences.h"

#include <QLocale>
#include <QTest>

namespace tst_edit_differences {

using namespace halfscope;

class TestEditDifferences : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { QLocale::setDefault(QLocale::c()); }

    /// Runs with the same settings now tell which ones they had before, and nothing of edits that
    /// changed nothing.
    void whatChangedIsTold() {
        QCOMPARE(differences({{{50, 1, "scaler.growth_interval", int64_t{100}},
                               {60, 1, "scaler.growth_interval", m_interval},
                               {90, -1, "run.pace", 30.0},
                               {200, -1, "run.steps", int64_t{3000}}},
                              {{40, 1, "scaler.growth_interval", m_interval}, // as it was
                               {50, 1, "scaler.growth_interval", int64_t{70}},
                               {50, 1, "scaler.growth_interval", m_interval}, // in place of 70
                               {70, 1, std::string(kLiveScale), 1024.0}},
                              {{80, -1, "optimizer.lr", 0.25}}}),
                 (std::vector<QStringList>{
                     {"B: Growth interval set to 100 at step 50",
                      QStringLiteral("B: Growth interval set to %1 at step 60").arg(m_interval)},
                     {"B: Loss scale set to 2^10 at step 70"},
                     {"Learning rate set to 0.25 at step 80"}}));
    }

    /// A run and one that continues it do not differ in what both have.
    void whatAllHaveIsNoDifference() {
        const LiveEdit both{50, 1, "scaler.growth_interval", int64_t{100}};
        QCOMPARE(differences({{both}, {both, {80, -1, "optimizer.lr", 0.25}}}),
                 (std::vector<QStringList>{{}, {"Learning rate set to 0.25 at step 80"}}));
    }

    /// A run that repeats another one has its edits planned from the start.
    void whatIsToComeIsNotTold() {
        const std::vector<LiveEdit> planned{{50, 1, "scaler.growth_interval", int64_t{100}}};
        const QString told = "B: Growth interval set to 100 at step 50";
        QCOMPARE(differences({planned, {}}, 20), (std::vector<QStringList>{{}, {}}));
        QCOMPARE(differences({planned, {}}, 48), (std::vector<QStringList>{{}, {}}));
        // after step 49 it is made: the list of a paused run tells of it at once
        QCOMPARE(differences({planned, {}}, 49), (std::vector<QStringList>{{told}, {}}));
        RunInfo info;
        info.recorded = m_config;
        info.recorded.edits = planned;
        QCOMPARE(editsMade({&info, 48}), size_t{0});
        QCOMPARE(editsMade({&info, 49}), size_t{1});
    }

private:
    /// Returns the differences of runs of one preset with these edits, after so many steps.
    std::vector<QStringList> differences(const std::vector<std::vector<LiveEdit>>& edits,
                                         int64_t step = 300) const {
        std::vector<RunInfo> infos(edits.size());
        std::vector<EditedRun> runs;
        for (size_t i = 0; i < edits.size(); ++i) {
            infos[i].recorded = m_config;
            infos[i].recorded.edits = edits[i];
            runs.push_back({&infos[i], step});
        }
        return editDifferences(runs);
    }

    const RunConfig m_config = presetNamed("overflow").config;
    const int64_t m_interval = m_config.lanes[1].scaler.rules.growthInterval;
};

} // namespace tst_edit_differences

QTEST_APPLESS_MAIN(tst_edit_differences::TestEditDifferences)
#include "tst_edit_differences.moc"
