// Lays samples out in rows and writes numbers on them; text_sheet draws what follows in a text.
#include "engine/data/gallery.h"

#include "engine/core/error.h"
#include "engine/data/class_counts.h"
#include "engine/data/letters.h"
#include "engine/data/text_sheet.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <optional>

namespace halfscope {

namespace {

using Colour = std::array<float, 3>;
constexpr Colour kGround{0.5f, 0.5f, 0.5f}, kPaper{1, 1, 1}, kInk{0, 0, 0};
constexpr Colour kWrong{0.93f, 0.42f, 0.05f};
constexpr int kMargin = 2;   // around each sample, and the width of a frame
constexpr int kWidest = 256; // the width of the samples in a row, about
constexpr int kDigitWidth = 3, kDigitHeight = 5;
constexpr int kEdge = 1; // of paper around a number or a name

/// Rows of three pixels; the highest bit is the left one.
constexpr std::array<std::array<uint8_t, kDigitHeight>, 10> kDigits{{{7, 5, 5, 5, 7},
                                                                     {2, 6, 2, 2, 7},
                                                                     {7, 1, 7, 4, 7},
                                                                     {7, 1, 3, 1, 7},
                                                                     {5, 5, 7, 1, 1},
                                                                     {7, 4, 7, 1, 7},
                                                                     {7, 4, 7, 5, 7},
                                                                     {7, 1, 2, 2, 2},
                                                                     {7, 5, 7, 5, 7},
                                                                     {7, 5, 7, 1, 7}}};

/// Returns how wide so many letters or digits are with the gaps between them, in dots.
int dotsOf(size_t glyphs, int glyphWidth) {
    return static_cast<int>(glyphs) * (glyphWidth + 1) - 1;
}

size_t longestOf(std::span<const std::string> names) {
    size_t longest = 0;
    for (const std::string& name : names)
        longest = std::max(longest, name.size());
    return longest;
}

/// Whether all classes have names that can be written beside a picture, two above each other, in
/// half of its width. Names that are just the numbers are written as numbers, which are larger.
bool areShort(std::span<const std::string> names, int width, int height) {
    const int wide = dotsOf(longestOf(names), kLetterWidth) + 2 * kEdge;
    const int high = kLetterHeight + 2 * kEdge;
    return wide <= width / 2 && 2 * high <= height + 2 * kMargin && !classCaption(names).empty() &&
           std::ranges::all_of(
               names, [](const std::string& name) { return std::ranges::all_of(name, isLetter); });
}

/// How pictures of a shape are laid out; without any there is one empty place. At the left of each
/// is room for its class, which would hide a part of the picture: the name, where all are short, or
/// the number.
struct Places {
    int channels = 1, height = 0, width = 0;
    int columns = 1, rows = 1;
    bool named = false;
    int glyphWidth = kDigitWidth, glyphHeight = kDigitHeight;
    int scale = 1;      ///< pixels that a dot of a glyph is wide
    int left = kMargin; ///< of a picture in its cell

    Places(const Shape& picture, size_t samples, int inRow, size_t classes,
           std::span<const std::string> names)
        : channels(static_cast<int>(picture[0])), height(static_cast<int>(picture[1])),
          width(static_cast<int>(picture[2])), columns(inRow),
          rows(std::max(1, (static_cast<int>(samples) + inRow - 1) / inRow)),
          named(names.size() >= classes && areShort(names, width, height)) {
        size_t longest = std::to_string(std::max<size_t>(classes, 1) - 1).size();
        if (named) {
            longest = std::max<size_t>(longestOf(names), 1);
            glyphWidth = kLetterWidth;
            glyphHeight = kLetterHeight;
        }
        // half as wide as the picture, or it would have little room beside long numbers
        const int most = height / 2 / (glyphHeight + 2 * kEdge);
        scale = std::clamp(width / 2 / dotsOf(longest, glyphWidth), 1, std::max(1, most));
        left = std::max(kMargin, textWidth(longest));
    }
    int textWidth(size_t glyphs) const { return dotsOf(glyphs, glyphWidth) * scale + 2 * kEdge; }
    int textHeight() const { return glyphHeight * scale + 2 * kEdge; }
    int cellWidth() const { return left + width + kMargin; }
    /// Two classes stand at the left of a picture and must not cover each other.
    int cellHeight() const { return std::max(height + 2 * kMargin, 2 * textHeight()); }
};

enum class End : uint8_t { Upper, Lower };

class Sheet {
public:
    /// `names` must outlive the sheet where they are written.
    Sheet(const Places& places, std::span<const std::string> names)
        : m_places(places), m_names(names), m_picture{places.columns * places.cellWidth(),
                                                      places.rows * places.cellHeight(),
                                                      3,
                                                      {}} {
        m_picture.values.resize(static_cast<size_t>(m_picture.width) *
                                static_cast<size_t>(m_picture.height) * kGround.size());
        fill(0, 0, m_picture.width, m_picture.height, kGround);
    }

