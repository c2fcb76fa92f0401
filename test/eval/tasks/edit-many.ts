// Tasks: change many places.
import { pythonOutput } from "../execute.ts";
import { tasksOf } from "../task.ts";

const cart = "def total(itms):\n    result = 0\n    for itm in itms:\n        result += itm['price'] * itm['count']\n    return result\n\n\ndef names(itms):\n    return [itm['name'] for itm in itms]\n";
const hosts = "api = http://old.example.org/v1\nfiles = http://old.example.org/files\nmirror = http://mirror.example.org\nstatus = http://old.example.org/status\n";
const story = "The cat sat by the door. A cat knows when it rains.\nNobody had seen the Cat come in.\nThe category of the prize was open.\n";
const steps = "step_1 = 'mix'\nstep_2 = 'bake'\nprint('begin')\nprint(step_1)\nprint(step_2)\nprint('end')\n";

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
]);
