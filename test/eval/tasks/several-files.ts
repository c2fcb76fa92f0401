// Tasks: what is asked for lies in several files, or goes into several.
import { tasksOf } from "../task.ts";

const header = "// (c) 2024 Kettle Works\n";

export const severalFilesTasks = tasksOf("several-files", [
  {
    name: "several-total-hours",
    prompt: "The folder weeks has one file per week with the hours worked. What's the sum of all hours?",
    files: { "weeks/01.txt": "hours: 38\n", "weeks/02.txt": "hours: 41\n", "weeks/03.txt": "hours: 35\n", "weeks/04.txt": "hours: 40\n" },
    says: ["154"],
    solution: { reply: "154 hours." },
    alsoRight: ["38 + 41 + 35 + 40 = 154"],
    wrong: ["114 hours.", "38 + 41 + 35 + 40", "155 hours"],
  },
  {
    name: "several-copyright-year",
    prompt: "Update the copyright year from 2024 to 2026 in all the .js files in src.",
    files: { "src/a.js": `${header}export const a = 2024;\n`, "src/b.js": `${header}export const b = 1;\n`, "src/lib/c.js": `${header}export const c = 2;\n`, "src/notes.txt": "(c) 2024\n", "index.js": header },
    disk: { "src/a.js": `${header.replace("2024", "2026")}export const a = 2024;\n`, "src/b.js": `${header.replace("2024", "2026")}export const b = 1;\n`, "src/lib/c.js": `${header.replace("2024", "2026")}export const c = 2;\n` },
    solution: { reply: "Updated in three files." },
    wrong: [{ reply: "Updated.", changes: { "src/a.js": `${header.replace("2024", "2026")}export const a = 2026;\n`, "src/b.js": `${header.replace("2024", "2026")}export const b = 1;\n`, "src/lib/c.js": `${header.replace("2024", "2026")}export const c = 2;\n` } }, { reply: "Updated.", changes: { "src/b.js": `${header.replace("2024", "2026")}export const b = 1;\n` } }],
  },
  {
    name: "several-importers",
    prompt: "Which files import from format.js?",
    files: { "format.js": "export const f = 1;\n", "table.js": "import { f } from './format.js';\n", "chart.js": "import { g } from './formats.js';\n", "print.js": "// uses no format.js\nexport const p = 1;\n", "views/page.js": "import { f } from '../format.js';\n" },
    says: ["table.js", "page.js"],
    not: [/chart\.js/, /print\.js/],
    solution: { reply: "table.js and views/page.js" },
    alsoRight: ["- table.js\n- views/page.js"],
    wrong: ["table.js", "table.js, chart.js, print.js and views/page.js", "table.js, views/page.js and print.js"],
  },
  {
    name: "several-join-parts",
    prompt: "join the three files in parts into one file story.txt, in the order one, two, three",
    files: { "parts/one.txt": "Once there was a mill.\n", "parts/two.txt": "The wheel stood still.\n", "parts/three.txt": "Then came the rain.\n" },
    disk: { "story.txt": (text) => text.split("\n").filter((line) => line.trim() !== "").join("|") === "Once there was a mill.|The wheel stood still.|Then came the rain." },
    solution: { reply: "Joined.", changes: { "story.txt": "Once there was a mill.\nThe wheel stood still.\nThen came the rain.\n" } },
    wrong: [{ reply: "Joined.", changes: { "story.txt": "Once there was a mill.\nThen came the rain.\nThe wheel stood still.\n" } }, { reply: "Joined.", changes: { "story.txt": "one\ntwo\nthree\n" } }],
  },
  {
    name: "several-both-limits",
    prompt: "Set max_users to 50 in both conf/east.ini and conf/west.ini.",
    files: { "conf/east.ini": "[limits]\nmax_users = 20\n", "conf/west.ini": "[limits]\nmax_files = 20\nmax_users = 35\n", "conf/north.ini": "[limits]\nmax_users = 10\n" },
    disk: { "conf/east.ini": "[limits]\nmax_users = 50\n", "conf/west.ini": "[limits]\nmax_files = 20\nmax_users = 50\n" },
    solution: { reply: "Set in both." },
    wrong: [{ reply: "Set.", changes: { "conf/east.ini": "[limits]\nmax_users = 50\n" } }, { reply: "Set.", changes: { "conf/east.ini": "[limits]\nmax_users = 50\n", "conf/west.ini": "[limits]\nmax_files = 50\nmax_users = 50\n" } }],
  },
  {
    name: "several-oldest-entry",
    prompt: "Each file in boats describes a boat. Which boat was built first?",
    files: { "boats/tern.txt": "name: Tern\nbuilt: 1987\n", "boats/gull.txt": "name: Gull\nbuilt: 1979\nrebuilt: 2001\n", "boats/heron.txt": "name: Heron\nbuilt: 1991\nold name: Drake 1960\n" },
    says: ["Gull"],
    not: ["Tern", "Heron"],
    solution: { reply: "The Gull, in 1979." },
    alsoRight: ["Gull (boats/gull.txt), built in 1979."],
    wrong: ["The Tern, in 1987.", "Heron, Gull or Tern"],
  },
  {
    name: "several-title-list",
    prompt: "The first line of each file in poems is the title of the poem. Write the titles into titles.txt, one per line.",
    files: { "poems/mill.txt": "The Mill\n\nThe wheel stood still.\nThen came the rain.\n", "poems/fog.txt": "Harbour at Six\n\nNo mast, no gull.\n", "poems/03.txt": "A Heron\n\nIt waits, and so do I.\n" },
    disk: { "titles.txt": (text) => text.split("\n").map((line) => line.trim()).filter((line) => line !== "").toSorted().join("|") === "A Heron|Harbour at Six|The Mill" },
    solution: { reply: "Written.", changes: { "titles.txt": "A Heron\nHarbour at Six\nThe Mill\n" } },
    wrong: [{ reply: "Written.", changes: { "titles.txt": "mill\nfog\n03\n" } }, { reply: "Written.", changes: { "titles.txt": "A Heron\nThe Mill\n" } }, { reply: "A Heron, Harbour at Six, The Mill" }],
  },
  {
    name: "several-order-cost",
    prompt: "prices.csv says what each article costs and order.txt how many of them we want. what do we have to pay altogether?",
    files: { "prices.csv": "article,price\ncup,4\nplate,7\njug,15\nbowl,9\n", "order.txt": "6 cups\n3 plates\n2 jugs\n" },
    says: [/\b75\b/],
    solution: { reply: "75 altogether." },
    alsoRight: ["6 × 4 + 3 × 7 + 2 × 15 = 75", "You have to pay 75.00."],
    wrong: ["26 altogether.", "35", "6 × 4 + 3 × 7 + 2 × 15 = 85"],
  },
]);
