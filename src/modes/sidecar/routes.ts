// The requests of a host to the one session of the process (sidecar.md section 3): who may ask what, in which order things
// are told, and the change from one session to the next.
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { ApprovalLevel } from "../../core/approval.ts";
import { AgentError } from "../../core/error.ts";
import type { Runtime } from "../../core/runtime.ts";
import { interruptedEntry, metadataEntry } from "../../session/progress.ts";
import { ownedRecord, type SessionRecord } from "../../session/record.ts";
import { sessionStateOf, sessionSummaryOf, storedCompactionOf } from "../../session/state.ts";
import type { SessionStore, StoredSession } from "../../session/store.ts";
import type { SidecarEventBody } from "../../wire/sidecar/project.ts";
import type { RequestId, ResponsePayloads, SendMessagePayload, SetModelPayload, StartSessionPayload } from "../../wire/sidecar/schema.ts";
import type { Handlers } from "../sidecar-dispatch.ts";
import { ActiveSession, type OpenSession } from "./active-session.ts";
import type { EngineDesk, Selection } from "./engine-desk.ts";
import { checked, refuse } from "./payload.ts";
import type { SkillDesk } from "./skill-desk.ts";
import { switchableEngine } from "./switchable-engine.ts";

export interface SidecarParts {
  /** Opened when it is first needed. */
  store: () => SessionStore;
  desk: EngineDesk;
  skills: SkillDesk;
  /** Where `start_session` names none. */
  approvalLevel: ApprovalLevel;
  runtime: Omit<Runtime, "log">;
  openSession: (options: { record: SessionRecord; workingDir: string; approvalLevel: ApprovalLevel }, running: Parameters<OpenSession>[0]) => ReturnType<OpenSession>;
  close: () => Promise<void>;
}

export type WriteEvent = (body: SidecarEventBody, correlationId?: RequestId) => Promise<void> | undefined;

export class SessionRoutes {
  readonly #parts: SidecarParts;
  readonly #write: WriteEvent;
  #active: ActiveSession | undefined;
  #nextModel: string | undefined;
  /** A session was started in this process. */
  #hasRuntime = false;
  #isEnding = false;
  /** `start_session` and the end, one after the other. */
  #serial: Promise<unknown> = Promise.resolve();

  constructor(parts: SidecarParts, write: WriteEvent) {
    this.#parts = parts;
    this.#write = write;
  }

  readonly #warn = (message: string): void => void this.#write({ type: "log", payload: { level: "warn", message } });

  /** What the next step would use, as far as it is chosen. */
  get selection(): Selection | undefined {
    return this.#active?.selection;
  }

  /** Where local models are served, as it is now. */
  get llamaUrl(): string {
    return this.#parts.desk.llamaUrl;
  }

