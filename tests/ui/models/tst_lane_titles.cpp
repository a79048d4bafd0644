// What lanes are called on screen: by what sets lanes of one precision apart, as briefly as the
// room requires.
#include "engine/settings/fields.h"
#include "engine/settings/precision.h"
#include "tests/support/fed_run.h"
#include "tests/support/opened_window.h"
#include "tests/support/plot_parts.h"
#include "ui/images/compare_view.h"
#include "ui/images/image_view.h"
#include "ui/images/pane_titles.h"
#include "ui/look/text_fit.h"
#include "ui/look/theme.h"
#include "ui/models/lane_titles.h"
#include "ui/models/run_model.h"
#include "ui/models/translated.h"
#include "ui/panels/scaler_panel.h"
#include "ui/panels/section.h"
#include "ui/panels/setup_panel.h"
#include "ui/plots/gradient_view.h"
#include "ui/plots/plot_panel.h"
#include "ui/plots/plot_stack.h"

#include <QLabel>
#include <QScrollArea>

#include <algorithm>
#include <set>
#include <vector>

namespace tst_lane_titles {

using namespace halfscope;

namespace {

RunConfig withLanes(const char* lanes, std::initializer_list<const char*> settings = {}) {
    RunConfig config = tinyConfig(1000000);
    config.lanes = parseLanes(lanes);
    for (const char* setting : settings)
        applySetting(config, setting);
    return config;
}

/// Joins the words of the settings' names, as titles have them.
QString joinedNames(QString text) {
    for (const char* name : {"First scale", "Fixed scale", "Growth interval", "Growth factor",
                             "Loss scaling", "FP8 scaling", "Scaler rules"}) {
        const QString words = QString::fromLatin1(name);
        text.replace(words, QString(words).replace(QChar(u' '), QChar(QChar::Nbsp)));
    }
    text.replace(QStringLiteral(" then "), QStringLiteral("\u00a0then\u00a0"));
    return text;
}
} // namespace

class TestLaneTitles : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { QLocale::setDefault(QLocale::c()); }
    void titles_data();
    void titles();
    void varyingSettingsAreLeftOut();
    void forkNamesItsParent_data();
    void forkNamesItsParent();
    void presetsHaveTitlesOfTheirOwn();
    void forms();
    void valuesAreAlike_data();
    void valuesAreAlike();
    void valuesKeepAWord();
    void formsTogetherAreAlike();
    void samePrecisionGoesFirst();
    void shortNamesAreClear();
    void barestForms_data();
    void barestForms();
    void captionsAreAlike();
    void gradientsAreAlike();
    void notesGoBeforeSettings();
    void captionsCutNoName();
    void savedPicturesHaveWholeTitles();
    void shownEverywhere();
    void longTitleMakesNothingWider();
    void liveEditRenames();
};

