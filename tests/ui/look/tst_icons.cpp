// The icons of buttons: their colour, and that requesting one again draws nothing.
#include "ui/look/icons.h"

#include <QtTest>

namespace tst_icons {

using namespace halfscope;

class TestIcons : public QObject {
    Q_OBJECT

private slots:
    void haveTheirColor();
    void areDrawnOnce();
};

void TestIcons::haveTheirColor() {
    const QColor wanted(200, 30, 90);
    for (const char* name : {"play", "pause", "reset", "step", "theme", "help", "close", "plus"}) {
        const QImage image =
            themedIcon(QLatin1String(name), wanted).pixmap(QSize(48, 48)).toImage();
        int inked = 0;
        for (int y = 0; y < image.height(); ++y)
            for (int x = 0; x < image.width(); ++x)
                inked += image.pixelColor(x, y) == wanted ? 1 : 0;
        QVERIFY2(inked > 20, name);
    }
}

/// A button requests its icon with every change of state.
void TestIcons::areDrawnOnce() {
    const auto keyOf = [](const char* name, const QColor& color, int size) {
        return themedIcon(QLatin1String(name), color).pixmap(QSize(size, size)).cacheKey();
    };
    QCOMPARE(keyOf("play", Qt::white, 24), keyOf("play", Qt::white, 24));
    QVERIFY(keyOf("play", Qt::white, 24) != keyOf("play", Qt::black, 24));
    QVERIFY(keyOf("play", Qt::white, 24) != keyOf("pause", Qt::white, 24));
    QVERIFY(keyOf("play", Qt::white, 24) != keyOf("play", Qt::white, 32));
}

} // namespace tst_icons

QTEST_MAIN(tst_icons::TestIcons)
#include "tst_icons.moc"
