// Tasks: what differs between two things.
import { tasksOf } from "../task.ts";

const oldList = "bread\nmilk\nsalt\nrice\napples\n";
const staging = "host = db1\nport = 5432\npool = 10\ntimeout = 30\n";
const lease = "Tenant: R. Okafor\nRent: 850 euros a month\nDeposit: 1200 euros\nNotice: 2 months\nPets: two cats\n";

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
    alsoRight: ["- host\n- pool", "`host` (db1, db7) and `pool` (10, 50)"],
    wrong: ["pool", "host, port, pool and timeout"],
  },
  {
    name: "compare-odd-one",
    prompt: "Two of these three text files are exactly the same. Which one is different from the others?",
    files: { "north.txt": "alpha\nbeta\ngamma\ndelta\n", "east.txt": "alpha\nbeta\ngamna\ndelta\n", "west.txt": "alpha\nbeta\ngamma\ndelta\n" },
    says: [/\beast\b/i],
    not: [/all the same|identical\W*$/i],
    holds: (reply) => {
      const names = reply.replaceAll(".txt", "");
      if (!/\b(north|west)\b/i.test(names)) return true;
      return /\beast\b[^.]*\b(differ|odd)|(different|odd)[^.]*\beast\b/i.test(names) && !/\b(north|west) (is|differs)\b(?! the same| identical)|(different|odd)( one| file)?( is|:) (north|west)/i.test(names);
    },
    solution: { reply: "east.txt is different from the others." },
    alsoRight: ["east.txt", "The different file is `east.txt`.", "east.txt has \"gamna\" where north.txt and west.txt have \"gamma\"; it differs from them."],
    wrong: ["north.txt is different from the others.", "east.txt and west.txt are the same, north.txt differs.", "The different file is west.txt.", "They are all the same."],
  },
  {
    name: "compare-bigger-total",
    prompt: "Did we sell more in march.csv or in april.csv, counting all the units? Tell me the month and its total.",
    files: { "march.csv": "item,units\npen,40\nbook,13\nlamp,9\n", "april.csv": "item,units\npen,22\nbook,35\nlamp,11\n" },
    says: ["april", "68"],
    not: [/march (sold|had|was|is) (more|higher|bigger)/i, /more (units )?in march/i],
    solution: { reply: "April: 68 units." },
    alsoRight: ["In April: 68 units, against 62 in March.", "You sold more in April (68) than in March (62)."],
    wrong: ["March: 62 units.", "You sold more in March: 62, against 68 in April... more in March.", "April with 58."],
  },
  {
    name: "compare-two-leases",
    prompt: "What is different in lease-2026.txt compared to lease-2025.txt? Tell me what it was and what it is now.",
    files: { "lease-2025.txt": lease, "lease-2026.txt": lease.replace("850", "890").replace("2 months", "3 months") },
    says: ["850", "890", /\b(2|two)\b/i, /\b(3|three) months?\b/i],
    not: [/890( euros?)?( a month| per month)? (to|->|→) 850/i, /850( euros?)?( a month| per month)? in (lease-)?2026/i],
    holds: (reply) => reply.split(/[.;\n]/).every((part) => !/\b(deposit|pets|cats)\b/i.test(part) || /same|unchanged|not change|remain|stay|identical|no (other )?(change|difference)/i.test(part)),
    solution: { reply: "The rent went from 850 to 890 euros a month, and the notice from 2 months to 3 months." },
    alsoRight: ["- Rent: 850 → 890 euros\n- Notice: 2 months → 3 months\n\nThe tenant, the deposit and the pets are the same.", "In lease-2026.txt the rent is 890 (was 850) and the notice period three months instead of two."],
    wrong: ["The rent went from 850 to 890 euros.", "The rent fell from 890 to 850 and the notice went from 3 months to 2 months.", "Rent 850 to 890, deposit 1200 to 1300, notice 2 months to 3 months"],
  },
]);
