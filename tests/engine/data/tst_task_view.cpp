// What views draw of curves and classes. Painted pictures and scatters are in tst_dataset.
#include "engine/data/task_view.h"

#include <QTest>

#include <array>
#include <cmath>

using namespace halfscope;

class TestTaskView : public QObject {
    Q_OBJECT

private slots:
    void curve() {
        const std::array specs{TensorSpec{"x", {1}}, TensorSpec{"target", {1}}};
        Batch batch = Batch::of(specs, 3);
        const std::array x{-1.0f, 0.0f, 1.0f}, target{-2.0f, 0.0f, 2.0f};
        std::copy(x.begin(), x.end(), batch.floats(kX).begin());
        std::copy(target.begin(), target.end(), batch.floats(kTarget).begin());
        TaskView view;
        view.kind = ViewKind::Curve;
        view.centre = 0;
        view.reach = 2;
        const std::array prediction{2.0f, std::nanf(""), 2.0f};
        const Picture picture = pictureOf(view, batch, prediction);
        const auto at = [&](int column, int rowFromBottom) {
            const int row = picture.height - 1 - rowFromBottom;
            return picture.values[static_cast<size_t>(row * picture.width + column)];
        };
        const float target0 = at(0, 0), prediction0 = at(0, 255), both = at(255, 255);
        QVERIFY(target0 > 0.5f && target0 < 0.9f); // a light line
        QVERIFY(prediction0 < 0.5f);               // a dark one
        QVERIFY(both < 0.5f);                      // over it
        QVERIFY(std::isnan(at(128, 0)));           // on the lower edge
        QCOMPARE(at(64, 200), 1.0f);
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
        // a: once a, once c; b: twice b; c: never there
        const std::vector<float> wanted{0.5f, 1, 0.5f, 1, 0, 1, 1, 1, 1};
        QCOMPARE(picture.values, wanted);
        const std::vector<float> ideal{0, 1, 1, 1, 0, 1, 1, 1, 1};
        QCOMPARE(targetPictureOf(view, batch).values, ideal);
    }
};

QTEST_GUILESS_MAIN(TestTaskView)
#include "tst_task_view.moc"
