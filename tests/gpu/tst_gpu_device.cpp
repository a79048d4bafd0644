// What the program says of the CUDA devices that are there.
#include "engine/core/error.h"
#include "tests/support/gpu_device.h"
#include "tests/support/thrown.h"

namespace tst_gpu_device {

using namespace halfscope;
using namespace halfscope::test;

class TestGpuDevice : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() { SKIP_WITHOUT_GPU(); }

    void devicesAreListed() {
        telling([&] {
            const DeviceList list = listDevices();
            if (gpuDevice() == "cuda") QVERIFY(list.devices.size() >= 2);
            for (const DeviceEntry& entry : list.devices) {
                QVERIFY2(!entry.info.name.empty() && !entry.info.libraries.empty(),
                         entry.id.c_str());
                QVERIFY2(entry.info.memoryBytes > (size_t{1} << 28), entry.id.c_str());
            }
        });
    }
    void executorIsOfItsDevice() {
        telling([&] {
            const DeviceInfo info = gpuExecutor()->device();
            QCOMPARE(info.kind, gpuDevice().substr(0, gpuDevice().find(':')));
        });
    }
    void absentIndexIsRefused() {
        telling([&] {
            const std::string words = thrownBy<EngineError>([] { makeExecutor("cuda:99"); });
            QVERIFY2(words.starts_with("device cuda:99 does not exist: "), words.c_str());
        });
    }
};

} // namespace tst_gpu_device

QTEST_GUILESS_MAIN(tst_gpu_device::TestGpuDevice)
#include "tst_gpu_device.moc"
