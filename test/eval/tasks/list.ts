// Tasks: say what is in a folder.
import { tasksOf } from "../task.ts";

const mixed = { "a.py": "x = 1\n", "b.py": "y = 2\n", "notes.md": "# n\n", "data/c.py": "z = 3\n", "data/values.csv": "a,b\n1,2\n" };
const photos = { "photos/2023/beach.jpg": "1", "photos/2023/forest.jpg": "2", "photos/2024/lake.jpg": "3", "photos/2024/tower.png": "4", "index.html": "<p>photos</p>\n" };

export const listTasks = tasksOf("list", [
  {
    name: "list-folder-contents",
    prompt: "What files are in the photos/2024 folder?",
    files: photos,
    says: ["lake.jpg", "tower.png"],
    not: ["beach.jpg", "forest.jpg", "index.html"],
    solution: { reply: "lake.jpg and tower.png" },
    alsoRight: ["- lake.jpg\n- tower.png"],
    wrong: ["lake.jpg", "beach.jpg, forest.jpg, lake.jpg and tower.png"],
  },
  {
    name: "list-python-files",
    prompt: "List all Python files here, including the ones in subfolders.",
    files: mixed,
    says: ["a.py", "b.py", "c.py"],
    not: ["notes.md", "values.csv"],
    solution: { reply: "a.py, b.py and data/c.py" },
    wrong: ["a.py and b.py", "a.py, b.py, notes.md, data/c.py, data/values.csv"],
  },
  {
    name: "list-top-folders",
    prompt: "Which folders are there at the top level of this directory? Only the folders please.",
    files: { "backend/main.go": "package main\n", "frontend/app.js": "1;\n", "docs/guide.md": "# g\n", "Makefile": "all:\n", "LICENSE": "MIT\n" },
    says: ["backend", "frontend", "docs"],
    not: ["Makefile", "LICENSE", "main.go", "app.js", "guide.md"],
    solution: { reply: "backend, docs and frontend" },
    wrong: ["backend and frontend", "backend, docs, frontend, Makefile, LICENSE"],
  },
  {
    name: "list-largest-file",
    prompt: "Which of the text files in logs is the biggest?",
    files: { "logs/monday.txt": "ok\n".repeat(40), "logs/tuesday.txt": "ok\n".repeat(410), "logs/wednesday.txt": "ok\n".repeat(150), "logs/thursday.txt": "" },
    says: ["tuesday"],
    not: ["monday", "wednesday", "thursday"],
    solution: { reply: "tuesday.txt" },
    alsoRight: ["`logs/tuesday.txt` is the biggest file."],
    wrong: ["wednesday.txt", "tuesday.txt or wednesday.txt"],
  },
  {
    name: "list-dotfiles",
    prompt: "Which hidden files are in this folder, I mean the ones whose names begin with a dot?",
    files: { ".editorconfig": "root = true\n", ".nvmrc": "22\n", "index.js": "start();\n", "notes.md": "# n\n", "dot.txt": ".\n" },
    says: [".editorconfig", ".nvmrc"],
    not: ["index.js", "notes.md", "dot.txt"],
    solution: { reply: ".editorconfig and .nvmrc" },
    alsoRight: ["There are two hidden files:\n- `.editorconfig`\n- `.nvmrc`"],
    wrong: [".editorconfig", "There are no hidden files.", ".editorconfig, .nvmrc, dot.txt, index.js and notes.md"],
  },
]);
