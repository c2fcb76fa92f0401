// Tasks: where is it.
import { tasksOf } from "../task.ts";

const code = {
  "app/main.py": "from app.mail import send_mail\n\ndef run():\n    send_mail('hello')\n",
  "app/mail.py": "import smtplib\n\n\ndef send_mail(text):\n    return smtplib\n",
  "app/report.py": "def build_report():\n    return 'report'\n",
  "tests/test_report.py": "from app.report import build_report\n",
};
const recipes = {
  "recipes/buns.md": "# Sunday buns\n\nflour, milk, yeast, butter, sugar, cardamom\n",
  "recipes/pie.md": "# Leek pie\n\nflour, butter, leek, cream, nutmeg\n",
  "recipes/soup.md": "# Red soup\n\nlentils, carrots, cumin, coriander\n",
  "recipes/crumble.md": "# Crumble\n\nplums, oats, butter, cinnamon\n",
};

export const findTasks = tasksOf("find", [
  {
    name: "find-definition",
    prompt: "In which file is send_mail defined?",
    files: code,
    says: ["mail.py"],
    not: [/main\.py/, /report\.py/],
    solution: { reply: "It is defined in app/mail.py." },
    wrong: ["It is defined in app/main.py.", "app/main.py or app/mail.py"],
  },
  {
    name: "find-secret-key",
    prompt: "I left an API key that starts with zk- somewhere in this project. Which file is it in?",
    files: { "src/index.js": "start();\n", "src/client.js": "const base = 'https://example.org';\n", "deploy/stage.env": "REGION=north\nTOKEN=zk-51ab77\n", "deploy/live.env": "REGION=south\nTOKEN=\n" },
    says: ["stage.env"],
    not: ["live.env", "client.js", "index.js"],
    solution: { reply: "deploy/stage.env" },
    wrong: ["deploy/live.env", "stage.env and live.env"],
  },
  {
    name: "find-line-number",
    prompt: "On which line of poem.txt does the word lantern appear?",
    files: { "poem.txt": "The road was long\nand the night was wide.\nNo star came up,\nno dog replied.\n\nThen by the mill\na lantern swung,\nand all the dark\nwas overrun.\n" },
    says: [/\b(7|seventh|seven)\b/i],
    not: [/\b(6|8|sixth|eighth|5)\b/i],
    solution: { reply: "Line 7." },
    alsoRight: ["The word lantern appears on line 7: \"a lantern swung,\"", "on the seventh line"],
    wrong: ["Line 6.", "Line 6 or 7", "In the second stanza."],
  },
  {
    name: "find-file-by-name",
    prompt: "where did i put budget.xlsx? give me the path",
    files: { "home/letters/tax.txt": "x", "home/archive/2022/budget.xlsx": "PK", "home/archive/2023/plan.xlsx": "PK", "home/budget-notes.txt": "see the sheet\n" },
    says: ["home/archive/2022/budget.xlsx"],
    not: [/2023/],
    solution: { reply: "It is at home/archive/2022/budget.xlsx." },
    wrong: ["home/archive/2023/budget.xlsx", "budget.xlsx"],
  },
  {
    name: "find-recipe-with-cardamom",
    prompt: "one of my recipes has cardamom in it, which one was that?",
    files: recipes,
    says: [/\bbuns\b/i],
    not: [/\b(pie|soup|crumble)\b/i],
    solution: { reply: "The Sunday buns (recipes/buns.md)." },
    alsoRight: ["`recipes/buns.md`", "It was Sunday buns."],
    wrong: ["recipes/crumble.md", "The buns and the pie.", "The Leek pie has cardamom."],
  },
  {
    name: "find-timeout-setting",
    prompt: "Somewhere in this project a timeout is set to 90. In which file, and on which line of it?",
    files: { "config/web.toml": "[server]\ntimeout = 30\nport = 8080\n", "config/jobs.toml": "[queue]\nname = \"night\"\nworkers = 2\ntimeout = 90\n\n[store]\nkeep = 14\n", "config/mail.toml": "[smtp]\nretries = 90\ntimeout = 45\n", "wait.sh": "sleep 90\n" },
    says: ["jobs.toml", /(?<![\w.])(4|four|fourth|4th)(?!\w|\.\d)/i],
    not: ["web.toml", "mail.toml", "wait.sh", /\blines? (?!4\b)\d/i],
    solution: { reply: "In config/jobs.toml, on line 4." },
    alsoRight: ["config/jobs.toml:4", "Line 4 of `jobs.toml` has `timeout = 90`.", "config/jobs.toml, the fourth line"],
    wrong: ["config/jobs.toml, line 3", "config/mail.toml, line 2", "In config/jobs.toml."],
  },
]);