    void draw(const Gallery& gallery) { draw(gallery.samples.floats(kX), gallery.scales); }

    void frame(int sample) {
        const int left = leftOf(sample), top = topOf(sample);
        const int wide = m_places.cellWidth(), high = m_places.cellHeight();
        fill(left, top, wide, kMargin, kWrong);
        fill(left, top + high - kMargin, wide, kMargin, kWrong);
        fill(left, top, kMargin, high, kWrong);
        fill(left + wide - kMargin, top, kMargin, high, kWrong);
    }

    /// Writes a class at the left of a sample.
    void write(int sample, int32_t value, const Colour& ink, const Colour& paper,
               End end = End::Upper) {
        const std::string text =
            m_places.named ? m_names[static_cast<size_t>(value)] : std::to_string(value);
        const int wide = std::min(m_places.textWidth(text.size()), m_places.left);
        const int high = std::min(m_places.textHeight(), m_places.cellHeight());
        const int left = leftOf(sample);
        const int top = topOf(sample) + (end == End::Lower ? m_places.cellHeight() - high : 0);
        fill(left, top, wide, high, paper);
        for (size_t i = 0; i < text.size(); ++i)
            glyph(text[i],
                  left + kEdge + static_cast<int>(i) * (m_places.glyphWidth + 1) * m_places.scale,
                  top + kEdge, ink);
    }

    bool isNamed() const { return m_places.named; }
    Picture take() { return std::move(m_picture); }

private:
    int leftOf(int sample) const { return sample % m_places.columns * m_places.cellWidth(); }
    int topOf(int sample) const { return sample / m_places.columns * m_places.cellHeight(); }

    float* pixel(int x, int y) {
        return m_picture.values.data() +
               (static_cast<size_t>(y) * static_cast<size_t>(m_picture.width) +
                static_cast<size_t>(x)) *
                   kGround.size();
    }
    void fill(int left, int top, int wide, int high, const Colour& colour) {
        for (int y = top; y < std::min(top + high, m_picture.height); ++y)
            for (int x = left; x < std::min(left + wide, m_picture.width); ++x)
                std::copy(colour.begin(), colour.end(), pixel(x, y));
    }
    /// Whether a letter, or a digit of a number, has ink there.
    bool hasInk(char letter, int x, int y) const {
        if (m_places.named)
            return letterBits(letter) >> (kLetterWidth * (kLetterHeight - y) - 1 - x) & 1;
        const auto digit = static_cast<size_t>(letter - '0');
        return kDigits[digit][static_cast<size_t>(y)] & (4 >> x); // the highest bit is the left one
    }
    void glyph(char letter, int left, int top, const Colour& ink) {
        const int scale = m_places.scale;
        for (int y = 0; y < m_places.glyphHeight; ++y)
            for (int x = 0; x < m_places.glyphWidth; ++x)
                if (hasInk(letter, x, y))
                    fill(left + x * scale, top + y * scale, scale, scale, ink);
    }
    void draw(std::span<const float> x, std::span<const ChannelScale> known) {
        const auto channels = static_cast<size_t>(m_places.channels);
        const auto [low, range] = rangeOf(x);
        const auto plane = static_cast<size_t>(m_places.width * m_places.height);
        for (size_t sample = 0; sample * channels * plane < x.size(); ++sample)
            for (size_t at = 0; at < plane; ++at) {
                float* to = pixel(leftOf(static_cast<int>(sample)) + m_places.left +
                                      static_cast<int>(at) % m_places.width,
                                  topOf(static_cast<int>(sample)) + kMargin +
                                      static_cast<int>(at) / m_places.width);
                for (size_t c = 0; c < kGround.size(); ++c) {
                    const size_t from = std::min(c, channels - 1);
                    const float value = x[(sample * channels + from) * plane + at];
                    to[c] = known.empty() ? static_cast<float>((value - low) / range)
                                          : value * known[from].deviation + known[from].mean;
                }
            }
    }
    /// Returns the lowest value and how far above it the highest is; inputs may have any range.
    static std::pair<double, double> rangeOf(std::span<const float> x) {
        float low = INFINITY, high = -INFINITY;
        for (const float value : x) {
            low = std::fmin(low, value);
            high = std::fmax(high, value);
        }
        return {low, high > low ? double{high} - low : 1};
    }

