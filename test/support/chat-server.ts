// A loopback server with `/v1/chat/completions`: plays its answers one after another and keeps what it was asked. Everything
// else it answers with 404, as a small server does.
import type { Place } from "./json-run.ts";
import { type Answer, type FaultServer, type KeptRequest, startFaultServer } from "./fault-server.ts";
import { at, type JsonObject, listAt } from "./json-checker/values.ts";

export interface ChatServer extends AsyncDisposable {
  url: string;
  /** Bodies of the chat requests. */
  chats(): JsonObject[];
  server: FaultServer;
}

/** @param answers to the chat requests in order, the last one repeats */
export async function startChatServer(answers: readonly [Answer, ...Answer[]]): Promise<ChatServer> {
  const asked: JsonObject[] = [];
  const server = await startFaultServer((request: KeptRequest) => {
    if (!request.path.endsWith("/chat/completions")) return { status: 404, body: { error: { message: "not here" } } };
    asked.push(request.json as JsonObject);
    return answers[asked.length - 1] ?? answers.at(-1) ?? answers[0];
  });
  return { url: server.url, chats: () => asked, server, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

/** Saves a configuration with the server as provider `here`; `--model here/m` chooses it. */
export function configureServer(place: Place, { url }: { url: string }, provider: object = {}, others: object = {}): void {
  place.configure({ llm: { providers: [{ id: "here", kind: "openai-compatible", url, defaultChatModel: "m", contextWindow: 32_768, ...provider }], ...others } });
}

interface Spoken {
  /** In the pieces that they come in. */
  text?: string[];
  thinking?: string;
  /** Ids are `call0` and so on in every answer, unless told. */
  calls?: { name: string; args: string; id?: string }[];
  finish?: string;
  usage?: object | null;
}

/** The events of one streamed answer. */
export function says({ text = [], thinking, calls = [], finish, usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } }: Spoken): Answer {
  const chunk = (delta: object, reason: string | null = null): object => ({ id: "c1", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason: reason }] });
  return {
    events: [
      chunk({ role: "assistant", content: "" }),
      ...(thinking === undefined ? [] : [chunk({ reasoning_content: thinking })]),
      ...text.map((content) => chunk({ content })),
      ...calls.map(({ name, args, id }, index) => chunk({ tool_calls: [{ index, id: id ?? `call${index}`, type: "function", function: { name, arguments: args } }] })),
      chunk({}, finish ?? (calls.length > 0 ? "tool_calls" : "stop")),
      ...(usage === null ? [] : [{ id: "c1", object: "chat.completion.chunk", created: 1, model: "m", choices: [], usage }]),
      "[DONE]",
    ],
  };
}

/** Names of the tools that a request offers. */
export function offered(chat: unknown): string[] {
  return listAt(chat, "tools").map((tool) => String(at(tool, "function", "name")));
}
