// The one error that this library rejects with.
import type { ResponseError } from "../wire/sidecar/schema.ts";

/**
 * `unknown_request` and `handler_failed` come from the sidecar. The others are found here: the process `ended`, it
 * could `not_start`, `too_many` requests are unanswered, a request is `too_long` for a line, this object was `closed`.
 */
export type SidecarErrorCode = ResponseError["code"] | "ended" | "not_start" | "too_many" | "too_long" | "closed";

export class SidecarError extends Error {
  override readonly name = "SidecarError";
  readonly code: SidecarErrorCode;
  /** Dotted path of the payload's field that was refused. */
  readonly field: string | undefined;

  constructor(code: SidecarErrorCode, message: string, field?: string) {
    super(message);
    this.code = code;
    this.field = field;
  }
}
