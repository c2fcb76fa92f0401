// What the error answer of a model server means: which kind of failure it is (json-mode.md section 8), which category
// the sidecar gives it (sidecar.md section 6), and how long the server asks to wait. Texts of the servers as they
// write them: OpenAI, vLLM, SGLang, Ollama, LM Studio, llama-server, text-generation-inference, Groq, Mistral.
import type { EngineFailure, StepErrorCategory } from "../core/engine.ts";

/** Everything a server said about its error, in one text to look into. */
export type ErrorFacts = string;

const overflow =
  /context[_ -]?length[_ ]exceeded|exceed_context_size|maximum (?:context|model) length|max_model_len|exceeds? (?:the )?(?:available |model's |maximum )?context|context (?:the )?overflow|(?:longer|greater) than the (?:model's )?(?:maximum )?context|context (?:size|window|length) (?:has been |was |is )?exceeded|context length of only|prompt is too long|input (?:is|length|token count) (?:too long|exceeds)|`?inputs`? tokens \+ `?max_new_tokens|reduce the length of the (?:messages|prompt|input)|maximum number of tokens allowed|exceeds the context window/i;
const quota = /insufficient[_ ]quota|exceeded your current quota|billing|credit balance|out of credits|insufficient (?:credits|balance|funds)|payment required|quota exceeded/i;
const modelMissing = /model[^.]{0,120}(?:not found|does not exist|is not loaded|not exist|unknown|not available)|no models? (?:is )?(?:loaded|available)|(?:unknown|invalid|no such) model|model_not_found|try pulling it first/i;
const rateLimit = /rate[_ ]limit|tokens per (?:minute|day)|requests per (?:minute|day)|too many requests/i;
const overloaded = /overloaded|temporarily unavailable|loading model/i;

/** The text of an error body for people, and all of it for the tables above. HTML is not quoted. */
export function readErrorText(body: string): { text: string; facts: ErrorFacts } {
  if (/^\s*<(?:!doctype|html|head|body)/i.test(body)) return { text: "a web page", facts: "" };
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return { text: body.trim(), facts: body };
  }
  return { text: textOf(value) ?? body.trim(), facts: body };
}

export interface Classified {
  kind: EngineFailure["kind"];
  category: StepErrorCategory;
  /** Only where it differs from what the kind says. */
  retryable?: boolean;
}

/** @param local whether the server is one of the user's machine: then 400, 413 and 422 are of category `grammar`. */
export function classifyStatus(status: number, facts: ErrorFacts, local: boolean): Classified {
  const category = local && (status === 400 || status === 413 || status === 422) ? "grammar" : "transport";
  if (status !== 429 && overflow.test(facts) && !rateLimit.test(facts)) return { kind: "overflow", category };
  if (status === 402 || ((status === 429 || status === 403 || status === 400) && quota.test(facts))) return { kind: "rate_limit", category, retryable: false };
  if (status === 429) return { kind: "rate_limit", category };
  if (status === 413) return rateLimit.test(facts) ? { kind: "rate_limit", category, retryable: false } : { kind: "overflow", category };
  if (status === 401 || status === 403) return { kind: "auth", category };
  if (status === 408) return { kind: "timeout", category };
  if (status < 500 && modelMissing.test(facts)) return { kind: "model_missing", category };
  if (status >= 500 || status === 409 || status === 425) return { kind: "server", category };
  return { kind: "bad_request", category };
}

/** An error that comes inside a stream, where there is no status unless the server names one. */
export function classifyStreamError(value: unknown, local: boolean): Classified {
  const facts = JSON.stringify(value);
  const status = statusIn(value);
  if (status !== undefined) return classifyStatus(status, facts, local);
  if (overflow.test(facts)) return { kind: "overflow", category: "transport" };
  if (quota.test(facts)) return { kind: "rate_limit", category: "transport", retryable: false };
  if (rateLimit.test(facts)) return { kind: "rate_limit", category: "transport" };
  if (modelMissing.test(facts)) return { kind: "model_missing", category: "transport" };
  if (/invalid_request|bad_request|BadRequest/.test(facts) && !overloaded.test(facts)) return { kind: "bad_request", category: local ? "grammar" : "transport" };
  return { kind: "server", category: "transport" };
}

/** The message inside the error object of any of the servers. */
export function textOf(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.map(textOf).filter(Boolean).join("; ") || undefined;
  if (typeof value !== "object" || value === null) return undefined;
  const { detail, error, message, msg } = value as Record<string, unknown>;
  return textOf(error) ?? textOf(message) ?? textOf(msg) ?? textOf(detail);
}

/** Milliseconds that the server asks to wait: `retry-after-ms`, `retry-after` (seconds or a date), or in words. */
export function retryAfterMsOf(headers: Headers, facts: ErrorFacts, now: number = Date.now()): number | undefined {
  const exact = Number.parseFloat(headers.get("retry-after-ms") ?? "");
  if (exact >= 0) return Math.ceil(exact);
  const asked = headers.get("retry-after");
  if (asked !== null) {
    if (/^\s*\d+(?:\.\d+)?\s*$/.test(asked)) return Math.ceil(Number(asked) * 1000);
    const date = Date.parse(asked);
    if (!Number.isNaN(date)) return Math.max(0, date - now);
  }
  const words = /(?:try again|retry) (?:in|after) (?:(\d+)m(?!s))?\s*(?:(\d+(?:\.\d+)?)\s*(ms|s)?)?/i.exec(facts);
  if (!words || (words[1] === undefined && words[2] === undefined)) return undefined;
  const rest = Number(words[2] ?? 0) * (words[3] === "ms" ? 1 : 1000);
  return Math.ceil(Number(words[1] ?? 0) * 60_000 + rest);
}

function statusIn(value: unknown): number | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { code, error, status, status_code: statusCode } = value as Record<string, unknown>;
  for (const candidate of [code, status, statusCode]) {
    const number = typeof candidate === "string" && /^\d{3}$/.test(candidate) ? Number(candidate) : candidate;
    if (typeof number === "number" && number >= 400 && number < 600) return number;
  }
  return error === undefined ? undefined : statusIn(error);
}
