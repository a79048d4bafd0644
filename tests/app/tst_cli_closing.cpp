// What halfscope-cli says of a lane below the table that ends a run.
#include "engine/runs/run_reader.h"
#include "tests/support/array_files.h"
#include "tests/support/cli.h"

#include <QTemporaryDir>
#include <QTest>

#include <cmath>
#include <string>
#include <vector>

namespace tst_cli_closing {

using namespace halfscope;
using namespace halfscope::test;

namespace {

std::string bytesOf(const std::vector<float>& values) {
    return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

} // namespace

class TestCliClosing : public QObject {
    Q_OBJECT

private slots:
    /// A loss scale that was too small before any nan in the data is no consequence of it.
    void underflowBeforeAFault() {
        QTemporaryDir folder;
        constexpr int kSamples = 60, kFault = 50, kBatch = 4;
        std::vector<float> x, y;
        for (int i = 0; i < kSamples; ++i) {
            x.push_back(i == kFault ? std::nanf("") : std::sin(static_cast<float>(i)));
            y.push_back(std::cos(static_cast<float>(i)));
        }
        const QString data = folder.filePath("x.npy"), out = folder.filePath("out");
        writeBytes(data.toStdString(), npy("<f4", "(60, 1)", bytesOf(x)));
        writeBytes(folder.filePath("y.npy").toStdString(), npy("<f4", "(60,)", bytesOf(y)));
        const QString words = "--device cpu --lanes amp-fp16 --steps 15 --set data.validation=0 "
                              "--set data.shuffle=false --set scaler.init_scale=2^-40 --set "
                              "task.batch=" +
                              QString::number(kBatch);
        const Outcome outcome = call(QStringList{"run", data, "--out", out} + words.split(' '));
        QVERIFY2(outcome.code == 0, outcome.error);
        const auto run = readRun(out.toStdString());
        const LaneTotals& totals = run->now().totals(0);
        QCOMPARE(totals.underflowStep(), int64_t{1});
        QCOMPARE(totals.skips().dataFault().step, int64_t{kFault / kBatch + 1});
        QVERIFY2(outcome.out.contains("\namp-fp16: Step 1: all gradients rounded to zero at "
                                      "loss scale 2^-40 (underflow), "),
                 outcome.out);
    }
};

} // namespace tst_cli_closing

QTEST_GUILESS_MAIN(tst_cli_closing::TestCliClosing)
#include "tst_cli_closing.moc"
