// Which form of an action a text engine's model writes best.
import type { TextEngine } from "../core/engine.ts";
import { type ActionForm, jsonForm, markerForm, tagsForm } from "./action-form.ts";

export function formOf(_engine: TextEngine): ActionForm {
  const name = process.env["ATOMIC_EXPERIMENT_FORM"];
  return name === "marker" ? markerForm : name === "tags" ? tagsForm({ open: '<tool_call>\n{"name": "', middle: '", "arguments": ', close: "}\n</tool_call>" }) : jsonForm;
}
