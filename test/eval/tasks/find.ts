// Tasks: where is it.
import { tasksOf } from "../task.ts";

const code = {
  "app/main.py": "from app.mail import send_mail\n\ndef run():\n    send_mail('hello')\n",
  "app/mail.py": "import smtplib\n\n\ndef send_mail(text):\n    return smtplib\n",
  "app/report.py": "def build_report():\n    return 'report'\n",
  "tests/test_report.py": "from app.report import build_report\n",
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
]);
