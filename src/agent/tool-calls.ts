// Runs the calls of one message: all are announced first, then reads run side by side, everything else alone and in
// order. Every call ends with a result, also when it is refused, fails, runs out of time or is aborted.
import type { z } from "zod";
import { ToolError, messageOf } from "../core/error.ts";
import type { Batch, Emit } from "../core/event.ts";
import { limits } from "../core/limits.ts";
import type { ToolCall, ToolResultMessage } from "../core/message.ts";
import { nearest } from "../core/nearest.ts";
import type { Runtime } from "../core/runtime.ts";
import type { Tool, ToolContext, ToolResult } from "../core/tool.ts";
import type { Approvals } from "./approvals/approvals.ts";

export interface ToolCallsOptions {
  tools: readonly Tool[];
  approvals: Approvals;
  workspace: string;
  /** Stores a message before it is told as ended. */
  commit: (message: ToolResultMessage) => void;
  emit: Emit;
  runtime: Runtime;
  signal: AbortSignal;
  stepIndex: number;
  parallelMax: number;
  /** Milliseconds for any tool that has no time-out of its own. */
  toolTimeoutMs: number;
  /** Bytes of one result; of several results together. */
  resultBytesMax: number;
  batchResultBytesMax: number;
  /** When set no call runs: each gets this text as its error. */
  refusal?: string;
  /** A call that must not run, with the reason (a repeated call that was vetoed). */
  veto?: (call: ToolCall) => string | undefined | Promise<string | undefined>;
}

interface Outcome {
  result: ToolResult;
  isError: boolean;
}

/** @returns one message a call, in call order; all have been emitted. */
export async function runToolCalls(calls: readonly ToolCall[], options: ToolCallsOptions): Promise<ToolResultMessage[]> {
  if (options.refusal !== undefined) return await refuseAll(calls, options.refusal, options);
  const outcomes: Promise<Outcome>[] = [];
  const ready: { call: ToolCall; batch: Batch; tool: Tool; args: Record<string, unknown> }[] = [];
  for (const [index, call] of calls.entries()) {
    const batch = { index, size: calls.length };
    await options.emit({ type: "tool_started", stepIndex: options.stepIndex, call, batch });
    const checked = await preflight(call, index, options);
    if (typeof checked === "string") outcomes[index] = end(call, batch, failure(new ToolError(checked)), 0, options);
    else ready.push({ call, batch, ...checked });
  }
  await schedule(ready, options, (entry, outcome) => {
    outcomes[entry.batch.index] = outcome;
  });
  const messages: ToolResultMessage[] = [];
  for (const [index, call] of calls.entries()) {
    const outcome = await outcomes[index];
    if (outcome) messages.push(await tell(call, outcome, options));
  }
  return messages;
}

/** Nothing runs, so each call is over before the next one begins (json-mode.md 6.8). */
async function refuseAll(calls: readonly ToolCall[], refusal: string, options: ToolCallsOptions): Promise<ToolResultMessage[]> {
  const messages: ToolResultMessage[] = [];
  for (const [index, call] of calls.entries()) {
    const batch = { index, size: calls.length };
    await options.emit({ type: "tool_started", stepIndex: options.stepIndex, call, batch });
    messages.push(await tell(call, await end(call, batch, failure(new ToolError(refusal)), 0, options), options));
  }
  return messages;
}

/** What the model is told of a call that names no tool. */
export function unknownTool(name: string, tools: readonly Pick<Tool, "name">[]): string {
  const names = tools.map((tool) => tool.name);
  const near = nearest(name, names);
  return `there is no tool ${name}${near ? `; did you mean ${near}?` : ""} The tools are: ${names.join(", ")}`;
}

type Ready = { call: ToolCall; batch: Batch; tool: Tool; args: Record<string, unknown> };

/** Reads wait for every serial call before them, a serial call for every call before it. */
async function schedule(ready: readonly Ready[], options: ToolCallsOptions, started: (entry: Ready, outcome: Promise<Outcome>) => void): Promise<void> {
  const running = new Set<Promise<Outcome>>();
  for (const entry of ready) {
    const serial = entry.tool.class !== "read";
    while (running.size > 0 && (serial || running.size >= options.parallelMax)) await (serial ? Promise.all(running) : Promise.race(running));
    const outcome = runCall(entry, options);
    running.add(outcome);
    void outcome.then(() => running.delete(outcome));
    started(entry, outcome);
    if (serial) await outcome;
  }
  await Promise.all(running);
}

