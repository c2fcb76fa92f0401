// `atomic run` and `atomic json`: from the command line to a session that a mode drives. Everything that can be wrong with
// arguments, configuration and names is found before the first line goes out.
import { realpathSync } from "node:fs";
import { homedir } from "node:os";
import { resolve } from "node:path";
import type { LoadedConfig } from "../config/load.ts";
import { AgentError } from "../core/error.ts";
import type { Emit } from "../core/event.ts";
import type { Asker } from "../core/approval.ts";
import { steadyClock, type Log, type Runtime } from "../core/runtime.ts";
import { version } from "../embedded.ts";
import { createLasting, type EnginePlaces } from "../engines/choice.ts";
import type { PromptContent } from "../modes/prompt-run.ts";
import { watchProcess, type EndWatch } from "../modes/signals.ts";
import { sandboxKind } from "../sandbox/sandbox.ts";
import { continuedRecord, newRecord, resumedRecord, type SessionRecord } from "../session/record.ts";
import { type OutputContract, Session } from "../session/session.ts";
import { describeWorkspace } from "../tools/describe-workspace.ts";
import { workspaceView } from "../tools/workspace-view.ts";
import type { SessionHeader } from "../wire/json/schema.ts";
import { parsePromptArguments, type PromptArguments } from "./arguments.ts";
import { chooseModel, settleModel, type ModelSetup } from "./model-setup.ts";
import type { ProcessIo } from "./process-io.ts";
import { readFilePart, textArgument } from "./prompt-files.ts";
import { checkPromptGiven, readPrompts, stdinKindOf } from "./prompt-parts.ts";
import { applyRetention, traced } from "./session-files.ts";
import { setUpTools, type ToolSetup } from "./tool-setup.ts";
import { providerWaitMs, turnSettings } from "./turn-settings.ts";

/** Everything that a mode needs, made and checked, and nothing opened. */
interface Prepared {
  parsed: PromptArguments;
  loaded: LoadedConfig;
  workspace: string;
  model: ModelSetup;
  places: EnginePlaces;
  output: OutputContract | undefined;
  toolSetup: ToolSetup;
  record: SessionRecord;
  runtime: Runtime;
  systemPrompt: string | undefined;
  systemAdditions: string[];
  readPrompts: (signal: AbortSignal) => Promise<PromptContent[]>;
}

/** @returns the exit status. @throws AgentError for everything that is wrong before the first line */
export async function runPromptCommand(face: "run" | "json", argv: readonly string[], io: ProcessIo): Promise<number> {
  const parsed = parsePromptArguments(argv);
  if (parsed.help) {
    const { promptHelp } = await import("./help.ts");
    io.print(promptHelp());
    return 0;
  }
  // The parent is remembered before anything takes time.
  const watch = watchProcess();
  const prepared = await prepare(parsed, io);
  const isJson = face === "json" || parsed.mode === "json";
  try {
    return isJson && parsed.mode !== "text" ? await runAsJson(prepared, watch, io) : await runAsText(prepared, watch, io);
  } finally {
    prepared.toolSetup.close();
    prepared.record.close();
  }
}

async function runAsJson(prepared: Prepared, watch: EndWatch, io: ProcessIo): Promise<number> {
  const { runJsonMode } = await import("../modes/json.ts");
  const { parsed, runtime } = prepared;
  return runJsonMode({
    output: io.stdoutDescriptor,
    header: headerOf(prepared),
    updates: parsed.updates,
    readPrompts: prepared.readPrompts,
    openSession: (emit) => openSession(prepared, emit),
    ...(parsed.stdinCommands ? { commands: Bun.stdin.stream() } : {}),
    ...(parsed.timeoutMs === undefined ? {} : { timeoutMs: parsed.timeoutMs }),
    watch,
    warn: io.warn,
    now: runtime.now,
  });
}

async function runAsText(prepared: Prepared, watch: EndWatch, io: ProcessIo): Promise<number> {
  const { runTextMode } = await import("../modes/text.ts");
  const { parsed, runtime } = prepared;
  const asker = io.canAsk ? (await import("./ask-approval.ts")).askOnTerminal(io) : undefined;
  return runTextMode({
    output: io.stdoutDescriptor,
    view: { write: io.write, terminal: io.stderrIsTerminal, stdoutIsTerminal: io.stdoutIsTerminal, columns: io.columns },
    readPrompts: prepared.readPrompts,
    openSession: (emit) => openSession(prepared, emit, asker ? { asker } : {}),
    ...(parsed.stdinCommands ? { commands: Bun.stdin.stream() } : {}),
    ...(parsed.timeoutMs === undefined ? {} : { timeoutMs: parsed.timeoutMs }),
    watch,
    warn: io.warn,
    now: runtime.now,
  });
}