void TestLaneTitles::titles_data() {
    QTest::addColumn<RunConfig>("config");
    QTest::addColumn<QString>("titles");
    const auto row = [](const char* name, const RunConfig& config, const char* titles) {
        QTest::newRow(name) << config << joinedNames(QString::fromUtf8(titles));
    };
    row("nothing alike", withLanes("fp32,amp-fp16"), "fp32 | amp-fp16");
    row("alike", withLanes("fp32,amp-fp16,amp-fp16"), "fp32 | amp-fp16 | amp-fp16-2");
    row("first scale", withLanes("amp-fp16,amp-fp16,fp32", {"lanes.0.scaler.init_scale=16777216"}),
        "amp-fp16, First scale 2^24 | amp-fp16, First scale 2^16 | fp32");
    row("two of three", withLanes("amp-fp16,amp-fp16,amp-fp16", {"lanes.2.scaler.init_scale=3"}),
        "amp-fp16, First scale 2^16 | amp-fp16-2, First scale 2^16 | amp-fp16, First scale 3");
    row("most telling first",
        withLanes("amp-fp16,amp-fp16,amp-fp16",
                  {"lanes.0.scaler.init_scale=1024", "lanes.1.scaler.init_scale=1024",
                   "lanes.1.scaler.growth_interval=20"}),
        "amp-fp16, First scale 2^10, Growth interval 2000 | "
        "amp-fp16, Growth interval 20, First scale 2^10 | "
        "amp-fp16, First scale 2^16, Growth interval 2000");
    row("scalers of other systems",
        withLanes("amp-fp16,amp-fp16",
                  {"lanes.0.scaler.preset=deepspeed", "lanes.1.scaler.preset=apex"}),
        "amp-fp16, Scaler rules deepspeed | amp-fp16, Scaler rules apex");
    row("scales held fixed",
        withLanes("amp-fp16,amp-fp16,amp-fp16",
                  {"lanes.0.scaler.mode=static", "lanes.0.scaler.init_scale=1",
                   "lanes.1.scaler.mode=static", "lanes.1.scaler.init_scale=0.0009765625",
                   "lanes.2.scaler.mode=static"}),
        "amp-fp16, Fixed scale 2^0 | amp-fp16, Fixed scale 2^-10 | amp-fp16, Fixed scale 2^16");
    RunConfig setByHand =
        withLanes("amp-fp16,amp-fp16", {"lanes.0.scaler.mode=static", "lanes.0.scaler.init_scale=8",
                                        "lanes.1.scaler.mode=static"});
    const auto setTo = [&](const char* name, double scale, int64_t step, int lane, QString scales) {
        const QString before = QStringLiteral("amp-fp16, Fixed scale ");
        setByHand.edits.push_back({step, lane, kLiveScale, FieldValue(scale)});
        row(name, setByHand, qPrintable(before + scales.replace(" | ", " | " + before)));
    };
    setTo("a scale set by hand", 32768, 5, 1, "2^3 | 2^16 then 2^15");
    setTo("and undone at once", 65536, 5, 1, "2^3 | 2^16");
    setTo("and in another lane", 4, 6, 0, "2^3 then 2^2 | 2^16");
    setTo("and back after some steps", 8, 9, 0, "2^3 then 2^2 then 2^3 | 2^16");
    setTo("and once more", 2, 12, 0, "2^3 then \u2026 then 2^1 | 2^16");
    setByHand.edits.clear();
    setTo("before the first step", 4, 1, 0, "2^2 | 2^16");
    row("mode", withLanes("amp-fp16,amp-fp16", {"lanes.0.scaler.mode=off"}),
        "amp-fp16, Loss scaling off | amp-fp16, Loss scaling dynamic");
    row("policy files",
        withLanes("user,user", {"lanes.0.precision.policy=some/where/mine.json",
                                "lanes.1.precision.policy=b.json"}),
        "user, mine | user, b");
    row("layers", withLanes("amp-fp16,amp-fp16", {"lanes.1.precision.layers=layer 1=float32"}),
        "amp-fp16 | amp-fp16, layer 1=fp32");
    row("layers of every type",
        withLanes("fp8,fp8", {"lanes.1.precision.layers=layer 0=bfloat16, layer 1=float16"}),
        "fp8 | fp8, layer 0=bf16, layer 1=fp16");
    // B keeps its name whatever C gets; of a layer's own type there is less to say than of all
    row("nothing of its own",
        withLanes("fp32,fp8,fp8", {"lanes.2.precision.layers=layer 0=bfloat16",
                                   "lanes.2.precision.fp8_scaling=none"}),
        "fp32 | fp8 | fp8, FP8 scaling none, layer 0=bf16");
    row("a scaler of another lane",
        withLanes("fp32,fp8,fp8",
                  {"lanes.2.precision.layers=layer 0=bfloat16",
                   "lanes.2.precision.fp8_scaling=none", "lanes.2.scaler.mode=static"}),
        "fp32 | fp8 | fp8, FP8 scaling none, Scaler rules static, …");
    row("a scaler beside none", withLanes("fp8,fp8", {"lanes.1.scaler.mode=static"}),
        "fp8 | fp8, Scaler rules static");
    row("a fixed scale tells its rules",
        withLanes("fp32,fp8,fp8",
                  {"lanes.2.precision.fp8_scaling=none", "lanes.2.scaler.mode=static",
                   "lanes.2.scaler.init_scale=16384"}),
        "fp32 | fp8 | fp8, FP8 scaling none, Fixed scale 2^14");
    row("its own before the usual",
        withLanes("amp-fp16,amp-fp16,amp-fp16",
                  {"lanes.0.scaler.growth_interval=20", "lanes.1.scaler.growth_interval=20",
                   "lanes.1.scaler.init_scale=8", "lanes.2.scaler.init_scale=8"}),
        "amp-fp16, Growth interval 20, First scale 2^16 | amp-fp16, First scale 2^3, Growth "
        "interval "
        "20 | amp-fp16, First scale 2^3, Growth interval 2000");
    row("too much to say",
        withLanes("amp-fp16,amp-fp16",
                  {"lanes.1.scaler.init_scale=8", "lanes.1.scaler.growth_factor=4",
                   "lanes.1.scaler.growth_interval=20"}),
        "amp-fp16, First scale 2^16, Growth factor 2, … | amp-fp16, First scale 2^3, Growth factor "
        "4, "
        "…");
}

