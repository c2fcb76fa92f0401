// Tasks: one thing after another, the later from what the earlier gave.
import { pythonOutput } from "../execute.ts";
import { tasksOf, type Files } from "../task.ts";

const inventory = "apple 4\npear 0\nplum 9\nfig 0\nlime 2\n";
const gone = "fig\npear\n";
const makeCodes = "with open('codes.txt', 'w') as file:\n    for n in range(1, 13):\n        file.write(f'{n * n * 37 % 1000:03d}\\n')\n";
const history = "# History\n\n## 2.10.0 (2026-02-11)\n\n- a map of the stops\n\n## 2.9.4 (2025-11-30)\n\n- fewer delays\n\n## 2.9.3 (2025-09-02)\n\n- first release\n";
const ferry = "[app]\nname = \"ferry\"\nversion = \"2.9.3\"\n\n[needs]\nruntime = \"2.9.3\"\n";

/** Whichever way the tests are written: as bare assertions, as functions, or as cases of unittest. */
const everyTest = "import unittest\nimport test_calc\n\nfor name in dir(test_calc):\n    if name.startswith('test') and callable(getattr(test_calc, name)):\n        getattr(test_calc, name)()\nloaded = unittest.defaultTestLoader.loadTestsFromModule(test_calc)\nif not unittest.TextTestRunner().run(loaded).wasSuccessful():\n    raise SystemExit(1)\n";

function triples(files: Files): boolean {
  return pythonOutput({ ...files, "judge.py": "from calc import double, triple\nprint('judged', double(5), triple(5), triple(-1))\n" }, "judge.py")?.trimEnd().endsWith("judged 10 15 -3") === true;
}

/** Run as a program and test by test. */
function testPasses(files: Files): boolean {
  return pythonOutput(files, "test_calc.py") !== undefined && pythonOutput({ ...files, "judge.py": everyTest }, "judge.py") !== undefined;
}

