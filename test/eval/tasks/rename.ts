// Tasks: another name for a file or a folder.
import { tasksOf } from "../task.ts";

const log = "2026-05-01 start\n2026-05-02 stop\n";
const draft = "# Draft\n\nSome text.\n";
const util = "def double(x):\n    return 2 * x\n";

export const renameTasks = tasksOf("rename", [
  {
    name: "rename-draft-final",
    prompt: "Rename draft.md to final.md",
    files: { "draft.md": draft, "draft-2.md": "# Other\n" },
    disk: { "draft.md": null, "final.md": draft },
    solution: { reply: "Renamed." },
    wrong: [{ reply: "Renamed.", changes: { "final.md": draft } }, { reply: "Renamed.", changes: { "draft-2.md": null, "final.md": "# Other\n" } }],
  },
  {
    name: "rename-folder-images",
    prompt: "The folder img should be called images.",
    files: { "img/a.svg": "<svg/>\n", "img/icons/b.svg": "<svg id='b'/>\n", "page.md": "pictures\n" },
    disk: { "img/a.svg": null, "img/icons/b.svg": null, "images/a.svg": "<svg/>\n", "images/icons/b.svg": "<svg id='b'/>\n" },
    solution: { reply: "It is called images now." },
    wrong: [{ reply: "It is called images now.", changes: { "img/a.svg": null, "images/a.svg": "<svg/>\n" } }],
  },
  {
    name: "rename-text-to-log",
    prompt: "please give all .txt files in the logs folder the extension .log",
    files: { "logs/may.txt": log, "logs/june.txt": "2026-06-01 start\n", "logs/summary.md": "# S\n", "readme.txt": "hello\n" },
    disk: { "logs/may.txt": null, "logs/june.txt": null, "logs/may.log": log, "logs/june.log": "2026-06-01 start\n" },
    solution: { reply: "Both files have the extension .log now." },
    wrong: [{ reply: "Done.", changes: { "logs/may.txt": null, "logs/may.log": log } }, { reply: "Done.", changes: { "logs/may.txt": null, "logs/june.txt": null, "logs/may.log": log, "logs/june.log": "2026-06-01 start\n", "readme.txt": null, "readme.log": "hello\n" } }],
  },
  {
    name: "rename-module-import",
    prompt: "Rename util.py to mathtools.py and correct the import in main.py.",
    files: { "util.py": util, "main.py": "from util import double\n\nprint(double(21))\n" },
    disk: { "util.py": null, "mathtools.py": util, "main.py": "from mathtools import double\n\nprint(double(21))\n" },
    solution: { reply: "Renamed, and main.py imports from mathtools." },
    wrong: [{ reply: "Renamed.", changes: { "util.py": null, "mathtools.py": util } }],
  },
]);
