// Tells what a folder has lost from what its run has not painted.
#include "engine/runs/saved_pictures.h"

#include "engine/core/error.h"
#include "engine/runs/output_file.h"
#include "engine/runs/run_folder.h"
#include "engine/runs/validation_shown.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

namespace halfscope {

namespace {

using PictureNames = std::vector<std::string>;

class PictureFiles {
public:
    PictureFiles(const RunSnapshot& run, std::vector<MissingPart>& missing)
        : m_run(run), m_missing(missing) {
        PictureNames lanes;
        for (const LaneInfo& lane : run.lanes())
            lanes.push_back(lane.name);
        for (const std::string& lane : lanes)
            m_outputs.push_back(run_file::output(lane));
        m_galleries = galleryNames(lanes);
        m_mistakes = mistakeNames(lanes);
    }

    std::optional<LanePictures> read() {
        const bool galleries = hasAny(m_galleries), mistakes = hasAny(m_mistakes);
        if (!hasAny(m_outputs) && !galleries && !mistakes) return std::nullopt;
        m_painted = painted();
        LanePictures all;
        all.step = m_run.step();
        all.lost.from = m_run.info().folder;
        all.outputs = readAll(m_outputs, all.lost.outputs);
        all.validated = validationShown(m_run, all);
        if (galleries) all.galleries = readAll(m_galleries, all.lost.galleries);
        if (mistakes) all.mistakes = readAll(m_mistakes, all.lost.mistakes);
        all.fromFiles = true;
        return all;
    }

private:
    std::string pathTo(const std::string& name) const {
        return (std::filesystem::path(m_run.info().folder) / name).string();
    }
    bool has(const std::string& name) const {
        std::error_code ignored;
        return std::filesystem::exists(pathTo(name), ignored);
    }
    bool hasAny(const PictureNames& names) const {
        return std::ranges::any_of(names, [this](const auto& name) { return has(name); });
    }
    /// Whether it is there, or the manifest says that it was.
    bool wasSaved(const std::string& name) const {
        const MissingPart all{MissingPart::Kind::All, name};
        return has(name) || std::ranges::find(m_missing, all) != m_missing.end();
    }
    /// Returns how many lanes have painted: forks may not have when the run ended.
    size_t painted() const {
        size_t count = m_run.info().recorded.lanes.size();
        for (size_t lane = count; lane < m_outputs.size(); ++lane)
            if (wasSaved(m_outputs[lane]) || wasSaved(m_galleries[lane]) ||
                wasSaved(m_mistakes[lane]))
                count = lane + 1;
        return count;
    }
    std::vector<Picture> readAll(const PictureNames& names, std::vector<size_t>& lost) {
        std::vector<Picture> all;
        for (size_t place = 0; place < names.size(); ++place) {
            all.push_back(pictureOf(names[place]));
            const bool ofLane = place < m_outputs.size(); // not the last gallery
            if (all.back().width > 0 || (ofLane && place >= m_painted)) continue;
            lost.push_back(place);
            lacks(names[place]);
        }
        return all;
    }
    /// Returns no picture when it cannot be read.
    Picture pictureOf(const std::string& name) {
        if (!has(name)) return {};
        try {
            if (std::ranges::find(m_outputs, name) == m_outputs.end())
                return readPicture(pathTo(name));
            OutputFile file = readOutput(m_run.info().config.task, *m_run.target(), pathTo(name));
            if (file.damagedShares) m_missing.push_back({MissingPart::Kind::Shares, name});
            return std::move(file.picture);
        } catch (const InputError&) {
            return {};
        }
    }
    void lacks(const std::string& name) {
        const MissingPart all{MissingPart::Kind::All, name};
        if (std::ranges::find(m_missing, all) == m_missing.end()) m_missing.push_back(all);
    }

    const RunSnapshot& m_run;
    std::vector<MissingPart>& m_missing;
    PictureNames m_outputs, m_galleries, m_mistakes; ///< names of files
    size_t m_painted = 0;                            ///< lanes
};

} // namespace

std::optional<LanePictures> savedPictures(const RunSnapshot& run,
                                          std::vector<MissingPart>& missing) {
    return PictureFiles(run, missing).read();
}

} // namespace halfscope
