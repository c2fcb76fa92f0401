// Tasks: change INI and similar files, with their sections and comments as they are.
import { tasksOf } from "../task.ts";

const server = "; main server\n[web]\nport = 8000\nworkers = 2\n\n[admin]\nport = 8001\nworkers = 1\n";
const game = "[video]\nfullscreen=no\nwidth=1280\n\n[audio]\nvolume=70\n";
const env = "# local settings\nMODE=dev\nCACHE_SIZE=64\nCACHE_DIR=cache\n";
const toml = "[tool]\nname = \"press\"\n\n[tool.limits]\npages = 20\n# copies = 5\nink = \"black\"\n";

export const iniTasks = tasksOf("ini", [
  {
    name: "ini-section-port",
    prompt: "Change the port of the admin section in server.ini to 9001.",
    files: { "server.ini": server },
    disk: { "server.ini": server.replace("8001", "9001") },
    solution: { reply: "Changed." },
    wrong: [{ reply: "Changed.", changes: { "server.ini": server.replace("8000", "9001") } }, { reply: "Changed.", changes: { "server.ini": server.replace("8001", "9001").replace("; main server\n", "") } }],
  },
  {
    name: "ini-new-key",
    prompt: "add mute=no to the audio section of game.ini",
    files: { "game.ini": game },
    disk: { "game.ini": (text) => text.startsWith(game.slice(0, game.indexOf("volume"))) && text.slice(text.indexOf("[audio]")).replaceAll(" ", "").split("\n").filter((line) => line !== "").toSorted().join("|") === "[audio]|mute=no|volume=70" },
    solution: { reply: "Added.", changes: { "game.ini": `${game}mute=no\n` } },
    wrong: [{ reply: "Added.", changes: { "game.ini": game.replace("width=1280\n", "width=1280\nmute=no\n") } }, { reply: "Added.", changes: { "game.ini": `mute=no\n${game}` } }],
  },
  {
    name: "ini-environment-value",
    prompt: "CACHE_SIZE in settings.env should be 256.",
    files: { "settings.env": env },
    disk: { "settings.env": env.replace("CACHE_SIZE=64", "CACHE_SIZE=256") },
    solution: { reply: "It is 256 now." },
    wrong: [{ reply: "Done.", changes: { "settings.env": "CACHE_SIZE=256\n" } }, { reply: "Done.", changes: { "settings.env": `${env}CACHE_SIZE=256\n` } }],
  },
  {
    name: "ini-toml-comment",
    prompt: "In press.toml, the copies setting is commented out. Put it in force.",
    files: { "press.toml": toml },
    disk: { "press.toml": toml.replace("# copies", "copies") },
    solution: { reply: "copies is in force." },
    wrong: [{ reply: "Done.", changes: { "press.toml": toml.replace("# copies = 5", "# copies = 5\ncopies = 1") } }],
  },
]);