void TestLaneTitles::titles() {
    QFETCH(const RunConfig, config);
    QFETCH(const QString, titles);
    QCOMPARE(laneTitles(config).join(QStringLiteral(" | ")), titles);
}

/// A map of a setting does not say which value its lane has now.
void TestLaneTitles::varyingSettingsAreLeftOut() {
    const RunConfig config = withLanes(
        "amp-fp16,amp-fp16", {"lanes.1.scaler.init_scale=8", "lanes.1.scaler.growth_interval=1"});
    const std::vector<const Field*> one{findField("scaler.growth_interval")},
        both{findField("scaler.growth_interval"), findField("scaler.init_scale")};
    QCOMPARE(laneTitleWithout(config, 1, {}),
             joinedNames(QStringLiteral("amp-fp16, First scale 2^3, Growth interval 1")));
    QCOMPARE(laneTitleWithout(config, 1, one),
             joinedNames(QStringLiteral("amp-fp16, First scale 2^3")));
    QCOMPARE(laneTitleWithout(config, 1, both), QStringLiteral("amp-fp16"));
}

void TestLaneTitles::forkNamesItsParent_data() {
    QTest::addColumn<RunConfig>("config");
    QTest::addColumn<int>("parent");
    QTest::addColumn<QString>("titles");
    QTest::newRow("another first scale, which it never used")
        << withLanes("amp-fp16,amp-fp16,amp-fp16",
                     {"lanes.0.scaler.init_scale=4", "lanes.1.scaler.init_scale=8"})
        << 0
        << QStringLiteral(
               "amp-fp16, First scale 2^2 | amp-fp16, First scale 2^3 | amp-fp16, from A");
    QTest::newRow("another rule") << withLanes("fp32,amp-fp16,amp-fp16",
                                               {"lanes.2.scaler.growth_interval=20"})
                                  << 1
                                  << QStringLiteral("fp32 | amp-fp16, Growth interval 2000 | "
                                                    "amp-fp16, Growth interval 20, from B");
    QTest::newRow("the same in all") << withLanes("fp32,amp-fp16,amp-fp16") << 1
                                     << QStringLiteral("fp32 | amp-fp16 | amp-fp16, from B");
    QTest::newRow("it is new") << withLanes("fp32,amp-fp16,amp-fp16") << kNewLane
                               << QStringLiteral("fp32 | amp-fp16 | amp-fp16, new");
    QTest::newRow("its parent has no scale")
        << withLanes("fp32,amp-fp16,amp-fp16", {"lanes.2.scaler.init_scale=8"}) << 0
        << QStringLiteral("fp32 | amp-fp16, First scale 2^16 | amp-fp16, First scale 2^3, from A");
    QTest::newRow("another precision")
        << withLanes("fp32,amp-fp16,amp-bf16") << 1 << QStringLiteral("fp32 | amp-fp16 | amp-bf16");
}

/// A forked lane starts at the loss scale that its parent had then: a title with its setting
/// "init_scale" would name a scale that it never had.
void TestLaneTitles::forkNamesItsParent() {
    QFETCH(const RunConfig, config);
    QFETCH(const int, parent);
    QFETCH(const QString, titles);
    const std::vector<int> parents{-1, -1, parent};
    QString text = laneTitles(config, parents).join(QStringLiteral(" | "));
    QCOMPARE(text.replace(QChar(QChar::Nbsp), QChar(u' ')), titles);
    const QString fork = QStringLiteral("C ") + laneTitles(config, parents).back();
    QVERIFY(labelForms(fork).back() != QStringLiteral("C A"));
    QVERIFY(labelForms(fork).back() != QStringLiteral("C B"));
}

