// Lines of tables from records.
#include "engine/runs/run_files.h"

#include "engine/core/text.h"
#include "engine/runs/run_writer.h"

#include <initializer_list>

namespace halfscope {

namespace {

std::string laneText(int32_t lane, std::span<const std::string> lanes) {
    return csvField(lanes[static_cast<size_t>(lane)]);
}

/// The fields of a line, with commas between them.
std::string csvLine(std::initializer_list<std::string> fields) {
    std::string line;
    for (const std::string& field : fields) {
        if (&field != fields.begin()) line += ',';
        line += field;
    }
    return line += '\n';
}

} // namespace

const char* const kStepHeader = "step,lane,loss,scale,growth_tracker,learning_rate,gradient_norm,"
                                "skipped,grew,backed_off,loss_not_finite,skipped_so_far\n";
const char* const kEventHeader = "step,lane,kind,scale_before,scale_after,tensor,text\n";
const char* const kTimingHeader = "step,lane,device_seconds,wall_seconds\n";

std::string stepLine(const StepRecord& record, std::span<const std::string> lanes) {
    const auto flag = [&](StepFlag each) { return (record.flags & each) != 0 ? "1" : "0"; };
    return csvLine({numberText(record.step), laneText(record.lane, lanes), numberText(record.loss),
                    numberText(record.scale), numberText(int64_t{record.growthTracker}),
                    numberText(record.learningRate), numberText(record.gradientNorm),
                    flag(kSkipped), flag(kGrew), flag(kBackedOff), flag(kLossNotFinite),
                    numberText(record.skippedSoFar)});
}

std::string eventLine(const Event& event, std::span<const std::string> lanes) {
    return eventText(event, lanes);
}

std::string timingLine(const StepRecord& record, std::span<const std::string> lanes) {
    return csvLine({numberText(record.step), laneText(record.lane, lanes),
                    numberText(record.deviceSeconds), numberText(record.wallSeconds)});
}

} // namespace halfscope
