// Reads tables of texts and their classes: reviews and whether they praise, messages and whether
// they are spam.
#pragma once

#include "engine/data/task_spec.h"
#include "engine/data/tokens.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace halfscope {

/// The names of the two columns that matter.
struct TextColumns {
    std::string text, target;
    double words = 0; ///< words of a text on average; only textColumnsOf() counts them
};

/// Returns the columns of a table whose only use is to tell texts apart: besides columns of texts
/// and of what numbers the lines, it has one column of at most 100 different values. `header` is
/// as in CsvFile. Looks at its first lines. Returns nothing for other tables, and for files that
/// cannot be read as one.
std::optional<TextColumns> textColumnsOf(const std::string& path, bool header);

struct TextTable {
    TextColumns columns;
    TokenNumbers known;                 ///< all tokens of the samples, as they first occur
    std::vector<int32_t> tokens{};      ///< of all samples, one behind the other
    std::vector<size_t> ends{};         ///< where in `tokens` each sample's end
    std::vector<int32_t> labels{};      ///< by sample
    std::vector<std::string> classes{}; ///< as written in the file
    bool wholeClasses = false;          ///< all classes are whole numbers
    /// The places of the samples among the lines of the file, from 0; empty lines do not count.
    std::vector<int64_t> places{};
    std::vector<std::string> renamed{}; ///< see CsvFile::renamed()
    int64_t dropped = 0;                ///< lines left out because they lack a text or a class
    int64_t allTokens = 0;              ///< before texts were cut
    int64_t cut = 0;                    ///< samples with more than task.context tokens

    int64_t samples() const { return static_cast<int64_t>(ends.size()); }
    /// The tokens of a sample, at most task.context.
    std::span<const int32_t> sample(size_t i) const {
        const size_t begin = i == 0 ? 0 : ends[i - 1];
        return std::span(tokens).subspan(begin, ends[i] - begin);
    }
};

/// Returns the columns that the settings choose in task.path. Reads no more than its first line
/// when they name the column of texts. Throws InputError with the path or the setting.
TextColumns chosenColumns(const TaskConfig&);
/// Reads task.path. Can be cancelled. Throws InputError with the path, and the line or the setting.
TextTable readTextTable(const TaskConfig&);
/// Reads the texts of another table, task.predictFile, from its column `text`; it needs no classes.
TextTable readNewTexts(const TaskConfig&, const std::string& text);
/// Throws what that throws where the column is missing; reads no lines.
void checkNewColumn(const TaskConfig&, const std::string& text);

/// Returns the texts of `lines` as they stand in task.predictFile, or without one in task.path.
/// Lines count from 0 in ascending order, as TextTable::places does. Throws InputError with the
/// path.
std::vector<std::string> textsAt(const TaskConfig& task, std::span<const int64_t> lines);

/// Returns a value for data.context that is enough for 95 % of the texts, from 8 to 256.
int64_t contextFor(TaskConfig);

} // namespace halfscope
