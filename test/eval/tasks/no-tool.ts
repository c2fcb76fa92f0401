// Tasks: questions whose answer is in no file.
import { tasksOf } from "../task.ts";

const beside = { "notes.txt": "buy paint\n" };

export const noToolTasks = tasksOf("no-tool", [
  {
    name: "plain-arithmetic",
    prompt: "What is 17 plus 25?",
    files: beside,
    says: ["42"],
    solution: { reply: "42" },
    alsoRight: ["17 plus 25 is 42.", "17 + 25 = 42"],
    wrong: ["41", "17 plus 25 is 43."],
  },
  {
    name: "plain-capital-city",
    prompt: "which city is the capital of Japan",
    files: beside,
    says: ["Tokyo"],
    not: ["Kyoto", "Osaka", "Seoul", "Beijing"],
    solution: { reply: "Tokyo." },
    wrong: ["Kyoto.", "Tokyo or Kyoto."],
  },
  {
    name: "plain-translate-word",
    prompt: "What does the French word \"pomme\" mean in English? One word.",
    files: beside,
    says: [/\bapples?\b/i],
    not: ["potato", "pear", "orange"],
    solution: { reply: "Apple." },
    alsoRight: ["\"Pomme\" means apple."],
    wrong: ["Potato.", "pear, orange or apple"],
  },
  {
    name: "plain-thanks",
    prompt: "Thanks, that was all. Just answer with the word bye.",
    files: beside,
    holds: (reply) => /^\W*(good)?bye\W*$/i.test(reply),
    solution: { reply: "Bye!" },
    alsoRight: ["bye", "Bye.", "Goodbye!"],
    wrong: ["You're welcome!", "bye, and here is what notes.txt holds: buy paint"],
  },
  {
    name: "plain-alphabet-order",
    prompt: "put these words in alphabetical order: plum, fig, cherry, quince",
    files: beside,
    says: [/\bcherry\b.{0,9}\s.{0,9}\bfig\b.{0,9}\s.{0,9}\bplum\b.{0,9}\s.{0,9}\bquince\b/is],
    solution: { reply: "cherry, fig, plum, quince" },
    alsoRight: ["1. Cherry\n2. Fig\n3. Plum\n4. Quince", "In alphabetical order: cherry, fig, plum and quince."],
    wrong: ["plum, fig, cherry, quince", "cherry, plum, fig, quince", "cherry, fig, plum"],
  },
]);
