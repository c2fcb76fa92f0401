// A host of the sidecar for tests: in this process (fast) or of the executable. Keeps every request and frame, and at the end
// holds the whole stream against the schemas and the checkers of section 12.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { loadConfig } from "../../src/config/load.ts";
import { sidecarParts } from "../../src/cli/sidecar-parts.ts";
import { processIo } from "../../src/cli/process-io.ts";
import { runSidecar } from "../../src/modes/sidecar.ts";
import type { EndWatch } from "../../src/modes/signals.ts";
import { responsePayloads, SidecarEvent, SidecarResponse, type HostRequestType } from "../../src/wire/sidecar/schema.ts";
import { makeHome, startAtomic, type RunningAtomic } from "./atomic.ts";
import { checkSidecarIndependently } from "./independent-checker.ts";
import { type Script, type ScriptItem, writeScript } from "./scripted.ts";
import { checkSidecarStream, type SidecarStream } from "./sidecar-checker.ts";
import { type Frame, memoryTransport, type Transport } from "./sidecar-transport.ts";
import { makeWorkspace, type FileTree, type Workspace } from "./workspace.ts";

export type { Frame };

/** Long enough for a machine that is busy with other work. */
const waitMs = 45_000;

/** Streams of this process that no one has checked yet. */
const seen: SidecarStream[] = [];

/** Holds every stream that ended since the last call against the project's checker and the independent one. @returns breaches */
export function checkSeen(): string[] {
  const streams = seen.splice(0);
  if (streams.length === 0) throw new Error("no stream was seen");
  const independent = checkSidecarIndependently(streams);
  return streams.flatMap((stream, index) => {
    const found = [...checkSidecarStream(stream), ...(independent?.[index] ?? []).map((breach) => `independent: ${breach}`)];
    return found.map((breach) => `stream ${index}: ${breach}\n${stream.requests.slice(0, 500)}`);
  });
}

export class SidecarHost implements Disposable {
  readonly transport: Transport;
  readonly requests: { id: string | number; type: string; line: string }[] = [];
  readonly folder: Workspace;
  readonly #cleanUp: () => void;
  sessionId = "";
  #next = 1;
  #scripts = 0;

  constructor(transport: Transport, folder: Workspace, cleanUp: () => void) {
    this.transport = transport;
    this.folder = folder;
    this.#cleanUp = cleanUp;
  }

  get frames(): readonly Frame[] {
    return this.transport.frames;
  }

  get workingDir(): string {
    return this.folder.at("workspace");
  }

  /** Sends a request without waiting. @returns its id */
  send(type: HostRequestType, payload?: unknown, id: string | number = `${this.#next++}`): string | number {
    return this.sendAll([[type, payload, id]])[0] ?? id;
  }

  /** Sends several in one write. */
  sendAll(asked: readonly [type: HostRequestType, payload?: unknown, id?: string | number][]): (string | number)[] {
    const lines = asked.map(([type, payload, id = `${this.#next++}`]) => ({ id, type, line: JSON.stringify({ kind: "request", id, type, payload }) }));
    this.requests.push(...lines);
    this.transport.write(lines.map(({ line }) => `${line}\n`).join(""));
    return lines.map(({ id }) => id);
  }

  async ask(type: HostRequestType, payload?: unknown): Promise<Frame> {
    return await this.response(this.send(type, payload));
  }

  async response(id: string | number): Promise<Frame> {
    return await this.frame((frame) => frame.kind === "response" && frame.correlationId === id, `response to ${id}`);
  }

  /** The first event of a type whose payload holds these fields. */
  async event(type: string, fields: { [name: string]: unknown } = {}): Promise<Frame> {
    return await this.frame((frame) => frame.type === type && Object.entries(fields).every(([name, value]) => frame.payload?.[name] === value), `${type} ${JSON.stringify(fields)}`);
  }

