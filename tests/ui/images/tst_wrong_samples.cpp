// Samples that are predicted wrong, and no others: the choice beside the other contents, and what
// the view says of them. Also the names of classes below samples that an audience sees.
#include "tests/support/pictures.h"
#include "tests/support/shown_window.h"
#include "ui/images/compare_view.h"
#include "ui/images/image_view.h"
#include "ui/images/picture_words.h"
#include "ui/images/sample_words.h"

#include <QApplication>
#include <QComboBox>
#include <QHelpEvent>
#include <QLabel>
#include <QToolTip>
#include <QtTest>

#include <algorithm>
#include <vector>

namespace tst_wrong_samples {

using namespace halfscope;

namespace {

constexpr const char* kClothes = "0 T-shirt/top, 1 Trouser, 2 Pullover, 3 Dress, 4 Coat, 5 Sandal, "
                                 "6 Shirt, 7 Sneaker, 8 Bag, 9 Ankle boot";

Picture captioned(int side, float value, const char* caption) {
    Picture picture = constant(side, value);
    picture.caption = caption;
    return picture;
}

const std::vector<Picture>& galleries() {
    static const std::vector<Picture> all{captioned(20, 0.5f, "58/64"),
                                          captioned(20, 0.25f, "61/64"),
                                          captioned(20, 1, "0 shirt, 1 shoe")};
    return all;
}

const std::vector<Picture>& mistakes() {
    static const std::vector<Picture> all{captioned(16, 0.1f, "64/67"), captioned(8, 0.2f, "3/3")};
    return all;
}

/// A view of two lanes that were validated after step 9.
class Shown {
public:
    CompareView view;

