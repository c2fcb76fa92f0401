// Random lines of a host: at least half are valid envelopes whose payloads were changed, the rest is whatever a broken
// host could write. A seed gives the same lines again.

export interface Random {
  /** A whole number from 0 to below `limit`. */
  below(limit: number): number;
  one<Item>(items: readonly Item[]): Item;
  chance(share: number): boolean;
}

export function randomOf(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number): number => Math.floor(next() * limit);
  return { below, one: (items) => items[below(items.length)] as (typeof items)[number], chance: (share) => next() < share };
}

/** What the host knows while it asks. */
export interface Known {
  sessionId: string;
  earlierIds: readonly string[];
  approvalIds: readonly string[];
  /** Ids of requests that are not answered yet. */
  openIds: readonly (string | number)[];
  workingDir: string;
  models: readonly string[];
}

export interface FuzzLine {
  bytes: Uint8Array | string;
  /** A valid envelope whose payload was changed. */
  isMutated?: boolean;
  /**
   * A request, answered exactly once; its id as the host gave it. `raw` = the line that was sent where the parser may find it
   * too deep: then it is a parse_error instead, and `text` has something shallow in that place.
   */
  request?: { id: unknown; type: unknown; text: string; raw?: string };
}

type Payload = Record<string, unknown>;

const payloads: Record<string, (random: Random, known: Known) => Payload> = {
  ping: () => ({}),
  start_session: (random, known) => ({ workingDir: known.workingDir, model: random.one(known.models), approvalLevel: 1 + random.below(5), ...(random.chance(0.3) ? { resumeSessionId: random.one([...known.earlierIds, "s-none"]) } : {}), metadata: { title: word(random) } }),
  send_message: (random, known) => ({ sessionId: session(random, known), text: word(random), ...(random.chance(0.3) ? { maxSteps: 1 + random.below(4) } : {}) }),
  steer_message: (random, known) => ({ sessionId: session(random, known), text: word(random) }),
  cancel: (random, known) => ({ sessionId: session(random, known) }),
  approval_response: (random, known) => ({ approvalId: random.one([...known.approvalIds, "none"]), approved: random.chance(0.7), grant: random.one(["once", "session"]), reason: word(random) }),
  get_session: (random, known) => ({ sessionId: session(random, known) }),
  skill_install: (random) => ({ sourcePath: random.one(["skill-a", "skill-b", "broken", "nowhere"]), force: random.chance(0.6) }),
  skill_uninstall: (random) => ({ name: random.one(["skill-a", "skill-b", "other", "../x"]) }),
  skill_list: () => ({}),
  compact_session: (random, known) => ({ sessionId: session(random, known) }),
  get_compaction: (random, known) => ({ sessionId: session(random, known) }),
  list_sessions: (random, known) => ({ limit: 1 + random.below(5), ...(random.chance(0.5) ? { workingDir: known.workingDir } : {}) }),
  models_list: () => ({}),
  set_model: (random, known) => ({ model: random.one([...known.models, "unknown"]), ...(random.chance(0.5) ? { sessionId: session(random, known) } : {}) }),
  run_step: () => ({}),
};

/** Types as often as a host would ask for them; a session that starts ends the one before it, so it is rare. */
const weighted: readonly string[] = Object.keys(payloads).flatMap((type) => Array.from({ length: { start_session: 1, send_message: 12, steer_message: 8, cancel: 1, approval_response: 12, ping: 6 }[type] ?? 3 }, () => type));

let lastId = 0;

export function fuzzLine(random: Random, known: Known): FuzzLine {
  return random.chance(0.8) ? envelope(random, known) : random.chance(0.5) ? brokenEnvelope(random, known) : { bytes: garbage(random) };
}

function envelope(random: Random, known: Known): FuzzLine {
  const type = random.one(weighted);
  const payload = payloads[type]?.(random, known) ?? {};
  const isMutated = random.chance(0.68);
  const extra = random.chance(0.1) ? { extra: anything(random) } : {};
  const frame = { kind: "request", id: freshId(random), type, payload: isMutated ? mutated(payload, random) : payload, ...extra };
  const shape = random.below(50);
  if (isMutated && shape === 0) return { ...tooDeep(frame, random), isMutated };
  if (isMutated && shape === 1) return { bytes: notUtf8(frame, random), isMutated };
  return { ...line(frame), isMutated };
}

/** Mostly short; also numbers, names of prototypes, and long ones. Each is used once. */
function freshId(random: Random): string | number {
  lastId += 1;
  switch (random.below(20)) {
    case 0:
      return lastId;
    case 1:
      return -lastId / 1024;
    case 2:
      return `${random.one(["__proto__", "constructor", "toString", "\ud800", "\u2028", "\0", '"'])}${lastId}`;
    case 3:
      return `${"i".repeat(random.below(random.chance(0.1) ? 100_000 : 500))}${lastId}`;
    default:
      return `r${lastId}`;
  }
}

