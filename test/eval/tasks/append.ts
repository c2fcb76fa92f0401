// Tasks: something more in a file that keeps what it holds.
import { tasksOf } from "../task.ts";

const diary = "Monday: rain\nTuesday: sun\n";
const changes = "# Changes\n\n## 1.2\n\n- faster start\n\n## 1.1\n\n- first menu\n";
const ignore = "node_modules\n*.log";
const users = "id,name\n1,alpha\n2,beta\n";

export const appendTasks = tasksOf("append", [
  {
    name: "append-diary-line",
    prompt: "Add the line \"Wednesday: fog\" at the end of diary.txt.",
    files: { "diary.txt": diary },
    disk: { "diary.txt": `${diary}Wednesday: fog\n` },
    solution: { reply: "Added." },
    wrong: [{ reply: "Added.", changes: { "diary.txt": "Wednesday: fog\n" } }, { reply: "Added.", changes: { "diary.txt": `Wednesday: fog\n${diary}` } }],
  },
  {
    name: "append-ignore-entry",
    prompt: "add dist to .gitignore",
    files: { ".gitignore": ignore },
    disk: { ".gitignore": (text) => text.trimEnd().split("\n").join("|").replace("dist/", "dist") === "node_modules|*.log|dist" },
    solution: { reply: "Added.", changes: { ".gitignore": `${ignore}\ndist\n` } },
    wrong: [{ reply: "Added.", changes: { ".gitignore": `${ignore}dist\n` } }, { reply: "Added.", changes: { ".gitignore": "dist\n" } }],
  },
  {
    name: "append-changelog",
    prompt: "In CHANGES.md add the bullet \"smaller icons\" to version 1.2, below the one that's there.",
    files: { "CHANGES.md": changes },
    disk: { "CHANGES.md": changes.replace("- faster start\n", "- faster start\n- smaller icons\n") },
    solution: { reply: "Added." },
    wrong: [{ reply: "Added.", changes: { "CHANGES.md": `${changes}- smaller icons\n` } }],
  },
  {
    name: "append-csv-row",
    prompt: "Append a third user called gamma to users.csv, with the next id.",
    files: { "users.csv": users },
    disk: { "users.csv": `${users}3,gamma\n` },
    solution: { reply: "Appended." },
    wrong: [{ reply: "Appended.", changes: { "users.csv": `${users}gamma,3\n` } }, { reply: "Appended.", changes: { "users.csv": `${users}2,gamma\n` } }],
  },
]);