async function prepare(parsed: PromptArguments, io: ProcessIo): Promise<Prepared> {
  const stdinKind = stdinKindOf();
  checkPromptGiven(parsed, stdinKind);
  const { loadConfig, unknownSavedProvider } = await import("../config/load.ts");
  const loaded = loadConfig({ env: io.env });
  const { config, paths } = loaded;
  for (const warning of loaded.warnings) io.warn(warning);
  const workspace = realpathSync(process.cwd());
  const fault = parsed.model === undefined && parsed.provider === undefined ? unknownSavedProvider(config) : undefined;
  if (fault !== undefined) throw new AgentError("config_invalid", fault);
  const record = recordFor(parsed, paths.sessions, workspace);
  const now = steadyClock(record.lastMs);
  const runtime: Runtime = { now, id: () => Bun.randomUUIDv7(), log: logTo(io, config.log.level) };
  const files = parsed.files.map((path) => readFilePart(path, workspace));
  const systemPrompt = parsed.systemPrompt === undefined ? undefined : textArgument(parsed.systemPrompt, workspace);
  const systemAdditions = parsed.appendSystemPrompt.map((text) => textArgument(text, workspace));
  const output = parsed.outputSchema === undefined ? undefined : await readOutput(parsed.outputSchema, workspace, systemAdditions);
  const toolSetup = setUpTools(loaded, io.env, { workspace, home: homedir() }, parsed);
  // Only what was typed: the content of @files and of stdin grants nothing.
  for (const prompt of parsed.prompts) toolSetup.readable.mention(prompt);
  for (const path of parsed.files) toolSetup.readable.allow(resolve(workspace, path));
  const places: EnginePlaces = { modelsDir: paths.models, engineDir: paths.engine, promptStatesDir: paths.promptStates, home: homedir(), variable: loaded.variable, log: runtime.log };
  const model = await chooseModel(parsed, record, config, places);
  return {
    parsed,
    loaded,
    workspace,
    model,
    places,
    output,
    toolSetup,
    record,
    runtime,
    systemPrompt,
    systemAdditions: [...toolSetup.additions(runtime.log), ...systemAdditions],
    readPrompts: (signal) => readPrompts({ parsed, files, stdin: { kind: stdinKind, open: () => Bun.stdin.stream() }, images: model.choice.images, warn: io.warn, signal }),
  };
}

function recordFor(parsed: PromptArguments, path: string, workspace: string): SessionRecord {
  const now = Date.now;
  if (parsed.session !== undefined) return resumedRecord(parsed.session, { path, workspace, now });
  if (parsed.continue) return continuedRecord({ path, workspace, now });
  return newRecord({ path: parsed.noSession ? undefined : path, workspace, now });
}

async function readOutput(path: string, workspace: string, systemAdditions: string[]): Promise<OutputContract> {
  const { outputInstruction, readOutputSchema } = await import("./output-schema.ts");
  const output = await readOutputSchema(path, workspace);
  systemAdditions.push(outputInstruction(output));
  return output;
}

function headerOf({ loaded, model: { choice }, record, workspace }: Prepared): SessionHeader {
  const { id, created, parent } = record.identity;
  return {
    type: "session",
    version: 3,
    id,
    timestamp: created,
    cwd: workspace,
    ...(parent === undefined ? {} : { parentSession: parent }),
    provider: choice.provider,
    ...(choice.model === "" ? {} : { model: choice.model }),
    agentVersion: version,
    sandbox: sandboxKind(loaded.config.tools.shell.sandbox),
    ...(record.resumed ? { resumed: true as const } : {}),
  };
}

/** @param person what is different where a person reads along: who is asked; then other providers step in, and are waited for */
async function openSession(prepared: Prepared, told: Emit, person?: { asker?: Asker }): Promise<Session> {
  const { loaded, model, output, parsed, record, runtime, systemAdditions, systemPrompt, toolSetup, workspace } = prepared;
  record.open();
  // A run that keeps nothing leaves no trace either; the file is closed by the end of the process.
  const { emit } = parsed.noSession ? { emit: told } : traced(loaded, record.identity.id, told, runtime);
  if (!parsed.noSession) applyRetention(loaded, runtime.log);
  if (record.name !== undefined) await emit({ type: "session_renamed", name: record.name });
  const engine = await (person ? createLasting(model.choice, loaded.config, prepared.places, () => undefined) : model.choice.create());
  const thinking = await settleModel(model, parsed, record, engine, emit);
  return new Session({
    id: record.identity.id,
    workspace,
    engine,
    tools: toolSetup.tools,
    settings: { ...turnSettings(loaded.config, parsed, { thinking, output }), ...(person ? { parkMaxMs: providerWaitMs(loaded.config) } : {}) },
    approvalLevel: parsed.approvalLevel ?? loaded.config.agent.approvalLevel ?? 2,
    ...person,
    approvalTimeoutMs: loaded.config.approvals.timeoutMs,
    readable: toolSetup.readable,
    ...(systemPrompt === undefined ? {} : { systemPrompt }),
    systemAdditions,
    describeWorkspace: (request) => describeWorkspace(workspace, homedir(), request),
    view: workspaceView(workspace, homedir()),
    messages: record.messages,
    store: (message) => record.store(message),
    entryIdOf: (message) => record.entryIdOf(message),
    storeCompaction: (result) => record.storeCompaction(result),
    emit,
    runtime,
  });
}

const levels = ["debug", "info", "warn", "error"] as const;

function logTo(io: ProcessIo, least: (typeof levels)[number]): Log {
  return (level, message) => {
    if (levels.indexOf(level) < Math.max(levels.indexOf(least), least === "info" ? levels.indexOf("warn") : 0)) return;
    io.warn(message);
  };
}
