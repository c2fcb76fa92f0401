// Checks the payload of a request before its handler sees it, and refuses what a session rule forbids.
import type { z } from "zod";
import { AgentError } from "../../core/error.ts";
import { type HostRequestType, type RequestId, requestPayloads } from "../../wire/sidecar/schema.ts";
import { type Handler, PayloadError } from "../sidecar-dispatch.ts";

type Payloads = typeof requestPayloads;

export function checked<Type extends HostRequestType>(type: Type, handle: (payload: z.infer<Payloads[Type]>, id: RequestId) => unknown): Handler {
  return (payload, { id }) => handle(checkedPayload(requestPayloads[type], payload) as z.infer<Payloads[Type]>, id);
}

/** The request fails with this message. */
export function refuse(message: string, cause?: unknown): never {
  throw new AgentError("internal", message, { cause });
}

/** @throws PayloadError that names the field. */
function checkedPayload(schema: z.ZodType, payload: Record<string, unknown>): unknown {
  const result = schema.safeParse(payload);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const field = issue?.path.join(".") ?? "";
  throw new PayloadError(field, `${field}: ${issue?.message ?? "not valid"}`);
}
