// Reads Python-like calls with keyword arguments into a syntax tree: what programmers write for
// torch.nn.Sequential, and what PyTorch prints of it. Knows no layers and no meanings of names.
#pragma once

#include "engine/core/message.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace halfscope::lang {

/// The place of something in a text. Line and column count from 1; columns are characters (UTF-8),
/// and a tab is one.
struct Place {
    int line = 1, column = 1;
};

struct Argument;

enum class Kind : uint8_t {
    Whole,  ///< 3, -1, 28*28, 512//2, 2**8, int(7 / 2)
    Real,   ///< 0.5, 1e-5
    Truth,  ///< True, False
    None,   ///< None
    String, ///< 'nearest'
    Name,   ///< torch.float32
    List,   ///< [1, 2]; {'a': 1} is the list [('a', 1)]
    Tuple,  ///< (1, 2), (1,)
    Call    ///< nn.Linear(10, 20, bias=True)
};

struct Value {
    Kind kind = Kind::None;
    Place place;
    int64_t whole = 0;               ///< Whole
    double real = 0;                 ///< Whole and Real
    bool truth = false;              ///< Truth
    bool again = false;              ///< the text uses the same one a second time
    std::string text;                ///< String: its content; Name and Call: the name with its dots
    std::vector<Value> items;        ///< List, Tuple
    std::vector<Argument> arguments; ///< Call
};

/// One argument of a call. `name` is empty when it is given by position; `printed` marks PyTorch's
/// "(0): Linear(..)", whose name is 0.
struct Argument {
    std::string name;
    Place place;
    bool printed = false;
    Value value;
};

/// Marks a value, with all in it, as used a second time.
inline void markAgain(Value& value) {
    value.again = true;
    for (Value& item : value.items)
        markAgain(item);
    for (Argument& argument : value.arguments)
        markAgain(argument.value);
}

/// What a one-line editor turns line ends into.
inline constexpr std::string_view kLineSeparator = "\xE2\x80\xA8";
inline constexpr size_t kMaxTextBytes = 64 * 1024;
inline constexpr int kMaxDepth = 64;
inline constexpr size_t kMaxValues = 20'000;

/// Reads one value: numbers, what *, // and ** make of them, True, False, None, strings, names with
/// dots, lists, dicts, tuples and calls, with comments and trailing commas; "*[a, b]" gives a call
/// its arguments. Before it may stand imports, a docstring, "name =" and "return", and numbers,
/// lists and, above an nn.Sequential, layers with names that it may then use ("hidden = 64");
/// behind a call, methods that only move a model, such as ".to(device)" and ".eval()". Prompts and
/// fences around the lines are skipped, see pasted.h, and so are statements that leave the model
/// alone, see idle_code.h, and a class around a model that does no more than run it, see
/// modelOfClass(). Takes time in proportion to the text. Throws InputError, a sentence that begins
/// with "line 2, column 7: " and says what was found there and what is allowed; also when the text,
/// a depth or the number of values exceeds the limits, and for text that is not plain UTF-8. The
/// number of the first line is that of a text within another one.
Value parse(std::string_view text, int firstLine = 1);

/// Returns the text as parse() reads it: without prompts and fences, and with the usual line ends.
/// Throws InputError for text that is too long or not plain UTF-8.
std::string plainText(std::string_view text);

/// Throws InputError: "line 2, column 7: " and the sentence.
[[noreturn]] void refuseAt(Place, const Message& sentence);

} // namespace halfscope::lang