/** Nested as deep as a stack may be, in a field that takes no such thing or that nobody knows. */
function tooDeep(frame: Payload, random: Random): FuzzLine {
  const depth = random.one([200, 5000, 100_000]);
  const [open, close] = random.one([["[", "]"], ['{"a":', "}"]] as const);
  const deep = `${open.repeat(depth)}1${close.repeat(depth)}`;
  const name = random.one(["text", "sessionId", "approved", "workingDir", "extra", "__proto__"]);
  const place = `"${name}":"(deep)"`;
  const text = JSON.stringify({ ...frame, payload: {} }).replace('"payload":{}', () => `"payload":{${place}}`);
  const raw = text.replace('"(deep)"', () => deep);
  return { bytes: `${raw}\n`, request: { id: frame["id"], type: frame["type"], text: name === "extra" ? text : text.replace('"(deep)"', "[]"), raw } };
}

/** The bytes of a request with one that is in no UTF-8. */
function notUtf8(frame: Payload, random: Random): Uint8Array {
  const bytes = Buffer.from(`${JSON.stringify(frame)}\n`);
  bytes[random.below(bytes.length - 1)] = random.one([0xff, 0xc0, 0xf8]);
  return bytes;
}

function brokenEnvelope(random: Random, known: Known): FuzzLine {
  const frame: Payload = { kind: "request", id: `b${(lastId += 1)}`, type: random.one(weighted), payload: {} };
  switch (random.below(6)) {
    case 0:
      return line({ ...frame, id: random.one<unknown>(["", null, true, {}, [], undefined]) });
    case 1:
      return line({ ...frame, type: random.one<unknown>(["", "constructor", "__proto__", "toString", null, 7, undefined, "Ping"]) });
    case 2:
      return line({ ...frame, payload: random.one<unknown>([[], "x", 1, true, null, undefined]) });
    case 3:
      return line({ ...frame, id: known.openIds.length > 0 ? random.one(known.openIds) : frame["id"] });
    case 4:
      return line({ ...frame, payload: mutated({}, random) });
    default:
      return { bytes: `${JSON.stringify({ ...frame, kind: random.one<unknown>(["event", "response", "Request", 1, null]) })}\n` };
  }
}

function line(frame: Payload): FuzzLine {
  const text = JSON.stringify(frame);
  return { bytes: `${text}\n`, request: { id: frame["id"], type: frame["type"], text } };
}

function garbage(random: Random): Uint8Array | string {
  switch (random.below(7)) {
    case 0:
      return new Uint8Array([0x7b, 0xff, 0xfe, 0x22, 0x0a]);
    case 1:
      return `${"[".repeat(random.below(20_000))}\n`;
    case 2:
      return random.one(["\n", "\r\n", "   \n", "\uFEFF\n", "null\n", "1\n", '"x"\n', "[]\n", "{}\n"]);
    case 3:
      return `{"kind":"request","id":"x","type":"ping"\n`;
    case 4:
      return `${word(random)}\n`.replace(/^\{/, "x");
    case 5:
      return `{"kind":"request","id":${"9".repeat(1 + random.below(400))},"type\n`;
    default:
      return `${String.fromCharCode(...Array.from({ length: random.below(200) }, () => 32 + random.below(90)))}x\n`;
  }
}

function mutated(payload: Payload, random: Random): Payload {
  const keys = Object.keys(payload);
  const key = keys.length > 0 && random.chance(0.8) ? random.one(keys) : random.one(["sessionId", "text", "force", "limit", "model", "__proto__", "constructor", "hasOwnProperty", "payload", word(random)]);
  const rest = Object.fromEntries(Object.entries(payload).filter(([name]) => name !== key));
  return random.chance(0.2) ? rest : { ...rest, [key]: anything(random) };
}

function anything(random: Random, depth = 0): unknown {
  const plain: unknown[] = [null, true, false, 0, -1, 1.5, 1e300, "", " ", "x", "s-x", "\u2028\u2029\ud800", "é".repeat(random.below(300)), word(random)];
  if (depth > 3 || random.chance(0.7)) return random.one(plain);
  if (depth === 0 && random.chance(0.05)) return Array.from({ length: 300 }).reduce<unknown>((inner) => [inner], 1);
  return random.chance(0.5) ? Array.from({ length: random.below(4) }, () => anything(random, depth + 1)) : { [random.one(["a", "id", "text", "", "__proto__", "constructor"])]: anything(random, depth + 1) };
}

function session(random: Random, known: Known): string {
  return random.chance(0.85) ? known.sessionId : random.one([...known.earlierIds, "s-none", ""]);
}

function word(random: Random): string {
  return random.one(["go", "do it", "read a.txt", "ä ö ü 😀", "line one\nline two", "\u202eabc", "x".repeat(1 + random.below(2000)), "…"]);
}
