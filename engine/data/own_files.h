// Samples to validate on, and those of the test at the end, that have files of their own beside
// those to train on.
#pragma once

#include "engine/core/message.h"
#include "engine/data/task_spec.h"

#include <cstdint>
#include <string>

namespace halfscope {

/// Whether the settings name samples to validate on beside those to train on, of which none are
/// held back then.
bool validatesOwn(const TaskConfig&);
/// Whether they name samples for the test at the end, so that no share of others is kept for it.
bool testsOwn(const TaskConfig&);

/// Sets the tables of a folder that has train.csv, and beside it val.csv (or valid, validation) or
/// test.csv, or both; all may also have other names of tables, see namesTable(). Returns whether
/// there are such tables.
bool findTables(const std::string& folder, TaskConfig&);

/// Returns the table test.csv beside a table train.csv, by all names that findTables() knows; empty
/// when there is none.
std::string testBeside(const std::string& trained);

/// Whether the arrays x_test and y_test beside those to train on can be validated on: the settings
/// name no files for the validation or the test.
bool canValidateTestArrays(const TaskConfig&);
/// Whether they are: they can be, and the settings ask for it.
bool validatesTestArrays(const TaskConfig&);
/// Whether two paths lead to the same file.
bool isSameFile(const std::string& path, const std::string& other);

/// Throws InputError, with the setting, when one file stands for two parts of a table, or one .npy
/// file for two parts of arrays. A test needs samples to validate on.
void checkOwnFiles(const TaskConfig&);

/// Return a sentence on samples that are validated on, or kept for the test, and where they are.
Message ownValidationNote(int64_t samples, const Message& place);
Message ownTestNote(int64_t samples, const Message& place);

} // namespace halfscope
