// The list of runs after thousands of changes, beside a plain look through all entries.
#include "engine/core/philox.h"
#include "engine/runs/run_store.h"
#include "engine/settings/fields.h"

#include <QTest>

#include <algorithm>
#include <iterator>
#include <memory>

namespace tst_run_store {

using namespace halfscope;

class TestRunStore : public QObject {
    Q_OBJECT
private slots:
    void namesAndPlaces();
    void continuedRunsAreNoOthers();
};

/// A run that went on after its end has no other settings; one that was to be longer from the start
/// has.
void TestRunStore::continuedRunsAreNoOthers() {
    RunStore store;
    const auto add = [&store](int64_t steps, std::vector<LiveEdit> edits) {
        RunInfo info;
        info.config.steps = info.recorded.steps = steps;
        info.recorded.edits = std::move(edits);
        for (const LiveEdit& edit : info.recorded.edits)
            setField(info.config, edit.lane, edit.key, edit.value);
        store.add(std::make_shared<Run>(info, std::vector<LaneInfo>{{"fp32", "fp32"}}), "Run");
    };
    using Texts = std::vector<std::vector<std::string>>;
    const LiveEdit longer{.step = 301, .lane = -1, .key = "run.steps", .value = int64_t{600}};
    add(300, {});
    add(300, {longer});
    QVERIFY(store.differences() == (Texts{{}, {}}));
    add(600, {});
    QVERIFY(store.differences() == (Texts{{"steps 300"}, {"steps 300"}, {"steps 600"}}));
}

/// The smallest number and colour that are free are taken, whatever came and went before.
void TestRunStore::namesAndPlaces() {
    RunStore store;
    const Philox random(5, 0);
    const auto run = std::make_shared<Run>(RunInfo{}, std::vector<LaneInfo>{{"fp32", "fp32"}});
    const std::string names[] = {"Run", "Run (3)", "Run (03)", "Run (2) (2)", "Other", "", " (2)"};
    const auto expected = [&store](const std::string& wanted, RunId except) {
        const auto isFree = [&](const std::string& name) {
            return std::ranges::none_of(store.entries(), [&](const RunStore::Entry& each) {
                return each.id != except && each.name == name;
            });
        };
        if (isFree(wanted)) return wanted;
        const size_t bracket = wanted.rfind(" (");
        const bool numbered = bracket != wanted.npos && bracket > 0;
        int number = 2;
        const auto name = [&] {
            return wanted.substr(0, numbered ? bracket : wanted.npos) + " (" +
                   std::to_string(number) + ")";
        };
        while (!isFree(name()))
            ++number;
        return name();
    };
    for (uint64_t i = 0; i < 2000; ++i) {
        const std::string& wanted = names[random.below(3 * i, std::size(names))];
        const size_t count = store.size();
        const size_t place = count > 0 ? random.below(3 * i + 1, count) : 0;
        const RunId some = count > 0 ? store.entries()[place].id : RunId::None;
        const uint64_t what = count > 40 ? 4 : random.below(3 * i + 2, 6);
        if (what < 3) {
            const std::string name = expected(wanted, RunId::None);
            int color = 0;
            while (std::ranges::any_of(store.entries(), [color](const RunStore::Entry& each) {
                return each.color == color;
            }))
                ++color;
            const RunStore::Entry& added = *store.find(store.add(run, wanted));
            QCOMPARE(added.name, name);
            QCOMPARE(added.color, color);
        } else if (what == 3 && count > 0 && store.find(some)->name != wanted) {
            const std::string name = expected(wanted, some);
            store.rename(some, wanted);
            QCOMPARE(store.find(some)->name, name);
        } else if (what == 4) {
            store.remove(some);
            QVERIFY(!store.find(some));
        } else if (count > 0) {
            store.move(some, random.below(3 * i, count));
        }
        for (const RunStore::Entry& each : store.entries())
            QVERIFY(store.find(each.id) == &each);
    }
}

} // namespace tst_run_store

QTEST_APPLESS_MAIN(tst_run_store::TestRunStore)
#include "tst_run_store.moc"
