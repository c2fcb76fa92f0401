// Tasks: change one place of a file.
import { tasksOf } from "../task.ts";

const page = "<html>\n<head><title>Old shop</title></head>\n<body>\n<h1>Old shop</h1>\n<p>Open from 9 to 17.</p>\n</body>\n</html>\n";
const makefile = "CFLAGS = -O0 -g\nLDFLAGS = -lm\n\nall: main.o\n\tcc -o main main.o $(LDFLAGS)\n\nclean:\n\trm -f *.o\n";
const letter = "Dear neighbours,\n\nthe street party is on Saturday the 6th.\nPlease bring a salad.\n\nYours,\nthe committee\n";
const retry = "def fetch(get):\n    attempts = 3\n    for attempt in range(attempts):\n        answer = get()\n        if answer:\n            return answer\n    return None\n";
const style = ".button {\n  color: white;\n  background: navy;\n}\n\n.menu {\n  color: white;\n  background: navy;\n}\n\n.menu a {\n  color: white;\n}\n";
const minutes = "Present: Clara, Jonas, Mira\nNotes: Clara\n\nClara opened the meeting at 18:00.\nThe fence will be painted in May.\n";

export const editOneTasks = tasksOf("edit-one", [
  {
    name: "edit-title-only",
    prompt: "In page.html change the title in the head to \"New shop\". Leave the h1 as it is.",
    files: { "page.html": page },
    disk: { "page.html": page.replace("<title>Old shop", "<title>New shop") },
    solution: { reply: "Done." },
    wrong: [{ reply: "Done.", changes: { "page.html": page.replaceAll("Old shop", "New shop") } }],
  },
  {
    name: "edit-flag",
    prompt: "switch the Makefile from -O0 to -O2",
    files: { Makefile: makefile },
    disk: { Makefile: makefile.replace("-O0", "-O2") },
    solution: { reply: "The Makefile uses -O2 now." },
    wrong: [{ reply: "Done.", changes: { Makefile: makefile.replace("-O0", "-O2").replaceAll("\t", "    ") } }, { reply: "Done.", changes: { Makefile: makefile.replace("-O0 -g", "-O2") } }],
  },
  {
    name: "edit-party-date",
    prompt: "The party moved to Sunday the 14th, please correct letter.txt.",
    files: { "letter.txt": letter },
    disk: { "letter.txt": letter.replace("Saturday the 6th", "Sunday the 14th") },
    solution: { reply: "Corrected." },
    wrong: [{ reply: "Corrected.", changes: { "letter.txt": "the street party is on Sunday the 14th.\n" } }],
  },
  {
    name: "edit-default-value",
    prompt: "Make fetch in retry.py try 5 times instead of 3.",
    files: { "retry.py": retry, "readme.txt": "fetch tries 3 times\n" },
    disk: { "retry.py": retry.replace("= 3", "= 5") },
    solution: { reply: "It tries 5 times now." },
    wrong: [{ reply: "It tries 5 times now.", changes: { "retry.py": retry.replace("range(attempts)", "range(4)") } }],
  },
  {
    name: "edit-style-rule",
    prompt: "In style.css change the background of .menu from navy to darkgreen.",
    files: { "style.css": style },
    disk: { "style.css": style.replace(".menu {\n  color: white;\n  background: navy;", ".menu {\n  color: white;\n  background: darkgreen;") },
    solution: { reply: "The menu is dark green." },
    wrong: [{ reply: "Done.", changes: { "style.css": style.replaceAll("navy", "darkgreen") } }, { reply: "Done.", changes: { "style.css": style.replace("navy", "darkgreen") } }, { reply: "Done.", changes: { "style.css": ".menu {\n  color: white;\n  background: darkgreen;\n}\n" } }],
  },
  {
    name: "edit-note-taker",
    prompt: "it was Jonas who took the notes, not Clara. can you correct that in minutes.txt",
    files: { "minutes.txt": minutes },
    disk: { "minutes.txt": minutes.replace("Notes: Clara", "Notes: Jonas") },
    solution: { reply: "Corrected." },
    wrong: [{ reply: "Corrected.", changes: { "minutes.txt": minutes.replaceAll("Clara", "Jonas") } }, { reply: "Corrected.", changes: { "minutes.txt": minutes.replace("Clara", "Jonas") } }],
  },
]);
