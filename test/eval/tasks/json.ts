// Tasks: change JSON. Judged by the value, not by how it is laid out.
import { tasksOf } from "../task.ts";

const manifest = `${JSON.stringify({ name: "shop", version: "1.4.2", scripts: { start: "node main.js" }, dependencies: { left: "2.0.0", right: "3.1.0" } }, null, 2)}\n`;
const menu = `${JSON.stringify({ items: [{ dish: "soup", price: 4.5 }, { dish: "pie", price: 6 }, { dish: "tea", price: 2 }] }, null, 2)}\n`;
const flags = '{\n  "darkMode": false,\n  "beta": false,\n  "limits": { "rows": 100, "beta": false }\n}\n';
const places = '{"cities":[{"name":"Rome","visited":true},{"name":"Lima","visited":false},{"name":"Cairo","visited":true}]}\n';
const team = `${JSON.stringify({ members: [{ name: "Ida", mail: "ida@mail.example", mailbox: "B2" }, { name: "Tom", mail: "tom@mail.example", mailbox: "B7" }] }, null, 2)}\n`;
const site = '{\n  "title": "Harbour Museum",\n  "languages": ["en", "de"],\n  "fallback": ["en", "de"]\n}\n';

/** Whether the text is JSON of just this value, its keys in any order. */
function isJson(text: string, expected: unknown): boolean {
  try {
    return Bun.deepEquals(JSON.parse(text), expected, true);
  } catch {
    return false;
  }
}

export const jsonTasks = tasksOf("json", [
  {
    name: "json-bump-version",
    prompt: "Set the version in package.json to 1.5.0.",
    files: { "package.json": manifest },
    disk: { "package.json": (text) => isJson(text, { ...JSON.parse(manifest), version: "1.5.0" }) },
    solution: { reply: "Set.", changes: { "package.json": manifest.replace("1.4.2", "1.5.0") } },
    wrong: [{ reply: "Set.", changes: { "package.json": manifest.replace("2.0.0", "1.5.0") } }, { reply: "Set.", changes: { "package.json": manifest.replace('"1.4.2"', "1.5.0") } }],
  },
  {
    name: "json-add-script",
    prompt: "add a script \"test\" with the command \"node test.js\" to package.json",
    files: { "package.json": manifest },
    disk: { "package.json": (text) => isJson(text, { ...JSON.parse(manifest), scripts: { start: "node main.js", test: "node test.js" } }) },
    solution: { reply: "Added.", changes: { "package.json": manifest.replace('"start": "node main.js"', '"start": "node main.js",\n    "test": "node test.js"') } },
    wrong: [{ reply: "Added.", changes: { "package.json": manifest.replace('"node main.js"', '"node main.js"\n    "test": "node test.js"') } }, { reply: "Added.", changes: { "package.json": manifest.replace('"start": "node main.js"', '"test": "node test.js"') } }],
  },
  {
    name: "json-nested-flag",
    prompt: "In flags.json switch beta on, but only the one at the top, not the one under limits.",
    files: { "flags.json": flags },
    disk: { "flags.json": (text) => isJson(text, { darkMode: false, beta: true, limits: { rows: 100, beta: false } }) },
    solution: { reply: "Switched on.", changes: { "flags.json": flags.replace('"beta": false,', '"beta": true,') } },
    wrong: [{ reply: "On.", changes: { "flags.json": flags.replaceAll('"beta": false', '"beta": true') } }, { reply: "On.", changes: { "flags.json": flags.replace('"beta": false,', '"beta": "true",') } }],
  },
  {
    name: "json-drop-item",
    prompt: "Take Lima out of the list in places.json.",
    files: { "places.json": places },
    disk: { "places.json": (text) => isJson(text, { cities: [{ name: "Rome", visited: true }, { name: "Cairo", visited: true }] }) },
    solution: { reply: "Lima is out.", changes: { "places.json": places.replace('{"name":"Lima","visited":false},', "") } },
    wrong: [{ reply: "Out.", changes: { "places.json": places.replace('{"name":"Lima","visited":false}', "") } }, { reply: "Out.", changes: { "places.json": '{"cities":[]}' } }],
  },
  {
    name: "json-menu-price",
    prompt: "The pie in menu.json costs 6.75 now. Also add coffee for 2.5 as the last item.",
    files: { "menu.json": menu },
    disk: { "menu.json": (text) => isJson(text, { items: [{ dish: "soup", price: 4.5 }, { dish: "pie", price: 6.75 }, { dish: "tea", price: 2 }, { dish: "coffee", price: 2.5 }] }) },
    solution: { reply: "Done.", changes: { "menu.json": JSON.stringify({ items: [{ dish: "soup", price: 4.5 }, { dish: "pie", price: 6.75 }, { dish: "tea", price: 2 }, { dish: "coffee", price: 2.5 }] }, null, 2) } },
    wrong: [{ reply: "Done.", changes: { "menu.json": menu.replace("6", "6.75") } }],
  },
  {
    name: "json-write-from-text",
    prompt: "Turn phones.txt into phones.json: one object with the names as keys and the numbers as strings.",
    files: { "phones.txt": "kitchen: 0101\noffice: 0202\ngate: 0303\n" },
    disk: { "phones.json": (text) => isJson(text, { kitchen: "0101", office: "0202", gate: "0303" }) },
    solution: { reply: "Written.", changes: { "phones.json": '{"kitchen":"0101","office":"0202","gate":"0303"}\n' } },
    wrong: [{ reply: "Written.", changes: { "phones.json": '{"kitchen":101,"office":202,"gate":303}\n' } }, { reply: '{"kitchen":"0101","office":"0202","gate":"0303"}' }],
  },
  {
    name: "json-change-key",
    prompt: "The key \"mail\" in team.json should be called \"email\", for each of the members.",
    files: { "team.json": team },
    disk: { "team.json": (text) => isJson(text, { members: [{ name: "Ida", email: "ida@mail.example", mailbox: "B2" }, { name: "Tom", email: "tom@mail.example", mailbox: "B7" }] }) },
    solution: { reply: "Changed.", changes: { "team.json": team.replaceAll('"mail":', '"email":') } },
    wrong: [{ reply: "Changed.", changes: { "team.json": team.replaceAll("mail", "email") } }, { reply: "Changed.", changes: { "team.json": team.replace('"mail":', '"email":') } }],
  },
  {
    name: "json-add-language",
    prompt: "put \"fr\" into the languages of site.json, between \"en\" and \"de\"",
    files: { "site.json": site },
    disk: { "site.json": (text) => isJson(text, { title: "Harbour Museum", languages: ["en", "fr", "de"], fallback: ["en", "de"] }) },
    solution: { reply: "It is in.", changes: { "site.json": site.replace('["en", "de"]', '["en", "fr", "de"]') } },
    wrong: [{ reply: "Done.", changes: { "site.json": site.replaceAll('["en", "de"]', '["en", "fr", "de"]') } }, { reply: "Done.", changes: { "site.json": site.replace('["en", "de"]', '["en", "de", "fr"]') } }],
  },
]);
