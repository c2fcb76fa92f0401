// Chooses the form of a model of which no family is known: by a short probe whose outcome is kept for later processes. Where
// it can't be kept, each process would pay for it: there it is one JSON object, which every model can write.
import type { TextEngine } from "../core/engine.ts";
import type { Usage } from "../core/message.ts";
import type { ActionForm } from "./action-form.ts";
import { chooseForm, chosenForm, formsFor, measuredForm } from "./chosen-form.ts";
import { probeForm, trials } from "./form-probe.ts";

const noteName = "action-form";

/** @param spend is told what the probe used */
export async function settleForm(engine: TextEngine, signal: AbortSignal, spend: (usage: Usage) => void): Promise<void> {
  const { chatTemplate, notes } = engine.traits?.() ?? {};
  if (chatTemplate === undefined || !notes || engine.answersApart?.() !== true || (chosenForm(engine) ?? measuredForm(engine))) return;
  const forms = formsFor(engine);
  const noted = await notes.read(noteName);
  const known = forms.find(({ name }) => name === noted);
  const form = known ?? (await bestOf(engine, forms, signal, spend));
  if (!form) return;
  chooseForm(engine, form);
  if (!known) await notes.write(noteName, form.name);
}

/** Of equal ones the first; undefined when it could not be found out. */
async function bestOf(engine: TextEngine, forms: readonly ActionForm[], signal: AbortSignal, spend: (usage: Usage) => void): Promise<ActionForm | undefined> {
  let best: { form: ActionForm; right: number } | undefined;
  for (const form of forms) {
    const right = await probeForm(engine, form, signal, spend);
    if (right === undefined) return undefined;
    if (best === undefined || right > best.right) best = { form, right };
    if (right === trials.length) break;
  }
  return best?.form;
}
