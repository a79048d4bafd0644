// Goes by the ending of a file's name, and by its bytes where other files may be called so.
#include "engine/data/other_files.h"

#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/data/csv_fields.h"
#include "engine/data/dataset.h"
#include "engine/io/input_file.h"
#include "engine/io/torch_file.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

namespace halfscope {

namespace {

constexpr Phrase kOtherTable =
    phrase("Files", "%1: such a table is not opened; save it as a csv table (pandas: "
                    "to_csv('table.csv', index=False))");
constexpr Phrase kUnnamedTable =
    phrase("Files", "%1: a table is read from a file whose name ends in .csv, .tsv or .data, with "
                    "commas, semicolons, tabs or spaces between the columns");
constexpr Phrase kPacked =
    phrase("Files", "%1: such packed files are not opened; unpack it and open what was in it");
constexpr Phrase kOnnx =
    phrase("Files", "%1: ONNX files are written but not opened; "
                    "safetensors.torch.save_file(model.state_dict(), 'weights.safetensors') saves "
                    "weights for model.weights");
constexpr Phrase kPythonFile =
    phrase("Files", "%1: this is Python, not an experiment or data; paste a network from it into "
                    "Layers, or give it beside the data: halfscope-cli run DATA --set "
                    "model.layers=@FILE");
constexpr Phrase kNotebook =
    phrase("Files", "%1: this is a notebook; paste the network from it into model.layers");
constexpr Phrase kHdf = phrase("Files", "%1: HDF5 files are not opened; numpy.savez('data.npz', "
                                        "x=x, y=y) saves the arrays x and y to train on");
constexpr Phrase kMatlab =
    phrase("Files", "%1: MATLAB files are not opened; with m = scipy.io.loadmat(FILE), "
                    "numpy.savez('data.npz', x=m['x'], y=m['y']) saves its arrays x and y to train "
                    "on");
constexpr Phrase kJson =
    phrase("Files", "%1: data are not read from JSON; if it is a table, "
                    "pandas.read_json(FILE).to_csv('table.csv', index=False) saves it as csv");
constexpr Phrase kJsonLines =
    phrase("Files", "%1: data are not read from JSON; if each line is a row of a table, "
                    "pandas.read_json(FILE, lines=True).to_csv('table.csv', index=False) saves it "
                    "as csv");
constexpr Phrase kArchive =
    phrase("Files", "%1: %2 does not take an archive of arrays; set data.kind to arrays and "
                    "data.x to this file");
constexpr Phrase kArchiveOfKind =
    phrase("Files", "%1: %2 does not take an archive of arrays; set data.x to this file");
constexpr Phrase kArray =
    phrase("Files", "%1: %2 does not take an array; set data.kind to arrays, data.x to the array "
                    "of inputs and data.y to that of targets");
constexpr Phrase kArrayOfKind =
    phrase("Files", "%1: %2 does not take an array; set data.x to the array of inputs and data.y "
                    "to that of targets");

/// Files that users often have but that are not opened, and what helps with them.
struct OtherFile {
    std::string_view ending;
    Phrase help;        ///< %1 is the file
    bool never = false; ///< it is no data either, unless it is a text table of such a name
};
constexpr std::array kOtherFiles{OtherFile{".zip", kPacked},
                                 OtherFile{".gz", kPacked},
                                 OtherFile{".tgz", kPacked},
                                 OtherFile{".bz2", kPacked},
                                 OtherFile{".xz", kPacked},
                                 OtherFile{".zst", kPacked},
                                 OtherFile{".7z", kPacked},
                                 OtherFile{".rar", kPacked},
                                 OtherFile{".onnx", kOnnx, true},
                                 OtherFile{".py", kPythonFile},
                                 OtherFile{".ipynb", kNotebook},
                                 OtherFile{".h5", kHdf, true},
                                 OtherFile{".hdf5", kHdf, true},
                                 OtherFile{".mat", kMatlab, true},
                                 OtherFile{".xls", kSpreadsheet, true},
                                 OtherFile{".xlsx", kSpreadsheet, true},
                                 OtherFile{".ods", kSpreadsheet, true},
                                 OtherFile{".parquet", kOtherTable, true},
                                 OtherFile{".feather", kOtherTable, true},
                                 OtherFile{".pkl", kOtherTable, true},
                                 OtherFile{".json", kJson, true},
                                 OtherFile{".jsonl", kJsonLines, true},
                                 OtherFile{".ndjson", kJsonLines, true},
                                 OtherFile{".dat", kUnnamedTable},
                                 OtherFile{".arff", kUnnamedTable}};

std::string endingOf(const std::string& path) {
    return lowerCase(std::filesystem::path(path).extension().string());
}

const OtherFile* otherFile(const std::string& path) {
    const auto* found = std::ranges::find(kOtherFiles, endingOf(path), &OtherFile::ending);
    return found == kOtherFiles.end() ? nullptr : found;
}

/// Whether the file begins as a text table does: exports of other programs are called .xls or .mat,
/// too. What is packed or in UTF-16 counts as one, because the table's reader can tell.
bool maybeTextTable(const OtherFile& other, const std::string& path) {
    constexpr std::array<std::string_view, 3> kReaderTells{"\x1F\x8B", "\xFF\xFE", "\xFE\xFF"};
    constexpr std::array<std::string_view, 7> kBinary{"PK\x03\x04", "\xD0\xCF", "PAR1", "\x89HDF",
                                                      "MATLAB 5.0", "\x80",     "\x08"};
    std::array<char, 4096> start{};
    InputFile file(path);
    std::string_view bytes(start.data(), file.read(start));
    const auto begins = [&bytes](std::string_view with) { return bytes.starts_with(with); };
    if (std::ranges::any_of(kReaderTells, begins)) return true;
    if (std::ranges::any_of(kBinary, begins) || bytes.find('\0') != bytes.npos) return false;
    if (other.help != kJson && other.help != kJsonLines) return true;
    bytes.remove_prefix(std::min(bytes.find_first_not_of("\xEF\xBB\xBF \t\r\n"), bytes.size()));
    return !begins("[") && !begins("{");
}

/// Returns what to do with a file that a setting names; empty for a file that may be data.
Message refusalIn(std::string_view key, const std::string& path, TaskKind kind) {
    const std::string ending = endingOf(path);
    const bool arrays = !key.ends_with("path"); // the setting names arrays
    const bool ofKind = infoOf(kind).has("data.x");
    if (!arrays && (ending == ".npz" || ending == ".safetensors"))
        return {ofKind ? kArchiveOfKind : kArchive, pathText(path), key};
    if (!arrays && ending == ".npy") return {ofKind ? kArrayOfKind : kArray, pathText(path), key};
    const OtherFile* other = otherFile(path);
    if (!other || !other->never) return {};
    const bool tables = kind == TaskKind::Csv || kind == TaskKind::TextClasses;
    return tables && maybeTextTable(*other, path) ? Message()
                                                  : Message(other->help, pathText(path));
}

/// Throws InputError unless the file may be data. Of one that is not there, others tell.
void refuseOther(std::string_view key, const std::string& path, TaskKind kind) {
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(path, ignored)) return;
    const Message refusal = refusalIn(key, path, kind);
    if (!refusal.empty()) throw InputError(refusal);
}

} // namespace

