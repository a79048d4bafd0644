// Only the samples that a lane gets wrong: found while a validation counts, read again to be drawn.
#include "engine/data/gallery.h"
#include "engine/data/text_sheet.h"
#include "engine/settings/fields.h"

#include <QTest>

#include <algorithm>
#include <array>
#include <atomic>
#include <numeric>
#include <set>

namespace tst_mistake_sheets {

using namespace halfscope;

namespace {

constexpr int kSide = 28, kAside = 8; // pixels beside each sample, for a digit
constexpr int kWide = kAside + kSide + 2, kHigh = kSide + 4;
constexpr int64_t kSamples = 500;

/// The digits that come with the program. Notes which samples are read.
class Watched final : public Dataset {
public:
    Watched() {
        const RunConfig config = presetNamed("mnist-mlp").config;
        m_data = makeDataset(config.task, config.seed);
    }
    std::span<const TensorSpec> tensors() const override { return m_data->tensors(); }
    int64_t samples(Split split) const override { return m_data->samples(split); }
    std::vector<Unread> read(Pass pass, std::span<const int64_t> samples,
                             const BatchRows& out) const override {
        reads.insert(reads.end(), samples.begin(), samples.end());
        if (stops) *stops = true;
        return m_data->read(pass, samples, out);
    }
    std::vector<ChannelScale> channelScales() const override { return m_data->channelScales(); }
    TaskView view() const override { return m_data->view(); }

