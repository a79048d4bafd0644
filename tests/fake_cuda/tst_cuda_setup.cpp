// What comes before a step on CUDA: the code that the compiler is asked for, caches of it on disk,
// the search for libraries, the built module itself. Real NVRTC where there is one, else fakes.
#include "engine/core/error.h"
#include "engine/cuda/compiler.h"
#include "engine/cuda/library.h"
#include "engine/devices/device_list.h"
#include "engine/step/step_graph.h"
#include "tests/emulator/compiled_text.h"
#include "tests/support/cuda_lane.h"
#include "tests/support/thrown.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <filesystem>

#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tst_cuda_setup {

using namespace halfscope;
using namespace halfscope::cuda;
using test::fakeCuda;

class TestCudaSetup : public QObject {
    Q_OBJECT

private slots:
    void init() { test::resetFakeCuda(); }
    void cleanup() { test::checkFakeCuda(); }
    void codeForTheDevice_data();
    void codeForTheDevice();
    void compilerErrors();
    void realCompiler_data();
    void realCompiler();
    void partsOfALargeStep();
    void cacheOfCode();
    void cacheFile_data();
    void cacheFile();
    void cacheOfOthers_data();
    void cacheOfOthers();
    void cacheStaysSmall();
    void searchOfLibraries();
    void foldersThatCannotBeListed_data();
    void foldersThatCannotBeListed();
    void librariesOfPython();
    void driverOfAnotherVersion();
    void versionsOfLibraries();
    void whatDnnNeeds();
    void theModuleItself();
};

void TestCudaSetup::codeForTheDevice_data() {
    QTest::addColumn<int>("major");
    QTest::addColumn<int>("minor");
    QTest::addColumn<std::string>("architecture");
    QTest::addColumn<bool>("machineCode");
    QTest::newRow("7.5") << 7 << 5 << std::string("sm_75") << true;
    QTest::newRow("8.6") << 8 << 6 << std::string("sm_86") << true;
    QTest::newRow("9.0") << 9 << 0 << std::string("sm_90a") << true;
    QTest::newRow("8.9, unknown to the compiler") << 8 << 9 << std::string("compute_86") << false;
    QTest::newRow("12.0, newer than the compiler") << 12 << 0 << std::string("compute_90") << false;
}

void TestCudaSetup::codeForTheDevice() {
    QFETCH(int, major);
    QFETCH(int, minor);
    QFETCH(std::string, architecture);
    QFETCH(bool, machineCode);
    fakeCuda().gpus = {{"GPU", major, minor}};
    Platform platform(fakeCuda().api());
    test::fakeExecutor(platform)->load(test::smallStep());
    const auto& options = fakeCuda().compileOptions;
    const auto has = [&](const std::string& option) {
        return std::find(options.begin(), options.end(), option) != options.end();
    };
    QVERIFY(has("--gpu-architecture=" + architecture));
    QVERIFY(has("--fmad=false"));
    QVERIFY(!has("-lineinfo")); // three times the machine code
    for (const std::string& option : options)
        QVERIFY2(option.find("fast") == std::string::npos && !option.starts_with("--ftz"),
                 option.c_str());
    QCOMPARE(fakeCuda().calls["nvrtcGetCUBIN"] > 0, machineCode);
    QCOMPARE(fakeCuda().calls["nvrtcGetPTX"] > 0, !machineCode);
}

void TestCudaSetup::compilerErrors() {
    Platform platform(fakeCuda().api());
    fakeCuda().fault = {"nvrtcCompileProgram", 1, NVRTC_ERROR_COMPILATION};
    QCOMPARE(thrownBy<EngineError>([&] { test::fakeExecutor(platform)->load(test::smallStep()); }),
             std::string("the step's kernels do not compile for sm_90a (NVRTC_ERROR_COMPILATION): "
                         "step.cu(7): error: identifier \"nothing\" is undefined"));
}

void TestCudaSetup::realCompiler_data() {
    QTest::addColumn<int>("capability");
    QTest::addColumn<int>("precision");
    for (const int capability : {75, 80, 86, 89, 90, 100, 120})
        QTest::addRow("amp-fp16 %d", capability) << capability << int(Precision::AmpFp16);
    QTest::newRow("amp-bf16 90") << 90 << int(Precision::AmpBf16);
    QTest::newRow("tf32 80") << 80 << int(Precision::Tf32);
}

