// Reads golden files, from a folder or from the copies that the build puts into the program.
#include "engine/verify/golden.h"

#include "engine/core/error.h"
#include "engine/core/escape.h"
#include "engine/core/text.h"
#include "engine/io/input_file.h"
#include "engine/io/strict_json.h"
#include "engine/verify/golden_data.h"

#include <cmath>
#include <filesystem>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

namespace halfscope::recorded {
namespace {

// Python's words for values that JSON does not have, with replacements of the same length, so that
// positions in messages stay correct.
struct Word {
    std::string_view python, json;
    double value;
};
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr Word kWords[] = {
    {"-Infinity", "\"\x7f-inf  \"", -kInfinity},
    {"Infinity", "\"\x7finf  \"", kInfinity},
    {"NaN", "\"\x7f\"", std::numeric_limits<double>::quiet_NaN()},
};

// Far beyond any golden file; keeps recursion over the lists within the stack.
constexpr int kDeepest = 64;

std::string withoutPythonWords(const std::string& file, std::string_view text) {
    std::string json(text);
    bool quoted = false;
    int depth = 0;
    for (size_t i = 0; i < json.size(); ++i) {
        if (json[i] == '\0') // the library takes it for the end
            throw InputError(phrase("Verification", "%1: byte %2: %3"), pathText(file), i + 1,
                             phrase("Verification", "this is not JSON"));
        if (quoted && json[i] == '\\') {
            ++i;
        } else if (json[i] == '"') {
            quoted = !quoted;
        } else if (!quoted && (json[i] == '[' || json[i] == '{')) {
            if (++depth > kDeepest) {
                throw InputError(phrase("Verification", "%1: byte %2: more than %3 lists in lists"),
                                 pathText(file), i + 1, kDeepest);
            }
        } else if (!quoted && (json[i] == ']' || json[i] == '}')) {
            --depth;
        } else if (!quoted && (json[i] == 'I' || json[i] == 'N' || json[i] == '-')) {
            for (const Word& word : kWords) {
                if (text.substr(i, word.python.size()) != word.python) continue;
                json.replace(i, word.python.size(), word.json);
                i += word.python.size() - 1;
                break;
            }
        }
    }
    return json;
}

std::optional<double> pythonNumber(const nlohmann::json& value) {
    if (!value.is_string()) return std::nullopt;
    const auto& text = value.get_ref<const std::string&>();
    for (const Word& word : kWords) {
        if (text == word.json.substr(1, word.json.size() - 2)) return word.value;
    }
    return std::nullopt;
}

Message kindOf(const nlohmann::json& value) {
    if (value.is_object()) return phrase("Verification", "an object");
    if (value.is_array()) return phrase("Verification", "a list");
    const bool isText = value.is_string();
    return Message::data(quotedText(isText ? value.get_ref<const std::string&>() : value.dump()));
}

/// Builds the values while the library reads. The library's own parser, when it runs out of memory,
/// needs more memory to destroy what it has built, and ends the program.
class Builder final : public nlohmann::json_sax<nlohmann::json> {
public:
    explicit Builder(nlohmann::json& root) : m_root(root) {}

    bool null() override { return add(nullptr); }
    bool boolean(bool value) override { return add(value); }
    bool number_integer(number_integer_t value) override { return add(value); }
    bool number_unsigned(number_unsigned_t value) override { return add(value); }
    bool number_float(number_float_t value, const string_t&) override { return add(value); }
    bool string(string_t& value) override { return add(std::move(value)); }
    bool binary(binary_t& value) override { return add(std::move(value)); }
    bool start_object(std::size_t) override { return open(nlohmann::json::object()); }
    bool start_array(std::size_t) override { return open(nlohmann::json::array()); }
    bool end_object() override { return close(); }
    bool end_array() override { return close(); }
    bool key(string_t& key) override {
        m_slot = &m_open.back()->get_ref<nlohmann::json::object_t&>()[std::move(key)];
        takeApart(*m_slot); // when a key appears twice, the last value counts
        return true;
    }
    bool parse_error(std::size_t, const std::string&,
                     const nlohmann::detail::exception& error) override {
        if (const auto* of = dynamic_cast<const nlohmann::json::parse_error*>(&error)) throw *of;
        throw nlohmann::json::out_of_range(
            dynamic_cast<const nlohmann::json::out_of_range&>(error));
    }

private:
    nlohmann::json* put(nlohmann::json value) {
        if (m_open.empty()) return &(m_root = std::move(value));
        if (m_open.back()->is_object()) return &(*m_slot = std::move(value));
        return &m_open.back()->get_ref<nlohmann::json::array_t&>().emplace_back(std::move(value));
    }
    bool add(nlohmann::json value) {
        put(std::move(value));
        return true;
    }
    bool open(nlohmann::json value) {
        m_open.push_back(put(std::move(value)));
        return true;
    }
    bool close() {
        m_open.pop_back();
        return true;
    }