/// No two lanes of a preset have the same name, and none is called by a bare number.
void TestLaneTitles::presetsHaveTitlesOfTheirOwn() {
    for (const Preset& preset : presets()) {
        QStringList titles = laneTitles(preset.config);
        const auto lanes = titles.size();
        for (const QString& title : titles)
            QVERIFY2(!title.endsWith(QLatin1String("-2")), qPrintable(title));
        titles.removeDuplicates();
        QVERIFY2(titles.size() == lanes, preset.name.c_str());
    }
}

void TestLaneTitles::forms() {
    QCOMPARE(labelForms(QStringLiteral("A fp32")).join(u'|'), QStringLiteral("A fp32"));
    const QStringList forms =
        labelForms(joinedNames(QStringLiteral("B amp-fp16, First scale 2^24, Growth interval 20")));
    QCOMPARE(forms.join(u'|'),
             joinedNames(QStringLiteral("B amp-fp16, First scale 2^24, Growth interval 20|"
                                        "B amp-fp16, first scale 2^24, interval 20|"
                                        "B first scale 2^24, interval 20|"
                                        "B fir… 2^24, int… 20|B … 2^24, … 20|B … 2^24")));
    QVERIFY(labelForms(
                joinedNames(QStringLiteral("B amp-fp16, First scale 2^24, Growth interval 20, …")))
                .contains(QStringLiteral("B amp-fp16, first scale 2^24, interval 20, …")));
    QVERIFY(labelForms(joinedNames(QStringLiteral("B amp-fp16, Growth interval 20")))
                .contains(QStringLiteral("B interval 20")));
    QCOMPARE(labelForms(joinedNames(QStringLiteral("B amp-fp16, Fixed scale 2^0"))).join(u'|'),
             joinedNames(QStringLiteral("B amp-fp16, Fixed scale 2^0|B amp-fp16, scale 2^0|"
                                        "B scale 2^0|B sca… 2^0|B … 2^0")));
    QVERIFY(labelForms(joinedNames(QStringLiteral("B fp8, FP8 scaling none")))
                .contains(QStringLiteral("B FP8 scaling none")));
    QVERIFY(labelForms(QStringLiteral("C fp8, layer 0=bf16"))
                .contains(QStringLiteral("C layer 0=bf16")));
    const QString scaler = joinedNames(QStringLiteral("C amp-fp16, Scaler rules apex"));
    QCOMPARE(labelForms(scaler).back().count(u'…'), 0);
    const QFontMetrics metrics{QFont()};
    for (const QString& form : forms) // each in a width where it just fits
        QCOMPARE(widest(forms, metrics, metrics.horizontalAdvance(form)), form);
    const QString cut = widest(forms, metrics, metrics.horizontalAdvance(forms.back()) - 1);
    QVERIFY2(cut.contains(QChar(0x2026)), qPrintable(cut));
}

/// A card says the same of a lane, alone or among others, whatever sets it apart.
void TestLaneTitles::valuesAreAlike_data() {
    QTest::addColumn<QString>("title");
    QTest::addColumn<QString>("values");
    const auto row = [](const char* title, const char* values) {
        QTest::newRow(title) << joinedNames(QString::fromUtf8(title)) << QString::fromUtf8(values);
    };
    row("Growth interval 20, First scale 2^10", "interval 20, first scale 2^10");
    row("Growth interval 20, from\u00a0A", "interval 20, from\u00a0A"); // a lane that continues A
    row("Scaler rules apex, layer 0=bf16", "apex, layer 0=bf16");
    row("my own policy, First scale 2^10", "my own policy, first scale 2^10"); // a file's name
    row("First scale 2^24, Growth factor 4, …", "first scale 2^24, growth 4, …");
}

