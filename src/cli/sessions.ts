// `atomic sessions`: lists, shows, names, exports, imports and removes stored sessions.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { replaceFile } from "../config/edit.ts";
import { didYouMean } from "../config/names.ts";
import { ensureStateDir, stateDirOf, statePaths } from "../config/paths.ts";
import { AgentError, messageOf } from "../core/error.ts";
import { type AgentMessage, contentText } from "../core/message.ts";
import { nearest } from "../core/nearest.ts";
import { contextOf, pathOf, settingsOf } from "../session/context.ts";
import { exportLines } from "../session/export.ts";
import { importSession } from "../session/import.ts";
import { openStore, type SessionStore } from "../session/store.ts";
import { removeTrace } from "../session/trace.ts";
import { type CommandIo, exitCodeFor, tell } from "./io.ts";

const usage = `usage: atomic sessions list [--cwd DIR] [--limit N]     newest first (50)
       atomic sessions show ID                          what the next request would hold
       atomic sessions name ID [NAME]                   names a session; without NAME the name goes
       atomic sessions export ID [--output FILE]        JSON Lines, to stdout by default
       atomic sessions import FILE                      prints the session's id; - reads stdin
       atomic sessions rm ID...                         removes sessions
An ID may be cut to what is unique.
`;

/** @returns the exit status: 0, 1 for what can't be done, 2 for a wrong command line or unknown session, 3 for the state directory. */
export function runSessions(argv: readonly string[], io: CommandIo): number {
  return exitCodeFor(io, () => {
    const [verb = "", ...rest] = argv;
    if (verb === "--help" || verb === "-h") return io.stdout(usage);
    const command = Object.hasOwn(commands, verb) ? commands[verb] : undefined;
    if (command === undefined) {
      const problem = verb === "" ? "sessions needs a command" : `unknown command ${JSON.stringify(verb)}${didYouMean(nearest(verb, Object.keys(commands)))}`;
      throw new AgentError("usage", `${problem}\n${usage}`.trimEnd());
    }
    const { positionals, flags } = parse(verb, rest, command);
    const stateDir = stateDirOf(io.env);
    ensureStateDir(stateDir);
    const { sessions, traces } = statePaths(stateDir);
    const store = openStore(sessions);
    try {
      command.run({ io, store, traces, positionals, flags });
    } finally {
      store.close();
    }
  });
}

interface Invocation {
  io: CommandIo;
  store: SessionStore;
  /** Their folder. */
  traces: string;
  positionals: readonly string[];
  flags: Readonly<Record<string, string | undefined>>;
}

interface Command {
  /** Least and most number of arguments. */
  takes: readonly [number, number];
  flags: readonly string[];
  run(invocation: Invocation): void;
}

const commands: Readonly<Record<string, Command>> = {
  list: { takes: [0, 0], flags: ["cwd", "limit"], run: list },
  show: { takes: [1, 1], flags: [], run: show },
  name: { takes: [1, 2], flags: [], run: rename },
  export: { takes: [1, 1], flags: ["output"], run: exportOne },
  import: { takes: [1, 1], flags: [], run: importOne },
  rm: { takes: [1, Infinity], flags: [], run: remove },
};

function parse(verb: string, argv: readonly string[], { takes: [least, most], flags }: Command): Pick<Invocation, "positionals" | "flags"> {
  const unknown = argv.find((argument) => argument.startsWith("--") && argument !== "--" && !flags.includes(argument.slice(2).replace(/=.*/s, "")));
  if (unknown !== undefined) throw new AgentError("usage", `unknown flag ${unknown}${didYouMean(nearest(unknown, flags.map((flag) => `--${flag}`)))}`);
  try {
    const { values, positionals } = parseArgs({ args: [...argv], allowPositionals: true, options: Object.fromEntries(flags.map((flag) => [flag, { type: "string" as const }])) });
    if (positionals.length < least || positionals.length > most) throw new Error(`it takes ${least === most ? least : `${least} to ${most}`} arguments, not ${positionals.length}`);
    return { positionals, flags: values as Invocation["flags"] };
  } catch (cause) {
    throw new AgentError("usage", `sessions ${verb}: ${messageOf(cause)}`, { cause });
  }
}

function list({ io, store, flags }: Invocation): void {
  const limit = flags["limit"] === undefined ? 50 : Number(flags["limit"]);
  if (!Number.isSafeInteger(limit) || limit < 1) throw new AgentError("usage", `--limit: expected an integer from 1, found ${JSON.stringify(flags["limit"])}`);
  for (const session of store.listSessions({ limit, ...(flags["cwd"] === undefined ? {} : { cwd: resolve(flags["cwd"]) }) })) {
    io.stdout(`${session.id}  ${session.updated}  ${String(session.messageCount).padStart(4)} messages  ${oneLine(session.cwd)}${session.name === undefined ? "" : `  ${oneLine(session.name)}`}\n`);
  }
}

function show({ io, store, positionals: [id = ""] }: Invocation): void {
  const session = store.loadSession(id);
  const entries = store.entries(session.id);
  const path = pathOf(entries);
  const { name, model, thinkingLevel } = settingsOf(entries, path);
  const facts = [
    ["id", session.id],
    ["made", session.created],
    ["workspace", oneLine(session.cwd)],
    ["forked from", session.parent],
    ["name", name === undefined ? undefined : oneLine(name)],
    ["model", model === undefined ? undefined : `${model.provider}/${model.modelId}`],
    ["thinking", thinkingLevel],
    ["entries", String(entries.length)],
  ];
  for (const [fact, value] of facts) if (value !== undefined) io.stdout(`${fact}: ${value}\n`);
  for (const message of contextOf(path)) io.stdout(`\n[${message.role}]\n${textOf(message)}\n`);
}

function textOf(message: AgentMessage): string {
  switch (message.role) {
    case "assistant":
      return message.content.map((block) => (block.type === "text" ? block.text : block.type === "thinking" ? `(thinking) ${block.thinking}` : `(call) ${block.name} ${JSON.stringify(block.arguments)}`)).join("\n");
    case "bashExecution":
      return `$ ${message.command}\n${message.output}`;
    case "branchSummary":
      return message.summary;
    default:
      return contentText(message.content);
  }
}

function rename({ store, positionals: [id = "", name = ""] }: Invocation): void {
  const session = store.resumeSession(id);
  store.setName(session.id, oneLine(name).trim());
}

function exportOne({ io, store, positionals: [id = ""], flags }: Invocation): void {
  const lines = exportLines(store, store.loadSession(id));
  const output = flags["output"];
  if (output === undefined) for (const line of lines) io.stdout(`${line}\n`);
  else replaceFile(resolve(output), lines.map((line) => `${line}\n`).join(""));
}

function importOne({ io, store, positionals: [path = ""] }: Invocation): void {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path === "-" ? 0 : path);
  } catch (cause) {
    throw new AgentError("import_invalid", `${path} cannot be read: ${messageOf(cause)}`, { cause });
  }
  const { id, stored, entryCount, warnings } = importSession(store, bytes);
  for (const warning of warnings) tell(io, `${path}: ${warning}`);
  tell(io, stored ? `imported ${entryCount} ${entryCount === 1 ? "entry" : "entries"}` : "nothing to do: this very session is stored already");
  io.stdout(`${id}\n`);
}

function remove({ store, traces, positionals }: Invocation): void {
  const ids = positionals.map((id) => store.loadSession(id).id);
  for (const id of new Set(ids)) {
    store.remove(id);
    removeTrace(traces, id);
  }
}

function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]+/gu, " ");
}
