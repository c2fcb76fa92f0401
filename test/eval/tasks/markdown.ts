// Tasks: change Markdown.
import { tasksOf } from "../task.ts";

const readme = "# Kettle\n\nBoils water.\n\n## Use\n\nPress the button.\n\n## License\n\nMIT\n";
const chores = "# Chores\n\n- [ ] sweep\n- [x] dishes\n- [ ] windows\n- [ ] bins\n";
const table = "| port | use |\n| --- | --- |\n| 80 | web |\n| 22 | shell |\n";
const links = "# Links\n\nSee [the guide](guide.md) and [the terms](terms.md).\nMore in [the guide](guide.md#more).\n";
const descaling = "# Descaling\n\nIt takes an hour.\n\n## Steps\n\n- fill the tank\n- add the vinegar\n- wait\n- rinse twice\n\n## Parts\n\n- tank\n- filter\n";
const club = "# Rowing club\n\nOn the lake since 1952.\n\n## Contact\n\nKarin Holm, 0301 555 20\n\n## Training\n\nTuesdays at six.\n\n## Fees\n\n120 a year.\n";
const clubContact = "## Contact\n\nKarin Holm, 0301 555 20\n";

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
  {
    name: "markdown-number-list",
    prompt: "In descaling.md turn the list of steps into a numbered list. The parts keep their bullets.",
    files: { "descaling.md": descaling },
    disk: { "descaling.md": (text) => /^(1[.)] +f.*\n2[.)] +a.*\n3[.)] +w.*\n4[.)] +r|1[.)] +f.*\n1[.)] +a.*\n1[.)] +w.*\n1[.)] +r)/m.test(text) && text.trimEnd().replace(/^\d[.)] +/gm, "- ") === descaling.trimEnd() && text.trimEnd().endsWith("## Parts\n\n- tank\n- filter") },
    solution: { reply: "The steps are numbered.", changes: { "descaling.md": descaling.replace("- fill", "1. fill").replace("- add", "2. add").replace("- wait", "3. wait").replace("- rinse", "4. rinse") } },
    wrong: [{ reply: "Done.", changes: { "descaling.md": descaling.replace("- fill", "1. fill").replace("- add", "2. add").replace("- wait", "3. wait").replace("- rinse", "4. rinse").replace("- tank", "1. tank").replace("- filter", "2. filter") } }, { reply: "Done.", changes: { "descaling.md": descaling.replace("- fill", "- 1. fill").replace("- add", "- 2. add").replace("- wait", "- 3. wait").replace("- rinse", "- 4. rinse") } }],
  },
  {
    name: "markdown-last-section",
    prompt: "The Contact section of club.md should come last, after the fees. Can you move it there?",
    files: { "club.md": club },
    disk: { "club.md": (text) => text.replace(/\n{2,}/g, "\n").trim() === `${club.replace(`${clubContact}\n`, "")}${clubContact}`.replace(/\n{2,}/g, "\n").trim() },
    solution: { reply: "Contact comes last now.", changes: { "club.md": `${club.replace(`${clubContact}\n`, "")}\n${clubContact}` } },
    wrong: [{ reply: "Done.", changes: { "club.md": `${club}\n${clubContact}` } }, { reply: "Done.", changes: { "club.md": club.replace(`${clubContact}\n`, "") } }, { reply: "Done.", changes: { "club.md": `${club.replace("## Contact\n\n", "")}\n## Contact\n` } }],
  },
]);
