// What a pull tells while it runs; also the lines of `atomic models pull --progress json`.
import { z } from "zod";

export const PullEvent = z.discriminatedUnion("type", [
  /** Another process is fetching the same model. */
  z.strictObject({ type: z.literal("pull_waiting"), model: z.string(), message: z.string() }),
  /** Once per source that is tried; `bytes` are there already. */
  z.strictObject({ type: z.literal("pull_started"), model: z.string(), source: z.string(), bytes: z.int(), totalBytes: z.int().optional() }),
  z.strictObject({ type: z.literal("pull_progressed"), model: z.string(), bytes: z.int(), totalBytes: z.int().optional(), bytesPerSecond: z.int() }),
  /** The same source is tried again after the delay. */
  z.strictObject({ type: z.literal("source_retried"), model: z.string(), source: z.string(), message: z.string(), attempt: z.int(), delayMs: z.number() }),
  /** The source is given up. */
  z.strictObject({ type: z.literal("source_failed"), model: z.string(), source: z.string(), message: z.string() }),
  /** Last line of a success; `downloaded` is false when the model was there. */
  z.strictObject({ type: z.literal("pull_finished"), model: z.string(), path: z.string(), bytes: z.int(), sha256: z.string(), downloaded: z.boolean(), durationMs: z.int() }),
  /** Last line of a failure; the exit status is not 0. */
  z.strictObject({ type: z.literal("pull_failed"), model: z.string(), code: z.string(), message: z.string() }),
]);
export type PullEvent = z.infer<typeof PullEvent>;
