// Turns small pictures of bytes into the floats of a batch.
#include "engine/data/picture_samples.h"

#include "engine/core/error.h"
#include "engine/core/philox.h"
#include "engine/core/text.h"
#include "engine/data/channel_values.h"
#include "engine/lang/python.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <numeric>

namespace halfscope {

namespace {

constexpr size_t kMostKept = size_t{512} << 20; // bytes of decoded pictures that are kept
constexpr size_t kMeasured = 1000;              // samples that are measured

/// The epoch is added to this; it lies between the streams of the sampler and those of the starting
/// weights.
constexpr uint64_t kChanceStream = uint64_t{1} << 31;

constexpr const char *kMeanKey = "data.mean", *kDeviationKey = "data.std";

int channelsOf(const TaskConfig& task) { return task.grey ? 1 : 3; }

void checkCount(const char* key, const ChannelValues& values, int channels) {
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

} // namespace

bool isPictureEnding(std::string_view ending) {
    const std::string end = lowerCase(std::string(ending));
    return end == "png" || end == "jpg" || end == "jpeg";
}

bool isPictureName(const std::string& name) {
    const std::string ending = std::filesystem::path(name).extension().string();
    return ending.size() > 1 && isPictureEnding(std::string_view(ending).substr(1));
}

bool isOtherPictureName(const std::string& name) {
    constexpr std::array<std::string_view, 9> kOthers{".webp", ".gif",  ".bmp",  ".tif", ".tiff",
                                                      ".avif", ".heic", ".jfif", ".ppm"};
    const std::string ending = lowerCase(std::filesystem::path(name).extension().string());
    return std::find(kOthers.begin(), kOthers.end(), ending) != kOthers.end();
}

std::vector<std::string> pathsIn(const std::string& folder, Entries entries,
                                 bool (*wanted)(const std::string& name), int* error) {
    std::vector<std::string> paths;
    for (const std::string& name : namesIn(folder, entries, error))
        if (!name.starts_with('.') && wanted(name))
            paths.push_back((std::filesystem::path(folder) / name).string());
    std::sort(paths.begin(), paths.end());
    return paths;
}

void refuseUnread(const std::string& folder, int error) {
    throw InputError(phrase("Data", "data.path: %1 cannot be read: %2"), pathText(folder),
                     reasonOf(error));
}

std::vector<TensorSpec> pictureTensors(const TaskConfig& task, int64_t classes) {
    const int64_t side = task.pictureSide;
    checkCount(kMeanKey, channelValuesOf(kMeanKey, task.mean), channelsOf(task));
    checkCount(kDeviationKey, channelValuesOf(kDeviationKey, task.deviation), channelsOf(task));
    if (task.crop > side / 2)
        throw InputError(
            phrase("Data", "data.crop: %1 is not allowed: at most half of data.side, %2"),
            task.crop, side / 2);
    return {TensorSpec{"x", {channelsOf(task), side, side}},
            TensorSpec{"target", {}, DType::I32, classes}};
}

std::vector<uint8_t> planesOf(const Picture& picture, int channels) {
    const auto pixels = static_cast<size_t>(picture.width) * static_cast<size_t>(picture.height);
    std::vector<uint8_t> bytes(pixels * static_cast<size_t>(channels));
    const auto byteOf = [](float value) {
        return static_cast<uint8_t>(std::lround(255 * std::clamp(value, 0.0f, 1.0f)));
    };
    for (size_t pixel = 0; pixel < pixels; ++pixel) {
        const float* from = picture.values.data() + pixel * static_cast<size_t>(picture.channels);
        if (channels == 1 && picture.channels == 3) { // luma, as ITU-R BT.601 defines it
            bytes[pixel] = byteOf(0.299f * from[0] + 0.587f * from[1] + 0.114f * from[2]);
            continue;
        }
        for (size_t c = 0; c < static_cast<size_t>(channels); ++c)
            bytes[c * pixels + pixel] = byteOf(from[picture.channels == 3 ? c : 0]);
    }
    return bytes;
}

PictureSamples::PictureSamples(const TaskConfig& task, uint64_t seed)
    : m_meanText(task.mean), m_deviationText(task.deviation), m_seed(seed), m_flip(task.flip),
      m_crop(task.crop), m_side(static_cast<int>(task.pictureSide)), m_channels(channelsOf(task)),
      m_new(task.predictFile.empty() ? NewPictures() : newPicturesAt(task.predictFile)) {
    m_damaged = task.damaged;
}

void PictureSamples::measureAndSetTables(size_t stored) {
    m_kept.resize(stored + m_new.paths.size());
    const ChannelValues mean = channelValuesOf(kMeanKey, m_meanText);
    const ChannelValues deviation = channelValuesOf(kDeviationKey, m_deviationText);
    put(m_mean, mean);
    put(m_deviation, deviation);
    if (mean.measured || deviation.measured) measure(mean.measured, deviation.measured);
    setTables();
    if (!m_new.paths.empty()) addPredicted(stored);
}

void PictureSamples::addPredicted(size_t stored) {
    checkSampleCount("data.path", static_cast<int64_t>(m_kept.size()));
    m_firstNew = stored;
    m_numbers.resize(m_kept.size());
    const auto first = m_numbers.begin() + static_cast<std::ptrdiff_t>(stored);
    std::iota(m_numbers.begin(), first, int64_t{0});
    std::iota(first, m_numbers.end(), int64_t{0});
    judgeFrom(static_cast<int64_t>(stored));
    m_damaged = Damaged::Skip; // no network must be trained again for a damaged picture
}

Picture PictureSamples::squareAt(size_t stored) const {
    return stored < m_firstNew ? squareOf(stored, m_side)
                               : readSquare(m_new.paths[stored - m_firstNew], m_side);
}

void PictureSamples::setTables() {
    for (size_t c = 0; c < m_values.size(); ++c)
        for (size_t byte = 0; byte < m_values[c].size(); ++byte)
            m_values[c][byte] = (static_cast<float>(byte) / 255 - m_mean[c]) / m_deviation[c];
}

/// Measures samples that are spread evenly over those to train on; whole numbers add up exactly.
void PictureSamples::measure(bool mean, bool deviation) {
    const auto& train = m_splits.train;
    const size_t count = std::min(kMeasured, train.size());
    std::array<uint64_t, 3> sums{}, squares{};
    uint64_t pixels = 0;
    for (size_t i = 0; i < count; ++i)
        try {
            const auto stored = static_cast<size_t>(train[i * train.size() / count]);
            withPlanes(stored, [&](const Planes& planes) {
                const size_t plane = planes.size() / static_cast<size_t>(m_channels);
                pixels += plane;
                for (size_t at = 0; at < planes.size(); ++at) {
                    const uint64_t byte = planes[at];
                    sums[at / plane] += byte;
                    squares[at / plane] += byte * byte;
                }
            });
        } catch (const InputError&) {
            if (m_damaged == Damaged::Refuse) throw;
        }
    if (pixels == 0)
        throw InputError(phrase("Data",
                                "data.mean, data.std: none of %1 pictures could be decoded, so "
                                "nothing was measured"),
                         count);
    for (size_t c = 0; c < static_cast<size_t>(m_channels); ++c) {
        const double all = static_cast<double>(pixels), sum = static_cast<double>(sums[c]);
        const double variance = static_cast<double>(squares[c]) / all - sum / all * (sum / all);
        if (mean) m_mean[c] = static_cast<float>(sum / all / 255);
        // at least one step of a byte: a plain picture has no deviation
        if (deviation)
            m_deviation[c] = static_cast<float>(std::sqrt(std::max(variance, 1.0)) / 255);
    }
}

std::vector<ChannelScale> PictureSamples::channelScales() const {
    std::vector<ChannelScale> scales;
    for (size_t c = 0; c < static_cast<size_t>(m_channels); ++c)
        scales.push_back({m_mean[c], m_deviation[c]});
    return scales;
}

std::vector<int64_t> PictureSamples::classCounts() const {
    std::vector<int64_t> counts(static_cast<size_t>(m_tensors[kTarget].classes));
    for (const int32_t stored : m_splits.train)
        ++counts[static_cast<size_t>(labelOf(static_cast<size_t>(stored)))];
    return counts;
}

PictureSamples::Planes PictureSamples::decoded(size_t stored) const {
    return planesOf(squareAt(stored), m_channels);
}

/// Calls `use` with the planes of a sample. Planes that are kept never change, so they can be read
/// without the lock.
template <class Use>
void PictureSamples::withPlanes(size_t stored, Use use) const {
    const Planes* kept = nullptr;
    {
        const std::lock_guard lock(m_mutex);
        if (!m_kept[stored].empty()) kept = &m_kept[stored];
    }
    if (kept) return use(*kept);
    Planes planes = decoded(stored);
    use(planes);
    const std::lock_guard lock(m_mutex);
    if (!m_kept[stored].empty() || m_keptBytes + planes.size() > kMostKept) return;
    m_keptBytes += planes.size();
    m_kept[stored] = std::move(planes);
}

PictureSamples::Chance PictureSamples::chanceOf(int32_t stored, int64_t epoch) const {
    if (epoch == 0 || !varies()) return {};
    const Philox random(m_seed, kChanceStream + static_cast<uint64_t>(epoch));
    const uint64_t index = 3 * static_cast<uint64_t>(stored);
    const auto moved = [&](uint64_t at) {
        return static_cast<int64_t>(random.below(at, static_cast<uint64_t>(2 * m_crop + 1))) -
               m_crop;
    };
    return {m_flip && random.below(index, 2) == 1, moved(index + 1), moved(index + 2)};
}

void PictureSamples::fill(std::span<float> to, const Planes& from, Chance chance) const {
    const auto side = int64_t{m_side};
    const auto plane = static_cast<size_t>(side * side);
    for (size_t c = 0; c < static_cast<size_t>(m_channels); ++c) {
        const std::array<float, 256>& values = m_values[c];
        const uint8_t* bytes = from.data() + c * plane;
        float* out = to.data() + c * plane;
        if (!chance.flip && chance.right == 0 && chance.down == 0) {
            for (size_t i = 0; i < plane; ++i)
                out[i] = values[bytes[i]];
            continue;
        }
        for (int64_t y = 0; y < side; ++y)
            for (int64_t x = 0; x < side; ++x) {
                const int64_t fromY = y - chance.down, shifted = x - chance.right;
                const int64_t fromX = chance.flip ? side - 1 - shifted : shifted;
                const bool inside = fromY >= 0 && fromY < side && fromX >= 0 && fromX < side;
                *out++ = values[inside ? bytes[fromY * side + fromX] : 0];
            }
    }
}

void PictureSamples::readStored(int32_t stored, int64_t epoch, const SamplePlace& place) const {
    const auto at = static_cast<size_t>(stored);
    withPlanes(
        at, [&](const Planes& planes) { fill(place.floats(kX), planes, chanceOf(stored, epoch)); });
    place.label() = at < m_firstNew ? labelOf(at) : 0; // any class will do for a new picture
}

namespace {

/// Returns a tensor of (channels, 1, 1), or the code that measures it.
std::string pythonValues(const ChannelValues& values, const char* none, const char* measured) {
    if (values.measured) return measured;
    std::string numbers;
    for (const float number : values.numbers)
        numbers += (numbers.empty() ? "" : ", ") + numberText(number);
    return values.isSet() ? "torch.tensor([" + numbers + "])[:, None, None]"
                          : std::string("torch.tensor(") + none + ")";
}

std::string normalisedPython(const TaskConfig& task) {
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

std::string variedPython(const TaskConfig& task) {
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
    x = torch.stack([p[:, r : r + SIDE, c : c + SIDE] for p, (r, c) in zip(padded, at)])
)",
                         {{"CROP", numberText(task.crop)}});
    return text + "    return x\n";
}

} // namespace

bool normalises(const TaskConfig& task) {
    return channelValuesOf(kMeanKey, task.mean).isSet() ||
           channelValuesOf(kDeviationKey, task.deviation).isSet();
}

PythonData pictureParts(const TaskConfig& task) {
    const bool varies = task.flip || task.crop > 0;
    return {"import numpy\nfrom PIL import Image, ImageOps\n",
            lang::filled(R"(SIDE = {SIDE}
BLACK = 0


def picture(file):
    """Its centre square, on white where it is transparent."""
    image = Image.open(file).convert("RGBA")
    image = Image.alpha_composite(Image.new("RGBA", image.size, "white"), image)
    image = ImageOps.fit(image.convert("{MODE}"), (SIDE, SIDE))
    return torch.from_numpy(numpy.array(image)).reshape(SIDE, SIDE, -1).permute(2, 0, 1) / 255
{NORMALISED})",
                         {{"SIDE", numberText(task.pictureSide)},
                          {"MODE", task.grey ? "L" : "RGB"},
                          {"NORMALISED", normalises(task) ? normalisedPython(task) : ""}}),
            varies ? variedPython(task) : std::string()};
}

} // namespace halfscope
