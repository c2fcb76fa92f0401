// Which category each call of the executable falls under, and which level asks for it no more (sidecar.md 7.1, 7.2; S-56 to S-58).
import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import type { ScriptItem } from "../support/scripted.ts";
import { answer, endsWell, ok, payloadsOf, question, read, resultsOf, shell, write } from "../support/sidecar-calls.ts";
import { checkSeen, hostOfExecutable, type SidecarHost } from "../support/sidecar-host.ts";
import { makeWorkspace, type Workspace } from "../support/workspace.ts";

const edit = (path: string): ScriptItem => ({ call: "fs.edit", args: { path, oldText: "old", newText: "new" } });
const trash = (...paths: string[]): ScriptItem => ({ call: "fs.trash", args: { paths } });
const skill = (name: string): string => `---\nname: ${name}\ndescription: about ${name}\nrequires_scripts: [run.sh]\n---\nBody.\n`;

interface Row {
  category: string;
  /** Lowest level that asks no more. */
  silentFrom: number;
  call: ScriptItem;
}

/** Every row of 7.1 with a tool, off the table; what is run is harmless should it be run. */
function rows(host: SidecarHost, outside: Workspace, isConfined: boolean): Row[] {
  const state = (name: string): string => host.folder.at(`state/${name}`);
  const of = (category: string, silentFrom: number, ...calls: ScriptItem[]): Row[] => calls.map((call) => ({ category, silentFrom, call }));
  return [
    ...of("fs_write_workspace", 2, write("w.txt"), edit("edited.txt"), write(".env")),
    ...of("fs_write_home", 3, write("~/w.txt"), edit(host.folder.at("edited.txt"))),
    ...of("fs_trash", 2, trash("one.txt", "two.txt")),
    ...of("fs_trash", 3, trash("three.txt", host.folder.at("home.txt"))),
    ...of("shell", isConfined ? 2 : 5, shell("echo plain > made"), shell("cat edited.txt")),
    // A danger is asked for whether or not it is confined.
    ...of("shell", isConfined ? 4 : 5, shell("rm -rf tree")),
    ...of("script", isConfined ? 4 : 5, shell(`sh ${state("skills/glob/scripts/run.sh")}`)),
    ...of("proc_kill", isConfined ? 4 : 5, shell("kill -l"), shell("pkill -x no-such-program")),
    ...of("git_remote", isConfined ? 4 : 5, shell("git push"), shell("git remote add a ./b"), shell("git remote set-url a ./b")),
    ...of("publish", isConfined ? 4 : 5, shell("npm publish --dry-run ./none"), shell("gh issue create --none"), shell("gh release create none")),
    ...of("browser_nonweb", 5, shell("xdg-open ./none.pdf")),
    ...of("trust_config", 5, write(state("config.json"), "{}"), edit(state(".env")), shell(`echo '{}' > ${state("config.json")}`), trash(state("config.json")), { call: "skill.view", args: { name: "proj" } }),
    ...of("email", 5, shell("mutt -v")),
    ...of("fs_read_outside", 5, read(outside.at("edited.txt")), ...["fs.list", "fs.find", "fs.grep"].map((call): ScriptItem => ({ call, args: { path: outside.at("folder"), ...(call === "fs.list" ? {} : { pattern: "x" }) } })), read(state(".env"))),
    ...of("other", 5, write(outside.at("w.txt")), edit(outside.at("edited.txt")), trash(outside.at("gone.txt"))),
  ];
}

/** Answers every question of a turn with no. @returns for each call the category that was asked, in the order of the calls */
async function askedOf(host: SidecarHost, from: number): Promise<(string | undefined)[]> {
  const turn = host.message();
  for (let index = payloadsOf(host, "approval_request").length; ; index++) {
    const frame = await host.frame(({ correlationId, kind, type }) => (kind === "response" && correlationId === turn) || (type === "approval_request" && payloadsOf(host, "approval_request").length > index), "a question or the end of the turn");
    if (payloadsOf(host, "approval_request").length <= index) {
      expect(frame.payload).toMatchObject({ reason: "reply" });
      break;
    }
    await answer(host, index, { approved: false });
  }
  const categories = new Map(payloadsOf(host, "approval_request").map(({ category, toolCallId }) => [toolCallId, String(category)]));
  return payloadsOf(host, "tool_call_started").slice(from).filter(({ tool }) => tool !== "reply").map(({ toolCallId }) => categories.get(toolCallId));
}

test.each([1, 2, 3, 4, 5])("S-56 each row of 7.1 with a tool has its category, and level %d silences exactly its rows", async (level) => {
  using outside = makeWorkspace({ "folder/x.txt": "x" });
  using host = hostOfExecutable({
    files: { "src/SKILL.md": skill("glob"), "src/scripts/run.sh": "echo ran", ".atomic-agent/skills/proj/SKILL.md": skill("proj"), "tree/x": "" },
    config: { agent: { maxSteps: 90, loop: { warnAt: 99, vetoAt: 99, wanderWarnAt: 99, wanderStopAt: 99 } } },
  });
  const isConfined = ["landlock", "seatbelt"].includes(String((await host.ask("ping")).payload?.["sandbox"]));
  await host.start([]);
  await host.ask("skill_install", { sourcePath: "src" });
  for (const name of ["one.txt", "two.txt", "three.txt", "edited.txt"]) host.folder.write({ [`workspace/${name}`]: "old" });
  host.folder.write({ "edited.txt": "old", "home.txt": "old", "state/.env": "A=old\n" });
  outside.write({ "edited.txt": "old", "gone.txt": "old" });
  const all = rows(host, outside, isConfined);
  await host.start([...all.map(({ call }) => [call]), ok], { approvalLevel: level });
  const asked = await askedOf(host, 0);
  const shown = (category: (row: Row, index: number) => string | undefined): string[] => all.map((row, index) => `${JSON.stringify(row.call)}: ${category(row, index) ?? "silent"}`);
  expect(shown((_, index) => asked[index])).toEqual(shown(({ category, silentFrom }) => (level < silentFrom ? category : undefined)));
  await endsWell(host);
}, 120_000);

