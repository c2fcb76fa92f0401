// The client: typed requests, events, turns and questions over a child that is started again when it dies.
// It reads no more than its streams can hold, except while a request waits for its answer.
import { limits } from "../core/limits.ts";
import type { InputLine } from "../wire/lines.ts";
import { EventEnvelope, SidecarResponse, type HostRequestType, type RequestPayloads, type ResponsePayloads, type SendMessagePayload, type SidecarEvent } from "../wire/sidecar/schema.ts";
import { Child, type SidecarEnd } from "./child.ts";
import { Dialogs, type AskApproval } from "./dialogs.ts";
import { SidecarError } from "./error.ts";
import { EventStream } from "./event-stream.ts";
import { Turn } from "./turn.ts";

export interface SidecarOptions {
  /** Program and arguments; default `["atomic-agent-sidecar"]`, looked up on the PATH. */
  command?: readonly string[];
  /** Working folder of the process; the tools work in the session's `workingDir`. */
  cwd?: string;
  /** The whole environment; default: this process's own. */
  env?: { [name: string]: string | undefined };
  /** Absent: every question is denied. */
  onApproval?: AskApproval;
  /** What the sidecar says for people; default: dropped. */
  onStderr?: (text: string) => void;
  /** The process ended although nobody closed it. `restarted` false: it ends each time, or can't be started. */
  onEnd?: (end: SidecarEnd & { restarted: boolean }) => void;
}

/** What is asked with `request`; `send_message` has a method of its own. */
export type PlainRequestType = Exclude<HostRequestType, "send_message" | "run_step">;
type PayloadArguments<Payload> = Record<string, never> extends Payload ? [payload?: Payload] : [payload: Payload];

/** Starts the sidecar. Nothing is awaited: a program that can't be started rejects the first request. */
export function openSidecar(options: SidecarOptions = {}): Sidecar {
  return new Sidecar(options);
}

interface Waiting {
  resolve(payload: never): void;
  reject(error: SidecarError): void;
  /** Of a turn: its events. */
  events: EventStream | undefined;
}

export class Sidecar implements AsyncDisposable {
  readonly #options: SidecarOptions;
  readonly #dialogs: Dialogs;
  readonly #waiting = new Map<string, Waiting>();
  readonly #streams = new Set<EventStream>();
  #child: Child;
  #nextId = 1;
  /** Ends in a row without a response in between. */
  #deaths = 0;
  /** Why nothing can be asked any more. */
  #over: SidecarError | undefined;
  #closing: Promise<SidecarEnd> | undefined;
  #closed: ((end: SidecarEnd) => void) | undefined;
  #lastEnd: SidecarEnd | undefined;

  constructor(options: SidecarOptions) {
    this.#options = options;
    this.#dialogs = new Dialogs(options.onApproval);
    this.#child = this.#start();
  }

  /** Of the process that runs now. */
  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Asks one thing. @throws SidecarError with the sidecar's own message when it is refused, or when the process ends. */
  async request<Type extends PlainRequestType>(type: Type, ...[payload]: PayloadArguments<RequestPayloads[Type]>): Promise<ResponsePayloads[Type]> {
    return await this.#ask(type, payload ?? {}, undefined);
  }