  async frame(fits: (frame: Frame) => boolean, what: string): Promise<Frame> {
    const late = Promise.withResolvers<"late">();
    const timer = setTimeout(() => late.resolve("late"), waitMs);
    try {
      for (;;) {
        const found = this.frames.find(fits);
        if (found) return found;
        if (this.transport.ended() || (await Promise.race([this.transport.changed(), late.promise])) === "late") {
          throw new Error(`waited in vain for ${what}; the last frames:\n${this.frames.slice(-20).map((frame) => JSON.stringify(frame).slice(0, 200)).join("\n")}`);
        }
      }
    } finally {
      clearTimeout(timer);
    }
  }

  /** Starts a session whose model plays these steps. */
  async start(steps: ScriptItem[][], fields: { [name: string]: unknown } = {}, script: Partial<Script> = {}): Promise<string> {
    const answer = await this.ask("start_session", { workingDir: this.workingDir, model: this.script(steps, script), ...fields });
    if (!answer.ok) throw new Error(JSON.stringify(answer.error));
    this.sessionId = String(answer.payload?.["sessionId"]);
    return this.sessionId;
  }

  script(steps: ScriptItem[][], script: Partial<Script> = {}): string {
    return writeScript(this.folder.at(`script-${this.#scripts++}.json`), { steps, ...script });
  }

  /** Sends a message without waiting for its turn. */
  message(text = "go", fields: { [name: string]: unknown } = {}): string | number {
    return this.send("send_message", { sessionId: this.sessionId, text, ...fields });
  }

  async turn(text = "go", fields: { [name: string]: unknown } = {}): Promise<Frame> {
    return await this.response(this.message(text, fields));
  }

  /** Frames of one request without the free ones, as short words: see `tokenOf`. */
  order(id: string | number): string[] {
    return this.frames.filter((frame) => frame.correlationId === id && !free.has(frame.type ?? "")).map(tokenOf);
  }

  /** Closes stdin, and keeps the stream for `checkSeen`. @returns status and frames that break the schema */
  async end(): Promise<{ exitCode: number | null; breaches: string[] }> {
    this.transport.end();
    const exitCode = await this.transport.exit;
    this.keep();
    return { exitCode, breaches: this.#schemaBreaches() };
  }

  /** Keeps the stream as it is for `checkSeen`. */
  keep(killed = false): void {
    const lines = (items: readonly string[]): string => items.map((item) => `${item}\n`).join("");
    seen.push({ requests: lines(this.requests.map(({ line }) => line)), frames: lines(this.frames.map((frame) => JSON.stringify(frame))), killed });
  }

  #schemaBreaches(): string[] {
    // An id that was used twice tells not which answer is which.
    const typeOf = (asked: string | number | undefined): string | undefined => {
      const types = this.requests.flatMap(({ id, type }) => (id === asked ? [type] : []));
      return types.length === 1 ? types[0] : undefined;
    };
    return this.frames.flatMap((frame) => {
      const shape = (frame.kind === "event" ? SidecarEvent : SidecarResponse).safeParse(frame);
      const type = typeOf(frame.correlationId) as keyof typeof responsePayloads | undefined;
      const payload = frame.kind === "response" && frame.ok && type !== undefined ? responsePayloads[type].safeParse(frame.payload) : undefined;
      return [shape, payload].flatMap((result) => (result && !result.success ? [`${JSON.stringify(frame).slice(0, 300)}: ${result.error.message}`] : []));
    });
  }

  [Symbol.dispose](): void {
    this.#cleanUp();
  }
}

/** A list in a payload; empty where there is none. */
export function listOf<Item>(payload: Frame["payload"] | undefined, name: string): Item[] {
  return (payload?.[name] ?? []) as Item[];
}

const free: ReadonlySet<string> = new Set(["log", "metric", "model_loading"]);

/** `type`, with what tells one from another: `tool_call_result(reply,ok)`, `R(reply)`. */
export function tokenOf({ error, kind, ok, payload, type }: Frame): string {
  if (kind === "response") return ok ? `R(${String(payload?.["reason"] ?? "")}${payload?.["started"] === false ? ",unstarted" : ""})` : `R(${error?.code})`;
  const shown = ["tool", "status", "reason", "cause", "code", "willRetry", "level", "progressNote"].flatMap((name) => (payload?.[name] === undefined || (type === "approval_request" && name === "reason") ? [] : [String(payload[name])]));
  return shown.length > 0 ? `${type}(${shown.join(",")})` : String(type);
}

