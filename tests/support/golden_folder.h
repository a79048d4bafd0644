// Golden files for tests: those inside the program as JSON, parts of them, and folders that hold
// one.
#pragma once

#include "engine/verify/golden.h"
#include "engine/verify/golden_data.h"
#include "engine/verify/verify.h"

#include <QFile>
#include <QTemporaryDir>

#include <stdexcept>

namespace halfscope::test {

/// Returns a suite's file inside the program, which may be a list of cases. Leaves out the infinite
/// penalties, which no suite reads and the JSON library cannot represent.
inline nlohmann::json shipped(const std::string& suite) {
    std::string text(recorded::goldenData(recorded::goldenFileOf(suite)));
    const std::string word = "Infinity";
    for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at))
        text.replace(at, word.size(), "null");
    const nlohmann::json file = nlohmann::json::parse(text);
    return file.contains("cases") ? file["cases"] : file;
}

/// A folder with one file.
class GoldenFolder {
public:
    GoldenFolder(const std::string& suite, const std::string& content) {
        if (suite.empty()) return;
        m_suites = {suite};
        QFile file(m_folder.filePath(recorded::goldenFileOf(suite)));
        if (!file.open(QIODevice::WriteOnly)) throw std::runtime_error("no temporary file");
        file.write(content.data(), static_cast<qint64>(content.size()));
    }
    GoldenFolder(const std::string& suite, const nlohmann::json& content)
        : GoldenFolder(suite, content.dump()) {}
    std::string path() const { return m_folder.path().toStdString(); }
    /// Verifies the file's suite; all suites when the folder is empty.
    VerifyReport verified() const { return verified(m_suites); }
    VerifyReport verified(const std::vector<std::string>& suites) const {
        VerifyOptions options;
        options.folder = path();
        options.device = "cpu";
        options.suites = suites;
        return verify(options);
    }

private:
    QTemporaryDir m_folder;
    std::vector<std::string> m_suites;
};

/// Returns only the rows for which `keep` holds.
template <class Keep>
nlohmann::json onlyRows(const nlohmann::json& rows, const Keep& keep) {
    nlohmann::json kept = nlohmann::json::array();
    for (const nlohmann::json& row : rows) {
        if (keep(row)) kept.push_back(row);
    }
    return kept;
}

/// Returns the first recorded run of a kind, as a file of its own.
inline nlohmann::json oneRun(const char* kind, const nlohmann::json& amp, double scale = 65536,
                             const char* compute = nullptr) {
    nlohmann::json runs = onlyRows(shipped("runs"), [&](const nlohmann::json& run) {
        return run["kind"] == kind && run["amp"] == amp && run["init_scale"] == scale &&
               (compute == nullptr || run["compute"] == compute);
    });
    return nlohmann::json::array({runs.at(0)});
}

/// Returns the first scaler history with its eighth step changed.
inline nlohmann::json oneTrace(void (*change)(nlohmann::json& step)) {
    nlohmann::json traces = nlohmann::json::array({shipped("scaler").at(0)});
    change(traces[0]["steps"][7]);
    return traces;
}

/// Returns the rows of an op with the first one changed.
inline nlohmann::json wrongOp(const char* op, void (*change)(nlohmann::json& row)) {
    nlohmann::json rows =
        onlyRows(shipped("ops"), [&](const nlohmann::json& row) { return row["op"] == op; });
    change(rows[0]);
    return rows;
}

} // namespace halfscope::test
