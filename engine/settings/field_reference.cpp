// Writes a section for each setting: a table would be wider than the help window, which opens here
// when F1 is pressed in a setting. The window finds a section by its line "Key".
#include "engine/settings/field_reference.h"

#include "engine/settings/fields.h"
#include "engine/settings/precision.h"
#include "engine/settings/pytorch_names.h"

namespace halfscope {
namespace {

/// Returns the help without the list of choices that may be its end: they have lines of their own.
std::string sentencesOf(const Field& field) {
    const std::string help = field.help.english();
    if (field.meanings.empty()) return help;
    const size_t list = help.find(' ' + field.meanings.front().english());
    return help.substr(0, list);
}

/// Returns a line for each choice that needs a word, led by what the window calls it.
std::string choicesOf(const Field& field) {
    std::string lines;
    for (size_t i = 0; i < field.meanings.size(); ++i) {
        const std::string &choice = field.choices[i], meaning = field.meanings[i].english();
        const std::string title = titleOfChoice(field, choice).text();
        lines += "* " + (title.empty() ? "" : title + ", ") + '`' + choice + '`' +
                 meaning.substr(choice.size()) + '\n';
    }
    return lines.empty() ? lines : lines + '\n';
}

std::string sectionOf(const Field& field, const RunConfig& defaults) {
    const std::string value = valueText(field.get(defaults, 1)), unit = field.unit.text();
    const std::string standard = value.empty() ? "nothing" : '`' + value + '`';
    const std::string_view name = nameInPyTorch(field.key);
    std::string text = std::string("### ") + field.label.text() + "\n\n" + sentencesOf(field) +
                       "\n\n" + choicesOf(field);
    text += field.meanings.empty()
                ? "* Allowed: " + allowedText(field).english() +
                      (unit.empty() ? "" : " (" + unit + ")") + "; default: " + standard + '\n'
                : "* Default: " + standard + '\n';
    if (!name.empty()) text += "* In PyTorch: " + std::string(name) + '\n';
    return text + "* Key: `" + field.key + "`; an edit acts " +
           (field.effect == FieldEffect::Live ? "at the next step" : "at a restart") + '\n';
}

} // namespace

/// Also lists the precisions, which have too much to say for one setting.
std::string fieldReference() {
    // Lane 1 is amp-fp16, whose scaler does something.
    const RunConfig defaults = defaultConfig();
    std::string text;
    Phrase group;
    for (const Field& field : fieldTable()) {
        if (!(field.group == group))
            text += std::string(group.empty() ? "## " : "\n## ") + field.group.text() + '\n';
        group = field.group;
        text += '\n' + sectionOf(field, defaults);
    }
    text += "\n## Precisions and their scalers\n\nThe defaults of precision and scaler are those "
            "of a lane with precision `amp-fp16`. "
            "Each precision brings a scaler of its own:\n\n"
            "| precision | means | loss scaling |\n| --- | --- | --- |\n";
    for (const PrecisionPreset& preset : precisionPresets()) {
        const std::string scaling = std::string(nameOf(preset.scalerMode)) + ", " + preset.scaler;
        text += "| `" + std::string(preset.name) + "` | " + preset.about.text() + " | " +
                (preset.mayScale ? scaling : "none") + " |\n";
    }
    return text;
}

} // namespace halfscope