  handlers(): Handlers {
    const needsSession = (): ActiveSession => this.#active ?? refuse("no active session — call start_session first");
    return {
      start_session: checked("start_session", (payload, id) => this.#inOrder(() => this.#start(payload, id))),
      send_message: checked("send_message", (payload, id) => this.#send(payload, id)),
      steer_message: checked("steer_message", ({ sessionId, text }) => ({ steered: this.#session(sessionId)?.steer(text) ?? false })),
      cancel: checked("cancel", ({ sessionId }) => this.#cancel(sessionId)),
      approval_response: checked("approval_response", ({ approvalId, approved, grant, reason }) => {
        const answer = approved ? ({ approved, grant: grant ?? "once" } as const) : ({ approved, ...(reason ? { reason } : {}) } as const);
        return this.#active?.answer(approvalId, answer) ?? { resolved: false };
      }),
      get_session: checked("get_session", ({ sessionId }) => this.#state(sessionId)),
      skill_list: () => ({ skills: this.#active ? this.#parts.skills.list() : [] }),
      skill_install: checked("skill_install", async ({ force, sourcePath }, id) => {
        needsSession();
        const installed = await this.#parts.skills.install(sourcePath, force === true, this.#warn);
        await this.#tellSkills(id);
        return installed;
      }),
      skill_uninstall: checked("skill_uninstall", async ({ name }, id) => {
        needsSession();
        const removed = await this.#parts.skills.uninstall(name, this.#warn);
        await this.#tellSkills(id);
        return { removed };
      }),
      compact_session: checked("compact_session", ({ sessionId }, id) => {
        needsSession();
        return (this.#session(sessionId) ?? noSession(sessionId)).compact(id);
      }),
      get_compaction: checked("get_compaction", ({ sessionId }) => {
        needsSession();
        const found = this.#stored(sessionId);
        return found === undefined ? null : (storedCompactionOf(this.#parts.store().entries(found.id)) ?? null);
      }),
      list_sessions: checked("list_sessions", (payload) => this.#list(payload)),
      models_list: checked("models_list", async () => ({ models: await this.#parts.desk.list(this.selection) })),
      set_model: checked("set_model", (payload) => this.#setModel(payload)),
    };
  }

  /** Ends the session and lets go of everything; what was asked before is answered. Later requests find no session. */
  async end(): Promise<void> {
    this.#isEnding = true;
    await this.#inOrder(async () => {
      await this.#dispose("shutdown");
      await this.#parts.close();
    });
  }

  #inOrder<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#serial.then(work);
    this.#serial = result.catch(() => undefined);
    return result;
  }

  async #start({ approvalLevel, metadata, model, resumeSessionId, workingDir: given }: StartSessionPayload, id: RequestId): Promise<ResponsePayloads["start_session"]> {
    if (this.#isEnding) refuse("shutting down");
    const { desk, store } = this.#parts;
    const workingDir = resolve(given);
    const isOwn = typeof resumeSessionId === "string" && this.#session(resumeSessionId) !== undefined;
    const selection = await desk.select(model ?? this.#nextModel);
    const resumed = typeof resumeSessionId !== "string" ? undefined : isOwn ? this.#stored(resumeSessionId) : this.#owned(resumeSessionId);
    await this.#dispose("session_disposed");
    if (resumed && isOwn) store().resumeSession(resumed.id);
    const [unavailable] = await Promise.all([desk.probe(selection), this.#readSkills(workingDir, id)]);
    if (unavailable) await this.#write({ type: "llm_unavailable", payload: unavailable }, id);
    if (!existsSync(workingDir)) this.#warn(`the working directory ${workingDir} does not exist`);
    const session = this.#row(resumed, workingDir, metadata ?? undefined);
    this.#active = await this.#open(session, selection, workingDir, (approvalLevel ?? this.#parts.approvalLevel) as ApprovalLevel);
    this.#hasRuntime = true;
    const flag = resumed ? { resumed: true as const } : {};
    await this.#write({ type: "session_started", payload: { sessionId: `s-${session.id}`, workingDir, ...flag } }, id);
    return { sessionId: `s-${session.id}`, ...flag };
  }

  /** Owns a stored session, before anything is changed. */
  #owned(given: string): StoredSession {
    const found = this.#stored(given) ?? refuse(`unknown session id: ${given}`);
    try {
      return this.#parts.store().resumeSession(found.id);
    } catch (error) {
      if (error instanceof AgentError && error.code === "session_busy") refuse(error.message.replace(found.id, given), error);
      throw error;
    }
  }

  #row(resumed: StoredSession | undefined, workingDir: string, metadata: Record<string, unknown> | undefined): StoredSession {
    const store = this.#parts.store();
    const session = resumed ?? store.createSession({ cwd: workingDir });
    if (resumed) {
      store.setCwd(resumed.id, workingDir);
      const interrupted = interruptedEntry(store.entries(resumed.id, "custom"));
      if (interrupted) store.appendEntry(resumed.id, interrupted);
    }
    if (metadata !== undefined) store.appendEntry(session.id, metadataEntry(metadata));
    return session;
  }

  async #open(session: StoredSession, selection: Selection, workingDir: string, approvalLevel: ApprovalLevel): Promise<ActiveSession> {
    const { desk, openSession, runtime, store } = this.#parts;
    const engine = switchableEngine(await desk.engineOf(selection));
    await desk.tidy();
    const record = ownedRecord(store(), session, runtime.now);
    const options = { id: session.id, store: store(), selection, approvalLevel, runtime, write: this.#write };
    return new ActiveSession(options, engine, (running) => openSession({ record, workingDir, approvalLevel }, running));
  }

  async #dispose(reason: "session_disposed" | "shutdown"): Promise<void> {
    const session = this.#active;
    this.#active = undefined;
    await session?.close(reason);
  }

  async #readSkills(workingDir: string, id: RequestId): Promise<void> {
    if (await this.#parts.skills.read(workingDir, this.#warn)) await this.#tellSkills(id);
  }

  async #tellSkills(id: RequestId): Promise<void> {
    const { skills } = this.#parts;
    skills.noteTold();
    await this.#write({ type: "skill_registry_updated", payload: { installed: skills.registry() } }, id);
  }

  /** The active session, when it is the one that is meant; ids come with or without `s-`. */
  #session(given: string): ActiveSession | undefined {
    return this.#active?.id === bare(given) ? this.#active : undefined;
  }

  #stored(given: string): StoredSession | undefined {
    const store = this.#parts.store();
    return store.sessionById(bare(given)) ?? store.sessionById(given);
  }

  #send({ maxSteps, sessionId, text }: SendMessagePayload, id: RequestId): Promise<ResponsePayloads["send_message"]> {
    const session = this.#session(sessionId) ?? noSession(sessionId);
    return session.send(text, maxSteps ?? undefined, id, () => this.#prepareTurn(session));
  }

  /** What could not serve before may be there now. */
  async #prepareTurn(session: ActiveSession): Promise<void> {
    const { desk } = this.#parts;
    if (session.selection.choice === undefined) {
      const again = await desk.select(session.selection.wish);
      if (again.choice) session.use(again, await desk.engineOf(again));
    }
    await desk.tidy();
  }

  #cancel(sessionId: string): ResponsePayloads["cancel"] {
    const session = this.#session(sessionId);
    return session === undefined ? { cancelled: false } : { cancelled: true, ...session.cancel() };
  }

  #state(sessionId: string): ResponsePayloads["get_session"] {
    const live = this.#session(sessionId);
    if (live) return live.state();
    if (!this.#hasRuntime || this.#isEnding) return null;
    const session = this.#stored(sessionId);
    if (session === undefined) return null;
    const store = this.#parts.store();
    return sessionStateOf({ session, entries: store.entries(session.id), isBusy: store.isBusy(session.id) });
  }

  #list({ limit, workingDir }: { limit?: number | null | undefined; workingDir?: string | null | undefined }): ResponsePayloads["list_sessions"] {
    const store = this.#parts.store();
    const found = store.listSessions({ limit: limit ?? sessionsListed, ...(typeof workingDir === "string" ? { cwd: workingDir } : {}) });
    const sessions = found.map((summary) => {
      const isBusy = store.isBusy(summary.id);
      const live = this.#active?.id === summary.id ? this.#active.live() : undefined;
      return sessionSummaryOf({ session: summary, entries: store.entries(summary.id, "custom"), isBusy }, { name: summary.name, updatedAt: Date.parse(summary.updated) || 0, live });
    });
    return { sessions };
  }

  async #setModel({ model, sessionId }: SetModelPayload): Promise<ResponsePayloads["set_model"]> {
    const { desk } = this.#parts;
    const session = typeof sessionId === "string" ? (this.#session(sessionId) ?? noSession(sessionId)) : this.#active;
    const selection = await desk.select(model);
    const told = { model: selection.model, engine: selection.engine };
    if (session === undefined) {
      this.#nextModel = model;
      return { ...told, appliesFrom: "next_session" };
    }
    const appliesFrom = session.isBusy ? "next_step" : "now";
    session.use(selection, await desk.engineOf(selection));
    if (!session.isBusy) await desk.tidy();
    return { ...told, appliesFrom };
  }
}

const sessionsListed = 50;

function bare(id: string): string {
  return id.startsWith("s-") ? id.slice(2) : id;
}

function noSession(id: string): never {
  return refuse(`no active session with id ${id}`);
}