    Shown() {
        begin();
        view.resize(1200, 400);
        view.show();
    }
    void begin() {
        view.setLanes({QStringLiteral("fp32"), QStringLiteral("amp-fp16")}, {}, ViewKind::Classes);
        Picture target = constant(2, 1);
        target.caption = "0 shirt, 1 shoe";
        view.setTarget(target);
    }
    void paint(const std::vector<Picture>& wrong) {
        view.setGalleries(galleries(), wrong);
        view.setValidated(9);
        view.setPictures(10, {constant(2, 0.5f), constant(2, 0.25f)});
    }
    QComboBox* box(const char* name) const {
        for (QComboBox* each : view.findChildren<QComboBox*>())
            if (each->accessibleName() == QLatin1String(name)) return each;
        return nullptr;
    }
    bool says(const char* words) const {
        const QList<QLabel*> labels = view.findChildren<QLabel*>();
        return std::any_of(labels.begin(), labels.end(), [words](const QLabel* label) {
            return label->text() == QLatin1String(words);
        });
    }
};

} // namespace

class TestWrongSamples : public QObject {
    Q_OBJECT
private slots:
    void keysLeadToThem();
    void countsAreGrouped();
    void eachLaneHasItsOwn();
    void nanHasNoClasses();
    void keysLeaveTheLastPicture();
    void theChoiceIsRemembered();
    void theLastPictureComesBack();
    void namesOfTenClassesTakeTwoLines();
    void samplesTellTheirClasses();
    void keysReachAllMistakes();
    void captionsOfStrangers();
    void audienceReadsAllNames();
    void audienceSeesThemLarge();
};

/// Key 5 goes through all contents, and the box that has them can be reached by Tab.
void TestWrongSamples::keysLeadToThem() {
    Shown shown;
    QVERIFY(test::isActive(&shown.view));
    shown.paint({});
    const QComboBox* what = shown.box("What the pictures show");
    QVERIFY(what && what->isVisible() && (what->focusPolicy() & Qt::TabFocus));
    QCOMPARE(what->count(), 2); // before a validation
    shown.paint(mistakes());
    QCOMPARE(what->count(), 3);
    QVERIFY(shown.view.showsSamples() && !shown.view.showsMistakes());
    QTest::keyClick(&shown.view, Qt::Key_5);
    QVERIFY(shown.view.showsMistakes());
    QCOMPARE(what->currentText(), QStringLiteral("Wrong only"));
    QTest::keyClick(&shown.view, Qt::Key_5);
    QVERIFY(!shown.view.showsSamples());
    QTest::keyClick(&shown.view, Qt::Key_5);
    QVERIFY(shown.view.showsSamples() && !shown.view.showsMistakes());
}

/// Thousands are easier to read in groups.
void TestWrongSamples::countsAreGrouped() {
    const auto plain = qScopeGuard([] { QLocale::setDefault(QLocale::c()); });
    QLocale::setDefault(QLocale(QLocale::English, QLocale::UnitedStates)); // has separators
    const QString wrong = QStringLiteral("64/1140"), right = QStringLiteral("8860/10000");
    QCOMPARE(mistakeNote(wrong, ErrorText::Full), QStringLiteral("first 64 of 1,140 wrong"));
    QCOMPARE(mistakeNote(wrong, ErrorText::Short), QStringLiteral("1,140 wrong"));
    QCOMPARE(mistakeNote(wrong, ErrorText::Shortest), QStringLiteral("1,140"));
    QVERIFY(mistakeWords(wrong).contains(QStringLiteral("wrong: 1,140.")));
    const auto note = [&](ErrorText form) { return captionNote(ViewKind::Classes, right, form); };
    QCOMPARE(note(ErrorText::Full), QStringLiteral("8,860 of 10,000 right"));
    QCOMPARE(note(ErrorText::Short), QStringLiteral("8,860/10,000 right"));
    QCOMPARE(note(ErrorText::Shortest), QStringLiteral("8,860/10,000"));
    QVERIFY(captionWords(ViewKind::Classes, right).startsWith(QStringLiteral("8,860 of 10,000 ")));
    const QString words = QStringLiteral("y = a/b"); // a formula
    QCOMPARE(captionNote(ViewKind::Classes, words, ErrorText::Full), words);
}

/// With how many there are, and without a target: it could be that of one lane only.
void TestWrongSamples::eachLaneHasItsOwn() {
    Shown shown;
    QVERIFY(test::isActive(&shown.view));
    shown.paint(mistakes());
    CompareView& view = shown.view;
    QVERIFY(view.view(2).isVisible());
    QTest::keyClick(&view, Qt::Key_5);
    QCOMPARE(view.view(0).picture().width, 16);
    QCOMPARE(view.view(1).picture().width, 8);
    QVERIFY(!view.view(2).isVisible());
    QVERIFY(!shown.box("Last picture")->isVisible());
    QCOMPARE(view.view(0).note(), QStringLiteral("first 64 of 67 wrong"));
    QCOMPARE(view.view(1).note(), QStringLiteral("3 wrong"));
    QVERIFY2(view.view(0).toolTip().contains(
                 QStringLiteral("Validation samples predicted wrong: 67. The first 64 are shown.")),
             qPrintable(view.view(0).toolTip()));
    QVERIFY2(view.readout().startsWith(QStringLiteral("The first validation samples that each")) &&
                 view.readout().endsWith(QStringLiteral("0 shirt, 1 shoe")),
             qPrintable(view.readout()));
    QVERIFY(shown.says("After step 9") && !shown.says("After step 10")); // when they were judged
    const QRect left = view.view(0).geometry(), right = view.view(1).geometry();
    QVERIFY(!left.intersects(right) && left.width() > 400); // they have the room of the target
    view.setAlone(true);                                    // there is no last picture
    QVERIFY(view.view(0).isVisible() && view.view(1).isVisible());
}

/// They are no mistakes, and are told as in the table and beside the samples.
void TestWrongSamples::nanHasNoClasses() {
    Shown shown;
    QVERIFY(test::isActive(&shown.view));
    shown.paint({mistakes()[0], captioned(8, 0.2f, "nan")});
    QTest::keyClick(&shown.view, Qt::Key_5);
    QCOMPARE(shown.view.view(1).note(), QStringLiteral("output is nan"));
    QVERIFY2(shown.view.view(1).toolTip().contains(
                 QStringLiteral("The output is nan, so no sample has a class.")),
             qPrintable(shown.view.view(1).toolTip()));
}

/// There is none beside them: what the keys changed would be seen only later.
void TestWrongSamples::keysLeaveTheLastPicture() {
    Shown shown;
    QVERIFY(test::isActive(&shown.view));
    shown.paint(mistakes());
    shown.view.showLast(CompareView::Shows::Difference);
    QTest::keyClick(&shown.view, Qt::Key_5);
    QVERIFY(shown.view.showsMistakes());
    for (const Qt::Key key : {Qt::Key_1, Qt::Key_3, Qt::Key_4})
        QTest::keyClick(&shown.view, key);
    QTest::keyClick(&shown.view, Qt::Key_5);
    QVERIFY(shown.view.shows() == CompareView::Shows::Difference);
    QVERIFY(shown.view.view(0).isVisible());
    QTest::keyClick(&shown.view, Qt::Key_4);
    QVERIFY(!shown.view.view(0).isVisible());
}

/// A new run has none before it is validated; what was chosen is shown again then.
void TestWrongSamples::theChoiceIsRemembered() {
    Shown shown;
    QVERIFY(test::isActive(&shown.view));
    shown.paint(mistakes());
    QTest::keyClick(&shown.view, Qt::Key_5);
    shown.begin();
    QVERIFY(!shown.view.showsSamples());
    shown.paint({});
    QVERIFY(shown.view.showsSamples() && !shown.view.showsMistakes());
    QVERIFY(shown.view.view(2).isVisible());
    shown.paint(mistakes());
    QVERIFY(shown.view.showsMistakes());
    QVERIFY(!shown.view.view(2).isVisible());
}

/// A difference of other samples would tell nothing.
void TestWrongSamples::theLastPictureComesBack() {
    Shown shown;
    QVERIFY(test::isActive(&shown.view));
    shown.paint(mistakes());
    shown.view.showLast(CompareView::Shows::Difference);
    const QComboBox* gain = shown.box("Amplification of the difference");
    QVERIFY(gain->isVisible());
    QTest::keyClick(&shown.view, Qt::Key_5);
    QVERIFY(!gain->isVisible() && shown.view.shows() == CompareView::Shows::Target);
    QTest::keyClick(&shown.view, Qt::Key_5);
    QVERIFY(gain->isVisible() && shown.view.shows() == CompareView::Shows::Difference);
}

/// Frames show the numbers of classes, so that the names of all ten have to be there.
void TestWrongSamples::namesOfTenClassesTakeTwoLines() {
    Shown shown;
    std::vector<Picture> samples = galleries();
    samples.back().caption = kClothes;
    shown.view.setGalleries(samples);
    shown.view.setPictures(10, {constant(2, 0.5f), constant(2, 0.25f)});
    QTest::keyClick(&shown.view, Qt::Key_5);
    QVERIFY(shown.view.showsSamples());
    const auto* label = shown.view.findChild<QLabel*>(QStringLiteral("readout"));
    const int names = shown.view.fontMetrics().horizontalAdvance(QLatin1String(kClothes));
    shown.view.resize(names * 4 / 5, 400);
    QTRY_VERIFY2(label->text().endsWith(QStringLiteral("9 Ankle boot")) &&
                     label->text().count(u'\n') == 1,
                 qPrintable(label->text()));
    shown.view.resize(3 * names, 400);
    QTRY_COMPARE(label->text().count(u'\n'), 0);
}

/// A sheet has room for numbers only: the names are told where a sample is pointed at, or reached
/// with the keys, for screen readers too.
void TestWrongSamples::samplesTellTheirClasses() {
    Shown shown;
    CompareView& view = shown.view;
    QVERIFY(test::isActive(&view));
    const char* const classes = "0 shirt, 1 shoe; samples: 2 1 1 0 0 1 1"; // two and one in a row
    view.setGalleries({captioned(20, 0.5f, "1/3; samples: 2 1 1 0 1 1 2147483647"),
                       captioned(20, 0.25f, "3/3; samples: 2 1 1 0 0 1 1"),
                       captioned(20, 1, classes)},
                      {captioned(20, 0.1f, "2/2; samples: 2 0 1 1 0"),
                       captioned(20, 0.2f, "1/1; samples: 2 1 0")});
    view.setValidated(9);
    view.setPictures(10, {constant(2, 0.5f), constant(2, 0.25f)});
    QCOMPARE(view.view(0).note(), QStringLiteral("1 of 3 right"));
    QVERIFY2(view.readout().endsWith(QStringLiteral("0 shirt, 1 shoe")),
             qPrintable(view.readout()));
    const auto tip = [](ImageView& pane, double x, double y) {
        QToolTip::hideText();
        const QRectF picture = pane.pictureRect();
        const QPoint at(static_cast<int>(picture.left() + x * picture.width()),
                        static_cast<int>(picture.top() + y * picture.height()));
        QHelpEvent help(QEvent::ToolTip, at, pane.mapToGlobal(at));
        QApplication::sendEvent(&pane, &help);
        return QToolTip::text();
    };
    QTRY_VERIFY2(tip(view.view(0), 0.75, 0.25).contains(QStringLiteral("True: shirt.\nA shoe")),
                 qPrintable(QToolTip::text()));
    QVERIFY(QToolTip::text().contains(QStringLiteral("B shirt")));
    QTRY_VERIFY2(tip(view.view(2), 0.25, 0.75).contains(QStringLiteral("A no class (nan)")),
                 qPrintable(QToolTip::text()));
    QTRY_VERIFY2(tip(view.view(0), 0.75, 0.75).contains(QStringLiteral("Wheel: zoom")),
                 qPrintable(QToolTip::text())); // there is no sample
    QTest::keyClick(&view, Qt::Key_Right);      // the one in the middle: there is none
    QVERIFY(view.readout().endsWith(QStringLiteral("0 shirt, 1 shoe")));
    QTest::keyClick(&view, Qt::Key_Up);
    QCOMPARE(view.readout(), QStringLiteral("True: shirt.  A shoe; B shirt"));
    QCOMPARE(view.accessibleDescription(), view.readout());
    QTest::keyClick(&view, Qt::Key_Left);
    QCOMPARE(view.readout(), QStringLiteral("True: shoe.  A shoe; B shoe"));
    QTest::keyClick(&view, Qt::Key_5);
    QVERIFY(view.showsMistakes());
    QTRY_VERIFY2(tip(view.view(1), 0.25, 0.25).contains("A True: shirt. Predicted: shoe."),
                 qPrintable(QToolTip::text()));
    QVERIFY(QToolTip::text().contains("B True: shoe. Predicted: shirt."));
}

/// The keys reach the mistakes of every lane: A may have none, or fewer than others.
void TestWrongSamples::keysReachAllMistakes() {
    Shown shown;
    CompareView& view = shown.view;
    QVERIFY(test::isActive(&view));
    const auto paint = [&view](const Picture& a) {
        QTest::keyClick(&view, Qt::Key_Escape);
        view.setGalleries(galleries(), {a, captioned(20, 0.2f, "3/3; samples: 2 1 0 0 1 1 0")});
        view.setValidated(9);
        view.setPictures(10, {constant(2, 0.5f), constant(2, 0.25f)});
    };
    paint(captioned(10, 1, "0/0"));
    QTest::keyClick(&view, Qt::Key_5);
    QVERIFY(view.showsMistakes());
    for (const Qt::Key key : {Qt::Key_Down, Qt::Key_Left}) // the first shows the middle
        QTest::keyClick(&view, key);
    QCOMPARE(view.readout(), QStringLiteral("B True: shoe. Predicted: shirt."));
    QTest::keyClick(&view, Qt::Key_Up);
    QTest::keyClick(&view, Qt::Key_Right);
    QCOMPARE(view.readout(), QStringLiteral("B True: shirt. Predicted: shoe."));
    Picture one = constant(20, 1);
    one.height = 10;
    one.values.resize(200);
    one.caption = "1/1; samples: 2 0 1";
    paint(one);
    for (const Qt::Key key : {Qt::Key_Down, Qt::Key_Left})
        QTest::keyClick(&view, key);
    QCOMPARE(view.readout(), QStringLiteral("B True: shoe. Predicted: shirt."));
}

/// Captions come from files: one with more columns than the sheet has pixels tells of no samples.
void TestWrongSamples::captionsOfStrangers() {
    for (const char* caption : {"1/1; samples: 2147483647 0 0 0 0", "1/1; samples: 21 0 0",
                                "1/1; samples: 0 0 0", "1/1; samples: 2"}) {
        const Picture sheet = captioned(20, 0.5f, caption);
        QVERIFY2(sampleCell(sheet).isEmpty(), caption);
        QCOMPARE(sampleWords(std::vector{sheet}, sheet, {3, 3}, {}), QStringList());
    }
    QCOMPARE(sampleCell(captioned(20, 0.5f, "1/1; samples: 20 0 0")), QSize(1, 20));
}

/// Nobody can point at names that are cut: the letters get smaller first.
void TestWrongSamples::audienceReadsAllNames() {
    Shown shown;
    QVERIFY(test::isActive(&shown.view));
    std::vector<Picture> samples = galleries();
    samples.back().caption = kClothes;
    shown.view.setGalleries(samples);
    shown.view.setPictures(10, {constant(2, 0.5f), constant(2, 0.25f)});
    shown.view.setBare(true);
    const auto* label = shown.view.findChild<QLabel*>(QStringLiteral("readout"));
    const QString words = QStringLiteral("After step 10   Orange: mistakes. ") +
                          QString::fromStdString(samples.back().caption);
    const int all = shown.view.fontMetrics().horizontalAdvance(words);
    shown.view.setMinimumWidth(1);
    shown.view.resize(all * 3 / 10 + 8, 400); // more than three lines
    QTRY_VERIFY2(label->text().endsWith(QStringLiteral("Ankle boot")), qPrintable(label->text()));
    QVERIFY(label->fontMetrics().height() < shown.view.fontMetrics().height());
    shown.view.setBare(false);
    QCOMPARE(label->font(), shown.view.font());
}

/// Side by side in half of the width, whatever was shown before; and as many as there are pictures
/// are told.
void TestWrongSamples::audienceSeesThemLarge() {
    constexpr int kMost = 950, kHeight = 930; // beside the plots of a window of 1920 x 1080
    Shown shown;
    CompareView& view = shown.view;
    QVERIFY(test::isActive(&view));
    shown.paint(mistakes());
    view.setFont(scaledFont(view.font(), 2));
    view.setBare(true);
    view.setMinimumWidth(1);
    QSignalSpy changed(&view, &CompareView::panesChanged);
    QTest::keyClick(&view, Qt::Key_5);
    QVERIFY(view.showsMistakes() && !changed.isEmpty());
    QSet<int> widths;
    for (const int before : {300, kMost, 600}) { // with more or fewer lines below the pictures
        view.resize(before, kHeight);
        QCoreApplication::processEvents();
        widths << view.usefulWidth(kMost, kHeight);
    }
    QCOMPARE(widths.size(), qsizetype(1));
    view.resize(*widths.begin(), kHeight);
    QTRY_COMPARE(view.view(0).y(), view.view(1).y());
    QVERIFY2(view.view(0).pictureRect().width() > 0.45 * kMost,
             qPrintable(QString::number(view.view(0).pictureRect().width())));
    QCOMPARE(view.view(0).note(), QStringLiteral("first 64 of 67 wrong"));
    changed.clear();
    QTest::keyClick(&view, Qt::Key_5); // tables have other words below
    QVERIFY(!changed.isEmpty());
}

} // namespace tst_wrong_samples

QTEST_MAIN(tst_wrong_samples::TestWrongSamples)
#include "tst_wrong_samples.moc"
