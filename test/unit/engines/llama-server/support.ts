// A llama-server that answers as a test says, and an engine that is connected to it.
import type { TextEngine, TextRequest } from "../../../../src/core/engine.ts";
import { createLlamaServerEngine, type LlamaServerOptions } from "../../../../src/engines/llama-server/engine.ts";
import { startFaultServer, type Answer, type FaultServer, type KeptRequest } from "../../../support/fault-server.ts";

export const props = {
  default_generation_settings: { n_ctx: 100 },
  total_slots: 2,
  model_alias: "/models/tiny.gguf",
  chat_template: "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% endfor %}{% if add_generation_prompt %}<|go|>{% endif %}",
  bos_token: "<s>",
  eos_token: "</s>",
};
const slots = [
  { id: 0, is_processing: false, id_task: 4 },
  { id: 1, is_processing: false },
];
export const secret = "key-77e0c1";

/** One token a character, so that prompts can be read back; 1 is what the server puts in front. */
function tokenize({ json }: KeptRequest): Answer {
  const { add_special: addSpecial, content } = json as { content: string; add_special: boolean };
  return { status: 200, body: { tokens: [...(addSpecial ? [1] : []), ...[...content].map((character) => character.codePointAt(0))] } };
}

interface Behaviour {
  completion: Answer | ((index: number) => Answer);
  health?: Answer | ((index: number) => Answer);
  props?: Answer;
  slots?: Answer;
}

export async function serve(behaviour: Behaviour): Promise<FaultServer> {
  let completions = 0;
  let healths = 0;
  const choose = (told: Answer | ((index: number) => Answer), index: number): Answer => (typeof told === "function" ? told(index) : told);
  return startFaultServer((request) => {
    if (request.path === "/health") return choose(behaviour.health ?? { status: 200, body: { status: "ok" } }, healths++);
    if (request.path === "/props") return behaviour.props ?? { status: 200, body: props };
    if (request.path === "/slots") return behaviour.slots ?? { status: 200, body: slots };
    if (request.path === "/tokenize") return tokenize(request);
    return choose(behaviour.completion, completions++);
  });
}

export function connect(url: string, more: Partial<LlamaServerOptions> = {}): TextEngine {
  return createLlamaServerEngine({ url, apiKey: secret, healthTimeoutMs: 500, firstTokenTimeoutMs: 2000, idleTimeoutMs: 2000, requestTimeoutMs: 2000, log: () => {}, ...more });
}

export function request(more: Partial<TextRequest> = {}): TextRequest {
  const chat: TextRequest["chat"] = [{ role: "user", text: "hi" }];
  return { purpose: "step", chat, temperature: 0, maxTokens: 50, signal: new AbortController().signal, ...more };
}

export const piece = (content: string, predicted: number) => ({ content, stop: false, tokens_predicted: predicted, tokens_evaluated: 9 });
export const end = { content: "", stop: true, stop_type: "eos", tokens_predicted: 3, timings: { cache_n: 4, prompt_n: 13, predicted_n: 3 } };

export function completionsOf(server: FaultServer): Record<string, unknown>[] {
  return server.requests.filter(({ path }) => path === "/completion").map(({ json }) => json as Record<string, unknown>);
}
