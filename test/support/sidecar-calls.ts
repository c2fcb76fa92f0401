// Words that the sidecar's tests share: what a scripted model says, and what a host reads off the frames.
import { expect } from "bun:test";
import type { ScriptItem } from "./scripted.ts";
import { type Frame, listOf, type SidecarHost } from "./sidecar-host.ts";

export const list: ScriptItem = { call: "fs.list", args: { path: "." } };
export const read = (path: string): ScriptItem => ({ call: "fs.read", args: { path } });
export const write = (path: string, content = "x"): ScriptItem => ({ call: "fs.write", args: { path, content } });
export const shell = (command: string): ScriptItem => ({ call: "shell.run", args: { command } });
export const reply = (text: string, attachments?: unknown): ScriptItem => ({ call: "reply", args: { text, ...(attachments === undefined ? {} : { attachments }) } });
export const ok: ScriptItem[] = [{ text: "ok" }];
/** Says something and then nothing more. */
export const hang: ScriptItem[] = [{ text: "half", chunk: 9 }, { hang: true }];

/** Closes stdin: exit 0, and every frame fits its schema. */
export async function endsWell(host: SidecarHost): Promise<void> {
  expect(await host.end()).toEqual({ exitCode: 0, breaches: [] });
}

export const payloadsOf = (host: SidecarHost, type: string): NonNullable<Frame["payload"]>[] => host.frames.filter((frame) => frame.type === type).map(({ payload }) => payload ?? {});

/** Status and summary of each call of a tool but the replies. */
export const resultsOf = (host: SidecarHost): [unknown, unknown][] => payloadsOf(host, "tool_call_result").filter(({ tool }) => tool !== "reply").map(({ status, summary }) => [status, summary]);

/** The question number `index`, when it is there. */
export async function question(host: SidecarHost, index: number): Promise<{ [name: string]: unknown }> {
  await host.frame(() => payloadsOf(host, "approval_request").length > index, `question ${index}`);
  return payloadsOf(host, "approval_request")[index] ?? {};
}

export async function answer(host: SidecarHost, index: number, fields: { [name: string]: unknown }): Promise<unknown> {
  return (await host.ask("approval_response", { approvalId: (await question(host, index))["approvalId"], ...fields })).payload;
}

export const stateOf = async (host: SidecarHost): Promise<Frame["payload"]> => (await host.ask("get_session", { sessionId: host.sessionId })).payload;
export const turnsOf = async (host: SidecarHost): Promise<{ kind: string; [name: string]: unknown }[]> => listOf(await stateOf(host), "turns");

/** Holds a time that other work on the machine can only lengthen: one of a few tries has to keep it. @param measure milliseconds */
export async function within(limitMs: number, measure: () => Promise<number>): Promise<void> {
  const taken: number[] = [];
  while (taken.length < 6 && !taken.some((durationMs) => durationMs < limitMs)) taken.push(await measure());
  expect(Math.min(...taken)).toBeLessThan(limitMs);
}

/** What every turn begins with, and what comes with a reply. */
export const opening = ["user_message", "turn_started", "step_started", "llm_request"];
export const replied = ["tool_call_started(reply)", "tool_call_result(reply,ok)", "assistant_reply"];
/** Behind the error of a cancelled step. */
export const closing = ["step_finished", "session_failed", "turn_finished(cancelled)", "R(cancelled)"];