export interface HostOptions {
  files?: FileTree;
  /** config.json */
  config?: { [name: string]: unknown };
  env?: { [name: string]: string };
  /** Folder of another host, to share its state. */
  folder?: Workspace;
  watch?: EndWatch;
}

/** The sidecar in this process. */
export function hostInProcess(options: HostOptions = {}): SidecarHost {
  const folder = options.folder ?? placeOf(options);
  const state = folder.at("state");
  const env = { HOME: folder.path, PATH: process.env["PATH"], ATOMIC_AGENT_STATE_DIR: state, ...options.env };
  const loaded = loadConfig({ env });
  const transport = memoryTransport();
  const llamaUrl = "http://127.0.0.1:1";
  const exit = runSidecar({
    input: transport.input,
    output: transport.output,
    llamaUrl,
    stateDir: state,
    agentVersion: "9.9.9",
    sandbox: "none",
    logLevel: loaded.config.log.level,
    loadParts: async (log) => sidecarParts(loaded, { ...processIo(2), env }, llamaUrl, log),
    watch: options.watch ?? { onSignal: () => () => {}, onParentGone: () => () => {}, exitNow: () => {} },
    warn: () => {},
  });
  void exit.then(() => transport.finish());
  return new SidecarHost({ ...transport, exit }, folder, () => options.folder === undefined && folder[Symbol.dispose]());
}

/** The executable, or a link to it whose name makes it the sidecar. */
export function hostOfExecutable(options: HostOptions & { link?: string; timeoutMs?: number } = {}): SidecarHost & { process: RunningAtomic } {
  const folder = options.folder ?? placeOf(options);
  const home = { path: folder.path, state: folder.at("state"), folder, [Symbol.dispose]: () => {} };
  const named = options.link === undefined ? {} : { executable: options.link };
  const running = startAtomic(options.link === undefined ? ["sidecar"] : [], { home, cwd: folder.at("workspace"), env: options.env ?? {}, interactive: true, timeoutMs: options.timeoutMs ?? 120_000, ...named });
  let isOver = false;
  const exit = running.result().then(({ exitCode }) => {
    isOver = true;
    return exitCode;
  });
  const transport: Transport = {
    frames: running.events as unknown as Frame[],
    write: (text) => running.write(text),
    end: () => running.end(),
    changed: () => Bun.sleep(2),
    ended: () => isOver,
    exit,
  };
  const host = new SidecarHost(transport, folder, () => {
    running[Symbol.dispose]();
    if (options.folder === undefined) folder[Symbol.dispose]();
  });
  return Object.assign(host, { process: running });
}

/** Starts a command that is, or starts, the sidecar, with pipes for stdin and stdout and a home of its own. */
export function spawnSidecar(command: string[], { cwd, env = {} }: { env?: { [name: string]: string }; cwd?: string } = {}) {
  const home = makeHome();
  const child = Bun.spawn(command, { stdin: "pipe", stdout: "pipe", stderr: "pipe", ...(cwd === undefined ? {} : { cwd }), env: { PATH: "/usr/bin:/bin", HOME: home.path, ATOMIC_AGENT_STATE_DIR: home.state, ...env } });
  return { home, child, [Symbol.dispose]: () => (child.kill("SIGKILL"), home[Symbol.dispose]()) };
}

export const framesOf = (text: string): Frame[] => text.split("\n").slice(0, -1).map((line) => JSON.parse(line) as Frame);
export const pingLine = (id: unknown): string => `${JSON.stringify({ kind: "request", id, type: "ping" })}\n`;

function placeOf({ config, files = {} }: HostOptions): Workspace {
  const folder = makeWorkspace(Object.fromEntries(Object.entries(files).map(([path, content]) => [`workspace/${path}`, content])));
  for (const name of ["workspace", "state"]) mkdirSync(folder.at(name), { recursive: true });
  if (config) folder.write({ [join("state", "config.json")]: JSON.stringify(config) });
  return folder;
}
