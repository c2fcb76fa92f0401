// A loopback server that speaks the API of llama.cpp's server: `/health`, `/props`, `/slots`, `/tokenize` (one token a
// character) and `/completion`, whose answers are what the model writes, one text a generation.
import { type Answer, type FaultServer, type KeptRequest, startFaultServer } from "./fault-server.ts";
import type { JsonObject } from "./json-checker/values.ts";

export interface CompletionServer extends AsyncDisposable {
  url: string;
  /** Bodies of the completion requests; their prompt as text. */
  completions(): (JsonObject & { prompt: string })[];
  server: FaultServer;
}

/** @param answers in order, the last one repeats: the text of a generation, in pieces, or another answer */
export async function startCompletionServer(answers: readonly [string | string[] | Answer, ...(string | string[] | Answer)[]], { contextWindow = 32_768 }: { contextWindow?: number } = {}): Promise<CompletionServer> {
  const asked: (JsonObject & { prompt: string })[] = [];
  const server = await startFaultServer((request) => {
    switch (request.path) {
      case "/health":
        return { status: 200, body: { status: "ok" } };
      case "/props":
        return { status: 200, body: { default_generation_settings: { n_ctx: contextWindow }, total_slots: 1, model_alias: "tiny", chat_template: "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}\n{% endfor %}<|assistant|>", bos_token: "", eos_token: "" } };
      case "/slots":
        return { status: 200, body: [{ id: 0, is_processing: false }] };
      case "/tokenize":
        return { status: 200, body: { tokens: tokensOf(request) } };
      case "/completion": {
        const body = request.json as JsonObject;
        asked.push({ ...body, prompt: textOfTokens(body["prompt"]) });
        return spoken(answers[asked.length - 1] ?? answers.at(-1) ?? answers[0]);
      }
      default:
        return { status: 404, body: { error: { message: "not here" } } };
    }
  });
  return { url: server.url, completions: () => asked, server, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

/** What a model under the grammar writes when it answers. */
export function reply(text: string): string {
  return JSON.stringify({ tool: "reply", args: { text } });
}

function tokensOf({ json }: KeptRequest): number[] {
  return [...String((json as JsonObject)["content"])].map((character) => character.codePointAt(0) ?? 0);
}

function textOfTokens(prompt: unknown): string {
  return Array.isArray(prompt) ? prompt.map((token: unknown) => String.fromCodePoint(Number(token))).join("") : "";
}

function spoken(answer: string | string[] | Answer): Answer {
  if (typeof answer !== "string" && !Array.isArray(answer)) return answer;
  const pieces = typeof answer === "string" ? [answer] : answer;
  const events = pieces.map((content, index) => ({ content, stop: false, tokens_predicted: index + 1, tokens_evaluated: 9 }));
  const end = { content: "", stop: true, stop_type: "eos", tokens_predicted: pieces.length, tokens_evaluated: 9, timings: { cache_n: 0, prompt_n: 9, predicted_n: pieces.length } };
  return { events: [...events, end] };
}
