// Which class each sample is taken for: counted, as a table, and marked on the samples themselves.
#include "engine/data/class_counts.h"
#include "engine/data/gallery.h"
#include "engine/data/text_sheet.h"
#include "engine/settings/fields.h"

#include <QTest>

#include <array>
#include <cmath>

namespace tst_gallery {

using namespace halfscope;

namespace {

constexpr int kSide = 28, kCell = kSide + 4; // two pixels around each sample

/// Of the framed kind in the corner of each sample's cell.
std::vector<int> framed(const Picture& picture, int samples) {
    const int columns = picture.width / kCell;
    std::vector<int> found;
    for (int i = 0; i < samples; ++i) {
        const int x = (i % columns + 1) * kCell - 1, y = (i / columns + 1) * kCell - 1;
        const float* pixel =
            &picture.values[static_cast<size_t>(y * picture.width + x) * size_t{3}];
        if (pixel[0] > 2 * pixel[2]) found.push_back(i); // orange, not grey
    }
    return found;
}

std::unique_ptr<Dataset> digits() {
    const RunConfig config = presetNamed("mnist-mlp").config;
    return makeDataset(config.task, config.seed);
}

} // namespace

class TestGallery : public QObject {
    Q_OBJECT

private slots:
    void highest();
    void counts();
    void samplesAreSpreadOverTheSplit();
    void mistakesAreMarked();
    void numbersOfClasses();
    void textIsWritten();
    void noPictures();
};

void TestGallery::highest() {
    const float nan = std::nanf("");
    const std::vector<float> scores{1, 3, 3, nan, 2, 1, 5, nan, 9, nan, nan, nan};
    QCOMPARE(highestClasses(scores, 3), (std::vector<int32_t>{1, 1, 2, 3}));
}

void TestGallery::counts() {
    ClassCounts counts(2);
    counts.add(std::array{0, 0, 0, 1}, std::array{0, 1, 2, 1}); // 2: no class
    counts.add(std::array{0}, std::array{0});
    QCOMPARE(counts.samples(), int64_t{5});
    QCOMPARE(counts.correct(), int64_t{3});
    QCOMPARE(counts.count(0, 2), int64_t{1});
    const Picture table = classTable(counts);
    QCOMPARE(table.values, (std::vector<float>{0.5f, 0.75f, 1, 0}));
    QCOMPARE(table.caption, std::string("3/5"));
}

void TestGallery::samplesAreSpreadOverTheSplit() {
    const auto data = digits();
    const auto gallery = galleryOf(*data);
    QVERIFY(gallery != nullptr);
    QCOMPARE(gallery->samples.rows(), int64_t{64}); // of 500
    Batch last = Batch::of(data->tensors(), 1);
    data->read(Split::Validation, std::array<int64_t, 1>{63 * 500 / 64}, last);
    QCOMPARE(gallery->samples.labels(kTarget).back(), last.labels(kTarget).front());
    const std::span<const float> x = gallery->samples.floats(kX);
    QVERIFY(std::equal(x.end() - kSide * kSide, x.end(), last.floats(kX).begin()));
}

void TestGallery::mistakesAreMarked() {
    const auto gallery = galleryOf(*digits());
    const std::span<const int32_t> labels = gallery->samples.labels(kTarget);
    std::vector<float> scores(labels.size() * 10);
    for (size_t i = 0; i < labels.size(); ++i)
        scores[i * 10 + static_cast<size_t>(labels[i])] = 1;
    const Picture right = galleryWithMistakes(*gallery, scores, {});
    QCOMPARE(right.width, 8 * kCell);
    QCOMPARE(right.caption, std::string("64/64"));
    QCOMPARE(framed(right, 64), std::vector<int>{});

    scores[5 * 10 + (static_cast<size_t>(labels[5]) + 1) % 10] = 2; // taken for the next class
    std::fill_n(scores.begin() + 17 * 10, 10, std::nanf(""));       // for none
    const Picture wrong = galleryWithMistakes(*gallery, scores, {});
    QCOMPARE(wrong.caption, std::string("62/64"));
    QCOMPARE(framed(wrong, 64), (std::vector<int>{5, 17}));
    QCOMPARE(wrong.values.size(), right.values.size());
}

void TestGallery::numbersOfClasses() {
    const auto gallery = galleryOf(*digits());
    const std::vector<std::string> same{"0", "1"}, names{"shirt", "shoe"};
    QCOMPARE(galleryWithClasses(*gallery, same).caption, std::string());
    const Picture named = galleryWithClasses(*gallery, names);
    QCOMPARE(named.caption, std::string("0 shirt, 1 shoe"));
    // a digit on white paper in the corner of the first sample
    QCOMPARE(named.values.front(), 1.0f);
}

/// Side by side in the text, as letters; one that is expected wrongly stands on orange.
void TestGallery::textIsWritten() {
    TaskConfig task;
    task.kind = TaskKind::Text;
    const auto data = makeDataset(task, 0);
    const auto gallery = galleryOf(*data);
    QVERIFY(gallery != nullptr);
    QCOMPARE(gallery->samples.rows(), int64_t{kTextCharacters});
    const std::span<const int32_t> x = gallery->samples.labels(kX), labels = gallery->samples.labels(kTarget);
    QVERIFY(std::equal(x.begin() + 1, x.begin() + 32, x.begin() + 32)); // one character apart
    QCOMPARE(x[63], labels[0]);
    const auto names = data->view().classes;
    const Picture text = galleryWithClasses(*gallery, names);
    std::vector<float> scores(labels.size() * names.size());
    for (size_t i = 0; i < labels.size(); ++i)
        scores[i * names.size() + static_cast<size_t>(labels[i])] = 1;
    const Picture right = galleryWithMistakes(*gallery, scores, names);
    QCOMPARE(right.values, text.values);
    QCOMPARE(right.caption, std::string("286/286"));
    const auto orange = [](const Picture& picture) {
        int pixels = 0;
        for (size_t i = 0; i < picture.values.size(); i += 3)
            pixels += picture.values[i] == 1 && picture.values[i + 2] < 0.5f;
        return pixels;
    };
    QCOMPARE(orange(right), 0);
    // a space and a line end, drawn as nothing and as a hook, and none at all as a box
    const std::array<std::string, 3> three{"\u2423", "\u21b5", "a"};
    const std::array<int32_t, 4> shown{0, 1, 2, 3}, wanted{2, 2, 2, 2};
    const int cell = 2 * 6 * 2 * 14;
    QVERIFY(orange(textSheet(three, shown, wanted)) > 3 * cell - 200);
    QCOMPARE(orange(textSheet(three, std::span(shown).first(1), std::span(wanted).first(1))), cell);
    QCOMPARE(orange(textSheet(three, std::span(shown).subspan(2, 1), std::span(wanted).first(1))),
             0);
}

void TestGallery::noPictures() {
    for (const char* preset : {"regression", "moons", "checkerboard"}) {
        const RunConfig config = presetNamed(preset).config;
        QVERIFY(galleryOf(*makeDataset(config.task, config.seed)) == nullptr);
    }
}

} // namespace tst_gallery

QTEST_GUILESS_MAIN(tst_gallery::TestGallery)
#include "tst_gallery.moc"