    Places m_places;
    std::span<const std::string> m_names;
    Picture m_picture;
};

/// Returns how many samples are in a row: about as many as in a column.
int columnsOf(const Gallery& gallery) {
    const auto samples = static_cast<double>(gallery.samples.tensors[kX].shape[0]);
    return std::max(1, static_cast<int>(std::sqrt(samples)));
}

/// Puts the classes of the samples behind a sheet's caption.
/// `taken` is in the form of highestClasses().
void tellSamples(Picture& sheet, int columns, std::span<const int32_t> labels,
                 std::span<const int32_t> taken, size_t classes) {
    std::vector<SampleClasses> samples;
    for (size_t i = 0; i < labels.size(); ++i) {
        const bool none = static_cast<size_t>(taken[i]) == classes;
        samples.push_back({labels[i], none ? SampleClasses::kNone : taken[i]});
    }
    sheet.caption += samplesCaption(columns, samples);
}

Sheet sheetOf(const Gallery& gallery, size_t classes, std::span<const std::string> names) {
    const Shape& x = gallery.samples.tensors[kX].shape;
    const Places places({x[1], x[2], x[3]}, static_cast<size_t>(x[0]), columnsOf(gallery), classes,
                        names);
    Sheet sheet(places, names);
    sheet.draw(gallery);
    return sheet;
}

bool isText(const Batch& samples) { return samples.tensors[kX].dtype == DType::I32; }

/// Returns consecutive samples from the middle of the split. They begin one character apart or lie
/// side by side. In the second case, the first sample is the prompt, and the others hold as many
/// characters as a lane writes behind it.
std::vector<int64_t> rowOfText(int64_t samples, const Shape& target) {
    const int64_t length = target.elements();
    const int64_t wanted =
        target.empty() ? kTextCharacters : 1 + (kWrittenCharacters + length - 2) / length;
    std::vector<int64_t> row(static_cast<size_t>(std::min(samples, wanted)));
    std::iota(row.begin(), row.end(), (samples - static_cast<int64_t>(row.size())) / 2);
    return row;
}

std::vector<int64_t> spread(int64_t wanted, int64_t samples) {
    const int64_t shown = std::min(wanted, samples);
    std::vector<int64_t> spread;
    for (int64_t i = 0; i < shown; ++i)
        spread.push_back(i * samples / shown);
    return spread;
}

/// Whether samples are pictures that a sheet can show.
bool arePictures(const TensorSpec& x) {
    return x.shape.rank() == 3 && (x.shape[0] == 1 || x.shape[0] == 3);
}

/// Returns how many pictures, or texts with classes, a sheet has room for.
int64_t roomFor(const TensorSpec& x) {
    if (x.apart) return kClassedTexts;
    const int64_t side = std::clamp<int64_t>(kWidest / std::max(x.shape[1], x.shape[2]), 3, 8);
    return side * side;
}

/// Returns nothing when the sample cannot be read: whether that ends the training is not decided
/// here.
std::optional<Batch> sampleOf(const Dataset& data, Split split, int64_t sample) {
    Batch one = Batch::of(data.tensors(), 1);
    try {
        if (data.read(split, std::span(&sample, 1), one).empty()) return one;
    } catch (const InputError&) {
    }
    return std::nullopt;
}

struct Prompted {
    std::vector<int32_t> prompt, continued;
};

/// Makes the first sample the prompt and removes it from the samples, unless it is the only one.
Prompted promptOf(std::vector<Batch>& samples) {
    const Batch& first = samples.front();
    const auto x = first.labels(kX);
    Prompted made{{x.begin(), x.end()}, {first.labels(kTarget).back()}};
    for (size_t i = 1; i < samples.size(); ++i) {
        const auto target = samples[i].labels(kTarget);
        made.continued.insert(made.continued.end(), target.begin(), target.end());
    }
    made.continued.resize(std::min<size_t>(made.continued.size(), kWrittenCharacters));
    if (samples.size() > 1) samples.erase(samples.begin());
    return made;
}

/// Puts samples into the form in which a network sees them.
Gallery galleryFrom(const Dataset& data, std::span<const Batch> samples) {
    Gallery gallery{Batch::of(data.tensors(), static_cast<int64_t>(samples.size())),
                    data.channelScales()};
    for (size_t row = 0; row < samples.size(); ++row) {
        gallery.samples.setRow(row, samples[row], 0);
        if (data.tensors()[kX].apart) gallery.texts.push_back(data.textOf(samples[row].labels(kX)));
    }
    return gallery;
}

/// Returns the classes of the positions for which a sheet has room.
std::span<const int32_t> judgedOf(const Gallery& gallery) {
    const auto labels = gallery.samples.labels(kTarget);
    return labels.first(std::min<size_t>(labels.size(), kJudgedCharacters));
}

Picture classedTexts(const Gallery& gallery, std::span<const int32_t> taken,
                     std::span<const std::string> names) {
    const std::vector<int32_t> labels = trueClasses(gallery.samples);
    const std::string nan = "NaN"; // all scores are
    std::vector<ClassedText> texts;
    for (size_t i = 0; i < labels.size(); ++i) {
        const auto at = static_cast<size_t>(taken[i]);
        texts.push_back(
            {gallery.texts[i], at < names.size() ? names[at] : nan, taken[i] == labels[i]});
    }
    size_t longest = nan.size(); // the sheets of all lanes and steps are as large
    for (const std::string& name : names)
        longest = std::max(longest, name.size());
    return classedSheet(texts, longest);
}

} // namespace

std::shared_ptr<const Gallery> galleryOf(const Dataset& data) {
    const TensorSpec& x = data.tensors()[kX];
    const bool text = x.dtype == DType::I32;
    const bool labels = data.tensors()[kTarget].dtype == DType::I32;
    if (!(arePictures(x) || text) || !(labels || data.targetsAreSides())) return nullptr;
    const Split split = data.samples(Split::Validation) > 0 ? Split::Validation : Split::Train;
    const int64_t all = data.samples(split);
    std::vector<Batch> samples;
    const Shape& target = data.tensors()[kTarget].shape;
    for (const int64_t sample : text && !x.apart ? rowOfText(all, target) : spread(roomFor(x), all))
        if (auto read = sampleOf(data, split, sample)) samples.push_back(*std::move(read));
    if (samples.empty()) return nullptr;
    Prompted prompted;
    if (text && labels && !target.empty()) prompted = promptOf(samples);
    auto gallery = std::make_shared<Gallery>(galleryFrom(data, samples));
    gallery->prompt = std::move(prompted.prompt);
    gallery->continued = std::move(prompted.continued);
    return gallery;
}

Picture galleryWithClasses(const Gallery& gallery, std::span<const std::string> names) {
    const std::vector<int32_t> labels = trueClasses(gallery.samples);
    if (!gallery.prompt.empty())
        return writtenSheet(names, {gallery.prompt, gallery.continued, gallery.continued,
                                    judgedOf(gallery), judgedOf(gallery)});
    if (!gallery.texts.empty()) return classedTexts(gallery, labels, names);
    if (isText(gallery.samples)) return textSheet(names, labels, labels);
    const auto classes = static_cast<size_t>(*std::ranges::max_element(labels)) + 1;
    Sheet sheet = sheetOf(gallery, std::max(names.size(), classes), names);
    for (size_t i = 0; i < labels.size(); ++i)
        sheet.write(static_cast<int>(i), labels[i], kInk, kPaper);
    Picture picture = sheet.take();
    constexpr size_t kMostNames = 50; // a sentence of the window ends with them
    if (!sheet.isNamed()) picture.caption = classCaption(names, kMostNames);
    tellSamples(picture, columnsOf(gallery), labels, labels, SIZE_MAX);
    return picture;
}

namespace {

/// Returns the caption of samples that were taken for these classes.
std::string captionOf(std::span<const int32_t> taken, std::span<const int32_t> labels,
                      size_t classes) {
    const auto right = std::inner_product(taken.begin(), taken.end(), labels.begin(), int64_t{0},
                                          std::plus<>(), std::equal_to<>());
    const auto none = std::count(taken.begin(), taken.end(), static_cast<int32_t>(classes));
    return countCaption(right, static_cast<int64_t>(labels.size()), none);
}

Picture mistakesOf(const Gallery& gallery, std::span<const int32_t> taken, size_t classes,
                   std::span<const std::string> names) {
    const std::vector<int32_t> labels = trueClasses(gallery.samples);
    Sheet sheet = sheetOf(gallery, classes, names);
    for (size_t i = 0; i < labels.size(); ++i) {
        if (taken[i] == labels[i]) continue;
        sheet.frame(static_cast<int>(i));
        const bool none = static_cast<size_t>(taken[i]) == classes; // all scores are nan
        if (!none) sheet.write(static_cast<int>(i), taken[i], kPaper, kWrong);
    }
    return sheet.take();
}

} // namespace

Picture galleryWithMistakes(const Gallery& gallery, std::span<const float> scores,
                            std::span<const std::string> names) {
    const std::vector<int32_t> labels = trueClasses(gallery.samples);
    const bool sides = gallery.samples.tensors[kTarget].dtype != DType::I32;
    const size_t classes = sides ? 2 : scores.size() / labels.size();
    const std::vector<int32_t> taken = takenClasses(gallery.samples, scores, classes);
    Picture picture = !gallery.texts.empty()    ? classedTexts(gallery, taken, names)
                      : isText(gallery.samples) ? textSheet(names, taken, labels)
                                                : mistakesOf(gallery, taken, classes, names);
    picture.caption = captionOf(taken, labels, classes);
    if (!isText(gallery.samples)) tellSamples(picture, columnsOf(gallery), labels, taken, classes);
    return picture;
}

namespace {

/// Draws mistakes as texts or as pictures, so many in a row. Of none, only the ground is drawn.
Picture sheetOfMistakes(const Dataset& data, const Gallery* gallery, std::span<const int32_t> taken,
                        std::span<const std::string> names, int inRow) {
    const TensorSpec& x = data.tensors()[kX];
    const auto labels = gallery ? trueClasses(gallery->samples) : std::vector<int32_t>();
    const auto nameOf = [names](int32_t each) {
        const auto at = static_cast<size_t>(each);
        return at < names.size() ? names[at] : std::string("NaN");
    };
    if (x.apart) {
        std::vector<ClassedText> texts;
        for (size_t i = 0; i < labels.size(); ++i)
            texts.push_back(
                {gallery->texts[i], nameOf(taken[i]), taken[i] == labels[i], nameOf(labels[i])});
        return classedSheet(texts);
    }
    Sheet sheet(Places(x.shape, labels.size(), inRow, names.size(), names), names);
    if (gallery) sheet.draw(*gallery);
    for (size_t i = 0; i < labels.size(); ++i) {
        const auto sample = static_cast<int>(i);
        sheet.write(sample, labels[i], kInk, kPaper, End::Lower);
        if (static_cast<size_t>(taken[i]) < names.size()) // else all scores are nan
            sheet.write(sample, taken[i], kPaper, kWrong);
    }
    return sheet.take();
}

} // namespace

size_t mistakesShown(const Dataset& data) {
    const TensorSpec &x = data.tensors()[kX], &target = data.tensors()[kTarget];
    const bool classed =
        (target.dtype == DType::I32 && target.shape.empty()) || data.targetsAreSides();
    return classed && (x.apart || arePictures(x)) ? static_cast<size_t>(roomFor(x)) : 0;
}

std::optional<std::vector<Picture>> mistakeSheets(const Dataset& data,
                                                  std::span<const JudgedSamples> lanes,
                                                  std::span<const std::string> names,
                                                  const std::atomic<bool>& stop) {
    const size_t room = mistakesShown(data);
    if (room == 0) return std::vector<Picture>();
    size_t most = 1;
    for (const JudgedSamples& lane : lanes) {
        if (lane.counts.samples() == 0) return std::vector<Picture>();
        most = std::max(most, std::min(room, lane.mistakes.size()));
    }
    const int inRow = static_cast<int>(std::ceil(std::sqrt(static_cast<double>(most))));
    std::map<int64_t, std::optional<Batch>> read; // lanes have most mistakes in common
    const bool leftOver = stop;
    std::vector<Picture> sheets;
    for (const JudgedSamples& lane : lanes) {
        std::vector<Batch> samples;
        std::vector<int32_t> taken;
        for (const Mistake& each :
             std::span(lane.mistakes).first(std::min(room, lane.mistakes.size()))) {
            if (stop && !leftOver) return std::nullopt;
            const auto [found, isNew] = read.try_emplace(each.sample);
            if (isNew)
                found->second =
                    each.values ? *each.values : sampleOf(data, Split::Validation, each.sample);
            if (!found->second) continue;
            samples.push_back(*found->second);
            taken.push_back(each.taken);
        }
        std::optional<Gallery> gallery;
        if (!samples.empty()) gallery = galleryFrom(data, samples);
        sheets.push_back(sheetOfMistakes(data, gallery ? &*gallery : nullptr, taken, names, inRow));
        const int64_t all = lane.counts.samples(), wrong = all - lane.counts.correct();
        sheets.back().caption = lane.counts.none() == all
                                    ? std::string(kNoClasses)
                                    : std::to_string(samples.size()) + "/" + std::to_string(wrong);
        if (gallery && !isText(gallery->samples))
            tellSamples(sheets.back(), inRow, trueClasses(gallery->samples), taken, names.size());
    }
    return sheets;
}

size_t writtenCharacters(const Gallery& gallery) {
    constexpr size_t kShort = 64, kRows = kWrittenCharacters / kTextColumns;
    const size_t rows = kRows * kShort / std::max(gallery.prompt.size(), kShort);
    return kTextColumns * std::max<size_t>(rows, 1);
}

Picture galleryWithText(const Gallery& gallery, std::span<const float> scores,
                        std::span<const std::string> names, std::span<const int32_t> written,
                        std::span<const int32_t> first) {
    const std::span<const int32_t> labels = judgedOf(gallery);
    const size_t classes = scores.size() / gallery.samples.labels(kTarget).size();
    const auto taken = highestClasses(scores.first(labels.size() * classes), classes);
    Picture picture = writtenSheet(names, {gallery.prompt, written, first, taken, labels});
    picture.caption = captionOf(taken, labels, classes);
    return picture;
}

} // namespace halfscope
