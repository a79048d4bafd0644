// The bar at the top: its buttons by the run's state, its figures, and what it leaves out where
// there is little room.
#include "tests/support/fed_run.h"
#include "ui/panels/pace_slider.h"
#include "ui/panels/transport_bar.h"

#include <QAction>
#include <QComboBox>
#include <QLabel>
#include <QLocale>
#include <QMenu>
#include <QPushButton>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTest>
#include <QToolButton>

#include <algorithm>
#include <string>
#include <vector>

namespace tst_transport_bar {

using namespace halfscope;

class TestTransportBar : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { QLocale::setDefault(QLocale::c()); }
    void transportStates_data();
    void transportStates();
    void aFileIsReadFirst();
    void transportSignals();
    void menuDoesWhatTheButtonsDo();
    void transportShowsForeignExperiments();
    void transportFigures();
    void comparesChosenSpeeds();
    void speedsOfAllLanes();
    void theSpeedOfALaneThatWaits();
    void transportTellsEpochs();
    void transportInANarrowWindow();
    void transportFiguresInLittleRoom();
    void showsSpeedsOnAProjector();
    void playStaysUnderThePointer();
    void digitsAreGrouped_data();
    void digitsAreGrouped();
};

void TestTransportBar::transportStates_data() {
    QTest::addColumn<int>("state");
    QTest::addColumn<QString>("play");
    QTest::addColumn<bool>("canPlay");
    QTest::addColumn<bool>("canStep");
    const auto row = [](const char* name, SessionState state, const char* play, bool canPlay,
                        bool canStep) {
        QTest::newRow(name) << static_cast<int>(state) << QString::fromLatin1(play) << canPlay
                            << canStep;
    };
    row("building", SessionState::Building, "Play", true, false);
    row("ready", SessionState::Ready, "Play", true, true);
    row("running", SessionState::Running, "Pause", true, false);
    row("paused", SessionState::Paused, "Play", true, true);
    row("finished", SessionState::Finished, "Continue", true, false);
    row("failed", SessionState::Failed, "Play", true, true);
}

void TestTransportBar::transportStates() {
    QFETCH(int, state);
    QFETCH(QString, play);
    QFETCH(bool, canPlay);
    QFETCH(bool, canStep);
    TransportBar bar;
    bar.setState(static_cast<SessionState>(state));
    auto* button = bar.findChild<QPushButton*>(QStringLiteral("play"));
    QCOMPARE(button->text(), play);
    QCOMPARE(button->isEnabled(), canPlay);
    const auto* step = bar.findChild<QPushButton*>(QStringLiteral("step"));
    QCOMPARE(step->isEnabled(), canStep);
    // otherwise it says why not
    QCOMPARE(step->toolTip() == QStringLiteral("Advance every lane by one step (.)"), canStep);
    QCOMPARE(step->accessibleDescription(), step->toolTip());
}

/// What is read is trained, so its words are not about the networks that are shown.
void TestTransportBar::aFileIsReadFirst() {
    TransportBar bar;
    const auto* play = bar.findChild<QPushButton*>(QStringLiteral("play"));
    const auto* step = bar.findChild<QPushButton*>(QStringLiteral("step"));
    bar.setState(SessionState::Building, false, 0, TransportBar::Start::Possible, true);
    QCOMPARE(play->toolTip(), QStringLiteral("Start training as soon as the file is read (Space)"));
    QCOMPARE(step->accessibleDescription(), QStringLiteral("A file is being read"));
    bar.setState(SessionState::Building, true, 0, TransportBar::Start::Possible, true);
    QCOMPARE(play->accessibleDescription(),
             QStringLiteral("Do not start training when the file is read (Space)"));
}

