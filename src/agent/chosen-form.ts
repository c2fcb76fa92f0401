// The form in which a text engine's model writes its actions: what was chosen for it, else what its family does best with.
import type { TextEngine } from "../core/engine.ts";
import { type ActionForm, jsonForm, markerForm, tagsForm } from "./action-form.ts";

/** Families by their chat template, with the form that solved most in the evaluation (docs/performance.md). */
const measured: readonly { isOf(template: string): boolean; form: ActionForm }[] = [{ isOf: (template) => template.includes("<|im_start|>"), form: jsonForm }];

const chosen = new WeakMap<TextEngine, { template: string | undefined; form: ActionForm }>();

export function formOf(engine: TextEngine): ActionForm {
  return chosenForm(engine) ?? measuredForm(engine) ?? jsonForm;
}

/** undefined when none was chosen for the model that the engine has now. */
export function chosenForm(engine: TextEngine): ActionForm | undefined {
  const choice = chosen.get(engine);
  return choice?.template === engine.traits?.().chatTemplate ? choice?.form : undefined;
}

export function chooseForm(engine: TextEngine, form: ActionForm): void {
  chosen.set(engine, { template: engine.traits?.().chatTemplate, form });
}

/** undefined for a family that is not known. */
export function measuredForm(engine: TextEngine): ActionForm | undefined {
  const template = engine.traits?.().chatTemplate;
  return template === undefined ? undefined : measured.find(({ isOf }) => isOf(template))?.form;
}

/** Those that the model can be asked for, the simplest first. */
export function formsFor(engine: TextEngine): ActionForm[] {
  const tags = engine.traits?.().callTags?.();
  return [jsonForm, markerForm, ...(tags ? [tagsForm(tags)] : [])];
}
