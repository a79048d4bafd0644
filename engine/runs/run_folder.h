// The folder of a run: the names of its files, which of them belong to an earlier run, and how a
// new run takes the place of that one.
#pragma once

#include "engine/io/growing_file.h"
#include "engine/io/output_folder.h"
#include "engine/settings/run_config.h"

#include <span>
#include <string>
#include <vector>

namespace halfscope {

namespace run_file {
inline constexpr const char* kExperiment = "experiment.json";
inline constexpr const char* kSteps = "steps.csv";
inline constexpr const char* kEvents = "events.csv";
inline constexpr const char* kTiming = "timing.csv";
inline constexpr const char* kGradients = "gradients.csv";
inline constexpr const char* kSummary = "summary.json";
inline constexpr const char* kManifest = "manifest.json";
inline constexpr const char* kTarget = "target.png";
inline constexpr const char* kPlots = "plots.svg"; ///< of a run that a window saved
/// For example "output_amp-fp16.png".
inline std::string output(const std::string& lane) { return "output_" + lane + ".png"; }
/// For example "classes_amp-fp16.csv": the counts of output_amp-fp16.png where that is a table of
/// classes, to be read by people and other programs.
inline std::string classes(const std::string& lane) { return "classes_" + lane + ".csv"; }
/// For example "samples_amp-fp16.png": samples with the classes that the lane predicts, see
/// LanePictures.
inline std::string samples(const std::string& lane) { return "samples_" + lane + ".png"; }
inline constexpr const char* kSamples = "samples_target.png"; ///< samples with their true classes
/// For example "mistakes_amp-fp16.png": samples that the lane took for another class, likewise.
inline std::string mistakes(const std::string& lane) { return "mistakes_" + lane + ".png"; }
/// For example "weights_amp-fp16.safetensors", in a run that the command line trained.
inline std::string weights(const std::string& lane) { return "weights_" + lane + ".safetensors"; }
/// For example "best_amp-fp16.safetensors": the weights after the lane's best validation, see
/// LaneTotals::best(). Written while a run trains; one that goes on keeps them.
inline std::string best(const std::string& lane) { return "best_" + lane + ".safetensors"; }
inline constexpr const char* kCheckpoint = "checkpoint.safetensors";
inline constexpr const char* kEarlierCheckpoint = "checkpoint-before.safetensors";
// What halfscope-cli evaluate writes, often into the folder of the run that it judges.
inline constexpr const char* kScores = "scores.json";
inline constexpr const char* kScoredSamples = "samples.csv";
/// For example "predictions_amp-fp16.npy".
inline std::string predictions(const std::string& lane) { return "predictions_" + lane + ".npy"; }
} // namespace run_file

/// Returns the names of the files that a new run replaces or removes in its folder.
std::vector<std::string> runFileNames();
/// Returns those of them that a run writes while it trains, and with which it goes on.
std::vector<std::string> checkpointNames();
/// Whether a file is called as the predictions of a lane.
bool isPredictions(const std::string& name);
/// Whether it is called as one of the files that an evaluation writes.
bool isEvaluationFile(const std::string& name);
/// Returns the names of the files that an evaluation has left in a folder. A run never removes
/// them. Without predictions nothing shows that a table or scores are not somebody's own; then
/// there are none.
std::vector<std::string> evaluationFilesIn(const std::string& folder);
/// Returns the file names of LanePictures::galleries, in its order.
std::vector<std::string> galleryNames(std::span<const std::string> lanes);
/// Returns those of LanePictures::mistakes.
std::vector<std::string> mistakeNames(std::span<const std::string> lanes);

/// A file that belongs to a run but is made elsewhere.
struct MadeFile {
    std::string name;
    std::string content;
};

enum class Checkpoints : uint8_t {
    Remove, ///< with the rest of the earlier run
    Keep,   ///< because they belong to the run that goes on
};

/// Gives the files of a new run their names, settings first and in this order, after those of an
/// earlier run are out of the way: otherwise they would pass for the new one's. The new files must
/// be on the disk already. A kill or a power cut in between leaves the earlier run, a part of it,
/// or the new files, but never new settings with old results. A run that goes on has its rows at
/// every moment, with those of its end until the new tables have their names. Files called as one
/// of `kept` belong to the new run, too, and stay. Throws RunError, and then the earlier run is
/// there as before.
void replaceRun(const OutputFolder&, std::span<GrowingFile* const> files,
                Checkpoints = Checkpoints::Remove, std::span<const std::string> kept = {});

/// Returns the settings as experiment.json of another folder holds them: with absolute paths.
/// Throws InputError for settings that no file may have, and for a relative path when the current
/// folder no longer exists.
RunConfig portableConfig(RunConfig);

} // namespace halfscope
