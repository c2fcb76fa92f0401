// Which engine a session gets, whether it can serve, and what else there is (sidecar.md 3.2, 3.3, 3.6). Keeps an engine open
// from one session to the next; loads no model by itself.
import { AgentError, messageOf } from "../../core/error.ts";
import type { Engine } from "../../core/engine.ts";
import { chooseEngine, createLasting, type EngineChoice, type EnginePlaces, type EngineSettings, type EngineWish } from "../../engines/choice.ts";
import { isServing } from "../../engines/servers.ts";
import { type Catalog, loadCatalog } from "../../models/catalog.ts";
import { headerInSlices } from "../../models/known-header.ts";
import { installedModels, isDefaultInstalled, resolveModel, type Store } from "../../models/store.ts";
import type { ModelSummary, SidecarEventPayloads } from "../../wire/sidecar/schema.ts";
import { absentEngine } from "./switchable-engine.ts";

type EngineName = ModelSummary["engine"];

export interface Selection {
  /** As a host names it. */
  model: string;
  engine: EngineName;
  /** The local provider serves it, not one of `llm.providers`. */
  isLocal: boolean;
  /** What was asked for; undefined = whatever is configured. */
  wish: string | undefined;
  choice: EngineChoice | undefined;
  /** Why nothing can serve. */
  fault?: string;
}

export class EngineDesk {
  readonly #settings: EngineSettings;
  readonly #places: EnginePlaces;
  readonly #llamaUrl: string;
  #kept: { key: string; engine: Promise<Engine> } | undefined;
  /** Engines that still serve a turn though another one was chosen. */
  #leaving: Promise<Engine>[] = [];
  #known: Catalog | undefined;
  #url: { value: string; seenAt: number } | undefined;

  constructor(settings: EngineSettings, places: EnginePlaces, llamaUrl: string) {
    this.#settings = settings;
    this.#places = places;
    this.#llamaUrl = llamaUrl;
  }

