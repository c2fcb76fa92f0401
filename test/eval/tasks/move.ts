// Tasks: the same file at another place, or at two.
import { tasksOf } from "../task.ts";

export const moveTasks = tasksOf("move", [
  {
    name: "move-into-archive",
    prompt: "Move report.txt into the archive folder.",
    files: { "report.txt": "Figures\n", "archive/older.txt": "Old figures\n" },
    disk: { "report.txt": null, "archive/report.txt": "Figures\n" },
    solution: { reply: "Moved." },
    wrong: [{ reply: "Moved.", changes: { "archive/report.txt": "Figures\n" } }, { reply: "Moved.", changes: { "report.txt": null, "archive": "Figures\n" } }],
  },
  {
    name: "move-tests-together",
    prompt: "put the two test files into a new folder called tests",
    files: { "sum.py": "s = 1\n", "test_sum.py": "import sum\n", "test_mean.py": "import mean\n", "mean.py": "m = 1\n" },
    disk: { "test_sum.py": null, "test_mean.py": null, "tests/test_sum.py": "import sum\n", "tests/test_mean.py": "import mean\n" },
    solution: { reply: "Both are in tests now." },
    wrong: [{ reply: "Done.", changes: { "test_sum.py": null, "tests/test_sum.py": "import sum\n" } }],
  },
  {
    name: "move-copy-template",
    prompt: "Make a copy of template.ini named customer.ini, keep the original.",
    files: { "template.ini": "[main]\nname = unset\nlimit = 4\n" },
    disk: { "customer.ini": "[main]\nname = unset\nlimit = 4\n" },
    solution: { reply: "Copied." },
    wrong: [{ reply: "Copied.", changes: { "template.ini": null, "customer.ini": "[main]\nname = unset\nlimit = 4\n" } }, { reply: "Copied.", changes: { "customer.ini": "[main]\n" } }],
  },
  {
    name: "move-up-level",
    prompt: "guide.md is buried in docs/old/en. Bring it up to docs.",
    files: { "docs/old/en/guide.md": "# Guide\n", "docs/old/en/terms.md": "# Terms\n", "docs/start.md": "# Start\n" },
    disk: { "docs/old/en/guide.md": null, "docs/guide.md": "# Guide\n" },
    solution: { reply: "It is at docs/guide.md." },
    wrong: [{ reply: "Done.", changes: { "docs/old/en/guide.md": null, "guide.md": "# Guide\n" } }],
  },
  {
    name: "move-inbox-to-done",
    prompt: "Move everything that is in inbox over to done.",
    files: { "inbox/bill.eml": "Please pay.\n", "inbox/greeting.eml": "Hello!\n", "inbox/scan.pdf": "%PDF\n", "done/older.eml": "Thanks.\n", "outbox/reply.eml": "Soon.\n" },
    disk: { "inbox/bill.eml": null, "inbox/greeting.eml": null, "inbox/scan.pdf": null, "done/bill.eml": "Please pay.\n", "done/greeting.eml": "Hello!\n", "done/scan.pdf": "%PDF\n" },
    solution: { reply: "All three files are in done." },
    wrong: [{ reply: "Done.", changes: { "inbox/bill.eml": null, "inbox/greeting.eml": null, "done/bill.eml": "Please pay.\n", "done/greeting.eml": "Hello!\n" } }, { reply: "Done.", changes: { "inbox/bill.eml": null, "inbox/greeting.eml": null, "inbox/scan.pdf": null, "done/inbox/bill.eml": "Please pay.\n", "done/inbox/greeting.eml": "Hello!\n", "done/inbox/scan.pdf": "%PDF\n" } }],
  },
]);