test("S-56 several categories at once: the one that stays longest, and a narrower one before shell; nobody is asked for what is on the safe list", async () => {
  using host = hostOfExecutable();
  await host.start([[shell("git push; kill -l")], [shell("mutt -v && git push")], [shell("date; echo a literal | id")], [shell("echo x > y")], [shell("echo $HOME")], ok]);
  expect(await askedOf(host, 0)).toEqual(["proc_kill", "email", undefined, "shell", "shell"]);
  await endsWell(host);
});

test.each([1, 5])("S-57 at level %d what would end a disk, a home or the machine is blocked without a question, also in disguise", async (level) => {
  using host = hostOfExecutable({ files: { keep: "kept" }, config: { agent: { loop: { wanderWarnAt: 99, wanderStopAt: 99 } } } });
  const commands = [
    "rm -rf /", "rm -fr '/'*", "sudo rm -rf ~", "env A=1 nohup rm --recursive --force \"$HOME\"", "/bin/rm -r -f ~/", "sh -c 'mkfs.ext4 ./none'", "mkfs ./none", "echo a; $(echo mkfs) ./none",
    "dd if=/dev/zero of=/dev/sda-none", "echo x > /dev/sda", "shutdown --help", "'re'boot --help", "true && sudo -n halt --help | cat", "poweroff --help",
  ];
  await host.start([...commands.map((command) => [shell(command)]), ok], { approvalLevel: level });
  expect((await host.turn()).payload?.["reason"]).toBe("reply");
  expect(resultsOf(host).map(([status, summary], index) => [commands[index], status, String(summary).startsWith("blocked by shell guard: ")])).toEqual(commands.map((command) => [command, "error", true]));
  expect([payloadsOf(host, "approval_request"), readFileSync(host.folder.at("workspace/keep"), "utf8")]).toEqual([[], "kept"]);
  await endsWell(host);
});

test("S-58 a link in the workspace is judged by its target: a file, a folder, one that dangles, one into the home, onto the settings, and one that stays inside", async () => {
  using outside = makeWorkspace({ "file.txt": "old", "folder/x.txt": "x" });
  using host = hostOfExecutable({ files: { "real/in.txt": "old" } });
  mkdirSync(host.workingDir, { recursive: true });
  host.folder.write({ "state/config.json": "{}", "home.txt": "old" });
  const at = (name: string): string => host.folder.at(`workspace/${name}`);
  for (const [name, target] of [["file", outside.at("file.txt")], ["folder", outside.at("folder")], ["dangling", outside.at("none/new.txt")], ["home", host.folder.at("home.txt")], ["settings", host.folder.at("state/config.json")], ["inside", at("real")]] as const) symlinkSync(target, at(name));
  mkdirSync(outside.at("none"));
  const calls: [ScriptItem, string][] = [
    [write("file"), "other"], [edit("file"), "other"], [write("folder/y.txt"), "other"], [write("folder/new/y.txt"), "other"], [write("dangling"), "other"], [trash("folder/x.txt"), "other"],
    [read("file"), "fs_read_outside"], [{ call: "fs.list", args: { path: "folder" } }, "fs_read_outside"],
    [write("home"), "fs_write_home"], [write("settings"), "trust_config"], [write("real/../file"), "other"], [write("inside/in.txt"), "fs_write_workspace"],
  ];
  await host.start([...calls.map(([call]) => [call]), ok], { approvalLevel: 1 });
  expect(await askedOf(host, 0)).toEqual(calls.map(([, category]) => category));
  expect([outside.snapshot(), existsSync(at("real/in.txt"))]).toEqual([{ "file.txt": "old", "folder/x.txt": "x" }, true]);
  // The level decides by the target too, and a yes changes it; the question names the place that is really changed.
  await host.start([[write("inside/in.txt", "new")], [write("file", "new")], ok], { approvalLevel: 2 });
  const turn = host.message();
  const asked = await question(host, calls.length);
  expect(asked["category"]).toBe("other");
  expect(JSON.stringify([asked["reason"], asked["affectedResources"]])).toContain(outside.at("file.txt"));
  await answer(host, calls.length, { approved: true });
  expect((await host.response(turn)).payload?.["reason"]).toBe("reply");
  expect([readFileSync(outside.at("file.txt"), "utf8"), readFileSync(at("real/in.txt"), "utf8")]).toEqual(["new", "new"]);
  await endsWell(host);
}, 90_000);

test("S-58 a link that is turned to the outside after the question is not followed", async () => {
  using outside = makeWorkspace({ "file.txt": "old" });
  using host = hostOfExecutable({ files: { "real.txt": "old" } });
  symlinkSync(host.folder.at("workspace/real.txt"), host.folder.at("workspace/link"));
  await host.start([[write("link", "new")], ok]);
  const turn = host.message();
  await question(host, 0);
  rmSync(host.folder.at("workspace/link"));
  symlinkSync(outside.at("file.txt"), host.folder.at("workspace/link"));
  await answer(host, 0, { approved: true });
  await host.response(turn);
  expect(resultsOf(host)).toEqual([["error", expect.stringMatching(/changed after approval|was judged|not allowed/)]]);
  expect(outside.snapshot()).toEqual({ "file.txt": "old" });
  await endsWell(host);
});

test("the checkers take all of these streams", () => {
  expect(checkSeen()).toEqual([]);
});