void TestTransportBar::transportSignals() {
    TransportBar bar;
    bar.setState(SessionState::Ready);
    bar.show();
    QSignalSpy play(&bar, &TransportBar::playRequested);
    QSignalSpy step(&bar, &TransportBar::stepRequested);
    QSignalSpy reset(&bar, &TransportBar::resetRequested);
    QSignalSpy stop(&bar, &TransportBar::stopStepChosen);
    QTest::mouseClick(bar.findChild<QPushButton*>(QStringLiteral("play")), Qt::LeftButton);
    QTest::mouseClick(bar.findChild<QPushButton*>(QStringLiteral("step")), Qt::LeftButton);
    QTest::mouseClick(bar.findChild<QPushButton*>(QStringLiteral("reset")), Qt::LeftButton);
    QCOMPARE(play.count(), 1);
    QCOMPARE(step.count(), 1);
    QCOMPARE(reset.count(), 1);
    bar.setStopStep(500); // shown, not chosen
    QCOMPARE(stop.count(), 0);
    bar.findChild<QSpinBox*>(QStringLiteral("stopAt"))->setValue(700);
    QCOMPARE(stop.count(), 1);
    QCOMPARE(stop.front().front().toLongLong(), 700);
}

/// The menu has the words and the keys of the buttons, and is enabled with them.
void TestTransportBar::menuDoesWhatTheButtonsDo() {
    TransportBar bar;
    const auto entries = [&bar] {
        QStringList texts;
        for (const QAction* each : bar.trainingMenu()->actions())
            if (!each->isSeparator())
                texts << each->text().remove(u'&').replace(u'\t', u'|') +
                             (each->isEnabled() ? QString() : QStringLiteral(" off"));
        return texts.join(QStringLiteral(", "));
    };
    const QString pace = QStringLiteral(", Slower|−, Faster|+ off"); // it is as fast as possible
    QCOMPARE(entries(), QStringLiteral("Play|Space, Step|. off, Reset|R off") + pace);
    bar.setState(SessionState::Running);
    QCOMPARE(entries(), QStringLiteral("Pause|Space, Step|. off, Reset|R") + pace);
    bar.setState(SessionState::Finished);
    QCOMPARE(entries(), QStringLiteral("Continue|Space, Step|. off, Reset|R") + pace);
    bar.setState(SessionState::Finished, false, 9, TransportBar::Start::Further);
    QCOMPARE(entries(), QStringLiteral("Continue|Space, Step|., Reset|R") + pace);
    bar.setState(SessionState::Ready, false, 0, TransportBar::Start::Never);
    QCOMPARE(entries(), QStringLiteral("Play|Space off, Step|. off, Reset|R off") + pace);
    bar.setState(SessionState::Ready);
    QCOMPARE(entries(), QStringLiteral("Play|Space, Step|., Reset|R") + pace);
    QSignalSpy play(&bar, &TransportBar::playRequested);
    QSignalSpy step(&bar, &TransportBar::stepRequested);
    QSignalSpy reset(&bar, &TransportBar::resetRequested);
    bar.pace()->setPace(1);
    QVERIFY(entries().endsWith(QStringLiteral(", Slower|− off, Faster|+")));
    bar.pace()->setPace(10);
    QVERIFY(entries().endsWith(QStringLiteral(", Slower|−, Faster|+")));
    bar.pace()->setPace(0);
    const QList<QAction*> all = bar.trainingMenu()->actions();
    all.at(0)->trigger(); // the bar may be hidden
    QCOMPARE(play.count(), 1);
    all.at(1)->trigger();
    QCOMPARE(step.count(), 1);
    all.at(2)->trigger();
    QCOMPARE(reset.count(), 1);
    all.at(4)->trigger();
    const double slower = bar.pace()->pace();
    QVERIFY(slower > 0); // 0 is as fast as possible
    all.at(5)->trigger();
    QCOMPARE(bar.pace()->pace(), 0.0);
}

void TestTransportBar::transportShowsForeignExperiments() {
    TransportBar bar;
    auto* box = bar.findChild<QComboBox*>(QStringLiteral("presets"));
    const int count = box->count();
    QCOMPARE(count, static_cast<int>(presets().size()));
    bar.showExperiment({}, QStringLiteral("mine"));
    QCOMPARE(box->currentText(), QStringLiteral("mine"));
    bar.showExperiment({}, QStringLiteral("yours"));
    QCOMPARE(box->currentText(), QStringLiteral("yours"));
    QCOMPARE(box->count(), count + 1);
    bar.showExperiment(QStringLiteral("overflow"), QStringLiteral("Overflow"));
    QCOMPARE(box->currentText(), QStringLiteral("Overflow"));
    QCOMPARE(box->count(), count);
}

