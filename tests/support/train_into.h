// Trains an experiment into a folder, as the command line does with --out.
#pragma once

#include "engine/runs/run_writer.h"
#include "engine/train/experiment.h"
#include "engine/train/run_info.h"

#include <string>

namespace halfscope {

/// Trains into `folder` and returns a run made of the same batches. Gradients are counted every
/// `countEvery` steps, as with --gradients; 0: never.
inline std::shared_ptr<Run> trainInto(const std::string& folder, const RunConfig& config,
                                      int64_t countEvery = 0) {
    Experiment experiment(config);
    RunInfo info = runInfo(experiment, "test");
    const auto run = std::make_shared<Run>(info, lanesOf(config), experiment.target());
    RunWriter files(folder, info, lanesOf(config), experiment.target(), extraMetrics(experiment));
    const auto take = [&](RunBatch batch) {
        files.append(batch);
        run->append(std::move(batch));
    };
    while (!experiment.finished()) {
        RunBatch batch;
        if (countEvery > 0 && experiment.step() % countEvery == 0)
            batch.gradients.push_back(experiment.gradientRanges());
        std::vector<StepRecord> records;
        experiment.advance(records, batch.events);
        for (const StepRecord& record : records)
            batch.rows.push_back(rowOf(record));
        take(std::move(batch));
    }
    RunBatch last;
    last.pictures = experiment.snapshot();
    info.outcome = RunOutcome::Finished;
    files.finish(info, *last.pictures);
    last.info = std::move(info);
    run->append(std::move(last));
    return run;
}

} // namespace halfscope