void TestLaneTitles::valuesAreAlike() {
    QFETCH(const QString, title);
    QFETCH(const QString, values);
    const QString label = QStringLiteral("B amp-fp16, ") + title;
    const QStringList forms = labelForms(label);
    QVERIFY2(forms.contains(QStringLiteral("B amp-fp16, ") + values), qPrintable(forms.join(u'|')));
    QCOMPARE(formsTogether({QStringLiteral("A fp32"), label})[1][1],
             QStringLiteral("B amp-fp16, ") + values);
    QVERIFY(forms.contains(QStringLiteral("B ") + values));
}

/// Of no setting a bare value is left: "C 200" says nothing.
void TestLaneTitles::valuesKeepAWord() {
    int settings = 0;
    for (const Field& field : fieldTable()) {
        if (field.scope != FieldScope::Lane || field.key == "precision") continue;
        // their value is a name
        if (field.key == "scaler.preset" || field.kind == FieldKind::Path) continue;
        if (field.kind == FieldKind::Text) continue;
        const QString name = QString::fromStdString(nameInTitles(field));
        const QStringList forms = labelForms(QStringLiteral("B amp-fp16, %1 7").arg(name));
        const QString last = forms[forms.size() - 2]; // "B int… 7"
        QVERIFY2(forms.back() == QStringLiteral("B … 7"), qPrintable(forms.back()));
        QVERIFY2(last[2].isLetter() && last[3].isLetter() && last.endsWith(QStringLiteral(" 7")),
                 qPrintable(QString::fromStdString(field.key) + u' ' + last));
        ++settings;
    }
    QVERIFY(settings > 15);
}

/// Pictures side by side name their lanes in the same form.
void TestLaneTitles::formsTogetherAreAlike() {
    const QStringList labels{QStringLiteral("A fp32"),
                             joinedNames(QStringLiteral("B amp-fp16, First scale 2^24")),
                             joinedNames(QStringLiteral("C amp-fp16, Growth interval 20, First "
                                                        "scale 2^16"))};
    QStringList said;
    for (const QStringList& form : formsTogether(labels))
        said << form.join(u'|');
    QCOMPARE(said.size(), 10);
    QCOMPARE(said[0], labels.join(u'|'));
    QCOMPARE(said[1], QStringLiteral("A fp32|B amp-fp16, first scale 2^24|C amp-fp16, interval "
                                     "20, first scale 2^16"));
    QCOMPARE(said[kBriefestNames],
             QStringLiteral("A fp32|B amp-fp16, first scale 2^24|C amp-fp16, interval 20"));
    // the precision that B and C share tells less than what sets them apart
    QCOMPARE(said[4], QStringLiteral("A fp32|B first scale 2^24|C interval 20"));
    QCOMPARE(said[5], QStringLiteral("A fp32|B fir… 2^24|C int… 20"));
    QCOMPARE(said[kBriefestValues], QStringLiteral("A fp32|B … 2^24|C … 20"));
    QCOMPARE(said[9], QStringLiteral("A|B|C"));
    const std::vector<QStringList> layer = formsTogether( // B has nothing of its own
        {QStringLiteral("A fp32"), QStringLiteral("B fp8"), QStringLiteral("C fp8, layer 0=bf16")});
    QCOMPARE(layer[4].join(u'|'), QStringLiteral("A fp32|B fp8|C layer 0=bf16"));
}

/// What all lanes have in common goes first.
void TestLaneTitles::samePrecisionGoesFirst() {
    const QStringList labels{joinedNames(QStringLiteral("A amp-fp16, Fixed scale 2^0")),
                             joinedNames(QStringLiteral("B amp-fp16, Growth interval 20, First "
                                                        "scale 2^16"))};
    QStringList said;
    for (const QStringList& form : formsTogether(labels))
        said << form.join(u'|');
    QCOMPARE(said[1],
             QStringLiteral("A amp-fp16, scale 2^0|B amp-fp16, interval 20, first scale 2^16"));
    QCOMPARE(said[2], QStringLiteral("A scale 2^0|B interval 20, first scale 2^16"));
    QCOMPARE(said[kBriefestNames], QStringLiteral("A scale 2^0|B interval 20"));
    QCOMPARE(said[kBriefestNames + 2], QStringLiteral("A sca… 2^0|B int… 20"));
    QCOMPARE(said[kBriefestValues], QStringLiteral("A … 2^0|B … 20"));
}