void TestTransportBar::transportFigures() {
    TransportBar bar;
    FedModel run;
    run.start({"fp32", "amp-fp16"});
    bar.setFigures(run);
    QCOMPARE(bar.findChild<QLabel*>(QStringLiteral("counter"))->text(), QStringLiteral("step 0"));
    StepRecord a, b;
    a.step = b.step = 1234;
    b.lane = 1;
    a.deviceSeconds = 0.01;
    b.deviceSeconds = 0.004;
    run.append(std::vector{a, b}, {});
    bar.setFigures(run);
    const QString text = bar.findChild<QLabel*>(QStringLiteral("speeds"))->text();
    for (const char* part : {">A</b> 100 steps/s", ">B</b> 250 steps/s", "B/A ×2.50"})
        QVERIFY2(text.contains(QString::fromUtf8(part)), qPrintable(text));
    QCOMPARE(bar.speedRatio(), QStringLiteral("throughput B/A ×2.50"));
    const auto explains = [&bar] {
        return bar.findChild<QLabel*>(QStringLiteral("speeds"))
            ->toolTip()
            .contains(QStringLiteral("Half precision is often slower in small networks"));
    };
    QVERIFY(!explains());
    std::swap(a.deviceSeconds, b.deviceSeconds);
    run.start({"fp32", "amp-fp16"});
    run.append(std::vector{a, b}, {});
    bar.setFigures(run);
    QCOMPARE(bar.speedRatio(), QStringLiteral("throughput B/A ×0.40"));
    QVERIFY(!explains()); // both compute in FP32
    run.setGrowthInterval(1, 2000);
    bar.setFigures(run);
    QVERIFY(explains());
    std::swap(a.deviceSeconds, b.deviceSeconds);
    run.start({"fp32", "amp-fp16"});
    run.append(std::vector{a, b}, {});
    run.setPace(15); // the lanes wait: what is compared then are cold caches
    bar.setFigures(run);
    const auto* speeds = bar.findChild<QLabel*>(QStringLiteral("speeds"));
    QVERIFY(!run.comparesSpeeds());
    QCOMPARE(speeds->text(), QStringLiteral("Throughput: not comparable at this pace"));
    QCOMPARE(speeds->accessibleName(), speeds->text());
    QVERIFY2(!speeds->toolTip().contains(QStringLiteral("250")), qPrintable(speeds->toolTip()));
    QCOMPARE(bar.speedRatio(), QString());
    run.setPace(100); // more than the 71 steps a second that both lanes manage
    bar.setFigures(run);
    QVERIFY(!bar.speedRatio().isEmpty());
    // the tool tip has the other lanes, too
    run.start({"fp32", "amp-fp16", "amp-bf16"});
    b.lane = 2;
    run.append(std::vector{a, b}, {});
    bar.setFigures(run);
    const QString tip = bar.findChild<QLabel*>(QStringLiteral("speeds"))->toolTip();
    QVERIFY2(tip.contains(QStringLiteral("unless the pace makes them wait.\n")), qPrintable(tip));
    QVERIFY2(tip.endsWith(QStringLiteral("A fp32: 100 steps/s\nC amp-bf16: 250 steps/s")),
             qPrintable(tip));
}

/// With more than two lanes, the user chooses the two whose speeds are compared.
void TestTransportBar::comparesChosenSpeeds() {
    TransportBar bar;
    const auto* speeds = bar.findChild<QLabel*>(QStringLiteral("speeds"));
    const QSignalSpy chosen(&bar, &TransportBar::speedsChosen);
    FedModel run;
    const auto start = [&](const std::vector<std::string>& lanes) {
        run.start(lanes);
        std::vector<StepRecord> rows(lanes.size());
        for (size_t i = 0; i < rows.size(); ++i) {
            rows[i].lane = static_cast<int32_t>(i);
            rows[i].step = 1;
            rows[i].deviceSeconds = 0.01 / static_cast<double>(1 + i);
        }
        run.append(rows, {});
        bar.setFigures(run);
    };
    const auto shows = [speeds](const char* text) {
        return speeds->text().contains(QString::fromUtf8(text));
    };
    start({"fp32", "amp-fp16"});
    QVERIFY(!bar.speedMenu()->isEnabled());
    start({"fp32", "amp-fp16", "amp-bf16"});
    QVERIFY(bar.speedMenu()->isEnabled() && shows("B/A ×2.00"));
    emit bar.speedMenu()->aboutToShow();
    const QList<QAction*> pairs = bar.speedMenu()->actions();
    QCOMPARE(pairs.size(), qsizetype{3});
    QVERIFY(pairs[0]->isChecked());
    QCOMPARE(pairs[2]->text(), QStringLiteral("C with B"));
    pairs[2]->trigger();
    QCOMPARE(chosen.size(), 1);
    bar.setFigures(run);
    QVERIFY2(shows("C/B ×1.50") && shows(">C</b> 300") && shows(">A</b> 100"),
             qPrintable(speeds->text()));
    QVERIFY(speeds->toolTip().contains(QStringLiteral("lane C is than lane B")));
    start({"fp32", "amp-fp16"}); // a run without lane C
    QVERIFY2(shows("B/A ×2.00"), qPrintable(speeds->text()));
}

