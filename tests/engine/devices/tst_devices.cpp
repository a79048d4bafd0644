// Which devices are found and why others are not: with real shared libraries in place of the CUDA
// module, each wrong in its own way.
#include "engine/core/error.h"
#include "engine/cuda/module_api.h"
#include "engine/devices/device_list.h"
#include "engine/train/experiment.h"
#include "tests/support/thrown.h"

#include <QCoreApplication>
#include <QDir>
#include <QFile>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#include <sys/stat.h>

using namespace halfscope;

namespace {

constexpr const char* kChildVariable = "HALFSCOPE_TEST_MODULE_BESIDE";

std::string fake(const char* name) {
    return std::string(HALFSCOPE_FAKE_MODULES) + "/libfake_" + name + ".so";
}

/// Makes every search find this module.
class ModuleByName {
public:
    explicit ModuleByName(const std::string& path) {
        qputenv("HALFSCOPE_CUDA_MODULE", QByteArray::fromStdString(path));
    }
    ~ModuleByName() { qunsetenv("HALFSCOPE_CUDA_MODULE"); }
    ModuleByName(const ModuleByName&) = delete;
    ModuleByName& operator=(const ModuleByName&) = delete;
};

/// Returns two lanes of a small network, on any device.
RunConfig smallRun() {
    RunConfig config = presetNamed("regression").config;
    config.device = "auto";
    config.threads = 1;
    return config;
}

} // namespace

class TestDevices : public QObject {
    Q_OBJECT

private slots:
    void goodModule();
    void executorOfModule();
    void unusableModule_data();
    void unusableModule();
    void folderAsModulePath();
    void unknownDevice_data();
    void unknownDevice();
    void unknownDeviceStaysOneLine();
    void absentIndex();
    void failingDevice();
    void autoTakesTheCpu_data();
    void autoTakesTheCpu();
    void secondLaneDoesNotFit();
    void oneDeviceForEachLane();
    void lostOnTheWay(); // last of those with this module: the loss of the device stays
    void besideTheProgram_data();
    void besideTheProgram();
};

void TestDevices::goodModule() {
    const DeviceList list = listDevices(fake("good"));
    QCOMPARE(list.cudaUnavailable.english(), std::string());
    QCOMPARE(list.devices.size(), size_t{3});
    QCOMPARE(list.devices[0].id, std::string("cpu"));
    QCOMPARE(list.devices[0].info.kind, std::string("cpu"));
    QCOMPARE(list.devices[1].id, std::string("cuda:0"));
    QCOMPARE(list.devices[1].info.name, std::string("Fake 0"));
    QCOMPARE(list.devices[1].info.memoryBytes, size_t{1000});
    QCOMPARE(list.devices[2].id, std::string("cuda:1"));
    QCOMPARE(list.devices[2].info.name, std::string("Fake 1"));
}

void TestDevices::executorOfModule() {
    for (const char* name : {"auto", "cuda", "cuda:0"}) {
        const std::unique_ptr<Executor> executor = makeExecutor(name, 0, fake("good"));
        QCOMPARE(executor->device().name, std::string("Fake 0"));
        executor->load(nullptr);
        executor->run(RunMode::Captured);
        executor->run(RunMode::Stepwise);
        QCOMPARE(executor->lastStepSeconds(), 2.0);
    }
    QCOMPARE(makeExecutor("cpu", 1, fake("good"))->device().kind, std::string("cpu"));
    // An error may outlive its executor: its code is in the module.
    const auto fails = [] { makeExecutor("cuda", 0, fake("good"))->upload(0, {}); };
    QCOMPARE(thrownBy<EngineError>(fails), std::string("fake device lost"));
}

void TestDevices::unusableModule_data() {
    QTest::addColumn<std::string>("path");
    QTest::addColumn<std::string>("reason");
    QTest::newRow("no device") << fake("no_device")
                               << std::string("the NVIDIA driver is too old: version 1, at least 2 "
                                              "needed");
    QTest::newRow("other version")
        << fake("wrong_abi")
        << fake("wrong_abi") + " is for another version of Halfscope (module 1, program " +
               std::to_string(kCudaModuleAbi) + ")";
    QTest::newRow("no entry") << fake("no_entry")
                              << fake("no_entry") + " is not a CUDA module of Halfscope";
    QTest::newRow("absent") << fake("absent")
                            << "CUDA module not installed: " + fake("absent") + " was not found";
    QTest::newRow("not a library")
        << std::string(HALFSCOPE_SOURCE_DIR "/CMakeLists.txt")
        << std::string("CUDA module cannot be loaded: " HALFSCOPE_SOURCE_DIR
                       "/CMakeLists.txt: invalid ELF header");
}