    mutable std::vector<int64_t> reads;
    std::atomic<bool>* stops = nullptr; ///< turns true with the first read

private:
    std::unique_ptr<Dataset> m_data;
};

Batch everyRowOf(const Dataset& data) {
    std::vector<int64_t> samples(kSamples);
    std::iota(samples.begin(), samples.end(), 0);
    Batch all = Batch::of(data.tensors(), kSamples);
    data.read(Split::Validation, samples, all);
    return all;
}

/// Judges as an evaluation does, in batches. Wrong samples are taken for the next class.
JudgedSamples judged(const Batch& all, const std::set<int64_t>& wrong, size_t kept = 0) {
    constexpr int64_t kBatch = 200;
    JudgedSamples result{ClassCounts(10)};
    const std::span<const int32_t> labels = all.labels(kTarget);
    for (int64_t first = 0; first < kSamples; first += kBatch) {
        std::vector<int64_t> rows;
        std::vector<int32_t> taken;
        for (int64_t i = first; i < std::min(first + kBatch, kSamples); ++i) {
            const int32_t label = labels[static_cast<size_t>(i)];
            rows.push_back(i);
            taken.push_back(wrong.contains(i) ? (label + 1) % 10 : label);
        }
        if (kept == 0) {
            result.addClasses(rows, labels.subspan(static_cast<size_t>(first), rows.size()), taken);
            continue;
        }
        Batch part = Batch::of(Watched().tensors(), static_cast<int64_t>(rows.size()));
        for (size_t row = 0; row < rows.size(); ++row)
            part.setRow(row, all, static_cast<size_t>(rows[row]));
        result.addClasses(part, rows, taken, kept);
    }
    return result;
}

std::array<float, 3> pixelOf(const Picture& picture, int x, int y) {
    const auto at = static_cast<size_t>((y * picture.width + x) * 3);
    return {picture.values[at], picture.values[at + 1], picture.values[at + 2]};
}

bool isOrange(const std::array<float, 3>& pixel) { return pixel[0] > 2 * pixel[2]; }

} // namespace

class TestMistakeSheets : public QObject {
    Q_OBJECT
private slots:
    void theFirstOnesAreKept();
    void eachLaneHasItsOwn();
    void nanIsNoMistake();
    void samplesAreReadOnce();
    void keptSamplesAreNotRead();
    void stopsInBetween();
    void textsHaveTheirTrueClass();
    void tablesOfNumbersHaveNone();
};

/// All are counted, but only the first are kept, by number.
void TestMistakeSheets::theFirstOnesAreKept() {
    std::set<int64_t> wrong;
    for (int64_t i = 3; i < kSamples; i += 4)
        wrong.insert(i);
    const Batch all = everyRowOf(Watched());
    const JudgedSamples lane = judged(all, wrong);
    QCOMPARE(lane.counts.samples() - lane.counts.correct(), static_cast<int64_t>(wrong.size()));
    QCOMPARE(lane.mistakes.size(), JudgedSamples::kMostMistakes);
    for (size_t i = 0; i < lane.mistakes.size(); ++i) {
        const Mistake& each = lane.mistakes[i];
        QCOMPARE(each.sample, static_cast<int64_t>(3 + 4 * i));
        const int32_t label = all.labels(kTarget)[static_cast<size_t>(each.sample)];
        QCOMPARE(each.taken, (label + 1) % 10);
    }
    JudgedSamples characters{ClassCounts(2)}; // each sample has two positions
    characters.addClasses(std::array<int64_t, 1>{0}, std::array{0, 1}, std::array{1, 1});
    QCOMPARE(characters.counts.samples(), int64_t{2});
    QVERIFY(characters.mistakes.empty());
}

/// Sheets are laid out alike, and tell what each sample is taken for and what it is.
void TestMistakeSheets::eachLaneHasItsOwn() {
    const Watched data;
    const Batch all = everyRowOf(data);
    std::set<int64_t> every;
    for (int64_t i = 0; i < kSamples; ++i)
        every.insert(i);
    const std::array lanes{judged(all, {7, 40, 499}), judged(all, {}), judged(all, every)};
    const std::atomic<bool> stop = true; // of an earlier request
    const auto sheets = mistakeSheets(data, lanes, data.view().classes, stop);
    QVERIFY(sheets);
    QCOMPARE(sheets->size(), lanes.size());
    const Picture &few = sheets->at(0), &none = sheets->at(1), &most = sheets->at(2);
    QCOMPARE(std::string(tableCaption(few.caption).right), std::string("3/3"));
    QCOMPARE(tableCaption(few.caption).columns, 8);
    QCOMPARE(tableCaption(few.caption).samples[1].label, all.labels(kTarget)[40]);
    QCOMPARE(tableCaption(few.caption).samples[1].taken, lanes[0].mistakes[1].taken);
    QCOMPARE(none.caption, std::string("0/0"));
    QCOMPARE(std::string(tableCaption(most.caption).right), std::string("64/500"));
    for (const Picture& each : *sheets)
        QCOMPARE(each.width, 8 * kWide);
    QCOMPARE(few.height, kHigh);
    QCOMPARE(most.height, 8 * kHigh);
    QVERIFY(std::ranges::all_of(none.values, [](float value) { return value == 0.5f; }));

    QVERIFY(data.channelScales().empty()); // the values are those of the pictures
    for (int i = 0; i < 3; ++i) {
        const auto sample = static_cast<size_t>(lanes[0].mistakes[static_cast<size_t>(i)].sample);
        constexpr int kPixels = kSide * kSide;
        for (int pixel = 0; pixel < kPixels; ++pixel) // no number hides any of it
            QCOMPARE(pixelOf(few, i * kWide + kAside + pixel % kSide, 2 + pixel / kSide)[0],
                     all.floats(kX)[sample * kPixels + static_cast<size_t>(pixel)]);
        QVERIFY(isOrange(pixelOf(few, i * kWide, 0)));
        QCOMPARE(pixelOf(few, i * kWide, kHigh - 1), (std::array{1.0f, 1.0f, 1.0f}));
    }
    QVERIFY(!isOrange(pixelOf(few, 3 * kWide, 0))); // an empty place
}

/// A lane whose output is nan takes no sample for a wrong class.
void TestMistakeSheets::nanIsNoMistake() {
    const Watched data;
    const Batch all = everyRowOf(data);
    const std::span<const int32_t> labels = all.labels(kTarget);
    std::vector<int64_t> rows(kSamples);
    std::iota(rows.begin(), rows.end(), 0);
    std::vector<int32_t> taken(kSamples, 10); // no class
    JudgedSamples none{ClassCounts(10)}, nearly{ClassCounts(10)};
    none.addClasses(rows, labels, taken);
    taken.back() = (labels.back() + 1) % 10;
    nearly.addClasses(rows, labels, taken);
    QCOMPARE(none.counts.none(), kSamples);
    QCOMPARE(nearly.counts.none(), kSamples - 1);
    const std::atomic<bool> stop = false;
    const auto sheets = mistakeSheets(data, std::array{none, nearly}, data.view().classes, stop);
    QVERIFY(sheets);
    QCOMPARE(std::string(tableCaption(sheets->at(0).caption).right), std::string(kNoClasses));
    QCOMPARE(std::string(tableCaption(sheets->at(1).caption).right), std::string("64/500"));
}

/// Only what is drawn, and what several lanes get wrong only once.
void TestMistakeSheets::samplesAreReadOnce() {
    const Watched data;
    const Batch all = everyRowOf(data);
    data.reads.clear();
    const std::array lanes{judged(all, {1, 2, 300}), judged(all, {2, 300, 400})};
    const std::atomic<bool> stop = false;
    QVERIFY(mistakeSheets(data, lanes, data.view().classes, stop));
    QCOMPARE(data.reads, (std::vector<int64_t>{1, 2, 300, 400}));
}

/// A validation has had them at hand: nothing is decoded again.
void TestMistakeSheets::keptSamplesAreNotRead() {
    const Watched data;
    const Batch all = everyRowOf(data);
    const std::set<int64_t> few{1, 2, 300}, others{2, 199, 200, 499};
    const size_t room = mistakesShown(data);
    QCOMPARE(room, size_t{64});
    const std::atomic<bool> stop = false;
    const auto drawn = mistakeSheets(data, std::array{judged(all, few), judged(all, others)},
                                     data.view().classes, stop);
    data.reads.clear();
    const std::array kept{judged(all, few, room), judged(all, others, room)};
    const auto sheets = mistakeSheets(data, kept, data.view().classes, stop);
    QVERIFY(drawn && sheets && data.reads.empty());
    for (size_t lane = 0; lane < kept.size(); ++lane)
        QVERIFY(sheets->at(lane).values == drawn->at(lane).values);
    const JudgedSamples some = judged(all, others, 3); // a sheet has room for no more
    QVERIFY(some.mistakes[2].values && !some.mistakes[3].values);
}

void TestMistakeSheets::stopsInBetween() {
    Watched data;
    const Batch all = everyRowOf(data);
    const std::array lanes{judged(all, {1, 2, 300})};
    std::atomic<bool> stop = false;
    data.reads.clear();
    data.stops = &stop;
    QVERIFY(!mistakeSheets(data, lanes, data.view().classes, stop));
    QCOMPARE(data.reads.size(), size_t{1});
}

/// On grey before the one that is predicted, also where each text has a row of its own otherwise.
void TestMistakeSheets::textsHaveTheirTrueClass() {
    ClassedText text{"a word", "Dutch", false};
    const Picture alone = classedSheet(std::span(&text, 1), 6);
    text.truth = "German";
    const Picture both = classedSheet(std::span(&text, 1), 6);
    const auto count = [](const Picture& picture, const std::array<float, 3>& colour) {
        int pixels = 0;
        for (int y = 0; y < picture.height; ++y)
            for (int x = 0; x < picture.width; ++x)
                pixels += pixelOf(picture, x, y) == colour;
        return pixels;
    };
    constexpr std::array kGrey{0.86f, 0.86f, 0.86f}, kOrange{1.0f, 0.72f, 0.38f};
    QCOMPARE(count(alone, kGrey), 0);
    QVERIFY(count(both, kGrey) > 100);
    QCOMPARE(count(both, kOrange), count(alone, kOrange));
}

void TestMistakeSheets::tablesOfNumbersHaveNone() {
    const RunConfig config = presetNamed("regression").config;
    const auto data = makeDataset(config.task, config.seed);
    const std::atomic<bool> stop = false;
    const auto sheets = mistakeSheets(*data, std::array{JudgedSamples()}, {}, stop);
    QVERIFY(sheets && sheets->empty());
    const Watched digits; // before a validation
    const auto early = mistakeSheets(digits, std::array{JudgedSamples()}, {}, stop);
    QVERIFY(early && early->empty());
    QVERIFY(digits.reads.empty());
}

} // namespace tst_mistake_sheets

QTEST_GUILESS_MAIN(tst_mistake_sheets::TestMistakeSheets)
#include "tst_mistake_sheets.moc"