/** What keeps a call from running, or the tool and its parsed arguments. */
async function preflight(call: ToolCall, index: number, options: ToolCallsOptions): Promise<string | { tool: Tool; args: Record<string, unknown> }> {
  if (index >= limits.callsPerStepMax) return `not run: one message may hold at most ${limits.callsPerStepMax} calls`;
  const tool = options.tools.find((candidate) => candidate.name === call.name);
  if (!tool) return unknownTool(call.name, options.tools);
  const parsed = tool.schema.safeParse(call.arguments);
  if (!parsed.success) return `${call.name} was not run, its arguments are wrong: ${describeIssues(parsed.error)}`;
  return (await options.veto?.(call)) ?? { tool, args: parsed.data };
}

function describeIssues(error: z.ZodError): string {
  return error.issues.map((issue) => (issue.path.length > 0 ? `${issue.path.join(".")}: ${issue.message}` : issue.message)).join("; ");
}

async function runCall({ call, batch, tool, args }: Ready, options: ToolCallsOptions): Promise<Outcome> {
  const startedAt = options.runtime.now();
  const outcome = options.signal.aborted ? failure(new ToolError("not run: the turn was cancelled")) : await attempt(call, tool, args, batch, options);
  return end(call, batch, outcome, options.runtime.now() - startedAt, options);
}

/** The time-out begins when the call may run: a person takes the time that a person takes. */
async function attempt(call: ToolCall, tool: Tool, args: Record<string, unknown>, batch: Batch, options: ToolCallsOptions): Promise<Outcome> {
  let open = true;
  const context = toolContext(call, batch, options, () => open);
  try {
    await options.approvals.check(call, tool, args, context);
    const signal = tool.class === "shell" ? options.signal : AbortSignal.any([options.signal, AbortSignal.timeout(options.toolTimeoutMs)]);
    const result = await settled(tool.run(args, { ...context, signal }), signal, () =>
      options.signal.aborted ? "cancelled" : `${call.name} took longer than ${options.toolTimeoutMs} ms (agent.toolTimeoutMs)`,
    );
    return { result, isError: false };
  } catch (error) {
    return failure(error);
  } finally {
    open = false;
  }
}

/** A tool that ignores its signal does not hold the step: it has a grace time to end by itself. */
async function settled<T>(work: Promise<T>, signal: AbortSignal, reason: () => string): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  let timer: Timer | undefined;
  const onAbort = (): void => {
    timer = setTimeout(() => reject(new ToolError(reason())), 3 * limits.killGraceMs);
  };
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  }
}

function toolContext(call: ToolCall, batch: Batch, options: ToolCallsOptions, isOpen: () => boolean): ToolContext {
  const { emit, runtime, signal, workspace, resultBytesMax, batchResultBytesMax } = options;
  return {
    workspace,
    signal,
    maxLines: limits.resultLinesMax,
    maxBytes: batch.size > 1 ? Math.min(resultBytesMax, Math.floor(batchResultBytesMax / batch.size)) : resultBytesMax,
    onUpdate: (partialResult) => {
      if (isOpen()) void emit({ type: "tool_updated", call, partialResult });
    },
    log: runtime.log,
  };
}

function failure(error: unknown): Outcome {
  const known = error instanceof ToolError;
  const content = known && error.content ? [...error.content] : [{ type: "text" as const, text: known ? error.message : messageOf(error) }];
  return { result: { content, details: known ? error.details : {} }, isError: true };
}

async function end(call: ToolCall, batch: Batch, outcome: Outcome, durationMs: number, { emit, stepIndex }: ToolCallsOptions): Promise<Outcome> {
  await emit({ type: "tool_ended", stepIndex, call, batch, ...outcome, durationMs });
  return outcome;
}

async function tell(call: ToolCall, { result, isError }: Outcome, { commit, emit, runtime }: ToolCallsOptions): Promise<ToolResultMessage> {
  const message: ToolResultMessage = {
    role: "toolResult",
    toolCallId: call.id,
    toolName: call.name,
    content: result.content,
    ...(result.details === undefined ? {} : { details: result.details }),
    isError,
    timestamp: runtime.now(),
  };
  await emit({ type: "message_started", message });
  commit(message);
  await emit({ type: "message_ended", message });
  return message;
}
