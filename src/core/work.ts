// The kinds of work that a request may ask for, as a model names them and as tools say what they are for.

/** What answers a question. */
export const answerKinds = ["talk", "unknown", "read", "compare", "list", "find", "search", "count", "compute", "run"] as const;

/** What is to be found out before something is changed. */
export const lookKinds = ["count", "compute"] as const;

/** What changes something. */
export const changeKinds = ["create", "edit", "replace", "append", "insert", "cut", "set", "sort", "move", "copy", "delete", "run"] as const;

/** What leaves something there that has a name. */
export const makingKinds: readonly WorkKind[] = ["create", "move", "copy", "append"];

export type WorkKind = (typeof answerKinds)[number] | (typeof changeKinds)[number];
