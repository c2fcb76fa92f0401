// What a llama-server says, as far as it is looked at. Every field may be missing: forks and older versions leave some out.
// Format: tools/server/README.md of llama.cpp (`/props`, `/slots`, `/completion` with `stream` and `return_progress`).
import { z } from "zod";

export const Props = z.object({
  default_generation_settings: z.object({ n_ctx: z.int().min(1).optional() }).optional(),
  total_slots: z.int().min(1).optional(),
  model_alias: z.string().optional(),
  model_path: z.string().optional(),
  chat_template: z.string().optional(),
  bos_token: z.string().optional(),
  eos_token: z.string().optional(),
});
export type Props = z.infer<typeof Props>;

export const Slots = z.array(z.object({ id: z.int().min(0), is_processing: z.boolean().optional(), id_task: z.int().optional() }));

const count = z.number().transform((value) => Math.max(0, Math.round(value)));

export const CompletionEvent = z.object({
  content: z.string().default(""),
  stop: z.boolean().default(false),
  tokens_predicted: count.optional(),
  tokens_evaluated: count.optional(),
  truncated: z.boolean().optional(),
  stop_type: z.string().optional(),
  // Older servers tell the same in two flags.
  stopped_limit: z.boolean().optional(),
  prompt_progress: z.object({ total: count, cache: count.default(0), processed: count }).optional(),
  timings: z.object({ cache_n: count.optional(), prompt_n: count.optional(), predicted_n: count.optional() }).optional(),
  error: z.unknown().optional(),
});
export type CompletionEvent = z.infer<typeof CompletionEvent>;
