// Which class each sample is taken for: counted, as a table, and marked on the samples themselves.
#include "engine/core/error.h"
#include "engine/data/class_counts.h"
#include "engine/data/gallery.h"
#include "engine/data/task_view.h"
#include "engine/data/text_sheet.h"
#include "engine/settings/fields.h"

#include <QTest>

#include <array>
#include <cmath>
#include <set>

namespace tst_gallery {

using namespace halfscope;

namespace {

constexpr int kSide = 28, kAside = 8; // pixels beside each sample, for a digit
constexpr int kWide = kAside + kSide + 2, kHigh = kSide + 4;

/// Returns the samples whose cell has a coloured frame in its corner.
std::vector<int> framed(const Picture& picture, int samples) {
    const int columns = picture.width / kWide;
    std::vector<int> found;
    for (int i = 0; i < samples; ++i) {
        const int x = (i % columns + 1) * kWide - 1, y = (i / columns + 1) * kHigh - 1;
        const float* pixel =
            &picture.values[static_cast<size_t>(y * picture.width + x) * size_t{3}];
        if (pixel[0] > 2 * pixel[2]) found.push_back(i); // orange, not grey
    }
    return found;
}

/// Samples 0 to 5 of one pixel; the odd ones are damaged.
class SomeUnreadable final : public Dataset {
public:
    explicit SomeUnreadable(Damaged damaged) : m_damaged(damaged) {}
    std::span<const TensorSpec> tensors() const override { return m_tensors; }
    int64_t samples(Split split) const override { return split == Split::Train ? 6 : 0; }
    std::vector<Unread> read(Pass, std::span<const int64_t> samples,
                             const BatchRows& out) const override {
        std::vector<Unread> unread;
        for (size_t row = 0; row < samples.size(); ++row) {
            if (samples[row] % 2 == 1 && m_damaged == Damaged::Refuse)
                throw InputError(Message::data("damaged"));
            if (samples[row] % 2 == 1) unread.push_back({row, Message::data("damaged")});
            out.floats(kX)[row] = static_cast<float>(samples[row]);
            out.labels(kTarget)[row] = static_cast<int32_t>(samples[row]);
        }
        return unread;
    }
    TaskView view() const override { return {}; }

private:
    Damaged m_damaged;
    std::array<TensorSpec, 2> m_tensors{TensorSpec{"x", {1, 1, 1}},
                                        TensorSpec{"target", {}, DType::I32, 6}};
};

/// Returns a sheet's caption without the classes of its samples.
std::string shortCaption(const Picture& sheet) {
    return std::string(tableCaption(sheet.caption).right);
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
    void countsOfManyClasses();
    void unreadableSamplesAreLeftOut();
    void samplesAreSpreadOverTheSplit();
    void mistakesAreMarked();
    void valuesOfAnyRange_data();
    void valuesOfAnyRange();
    void numbersOfClasses();
    void smallPicturesHaveRoomForTwoNumbers();
    void namesInCaptions();
    void samplesInCaptions();
    void textIsWritten();
    void lanesWrite();
    void lettersAreThoseWritten();
    void noPictures();
};

void TestGallery::highest() {
    const float nan = std::nanf("");
    const std::vector<float> scores{1, 3, 3, nan, 2, 1, 5, nan, 9, nan, nan, nan};
    QCOMPARE(highestClasses(scores, 3), (std::vector<int32_t>{1, 1, 2, 3}));
    QVERIFY_EXCEPTION_THROWN(highestClasses(scores, 0), std::logic_error);
}

void TestGallery::counts() {
    ClassCounts counts(2);
    counts.add(std::array{0, 0, 0, 1}, std::array{0, 1, 2, 1}); // 2 is no class
    counts.add(std::array{0}, std::array{0});
    QCOMPARE(counts.samples(), int64_t{5});
    QCOMPARE(counts.correct(), int64_t{3});
    QCOMPARE(counts.count(0, 2), int64_t{1});
    QCOMPARE(counts.mostFrequent(), std::optional(int64_t{4})); // also one taken for no class
    QVERIFY(!ClassCounts(2).mostFrequent());
    const Picture table = classTable(counts);
    QCOMPARE(table.values, (std::vector<float>{0.5f, 0.75f, 1, 0}));
    QCOMPARE(table.caption, std::string("3/5; rows: 4 1"));
    ClassCounts none(2); // an output that is nan is no wrong class
    none.add(std::array{0, 1}, std::array{2, 2});
    QCOMPARE(classTable(none).caption, std::string("nan; rows: 1 1"));
    none.add(std::array{0}, std::array{1});
    QCOMPARE(classTable(none).caption, std::string("0/3; rows: 2 1"));
}

/// Neighbouring classes share a row, so that a table of 100,000 classes fits into memory.
void TestGallery::countsOfManyClasses() {
    ClassCounts counts(100'000);
    QCOMPARE(counts.rows(), size_t{1000});
    counts.add(std::array{0, 99'999, 5, 7}, std::array{0, 99'999, 6, 100'000});
    QCOMPARE(counts.samples(), int64_t{4});
    QCOMPARE(counts.correct(), int64_t{2});
    QCOMPARE(counts.count(0, 0), int64_t{2}); // 5 counted as 6 is among them
    QCOMPARE(counts.count(999, 999), int64_t{1});
    QCOMPARE(counts.count(0, counts.rows()), int64_t{1});
    const Picture table = classTable(counts);
    QCOMPARE(table.width, 1000);
    QVERIFY(tableCaption(table.caption).right == "2/4");
    QVERIFY(!counts.mostFrequent());
    QCOMPARE(ClassCounts(1001).rows(), size_t{501});
    QCOMPARE(ClassCounts(1000).rows(), size_t{1000});
}

/// Samples that cannot be read have no place in the gallery, whether the data set skips or refuses
/// them.
void TestGallery::unreadableSamplesAreLeftOut() {
    for (const Damaged damaged : {Damaged::Skip, Damaged::Refuse}) {
        const auto gallery = galleryOf(SomeUnreadable(damaged));
        QVERIFY(gallery != nullptr);
        const auto labels = gallery->samples.labels(kTarget);
        QCOMPARE(std::vector<int32_t>(labels.begin(), labels.end()),
                 (std::vector<int32_t>{0, 2, 4}));
        const std::span<const float> x = std::as_const(gallery->samples).floats(kX);
        QCOMPARE(std::vector<float>(x.begin(), x.end()), (std::vector<float>{0, 2, 4}));
    }
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

void TestGallery::valuesOfAnyRange_data() {
    QTest::addColumn<float>("low");
    QTest::addColumn<float>("high");
    QTest::newRow("far from 0") << 1e7f << 1e7f + 3;
    QTest::newRow("subnormal") << 0.0f << 1e-39f;
    QTest::newRow("widest") << -3e38f << 3e38f;
    QTest::newRow("none") << 5.0f << 5.0f;
}

/// When the scales are not known, values are shown from black to white.
void TestGallery::valuesOfAnyRange() {
    QFETCH(const float, low);
    QFETCH(const float, high);
    const std::array specs{TensorSpec{"x", {1, 1, 3}}, TensorSpec{"target", {}, DType::I32, 2}};
    Gallery gallery{Batch::of(specs, 1)};
    const double third = low + (double{high} - low) / 3;
    std::ranges::copy(std::array{low, static_cast<float>(third), high},
                      gallery.samples.floats(kX).begin());
    const Picture drawn = galleryWithMistakes(gallery, std::array{1.0f, 0.0f}, {});
    constexpr int kRoom = 5; // for a digit
    QCOMPARE(drawn.width, kRoom + 3 + 2);
    const auto at = [&](int x) {
        return double{drawn.values[static_cast<size_t>((2 * drawn.width + kRoom + x) * 3)]};
    };
    const double white = high > low ? 1 : 0;
    QCOMPARE(at(0), 0.0);
    QVERIFY2(std::abs(at(1) - white / 3) < 1e-5, qPrintable(QString::number(at(1))));
    QCOMPARE(at(2), white);
}

void TestGallery::mistakesAreMarked() {
    const auto gallery = galleryOf(*digits());
    const std::span<const int32_t> labels = gallery->samples.labels(kTarget);
    std::vector<float> scores(labels.size() * 10);
    for (size_t i = 0; i < labels.size(); ++i)
        scores[i * 10 + static_cast<size_t>(labels[i])] = 1;
    const Picture right = galleryWithMistakes(*gallery, scores, {});
    QCOMPARE(right.width, 8 * kWide);
    QCOMPARE(shortCaption(right), std::string("64/64"));
    QCOMPARE(framed(right, 64), std::vector<int>{});

    scores[5 * 10 + (static_cast<size_t>(labels[5]) + 1) % 10] = 2; // taken for the next class
    std::fill_n(scores.begin() + 17 * 10, 10, std::nanf(""));       // taken for none
    const Picture wrong = galleryWithMistakes(*gallery, scores, {});
    QCOMPARE(shortCaption(wrong), std::string("62/64"));
    const TableCaption told = tableCaption(wrong.caption);
    QCOMPARE(told.columns, 8);
    QCOMPARE(told.samples.size(), size_t{64});
    for (size_t i = 0; i < labels.size(); ++i) {
        QCOMPARE(told.samples[i].label, labels[i]);
        QCOMPARE(told.samples[i].taken, i == 5    ? (labels[i] + 1) % 10
                                        : i == 17 ? SampleClasses::kNone
                                                  : labels[i]);
    }
    QCOMPARE(framed(wrong, 64), (std::vector<int>{5, 17}));
    QCOMPARE(wrong.values.size(), right.values.size());
    const std::vector<float> lost(scores.size(), std::nanf(""));
    QCOMPARE(shortCaption(galleryWithMistakes(*gallery, lost, {})), std::string(kNoClasses));
}

/// Captions go into files and come back from them.
void TestGallery::namesInCaptions() {
    using Names = std::vector<std::string>;
    for (const Names& names : {Names{"T-shirt/top", "Trouser", "Bag"}, Names{"a, b", "c 1", "2"},
                               Names{"0", "one", "2"}, Names{",", " ", "x"}, Names{"0", "1", "2"}})
        QCOMPARE(classesOfCaption(classCaption(names), 3), names);
    const Names many(1000, "a class");
    QCOMPARE(classesOfCaption(classCaption(many), many.size()), many);
    Names characters;
    for (char c = ' '; c <= '~'; ++c)
        characters.emplace_back(1, c);
    QCOMPARE(classesOfCaption(classCaption(characters), characters.size()), characters);
    const Names few = classesOfCaption(classCaption(many, 50), 60);
    QCOMPARE(few[49], std::string("a class"));
    QCOMPARE(few[50], std::string("50"));
    const std::string longest = classCaption(Names(1000, std::string(200, 'x')));
    QVERIFY2(longest.size() <= kMostCaption && longest.size() + 210 > kMostCaption,
             qPrintable(QString::number(longest.size())));
    QVERIFY(longest.ends_with("x, ..."));
    QCOMPARE(classesOfCaption("64/64", 2), (Names{"0", "1"})); // of an older version
    TaskView view = classesView(2, {"shirt", "shoe"});
    Batch batch;
    batch.tensors.resize(2);
    batch.tensors[kTarget].dtype = DType::I32;
    batch.tensors[kTarget].shape = Shape{2};
    batch.tensors[kTarget].bytes.resize(8);
    QCOMPARE(targetPictureOf(view, batch).caption, std::string("0 shirt, 1 shoe"));
}

/// What somebody else wrote behind a caption is left as it is; names may look like the rest.
void TestGallery::samplesInCaptions() {
    const std::string names = "0 a; samples: 1, 1 b";
    const std::string caption = names + samplesCaption(2, std::array{SampleClasses{1, 0}});
    QCOMPARE(caption, names + "; samples: 2 1 0");
    const TableCaption told = tableCaption(caption);
    QCOMPARE(std::string(told.right), names);
    QCOMPARE(told.columns, 2);
    QCOMPARE(told.samples.size(), size_t{1});
    QCOMPARE(told.samples[0].label, 1);
    QCOMPARE(told.samples[0].taken, 0);
    for (const std::string& other :
         {names, std::string("3/5; samples:"), std::string("3/5; samples: 2 1"),
          std::string("3/5; samples: 2 1 x"), std::string("3/5; samples: 9999999999 1 1"),
          std::string("3/5; samples: 2 1 -1")}) {
        const TableCaption as = tableCaption(other);
        QVERIFY2(as.right == other && as.samples.empty() && as.columns == 0, other.c_str());
    }
}

/// On sheets of mistakes, the class that is predicted stands above the true one.
void TestGallery::smallPicturesHaveRoomForTwoNumbers() {
    constexpr int kNumber = 5 + 2; // dots, and paper around them
    const auto gallery = galleryOf(SomeUnreadable(Damaged::Skip));
    const std::vector<std::string> names{"a", "b", "c", "d", "e", "f"};
    QCOMPARE(galleryWithClasses(*gallery, names).height, 3 * 2 * kNumber);
}

void TestGallery::numbersOfClasses() {
    const auto gallery = galleryOf(*digits());
    const std::vector<std::string> same{"0", "1"}, names{"shirt", "shoe"};
    QCOMPARE(shortCaption(galleryWithClasses(*gallery, same)), std::string());
    const Picture named = galleryWithClasses(*gallery, names);
    QCOMPARE(shortCaption(named), std::string("0 shirt, 1 shoe"));
    const std::vector<std::string> rude{"a\nb\x1b[2J"};
    QCOMPARE(shortCaption(galleryWithClasses(*gallery, rude)), std::string("0 a\\nb\\u001b[2J"));
    const std::vector<std::string> many(51, "class");
    const std::string caption = shortCaption(galleryWithClasses(*gallery, many));
    QVERIFY2(caption.ends_with(", 48 class, 49 class, ..."), caption.c_str());
    // the digit beside each sample: twice as large, with one dot of paper around it
    constexpr std::array kZero{"###", "#.#", "#.#", "#.#", "###"};
    constexpr std::array kOne{".#.", "##.", ".#.", ".#.", "###"};
    std::set<int> seen;
    for (int i = 0; i < 64; ++i) {
        const int label = gallery->samples.labels(kTarget)[static_cast<size_t>(i)];
        if (label > 1) continue;
        seen.insert(label);
        for (int y = 0; y < 5; ++y)
            for (int x = 0; x < 3; ++x) {
                const int column = i % 8 * kWide + 2 * x + 1, row = i / 8 * kHigh + 2 * y + 1;
                const auto at = static_cast<size_t>(row * named.width + column) * size_t{3};
                const auto& digit = label == 0 ? kZero : kOne;
                const char dot = digit[static_cast<size_t>(y)][x];
                QCOMPARE(named.values[at], dot == '#' ? 0.0f : 1.0f);
            }
    }
    QCOMPARE(seen.size(), size_t{2});
    QCOMPARE(named.values.front(), 1.0f); // paper
    // all of the sample can be seen
    const std::span<const float> pixels = std::as_const(gallery->samples).floats(kX);
    for (int sample = 0; sample < 64; ++sample)
        for (int i = 0; i < kSide * kSide; ++i) {
            const int column = sample % 8 * kWide + kAside + i % kSide;
            const int row = sample / 8 * kHigh + 2 + i / kSide;
            QCOMPARE(named.values[static_cast<size_t>(row * named.width + column) * size_t{3}],
                     pixels[static_cast<size_t>(sample * kSide * kSide + i)]);
        }
    // and nothing else changes where there is no number
    std::vector<float> scores(gallery->samples.labels(kTarget).size() * 10);
    for (size_t i = 0; i * 10 < scores.size(); ++i)
        scores[i * 10 + static_cast<size_t>(gallery->samples.labels(kTarget)[i])] = 1;
    const Picture bare = galleryWithMistakes(*gallery, scores, same);
    QCOMPARE(bare.width, named.width);
    int hidden = 0;
    for (int y = 0; y < kHigh; ++y)
        for (int x = 0; x < kWide; ++x) {
            const auto at = static_cast<size_t>(y * named.width + x) * size_t{3};
            const bool differs = named.values[at] != bare.values[at];
            QVERIFY2(!differs || (x < kAside && y < 12),
                     qPrintable(QString("%1 %2").arg(x).arg(y)));
            hidden += differs ? 1 : 0;
        }
    QVERIFY(hidden > 0);
}

/// Texts are written side by side as letters; a character that was predicted wrongly stands on
/// orange.
void TestGallery::textIsWritten() {
    TaskConfig task;
    task.kind = TaskKind::Text;
    const auto data = makeDataset(task, 0);
    const auto gallery = galleryOf(*data);
    QVERIFY(gallery != nullptr);
    QCOMPARE(gallery->samples.rows(), int64_t{kTextCharacters});
    const std::span<const int32_t> x = gallery->samples.labels(kX),
                                   labels = gallery->samples.labels(kTarget);
    QVERIFY(std::equal(x.begin() + 1, x.begin() + 32, x.begin() + 32)); // shifted by one character
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
    // a space and a line end, drawn as nothing and as a hook, and an unknown character as a box
    const std::array<std::string, 3> three{"\u2423", "\u21b5", "a"};
    const std::array<int32_t, 4> shown{0, 1, 2, 3}, wanted{2, 2, 2, 2};
    const int cell = 2 * 6 * 2 * 14;
    QVERIFY(orange(textSheet(three, shown, wanted)) > 3 * cell - 200);
    QCOMPARE(orange(textSheet(three, std::span(shown).first(1), std::span(wanted).first(1))), cell);
    QCOMPARE(orange(textSheet(three, std::span(shown).subspan(2, 1), std::span(wanted).first(1))),
             0);
}

/// A picture shows the prompt on grey, then the text that the lane writes, underlined on blue where
/// lane A writes something else, and predictions in its last rows.
void TestGallery::lanesWrite() {
    TaskConfig task;
    task.kind = TaskKind::Text;
    task.predicted = Predicted::Every;
    for (const int64_t context : {1, 8, 64, 200, 400}) {
        task.context = context;
        const auto data = makeDataset(task, 0);
        const auto gallery = galleryOf(*data);
        QVERIFY(gallery != nullptr);
        const auto length = static_cast<size_t>(context);
        const std::span<const int32_t> x = gallery->samples.labels(kX),
                                       labels = gallery->samples.labels(kTarget);
        QCOMPARE(gallery->prompt.size(), length);
        QCOMPARE(gallery->continued.size(), size_t{kWrittenCharacters});
        QCOMPARE(writtenCharacters(*gallery), static_cast<size_t>(context > 64 ? 26 : 130));
        // the samples begin where the prompt ends
        QVERIFY(std::equal(x.begin(), x.begin() + 1, gallery->continued.begin()));
        QVERIFY(
            std::equal(gallery->continued.begin() + 1, gallery->continued.end(), labels.begin()));

        const auto names = data->view().classes;
        std::vector<float> scores(labels.size() * names.size());
        for (size_t i = 0; i < labels.size(); ++i)
            scores[i * names.size() + static_cast<size_t>(labels[i])] = 1;
        const std::vector<int32_t>& a = gallery->continued;
        const Picture target = galleryWithClasses(*gallery, names);
        const Picture same = galleryWithText(*gallery, scores, names, a, a);
        QCOMPARE(same.values, target.values);
        QCOMPARE(same.caption, std::string("104/104"));

        std::vector<int32_t> b = a;
        b[27] = (b[27] + 1) % 76; // the second character of the third row
        scores[names.size() * 103 + static_cast<size_t>(labels[103] + 1) % 76] = 2;
        const Picture other = galleryWithText(*gallery, scores, names, b, a);
        QCOMPARE(other.caption, std::string("103/104"));
        constexpr int kWide = 2 * 6, kHigh = 2 * 14, kMargin = 2 * 3;
        const auto at = [&](const Picture& picture, int column, int row, int y) {
            const int line = kMargin + row * kHigh + y;
            const float* pixel = &picture.values[static_cast<size_t>(
                (line * picture.width + kMargin + column * kWide + kWide - 1) * 3)];
            return std::array{pixel[0], pixel[1], pixel[2]};
        };
        const std::array<float, 3> white{1, 1, 1}, black{0, 0, 0};
        const auto grey = at(same, 25, 0, 0);
        QVERIFY(grey[0] < 1 && grey[0] == grey[2]);
        for (const int column : {0, 1, 2}) {
            const bool differs = column == 1;
            QCOMPARE(at(other, column, 2, kHigh - 1), differs ? black : white);
            const auto paper = at(other, column, 2, 0);
            QVERIFY(differs ? paper[0] < paper[2] : paper == white); // blue
        }
        QCOMPARE(at(same, 1, 2, kHigh - 1), white);
        const auto wrong = at(other, 25, 10, 0), right = at(other, 24, 10, 0);
        QVERIFY(wrong[2] < wrong[0]); // orange
        QCOMPARE(right, white);
    }
    // when hardly anything of a text is held back, there is less to show
    task.context = 64;
    task.validation = 65.0 / 35149;
    const auto one = galleryOf(*makeDataset(task, 0));
    QCOMPARE(one->samples.rows(), int64_t{1});
    QCOMPARE(one->continued.size(), size_t{1});
    galleryWithClasses(*one, {});
}

/// A picture has the end of the prompt, what the lane wrote, not lane A, and a line below.
void TestGallery::lettersAreThoseWritten() {
    TaskConfig task;
    task.kind = TaskKind::Text;
    task.predicted = Predicted::Every;
    task.context = 64;
    const auto data = makeDataset(task, 0);
    const auto gallery = galleryOf(*data);
    const auto names = data->view().classes;
    const std::vector<float> scores(gallery->samples.labels(kTarget).size() * names.size());
    const auto sheet = [&](std::span<const int32_t> written, std::span<const int32_t> first) {
        return galleryWithText(*gallery, scores, names, written, first);
    };
    constexpr int kWide = 2 * 6, kHigh = 2 * 14, kMargin = 2 * 3;
    const auto inkOf = [](const Picture& picture, int column, int row) { // above the underline
        std::vector<bool> ink;
        for (int y = kMargin + row * kHigh; y < kMargin + row * kHigh + kHigh - 2; ++y)
            for (int x = kMargin + column * kWide; x < kMargin + (column + 1) * kWide; ++x)
                ink.push_back(picture.values[static_cast<size_t>((y * picture.width + x) * 3)] ==
                              0.0f);
        return ink;
    };
    const std::vector<int32_t>& a = gallery->continued;
    std::vector<int32_t> b = a;
    b[27] = (b[27] + 1) % 76; // the second character of the third row
    QVERIFY(inkOf(sheet(b, a), 1, 2) == inkOf(sheet(b, b), 1, 2));
    QVERIFY(inkOf(sheet(b, a), 1, 2) != inkOf(sheet(a, a), 1, 2));
    const std::vector<bool> line = inkOf(sheet(a, a), 3, 6);
    QCOMPARE(std::count(line.begin(), line.end(), true), std::ptrdiff_t{2 * kWide});
    Gallery end = *gallery;
    end.prompt.erase(end.prompt.begin(), end.prompt.end() - 26);
    QVERIFY(galleryWithClasses(end, names).values == galleryWithClasses(*gallery, names).values);
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
