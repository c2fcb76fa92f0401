// Tasks: a file that has to go, and none but it.
import { tasksOf } from "../task.ts";

export const removeTasks = tasksOf("remove", [
  {
    name: "remove-one-file",
    prompt: "Delete old-notes.txt.",
    files: { "old-notes.txt": "old\n", "notes.txt": "new\n" },
    disk: { "old-notes.txt": null },
    solution: { reply: "Deleted." },
    wrong: [{ reply: "Deleted.", changes: { "notes.txt": null } }, { reply: "Deleted.", changes: { "old-notes.txt": "" } }],
  },
  {
    name: "remove-temporary-files",
    prompt: "clean up: delete every .tmp file in here and below, nothing else",
    files: { "a.tmp": "1", "keep.txt": "k\n", "work/b.tmp": "2", "work/c.txt": "c\n", "work/deep/d.tmp": "3", "tmp.md": "# not temporary\n" },
    disk: { "a.tmp": null, "work/b.tmp": null, "work/deep/d.tmp": null },
    solution: { reply: "Three files deleted." },
    wrong: [{ reply: "Deleted.", changes: { "a.tmp": null } }, { reply: "Deleted.", changes: { "a.tmp": null, "work/b.tmp": null, "work/deep/d.tmp": null, "tmp.md": null } }],
  },
  {
    name: "remove-build-folder",
    prompt: "Remove the build folder with everything in it.",
    files: { "build/out.js": "1;\n", "build/map/out.map": "{}\n", "src/build.ts": "2;\n" },
    disk: { "build/out.js": null, "build/map/out.map": null },
    solution: { reply: "The build folder is gone." },
    wrong: [{ reply: "Gone.", changes: { "build/out.js": null } }],
  },
  {
    name: "remove-empty-files",
    prompt: "One of the files in inbox is empty. Delete that one.",
    files: { "inbox/a.txt": "letter\n", "inbox/b.txt": "card\n", "inbox/c.txt": "", "inbox/d.txt": "bill\n" },
    disk: { "inbox/c.txt": null },
    solution: { reply: "c.txt was empty and is deleted." },
    wrong: [{ reply: "Deleted.", changes: { "inbox/b.txt": null } }],
  },
]);