// A step with the ring's kernel, through the NVRTC of this machine.
void TestCudaSetup::realCompiler() {
    QFETCH(int, capability);
    QFETCH(int, precision);
    fakeCuda().gpus = {{"GPU", capability / 10, capability % 10}};
    Api api = fakeCuda().api();
    loadCompiler(api);
    if (!api.noCompiler.empty()) QSKIP(api.noCompiler.english().c_str());
    Platform platform(api);
    const auto device = platform.open(0);
    const RunConfig config = test::smallRun(static_cast<Precision>(precision));
    const Program program = compile(buildStep(config, config.lanes[0], {16, 5, 1}));
    const StepSource source = writeStep(program, device->traits());
    std::vector<std::string> parts = source.parts;
    parts.back() += publishText(256, 88);
    const std::vector<std::string> code = compileParts(*device, FileCache({}), parts);
    QCOMPARE(code.size(), parts.size());
    for (const std::string& part : code) {
        const bool machineCode = part.starts_with("\177ELF");
        const bool assembly = part.find(".target sm_") != std::string::npos;
        QVERIFY(machineCode || assembly);
    }
    for (const Launch& launch : source.launches)
        QVERIFY2(launch.kind != LaunchKind::Generated ||
                     code[launch.part].find(launch.entry) != std::string::npos,
                 launch.entry.c_str());
    QVERIFY(code.back().find(kPublishEntry) != std::string::npos);
}

/// A large step is compiled in parts: each of its entries is in one of them, with the functions
/// that it calls, also those that an earlier launch began.
void TestCudaSetup::partsOfALargeStep() {
    RunConfig config = test::smallRun(Precision::AmpFp16);
    config.model = {256, 2, Norm::BatchNorm, Activation::Relu};
    const Program program = compile(buildStep(config, config.lanes[0], {1 << 18, 2, 1}));
    const StepSource source = writeStep(program, {.sharedBytes = 232448});
    QVERIFY(source.parts.size() >= 4);
    QVERIFY(source.parts == writeStep(program, {.sharedBytes = 232448}).parts);
    const auto has = [&](size_t part, const std::string& words) {
        return source.parts[part].find(words) != std::string::npos;
    };
    size_t merges = 0;
    for (const Launch& launch : source.launches) {
        if (launch.kind != LaunchKind::Generated) continue;
        for (size_t part = 0; part < source.parts.size(); ++part)
            QCOMPARE(has(part, " " + launch.entry + "(char*"), part == launch.part);
        for (const size_t kernel : launch.kernels) {
            const std::string name = "k" + std::to_string(kernel);
            QVERIFY2(has(launch.part, "void " + name + "("), name.c_str());
            merges += has(launch.part, "void " + name + "_merge(") ? size_t{1} : size_t{0};
        }
    }
    QVERIFY(merges >= 8);
}

void TestCudaSetup::cacheOfCode() {
    QTemporaryDir folder;
    const std::string path = folder.filePath("new/halfscope").toStdString();
    const auto program = test::smallStep();
    SourceOptions whole;
    whole.partBytes = size_t{1} << 30; // one part, and so one file
    const auto load = [&] {
        Platform platform(fakeCuda().api());
        test::fakeExecutor(platform, whole, path)->load(program);
        return fakeCuda().compiled;
    };
    QCOMPARE(load(), 1);
    QCOMPARE(load(), 1);
    fakeCuda().gpus = {{"Ampere", 8, 0}}; // code for another device
    QCOMPARE(load(), 2);
    for (const auto& file : std::filesystem::directory_iterator(path)) {
        QFile kept(QString::fromStdString(file.path().string()));
        QVERIFY(kept.open(QIODevice::ReadWrite));
        kept.seek(kept.size() / 2);
        kept.write("?");
    }
    QCOMPARE(load(), 3);
    QCOMPARE(load(), 3);
}

void TestCudaSetup::cacheFile_data() {
    QTest::addColumn<std::string>("change");
    for (const char* name : {"as it was", "empty", "cut off", "one more byte", "one bit",
                             "another key's", "no header", "a folder in its place"})
        QTest::newRow(name) << std::string(name);
}

