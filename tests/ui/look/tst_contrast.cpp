// Whether everything that the window draws stands out from its background, in both themes: WCAG 2
// AA, 4.5 for text and 3 for graphics; and whether lanes can be told apart, also with the common
// kinds of colour blindness.
#include "engine/settings/fields.h"
#include "tests/support/opened_window.h"
#include "tests/support/served_events.h"
#include "ui/look/style.h"
#include "ui/look/theme.h"
#include "ui/panels/banner.h"

#include <QAbstractButton>
#include <QApplication>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPainter>
#include <QStyleOption>
#include <QToolButton>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace tst_contrast {

using namespace halfscope;

namespace {

constexpr double kText = 4.5, kGraphics = 3;
constexpr int kLanes = 6;

struct Pair {
    QString what;
    QColor front, back;
    double least;
};

std::vector<Pair> pairsOfPalette(const QPalette& palette) {
    const auto of = [&palette](QPalette::ColorRole role) { return palette.color(role); };
    using P = QPalette;
    std::vector<Pair> pairs;
    for (const auto& [front, back] :
         {std::pair(P::WindowText, P::Window), std::pair(P::Text, P::Base),
          std::pair(P::Text, P::AlternateBase), std::pair(P::ButtonText, P::Button),
          std::pair(P::ToolTipText, P::ToolTipBase), std::pair(P::HighlightedText, P::Highlight),
          std::pair(P::PlaceholderText, P::Base), std::pair(P::Link, P::Base)})
        pairs.push_back(
            {QStringLiteral("palette %1 on %2").arg(front).arg(back), of(front), of(back), kText});
    // the focused control is framed with it
    for (const auto back : {P::Window, P::Base})
        pairs.push_back(
            {QStringLiteral("focus on %1").arg(back), of(P::Highlight), of(back), kGraphics});
    pairs.push_back(
        {QStringLiteral("outline"), OutlinedStyle::outline(palette), of(P::Window), kGraphics});
    return pairs;
}

std::vector<Pair> pairsOfColors(const Colors& colors) {
    std::vector<Pair> pairs;
    for (const auto& [name, text] :
         {std::pair("text", colors.text), std::pair("muted", colors.muted),
          std::pair("accent", colors.accent), std::pair("good", colors.good),
          std::pair("warning", colors.warning), std::pair("error", colors.error)})
        for (const auto& [place, behind] :
             {std::pair("plots", colors.background), std::pair("panels", colors.window)})
            pairs.push_back(
                {QStringLiteral("%1 on %2").arg(QLatin1String(name), QLatin1String(place)), text,
                 behind, kText});
    for (int lane = 0; lane < kLanes; ++lane) {
        const auto add = [&](const char* what, const QColor& front, const QColor& back,
                             double least) {
            pairs.push_back({QLatin1String(what) + laneLetter(lane), front, back, least});
        };
        add("name in a plot, ", colors.laneText(lane), colors.background, kText);
        add("name in a panel, ", colors.laneText(lane), colors.window, kText);
        add("name on a button, ", colors.laneOnButton(lane), colors.button, kText);
        add("curve, ", colors.lane(lane), colors.background, kGraphics);
        add("swatch, ", colors.lane(lane), colors.window, kGraphics);
        add("progress, ", colors.laneBar(lane), colors.grid, kGraphics);
    }
    constexpr int kRuns = 6;
    constexpr double kShades = 1.8; // two lines that cross or lie side by side
    constexpr double kOfRun = 1.4;  // else a curve would seem to be none of a run's
    for (int run = 0; run < kRuns; ++run) {
        pairs.push_back({QStringLiteral("lanes A and B of run %1").arg(run),
                         colors.runPen(run, 0).color(), colors.runPen(run, 1).color(), kShades});
        pairs.push_back({QStringLiteral("lane C of run %1 and text").arg(run),
                         colors.runPen(run, 2).color(), colors.text, kOfRun});
    }
    return pairs;
}

/// Returns the contrast of the ink that differs most from the background, as painted.
double paintedContrast(const QImage& image) {
    std::map<QRgb, int> counts;
    for (int y = 0; y < image.height(); ++y)
        for (int x = 0; x < image.width(); ++x)
            ++counts[image.pixel(x, y)];
    const auto ground =
        std::max_element(counts.begin(), counts.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    double best = 0;
    for (const auto& each : counts)
        best = std::max(best, contrast(QColor(each.first), QColor(ground->first)));
    return best;
}

QString textOf(const QWidget& widget) {
    if (const auto* label = qobject_cast<const QLabel*>(&widget)) return label->text();
    if (const auto* button = qobject_cast<const QAbstractButton*>(&widget)) return button->text();
    if (const auto* box = qobject_cast<const QComboBox*>(&widget)) return box->currentText();
    if (const auto* line = qobject_cast<const QLineEdit*>(&widget)) return line->text();
    return {};
}

/// Returns the texts that are painted with too little contrast.
QStringList faintTexts(QWidget& window) {
    QStringList faint;
    for (QWidget* widget : window.findChildren<QWidget*>()) {
        const QString text = textOf(*widget);
        if (text.isEmpty() || !widget->isVisible() || !widget->isEnabled()) continue;
        if (const double seen = paintedContrast(widget->grab().toImage()); seen < kText)
            faint << QStringLiteral("%1: %2").arg(text).arg(seen);
    }
    return faint;
}

/// A colour as seen without one of the three kinds of cones: Machado, Oliveira and Fernandes 2009,
/// full severity, on linear RGB.
using Sight = std::array<std::array<double, 3>, 3>;
constexpr Sight kUsual{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
constexpr Sight kProtan{{{0.152286, 1.052583, -0.204868},
                         {0.114503, 0.786281, 0.099216},
                         {-0.003882, -0.048116, 1.051998}}};
constexpr Sight kDeutan{{{0.367322, 0.860646, -0.227968},
                         {0.280085, 0.672501, 0.047413},
                         {-0.011820, 0.042940, 0.968881}}};
constexpr Sight kTritan{{{1.255528, -0.076749, -0.178779},
                         {-0.078411, 0.930809, 0.147602},
                         {0.004733, 0.691367, 0.303900}}};

/// Converts to CIE 1976 L*a*b* (D65).
std::array<double, 3> labOf(const QColor& color, const Sight& sight) {
    const auto linear = [](double v) {
        return v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4);
    };
    const std::array<double, 3> rgb{linear(color.redF()), linear(color.greenF()),
                                    linear(color.blueF())};
    std::array<double, 3> seen{};
    for (size_t i = 0; i < 3; ++i)
        for (size_t j = 0; j < 3; ++j)
            seen[i] += sight[i][j] * rgb[j];
    for (double& each : seen)
        each = std::clamp(each, 0.0, 1.0);
    const auto [r, g, b] = seen;
    const auto f = [](double t) { return t > 0.008856 ? std::cbrt(t) : 7.787 * t + 16.0 / 116; };
    const double x = f((0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505);
    const double y = f(0.2126 * r + 0.7152 * g + 0.0722 * b);
    const double z = f((0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089);
    return {116 * y - 16, 500 * (x - y), 200 * (y - z)};
}

/// Whether eyes tell the dashes apart: by a dot more or less, or by dashes twice as long.
bool dashesDiffer(const QVector<qreal>& a, const QVector<qreal>& b) {
    if (a.size() != b.size()) return true;
    if (a.isEmpty()) return false;
    constexpr qreal kDot = 3; // at most: all such lines are dotted
    const qreal low = std::min(a.front(), b.front()), high = std::max(a.front(), b.front());
    return high > kDot && high >= 2 * low;
}
} // namespace

class TestContrast : public QObject {
    Q_OBJECT
private slots:
    void themes_data();
    void themes();
    void lanesApart_data() { themes_data(); }
    void lanesApart();
    void paintedTexts_data() { themes_data(); }
    void paintedTexts();
    void switchedOn_data() { themes_data(); }
    void switchedOn();
    void focusOnFlatButtons_data() { themes_data(); }
    void focusOnFlatButtons();
    void menusHaveAnEdge_data() { themes_data(); }
    void menusHaveAnEdge();
    void banners_data() { themes_data(); }
    void banners();
};

void TestContrast::themes_data() {
    QTest::addColumn<int>("theme");
    QTest::newRow("light") << int(Theme::Light);
    QTest::newRow("dark") << int(Theme::Dark);
}

void TestContrast::themes() {
    QFETCH(const int, theme);
    applyTheme(*qApp, static_cast<Theme>(theme));
    const QPalette palette = QApplication::palette();
    std::vector<Pair> pairs = pairsOfPalette(palette);
    const std::vector<Pair> more = pairsOfColors(colorsFor(palette));
    pairs.insert(pairs.end(), more.begin(), more.end());
    for (const Pair& pair : pairs) {
        const double seen = contrast(pair.front, pair.back);
        QVERIFY2(
            seen >= pair.least,
            qPrintable(QStringLiteral("%1: %2, not %3").arg(pair.what).arg(seen).arg(pair.least)));
    }
}

/// Lanes differ by colour, many times what an eye can just tell (2.3), and by dashes for people for
/// whom that is not enough on thin lines.
void TestContrast::lanesApart() {
    QFETCH(const int, theme);
    constexpr double kApart = 25, kColourBlind = 9;
    applyTheme(*qApp, static_cast<Theme>(theme));
    const Colors colors = colorsFor(QApplication::palette());
    for (const Sight& sight : {kUsual, kProtan, kDeutan, kTritan})
        for (int lane = 0; lane < kLanes; ++lane)
            for (int other = 0; other < lane; ++other) {
                const auto a = labOf(colors.lane(lane), sight);
                const auto b = labOf(colors.lane(other), sight);
                const double apart = std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
                const QString pair = laneLetter(lane) + laneLetter(other);
                QVERIFY2(apart > (sight == kUsual ? kApart : kColourBlind),
                         qPrintable(pair + QString::number(apart)));
                QVERIFY2(dashesDiffer(laneDash(lane), laneDash(other)), qPrintable(pair));
            }
    QCOMPARE(colors.lanePen(0).widthF(), 1.0); // thicker lines are 20 to 60 times slower
}

/// Covers the whole window, with the note on changes that wait for a restart, and the dialogs.
void TestContrast::paintedTexts() {
    QFETCH(const int, theme);
    QFont large = QApplication::font();
    large.setPointSizeF(20); // strokes of small letters are thinner than a pixel, so no pixel is
                             // full ink
    QApplication::setFont(large);
    RunConfig config = tinyConfig(1000);
    config.lanes = parseLanes("fp32,amp-fp16,amp-bf16,fp16,tf32,amp-fp16");
    Opened opened(config);
    MainWindow& window = opened.window;
    window.chooseTheme(static_cast<Theme>(theme));
    QVERIFY(reaches(window, SessionState::Ready));
    window.stepOnce();
    QTRY_VERIFY_WITH_TIMEOUT(window.run().step() == 1, kPatience);
    window.resize(2400, 3000);
    ConfigModel& model = window.config();
    QVERIFY(model.setData(model.index(model.rowOf("model.width")), 9));
    QVERIFY(!model.setData(model.index(model.rowOf("optimizer.lr")), QStringLiteral("much")));
    for (auto* about : window.findChildren<QAction*>())
        if (about->text().contains(QLatin1String("About")) ||
            about->text().contains(QLatin1String("Help and")))
            about->trigger();
    test::serveEvents(200);
    QVERIFY2(faintTexts(window).isEmpty(), qPrintable(faintTexts(window).join(u'\n')));
}

/// A button that is switched on differs from one that is not, and not only in a shade.
void TestContrast::switchedOn() {
    QFETCH(const int, theme);
    applyTheme(*qApp, static_cast<Theme>(theme));
    QToolButton button;
    button.setText(QStringLiteral("Gradients"));
    button.setCheckable(true);
    button.resize(button.sizeHint());
    button.setFocusPolicy(Qt::NoFocus);
    const QImage off = button.grab().toImage();
    button.setChecked(true);
    const QImage on = button.grab().toImage();
    int different = 0;
    for (int y = 0; y < on.height(); ++y)
        for (int x = 0; x < on.width(); ++x)
            different += contrast(on.pixelColor(x, y), off.pixelColor(x, y)) >= kGraphics;
    QVERIFY2(different >= on.width() / 2, qPrintable(QString::number(different)));
}

/// Nothing but its ring tells that a flat button has the keyboard.
void TestContrast::focusOnFlatButtons() {
    QFETCH(const int, theme);
    applyTheme(*qApp, static_cast<Theme>(theme));
    const QPalette palette = QApplication::palette();
    QStyleOptionFocusRect option;
    option.rect = QRect(4, 4, 60, 20);
    option.palette = palette;
    option.state =
        QStyle::State_Enabled | QStyle::State_HasFocus | QStyle::State_KeyboardFocusChange;
    QImage seen(68, 28, QImage::Format_RGB32);
    seen.fill(palette.color(QPalette::Window));
    QPainter painter(&seen);
    OutlinedStyle().drawPrimitive(QStyle::PE_FrameFocusRect, &option, &painter);
    painter.end();
    for (const QPoint edge : {QPoint(34, 4), QPoint(34, 23), QPoint(4, 14), QPoint(63, 14)})
        QVERIFY2(contrast(seen.pixelColor(edge), palette.color(QPalette::Window)) >=
                     kGraphics - 0.1,
                 qPrintable(seen.pixelColor(edge).name()));
}

/// A menu over pictures or plots has the colour of what lies below it.
void TestContrast::menusHaveAnEdge() {
    QFETCH(const int, theme);
    applyTheme(*qApp, static_cast<Theme>(theme));
    QMenu menu;
    menu.addAction(QStringLiteral("Copy pictures"));
    menu.resize(menu.sizeHint());
    const QImage seen = menu.grab().toImage();
    const QColor below = QApplication::palette().color(QPalette::Base);
    const int right = seen.width() - 1, bottom = seen.height() - 1;
    for (const QPoint edge : {QPoint(0, bottom / 2), QPoint(right, bottom / 2),
                              QPoint(right / 2, 0), QPoint(right / 2, bottom)})
        QVERIFY2(contrast(seen.pixelColor(edge), below) >= kGraphics - 0.1,
                 qPrintable(seen.pixelColor(edge).name()));
}

/// Checked in the theme that the window starts with, and in one that is chosen later.
void TestContrast::banners() {
    QFETCH(const int, theme);
    const auto first = static_cast<Theme>(theme);
    const Theme second = first == Theme::Light ? Theme::Dark : Theme::Light;
    applyTheme(*qApp, second);
    WindowOptions options;
    options.theme = first;
    Opened opened(tinyConfig(5), options);
    auto* banner = opened.window.findChild<Banner*>();
    banner->showText(QStringLiteral("Words of the banner"));
    // on the window's background: a label grabbed alone has its own
    const auto* label = banner->findChild<QLabel*>();
    const auto seen = [&] {
        test::serveEvents(50);
        const QRect place(label->mapTo(&opened.window, QPoint()), label->size());
        return paintedContrast(opened.window.grab(place).toImage());
    };
    QVERIFY(seen() >= kText);
    opened.window.chooseTheme(second);
    QVERIFY(seen() >= kText);
}

} // namespace tst_contrast

QTEST_MAIN(tst_contrast::TestContrast)
#include "tst_contrast.moc"
