// The choice among ways to run a step: by the fake machine's clock, kept on disk, told.
#include "engine/core/error.h"
#include "engine/cuda/variant_records.h"
#include "tests/support/cuda_ways.h"
#include "tests/support/thrown.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <cmath>

namespace tst_cuda_variants {

using namespace halfscope;
using namespace halfscope::cuda;
using namespace halfscope::test;

class TestCudaVariants : public QObject {
    Q_OBJECT

private slots:
    void init() {
        resetFakeCuda();
        fakeCuda().launchMilliseconds = kKernel;
    }
    void cleanup() { checkFakeCuda(); }
    void theListOfWays();
    void factorsAreCollected();
    void fastestIsTaken();
    void alikeWaysKeepTheFirst();
    void clockOfAnIdleDevice();
    void trialsLeaveNothing();
    void choiceIsKept();
    void recordsOfOldPrograms();
    void lanesOfOneDeviceAgree();
    void namedByTheEnvironment();
    void partsGiveTheSameStep();
    void oneWayIsNotTimed();
    void withoutSearch();
    void profileOfLaunches();
    void debugFolder();
    void debugFolderHasTheCode();
};

void TestCudaVariants::theListOfWays() {
    const std::vector<Variant> variants = variantsOf(options(), 90);
    QCOMPARE(variants.front().name, std::string(kFirst));
    QCOMPARE(variantsOf(options(), 89).front().name, std::string("collected and lean"));
    const auto isTried = [](const Variant& each) { return !each.lastResort; };
    QVERIFY(std::is_partitioned(variants.begin(), variants.end(), isTried));
    QCOMPARE(std::count_if(variants.begin(), variants.end(), isTried), std::ptrdiff_t{2});
    for (const Variant& variant : variants) {
        QCOMPARE(variant.options.chainElements, int64_t{1});
        QVERIFY(variant.name.find('|') == std::string::npos); // ends a name on disk
        QVERIFY(variant.name.find(',') == std::string::npos); // ends a name in a list
    }
    const auto byWarpgroups = [](int capability) {
        const std::vector<Variant> all = variantsOf(options(), capability);
        return std::count_if(all.begin(), all.end(),
                             [](const Variant& each) { return each.options.chainWay.warpgroups; });
    };
    QCOMPARE(byWarpgroups(90), std::ptrdiff_t{1});
    for (const int other : {80, 89, 100, 120})
        QCOMPARE(byWarpgroups(other), std::ptrdiff_t{0});
    SourceOptions unfused;
    unfused.chains = Chains::Unfused;
    QCOMPARE(variantsOf(unfused, 90).size(), size_t{1});
}

/// A factor put together for a column.
void TestCudaVariants::factorsAreCollected() {
    const auto hasFactor = [](ElementForm form) {
        SourceOptions how = options();
        how.chainWay.form = form;
        return has(writeStep(*chained().program, {.sharedBytes = 232448}, how).text, "float g0;");
    };
    QVERIFY(!hasFactor(ElementForm::AsWritten));
    QVERIFY(hasFactor(ElementForm::Collected));
}

void TestCudaVariants::fastestIsTaken() {
    makeOtherFast();
    Machine machine;
    machine.load();
    QCOMPARE(chosenOf(*machine.executor), std::string(kOther));
    QVERIFY(isOtherWay(machine.executor->sourceText()));
    const VariantTime first = variantOf(*machine.executor, kFirst),
                      other = variantOf(*machine.executor, kOther);
    QVERIFY(other.seconds > 0 && first.seconds > other.seconds);
    QVERIFY(first.note.empty() && other.note.empty());
}

/// Ways that are alike must not take turns from start to start, since their bits differ: a few
/// percent are no reason to leave the first one.
void TestCudaVariants::alikeWaysKeepTheFirst() {
    const auto searched = [](double low) {
        fakeCuda().millisecondsOf = [low](const std::string& text, const std::string&) {
            return isOtherWay(text) ? low * kKernel : isFirstWay(text) ? kKernel : 0;
        };
        fakeCuda().launchMilliseconds = 0; // the library's products take no time
        Machine machine;
        machine.load();
        return machine.executor->variants();
    };
    const std::vector<VariantTime> alike = searched(1);
    const double equal = alike.at(0).seconds / alike.at(1).seconds; // they have other launches
    const auto chosenWhere = [&](double low) {
        std::string chosen;
        for (const VariantTime& variant : searched(low * equal))
            if (variant.chosen) chosen += variant.name;
        return chosen;
    };
    QCOMPARE(chosenWhere(0.98), std::string(kFirst));
    QCOMPARE(chosenWhere(0.95), std::string(kOther));
}

/// An idle device runs slower at first: that speaks for none that is tried later.
void TestCudaVariants::clockOfAnIdleDevice() {
    int launches = 0;
    fakeCuda().launchMilliseconds = 2 * kKernel;
    fakeCuda().watch = [&](const std::string& function) {
        if (function == "cuGraphLaunch" && ++launches == 4) fakeCuda().launchMilliseconds = kKernel;
    };
    Machine machine;
    machine.load();
    fakeCuda().watch = {};
    const double first = variantOf(*machine.executor, kFirst).seconds;
    QVERIFY(std::abs(first - 1e-3 * kKernel * launchesOf(only(kFirst))) < 1e-6);
}

void TestCudaVariants::trialsLeaveNothing() {
    Machine wanted({}, only(kOther));
    wanted.load();
    const size_t used = fakeCuda().used;
    const auto truth = wanted.step();

    makeOtherFast();
    Machine machine;
    machine.load();
    QCOMPARE(fakeCuda().used, 2 * used); // nothing of the others
    for (const StateInfo& state : chained().graph().states())
        for (const float value : downloadFloats(*machine.executor, chained().graph(), state.node))
            QCOMPARE(value, 0.0f);
    QVERIFY(machine.step() == truth);
    QCOMPARE(machine.executor->lastStepSeconds() > 0, true);
}

void TestCudaVariants::choiceIsKept() {
    makeOtherFast();
    QTemporaryDir folder;
    const std::string cache = folder.path().toStdString();
    std::vector<VariantTime> first;
    {
        Machine machine(cache);
        machine.load();
        first = machine.executor->variants();
    }
    fakeCuda().millisecondsOf = {}; // nobody looks at the clock again
    fakeCuda().calls.clear();
    const int compiled = fakeCuda().compiled;
    {
        Machine machine(cache);
        machine.load();
        QCOMPARE(chosenOf(*machine.executor), std::string(kOther));
        QCOMPARE(machine.executor->variants().size(), first.size());
        QCOMPARE(variantOf(*machine.executor, kFirst).seconds, first[0].seconds);
        QCOMPARE(fakeCuda().compiled, compiled);
        QCOMPARE(fakeCuda().calls["cuModuleLoadData"], 1);
        QCOMPARE(fakeCuda().calls["cuGraphLaunch"], 0);
    }
    fakeCuda().gpus[0].name = "Another GPU";
    fakeCuda().millisecondsOf = [](const std::string& text, const std::string&) {
        return isFirstWay(text) ? 0.1 * kKernel : kKernel;
    };
    Machine machine(cache);
    machine.load();
    QVERIFY(fakeCuda().calls["cuModuleLoadData"] > 2);
    QCOMPARE(chosenOf(*machine.executor), std::string(kFirst));
}

/// Files of other programs, which have names and lines that this one does not know.
void TestCudaVariants::recordsOfOldPrograms() {
    QTemporaryDir folder;
    const FileCache cache(folder.path().toStdString());
    Platform platform(fakeCuda().api());
    const auto device = platform.open(0);
    VariantRecords records(*device, cache);
    cache.put("old", "usual|0.5|1|0|\nother|0.75|0|0|\nmixed tiles|0.25|1|0|12:64\n");
    records.read("old", {"usual", "other"});
    QCOMPARE(records.chosen(), size_t{0});
    QCOMPARE(records.times().size(), size_t{2});
    cache.put("strange", "usual\n|||||\n3|x|1\nother|1|\nusual|y|2|-|\n");
    records.read("strange", {"usual", "other"});
    QVERIFY(records.chosen() >= 2); // none
    records.read("new", {"usual", "other"});
    records[1].time.seconds = 0.5;
    records.choose(records[1]);
    records.finish();
    VariantRecords again(*device, cache);
    again.read("new", {"usual", "other"});
    QCOMPARE(again.chosen(), size_t{1});
    QCOMPARE(again.times().back().seconds, 0.5);
}

/// Without a disk too: other bits in the second lane of the same step would be no comparison.
void TestCudaVariants::lanesOfOneDeviceAgree() {
    makeOtherFast();
    Machine machine;
    machine.load();
    fakeCuda().millisecondsOf = {};
    fakeCuda().calls.clear();
    const auto second = fakeExecutor(machine.platform, options());
    second->load(chained().program);
    QCOMPARE(chosenOf(*second), std::string(kOther));
    QCOMPARE(fakeCuda().calls["cuModuleLoadData"], 1);
}

void TestCudaVariants::namedByTheEnvironment() {
    qputenv("HALFSCOPE_CUDA_VARIANT", "unfused");
    Machine machine;
    machine.load();
    QVERIFY(machine.executor->variants().empty());
    QVERIFY(!has(machine.executor->sourceText(), "kTileM = "));
    QCOMPARE(variantsOf(options(), 90).size(), size_t{1});
    QCOMPARE(variantsOf(options(), 90).front().name, std::string("unfused"));
    qputenv("HALFSCOPE_CUDA_VARIANT", "fast");
    const std::string words = thrownBy<EngineError>([&] { machine.load(); });
    qunsetenv("HALFSCOPE_CUDA_VARIANT");
    QVERIFY2(words.starts_with(
                 "HALFSCOPE_CUDA_VARIANT: \"fast\" is not one of the ways to run a step: "
                 "collected and lean by warpgroups, sums alone, operands computed again, unfused"),
             words.c_str());
}

/// A step whose text is cut into as many parts as it has launches.
void TestCudaVariants::partsGiveTheSameStep() {
    SourceOptions how = options();
    how.searchSeconds = 0;
    Machine whole({}, how);
    whole.load();
    QCOMPARE(fakeCuda().calls["cuModuleLoadData"], 1);
    how.partBytes = 1;
    Machine parts({}, how);
    parts.load();
    QVERIFY(fakeCuda().calls["cuModuleLoadData"] >= 8);
    QVERIFY(parts.executor->sourceText() == whole.executor->sourceText());
    QVERIFY(parts.step() == whole.step());
}

void TestCudaVariants::oneWayIsNotTimed() {
    Machine machine({}, oneWay());
    machine.load();
    QVERIFY(machine.executor->variants().empty());
    QCOMPARE(fakeCuda().calls["cuModuleLoadData"], 1);
}

void TestCudaVariants::withoutSearch() {
    makeOtherFast();
    SourceOptions usual = options();
    usual.searchSeconds = 0;
    Machine machine({}, usual);
    machine.load();
    QVERIFY(machine.executor->variants().empty());
    QVERIFY(!isOtherWay(machine.executor->sourceText()));
    QCOMPARE(fakeCuda().calls["cuModuleLoadData"], 1);
}

void TestCudaVariants::profileOfLaunches() {
    Machine machine;
    QVERIFY(has(thrownBy<std::logic_error>([&] { (void)machine.executor->profile(); }),
                "no program is loaded"));
    machine.load();
    const auto before = machine.step();
    const std::vector<LaunchTime> times = machine.executor->profile();
    machine.executor->load(chained().program);
    chained().upload(*machine.executor);
    machine.executor->run(RunMode::Stepwise);
    const std::vector<LaunchTime> single = machine.executor->launchTimes();
    QCOMPARE(times.size(), single.size());
    double flops = 0;
    for (size_t i = 0; i < times.size(); ++i) {
        QCOMPARE(times[i].what, single[i].what);
        QVERIFY(std::abs(times[i].seconds - 1e-3 * kKernel) < 1e-9);
        QVERIFY(times[i].bytes > 0 || has(times[i].what, "copies"));
        QCOMPARE(times[i].bytes, single[i].bytes);
        QCOMPARE(times[i].registers, 64);
        QCOMPARE(times[i].localBytes, 16);
        flops += times[i].flops;
    }
    QVERIFY(flops >= 2 * 128 * 16 * 16 * 3); // a hidden layer's three products
    machine.load();                          // the values were worthless
    QVERIFY(machine.step() == before);
}

void TestCudaVariants::debugFolder() {
    QTemporaryDir folder;
    const auto kept = [&](const char* name) {
        QFile file(folder.filePath(name));
        return file.open(QIODevice::ReadOnly) ? file.readAll().toStdString() : "no file";
    };
    SourceOptions usual = options();
    usual.searchSeconds = 0;
    const int launches = launchesOf(usual);
    qputenv("HALFSCOPE_CUDA_DEBUG", folder.path().toUtf8());
    {
        Machine machine({}, usual);
        machine.load();
        QCOMPARE(kept("step.cu"), machine.executor->sourceText());
        QVERIFY2(has(kept("step.txt"), " launches, about "), kept("step.txt").c_str());
        QCOMPARE(kept("launch.txt"), std::string("none is running\n"));
        const auto& compiled = fakeCuda().compileOptions;
        QVERIFY(std::find(compiled.begin(), compiled.end(), "-lineinfo") != compiled.end());
        fakeCuda().calls.clear();
        machine.executor->run(RunMode::Captured);
        QCOMPARE(fakeCuda().calls["cuGraphLaunch"], 0);
        QVERIFY(fakeCuda().calls["cuStreamSynchronize"] >= launches - 1); // but for the metrics'
        fakeCuda().fault = {"cuStreamSynchronize", fakeCuda().calls["cuStreamSynchronize"] + 3,
                            CUDA_ERROR_ILLEGAL_ADDRESS};
        const std::string words =
            thrownBy<EngineError>([&] { machine.executor->run(RunMode::Captured); });
        const std::string at = kept("launch.txt");
        QVERIFY2(at.starts_with("launch 2 of " + std::to_string(launches - 1) + ", launch2: "),
                 at.c_str());
        const std::string what = at.substr(at.find(": ") + 2, at.find('\n') - at.find(": ") - 2);
        QVERIFY2(has(words, what.c_str()), words.c_str());
    }
    init();
    fakeCuda().compile = [](std::string&) { return NVRTC_ERROR_COMPILATION; };
    Machine machine({}, usual);
    QVERIFY(has(thrownBy<EngineError>([&] { machine.load(); }), "do not compile"));
    qunsetenv("HALFSCOPE_CUDA_DEBUG");
    QVERIFY(has(kept("failed.log"), "identifier \"nothing\" is undefined"));
    QCOMPARE(kept("failed.cu"), kept("step.cu"));
}

/// Each way's text with its machine code and PTX, also where a cache has them already.
void TestCudaVariants::debugFolderHasTheCode() {
    QTemporaryDir cache;
    for (const int program : {0, 1}) {
        QTemporaryDir folder;
        qputenv("HALFSCOPE_CUDA_DEBUG", folder.path().toUtf8());
        fakeCuda().compiled = 0;
        Machine machine(cache.path().toStdString());
        machine.load();
        qunsetenv("HALFSCOPE_CUDA_DEBUG");
        QCOMPARE(fakeCuda().compiled == 0, program == 1);
        QFile ways(folder.filePath("ways.txt"));
        QVERIFY(ways.open(QIODevice::ReadOnly));
        const QStringList lines = QString(ways.readAll()).split('\n', Qt::SkipEmptyParts);
        QVERIFY(program == 1 || lines.size() == 2);
        bool found = false;
        for (const QString& line : lines) {
            const QString name = line.section("  ", 0, 0);
            QFile text(folder.filePath(name + ".cu")), code(folder.filePath(name + ".cubin")),
                ptx(folder.filePath(name + ".ptx"));
            QVERIFY2(text.open(QIODevice::ReadOnly) && code.open(QIODevice::ReadOnly) &&
                         ptx.open(QIODevice::ReadOnly),
                     qPrintable(line));
            const QByteArray written = text.readAll();
            // as the fake compiler makes it: a mark and the text
            QVERIFY(code.readAll().contains(written) && ptx.readAll().contains(written));
            found = found || written.toStdString() == machine.executor->sourceText();
        }
        QVERIFY(found);
    }
}

} // namespace tst_cuda_variants

QTEST_GUILESS_MAIN(tst_cuda_variants::TestCudaVariants)
#include "tst_cuda_variants.moc"
