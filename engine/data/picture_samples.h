// Samples made from pictures in files, wherever the files are: decodes them and keeps some in
// memory; PixelValues makes floats of them.
#pragma once

#include "engine/data/new_pictures.h"
#include "engine/data/pixel_values.h"
#include "engine/data/stored_data.h"
#include "engine/io/open_folder.h"
#include "engine/io/picture.h"

#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace halfscope {

inline constexpr int32_t kMostPictureClasses = 10'000;
/// A note on pictures in %1 that come for a test.
inline constexpr Phrase kTestUnused =
    phrase("Data", "The pictures in %1 are not used: data.test_share keeps others for the test. "
                   "Set to 0, it leaves the test to them.");

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
/// The first of some folders that could not be listed.
struct UnlistedFolder {
    std::string path;
    int error = 0; ///< the system's number; 0 when all were listed
};
/// Returns the sorted paths of a folder and of all below it without hidden names, at most `most` of
/// them. Links are followed, but a folder to which several ways lead comes once: a link may lead to
/// a folder above itself. Can be cancelled.
std::vector<std::string> foldersFrom(const std::string& folder, UnlistedFolder& unlisted,
                                     size_t most = SIZE_MAX);
/// Throws InputError: data.path, or a folder in it, cannot be read. `error` is the system's number.
[[noreturn]] void refuseUnread(const std::string& folder, int error);
/// Throws the same when a folder, such as one in which a file was not found, cannot be listed.
void checkListed(const std::string& folder);

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
    bool varies() const final { return m_pixels.varies(); }
    bool usesSeed() const final { return varies(); }
    std::vector<ChannelScale> channelScales() const final { return m_pixels.scales(); }
    std::vector<int64_t> classCounts() const final; ///< damaged pictures count, too
    std::vector<Message> lostClasses(const std::atomic<bool>& stop) const final;

protected:
    PictureSamples(const TaskConfig&, uint64_t seed);
    /// Ends the constructor of a data set after its members are set: measures what is "auto", and
    /// puts the pictures to predict behind the others.
    void measureAndPredict(size_t stored);

    /// Returns the middle square of a stored picture, `side` pixels wide. Throws InputError that
    /// names the file.
    virtual Picture squareOf(size_t stored, int side) const = 0;
    virtual int32_t labelOf(size_t stored) const = 0;
    /// Returns the path of the file that has a stored picture.
    virtual const std::string& fileOf(size_t stored) const = 0;

private:
    /// The small picture as planes of bytes, like those of a file: the same whether it is kept or
    /// not.
    using Planes = std::vector<uint8_t>;
    void readStored(int32_t stored, int64_t epoch, const SamplePlace&) const final;
    void checkIsThere(int32_t stored) const final;
    Planes decoded(size_t stored) const;
    template <class Use>
    void withPlanes(size_t stored, Use) const;
    bool canRead(size_t stored) const;
    void measure();
    void addPredicted(size_t stored);
    Picture squareAt(size_t stored) const;

    const std::string m_path; ///< data.path
    const int m_side, m_channels;
    const NewPictures m_new; ///< those of task.predictFile
    PixelValues m_pixels;
    size_t m_firstNew = SIZE_MAX;
    mutable std::mutex m_mutex;
    mutable std::vector<Planes> m_kept; ///< by stored sample; empty until it is decoded
    mutable size_t m_keptBytes = 0;
};

/// Returns the Python for what this file does: picture(), which takes a path or an open file,
/// normalisedPython() and variedPython().
PythonData pictureParts(const TaskConfig&);

} // namespace halfscope