/// One lane is compared with none, but its speed is not the pace.
void TestTransportBar::theSpeedOfALaneThatWaits() {
    TransportBar bar;
    FedModel run;
    run.start({"amp-fp16"});
    StepRecord row;
    row.step = 1;
    row.deviceSeconds = 0.01;
    run.append(std::vector{row}, {});
    const auto* speeds = bar.findChild<QLabel*>(QStringLiteral("speeds"));
    for (const double pace : {0.0, 15.0}) {
        run.setPace(pace);
        bar.setFigures(run);
        QVERIFY2(speeds->text().contains(QStringLiteral("100 steps/s")),
                 qPrintable(speeds->text()));
        QCOMPARE(speeds->text().contains(QStringLiteral("without the waits")), pace > 0);
        QCOMPARE(speeds->toolTip().contains(QStringLiteral("cold caches")), pace > 0);
    }
}

/// All lanes are shown, in two lines where one is too short, and once the run is over, which speeds
/// they are: the plot's heading has others. With least room there are the two that are compared.
void TestTransportBar::speedsOfAllLanes() {
    TransportBar bar;
    auto* speeds = bar.findChild<QLabel*>(QStringLiteral("speeds"));
    FedModel run;
    run.start({"fp32", "amp-fp16", "amp-bf16"});
    std::vector<StepRecord> rows(3);
    for (size_t i = 0; i < rows.size(); ++i) {
        rows[i].lane = static_cast<int32_t>(i);
        rows[i].step = 1;
        rows[i].deviceSeconds = 0.01;
    }
    run.append(rows, {});
    bar.setFigures(run);
    QVERIFY(!speeds->text().contains(QStringLiteral("median")));
    run.setOver(true);
    bar.setFigures(run);
    QVERIFY2(speeds->text().contains(QStringLiteral("median of the run")),
             qPrintable(speeds->text()));
    QVERIFY(speeds->accessibleName().endsWith(QStringLiteral(" median of the run")));
    bar.resize(1280, 60);
    bar.show();
    bool divided = false, pair = false;
    for (int width = 600; width > 20; --width) {
        speeds->setFixedWidth(width);
        QCoreApplication::processEvents();
        const QString text = speeds->text();
        const bool all = text.contains(QStringLiteral(">C</b>"));
        divided = divided || (all && text.contains(QStringLiteral("<br><b")) &&
                              text.endsWith(QStringLiteral("(median)")));
        const bool both = !all && text.contains(QStringLiteral(">B</b>"));
        if (both) QVERIFY2(text.contains(QStringLiteral(" …")), qPrintable(text)); // there are more
        pair = pair || both;
        QVERIFY2(!(pair && all), qPrintable(text)); // less room never shows more
    }
    QVERIFY(divided && pair);
}