  /** Sends a message. Messages of one session queue in the sidecar. */
  turn(payload: SendMessagePayload): Turn {
    const events = new EventStream(() => this.#pace());
    return new Turn(events, this.#ask("send_message", payload, events));
  }

  /**
   * Every event from now on, those of turns included; right behind an awaited response, every one after that response. Leave a default branch: a newer sidecar may tell more. Who stops
   * reading stops the sidecar: don't wait for a turn between two events.
   */
  events(): EventStream {
    const stream = new EventStream(() => this.#pace());
    if (this.#over) stream.end();
    else this.#streams.add(stream);
    return stream;
  }

  /** Shuts the sidecar down; kills it when that takes too long. Closing twice is closing once. */
  async close(): Promise<SidecarEnd> {
    this.#closing ??= this.#close();
    return await this.#closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #close(): Promise<SidecarEnd> {
    if (this.#lastEnd && this.#over) return this.#lastEnd;
    const ended = new Promise<SidecarEnd>((resolve) => {
      this.#closed = resolve;
    });
    const timer = setTimeout(() => this.#child.kill("the sidecar did not end in time"), limits.clientCloseMs);
    // A sidecar that refuses or dies is closed as well.
    await this.#ask("shutdown", {}, undefined).catch((error: unknown) => error);
    this.#over ??= new SidecarError("closed", "the sidecar was closed");
    this.#child.closeInput();
    this.#pace();
    const end = await ended;
    clearTimeout(timer);
    return end;
  }

  #start(): Child {
    const { command = ["atomic-agent-sidecar"], cwd, env = process.env, onStderr = () => undefined } = this.#options;
    // These two change what the executable does.
    const { BUN_OPTIONS: _options, BUN_BE_BUN: _beBun, ...childEnvironment } = env;
    return new Child({ command, cwd, env: childEnvironment, onStderr, onLine: (line) => this.#take(line), onEnd: (end) => this.#ended(end) });
  }

  #ask<Type extends HostRequestType>(type: Type, payload: object, events: EventStream | undefined): Promise<Type extends keyof ResponsePayloads ? ResponsePayloads[Type] : never> {
    const id = String(this.#nextId++);
    const line = JSON.stringify({ kind: "request", id, type, payload });
    const refusal = this.#refusal(line);
    if (refusal) return Promise.reject(refusal);
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject, events });
      this.#child.writeLine(line);
      this.#pace();
    });
  }

  #refusal(line: string): SidecarError | undefined {
    if (this.#over) return this.#over;
    const bytes = Buffer.byteLength(line);
    if (bytes > limits.inputLineBytesMax) return new SidecarError("too_long", `a request has at most ${limits.inputLineBytesMax} bytes, this one ${bytes}`);
    if (this.#waiting.size < limits.clientRequestsMax && this.#child.unreadBytes <= limits.inputLineBytesMax) return undefined;
    return new SidecarError("too_many", `${this.#waiting.size} requests are not answered yet; wait for some of them`);
  }

  /** @returns whether it was a response: what was asked for is known before what comes after it */
  #take(line: InputLine): boolean {
    const frame = line.ok ? parse(line.text) : undefined;
    const event = EventEnvelope.safeParse(frame);
    const response = event.success ? undefined : SidecarResponse.safeParse(frame);
    if (event.success) this.#takeEvent(event.data as SidecarEvent);
    else if (response?.success) this.#takeResponse(response.data);
    else this.#child.kill(`this is no sidecar; its output has the line ${JSON.stringify(line.text.slice(0, 200))}`);
    this.#pace();
    return response?.success === true;
  }

  #takeResponse({ correlationId, error, ok, payload }: SidecarResponse): void {
    this.#deaths = 0;
    const id = String(correlationId);
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (ok) waiting?.resolve(payload as never);
    else waiting?.reject(new SidecarError(error?.code ?? "handler_failed", error?.message ?? "refused", error?.field));
  }

  #takeEvent(event: SidecarEvent): void {
    this.#waiting.get(String(event.correlationId))?.events?.push(event);
    for (const stream of this.#streams) stream.push(event);
    if (event.type === "approval_withdrawn") this.#dialogs.withdraw(event.payload.approvalId, event.payload.reason);
    if (event.type === "approval_request") void this.#putQuestion(event.payload);
  }

  async #putQuestion(request: Parameters<AskApproval>[0]): Promise<void> {
    const answer = await this.#dialogs.put(request);
    // A sidecar that died in between has no question left to answer.
    if (answer) await this.#ask("approval_response", answer, undefined).catch((error: unknown) => error);
  }

  #ended(end: SidecarEnd): void {
    this.#lastEnd = end;
    this.#dialogs.closeAll("ended");
    const isWanted = this.#closing !== undefined;
    // Exit 2 and 3 are a wrong command and a wrong configuration: another try changes nothing.
    const restarted = !isWanted && end.started && end.exitCode !== 2 && end.exitCode !== 3 && ++this.#deaths <= limits.clientRestartsMax;
    const error = new SidecarError(end.started ? "ended" : "not_start", end.message);
    if (!restarted) this.#over ??= isWanted ? new SidecarError("closed", "the sidecar was closed") : error;
    const pending = [...this.#waiting.values()];
    this.#waiting.clear();
    if (restarted) this.#child = this.#start();
    else for (const stream of this.#streams) stream.end();
    for (const { reject } of pending) reject(error);
    if (!isWanted) this.#options.onEnd?.({ ...end, restarted });
    this.#closed?.(end);
  }

  /** Reads while there is room, or while somebody waits for an answer that may stand behind what fills it. */
  #pace(): void {
    const turns = [...this.#waiting.values()].map(({ events }) => events);
    for (const stream of this.#streams) if (stream.isEnded) this.#streams.delete(stream);
    const isFull = [...this.#streams, ...turns].some((stream) => stream?.isFull === true);
    this.#child.setReading(!isFull || this.#over !== undefined || turns.some((events) => events === undefined));
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