/// No form of a lane's name is the name of another precision, whichever lanes stand beside it.
void TestLaneTitles::shortNamesAreClear() {
    const auto names = [](const QString& said, const PrecisionPreset& preset) {
        const QString name = QString::fromLatin1(preset.name);
        return said == name || said.startsWith(name + u'-');
    };
    for (const PrecisionPreset& own : precisionPresets())
        for (const char* lanes : {"A %1", "A fp32|B %1", "A amp-bf16|B %1", "A %1|B %1-2"}) {
            const QString labels = QString::fromLatin1(lanes).arg(QLatin1String(own.name));
            for (const QStringList& form : formsTogether(labels.split(u'|')))
                for (const PrecisionPreset& other : precisionPresets())
                    QVERIFY2(&other == &own || !names(form.back().mid(2), other),
                             qPrintable(form.join(u'|')));
        }
    const QString forks = joinedNames(QStringLiteral("A fp32|B amp-fp16, Scaler rules static|"
                                                     "C amp-fp16, Scaler rules pytorch, "
                                                     "from\u00a0A"));
    for (const QStringList& form : formsTogether(forks.split(u'|'))) // all parts can be brief
        QVERIFY2(!form.last().contains(QChar(0x2026)), qPrintable(form.last()));
}

void TestLaneTitles::barestForms_data() {
    QTest::addColumn<QString>("labels");
    QTest::addColumn<QString>("said");
    const auto row = [](const char* labels, const char* said) {
        QTest::newRow(labels) << QString::fromLatin1(labels) << QString::fromLatin1(said);
    };
    row("A fp32|B tf32|C amp-fp16|D torch-cpu-fp16|E keras-mixed-float16",
        "A fp32|B tf32|C amp|D torch|E keras");
    row("A fp32|B amp-fp16", "A fp32|B amp");
    row("A fp32|B amp-fp16|C amp-bf16", "A fp32|B amp-fp16|C amp-bf16");
    row("A fp32|B amp-fp16|C fp16", "A fp32|B amp|C fp16");
    row("A apex-o0|B apex-o1", "A o0|B o1");
    row("A torch-cpu-fp16|B torch-cpu-bf16|C torch-xpu-fp16", "A cpu-fp16|B cpu-bf16|C torch-xpu");
    row("A amp-fp16|B amp-fp16-2", "A amp-fp16|B amp-fp16-2");
    row("A amp-fp16, mode off|B amp-fp16, mode dynamic",
        "A amp-fp16, mode off|B amp-fp16, mode dynamic");
}

/// Each form tells its lane from the others.
void TestLaneTitles::barestForms() {
    QFETCH(const QString, labels);
    const QStringList all = labels.split(u'|');
    QStringList said;
    for (int lane = 0; lane < all.size(); ++lane)
        said << distinctLabel(all, lane);
    QTEST(said.join(u'|'), "said");
}

/// One pane that has room for more words says no more than the others.
void TestLaneTitles::captionsAreAlike() {
    CompareView pictures;
    pictures.setLanes(
        laneTitles(withLanes("fp32,amp-fp16,amp-fp16", {"lanes.1.scaler.growth_interval=20",
                                                        "lanes.2.scaler.growth_interval=200",
                                                        "lanes.2.scaler.init_scale=16777216"})));
    pictures.show();
    bool brief = false, apart = false;
    for (int width = 1600; width >= 200; width -= 20) {
        pictures.resize(width, 220);
        QCoreApplication::processEvents();
        QStringList labels, said;
        for (int lane = 0; lane < 3; ++lane) {
            labels << pictures.view(lane).title();
            said << pictures.view(lane).shownTitle();
        }
        const std::vector<QStringList> forms = formsTogether(labels);
        QVERIFY2(std::find(forms.begin(), forms.end(), said) != forms.end(),
                 qPrintable(said.join(u'|')));
        brief = brief || said[2] == QStringLiteral("C amp-fp16, first scale 2^24, interval 200");
        apart = apart || said[2] == QStringLiteral("C first scale 2^24");
    }
    QVERIFY(brief);
    QVERIFY(apart); // where both do not fit, the values do
}

