// The usual table needs no more than open(): only others make a program longer.
#include "engine/data/table_python.h"

#include "engine/data/csv_fields.h"
#include "engine/data/own_files.h"
#include "engine/io/text_input.h"
#include "engine/lang/python.h"

#include <algorithm>
#include <string_view>
#include <vector>

namespace halfscope {

namespace {

/// Returns the user's tables that a program reads.
std::vector<std::string> tablesOf(const TaskConfig& task) {
    std::vector<std::string> paths;
    if (!task.path.empty()) paths.push_back(task.path);
    const bool others = validatesOwn(task) || testsOwn(task);
    for (const std::string* path : {&task.validationPath, &task.testPath})
        if (others && !path->empty()) paths.push_back(*path);
    return paths;
}

/// Goes by the first bytes, as TextInput does: a file's name may say otherwise.
constexpr std::string_view kPythonOpener = R"(

def opened(path):
    """A table's text: unpacked if gzip packed it, in UTF-16 if it begins with its mark."""
    with open(path, "rb") as file:
        opens = gzip.open if file.read(2) == b"\x1f\x8b" else open
    with opens(path, "rb") as file:
        wide = file.read(2) in (b"\xff\xfe", b"\xfe\xff")
    encoding, errors = ("utf-16", "strict") if wide else ("utf-8-sig", "surrogateescape")
    return opens(path, "rt", newline="", encoding=encoding, errors=errors)
)";

/// See hasPointsAndComma().
constexpr std::string_view kPythonThousands =
    R"(        if re.fullmatch(r"[+-]?[1-9][0-9]{0,2}([.][0-9]{3})+,[0-9]+", field):
            field = field.replace(".", "")  # between thousands
)";

/// Whether a table may have numbers with the minus sign of typesetters.
bool hasMinus(const TaskConfig& task) {
    const std::vector<std::string> paths = tablesOf(task);
    return std::ranges::any_of(paths, [](const std::string& path) {
        TextInput file(path);
        std::string text;
        while (file.next(text))
            if (text.find(kMinus) != text.npos) return true;
        return false;
    });
}

bool needsOpener(const TaskConfig& task) {
    const std::vector<std::string> paths = tablesOf(task);
    return std::ranges::any_of(paths, [](const std::string& path) {
        const TextInput file(path);
        return file.packed() || file.isUtf16();
    });
}

} // namespace

std::string openerPython(const TaskConfig& task) {
    return std::string(needsOpener(task) ? kPythonOpener : "");
}

std::string openerImports(const TaskConfig& task) {
    return needsOpener(task) ? "import gzip\n" : "";
}

std::string openPython(const TaskConfig& task, const std::string& path) {
    if (needsOpener(task)) return "opened(" + path + ")";
    return "open(" + path + R"(, newline="", encoding="utf-8-sig", errors="surrogateescape"))";
}

std::string readTablePython(const TaskConfig& task) {
    CsvFile file = tableOf(task);
    const std::vector<std::string> names = file.readHeader();
    std::string told;
    for (const std::string& name : names)
        told += (told.empty() ? "\n    names = [" : ", ") + lang::pythonText(name);
    if (file.hasNamesAsRead()) told = ""; // then the program takes them from the file
    if (!told.empty()) told += ']';
    const bool spaces = file.separator() == ' ';
    const std::string first = file.hasSeparatorLine() ? "    del rows[0]  # sep=\n    " : "    ";
    return lang::filled(
        R"(    with {OPEN} as file:
        reader = csv.reader({LINES}, delimiter={SEPARATOR})
        rows = [[field.strip(" \t") for field in row] for row in reader]
{FIRST}{NAMES}

    def number(field):
{THOUSANDS}        return float({FIELD})
)",
        {{"OPEN", openPython(task, "TABLE")},
         {"LINES", spaces ? R"((" ".join(line.split()) for line in file))" : "file"},
         {"SEPARATOR", lang::pythonText(std::string(1, file.separator()))},
         {"FIRST", first},
         {"THOUSANDS", std::string(file.commas() ? kPythonThousands : "")},
         {"NAMES", task.header ? "names, *rows = [row for row in rows if any(row)]" + told
                               : "rows = [row for row in rows if any(row)]\n"
                                 "    names = [f\"c{i + 1}\" for i in range(len(rows[0]))]"},
         {"FIELD", std::string("field") + (file.commas() ? R"(.replace(",", "."))" : "") +
                       (hasMinus(task) ? R"(.replace("\u2212", "-"))" : "")}});
}

} // namespace halfscope
