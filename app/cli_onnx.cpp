// Implements the names of ONNX files and their checks.
#include "app/cli_onnx.h"

#include "app/cli_targets.h"

#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/io/open_folder.h"
#include "engine/train/onnx_file.h"

#include <filesystem>

namespace halfscope::cli {

std::vector<OnnxTarget> onnxTargets(const std::string& path, const Experiment& experiment) {
    std::filesystem::path given(path);
    if (!given.has_extension()) given += ".onnx";
    std::vector<OnnxTarget> targets;
    for (int i = 0; i < experiment.lanes(); ++i) {
        std::filesystem::path file = given;
        if (experiment.lanes() > 1)
            file.replace_filename(given.stem().string() + "_" + experiment.laneName(i) +
                                  given.extension().string());
        targets.push_back({i, false, file.string()});
        if (!isAdversarial(experiment.config().model)) continue;
        file.replace_filename(file.stem().string() + "_critic" + file.extension().string());
        targets.push_back({i, true, file.string()});
    }
    return targets;
}

void checkOnnxTargets(const RunOptions& options, const Experiment& experiment,
                      const CommandFiles& files) {
    checkOnnx(experiment.config());
    for (const OnnxTarget& each : onnxTargets(options.onnx, experiment))
        files.checkFile("--onnx", each.file);
    const auto refuse = [](const std::string& file, const std::string& reason) {
        if (!reason.empty())
            throw InputError(
                Message::data("--onnx: " + quotedText(file) + " is not allowed: " + reason));
    };
    for (const OnnxTarget& each : onnxTargets(options.onnx, experiment))
        refuse(each.file, fileObstacle(each.file));
    std::filesystem::path folder = std::filesystem::path(options.onnx).parent_path();
    if (folder.empty()) folder = ".";
    std::error_code ignored;
    const bool willBeMade = !options.out.empty() && wholePath(folder) == wholePath(options.out) &&
                            !std::filesystem::exists(folder, ignored);
    if (willBeMade) return;
    refuse(options.onnx, newFileObstacle(folder.string()));
    const OpenFolder there(folder.string());
}

} // namespace halfscope::cli