void TestTransportBar::transportTellsEpochs() {
    TransportBar bar;
    bar.resize(1280, 60);
    bar.show();
    auto* label = bar.findChild<QLabel*>(QStringLiteral("epoch"));
    FedModel run;
    run.start({"fp32", "amp-fp16"});
    run.edit([](RunConfig& config) {
        config.task = presetNamed("regression").config.task;
        config.epochs = 10;
    });
    bar.setFigures(run);
    QVERIFY(label->isVisible());
    QCOMPARE(label->text(), QStringLiteral("10 epochs of 157 batches"));
    StepRecord a, b;
    a.step = b.step = 326;
    a.epoch = b.epoch = 3;
    a.batch = b.batch = 12;
    b.lane = 1;
    run.append(std::vector{a, b}, {});
    bar.setFigures(run);
    QCOMPARE(label->text(), QStringLiteral("epoch 3 of 10, batch 12 of 157"));
    QVERIFY(label->width() >= label->sizeHint().width());
    // runs that were saved without them, or a task whose steps are epochs
    run.start({"fp32", "amp-fp16"});
    run.edit([](RunConfig& config) {
        config.task = presetNamed("regression").config.task;
        config.epochs = 10;
    });
    a.epoch = b.epoch = a.batch = b.batch = 0;
    run.append(std::vector{a, b}, {});
    bar.setFigures(run);
    QVERIFY(!label->isVisible());
    run.start({"fp32", "amp-fp16"});
    bar.setFigures(run);
    QVERIFY(!label->isVisible());
}

/// On a projector that magnifies twice, names give way to icons, and nothing is cut off.
void TestTransportBar::transportInANarrowWindow() {
    QWidget holder;
    TransportBar bar(&holder);
    holder.resize(1600, 100);
    holder.show();
    FedModel run;
    run.start({"fp32", "amp-fp16"});
    bar.setFigures(run);
    const auto* reset = bar.findChild<QPushButton*>(QStringLiteral("reset"));
    const auto* help = bar.findChild<QToolButton*>(QStringLiteral("help"));
    bar.resize(1400, 50);
    QTRY_COMPARE(reset->text(), QStringLiteral("Reset"));
    const int least = bar.minimumSizeHint().width();
    bar.resize(least, 50);
    QTRY_COMPARE(reset->text(), QString());
    QCOMPARE(reset->accessibleName(), QStringLiteral("Reset"));
    QVERIFY(bar.findChild<QLabel*>(QStringLiteral("counter"))->isVisible());
    QTRY_VERIFY2(help->geometry().right() < least, qPrintable(QString::number(help->x())));
    QCOMPARE(bar.minimumSizeHint().width(), least);
    bar.resize(1400, 50);
    QTRY_COMPARE(reset->text(), QStringLiteral("Reset"));
    QCOMPARE(bar.minimumSizeHint().width(), least);
}

void TestTransportBar::transportFiguresInLittleRoom() {
    QWidget holder; // a window of its own would keep room for names
    TransportBar bar(&holder);
    FedModel run;
    run.start({"fp32", "amp-fp16"});
    StepRecord a, b;
    a.step = b.step = 1234;
    b.lane = 1;
    a.deviceSeconds = 1.0 / 110968;
    b.deviceSeconds = 1.0 / 12670;
    run.append(std::vector{a, b}, {});
    holder.show();
    bar.setFigures(run);
    auto* speeds = bar.findChild<QLabel*>(QStringLiteral("speeds"));
    QStringList forms;
    for (int width = 1600; width >= 500; width -= 10) {
        bar.resize(std::max(width, bar.minimumSizeHint().width()), 50);
        QCoreApplication::processEvents();
        QVERIFY2(speeds->sizeHint().width() <= speeds->width() || speeds->text().isEmpty(),
                 qPrintable(speeds->text()));
        if (forms.isEmpty() || forms.last() != speeds->text()) forms << speeds->text();
    }
    QVERIFY2(forms.size() >= 3, qPrintable(forms.join(u'\n')));
    QVERIFY(forms[0].contains(QStringLiteral("110968 steps/s")));
    QVERIFY(forms[1].contains(QStringLiteral("111k/s")));
    QVERIFY(speeds->accessibleName().contains(QStringLiteral("110968 steps/s")));
}