void TestCudaSetup::cacheFile() {
    QFETCH(std::string, change);
    QTemporaryDir folder;
    const FileCache cache(folder.path().toStdString());
    const std::string value("bytes\n\0 of any kind", 20);
    cache.put("key", value);
    QCOMPARE(cache.get("key").value_or("none"), value);
    QVERIFY(!cache.get("other"));
    const std::string file = cache.fileOf("key");
    QFile kept(QString::fromStdString(file));
    QVERIFY(kept.open(QIODevice::ReadWrite));
    QByteArray content = kept.readAll();
    if (change == "empty") content.clear();
    if (change == "cut off") content.chop(1);
    if (change == "one more byte") content.append('x');
    if (change == "one bit") content[content.size() - 2] = char(content[content.size() - 2] ^ 4);
    if (change == "no header") content = QByteArray::fromStdString(value);
    if (change == "another key's") {
        cache.put("other", value);
        QFile other(QString::fromStdString(cache.fileOf("other")));
        QVERIFY(other.open(QIODevice::ReadOnly));
        content = other.readAll();
    }
    kept.resize(0);
    kept.seek(0);
    kept.write(content);
    kept.close();
    if (change == "a folder in its place") {
        QVERIFY(kept.remove());
        std::filesystem::create_directory(file);
    }
    QCOMPARE(cache.get("key").has_value(), change == "as it was");
    cache.put("key", "new"); // must not throw, whatever lies there
    QCOMPARE(cache.get("key").value_or("none"),
             std::string(change == "a folder in its place" ? "none" : "new"));
}

void TestCudaSetup::cacheOfOthers_data() {
    QTest::addColumn<QString>("what");
    QTest::addColumn<unsigned>("mode");
    QTest::addColumn<bool>("owned");
    QTest::addColumn<bool>("taken");
    QTest::newRow("mine") << "file" << 0600U << true << true;
    QTest::newRow("everyone reads") << "file" << 0644U << true << true;
    QTest::newRow("the group writes") << "file" << 0660U << true << false;
    QTest::newRow("everyone writes") << "file" << 0666U << true << false;
    QTest::newRow("the folder is everyone's") << "folder" << 0777U << true << false;
    QTest::newRow("the folder is the group's") << "folder" << 0770U << true << false;
    QTest::newRow("another user's file") << "file" << 0644U << false << false;
    QTest::newRow("another user's folder") << "folder" << 0755U << false << false;
}

/// What is in the cache is run: nobody else may put anything there.
void TestCudaSetup::cacheOfOthers() {
    QFETCH(QString, what);
    QFETCH(unsigned, mode);
    QFETCH(bool, owned);
    QFETCH(bool, taken);
    QTemporaryDir folder;
    const mode_t before = umask(0); // as careless as a user can be
    const FileCache cache(folder.filePath("new/halfscope").toStdString());
    cache.put("key", "value");
    umask(before);
    QCOMPARE(cache.get("key").value_or("none"), std::string("value"));
    const std::string changed =
        what == "file" ? cache.fileOf("key") : folder.filePath("new/halfscope").toStdString();
    QCOMPARE(chmod(changed.c_str(), mode), 0);
    constexpr uid_t kNobody = 65534;
    if (!owned && chown(changed.c_str(), kNobody, kNobody) != 0)
        QSKIP("only root can give a file away");
    QCOMPARE(cache.get("key").has_value(), taken);
    if (!owned) return;
    cache.put("key", "again"); // makes it its own
    QCOMPARE(cache.get("key").value_or("none"), std::string("again"));
}

void TestCudaSetup::cacheStaysSmall() {
    QTemporaryDir folder;
    const FileCache cache(folder.path().toStdString(), 10000);
    QVERIFY(QFile(folder.filePath("not_ours")).open(QIODevice::WriteOnly));
    const std::string value(1000, 'x');
    for (int i = 0; i < 30; ++i) {
        cache.put("key " + std::to_string(i), value);
        // times of files are coarse: the order must show in them
        const auto time = std::filesystem::file_time_type::clock::now();
        std::filesystem::last_write_time(cache.fileOf("key " + std::to_string(i)),
                                         time - std::chrono::seconds(60 - i));
    }
    size_t bytes = 0;
    for (const auto& file : std::filesystem::directory_iterator(folder.path().toStdString()))
        bytes += file.file_size();
    QVERIFY(bytes <= 10000 && bytes > 5000);
    QVERIFY(cache.get("key 29") && cache.get("key 28"));
    QVERIFY(!cache.get("key 0"));
    QVERIFY(QFile::exists(folder.filePath("not_ours")));
    QVERIFY(!FileCache("").get("key"));
    FileCache("").put("key", "value");
}

