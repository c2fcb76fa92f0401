// Engines behind a URL, made from the configuration.
import type { Engine, TextEngine } from "../core/engine.ts";
import type { Log } from "../core/runtime.ts";

export interface ServerSettings {
  localModels: {
    url: string;
    apiKey: string | undefined;
    healthTimeoutMs: number;
    requestTimeoutMs: number;
    firstTokenTimeoutMs: number;
    streamTotalTimeoutMs: number;
  };
  llm: {
    idleTimeoutMs: number;
    /** `native_tools`: the server's own tool calls, whatever its kind; `grammar`: none of them; `auto`: the best form of its kind. */
    toolTransport: "auto" | "grammar" | "native_tools";
  };
}

export interface ProviderSettings {
  id: string;
  kind: "llama-server" | "openai-compatible";
  url: string;
  apiKey?: string | undefined;
  apiKeyEnvVar?: string | undefined;
  defaultChatModel?: string | undefined;
  headers?: Record<string, string> | undefined;
  supportsTools?: boolean | undefined;
  supportsParallelTools?: boolean | undefined;
  contextWindow?: number | undefined;
  requestTimeoutMs?: number | undefined;
  maxOutputTokens?: number | undefined;
  extraBody?: Record<string, unknown> | undefined;
}

/** The server at `localModels.url`. */
export async function llamaServerEngine({ localModels, llm }: ServerSettings, log: Log): Promise<TextEngine> {
  const { createLlamaServerEngine } = await import("./llama-server/engine.ts");
  const { url, apiKey, healthTimeoutMs, requestTimeoutMs, firstTokenTimeoutMs, streamTotalTimeoutMs } = localModels;
  return createLlamaServerEngine({
    url,
    ...(apiKey === undefined ? {} : { apiKey }),
    healthTimeoutMs,
    requestTimeoutMs,
    firstTokenTimeoutMs,
    streamTotalTimeoutMs,
    idleTimeoutMs: llm.idleTimeoutMs,
    log,
  });
}

/** Whether a healthy server answers at `localModels.url` within `localModels.healthTimeoutMs`. */
export async function isServing({ localModels }: ServerSettings): Promise<boolean> {
  try {
    const answer = await fetch(new URL("/health", localModels.url), { signal: AbortSignal.timeout(localModels.healthTimeoutMs) });
    return answer.ok;
  } catch {
    // Refused, not found, too slow: not there, whatever the reason.
    return false;
  }
}

/** One of `llm.providers`. */
export async function providerEngine(
  provider: ProviderSettings,
  model: string,
  settings: ServerSettings,
  { variable, log }: { variable: (name: string) => string | undefined; log: Log },
): Promise<Engine> {
  const apiKey = provider.apiKey ?? (provider.apiKeyEnvVar === undefined ? undefined : variable(provider.apiKeyEnvVar));
  const requestTimeoutMs = provider.requestTimeoutMs ?? settings.localModels.requestTimeoutMs;
  const common = { url: provider.url, ...(apiKey === undefined ? {} : { apiKey }), ...(provider.headers ? { headers: provider.headers } : {}), requestTimeoutMs, idleTimeoutMs: settings.llm.idleTimeoutMs, log };
  const { toolTransport } = settings.llm;
  if (provider.kind === "llama-server" && toolTransport !== "native_tools") {
    const { createLlamaServerEngine } = await import("./llama-server/engine.ts");
    const { healthTimeoutMs, firstTokenTimeoutMs, streamTotalTimeoutMs } = settings.localModels;
    return createLlamaServerEngine({ ...common, provider: provider.id, healthTimeoutMs, firstTokenTimeoutMs, streamTotalTimeoutMs });
  }
  const { createOpenAiEngine } = await import("./openai/engine.ts");
  const { contextWindow, extraBody, maxOutputTokens, supportsParallelTools } = provider;
  const supportsTools = toolTransport === "auto" ? provider.supportsTools : toolTransport === "native_tools";
  return createOpenAiEngine({
    ...common,
    id: provider.id,
    ...(model === "" ? {} : { model }),
    ...(contextWindow === undefined ? {} : { contextWindow }),
    ...(extraBody === undefined ? {} : { extraBody }),
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    ...(supportsParallelTools === undefined ? {} : { supportsParallelTools }),
    ...(supportsTools === undefined ? {} : { supportsTools }),
  });
}
