// Tasks: change Markdown.
import { tasksOf } from "../task.ts";

const readme = "# Kettle\n\nBoils water.\n\n## Use\n\nPress the button.\n\n## License\n\nMIT\n";
const chores = "# Chores\n\n- [ ] sweep\n- [x] dishes\n- [ ] windows\n- [ ] bins\n";
const table = "| port | use |\n| --- | --- |\n| 80 | web |\n| 22 | shell |\n";
const links = "# Links\n\nSee [the guide](guide.md) and [the terms](terms.md).\nMore in [the guide](guide.md#more).\n";

export const markdownTasks = tasksOf("markdown", [
  {
    name: "markdown-tick-box",
    prompt: "I have cleaned the windows, tick that in chores.md",
    files: { "chores.md": chores },
    disk: { "chores.md": chores.replace("[ ] windows", "[x] windows") },
    solution: { reply: "Ticked." },
    wrong: [{ reply: "Ticked.", changes: { "chores.md": chores.replaceAll("[ ]", "[x]") } }, { reply: "Ticked.", changes: { "chores.md": chores.replace("- [ ] windows\n", "") } }],
  },
  {
    name: "markdown-new-section",
    prompt: "Put a section \"Safety\" with the text \"Keep it upright.\" into README.md, between Use and License.",
    files: { "README.md": readme },
    disk: { "README.md": (text) => text.replace(/\n{2,}/g, "\n").trim() === readme.replace("## License", "## Safety\n\nKeep it upright.\n\n## License").replace(/\n{2,}/g, "\n").trim() },
    solution: { reply: "Done.", changes: { "README.md": readme.replace("## License", "## Safety\n\nKeep it upright.\n\n## License") } },
    wrong: [{ reply: "Done.", changes: { "README.md": `${readme}\n## Safety\n\nKeep it upright.\n` } }, { reply: "Done.", changes: { "README.md": readme.replace("## License", "Safety\nKeep it upright.\n\n## License") } }],
  },
  {
    name: "markdown-table-row",
    prompt: "Add port 25 for mail as the last row of the table in ports.md.",
    files: { "ports.md": table },
    disk: { "ports.md": (text) => text.trimEnd().replace(/\|\s*25\s*\|\s*mail\s*\|$/, "| 25 | mail |") === `${table}| 25 | mail |` },
    solution: { reply: "Added.", changes: { "ports.md": `${table}| 25 | mail |\n` } },
    wrong: [{ reply: "Added.", changes: { "ports.md": `${table}25 mail\n` } }, { reply: "Added.", changes: { "ports.md": `| 25 | mail |\n${table}` } }],
  },
  {
    name: "markdown-link-target",
    prompt: "guide.md was renamed to handbook.md. Correct the links in links.md (only where they point to, not the words).",
    files: { "links.md": links, "handbook.md": "# Handbook\n" },
    disk: { "links.md": links.replaceAll("(guide.md", "(handbook.md") },
    solution: { reply: "Both links point to handbook.md." },
    wrong: [{ reply: "Done.", changes: { "links.md": links.replace("(guide.md)", "(handbook.md)") } }, { reply: "Done.", changes: { "links.md": links.replaceAll("guide", "handbook") } }],
  },
]);