void TestCudaSetup::searchOfLibraries() {
    QTemporaryDir folder;
    QVERIFY(QDir(folder.path()).mkpath("site/nvidia/cublas/lib"));
    const QString inWheel = folder.filePath("site/nvidia/cublas/lib/libhalfscope_sought.so.1");
    const auto open = [] {
        return openLibrary({"libhalfscope_sought.so.1"}, libraryFolders(),
                           Message::data("install it"));
    };
    qunsetenv("HALFSCOPE_CUDA_LIBRARIES");
    QCOMPARE(open().reason.english(),
             std::string("libhalfscope_sought.so.1 was not found (install it)"));
    qputenv("HALFSCOPE_CUDA_LIBRARIES", (folder.path() + ":" + folder.filePath("site")).toUtf8());
    QCOMPARE(open().reason.english(),
             std::string("libhalfscope_sought.so.1 was not found (install it)"));
    QVERIFY(QFile::copy(HALFSCOPE_FAKE_MODULES "/libfake_good.so", inWheel));
    const Library found = open();
    QCOMPARE(found.path, inWheel.toStdString());
    QVERIFY(found.find("halfscopeCudaModule") != nullptr);
    QVERIFY(found.find("cublasLtCreate") == nullptr);
    QVERIFY(found.find("cuEventElapsedTime") != nullptr);
    QVERIFY(found.find("cuEventElapsedTime_v2") == found.find("cuEventElapsedTime"));
    QFile broken(folder.filePath("libhalfscope_sought.so.1")); // searched before the wheels
    QVERIFY(broken.open(QIODevice::WriteOnly));
    broken.write("no library");
    broken.close();
    QCOMPARE(open().path, inWheel.toStdString());
    QVERIFY(QFile::remove(inWheel));
    QVERIFY(open().reason.english().ends_with("/libhalfscope_sought.so.1: file too short"));
    qunsetenv("HALFSCOPE_CUDA_LIBRARIES");
}

void TestCudaSetup::foldersThatCannotBeListed_data() {
    QTest::addColumn<QString>("folder");
    QTest::newRow("missing") << QStringLiteral("none");
    QTest::newRow("a file") << QStringLiteral("file");
    QTest::newRow("below a file") << QStringLiteral("file/lib");
    QTest::newRow("a link to itself") << QStringLiteral("loop");
    QTest::newRow("too long a name") << QString(300, QLatin1Char('x'));
}

// The search goes on in the next folder.
void TestCudaSetup::foldersThatCannotBeListed() {
    QFETCH(QString, folder);
    const QTemporaryDir root;
    QVERIFY(QFile(root.filePath("file")).open(QIODevice::WriteOnly));
    QVERIFY(QFile::link("loop", root.filePath("loop")));
    QVERIFY(QDir(root.path()).mkpath("site/nvidia/cublas/lib"));
    qputenv("HALFSCOPE_CUDA_LIBRARIES",
            (root.filePath(folder) + ":" + root.filePath("site")).toUtf8());
    const std::vector<std::string> folders = libraryFolders();
    qunsetenv("HALFSCOPE_CUDA_LIBRARIES");
    const std::string inWheel = root.filePath("site/nvidia/cublas/lib").toStdString();
    QVERIFY(std::find(folders.begin(), folders.end(), inWheel) != folders.end());
}

// Libraries that came with the python3 of the PATH, a link to the one of an environment that is not
// active.
void TestCudaSetup::librariesOfPython() {
    QTemporaryDir folder;
    for (const char* part : {"env/bin", "env/lib/python3.12/site-packages/nvidia/cu13/lib", "bin"})
        QVERIFY(QDir(folder.path()).mkpath(part));
    QFile marker(folder.filePath("env/pyvenv.cfg"));
    QVERIFY(marker.open(QIODevice::WriteOnly));
    QVERIFY(QFile::link("/bin/sh", folder.filePath("env/bin/python3.12")));
    QVERIFY(QFile::link("python3.12", folder.filePath("env/bin/python3")));
    QVERIFY(QFile::link("../env/bin/python3", folder.filePath("bin/python3")));
    const QString wanted = folder.filePath(
        "env/lib/python3.12/site-packages/nvidia/cu13/lib/libhalfscope_sought.so.1");
    QVERIFY(QFile::copy(HALFSCOPE_FAKE_MODULES "/libfake_good.so", wanted));
    const QByteArray path = qgetenv("PATH");
    qputenv("PATH", "/nowhere:" + folder.filePath("bin").toUtf8() + ":" + path);
    const Library found = openLibrary({"libhalfscope_sought.so.1"}, libraryFolders(), {});
    qputenv("PATH", path);
    QCOMPARE(found.path, wanted.toStdString());
}

