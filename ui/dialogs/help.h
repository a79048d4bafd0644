// What the help window and the About box say. Text only; panels/help_dialog shows it.
#pragma once

#include <QString>

namespace halfscope {

/// Parts of the help, as names of anchors in it.
inline constexpr const char* kHelpWords = "words";
inline constexpr const char* kHelpQuestions = "questions";
inline constexpr const char* kHelpMarks = "marks";
inline constexpr const char* kHelpKeys = "keys";
/// A link "preset:overflow" asks for that experiment.
inline constexpr const char* kPresetScheme = "preset";

/// First steps, words, questions, marks and shortcuts, as rich text.
QString helpText();
/// What people ask who train with AMP, with answers (help_questions.cpp).
QString questionsText();
QString aboutText();

} // namespace halfscope
