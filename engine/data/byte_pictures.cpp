// Reads samples from memory, and takes new pictures in the place of those to validate on.
#include "engine/data/byte_pictures.h"

#include "engine/core/cancel.h"
#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/data/class_sides.h"
#include "engine/data/new_pictures.h"
#include "engine/data/picture_samples.h"
#include "engine/data/pixel_values.h"

#include <algorithm>

namespace halfscope {

namespace {

const uint8_t* bytesOf(std::span<const std::byte> bytes) {
    return reinterpret_cast<const uint8_t*>(bytes.data());
}

/// Prefetches a sample: samples in a new order are in no cache, and waiting for their memory takes
/// as long as everything else that is done with them.
void prefetch(const uint8_t* from, size_t count) {
    constexpr size_t kLine = 64;
    for (size_t i = 0; i < count; i += kLine)
        __builtin_prefetch(from + i);
}

double meanOf(std::span<const std::byte> bytes) {
    uint64_t sum = 0;
    for (const std::byte each : bytes)
        sum += std::to_integer<uint64_t>(each);
    return static_cast<double>(sum) / 255 / static_cast<double>(std::max<size_t>(1, bytes.size()));
}

/// Pictures of task.predictFile in the size and the channels of those to train on.
struct NewBytes {
    std::vector<std::byte> bytes{};
    std::vector<Message> damage{}; ///< by picture; empty where it was decoded

    NewBytes(const std::string& path, const Shape& picture) {
        if (picture[1] != picture[2])
            throw InputError(phrase("Data", "%1: new pictures are predicted where those to train "
                                            "on are square; they have %2 x %3 pixels"),
                             pathText(path), picture[2], picture[1]);
        const auto pixels = static_cast<size_t>(picture.elements());
        const auto channels = static_cast<int>(picture[0]);
        for (const std::string& each : newPicturesAt(path).paths) {
            checkCancelled();
            damage.emplace_back();
            bytes.resize(bytes.size() + pixels);
            try {
                const auto planes =
                    planesOf(readSquare(each, static_cast<int>(picture[2])), channels);
                std::transform(planes.begin(), planes.end(), bytes.end() - ptrdiff_t(pixels),
                               [](uint8_t value) { return std::byte{value}; });
            } catch (const InputError& error) {
                damage.back() = error.message();
            }
        }
    }
    /// Whether they are mostly light and those to train on mostly dark, or the other way round.
    bool isInverted(std::span<const std::byte> train) const {
        const bool decoded =
            std::any_of(damage.begin(), damage.end(), [](const Message& m) { return m.empty(); });
        return decoded && (meanOf(bytes) > 0.5) != (meanOf(train) > 0.5);
    }
};

class BytePictureData final : public Dataset {
public:
    BytePictureData(BytePictures pictures, const TaskConfig& task, uint64_t seed)
        : m_pictures(std::move(pictures)),
          m_tensors(bytePictureTensors(m_pictures.picture,
                                       static_cast<int64_t>(m_pictures.classes.size()))),
          m_pixels(task, seed, m_pictures.picture),
          m_sampleBytes(static_cast<size_t>(m_pictures.picture.elements())) {
        if (m_pixels.measures()) measure();
        if (task.predictFile.empty())
            m_notes = notesOn(sides(), m_pictures.classes, task);
        else
            predict(task.predictFile);
    }

    std::span<const TensorSpec> tensors() const override { return m_tensors; }
    int64_t samples(Split split) const override {
        return static_cast<int64_t>(part(split).labels.size());
    }

    std::vector<Unread> read(Pass pass, std::span<const int64_t> samples,
                             const BatchRows& out) const override {
        const BytePart& from = part(pass.split);
        const int64_t epoch = pass.split == Split::Train ? pass.epoch : 0;
        std::vector<Unread> unread;
        const std::span<float> x = out.floats(kX);
        const std::span<int32_t> target = out.labels(kTarget);
        constexpr size_t kAhead = 8;
        for (size_t i = 0; i < samples.size(); ++i) {
            if (i + kAhead < samples.size())
                prefetch(planesOf(from, samples[i + kAhead]).data(), m_sampleBytes);
            m_pixels.fill(x.subspan(i * m_sampleBytes, m_sampleBytes), planesOf(from, samples[i]),
                          samples[i], epoch);
            const auto sample = static_cast<size_t>(samples[i]);
            target[i] = static_cast<int32_t>(from.labels[sample]);
            if (pass.split == Split::Validation && !m_damage.empty() && !m_damage[sample].empty())
                unread.push_back({i, m_damage[sample]});
        }
        return unread;
    }
    bool varies() const override { return m_pixels.varies(); }
    bool usesSeed() const override { return varies(); }
    std::vector<Message> notes() const override { return m_notes; }
    std::vector<std::string> files() const override { return m_pictures.files; }
    /// Says nothing of plain values from 0 to 1: dataPrint() would otherwise no longer be that of
    /// runs that were saved before there were such settings.
    std::vector<ChannelScale> channelScales() const override {
        return m_pixels.normalises() ? m_pixels.scales() : std::vector<ChannelScale>();
    }

