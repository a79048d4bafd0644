// Turns small pictures of bytes into the floats of a batch.
#include "engine/data/picture_samples.h"

#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/lang/python.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <set>
#include <utility>

#include <sys/stat.h>

namespace halfscope {

namespace {

constexpr size_t kMostKept = size_t{512} << 20; // bytes of decoded pictures that are kept

int channelsOf(const TaskConfig& task) { return task.grey ? 1 : 3; }

bool isGone(const std::filesystem::path& path) {
    std::error_code ignored;
    return !path.empty() &&
           std::filesystem::status(path, ignored).type() == std::filesystem::file_type::not_found;
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
    constexpr std::array<std::string_view, 15> kOthers{".webp", ".gif",  ".bmp",  ".tif",  ".tiff",
                                                       ".avif", ".heic", ".heif", ".jfif", ".jxl",
                                                       ".jp2",  ".tga",  ".ppm",  ".pgm",  ".pbm"};
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

std::vector<std::string> foldersFrom(const std::string& folder, UnlistedFolder& unlisted,
                                     size_t most) {
    std::vector<std::string> waiting{folder}, all;
    std::set<std::pair<dev_t, ino_t>> known;
    while (!waiting.empty() && all.size() < most) {
        const std::string next = std::move(waiting.back());
        waiting.pop_back();
        struct stat status {};
        const bool found = ::stat(next.c_str(), &status) == 0;
        if (found && !known.emplace(status.st_dev, status.st_ino).second) continue;
        int error = 0;
        const std::vector<std::string> below = pathsIn(
            next, Entries::Folders, [](const std::string&) { return true; }, &error);
        if (error != 0 && unlisted.error == 0) unlisted = {next, error};
        waiting.insert(waiting.end(), below.rbegin(), below.rend()); // the first is next
        all.push_back(next);
    }
    std::ranges::sort(all);
    return all;
}

void refuseUnread(const std::string& folder, int error) {
    throw InputError(phrase("Data", "data.path: %1 cannot be read: %2"), pathText(folder),
                     reasonOf(error));
}

void checkListed(const std::string& folder) {
    int error = 0;
    (void)namesIn(folder, Entries::All, &error, 1);
    if (error != 0) refuseUnread(folder, error);
}

std::vector<TensorSpec> pictureTensors(const TaskConfig& task, int64_t classes) {
    const int64_t side = task.pictureSide;
    checkChannelCounts(task, channelsOf(task));
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
    : m_path(task.path), m_side(static_cast<int>(task.pictureSide)), m_channels(channelsOf(task)),
      m_new(task.predictFile.empty() ? NewPictures() : newPicturesAt(task.predictFile)),
      m_pixels(task, seed, {m_channels, m_side, m_side}) {
    m_damaged = task.damaged;
}

void PictureSamples::measureAndPredict(size_t stored) {
    m_kept.resize(stored + m_new.paths.size());
    if (m_pixels.measures()) measure();
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

void PictureSamples::measure() {
    const std::vector<size_t> places = PixelValues::measuredAmong(m_splits.train.size());
    for (const size_t place : places)
        try {
            withPlanes(static_cast<size_t>(m_splits.train[place]),
                       [&](const Planes& planes) { m_pixels.measure(planes); });
        } catch (const InputError&) {
            if (m_damaged == Damaged::Refuse) throw;
        }
    m_pixels.endMeasuring(places.size());
}

std::vector<int64_t> PictureSamples::classCounts() const {
    std::vector<int64_t> counts(static_cast<size_t>(m_tensors[kTarget].classes));
    for (const int32_t stored : m_splits.train)
        ++counts[static_cast<size_t>(labelOf(static_cast<size_t>(stored)))];
    return counts;
}

std::vector<Message> PictureSamples::lostClasses(const std::atomic<bool>& stop) const {
    std::vector<int32_t> samples = m_splits.train; // each once for every reader
    std::ranges::sort(samples);
    samples.erase(std::unique(samples.begin(), samples.end()), samples.end());
    std::vector<int64_t> counts(m_view.classes.size());
    std::vector<bool> known(counts.size());
    for (const int32_t stored : samples) {
        if (stop) return {};
        const auto sample = static_cast<size_t>(stored);
        const auto label = static_cast<size_t>(labelOf(sample));
        ++counts[label];
        if (!known[label]) known[label] = canRead(sample);
    }
    std::vector<Message> lost;
    for (size_t label = 0; label < counts.size(); ++label)
        if (counts[label] > 0 && !known[label])
            lost.push_back({phrase("Data", "no sample to train on of the class %1 can be read (it "
                                           "has %2)"),
                            quotedText(m_view.classes.at(label)), counts[label]});
    return lost;
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

/// A file that is gone with its folder was not damaged: a disk or a network was disconnected, or
/// all of it was deleted. New pictures are others' business.
void PictureSamples::checkIsThere(int32_t stored) const {
    const auto at = static_cast<size_t>(stored);
    if (at >= m_firstNew) return;
    const std::filesystem::path file = fileOf(at);
    std::filesystem::path gone = file == m_path ? file : file.parent_path(); // one shard, or many
    if (!isGone(gone)) return;
    while (isGone(gone.parent_path()))
        gone = gone.parent_path();
    refuseUnread(gone.string(), ENOENT);
}

bool PictureSamples::canRead(size_t stored) const {
    try {
        withPlanes(stored, [](const Planes&) {});
        return true;
    } catch (const InputError&) {
        return false;
    }
}

void PictureSamples::readStored(int32_t stored, int64_t epoch, const SamplePlace& place) const {
    const auto at = static_cast<size_t>(stored);
    withPlanes(
        at, [&](const Planes& planes) { m_pixels.fill(place.floats(kX), planes, stored, epoch); });
    place.label() = at < m_firstNew ? labelOf(at) : 0; // any class will do for a new picture
}

PythonData pictureParts(const TaskConfig& task) {
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
                          {"NORMALISED", normalisedPython(task)}}),
            variedPython(task, "SIDE", "SIDE")};
}

} // namespace halfscope
