// What views draw of curves, maps of the plane, classes and formulas. tst_dataset tests painted
// pictures and scatters.
#include "engine/data/task_view.h"

#include <QScopeGuard>
#include <QTest>

#include <algorithm>
#include <array>
#include <clocale>
#include <cmath>

namespace tst_task_view {

using namespace halfscope;

class TestTaskView : public QObject {
    Q_OBJECT

private slots:
    void curve();
    void plane();
    void axesOfScatters();
    void formulas();
    void formulasInOtherLocales();
    /// Five pictures of 2 x 1 pixels fill a square, with a line between them.
    void samples() {
        TaskView view;
        view.kind = ViewKind::Samples;
        view.width = 2;
        view.height = 1;
        const std::array<float, 10> values{0.1f, 0.2f, 0.3f, 0.4f, 0.5f, 0.6f, 0.7f, 0.8f, 9, 9};
        const Picture picture = pictureOf(view, {}, values);
        QCOMPARE(picture.width, 5);
        QCOMPARE(picture.height, 3);
        const float line = picture.values.at(2);
        const std::vector<float> wanted{0.1f, 0.2f, line, 0.3f, 0.4f, line, line, line,
                                        line, line, 0.5f, 0.6f, line, 0.7f, 0.8f};
        QCOMPARE(picture.values, wanted);
    }
    void classes() {
        const std::array specs{TensorSpec{"x", {1}}, TensorSpec{"target", {}, DType::I32, 3}};
        Batch batch = Batch::of(specs, 4);
        const std::array<int32_t, 4> labels{0, 0, 1, 1};
        std::copy(labels.begin(), labels.end(), batch.labels(kTarget).begin());
        TaskView view;
        view.kind = ViewKind::Classes;
        view.classes = {"a", "b", "c"};
        const float nan = std::nanf("");
        const std::vector<float> scores{5, 1, 1, 0, 0, 9, nan, 2, 1, 1, 2, nan};
        const Picture picture = pictureOf(view, batch, scores);
        // a is taken once for a and once for c; b twice for b; c does not occur
        const std::vector<float> wanted{0.5f, 1, 0.5f, 1, 0, 1, 1, 1, 1};
        QCOMPARE(picture.values, wanted);
        const std::vector<float> ideal{0, 1, 1, 1, 0, 1, 1, 1, 0}; // of all classes
        QCOMPARE(targetPictureOf(view, batch).values, ideal);
    }
    /// An output of exactly 0 stands for the class 0, as in (logit > 0) of PyTorch.
    void sides() {
        const std::array specs{TensorSpec{"x", {1}}, TensorSpec{"target", {1}}};
        Batch batch = Batch::of(specs, 4);
        std::ranges::copy(std::array{0.0f, 0.0f, 1.0f, 1.0f}, batch.floats(kTarget).begin());
        const std::vector<float> logits{0, 2, std::nanf(""), 0.5f};
        const Picture picture = pictureOf(classesView(2), batch, logits);
        QCOMPARE(picture.values, (std::vector<float>{0.5f, 0.5f, 1, 0.5f}));
        QCOMPARE(picture.caption, std::string("2/4; rows: 2 2"));
    }
};

namespace {

/// Reads a picture whose sides are ranges: the value of a channel at a place.
class Drawing {
public:
    Drawing(const TaskView& view, Picture picture) : m_view(view), m_picture(std::move(picture)) {}
    const float* at(double x, double y) const {
        const auto pixelOf = [](const AxisRange& range, double value, int side) {
            const double share = (value - range.low) / (range.high - range.low);
            return std::clamp(static_cast<int>(share * side), 0, side - 1);
        };
        const int column = pixelOf(m_view.across, x, m_picture.width);
        const int row = m_picture.height - 1 - pixelOf(m_view.up, y, m_picture.height);
        return m_picture.values.data() +
               static_cast<std::ptrdiff_t>((row * m_picture.width + column) * m_picture.channels);
    }
    const Picture& picture() const { return m_picture; }

private:
    TaskView m_view;
    Picture m_picture;
};

Batch batchOf(const std::vector<float>& x, const std::vector<float>& target) {
    const std::array specs{TensorSpec{"x", {1}}, TensorSpec{"target", {1}}};
    Batch batch = Batch::of(specs, static_cast<int64_t>(x.size()));
    std::copy(x.begin(), x.end(), batch.floats(kX).begin());
    std::copy(target.begin(), target.end(), batch.floats(kTarget).begin());
    return batch;
}

} // namespace

void TestTaskView::curve() {
    TaskView view;
    view.kind = ViewKind::Curve;
    view.across = {-1, 3};
    view.up = {-2, 2};
    view.terms = {"x"};
    view.truth = "y = -x";
    view.probe = std::make_shared<Batch>(batchOf({-1, 0, 1, 2, 3}, {1, 0, -1, -2, -3}));
    const Batch batch = batchOf({-0.5f, 2}, {1.5f, 1});
    const float nan = std::nanf("");
    const std::vector<float> prediction{1, 1, 1, nan, 9}; // the line breaks off where the value is
                                                          // nan
    const Drawing lane(view, pictureOf(view, batch, prediction));
    const float sample = *lane.at(-0.5, 1.5), line = *lane.at(0.5, 1), axis = *lane.at(0, -0.5);
    QVERIFY(sample > 0.4f && sample < 0.75f); // grey
    QVERIFY(line < 0.2f);                     // black, over the samples
    QVERIFY(axis > 0.75f && axis < 0.9f);     // faint
    QCOMPARE(*lane.at(-0.5, -1.5), 1.0f);
    QVERIFY(std::isnan(*lane.at(2, -2))); // on the lower edge
    QCOMPARE(lane.picture().caption, std::string());
    const Drawing target(view, targetPictureOf(view, batch));
    QVERIFY(*target.at(1, -1) < 0.2f);
    QVERIFY(*target.at(-0.5, 1.5) < 0.75f);
    QCOMPARE(*target.at(0.5, 1), 1.0f);
    QCOMPARE(target.picture().caption, std::string("y = -x"));
}

void TestTaskView::plane() {
    TaskView view;
    view.kind = ViewKind::Plane;
    view.across = {0, 2};
    view.up = {-1, 1};
    view.classes = {"0", "1"};
    view.marks = {{0.5f, 0.5f, 0}, {1.5f, -0.5f, 1}};
    view.probe = planeGrid(view.across, view.up);
    const std::span<const float> grid = view.probe->floats(kX);
    QCOMPARE(grid[0], 0.0f);
    QCOMPARE(grid[1], -1.0f);
    QCOMPARE(grid[grid.size() - 2], 2.0f);
    QCOMPARE(grid.back(), 1.0f);
    QVERIFY(grid[2] > 0 && grid[3] == -1.0f); // rows from left to right
    // the second class is likely to the right of x = 1; nothing is known above y = 0.8
    std::vector<float> scores;
    for (size_t i = 0; i < grid.size(); i += 2) {
        scores.push_back(grid[i + 1] > 0.8f ? std::nanf("") : -10 * (grid[i] - 1));
        scores.push_back(10 * (grid[i] - 1));
    }
    const Batch none;
    const Drawing lane(view, pictureOf(view, none, scores));
    const auto isBlue = [](const float* rgb) { return rgb[2] > rgb[0] + 0.2f; };
    const auto isOrange = [](const float* rgb) { return rgb[0] > rgb[2] + 0.2f; };
    QVERIFY(isBlue(lane.at(0.2, 0)) && isOrange(lane.at(1.8, 0)));
    QVERIFY(lane.at(1, 0)[0] < 0.5f);                         // the line between the classes
    QVERIFY(lane.at(0.95, 0)[0] > lane.at(0.2, 0)[0] + 0.1f); // paler where the network is less
                                                              // sure
    QVERIFY(std::isnan(lane.at(1, 0.95)[0]));                 // drawn magenta
    const double disc = 4 * 2.0 / 384;                        // four pixels from the centre
    for (const Drawing& each : {lane, Drawing(view, targetPictureOf(view, none))}) {
        QVERIFY(each.at(0.5, 0.5)[0] < 0.1f && each.at(0.5, 0.5)[2] < 0.5f);   // dark blue
        QVERIFY(each.at(0.5, 0.5 + disc)[2] < 0.5f);                           // all of a disc
        QVERIFY(each.at(1.5, -0.5)[0] > 0.4f && each.at(1.5, -0.5)[2] < 0.1f); // dark orange
        QVERIFY(each.at(1.5, -0.5 + disc)[2] > 0.3f);                          // open above
        QVERIFY(each.at(1.5 + 0.7 * disc, -0.5 + 0.7 * disc)[2] < 0.2f);       // an arm of the mark
    }
}

/// The caption of the target tells where the axes run, in the units of the data.
void TestTaskView::axesOfScatters() {
    const auto caption = [](const TaskView& view) {
        Batch batch;
        for (int i = 0; i < 2; ++i) {
            TypedBytes& values = batch.tensors.emplace_back();
            values.shape = Shape{1, 1};
            values.bytes.resize(sizeof(float));
        }
        return targetPictureOf(view, batch).caption;
    };
    QCOMPARE(caption(scatterView(1, 5)), std::string("0.8 to 5.2"));
    QCOMPARE(caption(scatterView(-2, 0.5)), std::string("-2.13 to 0.63"));
    QCOMPARE(caption(scatterView(60'000, 580'000)), std::string("34000 to 606000"));
    QCOMPARE(caption(scatterView(7, 7)), std::string("6 to 8"));
    QCOMPARE(caption(TaskView{}), std::string());
    const std::vector<double> numbers{100, 300};
    const auto of = [&numbers](int64_t columns) {
        return Standardiser::of({columns}, std::vector<int32_t>{0, 1},
                                [&numbers](int32_t row, std::span<double> values) {
                                    std::ranges::fill(values, numbers[static_cast<size_t>(row)]);
                                });
    };
    QCOMPARE(caption(scatterView(-1, 1, of(1))), std::string("90 to 310"));
    QCOMPARE(caption(scatterView(-1, 1, of(2))), std::string()); // each column has its own
}

void TestTaskView::formulas() {
    TaskView view;
    view.terms = {"x²", "x", ""};
    const auto of = [&view](std::vector<float> weights, std::vector<float> bias) {
        return QString::fromStdString(formulaOf(view, weights, bias));
    };
    QCOMPARE(of({4.987f, 0.0112f, 3}, {}), QStringLiteral("y = 4.99 x² + 0.01 x + 3.00"));
    QCOMPARE(of({-5, -0.5f, -3}, {}), QStringLiteral("y = −5.00 x² − 0.50 x − 3.00"));
    QCOMPARE(of({-0.0f, -0.004f, 1e-9f}, {}), QStringLiteral("y = 0.00 x² + 0.00 x + 0.00"));
    QCOMPARE(of({std::nanf(""), -INFINITY, 1}, {2}),
             QStringLiteral("y = nan x² − inf x + 1.00 + 2.00"));
}

/// Qt takes the user's locale for the whole program, but files must not depend on it.
void TestTaskView::formulasInOtherLocales() {
    const std::string before = std::setlocale(LC_NUMERIC, nullptr);
    const auto restore = qScopeGuard([&] { std::setlocale(LC_NUMERIC, before.c_str()); });
    const std::array locales{"de_DE.UTF-8", "fr_FR.UTF-8", "es_ES.UTF-8", "pt_BR.UTF-8"};
    if (std::ranges::none_of(
            locales, [](const char* each) { return std::setlocale(LC_NUMERIC, each) != nullptr; }))
        QSKIP("this system has no locale with decimal commas");
    TaskView view;
    view.terms = {"x"};
    QCOMPARE(formulaOf(view, std::vector{0.5f}, {}), "y = 0.50 x");
    QCOMPARE(formulaOf(view, std::vector{-3.4e38f}, {}).size(),
             39 + 3 + std::string("y = − x").size());
}

} // namespace tst_task_view

QTEST_GUILESS_MAIN(tst_task_view::TestTaskView)
#include "tst_task_view.moc"
