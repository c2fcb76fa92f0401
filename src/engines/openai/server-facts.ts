// What a compatible server tells of its models before the first answer: which there are, the window, images. Every server
// writes it elsewhere: vLLM `max_model_len`, llama-server `meta.n_ctx`, OpenRouter and others `context_length` (all in
// `/v1/models`), LM Studio `/api/v0/models`, Ollama `/api/ps` for a loaded model. A server that tells nothing is fine.
import { z } from "zod";
import { requestJson, type HttpServer } from "../http.ts";

export interface ServerFacts {
  models: string[];
  contextWindow?: number;
  images?: boolean;
}

const tokens = z.int().min(1).nullish().catch(undefined);
const texts = z.array(z.string()).nullish().catch(undefined);

const Models = z.object({
  data: z.array(
    z.object({
      id: z.string(),
      owned_by: z.string().nullish().catch(undefined),
      max_model_len: tokens,
      context_length: tokens,
      context_window: tokens,
      meta: z.object({ n_ctx: tokens }).nullish().catch(undefined),
      architecture: z.object({ input_modalities: texts }).nullish().catch(undefined),
    }),
  ),
});
const LoadedModels = z.object({ models: z.array(z.object({ name: z.string(), context_length: tokens })) });
const StudioModels = z.object({ data: z.array(z.object({ id: z.string(), type: z.string().optional(), loaded_context_length: tokens })) });

export interface FactsRequest {
  server: HttpServer;
  model: string | undefined;
  signal: AbortSignal;
  timeoutMs: number;
}

/** @throws EngineError when even the list of models can't be had. */
export async function readServerFacts(request: FactsRequest): Promise<ServerFacts> {
  const { data } = Models.parse(await get("/v1/models", request));
  const model = data.find((entry) => entry.id === request.model) ?? data[0];
  const listed = model?.max_model_len ?? model?.meta?.n_ctx ?? model?.context_window ?? model?.context_length;
  const modalities = model?.architecture?.input_modalities;
  const found = listed ? { contextWindow: listed } : model ? await elsewhere(model.id, model.owned_by ?? "", request) : {};
  return { models: data.map((entry) => entry.id), ...(modalities ? { images: modalities.includes("image") } : {}), ...found };
}

async function elsewhere(model: string, owner: string, request: FactsRequest): Promise<{ contextWindow?: number; images?: boolean }> {
  try {
    if (owner === "library") {
      const { models } = LoadedModels.parse(await get("/api/ps", request));
      const window = models.find((entry) => entry.name === model)?.context_length;
      return window ? { contextWindow: window } : {};
    }
    if (owner === "organization_owner") {
      const { data } = StudioModels.parse(await get("/api/v0/models", request));
      const entry = data.find(({ id }) => id === model);
      const window = entry?.loaded_context_length;
      return { ...(window ? { contextWindow: window } : {}), ...(entry?.type ? { images: entry.type === "vlm" } : {}) };
    }
  } catch (error) {
    // An extra of the server that is not there takes nothing away.
    if (request.signal.aborted) throw error;
  }
  return {};
}

function get(path: string, { server, signal, timeoutMs }: FactsRequest): Promise<unknown> {
  return requestJson(server, { path, signal, silenceMs: () => timeoutMs, totalMs: timeoutMs });
}