/// Nor does a row of gradients.
void TestLaneTitles::gradientsAreAlike() {
    const QStringList titles =
        laneTitles(withLanes("amp-fp16,amp-fp16,amp-fp16", {"lanes.1.scaler.growth_interval=20",
                                                            "lanes.2.scaler.growth_interval=200",
                                                            "lanes.2.scaler.init_scale=16777216"}));
    std::vector<GradientRange> ranges(3);
    for (GradientRange& each : ranges)
        each.type = DType::F16;
    ranges[1].outputs.notFinite = 1; // so that its figures are short
    GradientView view;
    view.setLanes(titles);
    view.setRanges(ranges);
    const std::vector<QStringList> forms = formsTogether(laneLabels(titles));
    std::set<QStringList> shown;
    for (int width = 800; width >= 120; width -= 10) {
        view.resize(width, 300);
        const auto [labels, figures] = view.captions();
        QVERIFY2(std::find(forms.begin(), forms.end(), labels) != forms.end(),
                 qPrintable(labels.join(u'|')));
        QCOMPARE(figures.size(), 3);
        shown.insert(labels);
    }
    QVERIFY(shown.size() > 2);
}

/// The error is what one looks for: names give way to it, but for the precision.
void TestLaneTitles::notesGoBeforeSettings() {
    const QStringList labels{QStringLiteral("A fp32"),
                             joinedNames(QStringLiteral("B amp-fp16, First scale 2^24"))};
    const auto chosen = [&labels](qsizetype room) {
        const std::vector<QStringList> notes{{QStringLiteral("1 dB"), QStringLiteral("2 dB"), {}}};
        const PaneTitles made =
            titlesTogether(labels, {QStringLiteral("T")}, notes,
                           [room](int, const QString& title, const QString& note, TitleSize size) {
                               const bool small = size == TitleSize::Small;
                               return title.size() - (small ? 2 : 0) + note.size() <= room;
                           });
        const bool small = made.size == TitleSize::Small;
        return made.titles[1] + u'|' + made.notes.value(1) +
               (small ? QStringLiteral("|small") : QString());
    };
    const QString named = labels[1];
    QCOMPARE(chosen(named.size() + 4), named + QStringLiteral("|2 dB"));
    QCOMPARE(chosen(named.size()), QStringLiteral("B amp-fp16|2 dB"));
    QCOMPARE(chosen(named.size() - 1), QStringLiteral("B amp-fp16|2 dB"));
    QCOMPARE(chosen(10), QStringLiteral("B amp-fp16|"));
    QCOMPARE(chosen(9), QStringLiteral("B amp-fp16||small")); // rather than a letter alone
    QCOMPARE(chosen(7), QStringLiteral("B|"));
}

/// Above six narrow pictures, no name is cut.
void TestLaneTitles::captionsCutNoName() {
    CompareView pictures;
    pictures.setLanes(laneTitles(presetNamed("policies").config));
    pictures.resize(650, 200);
    pictures.show();
    QCoreApplication::processEvents();
    QStringList said;
    for (int lane = 0; lane < 5; ++lane)
        said << pictures.view(lane).shownTitle();
    QVERIFY2(!said.join(u'|').contains(QChar(0x2026)), qPrintable(said.join(u'|')));
    QCOMPARE(said[3].left(7), QStringLiteral("D torch"));
    QCOMPARE(pictures.view(3).title(), QStringLiteral("D torch-cpu-fp16"));
    pictures.resize(240, 150); // 1280 x 800 at scale factor 2
    QTRY_COMPARE(pictures.view(3).shownTitle(), QStringLiteral("D"));
}

/// Nobody can point at a letter in a file: long titles go on there in further lines.
void TestLaneTitles::savedPicturesHaveWholeTitles() {
    CompareView pictures;
    const auto shown = [&pictures](const QStringList& titles) {
        pictures.setLanes(titles);
        pictures.resize(240, 150);
        pictures.show();
        QCoreApplication::processEvents();
        return pictures.view(1).shownTitle();
    };
    const QStringList titles = laneTitles(
        withLanes("fp32,amp-fp16,amp-fp16,amp-bf16,fp8,fp16",
                  {"lanes.1.scaler.init_scale=16777216", "lanes.1.scaler.growth_interval=777"}));
    const QString brief = shown(titles);
    QVERIFY2(!brief.contains(u'^'), qPrintable(brief));
    const QImage image = pictures.picture(paperColors());
    QCOMPARE(pictures.view(1).shownTitle(), brief); // the window stays as it is
    QStringList others = titles;
    others[1].replace(QStringLiteral("2^24"), QStringLiteral("2^20"));
    QVERIFY(others != titles);
    QCOMPARE(shown(others), brief);
    const QImage other = pictures.picture(paperColors());
    QCOMPARE(image.size(), other.size());
    QVERIFY(image != other); // the scale can be read
    shown(QStringList(6, QStringLiteral("a")));
    QVERIFY(pictures.picture(paperColors()).height() <
            image.height()); // no line more than the titles need
}

