// Which engine serves: what the command line names, else what is saved, else the local model, else the server that is
// there. Choosing loads nothing; the engine is made when it is first needed.
import { resolve } from "node:path";
import { AgentError } from "../core/error.ts";
import type { Engine } from "../core/engine.ts";
import { nearest } from "../core/nearest.ts";
import type { Log } from "../core/runtime.ts";
import { loadCatalog, type CustomModel } from "../models/catalog.ts";
import type { CacheType } from "../models/fit.ts";
import { defaultModel, resolveModel, type ResolvedModel, type Store } from "../models/store.ts";
import { withFallback } from "./fallback.ts";
import { readScript, createScriptedEngine } from "./scripted.ts";
import { isServing, llamaServerEngine, providerEngine, type ProviderSettings, type ServerSettings } from "./servers.ts";

export interface EngineSettings extends ServerSettings {
  defaultProvider: string | undefined;
  defaultModel: string | undefined;
  localModels: ServerSettings["localModels"] & {
    mode: "managed" | "external" | null;
    managed: {
      modelId: string | null;
      engine: "llama" | "llama-server";
      contextSize: number;
      gpuLayers: "auto" | number;
      threads: number;
      kvCacheType: "auto" | CacheType;
      flashAttention: "auto" | "on" | "off";
      promptState: { enabled: boolean; maxBytes: number };
    };
    customModels: readonly CustomModel[];
  };
  llm: ServerSettings["llm"] & { providers: readonly ProviderSettings[]; fallback: { failureThreshold: number; appendLocal: boolean } };
}

export interface EnginePlaces {
  modelsDir: string;
  engineDir: string;
  promptStatesDir: string;
  home: string;
  /** A variable that holds a provider's key. */
  variable: (name: string) => string | undefined;
  log: Log;
}

export interface EngineWish {
  model?: string | undefined;
  provider?: string | undefined;
}

export interface EngineChoice {
  provider: string;
  model: string;
  /** Finds the same model again from any folder; "" = whatever the server has. */
  reference: string;
  /** Whether the model takes images, as far as that is known. */
  images: boolean;
  /** Makes the engine; still opens no model. */
  create: () => Promise<Engine>;
}

/** @throws AgentError `model_unknown` (what is named isn't there), `model_missing` (nothing can serve) */
export async function chooseEngine(wish: EngineWish, settings: EngineSettings, places: EnginePlaces): Promise<EngineChoice> {
  if (wish.model !== undefined || wish.provider !== undefined) return chooseNamed(resolveWish(wish, settings), settings, places);
  const { defaultModel: model, defaultProvider: provider } = settings;
  if (model === undefined && provider === undefined) return automatic(settings, places);
  try {
    return await chooseNamed(savedWish(settings, places), settings, places);
  } catch (error) {
    if (!(error instanceof AgentError)) throw error;
    places.log("warn", `the saved model is not used: ${error.message}`);
    return automatic(settings, places);
  }
}

/** Makes the engine of a choice, which gives way to the next provider as `llm.fallback` says. */
export async function createLasting(choice: EngineChoice, settings: EngineSettings, places: EnginePlaces, onReplaced: (choice: EngineChoice) => void): Promise<Engine> {
  const engine = await choice.create();
  const { fallback, providers } = settings.llm;
  // What runs here goes nowhere else unasked; a script plays what it plays.
  if (!providers.some(({ id }) => id === choice.provider)) return engine;
  const { withSuccessors } = await import("./successors.ts");
  return withSuccessors(engine, { failuresMax: fallback.failureThreshold, successors: () => successorsOf(choice, settings, places), log: places.log, onReplaced });
}

/** The other providers in the order of the configuration, then what is local. Those that can't be asked are left out. */
async function successorsOf(choice: EngineChoice, settings: EngineSettings, places: EnginePlaces): Promise<EngineChoice[]> {
  const { fallback, providers } = settings.llm;
  const others = providers.filter((provider) => provider.id !== choice.provider && isKeyThere(provider, places));
  const successors = others.map((provider) => fromProvider(provider, undefined, settings, places));
  if (!fallback.appendLocal) return successors;
  try {
    return [...successors, await automatic(settings, places)];
  } catch (error) {
    if (!(error instanceof AgentError)) throw error;
    return successors;
  }
}

async function chooseNamed({ provider, model }: EngineWish, settings: EngineSettings, places: EnginePlaces): Promise<EngineChoice> {
  const script = model?.startsWith("scripted:") ? model.slice("scripted:".length) : provider === "scripted" ? model : undefined;
  if (script !== undefined) return scripted(script);
  const configured = settings.llm.providers.find(({ id }) => id === provider);
  if (configured) return fromProvider(configured, model, settings, places);
  if (provider === "llama-server") return external(settings, places);
  if (provider !== undefined && provider !== "llama") throw unknownProvider(provider, settings);
  return local(model, settings, places);
}

