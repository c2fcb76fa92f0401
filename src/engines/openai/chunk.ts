// One piece of a streamed answer, whoever wrote it: fields may be missing, null, or of another server's name.
// Formats: OpenAI API reference "chat completion chunk"; vLLM and llama-server `reasoning_content`, Ollama and OpenRouter
// `reasoning`, Mistral content parts, whole answers (`message`) of servers that don't stream.
import { z } from "zod";

const optional = <Schema extends z.ZodType>(schema: Schema) => schema.nullish().catch(undefined);
const count = z.number().min(0).transform(Math.round);

const CallDelta = z.object({
  index: optional(z.int().min(0)),
  id: optional(z.string()),
  function: optional(z.object({ name: optional(z.string()), arguments: optional(z.union([z.string(), z.record(z.string(), z.unknown())])) })),
});
export type CallDelta = z.infer<typeof CallDelta>;

const Part = z.object({ type: optional(z.string()), text: optional(z.string()), thinking: z.unknown().optional() });
const Content = z.union([z.string(), z.array(Part)]);

const Delta = z.object({
  content: optional(Content),
  reasoning_content: optional(z.string()),
  reasoning: optional(z.string()),
  refusal: optional(z.string()),
  tool_calls: optional(z.array(CallDelta)),
  function_call: optional(z.object({ name: optional(z.string()), arguments: optional(z.string()) })),
});
export type Delta = z.infer<typeof Delta>;

const Counts = z.object({
  prompt_tokens: optional(count),
  completion_tokens: optional(count),
  prompt_tokens_details: optional(z.object({ cached_tokens: optional(count) })),
  completion_tokens_details: optional(z.object({ reasoning_tokens: optional(count) })),
});
export type Counts = z.infer<typeof Counts>;

export const Chunk = z.object({
  choices: optional(z.array(z.object({ delta: optional(Delta), message: optional(Delta), finish_reason: optional(z.string()) }))),
  usage: optional(Counts),
  error: z.unknown().optional(),
});
export type Chunk = z.infer<typeof Chunk>;

/** Text and thinking of content in either form. */
export function contentOf(content: z.infer<typeof Content> | null | undefined): { text: string; thinking: string } {
  if (typeof content === "string") return { text: content, thinking: "" };
  let text = "";
  let thinking = "";
  for (const part of content ?? []) {
    if (part.type === "thinking") thinking += thoughtOf(part.thinking);
    else text += part.text ?? "";
  }
  return { text, thinking };
}

function thoughtOf(value: unknown): string {
  if (typeof value === "string") return value;
  const inner = z.array(Part).safeParse(value);
  return inner.success ? inner.data.map((part) => part.text ?? "").join("") : "";
}