void TestDevices::unusableModule() {
    QFETCH(std::string, path);
    QFETCH(std::string, reason);
    const DeviceList list = listDevices(path);
    QCOMPARE(list.cudaUnavailable.english(), reason);
    QCOMPARE(list.devices.size(), size_t{1});
    QCOMPARE(makeExecutor("auto", 1, path)->device().kind, std::string("cpu"));
    for (const std::string name : {"cuda", "cuda:1"})
        QCOMPARE(thrownBy<EngineError>([&] { makeExecutor(name, 0, path); }),
                 "device " + name + " is not there: " + reason);
}

void TestDevices::folderAsModulePath() {
    QTemporaryDir folder;
    QVERIFY(folder.isValid());
    const std::string missing = folder.path().toStdString();
    QCOMPARE(listDevices(missing).cudaUnavailable.english(),
             "CUDA module not installed: " + missing + " was not found");
    QVERIFY(
        QFile::copy(QString::fromStdString(fake("good")), folder.filePath("libhalfscope_cuda.so")));
    QCOMPARE(listDevices(missing).devices.size(), size_t{3});
}

void TestDevices::unknownDevice_data() {
    QTest::addColumn<std::string>("name");
    for (const char* name : {"", "gpu", "CPU", "cuda:", "cuda:-1", "cuda:1x", "cuda: 1", "cuda:+1",
                             "cuda1", "cuda:99999999999"})
        QTest::newRow(name) << std::string(name);
}

void TestDevices::unknownDevice() {
    QFETCH(std::string, name);
    QCOMPARE(thrownBy<InputError>([&] { makeExecutor(name, 0, fake("good")); }),
             "device: \"" + name + "\" is not known; allowed are auto, cpu, cuda and cuda:<index>");
}

void TestDevices::unknownDeviceStaysOneLine() {
    const std::string message = thrownBy<InputError>([] { makeExecutor("c\npu\x1b[2J"); });
    QVERIFY2(message.starts_with("device: \"c\\npu\\u001b[2J\" is not known"), message.c_str());
}

void TestDevices::absentIndex() {
    QCOMPARE(thrownBy<EngineError>([] { makeExecutor("cuda:2", 0, fake("good")); }),
             std::string("device cuda:2 does not exist: this machine has cuda:0 to cuda:1"));
}

void TestDevices::failingDevice() {
    QCOMPARE(thrownBy<EngineError>([] { makeExecutor("cuda:1", 0, fake("good")); }),
             std::string("Fake 1: out of memory"));
}

void TestDevices::autoTakesTheCpu_data() {
    QTest::addColumn<std::string>("module");
    QTest::addColumn<std::string>("reason");
    QTest::newRow("none") << std::string("no_device")
                          << std::string("the NVIDIA driver is too old: version 1, at least 2 "
                                         "needed");
    QTest::newRow("busy") << std::string("busy") << std::string("cuda:0 (Fake 0) is busy");
    QTest::newRow("full")
        << std::string("full")
        << std::string("cuda:0 (Fake 0), arena: 3.2 GiB needed, 1.1 GiB free (out of memory)");
}

// Runs a whole experiment: when the device is left open it runs on the CPU and says why; when CUDA
// is asked for it does not start.
void TestDevices::autoTakesTheCpu() {
    QFETCH(std::string, module);
    QFETCH(std::string, reason);
    const ModuleByName named(fake(module.c_str()));
    RunConfig config = smallRun();
    Experiment experiment(config);
    QCOMPARE(experiment.device().kind, std::string("cpu"));
    QCOMPARE(experiment.lane(1).device().kind, std::string("cpu"));
    QCOMPARE(experiment.cudaReason().english(), reason);
    std::vector<StepRecord> records;
    std::vector<Event> events;
    QVERIFY(experiment.advance(records, events));
    config.device = "cuda";
    const std::string words = thrownBy<EngineError>([&] { Experiment again(config); });
    QVERIFY2(words.ends_with(reason), words.c_str());
    config.device = "cpu";
    QVERIFY(Experiment(config).cudaReason().empty());
}

// One lane was made on the device and is given up together with it.
void TestDevices::secondLaneDoesNotFit() {
    const ModuleByName named(fake("small"));
    Experiment experiment(smallRun());
    QVERIFY2(experiment.cudaReason().english().find("2 lanes need") != std::string::npos,
             experiment.cudaReason().english().c_str());
    QCOMPARE(experiment.lanes(), 2);
    std::vector<StepRecord> records;
    std::vector<Event> events;
    QVERIFY(experiment.advance(records, events));
    QCOMPARE(records.size(), size_t{2});
    for (int lane = 0; lane < 2; ++lane) {
        QCOMPARE(experiment.lane(lane).device().kind, std::string("cpu"));
        QCOMPARE(records[static_cast<size_t>(lane)].lane, lane);
    }
}

