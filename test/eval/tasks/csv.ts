// Tasks: read and change tables of comma-separated values.
import { tasksOf } from "../task.ts";

const stock = "item,count,shelf\nnails,120,A1\nscrews,80,A2\nhinges,15,B1\nhooks,40,B2\n";
const runs = "date,km\n2026-01-03,5.5\n2026-01-10,8.0\n2026-01-17,12.5\n2026-01-24,4.0\n";
const people = "town,people\nElm,310\nOak,1250\nAsh,75\nFir,640\n";
const sorted = "town,people\nOak,1250\nFir,640\nElm,310\nAsh,75\n";

export const csvTasks = tasksOf("csv", [
  {
    name: "csv-change-cell",
    prompt: "We have 95 screws now, update stock.csv.",
    files: { "stock.csv": stock },
    disk: { "stock.csv": stock.replace("screws,80", "screws,95") },
    solution: { reply: "Updated." },
    wrong: [{ reply: "Updated.", changes: { "stock.csv": stock.replace("nails,120", "nails,95") } }],
  },
  {
    name: "csv-sum-column",
    prompt: "How many kilometres are in runs.csv altogether?",
    files: { "runs.csv": runs },
    says: [/\b30(\.0+)?\b(?!\.\d)/],
    not: [/\b(29|31)(\.\d)?\b/],
    solution: { reply: "30 km" },
    alsoRight: ["The total is 30.0 kilometres.", "5.5 + 8.0 + 12.5 + 4.0 = 30"],
    wrong: ["29.5 km", "26 km", "4 runs"],
  },
  {
    name: "csv-remove-row",
    prompt: "remove the hinges row from stock.csv",
    files: { "stock.csv": stock },
    disk: { "stock.csv": stock.replace("hinges,15,B1\n", "") },
    solution: { reply: "Removed." },
    wrong: [{ reply: "Removed.", changes: { "stock.csv": stock.replace("hinges,15,B1\n", "\n") } }, { reply: "Removed.", changes: { "stock.csv": stock.replace("hinges,15,B1", ",,") } }],
  },
  {
    name: "csv-order-rows",
    prompt: "Sort towns.csv by the number of people, biggest first. Keep the header.",
    files: { "towns.csv": people },
    disk: { "towns.csv": sorted },
    solution: { reply: "Sorted." },
    wrong: [{ reply: "Sorted.", changes: { "towns.csv": "town,people\nAsh,75\nElm,310\nFir,640\nOak,1250\n" } }, { reply: "Sorted.", changes: { "towns.csv": "town,people\nAsh,75\nFir,640\nElm,310\nOak,1250\n" } }],
  },
]);
