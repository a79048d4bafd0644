// The data of a training that another program has recorded: none. Such a run can be looked at, and
// no more.
#include "engine/data/dataset.h"

#include "engine/core/error.h"

namespace halfscope {

namespace {

[[noreturn]] void refuse() {
    throw InputError(phrase("Data", "data.kind: recorded is not allowed here: the training was "
                                    "recorded in PyTorch, whose network and data this program does "
                                    "not have. It can be looked at but not trained"));
}

DataFacts facts(const TaskConfig&) { refuse(); }
std::unique_ptr<Dataset> make(const TaskConfig&, uint64_t) { refuse(); }
PythonData python(const TaskConfig&, int64_t) { refuse(); }

} // namespace

extern const DataSetInfo kRecordedData;
const DataSetInfo kRecordedData{
    .name = "recorded",
    .title = phrase("Settings", "Recorded in PyTorch"),
    .about = phrase("Settings", "none: the run was recorded in PyTorch and can only be looked at"),
    .facts = facts,
    .make = make,
    .python = python};

} // namespace halfscope
