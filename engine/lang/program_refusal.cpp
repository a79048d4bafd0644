// Looks for the one nn.Sequential(...) that could be pasted in place of the program.
#include "engine/lang/program_refusal.h"

#include "engine/lang/code_text.h"
#include "engine/lang/found_models.h"
#include "engine/lang/scanner.h"

namespace halfscope::lang {

namespace {

/// Returns "*layers" where a model gets its layers from a list with a name; empty for others.
std::string_view spreadIn(std::string_view model) {
    for (size_t at = model.find('*'); at != kNowhere; at = model.find('*', at + 1)) {
        const size_t before = model.find_last_not_of(" \t\r\n", at - 1);
        const bool first = model[before] == '(' || model[before] == ',';
        const size_t end = dottedEnd(model, at + 1);
        if (first && end > at + 1 && isNameStart(model[at + 1])) return model.substr(at, end - at);
    }
    return {};
}

/// Refuses a program with one model, unless forward() of a class may do more than run it.
void refuseAllBut(std::string_view program, const std::vector<FoundModel>& models, Place place) {
    const auto has = [program](std::string_view word) { return program.find(word) != kNowhere; };
    if (models.size() != 1 || has("class ") || has("forward")) return;
    const FoundModel& model = models.front();
    const std::string_view spread = spreadIn(program.substr(model.begin, model.end - model.begin));
    if (!spread.empty())
        refuseAt(place, {phrase("Model", "this is a program, and only a model by itself is read: "
                                         "paste only the nn.Sequential(...) that begins in line "
                                         "%1, with the layers themselves in place of %2"),
                         model.firstLine, spread});
    const ModelText text = textOfModel(program, model);
    const bool alone = text.numbers.empty() && text.unknown.empty();
    refuseAt(place,
             {alone ? phrase("Model", "this is a program, and only a model by itself is read: "
                                      "paste only the nn.Sequential(...) that begins in line "
                                      "%1")
                    : phrase("Model", "this is a program, and only a model by itself is read: "
                                      "paste only the nn.Sequential(...) that begins in line "
                                      "%1, with the numbers that it uses above it"),
              model.firstLine});
}

} // namespace

void refuseProgram(std::string_view text, Place place) {
    refuseAllBut(text, modelsIn(text), place);
    if (text.find("nn.Module)") != kNowhere)
        refuseAt(place, phrase("Model", "a class is a program, and only a model by itself is read, "
                                        "such as nn.Sequential(nn.Linear(2, 16), nn.ReLU(), "
                                        "nn.Linear(16, 1)): list the layers of the class in the "
                                        "order in which its forward() uses them, with "
                                        "Residual(...) for a block that adds its input, or paste "
                                        "what print(model) shows"));
    refuseAt(place, phrase("Model", "this is a program; what is allowed here is one model by "
                                    "itself, such as nn.Sequential(nn.Linear(2, 16), nn.ReLU(), "
                                    "nn.Linear(16, 1)), with nothing but imports and numbers such "
                                    "as hidden = 64 above it"));
}

} // namespace halfscope::lang
