// What ties requests together (I-10, I-15, I-16, C2, C11, 5.6, 5.11): questions and answers, steers, sessions, order of turns.
import { show } from "../json-checker/values.ts";
import { type Frame, freeTypes, type Life } from "./lives.ts";

/** @param isComplete the stream has its end, so that nothing may be open */
export function checkSessions(frames: readonly Frame[], lives: readonly Life[], isComplete: boolean): string[] {
  return [...checkNames(frames), ...checkTurns(frames, lives), ...checkQuestions(frames, lives, isComplete), ...checkSteers(frames, lives, isComplete), ...checkCancels(frames, lives)];
}

/** I-16, C11. */
function checkNames(frames: readonly Frame[]): string[] {
  let current: unknown;
  return frames.flatMap(({ correlationId, kind, payload, type = "" }, index) => {
    if (kind !== "event") return [];
    const named = payload?.["sessionId"];
    if (type === "session_started") {
      current = named;
      const next = frames.slice(index + 1).find((frame) => frame.kind === "event" ? !freeTypes.has(frame.type ?? "") : frame.correlationId === correlationId);
      return next === undefined || next.kind === "response" ? [] : [`frame ${index}: C11: session_started is followed by ${show(next.type)}`];
    }
    return named === undefined || named === current ? [] : [`frame ${index}: I-16: ${type} names ${show(named)}, active is ${show(current)}`];
  });
}

/** I-5, I-15, C2: turns do not overlap and are answered as they came. */
function checkTurns(frames: readonly Frame[], lives: readonly Life[]): string[] {
  const breaches: string[] = [];
  let open: unknown;
  for (const [index, { correlationId, kind, type }] of frames.entries()) {
    if (type === "user_message") {
      if (open !== undefined) breaches.push(`frame ${index}: C2: a turn begins inside that of ${show(open)}`);
      open = correlationId;
    }
    if (kind === "response" && correlationId === open) open = undefined;
  }
  const last = new Map<unknown, number>();
  for (const { answer, asked, endsAt, name, type } of lives) {
    if (type !== "send_message" || answer["reason"] === undefined) continue;
    const session = bare(asked["sessionId"]);
    if (endsAt < (last.get(session) ?? -1)) breaches.push(`${name}: I-15: answered before an earlier message`);
    last.set(session, endsAt);
  }
  return breaches;
}

/** I-10, 5.6. */
function checkQuestions(frames: readonly Frame[], lives: readonly Life[], isComplete: boolean): string[] {
  const closed = new Map<unknown, { at: number; how: string; why?: unknown }[]>();
  const close = (id: unknown, end: { at: number; how: string; why?: unknown }): void => void closed.set(id, [...(closed.get(id) ?? []), end]);
  for (const [at, { payload, type }] of frames.entries()) if (type === "approval_withdrawn") close(payload?.["approvalId"], { at, how: String(payload?.["reason"]) });
  for (const { answer, asked, endsAt, type } of lives) if (type === "approval_response" && answer["resolved"] === true) close(asked["approvalId"], { at: endsAt, how: asked["approved"] === true ? "approved" : "denied", why: asked["reason"] });
  const breaches: string[] = [];
  for (const [at, { correlationId, payload, type }] of frames.entries()) {
    if (type !== "approval_request") continue;
    const id = payload?.["approvalId"];
    const [end, ...more] = closed.get(id) ?? [];
    closed.delete(id);
    if (more.length > 0 || (end === undefined && isComplete) || (end !== undefined && end.at < at)) breaches.push(`frame ${at}: I-10: the question ${show(id)} is closed ${more.length + (end ? 1 : 0)} times`);
    const resultAt = frames.findIndex((frame, index) => index > at && frame.correlationId === correlationId && frame.type === "tool_call_result" && frame.payload?.["toolCallId"] === payload?.["toolCallId"]);
    if (end === undefined || resultAt === -1) continue;
    if (resultAt < end.at) breaches.push(`frame ${resultAt}: I-10: the result comes before the end of its question`);
    const { status, summary, truncated } = frames[resultAt]?.payload ?? {};
    const text = { denied: `approval denied for ${String(payload?.["tool"])}${end.why ? `: ${String(end.why)}` : ""}`, expired: `approval expired for ${String(payload?.["tool"])}`, cancelled: "cancelled" }[end.how];
    if (text !== undefined && !(status === "error" && (String(summary).startsWith(text) || truncated === true))) breaches.push(`frame ${resultAt}: 5.6: after ${end.how}: ${show(summary)}`);
  }
  return [...breaches, ...[...closed.keys()].map((id) => `I-10: ${show(id)} was closed and never asked`)];
}

/** I-15, 5.12. */
function checkSteers(frames: readonly Frame[], lives: readonly Life[], isComplete: boolean): string[] {
  const accepted = lives.filter(({ answer, type }) => type === "steer_message" && answer["steered"] === true).toSorted((a, b) => a.endsAt - b.endsAt);
  const shown = frames.flatMap(({ payload, type }, at) => (type === "steer_applied" || type === "steer_undelivered" ? [{ at, text: payload?.["text"], session: bare(payload?.["sessionId"]) }] : []));
  const breaches: string[] = [];
  for (const [session, taken] of Map.groupBy(accepted, ({ asked }) => bare(asked["sessionId"]))) {
    const told = shown.filter((one) => one.session === session);
    if (told.length > taken.length || (isComplete && told.length < taken.length)) breaches.push(`I-15: ${taken.length} steers were taken, ${told.length} told`);
    for (const [index, { at, text }] of told.entries()) {
      const given = taken[index];
      if (given && (String(given.asked["text"]).trim() !== text || given.endsAt > at)) breaches.push(`frame ${at}: I-15: steer ${show(text)}, wanted ${show(given.asked["text"])}`);
    }
  }
  const known = new Set(accepted.map(({ asked }) => bare(asked["sessionId"])));
  return [...breaches, ...shown.filter(({ session }) => !known.has(session)).map(({ at }) => `frame ${at}: I-15: a steer that nobody sent`)];
}

/** 5.11: the answer of a cancel stands before the closing frames of the turn that it ends. */
function checkCancels(frames: readonly Frame[], lives: readonly Life[]): string[] {
  const cancels = lives.filter(({ answer, type }) => type === "cancel" && answer["wasRunning"] === true);
  return lives.flatMap(({ endsAt, frames: own, name, type }) => {
    if (type !== "send_message" || endsAt === -1) return [];
    const [first, fatal] = [own[0], own.find(({ payload, type: told }) => told === "error" && payload?.["code"] === "step_error:cancelled")];
    if (!first || !fatal) return [];
    const [from, closing] = [frames.indexOf(first), frames.indexOf(fatal)];
    const late = cancels.some((cancel) => cancel.endsAt > closing && cancel.endsAt < endsAt);
    const early = cancels.some((cancel) => cancel.endsAt > from && cancel.endsAt < closing);
    return late && !early ? [`${name}: 5.11: the cancel is answered behind the closing frames`] : [];
  });
}

function bare(id: unknown): string {
  return String(id).replace(/^s-/, "");
}