void TestLaneTitles::shownEverywhere() {
    Opened opened(withLanes("amp-fp16,amp-fp16", {"lanes.1.scaler.init_scale=1024"}));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    const QString label = joinedNames(QStringLiteral("B amp-fp16, First scale 2^10"));
    const auto cards = window.findChildren<LaneCard*>();
    QCOMPARE(cards.size(), 2);
    QCOMPARE(cards[1]->accessibleName(), label);
    QVERIFY(cards[1]->findChild<QLabel*>()->toolTip().startsWith(label));
    QCOMPARE(window.findChild<CompareView*>()->view(1).title(), label);
    QStringList sections;
    for (const auto* section : window.setup().findChildren<Section*>())
        sections << section->title();
    QVERIFY(sections.contains(label));
    window.stepOnce();
    QTRY_VERIFY_WITH_TIMEOUT(window.run().step() == 1, kPatience);
    QVERIFY2(
        window.run().summary().contains(joinedNames(QStringLiteral("B First scale 2^10:\u00a0"))),
        qPrintable(window.run().summary()));
    QTest::keyClick(&window.plots(), Qt::Key_End);
    QVERIFY2(window.plots().accessibleDescription().contains(label),
             qPrintable(window.plots().accessibleDescription()));
    // files keep the names that the command line uses
    QCOMPARE(window.run().lane(1).name, QStringLiteral("amp-fp16-2"));
}

void TestLaneTitles::longTitleMakesNothingWider() {
    Opened opened(withLanes("amp-fp16,amp-fp16",
                            {"lanes.1.scaler.init_scale=1024", "lanes.1.scaler.growth_interval=20",
                             "lanes.1.scaler.growth_factor=4"}));
    QVERIFY(reaches(opened.window, SessionState::Ready));
    const auto* settings = opened.window.setup().findChild<QScrollArea*>();
    QVERIFY(settings->widget()->width() <= settings->viewport()->width());
    std::set<int> widths;
    for (const auto* card : opened.window.findChildren<LaneCard*>())
        widths.insert(card->minimumSizeHint().width());
    FedModel brief;
    brief.start({"a", "b"});
    for (const int lane : {0, 1})
        brief.setGrowthInterval(lane, 20); // the rows of a fixed scale are others
    opened.window.findChild<ScalerPanel*>()->refresh(brief);
    for (const auto* card : opened.window.findChildren<LaneCard*>())
        widths.insert(card->minimumSizeHint().width());
    QCOMPARE(widths.size(), size_t(1));
}

void TestLaneTitles::liveEditRenames() {
    Opened opened(withLanes("amp-fp16,amp-fp16"));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    window.stepOnce();
    QTRY_VERIFY_WITH_TIMEOUT(window.run().step() == 1, kPatience);
    ConfigModel& config = window.config();
    QVERIFY(config.setData(config.index(config.rowOf("scaler.growth_interval", 1)), 20));
    const QString label = joinedNames(QStringLiteral("B amp-fp16, Growth interval 20"));
    QTRY_COMPARE_WITH_TIMEOUT(window.findChild<CompareView*>()->view(1).title(), label, kPatience);
    QCOMPARE(window.findChildren<LaneCard*>()[1]->accessibleName(), label);
    QCOMPARE(window.run().step(), int64_t{1}); // what was trained stays
    QTest::keyClick(&window.plots(), Qt::Key_End);
    QVERIFY(window.plots().accessibleDescription().contains(label));
}

} // namespace tst_lane_titles

QTEST_MAIN(tst_lane_titles::TestLaneTitles)
#include "tst_lane_titles.moc"