/// A projector that magnifies twice leaves 960 pixels. The bar leaves out the name of the device,
/// which the status bar has, rather than the speeds.
void TestTransportBar::showsSpeedsOnAProjector() {
    QWidget holder;
    TransportBar bar(&holder);
    holder.resize(960, 60);
    bar.resize(960, 50);
    holder.show();
    FedModel run;
    run.start({"fp32", "amp-fp16"});
    run.edit([](RunConfig& config) {
        config.task = presetNamed("overflow").config.task;
        config.epochs = 19;
    });
    StepRecord a, b;
    a.step = b.step = 87;
    a.epoch = b.epoch = 6;
    a.batch = b.batch = 7;
    b.lane = 1;
    a.deviceSeconds = 1.0 / 10600;
    b.deviceSeconds = 1.0 / 10500;
    run.append(std::vector{a, b}, {});
    bar.setFigures(run);
    const auto* speeds = bar.findChild<QLabel*>(QStringLiteral("speeds"));
    QTRY_VERIFY2(speeds->text().contains(QStringLiteral("10.6k/s")), qPrintable(speeds->text()));
    QVERIFY2(speeds->text().contains(QStringLiteral("10.5k/s")), qPrintable(speeds->text()));
    QVERIFY(speeds->sizeHint().width() <= speeds->width());
    QVERIFY(bar.findChild<QLabel*>(QStringLiteral("epoch"))->isVisible());
    QVERIFY(bar.findChild<QToolButton*>(QStringLiteral("help"))->isVisible());
    // a presentation hides the bar, and the training goes on
    bar.hide();
    bar.setFigures(run);
    bar.show();
    QTRY_VERIFY2(speeds->sizeHint().width() <= speeds->width(), qPrintable(speeds->text()));
}

/// The first step adds speeds and a longer epoch, and whoever pressed Play presses Pause there.
void TestTransportBar::playStaysUnderThePointer() {
    QWidget holder;
    holder.resize(1400, 60);
    holder.show();
    StepRecord a, b;
    a.step = b.step = 171;
    a.epoch = b.epoch = 11;
    a.batch = b.batch = 11;
    b.lane = 1;
    a.deviceSeconds = 1.0 / 10600;
    b.deviceSeconds = 1.0 / 10500;
    for (int width = 700; width <= 1400; width += 20) {
        FedModel run;
        run.start({"fp32", "amp-fp16"});
        run.edit([](RunConfig& config) {
            config.task = presetNamed("overflow").config.task;
            config.epochs = 19;
        });
        TransportBar bar(&holder);
        bar.resize(width, 50);
        bar.show();
        bar.setFigures(run);
        QCoreApplication::processEvents();
        const auto* play = bar.findChild<QPushButton*>(QStringLiteral("play"));
        const QRect before = play->geometry();
        run.append(std::vector{a, b}, {});
        bar.setFigures(run);
        QCoreApplication::processEvents();
        QCOMPARE(play->geometry(), before);
    }
}

void TestTransportBar::digitsAreGrouped_data() {
    QTest::addColumn<QString>("language");
    QTest::addColumn<QString>("typed");
    QTest::addColumn<QString>("shown");
    QTest::addColumn<int>("value");
    QTest::newRow("typed without") << "en_US"
                                   << "32000"
                                   << "32,000" << 32000;
    QTest::newRow("typed with") << "en_US"
                                << "4,500,000"
                                << "4,500,000" << 4500000;
    QTest::newRow("German") << "de_DE"
                            << "4500000"
                            << "4.500.000" << 4500000;
    QTest::newRow("small") << "en_US"
                           << "250"
                           << "250" << 250;
}

/// The last step is written like the step beside it, and typed with or without separators.
void TestTransportBar::digitsAreGrouped() {
    QFETCH(const QString, language);
    QFETCH(const QString, typed);
    QFETCH(const QString, shown);
    QFETCH(const int, value);
    TransportBar bar;
    bar.setLocale(QLocale(language));
    bar.show();
    auto* stopAt = bar.findChild<QSpinBox*>(QStringLiteral("stopAt"));
    const QSignalSpy chosen(&bar, &TransportBar::stopStepChosen);
    stopAt->setFocus();
    stopAt->selectAll();
    QTest::keyClicks(stopAt, typed);
    QTest::keyClick(stopAt, Qt::Key_Return);
    QCOMPARE(stopAt->value(), value);
    QCOMPARE(stopAt->text(), shown);
    QCOMPARE(chosen.size(), 1); // none while it was typed
}

} // namespace tst_transport_bar

QTEST_MAIN(tst_transport_bar::TestTransportBar)
#include "tst_transport_bar.moc"