/** Nobody named anything: the local model, else the server that is there. */
async function automatic(settings: EngineSettings, places: EnginePlaces): Promise<EngineChoice> {
  const { mode } = settings.localModels;
  if (mode === "external") return external(settings, places);
  try {
    return await local(undefined, settings, places);
  } catch (error) {
    if (!(error instanceof AgentError) || mode === "managed" || (error.code !== "model_missing" && error.code !== "model_unknown")) throw error;
    if (!(await isServing(settings))) throw new AgentError("model_missing", error.message, { cause: error });
    places.log("warn", `${error.message}; using the llama-server at localModels.url`);
    return external(settings, places);
  }
}

/** @throws AgentError `model_missing` when the saved provider needs a key that nobody has */
function savedWish(settings: EngineSettings, places: EnginePlaces): EngineWish {
  const { defaultModel: model, defaultProvider: provider } = settings;
  const configured = settings.llm.providers.find(({ id }) => id === provider);
  if (configured && !isKeyThere(configured, places)) throw new AgentError("model_missing", `${provider} needs its key in ${configured.apiKeyEnvVar}, which is not set`);
  return { provider, model };
}

function isKeyThere({ apiKey, apiKeyEnvVar }: ProviderSettings, { variable }: EnginePlaces): boolean {
  return apiKey !== undefined || apiKeyEnvVar === undefined || variable(apiKeyEnvVar) !== undefined;
}

/** `--model provider/id` names both; what the command line leaves open is what is saved. */
function resolveWish(wish: EngineWish, settings: EngineSettings): EngineWish {
  const known = ["llama", "llama-server", "scripted", ...settings.llm.providers.map(({ id }) => id)];
  if (wish.model !== undefined) {
    const slash = wish.model.indexOf("/");
    const prefix = wish.model.slice(0, slash);
    if (slash > 0 && known.includes(prefix)) return { provider: wish.provider ?? prefix, model: wish.model.slice(slash + 1) };
    return { provider: wish.provider, model: wish.model };
  }
  return { provider: wish.provider, ...(wish.provider === settings.defaultProvider ? { model: settings.defaultModel } : {}) };
}

function scripted(file: string): EngineChoice {
  const script = readScript(file);
  return { provider: "scripted", model: `scripted:${file}`, reference: `scripted:${resolve(file)}`, images: true, create: async () => createScriptedEngine(script, file) };
}

function fromProvider(provider: ProviderSettings, model: string | undefined, settings: EngineSettings, places: EnginePlaces): EngineChoice {
  const chosen = model ?? provider.defaultChatModel ?? "";
  return { provider: provider.id, model: chosen, reference: chosen, images: provider.kind === "openai-compatible", create: () => providerEngine(provider, chosen, settings, places) };
}

function external(settings: EngineSettings, places: EnginePlaces): EngineChoice {
  return { provider: "llama-server", model: "llama-server", reference: "", images: false, create: () => llamaServerEngine(settings, places.log) };
}

async function local(name: string | undefined, settings: EngineSettings, places: EnginePlaces): Promise<EngineChoice> {
  const store: Store = { modelsDir: places.modelsDir, catalog: loadCatalog(settings.localModels.customModels, places.home) };
  return inProcess(name === undefined ? await defaultModel(settings.localModels.managed.modelId, store) : await resolveModel(name, store), settings, places);
}

function inProcess(model: ResolvedModel, settings: EngineSettings, places: EnginePlaces): EngineChoice {
  const create = async (): Promise<Engine> => {
    const [{ createLlamaEngine }, { headerInSlices }] = await Promise.all([import("./llama/engine.ts"), import("../models/known-header.ts")]);
    const { contextSize, engine: wanted, flashAttention, gpuLayers, kvCacheType, promptState, threads } = settings.localModels.managed;
    if (wanted === "llama-server") places.log("warn", "localModels.managed.engine: this version starts no llama-server of its own, so the model runs in process; a server that runs already is used with localModels.mode external");
    // Known before anybody asks; what is wrong with it is told when the model opens.
    await headerInSlices(model.path).catch(() => undefined);
    const engine = createLlamaEngine({
      modelPath: model.path,
      modelId: model.id,
      openLibrary: async () => {
        const { openLlamaLibrary } = await import("./llama/library.ts");
        return openLlamaLibrary({ engineDir: places.engineDir, log: places.log });
      },
      threads,
      contextSize,
      gpuLayers,
      kvCacheType,
      flashAttention,
      ...(promptState.enabled ? { promptStates: { directory: places.promptStatesDir, bytesMax: promptState.maxBytes } } : {}),
      log: places.log,
    });
    return settings.localModels.mode === "managed" ? engine : withFallback(engine, () => llamaServerEngine(settings, places.log), places.log);
  };
  return { provider: "llama", model: model.id, reference: model.entry ? model.id : model.path, images: false, create };
}

function unknownProvider(provider: string, settings: EngineSettings): AgentError {
  const known = ["llama", "llama-server", "scripted", ...settings.llm.providers.map(({ id }) => id)];
  const near = nearest(provider, known);
  return new AgentError("model_unknown", `unknown provider ${JSON.stringify(provider)}${near ? `: did you mean ${near}?` : ""}; known are ${known.join(", ")}`);
}
