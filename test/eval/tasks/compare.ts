// Tasks: what differs between two things.
import { tasksOf } from "../task.ts";

const oldList = "bread\nmilk\nsalt\nrice\napples\n";
const staging = "host = db1\nport = 5432\npool = 10\ntimeout = 30\n";

export const compareTasks = tasksOf("compare", [
  {
    name: "compare-shopping-lists",
    prompt: "Which items are in new.txt but not in old.txt?",
    files: { "old.txt": oldList, "new.txt": "milk\nhoney\nrice\napples\nsoap\nbread\n" },
    says: ["honey", "soap"],
    not: ["milk", "rice", "apples", "bread", "salt"],
    solution: { reply: "honey and soap" },
    wrong: ["honey, soap and salt", "honey"],
  },
  {
    name: "compare-settings",
    prompt: "Compare staging.ini and live.ini: which settings have different values? Just their names.",
    files: { "staging.ini": staging, "live.ini": staging.replace("pool = 10", "pool = 50").replace("db1", "db7") },
    says: ["host", "pool"],
    not: ["port", "timeout"],
    solution: { reply: "host and pool" },
    wrong: ["pool", "host, port, pool and timeout"],
  },
  {
    name: "compare-odd-one",
    prompt: "Two of these three text files are exactly the same. Which one is different from the others?",
    files: { "north.txt": "alpha\nbeta\ngamma\ndelta\n", "east.txt": "alpha\nbeta\ngamna\ndelta\n", "west.txt": "alpha\nbeta\ngamma\ndelta\n" },
    holds: (reply) => /\beast(\.txt)? is( the)? (different|odd|one)|different[^.]*\beast|^east(\.txt)?[.\s]*$|\beast(\.txt)?[^.]*\bdiffer/i.test(reply) && !/\b(north|west)(\.txt)? is( the)? (different|odd|one)|(different|odd)( one| file)?( is|:) (north|west)/i.test(reply),
    solution: { reply: "east.txt is different from the others." },
    wrong: ["north.txt is different from the others.", "The different file is west.txt.", "They are all the same."],
  },
  {
    name: "compare-bigger-total",
    prompt: "Did we sell more in march.csv or in april.csv, counting all the units? Tell me the month and its total.",
    files: { "march.csv": "item,units\npen,40\nbook,13\nlamp,9\n", "april.csv": "item,units\npen,22\nbook,35\nlamp,11\n" },
    says: ["april", "68"],
    not: [/march (sold|had|was|is) (more|higher|bigger)/i, /more (units )?in march/i],
    solution: { reply: "April: 68 units." },
    wrong: ["March: 62 units.", "You sold more in March: 62, against 68 in April... more in March.", "April with 58."],
  },
]);
