// The project's checker of the sidecar's stream, written from sidecar.md section 12: envelopes, the grammar of each request's
// frames, and what ties requests together. A stream is right when it returns nothing. It must not import what produces one;
// shapes of payloads are the schemas' matter (see sidecar-host.ts).
import { isObject } from "./json-checker/values.ts";
import { checkOrder } from "./sidecar-checker/grammar.ts";
import { type Frame, type Life, livesOf } from "./sidecar-checker/lives.ts";
import { checkSessions } from "./sidecar-checker/sessions.ts";
import { checkTurn } from "./sidecar-checker/turn.ts";

/** What a host sent and what it got, as JSON Lines; `killed` = it was ended from outside and may stop anywhere. */
export interface SidecarStream {
  requests: string;
  frames: string;
  killed?: boolean;
}

/** @returns one line a breach: the invariant or section, and what was found. */
export function checkSidecarStream({ frames: written, killed = false, requests }: SidecarStream): string[] {
  const frames = linesOf(written) as Frame[];
  const { breaches, lives } = livesOf(frames, linesOf(requests), !killed);
  const answered = lives.filter(({ response }) => response !== undefined);
  return [
    ...checkEnvelopes(frames),
    ...breaches,
    ...answered.flatMap((life) => [...checkOrder(life), ...checkTurn(life)]),
    ...checkCounters(answered),
    ...checkSessions(frames, lives, !killed),
  ];
}

function linesOf(text: string): unknown[] {
  return text.split("\n").filter((line) => line.trim() !== "").map((line) => JSON.parse(line) as unknown);
}

const keys = { event: "kind,id,type,payload", "event+": "kind,id,type,correlationId,payload", response: "kind,id,correlationId,ok,payload", "response+": "kind,id,correlationId,ok,payload,error" };
const uuid4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** I-1, I-18, section 2. */
function checkEnvelopes(frames: readonly Frame[]): string[] {
  const breaches: string[] = [];
  const ids = new Set<string>();
  if (frames[0]?.payload?.["message"] !== "atomic-agent sidecar booted") breaches.push("I-1: the first frame is not the boot log");
  for (const [index, frame] of frames.entries()) {
    const say = (text: string): void => void breaches.push(`frame ${index}: ${text}`);
    const isMore = frame.kind === "event" ? frame.correlationId !== undefined : frame.ok === false;
    if (Object.keys(frame).join() !== keys[`${frame.kind}${isMore ? "+" : ""}` as keyof typeof keys]) say(`2: keys ${Object.keys(frame).join()}`);
    if (!uuid4.test(frame.id) || ids.has(frame.id)) say(`I-1: id ${frame.id}`);
    ids.add(frame.id);
    if (frame.type === "pong" || frame.type === "trace") say(`I-18: ${frame.type} is reserved`);
    for (const path of nullsIn(frame.payload, "payload")) if (!nullable.test(path)) say(`I-18: null at ${path} of ${frame.type ?? "a response"}`);
  }
  return breaches;
}

/** Places marked `|null`, and what is passed on as it was given (C3). */
const nullable = /^payload$|\.(lastError|latestResult|worldSnapshot)$|^payload\.error$|\.(args|metadata|details)\./;

function nullsIn(value: unknown, path: string): string[] {
  if (value === null) return [path];
  if (Array.isArray(value)) return value.flatMap((item, index) => nullsIn(item, `${path}.${index}`));
  return isObject(value) ? Object.entries(value).flatMap(([key, item]) => nullsIn(item, `${path}.${key}`)) : [];
}

/** I-5, I-7, C9: counters grow from turn to turn of a session; what came before a resume is taken as given. */
function checkCounters(lives: readonly Life[]): string[] {
  const known = new Map<unknown, { turns: number; steps: number }>();
  const ended = lives.filter(({ answer, type }) => type === "send_message" && answer["turnIndex"] !== undefined).toSorted((a, b) => a.endsAt - b.endsAt);
  return ended.flatMap(({ answer, frames, name }) => {
    const finished = frames.find(({ type }) => type === "turn_finished")?.payload;
    const before = known.get(finished?.["sessionId"]);
    const steps = Number(finished?.["stepCount"]);
    const next = before ? { turns: before.turns + 1, steps: before.steps + steps } : { turns: Number(answer["turnIndex"]) + 1, steps: Number(answer["stepCount"]) };
    known.set(finished?.["sessionId"], next);
    const fits = answer["turnCount"] === next.turns && answer["stepCount"] === next.steps && answer["turnIndex"] === next.turns - 1;
    return fits ? [] : [`${name}: I-7: turns ${String(answer["turnCount"])}, steps ${String(answer["stepCount"])}; counted ${next.turns} and ${next.steps}`];
  });
}
