// Tasks: read a file and answer.
import { tasksOf } from "../task.ts";

const invoices = "Invoice 2290\n  amount: 410.00\n  due: 2026-02-28\n\nInvoice 2291\n  amount: 87.50\n  due: 2026-03-14\n\nInvoice 2292\n  amount: 87.50\n  due: 2026-04-02\n";
const plants = "# Plants\n\n| plant | water every | light |\n| --- | --- | --- |\n| fern | 3 days | shade |\n| cactus | 21 days | full sun |\n| ivy | 5 days | half shade |\n";
const compose = "services:\n  web:\n    image: nginx:1.27\n    ports: [\"8080:80\"]\n  cache:\n    image: redis:7.4\n  store:\n    image: postgres:16.3\n";
const limiter = "RATE = 40\nBURST = 12\n\ndef allowed(count, burst=BURST):\n    if count > RATE + burst:\n        raise ValueError('slow down')\n    return True\n";
const buses = "Line 12, from Harbour\n\nWeekdays  06:10 07:40 09:10 17:25 21:55\nSaturday  08:00 11:30 16:00 20:15\nSunday    10:20 13:05 18:35\n";
const backoff = "const base = 250;\nconst limit = 60000;\n\nexport function delay(attempt) {\n  return Math.min(limit, base * 2 ** attempt);\n}\n";

export const readTasks = tasksOf("read", [
  {
    name: "read-invoice-due",
    prompt: "When is invoice 2291 due? It's in invoices.txt.",
    files: { "invoices.txt": invoices, "letter.txt": "Please pay by 2026-01-31.\n" },
    says: [/2026-03-14|\b14(th)?( of)? March\b|March 14|\b14[./]0?3[./]2026/i],
    not: [/2026-02-28|February 28|28 February/i, /2026-04-02|April 2|2 April/i, /2026-01-31/],
    solution: { reply: "Invoice 2291 is due on 2026-03-14." },
    alsoRight: ["It's due March 14, 2026.", "**14 March 2026**"],
    wrong: ["It is due on 2026-04-02.", "The dates are 2026-02-28, 2026-03-14 and 2026-04-02."],
  },
  {
    name: "read-plant-water",
    prompt: "how often does the ivy need water according to plants.md",
    files: { "plants.md": plants },
    says: [/(5|five) days|5th day|fifth day/i],
    not: [/\b3 days/i, /\b21 days/i],
    solution: { reply: "Every 5 days." },
    alsoRight: ["The ivy needs water every five days.", "every `5 days`"],
    wrong: ["Every 3 days.", "fern 3 days, cactus 21 days, ivy 5 days"],
  },
  {
    name: "read-image-version",
    prompt: "Which version of Redis does compose.yaml use?",
    files: { "compose.yaml": compose },
    says: ["7.4"],
    not: ["1.27", "16.3"],
    solution: { reply: "It uses Redis 7.4." },
    alsoRight: ["redis:7.4", "Version **7.4**."],
    wrong: ["Redis 7", "nginx 1.27, redis 7.4, postgres 16.3"],
  },
  {
    name: "read-error-raised",
    prompt: "What kind of exception does allowed() in limiter.py raise, and above which count does it do so if nothing but the count is passed?",
    files: { "limiter.py": limiter },
    says: ["ValueError", "52"],
    solution: { reply: "It raises a ValueError when the count is above 52." },
    alsoRight: ["If count is greater than RATE + BURST (40 + 12 = 52), a `ValueError` is raised."],
    wrong: ["It raises a ValueError above 40.", "A TypeError above 52.", "It raises ValueError when count > RATE + burst."],
  },
  {
    name: "read-last-sunday-bus",
    prompt: "what time does the last bus from Harbour leave on a Sunday? it's in timetable.txt",
    files: { "timetable.txt": buses },
    says: [/\b(18|6)[:.h]35\b/],
    holds: (reply) => !/\b(21|9)[:.]55|\b(20|8)[:.]15|\b10[:.]20|\b(13|1)[:.]05/.test(reply) || /\blast\b[^\n]{0,80}\b(18|6)[:.h]35|\b(18|6)[:.h]35\b[^\n]{0,40}\blast\b/i.test(reply),
    solution: { reply: "The last bus on Sunday leaves at 18:35." },
    alsoRight: ["6:35 pm", "Sunday buses leave at 10:20, 13:05 and 18:35, so the last one is at **18:35**."],
    wrong: ["The last bus leaves at 21:55.", "At 20:15.", "10:20, 13:05 or 18:35"],
  },
  {
    name: "read-delay-formula",
    prompt: "Which number does delay(3) in backoff.js give?",
    files: { "backoff.js": backoff },
    says: [/\b2[,.]?000\b/],
    solution: { reply: "It gives 2000." },
    alsoRight: ["min(60000, 250 * 2 ** 3) = 2000", "`delay(3)` returns 2,000."],
    wrong: ["It gives 1500.", "60000", "It returns base * 2 ** 3."],
  },
]);