    TaskView view() const override {
        TaskView view;
        view.kind = ViewKind::Classes;
        view.classes = m_pictures.classes;
        return view;
    }

private:
    const BytePart& part(Split split) const { return m_pictures.parts[static_cast<size_t>(split)]; }
    std::span<const uint8_t> planesOf(const BytePart& from, int64_t sample) const {
        return {bytesOf(from.pictures) + static_cast<size_t>(sample) * m_sampleBytes,
                m_sampleBytes};
    }

    ClassSides sides() const {
        ClassSides counted({}, {}, m_pictures.classes.size());
        for (const std::byte label : part(Split::Train).labels)
            ++counted.trained[static_cast<size_t>(label)];
        for (const std::byte label : part(Split::Validation).labels)
            ++counted.judged[static_cast<size_t>(label)];
        return counted;
    }

    void measure() {
        const BytePart& train = part(Split::Train);
        const std::vector<size_t> places = PixelValues::measuredAmong(train.labels.size());
        for (const size_t place : places)
            m_pixels.measure(planesOf(train, static_cast<int64_t>(place)));
        m_pixels.endMeasuring(places.size());
    }

    /// Puts new pictures in the place of those to validate on. Their classes are unknown, so any
    /// will do.
    void predict(const std::string& path) {
        NewBytes found(path, m_pictures.picture);
        const bool grey = m_pictures.picture[0] == 1; // photographs are light and dark
        if (grey && found.isInverted(part(Split::Train).pictures))
            m_notes.emplace_back(
                phrase("Data", "%1: on average, the pictures are light where those to train on are "
                               "dark, or the other way round. With their colours inverted, "
                               "predictions may be better."),
                pathText(path));
        m_pictures.of(Split::Validation) = {
            std::move(found.bytes), std::vector<std::byte>(found.damage.size(), std::byte{0})};
        m_damage = std::move(found.damage);
    }

    BytePictures m_pictures;
    std::vector<TensorSpec> m_tensors;
    PixelValues m_pixels;
    size_t m_sampleBytes;
    std::vector<Message> m_damage; ///< of the pictures to predict; empty when there are none
    std::vector<Message> m_notes;
};

} // namespace

std::vector<TensorSpec> bytePictureTensors(const Shape& picture, int64_t classes) {
    return {TensorSpec{"x", picture}, TensorSpec{"target", {}, DType::I32, classes}};
}

void checkPictureSettings(const TaskConfig& task, const Shape& picture) {
    checkChannelCounts(task, picture[0]);
    const int64_t half = std::min(picture[1], picture[2]) / 2;
    if (task.crop > half)
        throw InputError(phrase("Data", "data.crop: %1 is not allowed: at most half of the shorter "
                                        "side of the pictures, %2"),
                         task.crop, half);
}

void checkLabels(std::span<const std::byte> labels, int64_t classes, const std::string& path) {
    for (size_t i = 0; i < labels.size(); ++i)
        if (const auto label = static_cast<int>(labels[i]); label >= classes)
            throw InputError(phrase("Data", "%1: sample %2 has the label %3: 0 to %4 are allowed"),
                             pathText(path), i, label, classes - 1);
}

std::unique_ptr<Dataset> makeBytePictures(BytePictures pictures, const TaskConfig& task,
                                          uint64_t seed) {
    checkPictureSettings(task, pictures.picture);
    return std::make_unique<BytePictureData>(std::move(pictures), task, seed);
}

std::string blackPython(const TaskConfig& task) { return task.crop > 0 ? "BLACK = 0\n" : ""; }

std::string samplesPython(const TaskConfig& task, const std::string& train,
                          const std::string& validation) {
    const std::string pairs = train + ", " + validation + "\n";
    return normalisedPython(task) + "\n\ndef samples():\n" +
           (normalises(task)
                ? "    (x, target), (y, labels) = " + pairs +
                      "    return (normalised(x, x), target), (normalised(x, y), labels)\n"
                : "    return " + pairs);
}

std::string variedBytesPython(const TaskConfig& task) {
    return variedPython(task, "x.shape[2]", "x.shape[3]");
}

} // namespace halfscope
