// Tasks: make a new file.
import { pythonOutput, shellOutput } from "../execute.ts";
import { tasksOf } from "../task.ts";
const names = "Ida\nMaximilian\nUwe\nAnneliese\n";

export const createTasks = tasksOf("create", [
  {
    name: "create-list-file",
    prompt: "Create a file colors.txt with the three lines red, green and blue, in that order.",
    files: { "shapes.txt": "circle\n" },
    disk: { "colors.txt": "red\ngreen\nblue\n" },
    solution: { reply: "Done." },
    wrong: [{ reply: "Done.", changes: { "colors.txt": "red, green and blue\n" } }, { reply: "Done.", changes: { "colours.txt": "red\ngreen\nblue\n" } }],
  },
  {
    name: "create-leap-script",
    prompt: "Write leap.py with a function is_leap(year) that says whether a year is a leap year in the Gregorian calendar.",
    files: {},
    disk: { "leap.py": (text) => text.includes("def is_leap") },
    holds: (_reply, after) => pythonOutput({ ...after, "judge.py": "from leap import is_leap\nprint([bool(is_leap(y)) for y in (2024, 2023, 1900, 2000, 2100, 4)])\n" }, "judge.py")?.trimEnd().endsWith("[True, False, False, True, False, True]") === true,
    solution: { reply: "Written.", changes: { "leap.py": "def is_leap(year):\n    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)\n" } },
    wrong: [{ reply: "Written.", changes: { "leap.py": "def is_leap(year):\n    return year % 4 == 0\n" } }],
  },
  {
    name: "create-nested-note",
    prompt: "Make a folder notes/2026 and put a file plan.md in it that has the heading \"Plan\" and below it one bullet: buy paint",
    files: { "notes/old.md": "# Old\n" },
    disk: { "notes/2026/plan.md": (text) => /^#{1,3} Plan[ \t]*\n+[-*+] buy paint\.?\s*$/i.test(text) },
    solution: { reply: "Done.", changes: { "notes/2026/plan.md": "# Plan\n\n- buy paint\n" } },
    wrong: [{ reply: "Done.", changes: { "notes/plan.md": "# Plan\n\n- buy paint\n" } }, { reply: "Done.", changes: { "notes/2026/plan.md": "Plan\nbuy paint\n" } }],
  },
  {
    name: "create-shell-script",
    prompt: "I need a shell script countdown.sh that prints the numbers from 5 down to 1, one per line, and then the word go.",
    files: {},
    disk: { "countdown.sh": (text) => text.length > 0 },
    holds: (_reply, after) => shellOutput(after, "countdown.sh")?.trim().toLowerCase() === "5\n4\n3\n2\n1\ngo",
    solution: { reply: "Here it is.", changes: { "countdown.sh": "#!/bin/sh\nfor n in 5 4 3 2 1; do echo \"$n\"; done\necho go\n" } },
    wrong: [{ reply: "Here it is.", changes: { "countdown.sh": "for n in 1 2 3 4 5; do echo $n; done\necho go\n" } }, { reply: "5 4 3 2 1 go" }],
  },
  {
    name: "create-longest-script",
    prompt: "Write a Python script longest.py that prints the longest name in names.txt (there is one per line), and nothing else.",
    files: { "names.txt": names },
    disk: { "longest.py": (text) => text.length > 0 },
    holds: (_reply, after) => pythonOutput(after, "longest.py")?.trim() === "Maximilian" && pythonOutput({ ...after, "names.txt": "Zoe\nBartholomew\nUma\nMarianne\n" }, "longest.py")?.trim() === "Bartholomew",
    solution: { reply: "Written.", changes: { "longest.py": "with open('names.txt') as file:\n    print(max(file.read().splitlines(), key=len))\n" } },
    wrong: [{ reply: "Written.", changes: { "longest.py": "print('Maximilian')\n" } }, { reply: "Written.", changes: { "longest.py": "print(max(open('names.txt').read().splitlines()))\n" } }, { reply: "Maximilian" }],
  },
  {
    name: "create-csv-rooms",
    prompt: "make a rooms.csv with the columns room and seats: blue has 12 seats, attic 30 and cellar 8, in that order",
    files: { "staff.csv": "name,room\nIda,blue\nUwe,attic\n" },
    disk: { "rooms.csv": (text) => text.replace(/["\r ]/g, "").trim().toLowerCase() === "room,seats\nblue,12\nattic,30\ncellar,8" },
    solution: { reply: "Made.", changes: { "rooms.csv": "room,seats\nblue,12\nattic,30\ncellar,8\n" } },
    wrong: [{ reply: "Made.", changes: { "rooms.csv": "blue,12\nattic,30\ncellar,8\n" } }, { reply: "Made.", changes: { "rooms.csv": "room,seats\nblue,12 seats\nattic,30 seats\ncellar,8 seats\n" } }, { reply: "room,seats\nblue,12\nattic,30\ncellar,8" }],
  },
]);
