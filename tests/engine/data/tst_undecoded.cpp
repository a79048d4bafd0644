// The look for pictures that cannot be decoded: what it tells, where it ends, and that files that
// stay as they are, are decoded once.
#include "engine/core/error.h"
#include "engine/data/undecoded.h"

#include <QTest>

#include <string>

namespace tst_undecoded {

using namespace halfscope;

namespace {

/// Pictures of one size; those at 1 and 2 are damaged.
struct Pictures {
    size_t count = 3, bytes = 100;
    std::string stamp;
    size_t decoded = 0;

    QString told(Damaged damaged = Damaged::Skip) {
        const auto note = undecodedNote({count, [this](size_t) { return bytes; },
                                         [this](size_t at) { return stamp + std::to_string(at); },
                                         [this](size_t at) {
                                             ++decoded;
                                             const std::string name = std::to_string(at) + ".png";
                                             if (at == 1 || at == 2)
                                                 throw InputError(Message::data(name));
                                         }},
                                        damaged);
        return note ? QString::fromStdString(note->english()) : QString();
    }
};

} // namespace

class TestUndecoded : public QObject {
    Q_OBJECT

private slots:
    void told() {
        Pictures all{.stamp = "all"};
        QCOMPARE(all.told(),
                 QString("Pictures that cannot be decoded and are left out: 2 of 3. Sample "
                         "counts still include them. The first is 1.png."));
        QCOMPARE(all.told(Damaged::Refuse),
                 QString("Pictures that cannot be decoded: 2 of 3. The run ends when it comes to "
                         "one, unless data.damaged is skip. The first is 1.png."));
        QCOMPARE(all.decoded, size_t{3}); // once
        Pictures good{.count = 1, .stamp = "good"};
        QCOMPARE(good.told(), QString());
    }

    /// Of many or large pictures, only the first ones are decoded.
    void ends() {
        const QString first = "Pictures that cannot be decoded and are left out: 2 of the first "
                              "%1; the others were not looked at. Sample counts still include "
                              "them. The first is 1.png.";
        Pictures many{.count = 2001, .stamp = "many"};
        QCOMPARE(many.told(), first.arg(2000));
        QCOMPARE(many.decoded, size_t{2000});
        Pictures large{.count = 20, .bytes = size_t{4} << 20, .stamp = "large"};
        QCOMPARE(large.told(), first.arg(4));
    }

    void looksOnce() {
        Pictures pictures{.stamp = "before"};
        const QString note = pictures.told();
        QCOMPARE(pictures.told(), note);
        QCOMPARE(pictures.decoded, size_t{3});
        pictures.stamp = "after";
        QCOMPARE(pictures.told(), note);
        QCOMPARE(pictures.decoded, size_t{6});
    }
};

} // namespace tst_undecoded

QTEST_GUILESS_MAIN(tst_undecoded::TestUndecoded)
#include "tst_undecoded.moc"