Message otherFileRefusal(const std::string& path) {
    const OtherFile* other = otherFile(path);
    return other ? Message(other->help, pathText(path)) : Message();
}

bool isPackedFile(const std::string& path) {
    const OtherFile* other = otherFile(path);
    return other && other->help == kPacked;
}

void refuseOtherFiles(const TaskConfig& task) {
    const DataSetInfo& info = infoOf(task.kind);
    const std::array<std::pair<std::string_view, const std::string*>, 9> paths{
        {{"data.path", &task.path},
         {"data.validation_path", &task.validationPath},
         {"data.test_path", &task.testPath},
         {"data.x", &task.x},
         {"data.y", &task.y},
         {"data.x_val", &task.xVal},
         {"data.y_val", &task.yVal},
         {"data.x_test", &task.xTest},
         {"data.y_test", &task.yTest}}};
    // who names no arrays may mean this file by the path that other kinds of data have
    const bool means = info.has("data.x") && task.x.empty();
    const bool reads = task.kind == TaskKind::Text; // any text, such as JSON
    for (const auto& [key, path] : paths) {
        if (!info.has(key) && !(means && key == "data.path")) continue;
        if (isTorchFile(*path)) throw InputError(torchFileRefusal(*path));
        if (!reads) refuseOther(key, *path, task.kind);
    }
    if (info.fromFiles && isTorchFile(task.predictFile))
        throw InputError(torchFileRefusal(task.predictFile));
}

} // namespace halfscope
