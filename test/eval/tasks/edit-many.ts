// Tasks: change many places.
import { pythonOutput } from "../execute.ts";
import { tasksOf } from "../task.ts";

const cart = "def total(itms):\n    result = 0\n    for itm in itms:\n        result += itm['price'] * itm['count']\n    return result\n\n\ndef names(itms):\n    return [itm['name'] for itm in itms]\n";
const hosts = "api = http://old.example.org/v1\nfiles = http://old.example.org/files\nmirror = http://mirror.example.org\nstatus = http://old.example.org/status\n";
const story = "The cat sat by the door. A cat knows when it rains.\nNobody had seen the Cat come in.\nThe category of the prize was open.\n";
const steps = "step_1 = 'mix'\nstep_2 = 'bake'\nprint('begin')\nprint(step_1)\nprint(step_2)\nprint('end')\n";
const kiosk = "Kiosk, open since 1987\n\ntea 3 EUR\nsoup 6 EUR\npie 9 EUR\nlunch for two 18 EUR\n";
const player = "import { debug } from './debug.js';\n\nexport function play(song) {\n  debug('play', song);\n  const length = song.seconds;\n  if (length === 0) {\n    debug('empty song');\n    return false;\n  }\n  start(song);\n  debug('started');\n  return true;\n}\n";

export const editManyTasks = tasksOf("edit-many", [
  {
    name: "edit-all-hosts",
    prompt: "Replace old.example.org by new.example.org everywhere in hosts.ini.",
    files: { "hosts.ini": hosts, "backup.ini": hosts },
    disk: { "hosts.ini": hosts.replaceAll("old.", "new.") },
    solution: { reply: "Replaced in 3 places." },
    wrong: [{ reply: "Replaced.", changes: { "hosts.ini": hosts.replace("old.", "new.") } }, { reply: "Replaced.", changes: { "hosts.ini": hosts.replaceAll("old.", "new."), "backup.ini": hosts.replaceAll("old.", "new.") } }],
  },
  {
    name: "edit-variable-name",
    prompt: "Rename the variable itm to item and itms to items throughout cart.py.",
    files: { "cart.py": cart },
    disk: { "cart.py": cart.replaceAll("itm", "item") },
    solution: { reply: "Renamed." },
    wrong: [{ reply: "Renamed.", changes: { "cart.py": cart.replace("itm", "item") } }, { reply: "Renamed.", changes: { "cart.py": cart.replaceAll("itms", "items") } }],
  },
  {
    name: "edit-cat-dog",
    prompt: "In story.txt turn every cat into a dog (keep the capital letter where there is one). Don't touch other words.",
    files: { "story.txt": story },
    disk: { "story.txt": story.replace(/\bcat\b/g, "dog").replace(/\bCat\b/g, "Dog") },
    solution: { reply: "Done." },
    wrong: [{ reply: "Done.", changes: { "story.txt": story.replaceAll("cat", "dog").replaceAll("Cat", "Dog") } }, { reply: "Done.", changes: { "story.txt": story.replace(/\bcat\b/g, "dog") } }],
  },
  {
    name: "edit-remove-prints",
    prompt: "Remove the lines that print 'begin' and 'end' from steps.py, and make the other prints show the step in capital letters.",
    files: { "steps.py": steps },
    disk: { "steps.py": (text) => !/begin|end'/.test(text) },
    holds: (_reply, after) => pythonOutput(after, "steps.py")?.trim() === "MIX\nBAKE",
    solution: { reply: "Done.", changes: { "steps.py": "step_1 = 'mix'\nstep_2 = 'bake'\nprint(step_1.upper())\nprint(step_2.upper())\n" } },
    wrong: [{ reply: "Done.", changes: { "steps.py": "step_1 = 'mix'\nstep_2 = 'bake'\nprint(step_1)\nprint(step_2)\n" } }],
  },
  {
    name: "edit-raise-prices",
    prompt: "Everything in pricelist.txt costs 2 EUR more from now on, please put the new prices in.",
    files: { "pricelist.txt": kiosk },
    disk: { "pricelist.txt": kiosk.replace("3 EUR", "5 EUR").replace("6 EUR", "8 EUR").replace("9 EUR", "11 EUR").replace("18 EUR", "20 EUR") },
    solution: { reply: "All four prices are 2 EUR higher." },
    wrong: [{ reply: "Done.", changes: { "pricelist.txt": kiosk.replace("3 EUR", "5 EUR").replace("6 EUR", "8 EUR").replace("9 EUR", "11 EUR") } }, { reply: "Done.", changes: { "pricelist.txt": kiosk.replace(/\d+ EUR/g, "2 EUR") } }, { reply: "Done.", changes: { "pricelist.txt": `${kiosk}+ 2 EUR\n` } }],
  },
  {
    name: "edit-comment-out",
    prompt: "Comment out (with //) the three lines in player.js that call debug. The import can stay.",
    files: { "player.js": player },
    disk: { "player.js": (text) => text.trimEnd().replace(/^[ \t]*\/\/[ \t]*(?=debug\()/gm, "//") === player.trimEnd().replace(/^ +(?=debug\()/gm, "//") },
    solution: { reply: "Commented out.", changes: { "player.js": player.replace(/^( +)(?=debug\()/gm, "$1// ") } },
    wrong: [{ reply: "Done.", changes: { "player.js": player.replace(/^ +debug\(.*\n/gm, "") } }, { reply: "Done.", changes: { "player.js": player.replace("  debug('play'", "  // debug('play'") } }, { reply: "Done.", changes: { "player.js": `// ${player.replace(/^( +)(?=debug\()/gm, "$1// ")}` } }],
  },
]);