/// A driver that lacks a function, and one that has them all.
void TestCudaSetup::driverOfAnotherVersion() {
#define HALFSCOPE_NAME(name) #name
#define HALFSCOPE_ADD_NAME(name) names.push_back(HALFSCOPE_NAME(name));
    std::vector<std::string> names;
    HALFSCOPE_DRIVER_FUNCTIONS(HALFSCOPE_ADD_NAME)
#undef HALFSCOPE_ADD_NAME
#undef HALFSCOPE_NAME
    const auto reasonWith = [&](size_t count, DriverApi& driver) {
        std::string text;
        for (size_t i = 0; i < count; ++i)
            text += "extern \"C\" int " + names[i] + "() { return 0; }\n";
        const test::CompiledText made(text, {}, "-fPIC");
        Dl_info info{};
        if (::dladdr(made.symbol(names.front()), &info) == 0) return std::string("no library");
        const std::unique_ptr<void, int (*)(void*)> handle(::dlopen(info.dli_fname, RTLD_NOW),
                                                           ::dlclose);
        Message reason;
        fill(Library{handle.get(), "libcuda.so.1", {}}, driver, reason);
        return reason.english();
    };
    DriverApi all, tooOld;
    QCOMPARE(reasonWith(names.size(), all), std::string());
    QVERIFY(all.cuLaunchKernel != nullptr);
    const std::string reason = reasonWith(names.size() - 1, tooOld);
    QVERIFY2(reason.starts_with("the NVIDIA driver is too old: "), reason.c_str());
}

// A driver runs libraries of its own major version and of the one before.
void TestCudaSetup::versionsOfLibraries() {
    using Names = std::vector<std::string>;
    const Names both{"libnvrtc.so.13", "libnvrtc.so.12"};
    QCOMPARE(cudaLibraryNames("nvrtc", 12), Names{"libnvrtc.so.12"});
    QCOMPARE(cudaLibraryNames("nvrtc", 13), both);
    QCOMPARE(cudaLibraryNames("nvrtc", 15), both);
    QCOMPARE(cudaLibraryNames("nvrtc", 0), both);
    QCOMPARE(openLibrary({"libnone.so.13", "libnone.so.12"}, {}, Message::data("install it"))
                 .reason.english(),
             std::string("libnone.so.13 or libnone.so.12 was not found (install it)"));
    const std::string lacks = whatDnnLacks(99, {}).english();
    QVERIFY2(lacks.starts_with("cuDNN is of CUDA 99 and needs cuBLASLt: libcublasLt.so.99 was not "
                               "found ("),
             lacks.c_str());
}

// cuDNN's cuBLASLt is opened, so that it is found by its plain name.
void TestCudaSetup::whatDnnNeeds() {
    const QTemporaryDir folder;
    QVERIFY(QFile::copy(HALFSCOPE_FAKE_MODULES "/libfake_good.so",
                        folder.filePath("libcublasLt.so.98")));
    QVERIFY(whatDnnLacks(98, {folder.path().toStdString()}).empty());
}

// As it was built, on this machine, whatever that has.
void TestCudaSetup::theModuleItself() {
    const DeviceList list = listDevices(HALFSCOPE_BINARY_DIR);
    QVERIFY(!list.devices.empty());
    QCOMPARE(list.cudaUnavailable.empty(), list.devices.size() > 1);
    QVERIFY2(list.cudaUnavailable.english().find("CUDA module") == std::string::npos,
             list.cudaUnavailable.english().c_str());
}

} // namespace tst_cuda_setup

QTEST_GUILESS_MAIN(tst_cuda_setup::TestCudaSetup)
#include "tst_cuda_setup.moc"
