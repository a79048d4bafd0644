// Keeps a share of the samples that are held back for a test: validation does not see them, and
// they are judged once, at the end of a run.
#pragma once

#include "engine/data/dataset.h"

#include <memory>
#include <optional>
#include <string>

namespace halfscope {

/// Whether a run on these data can keep a share of samples for a test: there are samples to
/// validate on, and the test has no file of its own.
bool canTest(const TaskConfig&);
/// Whether it keeps a share of them.
bool tests(const TaskConfig&);

/// Returns the data set with only some of its samples to validate on; the others are the samples to
/// validate on of its test(). Which ones these are depends on the settings alone: where the same
/// share of each class is held back, also of each class; the last ones where the last are held
/// back, and of a text. Data that keep a test by themselves are divided as they say. Returns it as
/// it is where no samples are kept for a test. Throws InputError as testedFacts() does.
std::unique_ptr<Dataset> withTest(std::unique_ptr<Dataset>, const TaskConfig&);
/// Returns the facts of that data set; `facts` are those without a test. Throws InputError when
/// nothing would be left to validate on.
DataFacts testedFacts(DataFacts facts, const TaskConfig&);

/// Returns the function with_test(x, target) as Python: what is left to validate on, and the test.
std::string testPython(const TaskConfig&);
/// The lines of main() that judge a lane on what is left to validate on, and on the test.
inline constexpr const char* kPythonValidated = R"(        if len(validation[0]):
            print(f"{name}: {evaluate(lane, model, *validation)}")
)";
inline constexpr const char* kPythonTested = R"(        if len(test[0]):
            print(f"{name}: {evaluate(lane, model, *test, 'test')}")
)";

} // namespace halfscope
