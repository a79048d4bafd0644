// Samples made from pictures in files, wherever the files are: decodes them, keeps some in memory,
// measures mean and deviation, and mirrors and moves the samples to train on at random.
#pragma once

#include "engine/data/new_pictures.h"
#include "engine/data/stored_data.h"
#include "engine/io/open_folder.h"
#include "engine/io/picture.h"

#include <array>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace halfscope {

inline constexpr int32_t kMostPictureClasses = 10'000;

/// Whether the ending of a file's name, without its dot, is that of a picture: "png", "JPEG".
bool isPictureEnding(std::string_view);
/// Whether a file is a picture by its name or path: "cat.jpg".
bool isPictureName(const std::string&);
/// Whether a file is by its name a picture in a format that is not read: "cat.webp".
bool isOtherPictureName(const std::string&);
/// Returns the sorted paths in a folder whose names are `wanted`; hidden names never are. `error`
/// is that of namesIn(). Can be cancelled.
std::vector<std::string> pathsIn(const std::string& folder, Entries,
                                 bool (*wanted)(const std::string& name), int* error = nullptr);
/// Throws InputError: data.path, or a folder in it, cannot be read. `error` is the system's number.
[[noreturn]] void refuseUnread(const std::string& folder, int error);

/// Returns the specs of x, as the settings give it, and of class numbers. Throws InputError for a
/// setting that does not fit the others.
std::vector<TensorSpec> pictureTensors(const TaskConfig&, int64_t classes);

/// Returns a picture as planes of bytes, one for each of 1 or 3 channels; grey is the luma of
/// colours.
std::vector<uint8_t> planesOf(const Picture&, int channels);

/// With task.predictFile, the pictures there are the ones to validate on, and those of them that
/// cannot be decoded are skipped, as in the prediction of tables lines are that lack a value.
class PictureSamples : public StoredData {
public:
    bool varies() const final { return m_flip || m_crop > 0; }
    std::vector<ChannelScale> channelScales() const final;
    std::vector<int64_t> classCounts() const final; ///< damaged pictures count, too

protected:
    PictureSamples(const TaskConfig&, uint64_t seed);
    /// Ends the constructor of a data set after its members are set: measures what is "auto", and
    /// puts the pictures to predict behind the others.
    void measureAndSetTables(size_t stored);

    /// Returns the middle square of a stored picture, `side` pixels wide. Throws InputError that
    /// names the file.
    virtual Picture squareOf(size_t stored, int side) const = 0;
    virtual int32_t labelOf(size_t stored) const = 0;

private:
    /// The small picture as planes of bytes, like those of a file: the same whether it is kept or
    /// not.
    using Planes = std::vector<uint8_t>;
    /// What chance makes of a sample in an epoch.
    struct Chance {
        bool flip = false;
        int64_t right = 0, down = 0; ///< pixels by which it is moved
    };

    void readStored(int32_t stored, int64_t epoch, const SamplePlace&) const final;
    Chance chanceOf(int32_t stored, int64_t epoch) const;
    Planes decoded(size_t stored) const;
    template <class Use>
    void withPlanes(size_t stored, Use) const;
    void fill(std::span<float> to, const Planes& from, Chance) const;
    void measure(bool mean, bool deviation);
    void setTables();
    void addPredicted(size_t stored);
    Picture squareAt(size_t stored) const;

    const std::string m_meanText, m_deviationText;
    const uint64_t m_seed;
    const bool m_flip;
    const int64_t m_crop;
    const int m_side, m_channels;
    const NewPictures m_new; ///< those of task.predictFile
    size_t m_firstNew = SIZE_MAX;
    std::array<float, 3> m_mean{0, 0, 0}, m_deviation{1, 1, 1}; ///< by channel
    std::array<std::array<float, 256>, 3> m_values{};           ///< of each byte, by channel
    mutable std::mutex m_mutex;
    mutable std::vector<Planes> m_kept; ///< by stored sample; empty until it is decoded
    mutable size_t m_keptBytes = 0;
};

/// Whether the mean or the deviation is set.
bool normalises(const TaskConfig&);
/// Returns the Python for what this file does: picture(), which takes a path or an open file; if
/// the task normalises, normalised(train, x), which measures "auto" on train; and
/// PythonData::varied.
PythonData pictureParts(const TaskConfig&);

} // namespace halfscope
