// What sets lanes apart, as one would say it, and what stays of it in a narrow column.
#include "engine/settings/fields.h"
#include "engine/settings/lane_titles.h"
#include "ui/look/text_fit.h"
#include "ui/look/theme.h"
#include "ui/models/lane_titles.h"
#include "ui/models/run_model.h"
#include "ui/models/translated.h"
#include "ui/panels/lane_card.h"

#include <QLabel>
#include <QSet>
#include <QtTest>

#include <algorithm>
#include <string>
#include <vector>

namespace tst_lane_words {

using namespace halfscope;

class TestLaneWords : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { QLocale::setDefault(QLocale::c()); }
    void switchesReadAsWords();
    void narrowCardsKeepWhatDiffers();
    void mapsKeepBothValues();
    void whatSetsLanesApart();
};

/// Check boxes have no values that one would say, such as "true".
void TestLaneWords::switchesReadAsWords() {
    RunConfig config = presetNamed("checkerboard").config;
    config.lanes = parseLanes("amp-fp16,amp-fp16");
    for (const char* setting :
         {"lanes.1.scaler.hold_schedule=true", "lanes.1.scaler.check_unscaled=true"})
        applySetting(config, setting);
    QStringList titles = laneTitles(config);
    QCOMPARE(titles.join(QStringLiteral(" | ")).replace(QChar(QChar::Nbsp), QChar(u' ')),
             QStringLiteral("amp-fp16, Check after unscaling off, schedule goes on at a skip | "
                            "amp-fp16, Check after unscaling on, schedule waits at a skip"));
    QVERIFY(labelForms(QStringLiteral("B ") + titles[1])
                .contains(QStringLiteral("B amp-fp16, check on, schedule waits")));
    const Field* const held[] = {findField("scaler.hold_schedule")};
    QVERIFY(!laneTitleWithout(config, 1, held).contains(QStringLiteral("schedule")));
    const Field& shuffle = *findField("data.shuffle");
    QCOMPARE(settingWords(shuffle, false, nameInTitles), std::string("Shuffle off"));
    QCOMPARE(settingWords(shuffle, false), std::string("shuffle false")); // for a command
}

/// The samples of a small batch go first, then the precision and the ends of words, so that six
/// lanes can be told apart in a narrow column.
void TestLaneWords::narrowCardsKeepWhatDiffers() {
    LaneFacts facts;
    facts.scales = false;
    LaneCard card(1, facts);
    LaneStatus status;
    status.title = QStringLiteral("amp-fp16, First\u00a0scale 2^4");
    constexpr int64_t kSmallBatch = 6;
    status.last.step = 1;
    card.show(status, kSmallBatch);
    card.setCompact(true);
    card.setVisible(true);
    const auto* title = card.findChild<QLabel*>();
    const auto whole = [&card] {
        const auto labels = card.findChildren<QLabel*>();
        return std::any_of(labels.begin(), labels.end(), [](const QLabel* each) {
            return each->text().contains(QStringLiteral("6 samples"));
        });
    };
    QStringList said;
    constexpr int kNarrowest = 120;
    for (int width = 400; width >= std::max(kNarrowest, card.minimumSizeHint().width()); --width) {
        card.resize(width, 200);
        QCoreApplication::processEvents();
        if (!said.contains(title->text())) said << title->text();
        QVERIFY2(!whole() || said.size() == 1, qPrintable(title->text()));
    }
    QVERIFY2(said.contains(QStringLiteral("B first scale 2^4")), qPrintable(said.join(u'|')));
    QVERIFY2(said.contains(QStringLiteral("B … 2^4")), qPrintable(said.join(u'|')));
    said.removeOne(QStringLiteral("B …")); // where not even that has room
    for (const QString& each : said)       // the name of the setting is cut, not its value
        QVERIFY2(each.endsWith(QStringLiteral(" 2^4")), qPrintable(said.join(u'|')));
    const QFontMetrics metrics(title->font());
    const QStringList forms = labelForms(QStringLiteral("B ") + status.title);
    QCOMPARE(widest(forms, metrics, metrics.horizontalAdvance(QStringLiteral("B fir… 2^4"))),
             QStringLiteral("B fir… 2^4"));
}

/// In a map of two settings, no form but the letters alone leaves two lanes with the same name.
void TestLaneWords::mapsKeepBothValues() {
    RunConfig config = presetNamed("checkerboard").config;
    config.lanes = parseLanes("amp-fp16,amp-fp16,amp-fp16,amp-fp16");
    for (const char* setting :
         {"lanes.0.scaler.init_scale=16", "lanes.1.scaler.init_scale=16",
          "lanes.0.scaler.growth_interval=20", "lanes.1.scaler.growth_interval=200",
          "lanes.2.scaler.growth_interval=20", "lanes.3.scaler.growth_interval=200"})
        applySetting(config, setting);
    const QStringList titles = laneTitles(config);
    const std::vector<QStringList> forms = formsTogether(laneLabels(titles));
    for (size_t form = 0; form + 1 < forms.size(); ++form) {
        QSet<QString> names;
        for (const QString& label : forms[form])
            names << label.section(u' ', 1);
        QVERIFY2(names.size() == 4, qPrintable(forms[form].join(u'|')));
    }
    QCOMPARE(forms[kBriefestValues][1], QStringLiteral("B … 2^4, … 200"));
    const QStringList alone = labelForms(laneLabels(titles)[1]);
    for (const QString& form : alone.first(alone.size() - 1))
        QVERIFY2(form.contains(QStringLiteral("2^4")) && form.endsWith(QStringLiteral(" 200")),
                 qPrintable(form));
}

/// The list of runs says what the letters of a run stand for.
void TestLaneWords::whatSetsLanesApart() {
    const auto said = [](const char* labels) {
        QString text = QString::fromUtf8(labels);
        for (const char* key : {"scaler.init_scale", "scaler.growth_interval"}) {
            const QString name = QString::fromStdString(nameInTitles(*findField(key)));
            text.replace(QString(name).replace(QChar(QChar::Nbsp), QChar(u' ')), name);
        }
        return lanesApart(text.split(u'|'));
    };
    QCOMPARE(said("A fp32|B amp-fp16"), QString());
    QCOMPARE(
        said("A fp32|B amp-fp16, First scale 2^8|C amp-fp16, Growth interval 20, First scale "
             "2^16|D amp-fp16"),
        QStringLiteral("A fp32; B first scale 2^8; C interval 20, first scale 2^16; D amp-fp16"));
}

} // namespace tst_lane_words

QTEST_MAIN(tst_lane_words::TestLaneWords)
#include "tst_lane_words.moc"
