// Looks values up by byte where there is a mean or a deviation, and divides by 255 where not.
#include "engine/data/pixel_values.h"

#include "engine/core/error.h"
#include "engine/core/philox.h"
#include "engine/core/text.h"
#include "engine/core/vector_clones.h"
#include "engine/data/channel_values.h"
#include "engine/lang/python.h"

#include <algorithm>
#include <cmath>

namespace halfscope {

namespace {

constexpr size_t kMostMeasured = 1000; // samples

/// The epoch is added to this; it lies between the streams of the sampler and those of the starting
/// weights.
constexpr uint64_t kChanceStream = uint64_t{1} << 31;

constexpr const char *kMeanKey = "data.mean", *kDeviationKey = "data.std";

void checkCount(const char* key, const ChannelValues& values, int64_t channels) {
    const size_t count = values.numbers.size();
    if (count > 1 && count != static_cast<size_t>(channels))
        throw InputError(phrase("Data",
                                "%1: %2 numbers are not allowed: one for all channels, or as many "
                                "as there are channels (%3)"),
                         key, count, channels);
}

void put(std::array<float, 3>& to, const ChannelValues& from) {
    for (size_t c = 0; c < to.size() && !from.numbers.empty(); ++c)
        to[c] = from.numbers[std::min(c, from.numbers.size() - 1)];
}

/// Computes value / 255 by products, which processors compute faster than quotients: the first
/// product is exact, because its factor has nine bits, and for each of the 256 bytes the sum is the
/// quotient rounded once. `from` and `to` do not overlap, which lets the compiler take several
/// values at a time, although bytes may alias anything.
HALFSCOPE_VECTOR
void toFloats(const uint8_t* __restrict from, float* __restrict to, size_t count) {
    constexpr float kHigh = 0x1.01p-8F, kLow = 0x1.010102p-24F;
    for (size_t i = 0; i < count; ++i) {
        const auto value = static_cast<float>(from[i]);
        to[i] = value * kHigh + value * kLow;
    }
}

} // namespace

PixelValues::PixelValues(const TaskConfig& task, uint64_t seed, const Shape& picture)
    : m_seed(seed), m_flip(task.flip), m_crop(task.crop),
      m_channels(static_cast<size_t>(picture[0])), m_height(static_cast<size_t>(picture[1])),
      m_width(static_cast<size_t>(picture[2])) {
    const ChannelValues mean = channelValuesOf(kMeanKey, task.mean);
    const ChannelValues deviation = channelValuesOf(kDeviationKey, task.deviation);
    m_normalises = mean.isSet() || deviation.isSet();
    m_measuresMean = mean.measured;
    m_measuresDeviation = deviation.measured;
    put(m_mean, mean);
    put(m_deviation, deviation);
    setTables();
}

void PixelValues::setTables() {
    for (size_t c = 0; c < m_values.size(); ++c)
        for (size_t byte = 0; byte < m_values[c].size(); ++byte)
            m_values[c][byte] = (static_cast<float>(byte) / 255 - m_mean[c]) / m_deviation[c];
}

std::vector<ChannelScale> PixelValues::scales() const {
    std::vector<ChannelScale> scales;
    for (size_t c = 0; c < m_channels; ++c)
        scales.push_back({m_mean[c], m_deviation[c]});
    return scales;
}

std::vector<size_t> PixelValues::measuredAmong(size_t samples) {
    const size_t count = std::min(kMostMeasured, samples);
    std::vector<size_t> places;
    for (size_t i = 0; i < count; ++i)
        places.push_back(i * samples / count);
    return places;
}

/// Whole numbers add up exactly, in any order.
void PixelValues::measure(std::span<const uint8_t> planes) {
    const size_t plane = m_height * m_width;
    m_measured += plane;
    for (size_t at = 0; at < planes.size(); ++at) {
        const uint64_t byte = planes[at];
        m_sums[at / plane] += byte;
        m_squares[at / plane] += byte * byte;
    }
}

void PixelValues::endMeasuring(size_t asked) {
    if (m_measured == 0)
        throw InputError(phrase("Data",
                                "data.mean, data.std: none of %1 pictures could be decoded, so "
                                "nothing was measured"),
                         asked);
    for (size_t c = 0; c < m_channels; ++c) {
        const double all = static_cast<double>(m_measured), sum = static_cast<double>(m_sums[c]);
        const double variance = static_cast<double>(m_squares[c]) / all - sum / all * (sum / all);
        if (m_measuresMean) m_mean[c] = static_cast<float>(sum / all / 255);
        // at least one step of a byte: a plain picture has no deviation
        if (m_measuresDeviation)
            m_deviation[c] = static_cast<float>(std::sqrt(std::max(variance, 1.0)) / 255);
    }
    setTables();
}

PixelValues::Chance PixelValues::chanceOf(int64_t stored, int64_t epoch) const {
    if (epoch == 0 || !varies()) return {};
    const Philox random(m_seed, kChanceStream + static_cast<uint64_t>(epoch));
    const uint64_t index = 3 * static_cast<uint64_t>(stored);
    const auto moved = [&](uint64_t at) {
        return static_cast<int64_t>(random.below(at, static_cast<uint64_t>(2 * m_crop + 1))) -
               m_crop;
    };
    return {m_flip && random.below(index, 2) == 1, moved(index + 1), moved(index + 2)};
}

void PixelValues::fill(std::span<float> to, std::span<const uint8_t> planes, int64_t stored,
                       int64_t epoch) const {
    const Chance chance = chanceOf(stored, epoch);
    if (chance.flip || chance.right != 0 || chance.down != 0) return fillMoved(to, planes, chance);
    if (!m_normalises) return toFloats(planes.data(), to.data(), planes.size());
    const size_t plane = m_height * m_width;
    for (size_t c = 0; c < m_channels; ++c) {
        const std::array<float, 256>& values = m_values[c];
        const uint8_t* bytes = planes.data() + c * plane;
        float* out = to.data() + c * plane;
        for (size_t i = 0; i < plane; ++i)
            out[i] = values[bytes[i]];
    }
}

void PixelValues::fillMoved(std::span<float> to, std::span<const uint8_t> planes,
                            Chance chance) const {
    const auto height = static_cast<int64_t>(m_height), width = static_cast<int64_t>(m_width);
    for (size_t c = 0; c < m_channels; ++c) {
        const std::array<float, 256>& values = m_values[c];
        const uint8_t* bytes = planes.data() + c * m_height * m_width;
        float* out = to.data() + c * m_height * m_width;
        for (int64_t y = 0; y < height; ++y)
            for (int64_t x = 0; x < width; ++x) {
                const int64_t fromY = y - chance.down, shifted = x - chance.right;
                const int64_t fromX = chance.flip ? width - 1 - shifted : shifted;
                const bool inside = fromY >= 0 && fromY < height && fromX >= 0 && fromX < width;
                *out++ = values[inside ? bytes[fromY * width + fromX] : 0];
            }
    }
}

void checkChannelCounts(const TaskConfig& task, int64_t channels) {
    checkCount(kMeanKey, channelValuesOf(kMeanKey, task.mean), channels);
    checkCount(kDeviationKey, channelValuesOf(kDeviationKey, task.deviation), channels);
}

bool normalises(const TaskConfig& task) {
    return channelValuesOf(kMeanKey, task.mean).isSet() ||
           channelValuesOf(kDeviationKey, task.deviation).isSet();
}

/// Returns a tensor of (channels, 1, 1), or the code that measures it.
static std::string pythonValues(const ChannelValues& values, const char* none,
                                const char* measured) {
    if (values.measured) return measured;
    std::string numbers;
    for (const float number : values.numbers)
        numbers += (numbers.empty() ? "" : ", ") + numberText(number);
    return values.isSet() ? "torch.tensor([" + numbers + "])[:, None, None]"
                          : std::string("torch.tensor(") + none + ")";
}

std::string normalisedPython(const TaskConfig& task) {
    if (!normalises(task)) return {};
    return lang::filled(
        R"(

def normalised(train, x):
    """By mean and deviation; what is measured is that of train."""
    global BLACK
    mean = {MEAN}
    deviation = {STD}
    BLACK = -mean / deviation
    return (x - mean) / deviation
)",
        {{"MEAN", pythonValues(channelValuesOf(kMeanKey, task.mean), "0.0",
                               "train.mean((0, 2, 3))[:, None, None]")},
         {"STD", pythonValues(channelValuesOf(kDeviationKey, task.deviation), "1.0",
                              "train.std((0, 2, 3), correction=0)[:, None, None]")}});
}

std::string variedPython(const TaskConfig& task, const char* height, const char* width) {
    if (!task.flip && task.crop == 0) return {};
    std::string text = R"(

def varied(x):
    """Samples as an epoch has them; others than Halfscope draws."""
)";
    if (task.flip)
        text += "    flip = torch.rand(len(x), 1, 1, 1) < 0.5\n"
                "    x = torch.where(flip, x.flip(3), x)\n";
    if (task.crop > 0)
        text +=
            lang::filled(R"(    padded = torch.nn.functional.pad(x - BLACK, ({CROP},) * 4) + BLACK
    at = torch.randint(2 * {CROP} + 1, (len(x), 2)).tolist()
    x = torch.stack([p[:, r : r + {HEIGHT}, c : c + {WIDTH}] for p, (r, c) in zip(padded, at)])
)",
                         {{"CROP", numberText(task.crop)}, {"HEIGHT", height}, {"WIDTH", width}});
    return text + "    return x\n";
}

} // namespace halfscope
