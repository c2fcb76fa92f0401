// Every frame of the sidecar protocol (sidecar.md sections 2 to 4 and 8): the one source of the wire's types.
export * from "./events.ts";
export * from "./requests.ts";
export * from "./session-state.ts";
export * from "./values.ts";