  /** @throws AgentError `model_unknown` when what is named is nowhere */
  async select(wish: string | undefined): Promise<Selection> {
    try {
      const choice = await chooseEngine(wishOf(wish), this.#settings, this.#places);
      return { ...this.#told(choice), wish, choice };
    } catch (error) {
      if (!(error instanceof AgentError)) throw error;
      const isKnown = wish === undefined || error.code === "model_invalid" || this.#catalog().some(({ name }) => name === wish);
      if (!isKnown || wish?.startsWith("scripted:")) throw new AgentError("model_unknown", `unknown model: ${wish}`, { cause: error });
      const model = wish ?? this.#settings.defaultModel ?? this.#settings.localModels.managed.modelId ?? "llama";
      return { model, engine: "llama", isLocal: true, wish, choice: undefined, fault: error.message };
    }
  }

  /** The engine of a selection. One with a model is kept open for the next session that wants the same. */
  async engineOf(selection: Selection): Promise<Engine> {
    const { choice, engine, fault, model, wish } = selection;
    if (choice === undefined) return absentEngine(model, fault ?? "no model is chosen");
    const key = `${engine} ${wish ?? ""} ${model}`;
    if (this.#kept?.key === key && engine !== "scripted") return await this.#kept.engine;
    if (this.#kept) this.#leaving.push(this.#kept.engine);
    const kept = { key, engine: createLasting(choice, this.#settings, this.#places, (next) => this.#replaced(selection, next, kept)) };
    this.#kept = kept;
    return await kept.engine;
  }

  /** The session goes on with another provider; the next one begins with the chosen one again. */
  #replaced(selection: Selection, choice: EngineChoice, kept: { key: string }): void {
    Object.assign(selection, this.#told(choice), { choice, wish: undefined });
    kept.key = "";
  }

  /** How a choice is told to hosts. */
  #told({ model, provider }: EngineChoice): Pick<Selection, "model" | "engine" | "isLocal"> {
    return { model: model === "" ? provider : model, engine: this.#engineName(provider), isLocal: provider === "llama" || provider === "llama-server" };
  }

  /** Closes engines that were replaced. Call it when no turn runs. */
  async tidy(): Promise<void> {
    const leaving = this.#leaving.splice(0);
    await Promise.allSettled(leaving.map(async (engine) => (await engine).close()));
  }

  async close(): Promise<void> {
    if (this.#kept) this.#leaving.push(this.#kept.engine);
    this.#kept = undefined;
    await this.tidy();
  }

  /** What is told when the local provider can't serve; looks once and at most a second. */
  async probe(selection: Selection): Promise<SidecarEventPayloads["llm_unavailable"] | undefined> {
    if (!selection.isLocal) return undefined;
    const { localModels } = this.#settings;
    const isManaged = localModels.mode === "managed" || (localModels.mode === null && selection.choice?.provider === "llama");
    const error = selection.fault ?? (selection.choice?.provider === "llama" ? await this.#faultOfFile(selection) : (await isServing(this.#settings)) ? undefined : "no answer from the server");
    if (error === undefined) return undefined;
    const server = `start a llama-server at localModels.url (${localModels.url})`;
    const managed = "choose an installed model in localModels.managed.modelId; `atomic models` lists, pulls and checks models";
    if (isManaged) return { url: this.#llamaUrl, error, mode: "managed", hint: managed };
    return { url: localModels.url, error, mode: "external", hint: localModels.mode === "external" ? server : `${server}, or install a model with \`atomic models pull\`` };
  }

  /** Where the local models are served (sidecar.md 3.2). Looks into the models' folder where the mode is open, once a second at most; loads nothing. */
  get llamaUrl(): string {
    const now = performance.now();
    if (this.#url === undefined || now - this.#url.seenAt > lookMs) this.#url = { value: this.#isExternal() ? this.#settings.localModels.url : this.#llamaUrl, seenAt: now };
    return this.#url.value;
  }

  /** Everything that can be named, the active one marked. */
  async list(active: Selection | undefined): Promise<ModelSummary[]> {
    const installed = new Map((await installedModels(this.#store())).map((model) => [model.id, model]));
    const models: ModelSummary[] = this.#catalog().map((entry) => {
      const found = installed.get(entry.name);
      installed.delete(entry.name);
      const sizeBytes = found?.bytes ?? entry.bytes;
      return {
        id: entry.name,
        engine: "llama",
        active: false,
        state: found ? "installed" : "missing",
        ...(entry.contextWindow === undefined ? {} : { contextWindow: entry.contextWindow }),
        ...(sizeBytes === undefined ? {} : { sizeBytes }),
      };
    });
    for (const { id, bytes } of installed.values()) models.push({ id, engine: "llama", active: false, state: "installed", sizeBytes: bytes });
    models.push({ id: "llama-server", engine: "llama-server", active: false });
    for (const { contextWindow, defaultChatModel, id, kind } of this.#settings.llm.providers) {
      if (defaultChatModel !== undefined) models.push({ id: `${id}/${defaultChatModel}`, engine: kind, active: false, ...(contextWindow === undefined ? {} : { contextWindow }), provider: id });
    }
    const open = await this.#openStates();
    for (const model of models) Object.assign(model, model.engine === "llama" ? open.get(model.id) : {});
    if (active === undefined) return models;
    const id = active.wish ?? (active.isLocal || active.engine === "scripted" ? active.model : `${active.choice?.provider}/${active.model}`);
    const known = models.find((model) => model.id === id || (active.isLocal && model.id === active.model));
    // A file that was named by its path is there, whether or not the folder has one of that name.
    if (known) Object.assign(known, { active: true }, known.state === "missing" && active.choice ? { state: "installed" } : {});
    else models.push({ id, engine: active.engine, active: true, ...(active.engine === "llama" && active.choice ? (open.get(active.model) ?? { state: "installed" }) : {}) });
    return models;
  }

  /** Of the models that this process has in memory, or loads, by their ids. */
  async #openStates(): Promise<Map<string, { state: "loading" | "ready" }>> {
    const made = await Promise.allSettled([...this.#leaving, ...(this.#kept ? [this.#kept.engine] : [])]);
    return new Map(
      made.flatMap((result) => {
        const state = result.status === "fulfilled" ? result.value.openState?.() : undefined;
        return result.status === "fulfilled" && state !== undefined ? [[result.value.info().id, { state }] as const] : [];
      }),
    );
  }

  async #faultOfFile({ model, wish }: Selection): Promise<string | undefined> {
    try {
      await headerInSlices((await resolveModel(wish ?? model, this.#store())).path);
      return undefined;
    } catch (error) {
      return messageOf(error);
    }
  }

  #engineName(provider: string): EngineName {
    if (provider === "llama" || provider === "llama-server" || provider === "scripted") return provider;
    return this.#settings.llm.providers.find(({ id }) => id === provider)?.kind ?? "openai-compatible";
  }

  #isExternal(): boolean {
    const { managed, mode } = this.#settings.localModels;
    return mode === "external" || (mode === null && managed.modelId === null && !isDefaultInstalled(this.#store()));
  }

  /** Read once: a ping asks for it too. */
  #catalog(): Catalog {
    this.#known ??= loadCatalog(this.#settings.localModels.customModels, this.#places.home);
    return this.#known;
  }

  #store(): Store {
    return { modelsDir: this.#places.modelsDir, catalog: this.#catalog() };
  }
}

/** Pings may come by the hundred. */
const lookMs = 1000;

function wishOf(model: string | undefined): EngineWish {
  return model === "llama-server" ? { provider: model } : { model };
}