    nlohmann::json& m_root;
    std::vector<nlohmann::json*> m_open; ///< the open objects and lists around the next value
    nlohmann::json* m_slot = nullptr;    ///< in the innermost object: the place for its last key's
                                         ///< value
};

/// Returns a key for use in a place, on one line.
std::string shownKey(const std::string& key) {
    return isPlainText(key) && key.size() <= kMostQuoted ? key : quotedText(key);
}

} // namespace

Golden Golden::parse(std::string file, std::string_view text) {
    const std::string json = withoutPythonWords(file, text);
    try {
        const auto tree = std::make_shared<JsonTreeOf<nlohmann::json>>();
        nlohmann::json& root = tree->root();
        Builder builder(root);
        Json::sax_parse(json.begin(), json.end(), &builder);
        return {std::shared_ptr<const nlohmann::json>(tree, &root), &root, pathText(file) + ":"};
    } catch (const Json::parse_error& error) {
        const bool ended = error.byte > json.size();
        throw InputError(phrase("Verification", "%1: byte %2: %3"), pathText(file), error.byte,
                         ended ? phrase("Verification", "the JSON is cut off")
                               : phrase("Verification", "this is not JSON"));
    } catch (const Json::exception&) {
        throw InputError(
            phrase("Verification", "%1: it contains a number that does not fit a double"),
            pathText(file));
    }
}

void Golden::fail(const Message& what) const {
    throw InputError(phrase("Verification", "%1 %2"), m_place, what);
}

std::string Golden::placeOf(const std::string& step) const {
    if (m_value != m_root.get()) return m_place.substr(0, m_place.size() - 1) + step + ":";
    return m_place + " " + (step.front() == '.' ? step.substr(1) : step) + ":";
}

Golden Golden::at(const std::string& key) const {
    if (!m_value->is_object())
        fail({phrase("Verification", "an object is expected, not %1"), kindOf(*m_value)});
    const auto found = m_value->find(key);
    if (found == m_value->end()) fail({phrase("Verification", "%1 is missing"), quotedText(key)});
    return {m_root, &*found, placeOf("." + shownKey(key))};
}

Golden Golden::at(size_t index) const {
    if (index >= size()) {
        fail({phrase("Verification", "a list of %1 values, where number %2 (from 0) is expected"),
              size(), index});
    }
    return {m_root, &(*m_value)[index], placeOf("[" + std::to_string(index) + "]")};
}

std::optional<Golden> Golden::find(const std::string& key) const {
    if (!m_value->is_object() || !m_value->contains(key) || (*m_value)[key].is_null()) {
        return std::nullopt;
    }
    return at(key);
}

bool Golden::isNumber() const { return m_value->is_number() || pythonNumber(*m_value); }

size_t Golden::size() const {
    if (!m_value->is_array())
        fail({phrase("Verification", "a list is expected, not %1"), kindOf(*m_value)});
    return m_value->size();
}

std::vector<Golden> Golden::items() const {
    std::vector<Golden> all;
    for (size_t i = 0; i < size(); ++i)
        all.push_back(at(i));
    return all;
}

std::vector<std::pair<std::string, Golden>> Golden::members() const {
    if (!m_value->is_object())
        fail({phrase("Verification", "an object is expected, not %1"), kindOf(*m_value)});
    std::vector<std::pair<std::string, Golden>> all;
    for (const auto& [key, value] : m_value->items())
        all.emplace_back(key, at(key));
    return all;
}

double Golden::number() const {
    if (const auto special = pythonNumber(*m_value)) return *special;
    if (!m_value->is_number())
        fail({phrase("Verification", "a number is expected, not %1"), kindOf(*m_value)});
    return m_value->get<double>();
}

int64_t Golden::integer() const {
    const double value = number();
    // Far from where a conversion would overflow, and larger than any count here.
    if (std::trunc(value) != value || std::fabs(value) > 1e15) {
        fail({phrase("Verification", "a whole number is expected, not %1"), kindOf(*m_value)});
    }
    return static_cast<int64_t>(value);
}

bool Golden::flag() const {
    if (!m_value->is_boolean())
        fail({phrase("Verification", "true or false is expected, not %1"), kindOf(*m_value)});
    return m_value->get<bool>();
}

std::string Golden::text() const {
    if (!m_value->is_string())
        fail({phrase("Verification", "a text is expected, not %1"), kindOf(*m_value)});
    return m_value->get<std::string>();
}

void Golden::collect(const Json& value, std::vector<double>& all) const {
    if (value.is_array()) {
        for (const Json& item : value)
            collect(item, all);
    } else if (const auto special = pythonNumber(value)) {
        all.push_back(*special);
    } else if (value.is_number()) {
        all.push_back(value.get<double>());
    } else {
        fail({phrase("Verification", "numbers are expected; value %1 (from 0) is %2"), all.size(),
              kindOf(value)});
    }
}

std::vector<double> Golden::numbers() const {
    std::vector<double> all;
    collect(*m_value, all);
    return all;
}

std::vector<float> Golden::floats() const {
    const std::vector<double> all = numbers();
    return {all.begin(), all.end()};
}

Shape Golden::shape() const {
    if (size() > size_t{kMaxRank})
        fail({phrase("Verification", "at most %1 axes are known"), kMaxRank});
    constexpr int64_t kMostElements = 100'000'000; // far above any test value, far below the
                                                   // machine's memory
    Shape shape;
    for (const Golden& item : items()) {
        const int64_t extent = item.integer();
        if (extent < 1 || extent > kMostElements || shape.elements() > kMostElements / extent) {
            item.fail(phrase("Verification", "this extent is out of range"));
        }
        shape.push(extent);
    }
    return shape;
}

std::vector<double> Golden::tensor(const Shape& shape) const {
    std::vector<double> values = numbers();
    if (static_cast<int64_t>(values.size()) != shape.elements()) {
        fail({phrase("Verification", "%1 numbers, where the shape %2 wants %3"), values.size(),
              shape.text(), shape.elements()});
    }
    return values;
}

double Golden::numberOr(const std::string& key, double otherwise) const {
    const auto found = find(key);
    return found ? found->number() : otherwise;
}
int64_t Golden::integerOr(const std::string& key, int64_t otherwise) const {
    const auto found = find(key);
    return found ? found->integer() : otherwise;
}
bool Golden::flagOr(const std::string& key, bool otherwise) const {
    const auto found = find(key);
    return found ? found->flag() : otherwise;
}
std::string Golden::textOr(const std::string& key, const std::string& otherwise) const {
    const auto found = find(key);
    return found ? found->text() : otherwise;
}

const char* goldenFileOf(std::string_view suite) {
    for (const GoldenFileName& name : kGoldenFiles) {
        if (name.suite == suite) return name.file;
    }
    failInvariant("no such suite: " + std::string(suite));
}

Golden casesOf(const Golden& file) { return file.find("cases").value_or(file); }

std::optional<Golden> openGolden(const std::string& folder, std::string_view suite) {
    const char* file = goldenFileOf(suite);
    if (folder.empty()) return Golden::parse(file, goldenData(file));
    const std::filesystem::path path = std::filesystem::path(folder) / file;
    std::error_code ignored;
    if (!std::filesystem::exists(std::filesystem::symlink_status(path, ignored))) {
        return std::nullopt;
    }
    return Golden::parse(path.string(), readFile(path.string()));
}

} // namespace halfscope::recorded
