// Values recorded from PyTorch, read from JSON. Every value knows its place, so that errors about
// missing values or values of another kind name file and place. Leaves their meaning to the suites.
#pragma once

#include "engine/core/message.h"
#include "engine/core/shape.h"

#include <nlohmann/json.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace halfscope::recorded {

/// A value inside a golden file. All readers throw InputError "FILE: PLACE: what is wrong". Copies
/// share the file.
class Golden {
public:
    /// Takes JSON as Python's json module writes it: with NaN, Infinity and -Infinity.
    static Golden parse(std::string file, std::string_view text);

    Golden at(const std::string& key) const;
    Golden at(size_t index) const;
    /// Returns nothing when the key is missing or its value is null.
    std::optional<Golden> find(const std::string& key) const;
    bool isNull() const { return m_value->is_null(); }
    bool isNumber() const; ///< NaN and the infinities are numbers
    size_t size() const;   ///< of a list
    std::vector<Golden> items() const;
    std::vector<std::pair<std::string, Golden>> members() const;

    double number() const;
    int64_t integer() const;
    bool flag() const;
    std::string text() const;
    /// Returns all numbers of a nested list, row-major; a single number gives a list of one.
    std::vector<double> numbers() const;
    std::vector<float> floats() const;
    Shape shape() const; ///< a list of extents, each 1 or more
    /// Returns numbers(), which must be as many as a tensor of that shape has.
    std::vector<double> tensor(const Shape&) const;

    double numberOr(const std::string& key, double otherwise) const;
    int64_t integerOr(const std::string& key, int64_t otherwise) const;
    bool flagOr(const std::string& key, bool otherwise) const;
    std::string textOr(const std::string& key, const std::string& otherwise) const;

    std::string dump() const { return m_value->dump(); } ///< on one line
    [[noreturn]] void fail(const Message& what) const;

private:
    using Json = nlohmann::json;
    Golden(std::shared_ptr<const Json> root, const Json* value, std::string place)
        : m_root(std::move(root)), m_value(value), m_place(std::move(place)) {}
    void collect(const Json&, std::vector<double>&) const;
    std::string placeOf(const std::string& step) const;

    std::shared_ptr<const Json> m_root;
    const Json* m_value;
    std::string m_place; ///< "training_runs.json: [3].trace:", with the colon
};

/// The five files by the names of their suites; `products` has none.
struct GoldenFileName {
    const char* suite;
    const char* file;
};
inline constexpr GoldenFileName kGoldenFiles[] = {{"autocast", "autocast_dtypes.json"},
                                                  {"scaler", "gradscaler_traces.json"},
                                                  {"optim", "optim_sched_clip.json"},
                                                  {"ops", "op_values.json"},
                                                  {"runs", "training_runs.json"}};

/// Returns "op_values.json" for "ops"; throws std::logic_error for an unknown suite.
const char* goldenFileOf(std::string_view suite);

/// Returns the list of cases that a file holds beside its head, which says what recorded them. A
/// file without such a list is returned unchanged.
Golden casesOf(const Golden& file);

/// Opens a suite's file from a folder, or, when `folder` is empty, the copy inside the program.
/// Returns nothing when the folder does not have the file; throws InputError when it cannot be
/// read.
std::optional<Golden> openGolden(const std::string& folder, std::string_view suite);

} // namespace halfscope::recorded