// The device fails in the first step: the run ends with its message, and a new run uses the CPU.
void TestDevices::lostOnTheWay() {
    const ModuleByName named(fake("lost"));
    const RunConfig config = smallRun();
    std::vector<StepRecord> records;
    std::vector<Event> events;
    {
        Experiment experiment(config);
        QCOMPARE(experiment.device().kind, std::string("cuda"));
        QVERIFY(experiment.cudaReason().empty());
        QCOMPARE(thrownBy<EngineError>([&] { experiment.advance(records, events); }),
                 std::string("cuda:0 (Fake 0) failed"));
        QVERIFY(records.empty());
    }
    Experiment again(config);
    QCOMPARE(again.device().kind, std::string("cpu"));
    QCOMPARE(again.cudaReason().english(), std::string("cuda:0 (Fake 0) failed"));
    QVERIFY(again.advance(records, events));
    QCOMPARE(records.size(), size_t{2});
}

void TestDevices::oneDeviceForEachLane() {
    const auto lanes = [](const char* devices) {
        std::string text;
        for (int lane = 0; lane < 5; ++lane)
            text += deviceOfLane(devices, lane) + " ";
        return text;
    };
    QCOMPARE(lanes("auto"), std::string("auto auto auto auto auto "));
    QCOMPARE(lanes("cuda:0,cuda:1"), std::string("cuda:0 cuda:1 cuda:0 cuda:1 cuda:0 "));
    QCOMPARE(lanes("cpu,cuda:2,cuda"), std::string("cpu cuda:2 cuda cpu cuda:2 "));
    const ModuleByName named(fake("lost"));
    RunConfig config = smallRun();
    config.device = "cpu,cuda:0";
    Experiment experiment(config);
    QCOMPARE(experiment.lane(0).device().kind, std::string("cpu"));
    QCOMPARE(experiment.lane(1).device().name, std::string("Fake 0"));
    config.device = "cpu,cuda:1";
    QCOMPARE(thrownBy<EngineError>([&] { Experiment other(config); }),
             std::string("Fake 1: out of memory"));
}

void TestDevices::besideTheProgram_data() {
    QTest::addColumn<QString>("program");
    QTest::addColumn<QString>("module");
    QTest::addColumn<unsigned>("mode"); // permissions of the module's folder
    QTest::addColumn<QString>("reason");
    const QString missing =
        "CUDA module not installed: libhalfscope_cuda.so was not found next to the program";
    const QString everyone = "everyone may write there";
    QTest::newRow("installed") << "."
                               << "." << 0755U << "";
    QTest::newRow("missing") << "."
                             << "" << 0755U << missing;
    QTest::newRow("in lib") << "bin"
                            << "lib" << 0755U << "";
    QTest::newRow("in a folder of lib") << "bin"
                                        << "lib/halfscope" << 0755U << "";
    QTest::newRow("in a strange lib") << "anywhere"
                                      << "lib" << 0755U << missing;
    QTest::newRow("in everyone's lib") << "bin"
                                       << "lib" << 0777U << everyone;
    QTest::newRow("in everyone's folder") << "."
                                          << "." << 0777U << everyone;
}

// Runs a copy of this program, with and without a module beside it; the copy runs this function,
// too.
void TestDevices::besideTheProgram() {
    QFETCH(QString, program);
    QFETCH(QString, module);
    QFETCH(unsigned, mode);
    QFETCH(QString, reason);
    const QByteArray role = qgetenv(kChildVariable);
    if (!role.isEmpty()) {
        const DeviceList list = listDevices();
        const QString why = QString::fromStdString(list.cudaUnavailable.english());
        QVERIFY2(reason.isEmpty() ? why.isEmpty() : why.endsWith(reason), qPrintable(why));
        QCOMPARE(list.devices.size(), size_t{reason.isEmpty() ? 3U : 1U});
        return;
    }
    QTemporaryDir folder;
    QVERIFY(folder.isValid());
    for (const QString& made : {program, module})
        QVERIFY(made.isEmpty() || QDir(folder.path()).mkpath(made));
    const QString copy = folder.filePath(program + "/tst_devices");
    QVERIFY(QFile::copy(QCoreApplication::applicationFilePath(), copy));
    if (!module.isEmpty())
        QVERIFY(QFile::copy(QString::fromStdString(fake("good")),
                            folder.filePath(module + "/libhalfscope_cuda.so")));
    QCOMPARE(chmod(qPrintable(folder.filePath(module)), mode), 0);
    QProcess child;
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.insert(kChildVariable, "1");
    child.setProcessEnvironment(environment);
    child.setProcessChannelMode(QProcess::MergedChannels);
    child.start(copy, {QString("besideTheProgram:") + QTest::currentDataTag()});
    QVERIFY(child.waitForFinished(240'000));
    const QByteArray output = child.readAll();
    QVERIFY2(child.exitStatus() == QProcess::NormalExit && child.exitCode() == 0, output);
    QVERIFY2(output.contains("PASS   : TestDevices::besideTheProgram"), output);
}

QTEST_GUILESS_MAIN(TestDevices)
#include "tst_devices.moc"
