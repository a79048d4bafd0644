// Names the places of the manual that the window leads to, and holds the text of the About box. The
// manual itself is in resources/manual; HelpDialog shows it.
#pragma once

#include <QString>

namespace halfscope {

/// Pages of the manual, or headings in them, for HelpDialog::showPart().
inline constexpr const char* kHelpWords = "words";
inline constexpr const char* kHelpLesson = "lesson";
inline constexpr const char* kHelpSecondLesson = "lesson-weights";
inline constexpr const char* kHelpThirdLesson = "lesson-fp8";
inline constexpr const char* kHelpQuestions = "questions";
inline constexpr const char* kHelpMarks = "window#marks";
inline constexpr const char* kHelpLayers = "window#gradients-by-layer";
inline constexpr const char* kHelpKeys = "keys";
/// Each setting has a place here, called after its key.
inline constexpr const char* kHelpSettings = "settings";

QString aboutText();

} // namespace halfscope
