// The programs as which experiments are copied, run by PyTorch from our weights, and our own
// training to compare them with.
#pragma once

#include "engine/io/atomic_file.h"
#include "engine/step/pytorch_script.h"
#include "engine/train/experiment.h"
#include "engine/train/state_dict.h"
#include "tests/support/python.h"

#include <QTemporaryDir>

#include <vector>

namespace halfscope::test {

/// Imports the program; the code after it uses the program and the weights.
inline const QString kProgram = R"(
import importlib.util, sys, warnings
from safetensors.torch import load_file
warnings.simplefilter("ignore")
spec = importlib.util.spec_from_file_location("program", sys.argv[1])
program = importlib.util.module_from_spec(spec)
spec.loader.exec_module(program)
program.DEVICE = "cpu"
weights = load_file(sys.argv[2])
)";

/// Imports the program; the code after it also uses its data.
inline const QString kImport = kProgram + "data, *_ = program.samples()\n";

/// Trains the lanes and prints a line for each step: loss, scale, skipped and, where a critic
/// judges, the generator's loss.
inline const QString kDriver = kImport + R"(
for lane in program.LANES.values():
    for loss, scale, skipped, *more in program.train(lane, data, int(sys.argv[3]), weights)[1]:
        print(repr(loss), repr(scale), int(skipped), *map(repr, more))
)";

/// Writes the lane's weights and the run as a program, and returns what a driver prints about them;
/// it gets `more` arguments behind its own three.
inline QString printedByProgram(const QTemporaryDir& folder, const QString& driver,
                                const RunConfig& config, Trainer& lane, int64_t steps,
                                const QStringList& more = {}) {
    const std::string weights = folder.filePath("weights.safetensors").toStdString();
    const std::string program = folder.filePath("program.py").toStdString();
    writeFileAtomically(weights, stateDictBytes(lane, "", "test"));
    writeFileAtomically(program, pytorchScript(config));
    return python(driver, QStringList{QString::fromStdString(program),
                                      QString::fromStdString(weights), QString::number(steps)} +
                              more);
}

/// Trains to the end and returns the rows by lane.
inline std::vector<std::vector<StepRecord>> train(Experiment& experiment) {
    std::vector<std::vector<StepRecord>> lanes(static_cast<size_t>(experiment.lanes()));
    while (!experiment.finished()) {
        std::vector<StepRecord> records;
        std::vector<Event> events;
        experiment.advance(records, events);
        for (const StepRecord& record : records)
            lanes[static_cast<size_t>(record.lane)].push_back(record);
    }
    return lanes;
}

} // namespace halfscope::test
