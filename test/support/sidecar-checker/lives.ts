// Gives each request the frames that carry its id, up to its response and the error beside it (I-2, I-3, I-4, 5.14).
import { isObject, type JsonObject, show } from "../json-checker/values.ts";

export interface Frame {
  kind: string;
  id: string;
  type?: string;
  correlationId?: string | number;
  ok?: boolean;
  payload: JsonObject | null;
  error?: { message: string; code: string; field?: string };
}

export interface Life {
  /** For messages. */
  name: string;
  type: string;
  asked: JsonObject;
  /** Without `log`, `metric` and `model_loading`. */
  frames: Frame[];
  /** Place of the response in the stream. */
  endsAt: number;
  response?: Frame;
  /** The response's payload when it is ok, else empty. */
  answer: JsonObject;
}

export const freeTypes: ReadonlySet<string> = new Set(["log", "metric", "model_loading"]);
const handled: ReadonlySet<string> = new Set([
  "ping", "start_session", "send_message", "steer_message", "cancel", "approval_response", "get_session", "skill_install", "skill_uninstall",
  "skill_list", "shutdown", "compact_session", "get_compaction", "list_sessions", "models_list", "set_model",
]);

/** @param isComplete the stream has its end, so that nothing may be unanswered */
export function livesOf(frames: readonly Frame[], requests: readonly unknown[], isComplete: boolean): { lives: Life[]; breaches: string[] } {
  const breaches: string[] = [];
  const asked = requests.filter((request) => isObject(request) && request["kind"] === "request") as JsonObject[];
  const named = asked.filter(({ id }) => isId(id)).map((request) => ({ id: idOf(request["id"]), life: lifeOf(request) }));
  const lives = named.map(({ life }) => life);
  const open = new Map(Map.groupBy(named, ({ id }) => id).entries().map(([id, of]) => [id, of.map(({ life }) => life)]));
  let nameless = 0;
  for (const [index, frame] of frames.entries()) {
    const { correlationId, error, kind, ok, type } = frame;
    const say = (text: string): void => void breaches.push(`frame ${index}: ${text}`);
    if (kind === "response" && error?.code === "handler_failed") checkErrorEvent(frame, frames[index + 1], say);
    if (kind === "event" && type === "error" && frame.payload?.["code"] === "handler_failed" && frames[index - 1]?.error?.code !== "handler_failed") say("I-4: an error beside no response");
    if (correlationId === undefined || (kind === "event" && type === "error" && frame.payload?.["code"] === "handler_failed")) continue;
    if (correlationId === "") {
      nameless += 1;
      if (ok !== false || error?.field !== "id") say("2: a response without an id that names no id");
      continue;
    }
    const waiting = open.get(idOf(correlationId)) ?? [];
    const life = takenBy(waiting, frame);
    if (!life) {
      if (!freeTypes.has(type ?? "")) say(`I-3: ${type ?? "a response"} for ${show(correlationId)}, which nobody asked or which is answered`);
      continue;
    }
    if (!freeTypes.has(type ?? "")) life.frames.push(frame);
    if (kind !== "response") continue;
    Object.assign(life, { response: frame, endsAt: index, answer: ok && isObject(frame.payload) ? frame.payload : {} });
    waiting.splice(waiting.indexOf(life), 1);
  }
  if (isComplete) for (const waiting of open.values()) for (const { name } of waiting) breaches.push(`${name}: I-2: no response`);
  const unnamed = asked.length - lives.length;
  if (nameless > unnamed || (isComplete && nameless < unnamed)) breaches.push(`I-2: ${nameless} responses to ${unnamed} requests without an id`);
  return { lives, breaches };
}

function lifeOf(request: JsonObject): Life {
  const type = typeof request["type"] === "string" ? request["type"] : String(request["type"]);
  const payload = request["payload"];
  return { name: `[${show(request["type"])} ${show(request["id"])}]`, type, asked: isObject(payload) ? payload : {}, frames: [], endsAt: -1, answer: {} };
}

/** The oldest request of an id has its frames; what refuses an id or a type belongs to the one that was refused. */
function takenBy(waiting: readonly Life[], { error, kind }: Frame): Life | undefined {
  if (kind === "response" && error?.code === "unknown_request") return waiting.find(({ type }) => !handled.has(type));
  const known = waiting.filter(({ type }) => handled.has(type));
  return kind === "response" && error?.message === "duplicate request id" ? known[1] : known[0];
}

function checkErrorEvent(response: Frame, next: Frame | undefined, say: (text: string) => void): void {
  const fits = next?.type === "error" && next.payload?.["code"] === "handler_failed" && next.payload["message"] === response.error?.message && typeof next.payload["stack"] === "string";
  if (!fits || next.correlationId !== (response.correlationId === "" ? undefined : response.correlationId)) say(`I-4: the frame behind a failed response is ${show(next)}`);
}

function isId(id: unknown): boolean {
  return (typeof id === "string" && id !== "") || typeof id === "number";
}

function idOf(id: unknown): string {
  return JSON.stringify(id);
}
