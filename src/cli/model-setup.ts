// Which model and thinking level a session goes on with (json-mode.md sections 2, 3.3 and 5): what the command line names,
// else what the session was left with, else the automatic choice; and what the stream and the store are told of it.
import { AgentError } from "../core/error.ts";
import type { Engine, ModelInfo } from "../core/engine.ts";
import type { Emit } from "../core/event.ts";
import { ThinkingLevel } from "../core/message.ts";
import { chooseEngine, type EngineChoice, type EnginePlaces, type EngineSettings } from "../engines/choice.ts";
import type { SessionRecord } from "../session/record.ts";

export interface ModelWish {
  model?: string;
  provider?: string;
  thinking?: ThinkingLevel;
}

export interface ModelSetup {
  choice: EngineChoice;
  /** The model that the session was left with, while it still can be chosen. */
  left?: EngineChoice;
}

/** @throws AgentError as `chooseEngine`; a resumed model that is gone is only warned of */
export async function chooseModel(wish: ModelWish, record: SessionRecord, settings: EngineSettings, places: EnginePlaces): Promise<ModelSetup> {
  const left = await leftModel(record, settings, places);
  if (wish.model === undefined && wish.provider === undefined && left) return { choice: left, left };
  return { choice: await chooseEngine(wish, settings, places), ...(left ? { left } : {}) };
}

async function leftModel({ model }: SessionRecord, settings: EngineSettings, places: EnginePlaces): Promise<EngineChoice | undefined> {
  if (!model) return undefined;
  try {
    return await chooseEngine({ provider: model.provider, ...(model.modelId === "" ? {} : { model: model.modelId }) }, settings, places);
  } catch (error) {
    if (!(error instanceof AgentError)) throw error;
    places.log("warn", `the session's model ${model.provider}/${model.modelId} is not there any more: ${error.message}`);
    return undefined;
  }
}

/** Tells and stores what changed, and gives the level in force. Comes before every other event of the session. */
export async function settleModel({ choice, left }: ModelSetup, wish: ModelWish, record: SessionRecord, engine: Engine, emit: Emit): Promise<ThinkingLevel> {
  const isSame = record.model?.provider === choice.provider && record.model.modelId === choice.reference;
  const model = engine.info();
  if (left === choice) await emit({ type: "model_changed", model, source: "restore" });
  else if (record.model && !isSame) await emit({ type: "model_changed", model, ...(left ? { previousModel: await infoOf(left) } : {}), source: "set" });
  if (!isSame) record.storeModel(choice.provider, choice.reference);
  return await settleThinking(wish.thinking, record, model, emit);
}

async function settleThinking(asked: ThinkingLevel | undefined, record: SessionRecord, { reasoning }: ModelInfo, emit: Emit): Promise<ThinkingLevel> {
  const stored = ThinkingLevel.safeParse(record.thinkingLevel).data;
  const wanted = asked ?? stored ?? defaultLevel;
  const level = reasoning ? wanted : "off";
  const isRestored = asked === undefined && stored !== undefined;
  const isClamped = asked !== undefined && level !== asked;
  if (isRestored || isClamped) await emit({ type: "thinking_level_changed", level });
  if (asked !== undefined && level !== stored) record.storeThinkingLevel(level);
  return level;
}

const defaultLevel: ThinkingLevel = "medium";

async function infoOf(choice: EngineChoice): Promise<ModelInfo> {
  const engine = await choice.create();
  const info = engine.info();
  await engine.close();
  return info;
}
