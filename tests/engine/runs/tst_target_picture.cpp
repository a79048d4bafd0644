// Targets in memory: packed and unpacked while others go on, and damaged ones.
#include "engine/runs/target_picture.h"

#include <QTest>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

namespace tst_target_picture {

using namespace halfscope;

namespace {

using Clock = std::chrono::steady_clock;

/// A picture whose packing takes a good part of a second.
Picture large() {
    Picture picture{4096, 2048, 1, std::vector<float>(size_t{4096} * 2048)};
    uint32_t noise = 1;
    for (float& each : picture.values)
        each = static_cast<float>((noise = noise * 1664525 + 1013904223) >> 8);
    return picture;
}

struct Lasted {
    Clock::duration work{}, longestCall{};
};

/// Makes a call again and again while another thread works.
template <class Work, class Call>
Lasted lasted(const Work& work, const Call& call) {
    Lasted result;
    std::atomic<bool> begins{false}, ends{false};
    std::jthread worker([&] {
        begins = true;
        const auto start = Clock::now();
        work();
        result.work = Clock::now() - start;
        ends = true;
    });
    while (!begins)
        std::this_thread::yield();
    while (!ends) {
        const auto start = Clock::now();
        call();
        result.longestCall = std::max(result.longestCall, Clock::now() - start);
    }
    worker.join();
    return result;
}

} // namespace

class TestTargetPicture : public QObject {
    Q_OBJECT
private slots:
    void nobodyWaitsForPacking();
    void nobodyWaitsForAComparison();
    void damageIsTold();
};

/// The window looks at the target of a run while its store packs it.
void TestTargetPicture::nobodyWaitsForPacking() {
    const TargetPicture target(large());
    const auto seen = target.picture(); // else it would be unpacked at the end
    const Lasted all = lasted([&] { target.pack(); }, [&] { (void)target.picture(); });
    QVERIFY2(2 * all.longestCall < all.work,
             qPrintable(
                 QStringLiteral("%1 of %2 ns").arg(all.longestCall.count()).arg(all.work.count())));
    QVERIFY(target.picture() == seen);
    QVERIFY(!target.isDamaged());
}

/// A run is restored whose target is unpacked to be compared, while a training makes other ones.
void TestTargetPicture::nobodyWaitsForAComparison() {
    const std::shared_ptr<const TargetPicture> held = sharedTarget(large());
    held->pack();
    std::shared_ptr<const TargetPicture> found;
    Picture equal = large();
    const Lasted all = lasted([&] { found = sharedTarget(std::move(equal)); },
                              [] {
                                  (void)sharedTarget(Picture{1, 1, 1, {0.5f}, {}});
                              });
    QVERIFY2(2 * all.longestCall < all.work,
             qPrintable(
                 QStringLiteral("%1 of %2 ns").arg(all.longestCall.count()).arg(all.work.count())));
    QVERIFY(found == held);
}

void TestTargetPicture::damageIsTold() {
    const Picture whole{2, 1, 1, {0.5f, 1}, {}};
    const TargetPicture made(whole), none(Picture{});
    QVERIFY(!made.isDamaged() && !none.isDamaged());
    const TargetPicture packed(*made.pack()), empty(*none.pack());
    QVERIFY(!made.isDamaged() && !packed.isDamaged() && !empty.isDamaged());
    QCOMPARE(packed.picture()->values, whole.values);
    TargetPicture::Bytes bytes = *packed.pack();
    bytes.resize(bytes.size() / 2);
    const TargetPicture cut(std::move(bytes));
    for (int i = 0; i < 2; ++i) {
        QVERIFY(!cut.empty() && cut.isDamaged());
        QCOMPARE(cut.picture()->width, 0);
    }
    QVERIFY(damagedTarget()->isDamaged());
}

} // namespace tst_target_picture

QTEST_APPLESS_MAIN(tst_target_picture::TestTargetPicture)
#include "tst_target_picture.moc"
