// Takes out of a transcript what differs from run to run, keeping identity: the same id becomes the same placeholder.
import { isObject, type JsonObject } from "../support/json-checker/values.ts";

export interface Places {
  /** Real paths and what stands for them, the longest first. */
  [path: string]: string;
}

export function normaliseEvents(events: readonly JsonObject[], places: Places): JsonObject[] {
  const names = new Map<string, string>();
  for (const event of events) collectIds(event, names);
  return events.map((event) => normaliseValue(event, "", places, names) as JsonObject);
}

export function normaliseText(text: string, places: Places): string {
  const named = Object.entries(places).reduce((current, [path, name]) => current.replaceAll(path, name), text);
  return named.replaceAll(uuid, "<id>").replaceAll(/\b\d+(\.\d+)? m?s\b/g, "<duration>");
}

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const replaced: { [key: string]: string } = { firstKeptEntryId: "<entry>", timestamp: "<time>", durationMs: "<duration>", agentVersion: "<version>", sandbox: "<sandbox>" };

/** Ids of the session and of calls, numbered by first appearance. */
function collectIds(value: unknown, names: Map<string, string>): void {
  if (Array.isArray(value)) for (const item of value) collectIds(item, names);
  if (!isObject(value)) return;
  for (const [key, inner] of Object.entries(value)) {
    const isId = typeof inner === "string" && (key === "toolCallId" || (key === "id" && ["toolCall", "session", "toolcall_start"].includes(String(value["type"]))));
    if (isId) names.set(inner, names.get(inner) ?? `<id-${names.size + 1}>`);
    else collectIds(inner, names);
  }
}

function normaliseValue(value: unknown, key: string, places: Places, names: ReadonlyMap<string, string>): unknown {
  const placeholder = replaced[key];
  if (placeholder !== undefined && value !== null && !isObject(value)) return placeholder;
  if (typeof value === "string") {
    const text = names.get(value) ?? normaliseText(value, places);
    // How long a request is depends on the system text, which no order is about.
    return key === "errorMessage" ? text.replaceAll(/\b\d+ tokens/g, "<count> tokens") : text;
  }
  if (Array.isArray(value)) return value.map((item) => normaliseValue(item, "", places, names));
  if (!isObject(value)) return value;
  const isCompaction = "compactedText" in value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, isCompaction && name === "tokensBefore" ? "<count>" : normaliseValue(inner, name, places, names)]));
}