export const severalStepsTasks = tasksOf("several-steps", [
  {
    name: "steps-follow-pointer",
    prompt: "start.txt names a file to read next, and so on. Follow the trail to its end and tell me the password.",
    files: { "start.txt": "Go on with notes/second.txt\n", "notes/second.txt": "Nothing here. See vault/third.txt\n", "vault/third.txt": "The password is maple-77\n", "vault/other.txt": "The password is birch-12\n" },
    says: ["maple-77"],
    not: ["birch-12"],
    solution: { reply: "The password is maple-77." },
    alsoRight: ["maple-77"],
    wrong: ["The password is birch-12.", "birch-12 or maple-77", "vault/third.txt"],
  },
  {
    name: "steps-extract-then-delete",
    prompt: "Write the names of the fruits with count 0 in inventory.txt into a new file missing.txt (sorted, one per line), then remove those lines from inventory.txt.",
    files: { "inventory.txt": inventory },
    disk: { "missing.txt": gone, "inventory.txt": "apple 4\nplum 9\nlime 2\n" },
    solution: { reply: "Done." },
    wrong: [{ reply: "Done.", changes: { "missing.txt": gone } }, { reply: "Done.", changes: { "missing.txt": "pear\nfig\n", "inventory.txt": "apple 4\nplum 9\nlime 2\n" } }],
  },
  {
    name: "steps-sort-folders",
    prompt: "Make folders text and pictures, move the .txt files into the first and the .png files into the second.",
    files: { "a.txt": "a\n", "b.txt": "b\n", "c.png": "c", "d.png": "d", "readme.md": "# r\n" },
    disk: { "a.txt": null, "b.txt": null, "c.png": null, "d.png": null, "text/a.txt": "a\n", "text/b.txt": "b\n", "pictures/c.png": "c", "pictures/d.png": "d" },
    solution: { reply: "Sorted." },
    wrong: [{ reply: "Sorted.", changes: { "a.txt": null, "text/a.txt": "a\n", "c.png": null, "pictures/c.png": "c" } }],
  },
  {
    name: "steps-add-function-and-test",
    prompt: "Add a function triple(n) to calc.py next to double, then write test_calc.py that asserts double(4) is 8 and triple(4) is 12, and run it.",
    files: { "calc.py": "def double(n):\n    return 2 * n\n" },
    disk: { "calc.py": (text) => text.includes("def double(n)") && text.includes("def triple("), "test_calc.py": (text) => /double\(4\)/.test(text) && /triple\(4\)/.test(text) },
    holds: (_reply, after) => triples(after) && testPasses(after) && !testPasses({ ...after, "calc.py": "def double(n):\n    return 2 * n\n\ndef triple(n):\n    return 0\n" }),
    solution: { reply: "Added, and the test passes.", changes: { "calc.py": "def double(n):\n    return 2 * n\n\n\ndef triple(n):\n    return 3 * n\n", "test_calc.py": "from calc import double, triple\n\nassert double(4) == 8\nassert triple(4) == 12\n" } },
    wrong: [
      { reply: "Done.", changes: { "calc.py": "def double(n):\n    return 2 * n\n\n\ndef triple(n):\n    return n ** 3\n", "test_calc.py": "from calc import double, triple\n\nassert double(4) == 8\nassert triple(4) == 12\n" } },
      { reply: "Done.", changes: { "calc.py": "def double(n):\n    return 2 * n\n\n\ndef triple(n):\n    return 3 * n\n", "test_calc.py": "# double(4) triple(4)\n" } },
    ],
  },
  {
    name: "steps-highest-then-note",
    prompt: "Find the hottest day in temps.csv and write just its date into hottest.txt.",
    files: { "temps.csv": "date,max\n2026-07-01,24\n2026-07-02,31\n2026-07-03,29\n2026-07-04,9\n" },
    disk: { "hottest.txt": "2026-07-02\n" },
    solution: { reply: "It was 2026-07-02." },
    wrong: [{ reply: "It was 2026-07-04.", changes: { "hottest.txt": "2026-07-04\n" } }, { reply: "2026-07-02" }, { reply: "Done.", changes: { "hottest.txt": "2026-07-02,31\n" } }],
  },
  {
    name: "steps-back-up-edit",
    prompt: "First back up app.conf as app.conf.bak, then set debug to on in app.conf.",
    files: { "app.conf": "name = app\ndebug = off\nverbose = off\n" },
    disk: { "app.conf.bak": "name = app\ndebug = off\nverbose = off\n", "app.conf": "name = app\ndebug = on\nverbose = off\n" },
    solution: { reply: "Backed up and set." },
    wrong: [{ reply: "Done.", changes: { "app.conf": "name = app\ndebug = on\nverbose = off\n" } }, { reply: "Done.", changes: { "app.conf.bak": "name = app\ndebug = on\nverbose = off\n", "app.conf": "name = app\ndebug = on\nverbose = off\n" } }],
  },
  {
    name: "steps-run-and-filter",
    prompt: "run make_codes.py, it writes codes.txt. then delete the codes that begin with 3 from codes.txt",
    files: { "make_codes.py": makeCodes },
    disk: { "codes.txt": "037\n148\n592\n925\n813\n997\n700\n477\n" },
    solution: { reply: "Four codes are deleted." },
    wrong: [{ reply: "Done.", changes: { "codes.txt": "037\n148\n333\n592\n925\n332\n813\n368\n997\n700\n477\n328\n" } }, { reply: "Done.", changes: { "codes.txt": "148\n592\n925\n997\n700\n477\n" } }, { reply: "037 148 592 925 813 997 700 477" }],
  },
  {
    name: "steps-release-version",
    prompt: "Look up the latest release in history.md, set the version of the app in app.toml to it, and also write it into a new file VERSION (just the number).",
    files: { "history.md": history, "app.toml": ferry },
    disk: { "app.toml": ferry.replace("version = \"2.9.3\"", "version = \"2.10.0\""), VERSION: "2.10.0\n" },
    solution: { reply: "The version is 2.10.0 now." },
    wrong: [{ reply: "Done.", changes: { "app.toml": ferry.replaceAll("2.9.3", "2.10.0"), VERSION: "2.10.0\n" } }, { reply: "Done.", changes: { "app.toml": ferry.replace("2.9.3", "2.9.4"), VERSION: "2.9.4\n" } }, { reply: "Done.", changes: { "app.toml": ferry.replace("2.9.3", "2.10.0") } }],
  },
]);
